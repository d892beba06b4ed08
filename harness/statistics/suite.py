"""Means over the pairs of a suite or an axis, and its worst pairs.

Pairs that were measured on the same policies are not independent: a weak training seed is weak on
all of them. So pairs are averaged inside each seed first, and whole seeds are resampled. Pairs of
separately trained policies form strata, which are independent of each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness.statistics.bootstrap import drawn_resamples, quantiles, resampled_means, t_quantile
from harness.statistics.checks import DEFAULT_METHOD, check_seeds
from harness.statistics.intervals import (
    ALGORITHM_SEEDS,
    Interval,
    clip,
    statistic_interval,
)
from harness.statistics.metric import Metric
from harness.statistics.results import (
    NO_EPISODES,
    NO_SEEDS,
    GapResult,
    Settings,
    dof_of,
    make_interval,
    noise_error,
    single_intervals,
    spread_sd,
)
from harness.statistics.samples import F64
from harness.statistics.variance import sample_variance

ONE_SET = "all"


@dataclass(frozen=True, eq=False)
class Stratum:
    """Pairs measured on one set of policies.

    gaps f64[S, K] per seed and pair; rows f64[S] their means over pairs; train f64[S] mean train
    score; variances f64[S] episode noise of each row, or None; sizes: episodes per seed
    """

    name: str
    pairs: tuple[str, ...]
    gaps: F64
    rows: F64
    train: F64
    variances: F64 | None
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    incomplete: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class SuiteResult:
    """Mean gap over pairs.

    interval     None where none can be given; `reason` then says why
    per_seed     f64[S] row means when all pairs share their policies; empty with several strata
    pair_points  mean gap of each pair, in the order of `pairs`
    seed_error, noise_error  standard errors from the spread over seeds and from episode noise
    seed_dof, dof            their degrees of freedom
    """

    metric: Metric
    settings: Settings
    interval: Interval | None
    pairs: tuple[str, ...]
    pair_points: F64
    per_seed: F64
    per_seed_intervals: tuple[Interval | None, ...]
    within_variance: F64 | None
    strata: tuple[Stratum, ...]
    seed_error: float | None
    seed_dof: float
    noise_error: float | None
    dof: float
    problems: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def point(self) -> float | None:
        return self.interval.point if self.interval else None

    @property
    def spread(self) -> float | None:
        """2 * SD over seeds of the mean train score; None where a stratum has a single seed."""
        if any(part.train.size < 2 for part in self.strata):
            return None
        total = len(self.pairs)
        shares = [len(part.pairs) / total * spread_sd(part.train) for part in self.strata]
        return 2.0 * float(np.sqrt(np.sum(np.square(shares))))


@dataclass(frozen=True)
class WorstPairs:
    """The k pairs with the largest mean gap, and an interval for the mean of the k largest."""

    pairs: tuple[str, ...]
    interval: Interval | None
    points: tuple[float, ...] = field(default=())


def suite_gap(
    gaps: Mapping[str, GapResult],
    strata: Mapping[str, str] | None = None,
    *,
    level: float | None = None,
    scope: str | None = None,
    method: str | None = None,
    seed: int | None = None,
) -> SuiteResult:
    """Mean gap over pairs, with seeds resampled jointly.

    gaps: pair name -> gap, all of one metric. strata: pair name -> name of the policy set it was
    measured on; without it all pairs share policies, which is also the safe choice when unknown.
    Each pair weighs the same. Settings left out are those of the gaps.
    """
    first = _first(gaps)
    scope = first.settings.scope if scope is None else scope
    settings = Settings(
        first.settings.level if level is None else level,
        scope,
        first.settings.method if method is None else method,
        first.settings.seed if seed is None else seed,
    )
    parts = _strata(gaps, strata)
    pairs = tuple(gaps)
    problems = tuple(f"{name}: {text}" for name, gap in gaps.items() for text in gap.problems)
    problems += tuple(_incomplete(part) for part in parts if part.incomplete)
    points = np.array([gap.point if gap.point is not None else 0.0 for gap in gaps.values()])
    known = {
        "metric": first.metric, "pairs": pairs, "pair_points": points, "strata": parts,
        "problems": problems, "settings": settings,
    }  # fmt: skip
    if any(part.rows.size == 0 for part in parts):
        return _without_interval(known, NO_SEEDS)
    return _one_set(known, parts[0]) if len(parts) == 1 else _many_sets(known, parts)


def axis_gaps(
    gaps: Mapping[str, GapResult],
    axes: Mapping[str, str],
    strata: Mapping[str, str] | None = None,
    **settings: object,
) -> dict[str, SuiteResult]:
    """Mean gap of each axis, in order of first appearance. axes: pair name -> axis name."""
    groups: dict[str, dict[str, GapResult]] = {}
    for name, gap in gaps.items():
        if name not in axes:
            raise ValueError(f"axes: no axis for pair {name!r}; give one for every pair")
        groups.setdefault(axes[name], {})[name] = gap
    return {axis: suite_gap(group, strata, **settings) for axis, group in groups.items()}


def worst_pairs(
    gaps: Mapping[str, GapResult], k: int = 1, strata: Mapping[str, str] | None = None
) -> WorstPairs:
    """The k largest mean gaps. Their interval redraws which pairs are worst in every resample."""
    if not 1 <= k <= len(gaps):
        raise ValueError(f"k: {k} worst pairs of {len(gaps)}; give 1 to {len(gaps)}")
    whole = suite_gap(gaps, strata)
    order = np.argsort(-whole.pair_points, kind="stable")[:k]
    names = tuple(whole.pairs[i] for i in order)
    points = tuple(float(whole.pair_points[i]) for i in order)
    chosen = suite_gap({name: gaps[name] for name in names}, strata)
    if chosen.interval is None or whole.interval is None:
        return WorstPairs(names, None, points)
    if whole.interval.scope == "checkpoint" or min(p.rows.size for p in whole.strata) < 3:
        flags = (*chosen.interval.flags, "selected")
        return WorstPairs(names, replace(chosen.interval, flags=flags), points)
    interval = statistic_interval(
        [part.gaps for part in whole.strata],
        lambda means: np.sort(means, axis=1)[:, -k:].mean(axis=1),
        half=_noise_half(chosen),
        episodes=whole.interval.episodes,
        level=whole.settings.level,
        method="percentile" if whole.settings.method == "percentile" else DEFAULT_METHOD,
        bounds=whole.metric.gap_bounds,
        seed=whole.settings.seed,
    )
    return WorstPairs(names, interval, points)


def _one_set(known: dict, part: Stratum) -> SuiteResult:
    metric, settings = known["metric"], known["settings"]
    shape = {"binary": metric.binary, "bounds": metric.gap_bounds}
    interval, reason = make_interval(part.rows, part.variances, part.sizes, settings, **shape)
    seeds = part.rows.size
    singles = single_intervals(part.rows, part.variances, part.sizes, settings, **shape)
    return SuiteResult(
        **known,
        interval=interval,
        per_seed=part.rows,
        per_seed_intervals=singles,
        within_variance=part.variances,
        seed_error=spread_sd(part.rows) / float(np.sqrt(seeds)) if seeds > 1 else None,
        seed_dof=float(seeds - 1),
        noise_error=noise_error(part.variances),
        dof=dof_of(part.sizes, binary=metric.binary),
        reason=reason,
    )


def _many_sets(known: dict, parts: Sequence[Stratum]) -> SuiteResult:
    metric, settings = known["metric"], known["settings"]
    weights = [len(part.pairs) / len(known["pairs"]) for part in parts]
    dof = sum(dof_of(part.sizes, binary=metric.binary) for part in parts)
    noise = _combined_noise(parts, weights)
    error, seed_dof = satterthwaite([part.rows for part in parts], weights)
    least = min(part.rows.size for part in parts)
    scope = settings.scope or ("algorithm" if least >= ALGORITHM_SEEDS else "checkpoint")
    base = _without_interval(
        known, NO_EPISODES, seed_error=error, seed_dof=seed_dof, noise_error=noise, dof=dof
    )
    if scope == "checkpoint" and (noise is None or not dof):
        return base
    upper = 1.0 - (1.0 - settings.level) / 2.0
    point = float(sum(w * part.rows.mean() for w, part in zip(weights, parts, strict=True)))
    reach = 0.0 if noise is None or not dof else t_quantile(upper, dof) * noise
    low = high = point
    method, flags, guarded = "t", (), False
    if scope == "algorithm":
        check_seeds(least, 2, "algorithm scope")
        flags = ("no_verdict",) if least < ALGORITHM_SEEDS else ()
        method = "satterthwaite-t"
        if settings.method == "percentile":
            method, reach = "percentile", 0.0
            low, high = _drawn_percentile(parts, weights, settings)
        elif error:
            half = t_quantile(upper, seed_dof) * error
            low, high = point - half, point + half
        guarded = point - reach < low or point + reach > high
    low, high = clip(min(low, point - reach), max(high, point + reach), metric.gap_bounds)
    flags += ("degenerate",) if low == high else ()
    interval = Interval(
        point, low, high, settings.level, scope, method, least,
        min(min(part.sizes) for part in parts), guarded, flags,
    )  # fmt: skip
    return replace(base, interval=interval, reason=None)


def satterthwaite(rows: Sequence[F64], weights: Sequence[float]) -> tuple[float | None, float]:
    """Standard error of sum_g w_g mean(rows_g) and its approximate degrees of freedom.

    rows: one f64[S_g] per independent stratum. Satterthwaite (1946), Biometrics Bulletin 2,
    110-114. The error is None where a stratum has a single seed.
    """
    if any(row.size < 2 for row in rows):
        return None, 0.0
    parts = [w**2 * spread_sd(row) ** 2 / row.size for w, row in zip(weights, rows, strict=True)]
    total = sum(parts)
    if total == 0:
        return 0.0, float(min(row.size for row in rows) - 1)
    below = sum(part**2 / (row.size - 1) for part, row in zip(parts, rows, strict=True))
    return float(np.sqrt(total)), float(total**2 / below)


def _drawn_percentile(
    parts: Sequence[Stratum], weights: Sequence[float], settings: Settings
) -> tuple[float, float]:
    total: F64 | float = 0.0
    for at, (part, weight) in enumerate(zip(parts, weights, strict=True)):
        table = drawn_resamples(part.rows.size, settings.seed + at)
        total = total + weight * resampled_means(table.weights, np.sort(part.rows))
    low, high = quantiles(np.asarray(total), table.probability, settings.level)
    return float(low), float(high)


def _combined_noise(parts: Sequence[Stratum], weights: Sequence[float]) -> float | None:
    errors = [noise_error(part.variances) for part in parts]
    if any(error is None for error in errors):
        return None
    return float(np.sqrt(sum((w * e) ** 2 for w, e in zip(weights, errors, strict=True))))


def _noise_half(result: SuiteResult) -> float:
    if result.noise_error is None or not result.dof:
        return 0.0
    upper = 1.0 - (1.0 - result.settings.level) / 2.0
    return t_quantile(upper, result.dof) * result.noise_error


def _strata(gaps: Mapping[str, GapResult], strata: Mapping[str, str] | None) -> tuple[Stratum, ...]:
    groups: dict[str, list[str]] = {}
    for name in gaps:
        if strata is not None and name not in strata:
            raise ValueError(f"strata: no policy set for pair {name!r}; give one for every pair")
        groups.setdefault(ONE_SET if strata is None else strata[name], []).append(name)
    return tuple(_stratum(key, names, gaps) for key, names in groups.items())


def _stratum(key: str, names: Sequence[str], gaps: Mapping[str, GapResult]) -> Stratum:
    members = [gaps[name] for name in names]
    common = sorted(set.intersection(*(set(gap.seeds) for gap in members)))
    everyone = set.union(*(set(gap.seeds) for gap in members))
    at = [[gap.seeds.index(seed) for seed in common] for gap in members]
    picked = list(zip(members, at, strict=True))
    matrix = np.array([gap.per_seed[index] for gap, index in picked]).reshape(len(names), -1).T
    train = np.array([gap.train.per_seed[index] for gap, index in picked])
    variances = [_row_variance(picked, i) for i in range(len(common))]
    complete = bool(variances) and all(value is not None for value in variances)
    return Stratum(
        name=key,
        pairs=tuple(names),
        gaps=matrix,
        rows=np.sort(matrix, axis=1).mean(axis=1),
        train=train.reshape(len(names), -1).mean(axis=0),
        variances=np.array(variances, dtype=np.float64) if complete else None,
        sizes=tuple(min(gap.sizes[index[i]] for gap, index in picked) for i in range(len(common))),
        seeds=tuple(common),
        incomplete=tuple(sorted(everyone - set(common))),
    )


def _row_variance(picked: Sequence[tuple[GapResult, list[int]]], i: int) -> float | None:
    """max(var_e(mean_k D) / E, sum_k v_k / K^2) of one seed."""
    parts = []
    for gap, index in picked:
        if gap.within_variance is None:
            return None
        parts.append(float(gap.within_variance[index[i]]))
    rows = [None if gap.differences is None else gap.differences[index[i]] for gap, index in picked]
    count = len(parts)
    if any(row is None for row in rows):
        # Without shared episodes the correlation between pairs is unknown: assume the worst.
        return (sum(np.sqrt(part) for part in parts) / count) ** 2
    length = min(row.size for row in rows if row is not None)
    mean = np.mean([row[:length] for row in rows if row is not None], axis=0)
    shown = sample_variance(mean[np.isfinite(mean)])
    return max(shown or 0.0, sum(parts) / count**2)


def _without_interval(known: dict, reason: str, **errors: float | None) -> SuiteResult:
    defaults = {"seed_error": None, "seed_dof": 0.0, "noise_error": None, "dof": 0.0}
    return SuiteResult(
        **known,
        **(defaults | errors),
        interval=None,
        per_seed=np.empty(0),
        per_seed_intervals=(),
        within_variance=None,
        reason=reason,
    )


def _incomplete(part: Stratum) -> str:
    listed = ", ".join(str(seed) for seed in part.incomplete)
    return f"training seed {listed} is missing from some pairs"


def _first(gaps: Mapping[str, GapResult]) -> GapResult:
    if not gaps:
        raise ValueError("gaps: no pairs; give at least one")
    names = {gap.metric.name for gap in gaps.values()}
    if len(names) > 1:
        raise ValueError(f"gaps: several metrics ({', '.join(sorted(names))}); give one at a time")
    return next(iter(gaps.values()))
