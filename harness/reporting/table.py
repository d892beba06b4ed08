"""A report as text: one line per pair, within 100 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from harness.policies import splits
from harness.policies.fitting import WHOLE
from harness.reporting.blocks import Block, blocks, count, interval
from harness.reporting.export import dominant_action

if TYPE_CHECKING:  # the report imports this module when it prints itself
    from harness.reporting.result import PairResult, Report

WIDTH = 100
SCRIPTS = ("noop", "right", "right-jump")  # built-in policies that repeat one action

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
    engine = f"jax {versions['jax']} on {machine(device)} ({report.provenance['cores']} cores)"
    counts = f"{count(len(suite), 'pair')}, {count(sides, 'training side')}"
    episodes = count(report.settings["episodes"], "episode")
    named = f"suite {suite.name} v{suite.version} ({counts})"
    first = f"heldout {versions['heldout']} · {engine} · {named}"
    last = (
        f"{episodes} per side and training seed, the same levels on both sides · "
        f"suite digest {suite.digest[:8]}"
    )
    missing = not_trained_line(report.records.not_trained)
    return [
        first, policy_line(facts), *weights_line(facts), last, *missing,
        *splits.header_line(report),
    ]  # fmt: skip


def not_trained_line(pairs: Mapping[str, str]) -> list[str]:
    """Return a line on the pairs that are left out because nothing was trained for them."""
    if not pairs:
        return []
    sides = ", ".join(f"`{name}`" for name in dict.fromkeys(pairs.values()))
    return [f"not trained: {count(len(pairs), 'pair')} left out, nothing was trained on {sides}"]


def machine(device) -> str:
    """Return "cpu", or of an accelerator its kind as well: "gpu NVIDIA H200"."""
    platform, kind = device["platform"], device["kind"]
    return platform if kind in (platform, "") else f"{platform} {kind}"


def policy_line(facts) -> str:
    """Return one line on the policies: seeds, what they were trained on, how they act."""
    trained = {
        (one["train"].get("name"), one["train"].get("digest", "")[:8]) for one in facts["policies"]
    }
    known = [f"`{name}` (digest {digest})" for name, digest in sorted(trained, key=str) if name]
    source = f"trained on {', '.join(known)}" if known else "training unverified"
    modes = {"sample": "actions sampled", "greedy": "actions greedy", "own": "its own actions"}
    acts = ", ".join(modes[mode] for mode in facts["actions"])
    return f"policy {facts['name']}: {_seeds(facts)}, {source}, {acts}"


def _seeds(facts) -> str:
    """Return "5 training seeds", or "3 to 5 training seeds" where trainings have fewer."""
    per_training = Counter(one["training"] for one in facts["policies"])
    fewest, most = min(per_training.values()), max(per_training.values())
    return f"{f'{fewest} to ' if fewest < most else ''}{count(most, 'training seed')}"


def weights_line(facts) -> list[str]:
    """Return a line on weights that came without a manifest: what was read, and how checked."""
    origins = [one.get("origin", {}) for one in facts["policies"]]
    read = [one for one in origins if one.get("form", "policy") != "policy"]
    if not read:
        return []

    def each(key: str) -> str:
        values = [one[key] if isinstance(one[key], list) else [one[key]] for one in read]
        named = sorted({str(value) for some in values for value in some if value is not None})
        return ", ".join(named)

    step = f"step {each('step')}, " if each("step") else ""
    place = "the whole tree" if each("taken_from") == WHOLE else each("taken_from")
    checked = {"verified": "every leaf verified"}.get(each("checked"), each("checked"))
    ignored = f", ignored: {each('ignored')}" if each("ignored") else ""
    leaves = f"{each('leaves')} leaves ({each('dtypes')})"
    return [f"weights: {step}{leaves} from {place}, {checked}{ignored}"]


def remarks(report: Report) -> list[str]:
    """Return what keeps a reader from over-reading the numbers, each thing said once."""
    lines = [scope(report)]
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
        return _smaller_batches(facts.get("smaller_batches"))
    again = f"{facts['differing']} of {facts['episodes']} episodes came out otherwise"
    return [f"The policy draws its own numbers: {again} when they were played again."]


def _smaller_batches(facts: Mapping[str, Any] | None) -> list[str]:
    """Say whether a policy in Python depends on how many observations it gets at once."""
    if not facts or not (facts["differing_actions"] or facts["problem"]):
        return []
    if facts["problem"]:
        return [f"In batches of {facts['size']} the policy {facts['problem']}."]
    share = f"{facts['differing_actions']} of {facts['states']} actions differ"
    return [f"The policy depends on its batch: {share} in batches of {facts['size']}."]


def scope(report: Report) -> str:
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
    return [note if len(some) == len(pairs) else f"{listed(some)}: {note}"
            for note, some in groups.items()]  # fmt: skip


def _loud(result: PairResult) -> Iterable[str]:
    quiet = ("With fewer than ten seeds", "This speaks of")
    if result.pair.confounded:
        yield "confounded: more than one thing changes, so the gap has no single cause."
    yield from (note for note in result.verdict.notes if not note.startswith(quiet))


def listed(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _dominant_action(report: Report) -> list[str]:
    """Name the sides on which a policy does the same thing all the time (scripts are meant to)."""
    if report.policy["name"] in SCRIPTS and report.policy["actions"] == ["greedy"]:
        return []
    sides = list(dict.fromkeys(cell.name for cell in report.cells if dominant_action(cell)))
    if not sides:
        return []
    everywhere = len(sides) == len({cell.name for cell in report.cells})
    where = "every side" if everywhere else listed(sides)
    return [f"One action makes up over 95 % of all steps on {where}."]


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
