"""Which groups of pairs (axes) lose most, and how sure their order is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness.statistics.checks import check_level
from harness.statistics.gate import exceedance_p
from harness.statistics.intervals import ALGORITHM_SEEDS
from harness.statistics.samples import F64
from harness.statistics.suite import SuiteResult, satterthwaite


@dataclass(frozen=True)
class Rank:
    """A group's place by its mean gap, 1 the largest, and the places that the evidence leaves open.

    place      by the point estimate
    low, high  a simultaneous confidence set: all groups' true places lie in theirs together
    """

    place: int
    low: int
    high: int


def rank_groups(groups: Mapping[str, SuiteResult], *, level: float = 0.95) -> dict[str, Rank]:
    """Return group -> rank by mean gap, the largest first.

    Every two groups are compared, over training seeds where they share policies, as independent
    where they do not; Holm's step-down (1979) over all comparisons and both directions. A group's
    place lies above those it is below for sure, and below those it is above for sure (Mogstad,
    Romano, Shaikh and Wilhelm, 2024, Review of Economic Studies 91, 476-518).

    groups: such as the result of `axis_gaps`. A group without an interval, or with fewer than three
    seeds somewhere, is never above or below another for sure.
    """
    check_level(level)
    names = sorted(groups, key=lambda name: -_point(groups[name]))
    two = list(combinations(names, 2))  # the first is the larger one
    p_values = np.array([min(1.0, 2 * _exceeds(groups[a], groups[b])) for a, b in two])
    above = {pair for pair, sure in zip(two, _holm(p_values, 1.0 - level), strict=True) if sure}
    return {
        name: Rank(
            place,
            low=1 + sum(smaller == name for _, smaller in above),
            high=len(names) - sum(larger == name for larger, _ in above),
        )
        for place, name in enumerate(names, 1)
    }


def _point(group: SuiteResult) -> float:
    return float(np.mean(group.pair_points))


def _exceeds(larger: SuiteResult, smaller: SuiteResult) -> float:
    """Return the one-sided p-value of "the first mean gap is at most the second"."""
    if larger.interval is None or smaller.interval is None:
        return 1.0
    rows = _moved(larger, smaller)
    if min(row.size for row in rows) < ALGORITHM_SEEDS:
        return 1.0
    error, seed_dof = satterthwaite(rows, [1.0] * len(rows))
    noise = None  # levels are taken as independent, which is never too narrow
    if larger.noise_error is not None and smaller.noise_error is not None:
        noise = float(np.hypot(larger.noise_error, smaller.noise_error))
    distance, dof = _point(larger) - _point(smaller), larger.dof + smaller.dof
    return float(exceedance_p(distance, error, seed_dof, noise, dof, 0.0))


def _moved(larger: SuiteResult, smaller: SuiteResult) -> list[F64]:
    """Return per policy set what each seed adds to the difference of the two means."""
    sets: dict[str, dict[int, float]] = {}
    shared: dict[str, list[set[int]]] = {}
    for sign, group in ((1.0, larger), (-1.0, smaller)):
        for part in group.strata:
            weight = sign * len(part.pairs) / len(group.pairs)
            mine = sets.setdefault(part.name, {})
            shared.setdefault(part.name, []).append(set(part.seeds))
            for seed, row in zip(part.seeds, part.rows, strict=True):
                mine[seed] = mine.get(seed, 0.0) + weight * float(row)
    return [
        np.array([mine[seed] for seed in sorted(set.intersection(*shared[name]))])
        for name, mine in sets.items()
    ]


def _holm(p_values: F64, alpha: float) -> list[bool]:
    """Return which hypotheses are rejected: step down until one is not."""
    rejected = [False] * p_values.size
    for step, at in enumerate(np.argsort(p_values, kind="stable")):
        if p_values[at] > alpha / (p_values.size - step):
            break
        rejected[at] = True
    return rejected
