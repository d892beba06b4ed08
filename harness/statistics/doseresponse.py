"""How a gap grows along an ordered axis: slope, band, and the dose that halves success."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.statistics.bootstrap import t_quantile
from harness.statistics.intervals import (
    ALGORITHM_SEEDS,
    Interval,
    clip,
    default_scope,
    seed_interval,
    statistic_interval,
)
from harness.statistics.results import GapResult, noise_error, spread_sd
from harness.statistics.samples import F64

HALF = 0.5


@dataclass(frozen=True)
class HalfLoss:
    """Dose at which the held-out score has fallen to half of the train score.

    dose None: not reached within the doses tested. low, high None: that end lies outside them.
    """

    dose: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class DoseResponse:
    """slope: gap per unit of dose; slopes f64[S]; band: one interval per dose, jointly valid."""

    doses: F64
    gaps: F64
    slope: Interval | None
    slopes: F64
    band: tuple[Interval, ...]
    half_loss: HalfLoss | None


def dose_response(
    doses: Sequence[float] | F64,
    gaps: Sequence[GapResult],
) -> DoseResponse:
    """Dose-response of one metric from the gap at each dose, all on the same training seeds.

    doses f64[L] strictly increasing, gaps one per dose. Level, method and seed are those of the
    gaps. The half-loss dose is given for binary metrics.
    """
    x = _doses(doses, len(gaps))
    seeds = {gap.seeds for gap in gaps}
    if len(seeds) > 1:
        raise ValueError("gaps: doses were measured on different training seeds; give the same")
    matrix = np.stack([gap.per_seed for gap in gaps], axis=1)
    known = [gap.within_variance for gap in gaps if gap.within_variance is not None]
    noise = np.stack(known, axis=1) if len(known) == len(gaps) else None
    settings, metric = gaps[0].settings, gaps[0].metric
    dof = min(gap.dof for gap in gaps)
    episodes = min((min(gap.sizes) for gap in gaps if gap.sizes), default=0)
    slope = slope_interval(
        x, matrix, noise, dof, level=settings.level, scope=settings.scope,
        method=settings.method, seed=settings.seed, episodes=episodes,
    )  # fmt: skip
    band = simultaneous_band(
        matrix, noise, dof, level=settings.level, bounds=metric.gap_bounds, episodes=episodes
    )
    half = None
    if metric.binary and metric.sign > 0:
        train = gaps[0].train.per_seed
        held = np.stack([gap.heldout.per_seed for gap in gaps], axis=1)
        half = half_loss_dose(x, train, held, level=settings.level, seed=settings.seed)
    return DoseResponse(x, matrix.mean(axis=0), slope, seed_slopes(x, matrix), band, half)


def seed_slopes(doses: F64, gaps: F64) -> F64:
    """Least-squares slope of each seed. doses f64[L], gaps f64[S, L] -> f64[S]."""
    return gaps @ _contrast(doses)


def slope_interval(
    doses: F64,
    gaps: F64,
    variances: F64 | None = None,
    dof: float = 0.0,
    *,
    level: float = 0.95,
    scope: str | None = None,
    method: str = "bootstrap-t-scaled",
    seed: int = 0,
    episodes: int = 0,
) -> Interval | None:
    """Interval of the mean slope, each seed's slope being one observation.

    gaps f64[S, L]; variances f64[S, L] of each gap from episode noise, or None. None where one or
    two seeds have no episode noise to go by.
    """
    x = _doses(doses, gaps.shape[1])
    slopes = seed_slopes(x, gaps)
    noise = None if variances is None or not dof else variances @ _contrast(x) ** 2
    scope = scope or default_scope(slopes.size)
    if scope == "checkpoint" and noise is None:
        return None
    return seed_interval(
        slopes, noise, dof, level=level, scope=scope, method=method, seed=seed, episodes=episodes
    )


def simultaneous_band(
    gaps: F64,
    variances: F64 | None = None,
    dof: float = 0.0,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] | None = None,
    episodes: int = 0,
) -> tuple[Interval, ...]:
    """One interval per dose, all true together at `level`: Bonferroni over the doses.

    gaps f64[S, L], variances f64[S, L] or None. Half-width t * sd / sqrt(S), never below what
    episode noise allows. Empty where one or two seeds have no episode noise to go by.
    """
    seeds, count = gaps.shape
    upper = 1.0 - (1.0 - level) / 2.0 / count
    algorithm = seeds >= ALGORITHM_SEEDS
    if not algorithm and (variances is None or not dof):
        return ()
    band = []
    for at in range(count):
        spread = noise = 0.0
        if algorithm:
            error = spread_sd(gaps[:, at]) / np.sqrt(seeds)
            spread = band_quantile(count, seeds, level) * float(error)
        if variances is not None and dof:
            noise = t_quantile(upper, dof) * (noise_error(variances[:, at]) or 0.0)
        half = max(spread, noise)
        point = float(np.sort(gaps[:, at]).mean())
        low, high = clip(point - half, point + half, bounds)
        band.append(
            Interval(
                point, low, high, level, "algorithm" if algorithm else "checkpoint",
                "bonferroni-t", seeds, episodes, noise > spread,
                ("degenerate",) if low == high else (),
            )
        )  # fmt: skip
    return tuple(band)


def band_quantile(doses: int, seeds: int, level: float = 0.95) -> float:
    """Bonferroni t quantile for a band over several doses."""
    return t_quantile(1.0 - (1.0 - level) / 2.0 / doses, seeds - 1)


def half_loss_dose(
    doses: F64, train: F64, heldout: F64, *, level: float = 0.95, seed: int = 0
) -> HalfLoss:
    """Dose at which the mean held-out score first falls to half of the mean train score.

    doses f64[L]; train f64[S]; heldout f64[S, L]. Linear between doses, from the first on; ends by
    joint resampling of seeds (three or more), cut to the doses tested.
    """
    x = _doses(doses, heldout.shape[1])
    features = np.column_stack([train, heldout])
    point = float(_crossing(x, features.mean(axis=0, keepdims=True))[0])
    if features[:, 0].mean() <= 0:
        return HalfLoss(None, None, None, "no success in training")
    if not np.isfinite(point):
        return HalfLoss(None, None, None, "not reached within the doses tested")
    if train.size < ALGORITHM_SEEDS:
        return HalfLoss(point, None, None, "too few training seeds for an interval")
    # Beyond the tested doses the crossing is unknown; a far value keeps the order of resamples.
    far = float(x[-1] + 1e6 * (x[-1] - x[0]))
    interval = statistic_interval(
        features,
        lambda means: np.minimum(_crossing(x, means), far),
        level=level,
        seed=seed,
    )
    if interval is None:
        return HalfLoss(point, None, None, "no interval")
    low = interval.low if interval.low > x[0] else None
    high = interval.high if interval.high < x[-1] else None
    return HalfLoss(point, low, high)


def _crossing(doses: F64, means: F64) -> F64:
    """First dose at which means[:, 1:] falls to half of means[:, 0]; infinite where it does not."""
    target = HALF * means[:, :1]
    below = means[:, 1:] <= target
    first = below.argmax(axis=1)
    rows = np.arange(means.shape[0])
    after = means[rows, 1 + first]
    before = means[rows, np.maximum(first, 1)]
    step = doses[first] - doses[np.maximum(first - 1, 0)]
    drop = before - after
    share = np.where(drop > 0, (target[:, 0] - after) / np.where(drop > 0, drop, 1.0), 0.0)
    dose = doses[first] - step * np.where(first > 0, share, 0.0)
    return np.where(below.any(axis=1), dose, np.inf)


def _contrast(doses: F64) -> F64:
    centred = doses - doses.mean()
    return centred / float((centred**2).sum())


def _doses(doses: Sequence[float] | F64, count: int) -> F64:
    x = np.asarray(doses, dtype=np.float64)
    if x.ndim != 1 or x.size < 2 or x.size != count:
        raise ValueError(f"doses: got {x.size} for {count} gaps; give two or more, one per gap")
    if not (np.diff(x) > 0).all():
        raise ValueError(f"doses: {x.tolist()}; must increase strictly")
    return x
