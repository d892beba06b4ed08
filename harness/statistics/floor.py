"""What counts as noise: the tolerance, the A/A floor, and the spread over training seeds.

The A/A floor is the gap one would see between two evaluations of the same policies on the same
side. The seed spread answers another question (what would another seed change?) and is a label
that stands beside a gap, never the test: it does not shrink as evidence grows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from harness.statistics.bootstrap import z_quantile
from harness.statistics.checks import check_level, check_seeds
from harness.statistics.metric import Metric
from harness.statistics.results import spread_sd
from harness.statistics.samples import F64, Scores, read_arms, read_rows, row_mean, row_means
from harness.statistics.variance import all_or_none, arm_variance

ROUGH_SEEDS = 10  # below this many seeds a spread is only roughly known


@dataclass(frozen=True)
class Spread:
    """How much training scores differ between seeds, in the metric's unit.

    value is 2 * sd, comparable at any number of seeds; range is max - min and grows with them.
    """

    mean: float
    sd: float
    range: float
    seeds: int

    @property
    def value(self) -> float:
        return 2.0 * self.sd

    @property
    def rough(self) -> bool:
        return self.seeds < ROUGH_SEEDS


@dataclass(frozen=True)
class NoiseFloor:
    """The gap below which nothing is claimed, in the metric's unit.

    value      max(tolerance, aa), or the seed spread where episode noise is unknown
    source     which of `tolerance`, `aa`, `spread` set it
    aa         expected size of the gap between two evaluations of the same side, or None
    measured   signed gap between such halves (or a second evaluation), or None
    """

    value: float
    tolerance: float | None
    source: str
    aa: float | None = None
    measured: float | None = None

    @property
    def aa_exceeded(self) -> bool:
        """The measured A/A gap is larger than the floor allows: the evaluation is not stable."""
        if self.aa is None or self.measured is None:
            return False
        return abs(self.measured) > self.aa


def seed_spread(train_means: Sequence[float] | F64) -> Spread | None:
    """Spread of per-seed train scores f64[S]; None for a single seed."""
    means = np.asarray(train_means, dtype=np.float64)
    if means.ndim != 1 or not np.isfinite(means).all():
        raise ValueError("train means: needs one finite score per training seed")
    if means.size < 2:
        return None
    return Spread(row_mean(means), spread_sd(means), float(np.ptp(means)), means.size)


def aa_floor(train_variances: F64, level: float = 0.95) -> float:
    """z * sqrt(2 * sum vT_s) / S for variances f64[S] of the train means from episode noise."""
    variances = np.asarray(train_variances, dtype=np.float64)
    check_seeds(variances.size, 1, "A/A floor")
    z = z_quantile(1.0 - (1.0 - check_level(level)) / 2.0)
    return float(z * np.sqrt(2.0 * np.sort(variances).sum()) / variances.size)


def measured_aa(train: Scores, again: Scores | None = None) -> float | None:
    """Gap of the training side against itself, signed.

    Against a second evaluation on other levels if given, otherwise even against odd episodes; the
    latter is divided by sqrt(2), which makes both equally noisy. None with a single episode.
    """
    first = [row[np.isfinite(row)] for row in read_arms({"train": train}).arms["train"]]
    if again is not None:
        arms = read_arms({"train": train, "again": again}, paired=False).arms
        if not arms["train"]:
            return None
        return float(np.mean(row_means(arms["train"]) - row_means(arms["again"])))
    if not first or any(row.size < 2 for row in first):
        return None
    halves = [row_mean(row[::2]) - row_mean(row[1::2]) for row in first]
    return float(np.mean(halves) / np.sqrt(2.0))


def replay_check(first: Scores, second: Scores, *, stochastic: bool = False) -> str | None:
    """Compare two evaluations on the very same levels; None when they are equal.

    A deterministic policy must repeat itself exactly: otherwise `invalid`, or `stochastic_policy`
    if it was declared to sample without a key.
    """
    one, two = read_rows(first, "first"), read_rows(second, "second")
    if [row.size for row in one] != [row.size for row in two]:
        raise ValueError("replay check: both evaluations need the same seeds and episodes")
    if all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, two, strict=True)):
        return None
    return "stochastic_policy" if stochastic else "invalid"


def noise_floor(
    train: Scores,
    metric: Metric,
    *,
    tolerance: float | None = None,
    level: float = 0.95,
    again: Scores | None = None,
) -> NoiseFloor:
    """Noise floor of one training side.

    train f64[S, E] or one f64[E_s] per seed; `again`: a second evaluation on other levels, if
    there is one. Where single episodes say nothing the floor falls back to the seed spread.
    """
    tolerance = _tolerance(metric, tolerance)
    rows = read_arms({"train": train}).arms["train"]
    variances = all_or_none([arm_variance(row, binary=metric.binary) for row in rows])
    if variances is None or variances.size == 0:
        spread = seed_spread(row_means(rows)) if rows else None
        if spread is None or spread.value <= tolerance:
            return NoiseFloor(tolerance, tolerance, "tolerance")
        return NoiseFloor(spread.value, tolerance, "spread")
    aa = aa_floor(variances, level)
    source = "aa" if aa > tolerance else "tolerance"
    return NoiseFloor(max(tolerance, aa), tolerance, source, aa, measured_aa(train, again))


def suite_floor(
    floors: Mapping[str, NoiseFloor], strata: Mapping[str, str] | None = None
) -> NoiseFloor:
    """Noise floor of a mean over pairs.

    Pairs of one policy set share their training side, so their floors are averaged; sets are
    independent of each other, so set floors add in squares. strata as in `suite_gap`.
    """
    if not floors:
        raise ValueError("floors: no pairs; give at least one")
    tolerance = float(np.mean([floor.tolerance or 0.0 for floor in floors.values()]))
    groups: dict[str, list[float]] = {}
    for name, floor in floors.items():
        key = "all" if strata is None else strata[name]
        groups.setdefault(key, []).append(floor.value if floor.aa is None else floor.aa)
    total = float(np.sqrt(sum((sum(group) / len(floors)) ** 2 for group in groups.values())))
    source = "aa" if total > tolerance else "tolerance"
    return NoiseFloor(max(tolerance, total), tolerance, source, total)


def collapse_bound(seeds: int, collapsed: int = 0, level: float = 0.95) -> float:
    """Largest collapse rate compatible with `collapsed` of `seeds` runs, one-sided.

    1 - (1 - level)^(1 / S) where none collapsed. Clopper & Pearson (1934), Biometrika 26, 404-413.
    """
    check_seeds(seeds, 1, "collapse bound")
    if not 0 <= collapsed <= seeds:
        raise ValueError(f"collapsed: {collapsed} of {seeds} seeds; give 0 to {seeds}")
    if collapsed == seeds:
        return 1.0
    return float(special.betaincinv(collapsed + 1, seeds - collapsed, check_level(level)))


def competence_threshold(blind: float | None = None) -> float:
    """Train success below which a policy has not learned its task; a convention.

    min(0.95, max(0.5, blind + 0.1)) with the success of the best policy without eyes on the same
    training side, where that is known.
    """
    least = 0.5 if blind is None else max(0.5, blind + 0.1)
    return min(0.95, least)


def _tolerance(metric: Metric, tolerance: float | None) -> float:
    if tolerance is None:
        return metric.tolerance
    if not tolerance >= 0:
        raise ValueError(f"tolerance: {tolerance!r} for {metric.name}; must be zero or positive")
    return float(tolerance)
