"""Confidence intervals whose unit of evidence is the training run.

`algorithm` scope answers "what would new training seeds do?" and needs three seeds or more.
`checkpoint` scope answers "what do these very policies do?" and is all that one or two can say.
The default is the percentile bootstrap over seeds, stretched to the right size for a handful of
seeds, and never narrower than what episode noise alone allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.statistics.bootstrap import (
    Resamples,
    drawn_resamples,
    quantiles,
    resampled_means,
    resamples,
    scale_factor,
    t_quantile,
    z_quantile,
)
from harness.statistics.checks import (
    DEFAULT_METHOD,
    METHODS,
    SCOPES,
    check_level,
    check_seeds,
    choose,
)

F64 = NDArray[np.float64]

ALGORITHM_SEEDS = 3  # fewer training seeds cannot carry a statement about new seeds


@dataclass(frozen=True)
class Interval:
    """A number and what surrounds it.

    seeds         training seeds behind it
    episodes      episodes per seed (the smallest where seeds differ; 0 where unknown)
    guard_active  episode noise, not the spread over seeds, set at least one end
    flags         `degenerate` (no spread of any kind), `no_verdict` (two seeds: shown, not judged)
    """

    point: float
    low: float
    high: float
    level: float
    scope: str
    method: str
    seeds: int
    episodes: int
    guard_active: bool = False
    flags: tuple[str, ...] = ()

    @property
    def degenerate(self) -> bool:
        return "degenerate" in self.flags

    @property
    def width(self) -> float:
        return self.high - self.low


def default_scope(seeds: int) -> str:
    """`algorithm` from three seeds on, `checkpoint` below."""
    return "algorithm" if seeds >= ALGORITHM_SEEDS else "checkpoint"


def guard_half_width(variances: F64, dof: float, level: float) -> F64:
    """t * sqrt(sum of v_s) / S: half-width from episode noise alone. variances f64[..., S]."""
    seeds = variances.shape[-1]
    upper = 1.0 - (1.0 - level) / 2.0
    return t_quantile(upper, dof) * np.sqrt(np.sort(variances, axis=-1).sum(axis=-1)) / seeds


def seed_bounds(
    means: F64,
    variances: F64 | None = None,
    dof: float | None = None,
    *,
    level: float = 0.95,
    method: str = DEFAULT_METHOD,
    resampled: Resamples | None = None,
    seed: int = 0,
) -> tuple[F64, F64, F64, NDArray[np.bool_]]:
    """Point, low, high and whether the guard acted, for many data sets at once.

    means f64[..., S] per-seed values; variances f64[..., S] and dof from episode noise, or None.
    `percentile` is left bare, without stretch or guard, for comparison with common practice. With
    two seeds every method falls back to t. No clipping to metric bounds happens here.
    """
    means = np.sort(means, axis=-1)  # order must not matter, not even in the last bit
    seeds = means.shape[-1]
    point = np.where(means[..., 0] == means[..., -1], means[..., 0], means.mean(axis=-1))
    if method == "t" or (seeds == 2 and method == DEFAULT_METHOD):
        low, high = _t_bounds(means, point, level)
    else:
        table = resampled or resamples(seeds, seed)
        flat = means.reshape(-1, seeds)
        values = resampled_means(table.weights, flat.T)
        low, high = (
            end.reshape(point.shape) for end in quantiles(values, table.probability, level)
        )
        if method == DEFAULT_METHOD:
            stretch = scale_factor(seeds, level)
            low, high = point - stretch * (point - low), point + stretch * (high - point)
    constant = means[..., 0] == means[..., -1]
    low = np.where(constant, point, np.minimum(low, point))
    high = np.where(constant, point, np.maximum(high, point))
    if variances is None or method == "percentile":
        return point, low, high, np.zeros(point.shape, dtype=bool)
    half = guard_half_width(variances, dof or 1.0, level)
    active = (point - half < low) | (point + half > high)
    return point, np.minimum(low, point - half), np.maximum(high, point + half), active


def seed_interval(
    means: F64,
    variances: F64 | None = None,
    dof: float | None = None,
    *,
    episodes: int = 0,
    level: float = 0.95,
    scope: str | None = None,
    method: str = DEFAULT_METHOD,
    bounds: tuple[float, float] | None = None,
    seed: int = 0,
    checkpoint_method: str = "t",
) -> Interval:
    """Interval for the mean of per-seed values.

    means f64[S]; variances f64[S] and dof describe episode noise (None: no guard). `bounds` clips.
    `seed` is used above ten seeds only. ValueError for one seed in algorithm scope and for
    checkpoint scope without episode noise.
    """
    means = np.asarray(means, dtype=np.float64)
    check_level(level)
    choose("method", method, METHODS)
    check_seeds(means.size, 1, "interval")
    scope = choose("scope", scope or default_scope(means.size), SCOPES)
    flags: list[str] = []
    if scope == "checkpoint":
        point, low, high = _checkpoint_bounds(means, variances, dof, level)
        guarded, method = False, checkpoint_method
    else:
        check_seeds(means.size, 2, "algorithm scope")
        if means.size < ALGORITHM_SEEDS:
            flags.append("no_verdict")
            method = "percentile" if method == "percentile" else "t"
        ends = seed_bounds(means, variances, dof, level=level, method=method, seed=seed)
        point, low, high = (float(end) for end in ends[:3])
        guarded = bool(ends[3])
    low, high = clip(low, high, bounds)
    if low == high:
        flags.append("degenerate")
    return Interval(
        point, low, high, level, scope, method, means.size, episodes, guarded, tuple(flags)
    )


def statistic_interval(
    features: F64 | Sequence[F64],
    statistic: Callable[[F64], F64],
    *,
    half: float = 0.0,
    episodes: int = 0,
    level: float = 0.95,
    method: str = DEFAULT_METHOD,
    bounds: tuple[float, float] | None = None,
    seed: int = 0,
) -> Interval | None:
    """Interval, in algorithm scope, for any function of seed averages.

    features f64[S, M]: M numbers per seed, resampled together, so what belongs to one seed stays
    together; or several such blocks, resampled independently, whose columns are joined.
    `statistic` maps averages f64[R, M] to f64[R]. `half` is a half-width from episode noise below
    which the interval never falls. None where the statistic has no finite value. Method `t` uses
    the jackknife standard error and takes one block.
    """
    check_level(level)
    choose("method", method, METHODS)
    blocks = [features] if isinstance(features, np.ndarray) else list(features)
    blocks = [block[np.lexsort(block.T[::-1])] for block in blocks]
    seeds = min(block.shape[0] for block in blocks)
    check_seeds(seeds, ALGORITHM_SEEDS, "algorithm scope")
    point = float(statistic(np.hstack([block.mean(axis=0) for block in blocks])[None])[0])
    if method == "t":
        reach = t_quantile(1.0 - (1.0 - level) / 2.0, seeds - 1) * _jackknife(blocks, statistic)
        low, high = point - reach, point + reach
    else:
        means, probability = _resampled(blocks, seed)
        low, high = (float(end) for end in quantiles(statistic(means), probability, level))
    if not np.isfinite([point, low, high]).all():
        return None
    if method == DEFAULT_METHOD:
        stretch = scale_factor(seeds, level)
        low, high = point - stretch * (point - low), point + stretch * (high - point)
    low, high = min(low, point), max(high, point)
    reach = 0.0 if method == "percentile" else half
    guarded = point - reach < low or point + reach > high
    low, high = clip(min(low, point - reach), max(high, point + reach), bounds)
    flags = ("degenerate",) if low == high else ()
    return Interval(
        point, low, high, level, "algorithm", method, seeds, episodes, bool(guarded), flags
    )


def wilson(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a proportion. Wilson (1927), JASA 22, 209-212."""
    if not trials > 0 or not 0 <= successes <= trials:
        raise ValueError(f"wilson: {successes!r} of {trials!r}; needs 0 <= successes <= trials")
    z = z_quantile(1.0 - (1.0 - check_level(level)) / 2.0)
    share = successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials)
    half *= float(np.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2)))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return low, high


