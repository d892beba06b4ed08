"""The gate: pass, fail or inconclusive, from the same intervals that the report prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness.statistics.metric import Metric
from harness.statistics.power import Needed, needed_to_decide
from harness.statistics.results import GapResult, spread_sd
from harness.statistics.samples import F64
from harness.statistics.suite import SuiteResult

PASS, FAIL, INCONCLUSIVE, INVALID = "pass", "fail", "inconclusive", "invalid"
WORST_FIRST = (INVALID, FAIL, INCONCLUSIVE, PASS)
FALSE_DISCOVERY_RATE = 0.05


@dataclass(frozen=True)
class GateOutcome:
    """One decision. status is pass, fail, inconclusive or invalid; needed: what would decide it."""

    status: str
    threshold: float
    metric: str
    target: str
    reason: str
    p_value: float | None = None
    adjusted_p: float | None = None
    needed: Needed | None = None


@dataclass(frozen=True)
class PairGate:
    """A gate on every pair. status is the worst; fails are those that survive the correction."""

    status: str
    threshold: float
    metric: str
    outcomes: dict[str, GateOutcome]
    reason: str


def three_way(low: float, high: float, threshold: float) -> str:
    """fail if low > threshold, pass if high <= threshold, otherwise inconclusive."""
    if low > threshold:
        return FAIL
    return PASS if high <= threshold else INCONCLUSIVE


def exceedance_p(
    point: F64 | float,
    seed_error: F64 | float | None,
    seed_dof: float,
    noise_error: F64 | float | None,
    noise_dof: float,
    threshold: float,
) -> NDArray[np.float64]:
    """One-sided p-value of "the gap is at most the threshold", as arrays of any shape.

    The larger of a t-test over seeds and a t-test against episode noise, mirroring the guarded
    interval. Leave a part out with None. Without any spread: 0 above the threshold, 1 otherwise.
    """
    distance = np.asarray(point, dtype=np.float64) - threshold
    parts = [(seed_error, seed_dof), (noise_error, noise_dof)]
    tails = [_tail(distance, err, dof) for err, dof in parts if err is not None and dof > 0]
    if not tails:
        return np.where(distance > 0, 0.0, 1.0)
    return np.maximum.reduce(tails)


def gap_p_value(gap: GapResult, threshold: float) -> float:
    """p-value of one pair; with one or two seeds it rests on episode noise alone."""
    seeds = gap.per_seed.size
    if gap.interval is None:
        return 1.0
    error = spread_sd(gap.per_seed) / np.sqrt(seeds) if seeds >= 3 else None
    if gap.interval.scope == "checkpoint":
        error = None
    return float(
        exceedance_p(gap.interval.point, error, seeds - 1, gap.noise_error, gap.dof, threshold)
    )


def adjusted_p_values(p_values: F64 | list[float]) -> NDArray[np.float64]:
    """Benjamini-Hochberg adjusted p-values. JRSS B 57 (1995), 289-300."""
    from scipy import stats  # imported here because it is slow to load and seldom needed

    return np.asarray(stats.false_discovery_control(np.asarray(p_values), method="bh"))


def suite_gate(result: SuiteResult | GapResult, threshold: float) -> GateOutcome:
    """Gate on one mean: of a suite, an axis, or a single pair."""
    _check_threshold(threshold)
    metric, interval = result.metric, result.interval
    target = f"suite mean of {len(result.pairs)} pairs" if _is_suite(result) else "pair"
    known = {"threshold": threshold, "metric": metric.name, "target": target}
    if result.problems:
        return GateOutcome(INVALID, reason="; ".join(result.problems), **known)
    if interval is None:
        return GateOutcome(INCONCLUSIVE, reason=result.reason or "no interval", **known)
    if "no_verdict" in interval.flags:
        reason = f"{_numbers(result)}; two training seeds cannot decide for new seeds"
        return GateOutcome(INCONCLUSIVE, reason=reason, **known)
    status = three_way(interval.low, interval.high, threshold)
    needed = needed_to_decide(result, threshold) if status == INCONCLUSIVE else None
    reason = _numbers(result) + (f"; {needed.sentence()}" if needed else "")
    return GateOutcome(status, reason=reason, needed=needed, **known)


def pair_gate(
    gaps: Mapping[str, GapResult], threshold: float, *, q: float = FALSE_DISCOVERY_RATE
) -> PairGate:
    """Gate on every pair.

    A pair fails when its interval lies above the threshold and the Benjamini-Hochberg procedure at
    rate q rejects it as well, so that many pairs at the threshold do not add up to a false alarm.
    All pairs pass only when each one does, which needs no correction.
    """
    _check_threshold(threshold)
    if not gaps:
        raise ValueError("gaps: no pairs; give at least one")
    p_values = [gap_p_value(gap, threshold) for gap in gaps.values()]
    adjusted = adjusted_p_values(p_values)
    outcomes = {}
    for (name, gap), p, q_value in zip(gaps.items(), p_values, adjusted, strict=True):
        outcomes[name] = _pair_outcome(name, gap, threshold, p, float(q_value), q)
    status = worst_status(outcome.status for outcome in outcomes.values())
    metric = next(iter(gaps.values())).metric.name
    return PairGate(status, threshold, metric, outcomes, _pair_reason(outcomes, status))


def apply_verdicts(status: str, verdicts: Iterable[str]) -> str:
    """A gate passes only where no gated pair is invalid or untrained.

    `invalid` makes the whole gate invalid; `untrained` turns a pass into inconclusive.
    """
    names = set(verdicts)
    if "invalid" in names:
        return INVALID
    if "untrained" in names:
        return worst_status((status, INCONCLUSIVE))
    return status


def worst_status(statuses: Iterable[str]) -> str:
    """The worst of several outcomes, in the order invalid, fail, inconclusive, pass."""
    found = set(statuses)
    unknown = found - set(WORST_FIRST)
    if unknown:
        raise ValueError(f"status: {sorted(unknown)[0]!r} is unknown; ({', '.join(WORST_FIRST)})")
    return next((status for status in WORST_FIRST if status in found), PASS)


def _pair_outcome(
    name: str, gap: GapResult, threshold: float, p: float, adjusted: float, q: float
) -> GateOutcome:
    outcome = suite_gate(gap, threshold)
    status, reason, needed = outcome.status, outcome.reason, outcome.needed
    if status == FAIL and adjusted > q:
        status = INCONCLUSIVE
        needed = needed_to_decide(gap, threshold)
        reason = f"{_numbers(gap)}; above, but not beyond what chance gives among all pairs"
    return GateOutcome(status, threshold, gap.metric.name, name, reason, p, adjusted, needed)


def _pair_reason(outcomes: Mapping[str, GateOutcome], status: str) -> str:
    worst = [name for name, outcome in outcomes.items() if outcome.status == status]
    words = {PASS: "pass", FAIL: "fail", INCONCLUSIVE: "are undecided", INVALID: "are invalid"}
    listed = "" if status == PASS else f": {', '.join(worst)}"
    return f"{len(worst)} of {len(outcomes)} pairs {words[status]}{listed}"


def _tail(distance: F64, error: F64 | float | None, dof: float) -> F64:
    error = np.asarray(error, dtype=np.float64)
    safe = np.where(error > 0, error, 1.0)
    tail = special.stdtr(dof, -distance / safe)
    return np.where(error > 0, tail, np.where(distance > 0, 0.0, 1.0))


def _numbers(result: SuiteResult | GapResult) -> str:
    interval, metric = result.interval, result.metric
    return numbers(interval.point, interval.low, interval.high, metric)


def numbers(point: float, low: float, high: float, metric: Metric) -> str:
    """`0.41 [0.33, 0.49]` with digits that suit the metric."""
    return f"{metric.show(point)} [{metric.show(low)}, {metric.show(high)}]"


def _is_suite(result: SuiteResult | GapResult) -> bool:
    return isinstance(result, SuiteResult)


def _check_threshold(threshold: float) -> None:
    if not np.isfinite(threshold):
        raise ValueError(f"threshold: {threshold!r}; must be a finite number in the metric's unit")
