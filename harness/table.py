"""A report as text: one line per pair, within 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tabulate import tabulate

from harness.blocks import Block, blocks, count, interval

if TYPE_CHECKING:  # the report imports this module when it prints itself
    from harness.result import PairResult, Report

WIDTH = 100

# What each verdict says, in the words of the README; S is the number of training seeds.
MEANING = {
    "invalid": "the measurement is broken; no number of the pair can be read",
    "untrained": "the policy has not learned the task, so its gap says nothing",
    "seed-dependent": "some seeds lose clearly while others hold up",
    "eval-better": "the held-out side scores higher than noise explains",
    "generalizes": "any loss is at most the tolerance",
    "consistent-gap": "the loss exceeds the noise floor and what another training seed changes",
    "gap-within-spread": "the loss is real, but smaller than what another training seed changes",
    "within-noise": "nothing is demonstrated, neither a loss nor its absence",
    "checkpoint-gap": "this checkpoint loses more than the noise floor explains",
}


def render(report: Report) -> str:
    """Return the report as text for a person."""
    parts = ["\n".join(map(filled, header(report)))]
    parts += ["\n".join([columns(one), *map(filled, one.below)]) for one in blocks(report)]
    parts += ["\n".join(map(filled, remarks(report))), "\n".join(map(filled, next_steps(report)))]
    parts.append("\n".join(map(filled, gates(report))))
    return "\n\n".join(part for part in parts if part)


def header(report: Report) -> list[str]:
    versions, device = report.provenance["versions"], report.provenance["device"]
    suite, facts = report.suite, report.policy
    sides = len({result.pair.train.digest for result in report.pairs})
    engine = f"jax {versions['jax']} on {device['platform']} ({report.provenance['cores']} cores)"
    counts = f"{count(len(suite), 'pair')}, {count(sides, 'training side')}"
    episodes = count(report.settings["episodes"], "episode")
    named = f"suite {suite.name} v{suite.version} ({counts})"
    first = f"heldout {versions['heldout']} · {engine} · {named}"
    last = (
        f"{episodes} per side and training seed, the same levels on both sides · "
        f"suite digest {suite.digest[:8]}"
    )
    return [first, policy_line(facts), last]


def policy_line(facts) -> str:
    """Return one line on the policies: seeds, what they were trained on, how they act."""
    trained = {
        (one["train"].get("name"), one["train"].get("digest", "")[:8]) for one in facts["policies"]
    }
    known = [f"`{name}` (digest {digest})" for name, digest in sorted(trained, key=str) if name]
    source = f"trained on {', '.join(known)}" if known else "training unverified"
    modes = {"sample": "actions sampled", "greedy": "actions greedy", "own": "its own actions"}
    acts = ", ".join(modes[mode] for mode in facts["actions"])
    return (
        f"policy {facts['name']}: {count(len(facts['seeds']), 'training seed')}, {source}, {acts}"
    )


def remarks(report: Report) -> list[str]:
    """Return what keeps a reader from over-reading the numbers, each thing said once."""
    lines = [_scope(report)]
    metric = report.mean[report.pairs[0].pair.metric].metric
    if report.detectable is not None:
        what = "a mean gap" if len(report.pairs) > 1 else "a gap"
        lines.append(
            f"Smallest detectable: a run like this one finds {what} of "
            f"{metric.show(report.detectable)} four times out of five."
        )
    blind = _best_blind(report.pairs)
    if blind:
        name, score = blind
        lines.append(
            f"Without looking, {name.replace('-', '+')} reaches success {score:.2f} "
            "on the training levels; read success beside return."
        )
    return lines + _notes(report.pairs) + _self_test(report) + _dominant_action(report)


def _self_test(report: Report) -> list[str]:
    facts = report.records.replay or {}
    if facts.get("status") != "stochastic_policy":
        return []
    again = f"{facts['differing']} of {facts['episodes']} episodes came out otherwise"
    return [f"The policy draws its own numbers: {again} when they were played again."]


def _scope(report: Report) -> str:
    """Say what the intervals cover, and how they were made."""
    seeds = min(len(result.seeds) for result in report.pairs)
    metric = report.mean[report.pairs[0].pair.metric].metric
    if seeds == 1:
        return (
            "One training seed: intervals (t over paired episodes) cover episode noise of this "
            "checkpoint only; of new seeds nothing can be said."
        )
    if seeds == 2:
        text = (
            "Two training seeds: intervals (t over paired episodes) cover these checkpoints only, "
            "not the algorithm."
        )
        if report.new_seeds is None:
            return text
        shown = " ".join(interval(report.new_seeds, metric, 0).split())
        what = "mean gap" if len(report.pairs) > 1 else "gap"
        return f"{text} For new seeds: {what} {shown}, of which no verdict is made."
    text = (
        f"Intervals (t-scaled bootstrap over {seeds} training seeds) cover new seeds of the same "
        "algorithm"
    )
    return f"{text}." if seeds >= 10 else f"{text}; below ten seeds the spread is rough."


def _best_blind(pairs: Sequence[PairResult]) -> tuple[str, float] | None:
    scores = {
        name: scores["success"] for name, scores in pairs[0].blind.items() if "success" in scores
    }
    best = max(scores, key=scores.get, default=None)
    return (best, scores[best]) if best is not None and scores[best] > 0 else None


def _notes(pairs: Sequence[PairResult]) -> list[str]:
    """Return what qualifies the verdicts, pairs with the same note together."""
    groups: dict[str, list[str]] = {}
    for result in pairs:
        for note in _loud(result):
            groups.setdefault(note, []).append(result.name)
    return [note if len(some) == len(pairs) else f"{_listed(some)}: {note}"
            for note, some in groups.items()]  # fmt: skip


def _loud(result: PairResult) -> Iterable[str]:
    quiet = ("With fewer than ten seeds", "This speaks of")
    return (note for note in result.verdict.notes if not note.startswith(quiet))


def _listed(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _dominant_action(report: Report, share: float = 0.95) -> list[str]:
    sides = []
    for cell in report.cells:
        counts = cell.batch.action_counts
        if counts.max() > share * counts.sum() and cell.name not in sides:
            sides.append(cell.name)
    if not sides:
        return []
    everywhere = len(sides) == len({cell.name for cell in report.cells})
    where = "every side" if everywhere else _listed(sides)
    return [f"One action makes up over {round(100 * share)} % of all steps on {where}."]


def next_steps(report: Report) -> list[str]:
    """Return what the verdicts mean and what to do next, pairs with the same advice together."""
    groups: dict[tuple[str, str], list[PairResult]] = {}
    for result in report.pairs:
        groups.setdefault((result.verdict.name, result.verdict.next_step), []).append(result)
    lines = []
    for (verdict, step), members in groups.items():
        alone = len(members) == 1
        everything = len(members) == len(report.pairs) and not alone
        names = "all pairs" if everything else ", ".join(result.name for result in members)
        reasons = {result.verdict.reason for result in members}
        shared = len(reasons) == 1 or alone
        why = members[0].verdict.reason if shared else f"{MEANING[verdict].capitalize()}."
        lines.append(f"{names}: {why} Next: {step}")
    return lines


def gates(report: Report) -> list[str]:
    """Return one line per gate: the rule, the outcome, and why."""
    words = {
        "pass": "passed",
        "fail": "FAILED",
        "inconclusive": "INCONCLUSIVE",
        "invalid": "INVALID",
    }
    lines = []
    for gate in report.gates:
        scope = "suite mean" if gate.rule.scope == "suite" else "every pair"
        rule = f"gate: {gate.rule.metric}, {scope} ≤ {gate.rule.threshold:g}"
        lines.append(f"{rule}   {words[gate.status]}: {gate.reason}")
    if report.baseline is not None:
        status = report.baseline["status"]
        shown = status if status in ("held", "improved") else status.upper()
        lines.append(f"gate: against the baseline   {shown}: {report.baseline['reason']}")
    return lines


def filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def columns(block: Block) -> str:
    names = {"l": "left", "r": "right"}
    # The headers are a row like any other: tabulate would pad its own by two columns each.
    text = tabulate(
        [block.headers, *block.rows], tablefmt="plain", disable_numparse=True,
        preserve_whitespace=True, colalign=[names[one] for one in block.alignment],
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in text.splitlines())
