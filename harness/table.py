"""A report as text: one line per pair, within 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabulate import tabulate

if TYPE_CHECKING:  # the report imports this module when it prints itself
    from harness.result import PairResult, Report
    from harness.statistics import Interval, Metric, Verdict

WIDTH = 100
OTHERS = ("distance", "progress", "return")

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
    parts = [_header(report), _main_table(report), _other_metrics(report), _means(report)]
    parts += [_remarks(report), _next_steps(report.pairs), _gates(report)]
    return "\n\n".join(part for part in parts if part)


def _header(report: Report) -> str:
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
    return "\n".join([first, policy_line(facts), last])


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


def count(number: int, noun: str) -> str:
    """Return "1 pair", "8 pairs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _short(name: str, most: int = 26) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _number(value: float | None, metric: Metric, width: int = 5) -> str:
    return "–".rjust(width) if value is None else metric.show(value).rjust(width)


def _interval(interval: Interval | None, metric: Metric, width: int = 5) -> str:
    if interval is None:
        return "–"
    point, low, high = (
        _number(value, metric, width) for value in (interval.point, interval.low, interval.high)
    )
    return f"{point} [{low}, {high}]"


def _label(verdict: Verdict) -> str:
    if verdict.name == "seed-dependent":
        dropped = len(verdict.details["dropped_seeds"])
        return f"seed-dependent ({dropped}/{verdict.details['seeds']})"
    return verdict.label


def _main_table(report: Report) -> str:
    rows = []
    for result in report.pairs:
        name = result.pair.metric
        gap, spread = result.results[name], result.spreads[name]
        rows.append([
            _short(result.name),
            _number(gap.train.mean, gap.metric),
            _number(gap.heldout.mean, gap.metric),
            _interval(gap.interval, gap.metric),
            _number(result.floors[name].value, gap.metric),
            _number(spread.value if spread else None, gap.metric),
            _label(result.verdict),
        ])  # fmt: skip
    level = f"{report.settings['level']:.0%}".replace("%", " %")
    names = {result.pair.metric for result in report.pairs}
    first = "pair" if len(names) > 1 else f"pair ({next(iter(names))})"
    headers = [first, "train", "held-out", f"gap [{level} interval]", "floor", "spread", "verdict"]
    return _columns(rows, headers, "lrrrrrl")


def _other_metrics(report: Report) -> str:
    names = [name for name in OTHERS if name in report.pairs[0].results]
    if not names:
        return ""
    widths = {name: 5 if report.mean[name].metric.scale <= 10 else 6 for name in names}
    rows = [
        [_short(result.name)]
        + [_interval(result.gap[name], result.results[name].metric, widths[name]) for name in names]
        for result in report.pairs
    ]
    return _columns(rows, ["gap in other metrics", *names], "l" + "r" * len(names))


def _means(report: Report) -> str:
    """Return the means over pairs, by axis and of the whole suite."""
    if len(report.pairs) < 2:
        return ""
    name = report.pairs[0].pair.metric
    rows = [
        [
            f"axis {axis} ({count(len(mean.pairs), 'pair')})",
            _interval(mean.interval, mean.metric),
            "",
        ]
        for axis, mean in report.axes[name].items()
        if len(report.axes[name]) > 1
    ]
    whole = report.mean[name]
    rows.append(["suite mean", _interval(whole.interval, whole.metric), _label(report.verdict)])
    return _columns(rows, [f"mean gap ({name})", "gap", "verdict"], "lrl")


def _remarks(report: Report) -> str:
    seeds = len(report.policy["seeds"])
    lines = []
    if seeds == 1:
        lines.append("One training seed: intervals cover episode noise of this checkpoint only.")
    elif seeds == 2:
        lines.append(
            "Two training seeds: intervals cover these checkpoints only, not the algorithm."
        )
    else:
        lines.append(f"Intervals cover new training seeds of the same algorithm (from {seeds}).")
    blind = _best_blind(report.pairs)
    if blind:
        name, score = blind
        lines.append(
            f"Without looking, {name.replace('-', '+')} reaches success {score:.2f} "
            "on the training levels; read success beside return."
        )
    dominant = _dominant_action(report)
    return "\n".join(lines + ([dominant] if dominant else []))


def _best_blind(pairs: Sequence[PairResult]) -> tuple[str, float] | None:
    scores = {
        name: scores["success"] for name, scores in pairs[0].blind.items() if "success" in scores
    }
    best = max(scores, key=scores.get, default=None)
    return (best, scores[best]) if best is not None and scores[best] > 0 else None


def _dominant_action(report: Report, share: float = 0.95) -> str:
    sides = []
    for cell in report.cells:
        counts = cell.batch.action_counts
        if counts.max() > share * counts.sum() and cell.name not in sides:
            sides.append(cell.name)
    if not sides:
        return ""
    everywhere = len(sides) == len({cell.name for cell in report.cells})
    where = "every side" if everywhere else ", ".join(sides)
    return _filled(f"One action makes up over {round(100 * share)} % of all steps on {where}.")


def _next_steps(pairs: Sequence[PairResult]) -> str:
    """Return what the verdicts mean and what to do next, pairs with the same advice together."""
    groups: dict[tuple[str, str], list[PairResult]] = {}
    for result in pairs:
        groups.setdefault((result.verdict.name, result.verdict.next_step), []).append(result)
    lines = []
    for (verdict, step), members in groups.items():
        alone = len(members) == 1
        everything = len(members) == len(pairs) and not alone
        names = "all pairs" if everything else ", ".join(result.name for result in members)
        why = members[0].verdict.reason if alone else f"{MEANING[verdict].capitalize()}."
        lines.append(_filled(f"{names}: {why} Next: {step}"))
    return "\n".join(lines)


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _gates(report: Report) -> str:
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
        lines.append(_filled(f"{rule}   {words[gate.status]}: {gate.reason}"))
    return "\n".join(lines)


def _columns(rows: list[list[str]], headers: list[str], alignment: str) -> str:
    names = {"l": "left", "r": "right"}
    # The headers are a row like any other: tabulate would pad its own by two columns each.
    text = tabulate(
        [headers, *rows], tablefmt="plain", disable_numparse=True, preserve_whitespace=True,
        colalign=[names[one] for one in alignment],
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in text.splitlines())
