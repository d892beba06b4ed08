"""Gaps as a share of something, and the cases in which there is no such share.

Both are ratios of means, never means of ratios. Verdicts and gates use absolute gaps only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.statistics.bootstrap import t_quantile
from harness.statistics.checks import DEFAULT_METHOD
from harness.statistics.intervals import (
    ALGORITHM_SEEDS,
    Interval,
    clip,
    default_scope,
    statistic_interval,
)
from harness.statistics.metric import Metric
from harness.statistics.results import Settings, check_scores, dof_of, make_interval
from harness.statistics.samples import F64, ArmSamples, Scores, read_arms, row_means
from harness.statistics.variance import (
    all_or_none,
    arm_variance,
    paired_variance,
    sample_variance,
    smoothed_variance,
)

DENOMINATOR = "denominator"  # the denominator may be zero or negative
SIGN = "sign"  # zero is no origin of this metric, so a share of its mean means nothing
EPISODES = "episodes"  # one episode per seed and too few seeds for an interval
SEEDS = "seeds"  # two training seeds say nothing about a third


@dataclass(frozen=True)
class RatioGap:
    """A gap as a share. interval is None where the share is undefined; `reason` then says why."""

    interval: Interval | None
    reason: str | None = None

    @property
    def point(self) -> float | None:
        return self.interval.point if self.interval else None


def relative_gap(
    train: Scores,
    heldout: Scores,
    metric: Metric,
    *,
    level: float = 0.95,
    scope: str | None = None,
    method: str = DEFAULT_METHOD,
    seed: int = 0,
    tolerance: float | None = None,
) -> RatioGap:
    """(T - V) / T of the mean scores, signed so that a loss is positive.

    Scores as in `paired_gap`. Undefined for metrics without a true zero, and where the lower
    bound of T is not positive or T lies within the tolerance of zero.
    """
    if not metric.ratio:
        return RatioGap(None, SIGN)
    samples = read_arms({"train": train, "heldout": heldout})
    settings = Settings(level, scope, method, seed)
    bounds = (-np.inf, 1.0) if metric.sign > 0 and metric.bounds and metric.bounds[0] >= 0 else None
    return _ratio(samples, metric, settings, tolerance, bounds)


def normalized_gap(
    train: Scores,
    heldout: Scores,
    baseline: Scores | float,
    metric: Metric,
    *,
    level: float = 0.95,
    scope: str | None = None,
    method: str = DEFAULT_METHOD,
    seed: int = 0,
    tolerance: float | None = None,
) -> RatioGap:
    """(T - V) / (T - B): the share lost of what the policy had gained over a blind baseline.

    baseline: scores of a policy without eyes on the same training levels, shaped like `train`, or
    one number. 0 is no loss, 1 is a fall to the baseline; defined for negative returns as well.
    Undefined where the lower bound of T - B is not positive or T - B lies within the tolerance.
    """
    settings = Settings(level, scope, method, seed)
    arms: dict[str, Scores] = {"train": train, "heldout": heldout}
    if np.ndim(baseline) == 0:
        samples = read_arms(arms)
        constant = float(baseline)  # type: ignore[arg-type]
        rows = tuple(np.full(row.size, constant) for row in samples.arms["train"])
        samples = ArmSamples(
            {**samples.arms, "baseline": rows}, samples.index, samples.seeds, samples.missing,
            samples.dropped, samples.total,
        )  # fmt: skip
    else:
        samples = read_arms({**arms, "baseline": baseline})
        check_scores("baseline", samples.arms["baseline"], metric)
    return _ratio(samples, metric, settings, tolerance, None)


def _ratio(
    samples: ArmSamples,
    metric: Metric,
    settings: Settings,
    tolerance: float | None,
    bounds: tuple[float, float] | None,
) -> RatioGap:
    for name in ("train", "heldout"):
        check_scores(name, samples.arms[name], metric)
    tolerance = metric.tolerance if tolerance is None else tolerance
    above, below = _above(samples, metric), _below(samples, metric)
    if not above:
        return RatioGap(None, EPISODES)
    sizes = [row.size for row in above]
    scope = settings.scope or default_scope(len(above))
    denominator, _ = make_interval(
        row_means(below), _below_variance(samples, metric, below), sizes, settings,
        binary=metric.binary, bounds=metric.bounds if "baseline" not in samples.arms else None,
    )  # fmt: skip
    if denominator is None:
        return RatioGap(None, EPISODES)
    if denominator.low <= 0 or abs(denominator.point) < tolerance:
        return RatioGap(None, DENOMINATOR)
    features = np.stack([row_means(above), row_means(below)], axis=1)
    point = float(features[:, 0].mean() / features[:, 1].mean())
    half = _delta_half_width(samples, metric, settings, point)
    if scope == "checkpoint":
        return _linearised(point, half, sizes, settings, bounds)
    if len(above) < ALGORITHM_SEEDS:
        return RatioGap(None, SEEDS)
    interval = statistic_interval(
        features, share_of_means, half=half or 0.0, episodes=min(sizes), level=settings.level,
        method=settings.method, bounds=bounds, seed=settings.seed,
    )  # fmt: skip
    return RatioGap(interval, None if interval else DENOMINATOR)


def _linearised(
    point: float,
    half: float | None,
    sizes: list[int],
    settings: Settings,
    bounds: tuple[float, float] | None,
) -> RatioGap:
    if half is None:
        return RatioGap(None, EPISODES)
    low, high = clip(point - half, point + half, bounds)
    flags = ("degenerate",) if low == high else ()
    return RatioGap(
        Interval(
            point, low, high, settings.level, "checkpoint", "delta-t", len(sizes), min(sizes),
            flags=flags,
        )
    )  # fmt: skip


def share_of_means(means: F64) -> F64:
    """Ratio of the two columns; infinite, with the sign of the gap, where the denominator fails."""
    above, below = means[:, 0], means[:, 1]
    good = below > 0
    return np.where(good, above / np.where(good, below, 1.0), np.copysign(np.inf, above))


def _delta_half_width(
    samples: ArmSamples, metric: Metric, settings: Settings, point: float
) -> float | None:
    """Half-width from episode noise alone, from the linearised ratio (delta method).

    Binary metrics get the two pseudo-pairs (1, 0) and (0, 1) of Bonett and Price, carried through
    the linearisation; at a ratio of zero this is their paired variance.
    """
    above, below = _above(samples, metric), _below(samples, metric)
    variances: list[float | None] = []
    for at, (over, under) in enumerate(zip(above, below, strict=True)):
        linear = over - point * under
        if metric.binary:
            variances.append(smoothed_variance(linear, _pseudo(samples, metric, at, point)))
        else:
            variances.append(sample_variance(linear))
    known = all_or_none(variances)
    dof = dof_of([row.size for row in above], binary=metric.binary)
    if known is None or not dof:
        return None
    upper = 1.0 - (1.0 - settings.level) / 2.0
    mean_below = float(row_means(below).mean())
    error = float(np.sqrt(np.sort(known).sum())) / known.size / mean_below
    return t_quantile(upper, dof) * error


def _pseudo(samples: ArmSamples, metric: Metric, at: int, point: float) -> tuple[float, float]:
    pair = []
    for train, heldout in ((1.0, 0.0), (0.0, 1.0)):
        under = train
        if "baseline" in samples.arms:
            under = metric.sign * (train - float(samples.arms["baseline"][at].mean()))
        pair.append(metric.sign * (train - heldout) - point * under)
    return pair[0], pair[1]


def _above(samples: ArmSamples, metric: Metric) -> list[F64]:
    arms = samples.arms
    return [metric.sign * (t - v) for t, v in zip(arms["train"], arms["heldout"], strict=True)]


def _below(samples: ArmSamples, metric: Metric) -> list[F64]:
    arms = samples.arms
    if "baseline" not in arms:
        return list(arms["train"])
    return [metric.sign * (t - b) for t, b in zip(arms["train"], arms["baseline"], strict=True)]


def _below_variance(samples: ArmSamples, metric: Metric, below: list[F64]) -> F64 | None:
    if "baseline" not in samples.arms:
        return all_or_none([arm_variance(row, binary=metric.binary) for row in below])
    if not metric.binary:
        return all_or_none([sample_variance(row) for row in below])
    if all(np.isin(row, (0.0, 1.0)).all() for row in samples.arms["baseline"]):
        return all_or_none([paired_variance(row, binary=True) for row in below])
    # Against a share given as one number only the training arm is noisy.
    return all_or_none([arm_variance(row, binary=True) for row in samples.arms["train"]])
