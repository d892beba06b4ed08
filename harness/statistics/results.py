"""What a measurement returns, and the steps that all measurements share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.statistics.checks import DEFAULT_METHOD, METHODS, SCOPES, check_level, choose
from harness.statistics.intervals import Interval, default_scope, seed_interval
from harness.statistics.metric import Metric
from harness.statistics.samples import F64

NO_SEEDS = "no training seed has a valid episode"
NO_EPISODES = "one episode per seed and fewer than three seeds: nothing to measure noise with"


@dataclass(frozen=True)
class Settings:
    """How intervals are made; checked once. scope None is decided by the number of seeds."""

    level: float = 0.95
    scope: str | None = None
    method: str = DEFAULT_METHOD
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        choose("method", self.method, METHODS)
        if self.scope is not None:
            choose("scope", self.scope, SCOPES)


@dataclass(frozen=True, eq=False)
class ArmResult:
    """Mean score of one side, in the metric's unit.

    interval         None where none can be given; `reason` then says why
    per_seed         f64[S] mean score of each kept seed
    within_variance  f64[S] variance of each of these means from episode noise, or None
    sizes            valid episodes of each kept seed
    """

    metric: Metric
    interval: Interval | None
    per_seed: F64
    within_variance: F64 | None
    seeds: tuple[int, ...]
    sizes: tuple[int, ...]
    dropped: int = 0
    problems: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def mean(self) -> float | None:
        return self.interval.point if self.interval else None


@dataclass(frozen=True, eq=False)
class GapResult:
    """The gap of one pair on one metric; positive is a loss.

    interval            None where none can be given; `reason` then says why
    per_seed            f64[S] gap of each kept seed, in the order of the input
    per_seed_intervals  one checkpoint-scope interval per kept seed, or None each
    within_variance     f64[S] variance of each per-seed gap from episode noise, or None
    dof                 degrees of freedom of that noise
    train, heldout      the two arms, in raw units, on the same episodes
    seeds, sizes        positions of the kept seeds in the input, and their valid episodes
    dropped, total      episodes dropped as not finite, and read
    problems            reasons why the measurement is invalid; empty when it is sound
    differences         one f64[E] per kept seed, NaN where an episode was dropped; None if unpaired
    sides               the single gaps where several held-out sides were averaged
    """

    metric: Metric
    settings: Settings
    interval: Interval | None
    per_seed: F64
    per_seed_intervals: tuple[Interval | None, ...]
    within_variance: F64 | None
    dof: float
    train: ArmResult
    heldout: ArmResult
    seeds: tuple[int, ...]
    sizes: tuple[int, ...]
    dropped: int
    total: int
    problems: tuple[str, ...] = ()
    reason: str | None = None
    differences: tuple[F64, ...] | None = field(default=None, repr=False)
    sides: dict[str, GapResult] = field(default_factory=dict, repr=False)

    @property
    def point(self) -> float | None:
        return self.interval.point if self.interval else None

    @property
    def noise_error(self) -> float | None:
        """Standard error of the mean gap from episode noise alone, sqrt(sum v_s) / S."""
        return noise_error(self.within_variance)

    @property
    def seed_error(self) -> float | None:
        """Standard error of the mean gap from the spread over seeds, sd / sqrt(S)."""
        seeds = self.per_seed.size
        return spread_sd(self.per_seed) / float(np.sqrt(seeds)) if seeds > 1 else None


def noise_error(variances: F64 | None) -> float | None:
    if variances is None or variances.size == 0:
        return None
    return float(np.sqrt(np.sort(variances).sum())) / variances.size


def spread_sd(values: F64) -> float:
    """Sample standard deviation, exactly 0 for equal values and equal for every order."""
    ranked = np.sort(values)
    return 0.0 if ranked[0] == ranked[-1] else float(ranked.std(ddof=1))


def dof_of(sizes: Sequence[int], *, binary: bool) -> float:
    """Degrees of freedom of episode noise, sum(E_s - 1).

    Binary metrics keep at least one: their smoothed variance exists for a single episode, and an
    interval that is too wide to be useful is more honest there than one of width zero.
    """
    total = float(sum(size - 1 for size in sizes))
    return max(total, 1.0) if binary and sizes else total


def make_interval(
    per_seed: F64,
    variances: F64 | None,
    sizes: Sequence[int],
    settings: Settings,
    *,
    binary: bool = False,
    bounds: tuple[float, float] | None = None,
    checkpoint_method: str = "t",
) -> tuple[Interval | None, str | None]:
    """Interval of the mean of per-seed values, or None with the reason."""
    if per_seed.size == 0:
        return None, NO_SEEDS
    scope = settings.scope or default_scope(per_seed.size)
    if scope == "checkpoint" and variances is None:
        return None, NO_EPISODES
    interval = seed_interval(
        per_seed,
        variances,
        dof_of(sizes, binary=binary),
        episodes=min(sizes),
        level=settings.level,
        scope=scope,
        method=settings.method,
        bounds=bounds,
        seed=settings.seed,
        checkpoint_method=checkpoint_method,
    )
    return interval, None


def single_intervals(
    per_seed: F64,
    variances: F64 | None,
    sizes: Sequence[int],
    settings: Settings,
    *,
    binary: bool,
    bounds: tuple[float, float] | None,
    checkpoint_method: str = "t",
) -> tuple[Interval | None, ...]:
    """Checkpoint-scope interval of each seed's own policy."""
    if variances is None:
        return (None,) * per_seed.size
    alone = Settings(settings.level, "checkpoint", settings.method, settings.seed)
    return tuple(
        make_interval(
            per_seed[i : i + 1], variances[i : i + 1], sizes[i : i + 1], alone,
            binary=binary, bounds=bounds, checkpoint_method=checkpoint_method,
        )[0]
        for i in range(per_seed.size)
    )  # fmt: skip


def check_scores(name: str, rows: Sequence[NDArray[np.float64]], metric: Metric) -> None:
    """Raise ValueError for scores that the metric says cannot exist."""
    values = np.concatenate(rows) if rows else np.empty(0)
    if metric.binary and not np.isin(values, (0.0, 1.0)).all():
        raise ValueError(f"{name}: {metric.name} is declared binary; every score must be 0 or 1")
    if metric.bounds is not None and values.size:
        low, high = metric.bounds
        if values.min() < low or values.max() > high:
            raise ValueError(
                f"{name}: {metric.name} lies in [{low:g}, {high:g}], "
                f"got [{values.min():g}, {values.max():g}]"
            )
