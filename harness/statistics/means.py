"""Two sets of policies compared on the mean over several pairs they both played."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.statistics.compare import (
    Comparison,
    independent_difference,
    probability_of_improvement,
)
from harness.statistics.gaps import joint_variance
from harness.statistics.metric import Metric
from harness.statistics.results import noise_error
from harness.statistics.samples import F64
from harness.statistics.variance import all_or_none, arm_variance, sample_variance

Parts = Sequence[Sequence[F64]]  # per pair: one f64[E] per training seed


def compare_means(
    first: Parts,
    second: Parts,
    metric: Metric,
    *,
    level: float = 0.95,
    paired_levels: bool = False,
) -> Comparison:
    """As `compare_policies`, for scores averaged over pairs within each training seed and episode.

    Every pair has the same seeds and episodes. Episode noise is at least that of independent pairs,
    which keeps success intervals open where every episode came out the same.
    """
    sets = [_by_seed(parts) for parts in (first, second)]
    means = [metric.sign * np.array([_mean(rows).mean() for rows in one]) for one in sets]
    noise = [all_or_none([_noise(rows, metric) for rows in one]) for one in sets]
    sizes = [[rows[0].size for rows in one] for one in sets]
    paired = None
    if paired_levels:
        moved = [
            [one - two for one, two in zip(a, b, strict=True)] for a, b in zip(*sets, strict=True)
        ]
        shared = [joint_variance(_mean(rows), rows, binary=metric.binary) for rows in moved]
        paired = noise_error(all_or_none(shared))
    difference = independent_difference(
        means, noise, sizes, metric, level=level, paired_noise=paired
    )
    reason = None if difference else "one episode and fewer than three seeds: no interval"
    return Comparison(difference, probability_of_improvement(*means, level=level), reason)


def _by_seed(parts: Parts) -> list[list[F64]]:
    """Turn per-pair lists of seeds into per-seed lists of pairs."""
    return [list(rows) for rows in zip(*parts, strict=True)]


def _mean(rows: Sequence[F64]) -> F64:
    return np.mean(rows, axis=0)


def _noise(rows: Sequence[F64], metric: Metric) -> float | None:
    """Episode-noise variance of one seed's mean over pairs."""
    parts = [arm_variance(row, binary=metric.binary) for row in rows]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return max(sample_variance(_mean(rows)) or 0.0, sum(known) / len(parts) ** 2)