def clip(low: float, high: float, bounds: tuple[float, float] | None) -> tuple[float, float]:
    """Cut an interval to what is possible."""
    if bounds is None:
        return low, high
    return max(low, bounds[0]), min(high, bounds[1])


def _t_bounds(means: F64, point: F64, level: float) -> tuple[F64, F64]:
    seeds = means.shape[-1]
    half = t_quantile(1.0 - (1.0 - level) / 2.0, seeds - 1)
    half = half * means.std(axis=-1, ddof=1) / np.sqrt(seeds)
    return point - half, point + half


def _checkpoint_bounds(
    means: F64, variances: F64 | None, dof: float | None, level: float
) -> tuple[float, float, float]:
    if variances is None or not dof:
        raise ValueError(
            "scope: checkpoint needs two or more episodes per seed; "
            "without them only algorithm scope (three seeds or more) is possible"
        )
    ranked = np.sort(means)
    point = float(ranked[0]) if ranked[0] == ranked[-1] else float(ranked.mean())
    half = float(guard_half_width(np.asarray(variances), dof, level))
    return point, point - half, point + half


def _resampled(blocks: Sequence[F64], seed: int) -> tuple[F64, F64]:
    """Averages of each resample f64[R, M] and their probability f64[R]."""
    if len(blocks) == 1:
        table = resamples(blocks[0].shape[0], seed)
        return resampled_means(table.weights, blocks[0]), table.probability
    tables = [drawn_resamples(block.shape[0], seed + at) for at, block in enumerate(blocks)]
    means = [resampled_means(t.weights, block) for t, block in zip(tables, blocks, strict=True)]
    return np.hstack(means), tables[0].probability


def _jackknife(blocks: Sequence[F64], statistic: Callable[[F64], F64]) -> float:
    if len(blocks) > 1:
        raise ValueError("method: t takes one set of seeds; use bootstrap-t-scaled or percentile")
    (block,) = blocks
    seeds = block.shape[0]
    values = statistic((block.sum(axis=0) - block) / (seeds - 1))
    return float(np.sqrt((seeds - 1) / seeds * ((values - values.mean()) ** 2).sum()))
