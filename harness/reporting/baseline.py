"""The gate against a saved run: has the gap grown by more than is allowed?

The change of the gap of the suite mean decides, with its interval. A single pair that regressed
fails the gate as well, where its interval holds after sharing the error out over all pairs; a pair
that is undecided does not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.reporting.judging import judge_records
from harness.reporting.stored import Incompatible, load_report
from harness.statistics import (
    BaselineOutcome,
    GapResult,
    against_baseline,
    gap_difference,
    suite_difference,
)
from protocols import Suite

if TYPE_CHECKING:
    from harness.reporting.result import Report

REGRESSED, HELD, IMPROVED = "regressed", "held", "improved"
INCONCLUSIVE, INCOMPATIBLE = "inconclusive", "incompatible"
WORST_FIRST = (INCOMPATIBLE, REGRESSED, INCONCLUSIVE, HELD, IMPROVED)


def read_baseline(
    source: str | os.PathLike | Report | None, suite: Suite, *, narrowed: bool = False
) -> Report | str | None:
    """Return the saved report, or one line that says why it cannot be compared.

    Args:
        source: a report, its file, or the folder it lies in; None for no baseline.
        suite: what is going to be evaluated.
        narrowed: `suite` is a part of what the baseline holds, chosen on purpose.

    Raises:
        InputError: there is no report there.
    """
    if source is None:
        return None
    try:
        saved = load_report(source) if isinstance(source, (str, os.PathLike)) else source
    except Incompatible as error:
        return str(error)
    if not narrowed:
        return saved
    names = [pair.name for pair in suite]
    there = {pair.name: pair for pair in saved.suite}
    missing = [name for name in names if name not in there]
    if missing:
        return f"it has no pair {missing[0]}"
    part = replace(suite, pairs=tuple(there[name] for name in names))
    return judge_records(replace(saved.records, suite=part, rules=()))


def incompatible(suite: Suite, baseline: Report | str) -> str | None:
    """Return why two runs measured different things, or None."""
    if isinstance(baseline, str):
        return baseline
    old = baseline.suite
    if suite.digest == old.digest:
        return None
    now, then = ({pair.name: pair.digest for pair in one} for one in (suite, old))
    lost = [name for name in then if name not in now]
    new = [name for name in now if name not in then]
    changed = [name for name in now if name in then and now[name] != then[name]]
    parts = [
        f"{word} {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"
        for word, names in (("without", lost), ("new", new), ("changed", changed))
        if names
    ]
    told = f" ({'; '.join(parts)})" if parts else ""
    return (
        f"it measured suite {old.name} v{old.version}, this is {suite.name} v{suite.version}{told}"
    )


def against(
    report: Report, baseline: Report | str, worsening: Mapping[str, float], on_inconclusive: str
) -> dict[str, Any]:
    """Compare a report with a saved one and return plain data: status, reason, and changes.

    Args:
        worsening: metric -> how much its gap may grow; the primary metric's tolerance where empty.
        on_inconclusive: what an inconclusive outcome exits with.
    """
    reason = incompatible(report.suite, baseline) or _metrics_differ(report, baseline)
    known = {"on_inconclusive": on_inconclusive, "metrics": {}}
    if reason:
        return {"status": INCOMPATIBLE, "reason": reason, **known}
    primary = report.pairs[0].pair.metric
    allowed = dict(worsening) or {primary: report.mean[primary].metric.tolerance}
    for metric, most in allowed.items():
        known["metrics"][metric] = _one_metric(report, baseline, metric, most)
    outcomes = known["metrics"].values()
    status = _worst([outcome["status"] for outcome in outcomes])
    reasons = [f"{metric}: {outcome['reason']}" for metric, outcome in known["metrics"].items()]
    untrained = [result.name for result in report.pairs if result.verdict.name == "untrained"]
    if untrained and status in (HELD, IMPROVED):
        status = INCONCLUSIVE
        reasons.append(f"{len(untrained)} of {len(report.pairs)} pairs are untrained")
    return {"status": status, "reason": "; ".join(reasons), "suite": baseline.suite.digest, **known}


def _metrics_differ(report: Report, baseline: Report | str) -> str | None:
    def facts(one: Report) -> dict[str, tuple]:
        return {m.name: (m.scale, m.bounds, m.binary, m.direction) for m in one.records.metrics}

    now, then = facts(report), facts(baseline)
    differing = [
        name for name in sorted(now.keys() | then.keys()) if now.get(name) != then.get(name)
    ]
    return f"the metric {differing[0]} is declared otherwise" if differing else None


def _one_metric(report: Report, baseline: Report, metric: str, allowed: float) -> dict[str, Any]:
    show = report.mean[metric].metric.show
    level = float(report.settings["level"])
    same = _same_policies(report, baseline)
    change = suite_difference(
        report.mean[metric], baseline.mean[metric], level=level, same_policies=same
    )
    whole = against_baseline(change, allowed)
    pairs = {
        result.name: _pair_change(result.results[metric], baseline[result.name].results[metric],
                                  allowed, level, len(report.pairs), same,
                                  _same_levels(report, baseline))
        for result in report.pairs
    }  # fmt: skip
    fallen = [name for name, outcome in pairs.items() if outcome.status == REGRESSED]
    status = REGRESSED if fallen else whole.status
    told = "no interval"
    if change is not None:
        told = f"{show(change.point)} [{show(change.low)}, {show(change.high)}]"
    text = f"gap changed by {told}, allowed {show(allowed)}"
    if status == INCONCLUSIVE:
        text += "; more training seeds or episodes, or a larger --max-worsening, would decide it"
    if fallen and len(pairs) > 1:
        text += f"; regressed: {', '.join(fallen)}"
    return {"status": status, "reason": text, "allowed": allowed, "change": change, "pairs": pairs}


def _pair_change(
    new: GapResult, old: GapResult, allowed: float, level: float, pairs: int, same_policies: bool,
    same_levels: bool,
) -> BaselineOutcome:  # fmt: skip
    if not same_levels:
        new = replace(new, differences=None)
    known = {"same_policies": same_policies and new.seeds == old.seeds}
    outcome = against_baseline(gap_difference(new, old, level=level, **known), allowed)
    if outcome.status != REGRESSED or pairs == 1:
        return outcome
    strict = gap_difference(new, old, level=1 - (1 - level) / pairs, **known)
    if strict is not None and strict.low > allowed:
        return outcome
    reason = f"{outcome.reason}; not beyond what chance gives among {pairs} pairs"
    return replace(outcome, status=INCONCLUSIVE, reason=reason)


def _same_levels(one: Report, other: Report) -> bool:
    """Both runs played the same levels, row by row."""
    same_seeds = all(a.seeds == b.seeds for a, b in zip(one.pairs, other.pairs, strict=True))
    return same_seeds and one.settings["seed"] == other.settings["seed"]


def _same_policies(one: Report, other: Report) -> bool:
    """Both runs played the very same weights, as far as fingerprints tell."""

    def prints(report: Report) -> dict[tuple, str | None]:
        policies = report.policy["policies"]
        return {(p["training"], p["seed"]): p["fingerprint"] for p in policies}

    first = prints(one)
    return None not in first.values() and first == prints(other)


def _worst(statuses: Sequence[str]) -> str:
    return next(status for status in WORST_FIRST if status in statuses)
