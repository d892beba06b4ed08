"""The gate of a report: thresholds on the suite mean or on every pair, and the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envs.errors import InputError, not_among
from harness.errors import BAD_INPUT, COMPLETE, FAILED, GATE_FAILED, INCONCLUSIVE
from harness.statistics import (
    GapResult,
    GateOutcome,
    SuiteResult,
    apply_verdicts,
    pair_gate,
    suite_gate,
)

ON_INCONCLUSIVE = {"exit3": INCONCLUSIVE, "pass": COMPLETE, "fail": GATE_FAILED}


@dataclass(frozen=True)
class Rule:
    """A largest gap that is allowed: of the suite mean, or of every pair."""

    metric: str
    threshold: float
    scope: str = "suite"  # suite | pairs


@dataclass(frozen=True)
class Gate:
    """What a rule came to."""

    rule: Rule
    status: str  # pass | fail | inconclusive | invalid
    reason: str
    on_inconclusive: str = "exit3"
    pairs: Mapping[str, GateOutcome] = field(default_factory=dict)  # of a rule on every pair


def parse_rule(text: str, scope: str, metrics: Iterable[str]) -> Rule:
    """Return the rule that "METRIC=V" spells, such as "success=0.10".

    Raises:
        InputError: another form, an unknown metric, or not a number.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"{text!r}: a threshold is written METRIC=VALUE, such as success=0.10")
    known = list(metrics)
    if name not in known:
        raise InputError(not_among(f"no metric {name!r}", name, known))
    try:
        threshold = float(value)
    except ValueError:
        raise InputError(f"{text!r}: {value!r} is not a number") from None
    if not threshold >= 0 or threshold == float("inf"):
        raise InputError(f"{text!r}: the largest allowed gap is a number of at least 0")
    return Rule(name, threshold, scope)


def judge_rule(
    rule: Rule,
    mean: Mapping[str, SuiteResult],
    gaps: Mapping[str, GapResult],
    verdicts: Sequence[str],
    on_inconclusive: str = "exit3",
) -> Gate:
    """Judge one rule. `gaps`: pair -> gap in the rule's metric; `verdicts`: names, of all pairs."""
    if rule.scope == "suite":
        outcome = suite_gate(mean[rule.metric], rule.threshold)
    else:
        outcome = pair_gate(gaps, rule.threshold)
    status = apply_verdicts(outcome.status, verdicts)
    reason = outcome.reason
    if status != outcome.status:
        blocking = "invalid" if status == "invalid" else "untrained"
        count = sum(name == blocking for name in verdicts)
        reason = f"{reason}; {count} of {len(verdicts)} pairs are {blocking}"
    return Gate(rule, status, reason, on_inconclusive, getattr(outcome, "outcomes", {}))


def exit_code(
    gates: Sequence[Gate], verdicts: Sequence[str], baseline: Mapping[str, Any] | None = None
) -> int:
    """Return the exit code; the worst wins, in the order 4, 1, 3, 0."""
    codes = {FAILED} if "invalid" in verdicts else set()
    for gate in gates:
        by_status = {"pass": COMPLETE, "fail": GATE_FAILED, "invalid": FAILED}
        codes.add(by_status.get(gate.status, ON_INCONCLUSIVE[gate.on_inconclusive]))
    if baseline is not None:
        undecided = ON_INCONCLUSIVE[baseline["on_inconclusive"]]
        by_status = {"incompatible": FAILED, "regressed": GATE_FAILED, "inconclusive": undecided}
        codes.add(by_status.get(baseline["status"], COMPLETE))
    order = (FAILED, BAD_INPUT, GATE_FAILED, INCONCLUSIVE)
    return next((code for code in order if code in codes), COMPLETE)
