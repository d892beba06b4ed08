"""The gap of one pair on one metric: train minus held-out, signed so that positive is a loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.statistics.checks import DEFAULT_METHOD
from harness.statistics.intervals import Interval, wilson
from harness.statistics.metric import Metric
from harness.statistics.results import (
    ArmResult,
    GapResult,
    Settings,
    check_scores,
    dof_of,
    make_interval,
    single_intervals,
)
from harness.statistics.samples import F64, ArmSamples, Scores, read_arms, row_means
from harness.statistics.variance import (
    all_or_none,
    arm_variance,
    paired_variance,
    sample_variance,
    unpaired_variance,
)


def paired_gap(
    train: Scores,
    heldout: Scores,
    metric: Metric,
    *,
    level: float = 0.95,
    scope: str | None = None,
    method: str = DEFAULT_METHOD,
    seed: int = 0,
    paired: bool = True,
) -> GapResult:
    """Gap between two sides with its interval.

    train, heldout: f64[S, E] in the metric's unit, or one f64[E_s] per training seed; the same
    index is the same level and environment seed (with paired=False the sides have their own).
    scope None is `algorithm` from three seeds on, else `checkpoint`. Episodes that are not finite
    are dropped from both sides and counted. ValueError names an input that does not fit.
    """
    settings = Settings(level, scope, method, seed)
    samples = read_arms({"train": train, "heldout": heldout}, paired=paired)
    for name, rows in samples.arms.items():
        check_scores(name, rows, metric)
    arms = {name: _arm(samples, name, metric, settings) for name in samples.arms}
    if not paired:
        means = metric.sign * (arms["train"].per_seed - arms["heldout"].per_seed)
        return _gap(samples, metric, settings, arms, means, _unpaired(samples, metric), None)
    # Means of differences, not differences of means: equal episodes then give exactly zero.
    rows = _signed(samples, "train", "heldout", metric)
    variances = all_or_none([paired_variance(row, binary=metric.binary) for row in rows])
    return _gap(samples, metric, settings, arms, row_means(rows), variances, rows)


def split_gap(
    train: Scores,
    heldouts: Mapping[str, Scores],
    metric: Metric,
    *,
    level: float = 0.95,
    scope: str | None = None,
    method: str = DEFAULT_METHOD,
    seed: int = 0,
) -> GapResult:
    """Gap between the training side and the average of several held-out sides.

    The sides are averaged within each seed and episode before anything is resampled, because they
    are measured on the same policies. `sides` of the result holds the gap of each one.
    """
    if not heldouts:
        raise ValueError("heldouts: no held-out side; give at least one, by name")
    settings = Settings(level, scope, method, seed)
    sides = {
        name: paired_gap(train, scores, metric, level=level, scope=scope, method=method, seed=seed)
        for name, scores in heldouts.items()
    }
    if len(sides) == 1:
        return replace(next(iter(sides.values())), sides=sides)
    keys = {f"heldout {name}": scores for name, scores in heldouts.items()}
    samples = read_arms({"train": train, **keys})
    pairs = [_signed(samples, "train", key, metric) for key in keys]
    rows = tuple(np.mean(group, axis=0) for group in zip(*pairs, strict=True))
    variances = all_or_none(
        [
            joint_variance(row, [pair[i] for pair in pairs], binary=metric.binary)
            for i, row in enumerate(rows)
        ]
    )
    arms = {
        "train": _arm(samples, "train", metric, settings),
        "heldout": _mean_arm(samples, list(keys), metric, settings),
    }
    means = row_means(rows)
    return replace(
        _gap(samples, metric, settings, arms, means, variances, rows, label="t"), sides=sides
    )


def arm_interval(
    scores: Scores,
    metric: Metric,
    *,
    level: float = 0.95,
    scope: str | None = None,
    method: str = DEFAULT_METHOD,
    seed: int = 0,
) -> ArmResult:
    """Mean score of one side with its interval.

    scores f64[S, E] or one f64[E_s] per seed. Binary metrics in checkpoint scope get the Wilson
    interval; everything else follows the rules of gaps.
    """
    samples = read_arms({"scores": scores})
    check_scores("scores", samples.arms["scores"], metric)
    return _arm(samples, "scores", metric, Settings(level, scope, method, seed))


def joint_variance(row: F64, parts: Sequence[F64], *, binary: bool) -> float | None:
    """Episode-noise variance of one seed's mean over K parts, measured on shared episodes.

    The larger of what the averaged row shows, var_e(mean_k D) / E, and what the parts would give
    if they were independent, sum_k v_k / K^2. The second keeps success intervals open when every
    episode came out the same.
    """
    variances = [paired_variance(part, binary=binary) for part in parts]
    known = [value for value in variances if value is not None]
    shown = sample_variance(row)
    if len(known) < len(parts):
        return None
    return max(shown or 0.0, sum(known) / len(parts) ** 2)


def _gap(
    samples: ArmSamples,
    metric: Metric,
    settings: Settings,
    arms: Mapping[str, ArmResult],
    per_seed: F64,
    variances: F64 | None,
    rows: Sequence[F64] | None,
    label: str | None = None,
) -> GapResult:
    sizes = _sizes(samples)
    shape = {
        "binary": metric.binary,
        "bounds": metric.gap_bounds,
        "checkpoint_method": label or ("bonett-price-t" if metric.binary else "t"),
    }
    interval, reason = make_interval(per_seed, variances, sizes, settings, **shape)
    return GapResult(
        metric=metric,
        settings=settings,
        interval=interval,
        per_seed=per_seed,
        per_seed_intervals=single_intervals(per_seed, variances, sizes, settings, **shape),
        within_variance=variances,
        dof=dof_of(sizes, binary=metric.binary),
        train=arms["train"],
        heldout=arms["heldout"],
        seeds=samples.seeds,
        sizes=sizes,
        dropped=samples.dropped,
        total=samples.total,
        problems=samples.problems,
        reason=reason,
        differences=None if rows is None else _in_place(samples, rows),
    )


def _arm(samples: ArmSamples, name: str, metric: Metric, settings: Settings) -> ArmResult:
    rows = samples.arms[name]
    variances = all_or_none([arm_variance(row, binary=metric.binary) for row in rows])
    return _arm_result(samples, rows, variances, metric, settings, wilson=metric.binary)


def _mean_arm(
    samples: ArmSamples, names: Sequence[str], metric: Metric, settings: Settings
) -> ArmResult:
    """The average of several sides, episode by episode."""
    groups = list(zip(*(samples.arms[name] for name in names), strict=True))
    rows = [np.mean(group, axis=0) for group in groups]
    variances: list[float | None] = []
    for row, group in zip(rows, groups, strict=True):
        parts = [arm_variance(part, binary=metric.binary) for part in group]
        known = [value for value in parts if value is not None]
        floor = sum(known) / len(names) ** 2 if len(known) == len(names) else None
        variances.append(None if floor is None else max(sample_variance(row) or 0.0, floor))
    return _arm_result(samples, rows, all_or_none(variances), metric, settings, wilson=False)


def _arm_result(
    samples: ArmSamples,
    rows: Sequence[F64],
    variances: F64 | None,
    metric: Metric,
    settings: Settings,
    *,
    wilson: bool,
) -> ArmResult:
    means = row_means(rows)
    sizes = tuple(row.size for row in rows)
    interval, reason = make_interval(
        means, variances, sizes, settings, binary=metric.binary, bounds=metric.bounds
    )
    if wilson and interval is not None and interval.scope == "checkpoint":
        interval = _wilson_interval(interval, sizes)
    return ArmResult(
        metric, interval, means, variances, samples.seeds, sizes,
        samples.dropped, samples.problems, reason,
    )  # fmt: skip


def _wilson_interval(interval: Interval, sizes: Sequence[int]) -> Interval:
    # With unequal rows the mean of seed means has the precision of this many pooled episodes.
    trials = len(sizes) ** 2 / sum(1.0 / size for size in sizes)
    low, high = wilson(interval.point * trials, trials, interval.level)
    low, high = min(low, interval.point), max(high, interval.point)
    return replace(interval, low=low, high=high, method="wilson")


def _signed(samples: ArmSamples, train: str, heldout: str, metric: Metric) -> tuple[F64, ...]:
    arms = zip(samples.arms[train], samples.arms[heldout], strict=True)
    return tuple(metric.sign * (first - second) for first, second in arms)


def _unpaired(samples: ArmSamples, metric: Metric) -> F64 | None:
    arms = zip(samples.arms["train"], samples.arms["heldout"], strict=True)
    return all_or_none([unpaired_variance(t, v, binary=metric.binary) for t, v in arms])


def _sizes(samples: ArmSamples) -> tuple[int, ...]:
    groups = zip(*samples.arms.values(), strict=True)
    return tuple(min(row.size for row in group) for group in groups)


def _in_place(samples: ArmSamples, rows: Sequence[F64]) -> tuple[F64, ...]:
    """Rows put back at their episode index, so that pairs of a suite can be lined up."""
    placed = []
    for row, index in zip(rows, samples.index, strict=True):
        full = np.full(int(index[-1]) + 1, np.nan)
        full[index] = row
        placed.append(full)
    return tuple(placed)
