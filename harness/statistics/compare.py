"""Two sets of policies side by side: which is better, by how much, and has anything got worse?

Training seeds of two algorithms are never paired, even when they carry the same numbers. Levels
are, when both were evaluated on the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.statistics.bootstrap import (
    EXACT_SEEDS,
    drawn_resamples,
    exact_resamples,
    quantiles,
    resampled_means,
    scale_factor,
    t_quantile,
)
from harness.statistics.checks import check_level, check_seeds, choose
from harness.statistics.intervals import ALGORITHM_SEEDS, Interval, clip
from harness.statistics.metric import Metric
from harness.statistics.results import (
    GapResult,
    Settings,
    check_scores,
    dof_of,
    make_interval,
    noise_error,
)
from harness.statistics.samples import F64, Scores, read_arms, row_means
from harness.statistics.suite import SuiteResult, satterthwaite
from harness.statistics.variance import (
    all_or_none,
    arm_variance,
    paired_variance,
    sample_variance,
    smoothed_variance,
)

WELCH, BOOTSTRAP = "welch-t", "bootstrap-t-scaled"
EXACT_PRODUCT = 200_000

REGRESSED, HELD, IMPROVED = "regressed", "held", "improved"
INCONCLUSIVE, INCOMPATIBLE = "inconclusive", "incompatible"


@dataclass(frozen=True)
class Comparison:
    """First minus second, turned so that positive means the first is better.

    improvement: probability that a new run of the first beats a new run of the second, with its
    interval; None with fewer than three seeds on either side.
    """

    difference: Interval | None
    improvement: Interval | None
    reason: str | None = None


@dataclass(frozen=True)
class BaselineOutcome:
    """Change against a saved run; positive means worse. status: regressed, held, improved,
    inconclusive or incompatible."""

    status: str
    allowed: float
    change: Interval | None
    reason: str


@dataclass(frozen=True)
class Widening:
    """What a wider training range did to the gap.

    shrinkage: narrow gap minus wide gap, positive when widening helped; cost: narrow train score
    minus wide train score, positive when training got worse; prediction_held: the gap shrank and
    the train score did not fall by more than the tolerance. None where that is open.
    """

    narrow: Interval | None
    wide: Interval | None
    shrinkage: Interval | None
    cost: Interval | None
    prediction_held: bool | None


def compare_policies(
    first: Scores,
    second: Scores,
    metric: Metric,
    *,
    level: float = 0.95,
    method: str = WELCH,
    paired_levels: bool = False,
    seed: int = 0,
) -> Comparison:
    """Difference of mean scores of two independent sets of training seeds.

    first f64[S1, E], second f64[S2, E] or one row per seed. With fewer than three seeds on a side
    the answer is about these policies only; paired_levels then uses that both played the same
    levels, row by row.
    """
    arms = [read_arms({"scores": scores}) for scores in (first, second)]
    rows = [arm.arms["scores"] for arm in arms]
    for name, group in zip(("first", "second"), rows, strict=True):
        check_scores(name, group, metric)
        check_seeds(len(group), 1, f"{name} policy")
    means = [metric.sign * row_means(group) for group in rows]
    noise = [all_or_none([arm_variance(r, binary=metric.binary) for r in group]) for group in rows]
    sizes = [[row.size for row in group] for group in rows]
    paired = None
    if paired_levels:
        paired = _paired_noise(first, second, metric)
    difference = independent_difference(
        means, noise, sizes, metric, level=level, method=method, seed=seed, paired_noise=paired
    )
    reason = None if difference else "one episode and fewer than three seeds: no interval"
    return Comparison(difference, probability_of_improvement(*means, level=level), reason)


def independent_difference(
    means: list[F64],
    noise: list[F64 | None],
    sizes: list[list[int]],
    metric: Metric,
    *,
    level: float = 0.95,
    method: str = WELCH,
    seed: int = 0,
    paired_noise: float | None = None,
    bounds: tuple[float, float] | None = None,
) -> Interval | None:
    """Interval of mean(means[0]) - mean(means[1]) for two independent sets of seeds.

    means f64[S1], f64[S2]; noise: episode variances of each; paired_noise: standard error from
    episode noise where both sets share their levels. Welch (1947), Biometrika 34, 28-35, or an
    independent bootstrap with each side stretched by its own factor; never narrower than episode
    noise. None where nothing can be said.
    """
    choose("method", method, (WELCH, BOOTSTRAP))
    upper = 1.0 - (1.0 - check_level(level)) / 2.0
    point = float(np.sort(means[0]).mean() - np.sort(means[1]).mean())
    errors = [noise_error(part) for part in noise]
    guard = paired_noise
    if guard is None and all(error is not None for error in errors):
        guard = float(np.sqrt(sum(error**2 for error in errors if error is not None)))
    dof = sum(dof_of(size, binary=metric.binary) for size in sizes)
    reach = 0.0 if guard is None or not dof else t_quantile(upper, dof) * guard
    seeds = min(part.size for part in means)
    scope = "algorithm" if seeds >= ALGORITHM_SEEDS else "checkpoint"
    if scope == "checkpoint" and (guard is None or not dof):
        return None
    low = high = point
    if scope == "algorithm" and method == WELCH:
        error, freedom = satterthwaite(means, [1.0, 1.0])
        half = t_quantile(upper, freedom) * error if error else 0.0
        low, high = point - half, point + half
    elif scope == "algorithm":
        low, high = _bootstrap_ends(means, point, level, seed)
    guarded = scope == "algorithm" and (point - reach < low or point + reach > high)
    bounds = metric.gap_bounds if bounds is None else bounds
    low, high = clip(min(low, point - reach), max(high, point + reach), bounds)
    return Interval(
        point, low, high, level, scope, method if scope == "algorithm" else "t", seeds,
        min(min(size) for size in sizes), guarded, ("degenerate",) if low == high else (),
    )  # fmt: skip


def probability_of_improvement(first: F64, second: F64, *, level: float = 0.95) -> Interval | None:
    """P(a run of the first scores higher than a run of the second), ties counted half.

    first f64[S1], second f64[S2]. Mann-Whitney U / (S1 S2); score interval after Newcombe (2006),
    Statistics in Medicine 25, 559-573, method 5, with a t quantile for few seeds. None with fewer
    than three seeds on a side.
    """
    if min(first.size, second.size) < ALGORITHM_SEEDS:
        return None
    larger = (first[:, None] > second[None, :]).sum()
    ties = (first[:, None] == second[None, :]).sum()
    point = float((larger + 0.5 * ties) / (first.size * second.size))
    dof = min(first.size, second.size) - 1
    t = t_quantile(1.0 - (1.0 - check_level(level)) / 2.0, dof)
    low = _score_end(point, first.size, second.size, t)
    high = 1.0 - _score_end(1.0 - point, second.size, first.size, t)
    seeds = min(first.size, second.size)
    return Interval(point, low, high, level, "algorithm", "mann-whitney-score", seeds, 0)


def gap_difference(
    first: GapResult,
    second: GapResult,
    *,
    level: float = 0.95,
    method: str = WELCH,
    same_policies: bool = False,
) -> Interval | None:
    """First gap minus second gap; None where nothing can be said.

    Policies trained independently of each other are two sets of seeds, even under equal numbers.
    same_policies: seed by seed the same policies, or warm starts from them, so seeds are paired.
    Where both gaps carry the same seeds and episodes, levels are taken as shared.
    """
    if first.metric.name != second.metric.name:
        raise ValueError(f"metric: {first.metric.name} against {second.metric.name}; give the same")
    if not first.per_seed.size or not second.per_seed.size:
        return None
    metric, bounds = first.metric, first.metric.gap_bounds
    wide = None if bounds is None else (2 * bounds[0], 2 * bounds[1])
    shared = _shared_noise(first, second)
    if same_policies:
        if first.seeds != second.seeds:
            raise ValueError("same_policies: the gaps carry different training seeds")
        settings = Settings(level, first.settings.scope, first.settings.method)
        moved = first.per_seed - second.per_seed
        return make_interval(
            moved, shared, first.sizes, settings, binary=metric.binary, bounds=wide
        )[0]
    return independent_difference(
        [first.per_seed, second.per_seed],
        [first.within_variance, second.within_variance],
        [list(first.sizes), list(second.sizes)],
        metric,
        level=level,
        method=method,
        paired_noise=noise_error(shared),
        bounds=wide,
    )


def suite_difference(
    first: SuiteResult, second: SuiteResult, *, level: float = 0.95, same_policies: bool = False
) -> Interval | None:
    """First mean gap minus second, over the same pairs; None where nothing can be said.

    Seeds as in `gap_difference`; policy sets are independent of each other. Levels are taken as
    independent, which is never too narrow.
    """
    if first.metric.name != second.metric.name or first.pairs != second.pairs:
        raise ValueError("suites: means over other pairs or of another metric; give the same")
    if first.interval is None or second.interval is None:
        return None
    bounds = first.metric.gap_bounds
    wide = None if bounds is None else (2 * bounds[0], 2 * bounds[1])
    noise = None
    if first.noise_error is not None and second.noise_error is not None:
        noise = float(np.hypot(first.noise_error, second.noise_error))
    total = len(first.pairs)
    parts = [*first.strata, *second.strata]
    rows = [part.rows for part in parts]
    weights = [len(part.pairs) / total for part in parts]
    if same_policies and all(
        one.seeds == two.seeds for one, two in zip(first.strata, second.strata, strict=True)
    ):
        moved = zip(first.strata, second.strata, strict=True)
        rows = [one.rows - two.rows for one, two in moved]
        weights = weights[: len(rows)]
    point = first.interval.point - second.interval.point
    seeds = min(row.size for row in rows)
    upper = 1.0 - (1.0 - check_level(level)) / 2.0
    dof = first.dof + second.dof
    reach = 0.0 if noise is None or not dof else t_quantile(upper, dof) * noise
    half, scope = 0.0, "checkpoint"
    if seeds >= ALGORITHM_SEEDS:
        error, freedom = satterthwaite(rows, weights)
        half, scope = t_quantile(upper, freedom) * error if error else 0.0, "algorithm"
    elif not reach:
        return None
    width = max(half, reach)
    low, high = clip(point - width, point + width, wide)
    return Interval(
        point, low, high, level, scope, WELCH if scope == "algorithm" else "t", seeds,
        min(first.interval.episodes, second.interval.episodes), reach > half,
        ("degenerate",) if low == high else (),
    )  # fmt: skip


def against_baseline(
    change: Interval | None, allowed: float, *, incompatible: str | None = None
) -> BaselineOutcome:
    """Decide on a change against a saved run; positive means worse.

    regressed when all of the interval lies above `allowed`, improved when all of it lies below
    zero, held when it reaches at most `allowed`, otherwise inconclusive. `incompatible`: the
    reason why the two runs cannot be compared at all.
    """
    if not allowed >= 0:
        raise ValueError(f"allowed: {allowed!r}; the worsening to accept must be zero or positive")
    if incompatible:
        return BaselineOutcome(INCOMPATIBLE, allowed, None, incompatible)
    if change is None:
        return BaselineOutcome(INCONCLUSIVE, allowed, None, "no interval for the change")
    if change.low > allowed:
        status = REGRESSED
    elif change.high < 0:
        status = IMPROVED
    else:
        status = HELD if change.high <= allowed else INCONCLUSIVE
    text = f"change {change.point:.4g} [{change.low:.4g}, {change.high:.4g}], allowed {allowed:g}"
    return BaselineOutcome(status, allowed, change, text)


def widening(narrow: GapResult, wide: GapResult, *, tolerance: float | None = None) -> Widening:
    """Compare the gaps of narrow and wide training on the same held-out side."""
    metric = narrow.metric
    tolerance = metric.tolerance if tolerance is None else tolerance
    shrinkage = gap_difference(narrow, wide, level=narrow.settings.level)
    cost = None
    if narrow.train.per_seed.size and wide.train.per_seed.size:
        cost = independent_difference(
            [metric.sign * narrow.train.per_seed, metric.sign * wide.train.per_seed],
            [narrow.train.within_variance, wide.train.within_variance],
            [list(narrow.train.sizes), list(wide.train.sizes)],
            metric,
            level=narrow.settings.level,
        )
    held = None
    if shrinkage is not None and cost is not None:
        if shrinkage.low > 0 and cost.high <= tolerance:
            held = True
        elif shrinkage.high <= 0 or cost.low > tolerance:
            held = False
    return Widening(narrow.interval, wide.interval, shrinkage, cost, held)


def _bootstrap_ends(means: list[F64], point: float, level: float, seed: int) -> tuple[float, float]:
    ranked = [np.sort(part) for part in means]
    small = all(part.size <= EXACT_SEEDS for part in ranked)
    tables = [exact_resamples(part.size) for part in ranked] if small else []
    exact = small and tables[0].probability.size * tables[1].probability.size <= EXACT_PRODUCT
    if not exact:
        tables = [drawn_resamples(part.size, seed + at) for at, part in enumerate(ranked)]
    moves = [
        scale_factor(part.size, level) * (resampled_means(table.weights, part) - part.mean())
        for part, table in zip(ranked, tables, strict=True)
    ]
    if exact:
        moved = (moves[0][:, None] - moves[1][None, :]).ravel()
        chance = (tables[0].probability[:, None] * tables[1].probability[None, :]).ravel()
    else:
        moved, chance = moves[0] - moves[1], tables[0].probability
    low, high = quantiles(moved, chance, level)
    return point + min(float(low), 0.0), point + max(float(high), 0.0)


def _score_end(point: float, first: int, second: int, t: float) -> float:
    """Lower end: the smallest probability that does not contradict the observed one."""
    from scipy import optimize  # imported here because it is slow to load and seldom needed

    if point == 0.0:
        return 0.0
    more = (first + second) / 2.0 - 1.0

    def excess(theta: float) -> float:
        inner = more * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        error = np.sqrt(theta * (1 - theta) * (1 + inner) / (first * second))
        return point - theta - t * error

    # At a point of 1 the probability 1 is a root as well, but not the one that is meant.
    end = min(point, 1.0 - 1e-9)
    return float(optimize.brentq(excess, 1e-12, end)) if excess(1e-12) > 0 else 0.0


def _paired_noise(first: Scores, second: Scores, metric: Metric) -> float | None:
    """Standard error from episode noise when row s of both sets played the same levels."""
    arms = read_arms({"first": first, "second": second}).arms
    pairs = zip(arms["first"], arms["second"], strict=True)
    return noise_error(
        all_or_none([paired_variance(one - two, binary=metric.binary) for one, two in pairs])
    )


def _shared_noise(first: GapResult, second: GapResult) -> F64 | None:
    """Episode variance f64[S] of each seed's change, where both gaps share seeds and episodes."""
    if first.differences is None or second.differences is None or first.seeds != second.seeds:
        return None
    variances: list[float | None] = []
    for one, two in zip(first.differences, second.differences, strict=True):
        if one.size != two.size:
            return None
        change = one - two
        change = change[np.isfinite(change)]
        if first.metric.binary:
            variances.append(smoothed_variance(change, (1.0, -1.0)))
        else:
            variances.append(sample_variance(change))
    return all_or_none(variances)
