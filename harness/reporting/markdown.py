"""A report as Markdown for a pull request: the table's content, then the details."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from harness.reporting.blocks import Block, blocks, count, interval, level, number, short
from harness.reporting.table import (
    gates,
    header,
    listed,
    machine,
    next_steps,
    policy_line,
    remarks,
    scope,
)

if TYPE_CHECKING:  # the report imports this module when it is rendered
    from harness.reporting.result import PairResult, Report
    from harness.statistics import RatioGap


def render(report: Report) -> str:
    """Return the report as Markdown, ending in a newline."""
    lines = header(report)
    parts = [f"## heldout: {report.verdict.label}, suite {report.suite.name}"]
    parts += ["  \n".join(lines)]
    parts += [f"- **{line}**" for line in gates(report)]
    for block in blocks(report):
        parts += [table(block), *block.below]
    parts += ["\n".join(f"- {line}" for line in (*next_steps(report), *remarks(report)))]
    parts += [protocol(report), _details(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def protocol(report: Report) -> str:
    """Return one paragraph that says how the numbers were made, for a paper or a review."""
    suite, settings, made = report.suite, report.settings, report.provenance
    first, device = report.pairs[0], report.provenance["device"]
    metric = first.results[first.pair.metric].metric
    own = report.policy["seeds"]
    seeds = f"training seed{'s' * (len(own) > 1)} {', '.join(map(str, own))}"
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    episodes = count(settings["episodes"], "episode")
    mixed = [pair.name for pair in suite if pair.confounded]
    measured = (
        f"Suite {suite.name} v{suite.version} (digest `{suite.digest}`), "
        f"{count(len(suite), 'pair')}: the sides of a pair differ on one axis only"
        f"{f', except in {listed(mixed)}' if mixed else ''}."
    )
    played = (
        f"P{policy_line(report.policy)[1:]} ({seeds}). {episodes} per side and "
        "training seed, with the same levels and random numbers on both sides (master seed "
        f"{settings['seed']}); every episode counts."
    )
    judged = (
        f"The gap is the score in training minus the score held out ({metric.title}), averaged "
        f"over episodes, then over training seeds. {scope(report)} Level: {level(report)}. The "
        f"noise floor is the larger of the tolerance ({metric.show(metric.tolerance)}) and what "
        "two evaluations of the training side would differ by."
    )
    ran = (
        f"Run with {versions}, Python {made['python']}, on {machine(device)} ({device['cpu']}), "
        f"in blocks of {settings['lanes']} lanes."
    )
    return " ".join(["**Protocol.**", measured, played, judged, ran])


def _details(report: Report) -> str:
    per_seed, shares = _per_seed(report), _shares(report)
    return "\n\n".join([
        "<details><summary>Per training seed, and gaps as shares</summary>",
        table(per_seed),
        table(shares),
        f"Suite digest `{report.suite.digest}`. Command: `{report.provenance['command'] or '–'}`",
        "</details>",
    ])  # fmt: skip


def _per_seed(report: Report) -> Block:
    rows = []
    for result in report.pairs:
        name = result.pair.metric
        gap, labels = result.results[name], result.extras[name].labels
        for at, place in enumerate(gap.seeds):
            own = gap.per_seed_intervals[at]
            rows.append([
                short(result.name),
                str(result.seeds[place]),
                number(gap.train.per_seed[at], gap.metric, 0),
                number(gap.heldout.per_seed[at], gap.metric, 0),
                interval(own, gap.metric, 0) if own else number(gap.per_seed[at], gap.metric, 0),
                labels[at] if labels else "–",
            ])  # fmt: skip
    headers = ["pair", "seed", "train", "held-out", "gap [this checkpoint]", "against the range"]
    return Block(headers, rows, "lrrrrl")


def _shares(report: Report) -> Block:
    rows = []
    for result in report.pairs:
        name = result.pair.metric
        extra, floor = result.extras[name], result.floors[name]
        metric = result.results[name].metric
        measured = "–" if floor.measured is None else metric.show(floor.measured)
        rows.append([
            short(result.name),
            _share(extra.relative),
            _share(extra.normalized) if extra.normalized else "– (no blind baseline)",
            number(extra.detectable, metric, 0),
            measured,
            _collapse(result),
        ])  # fmt: skip
    headers = [
        "pair", "of the training score", "of the gain over blind play", "smallest detectable",
        "train against itself", "seeds collapsed (rate up to)",
    ]  # fmt: skip
    return Block(headers, rows, "lrrrrr")


def _share(ratio: RatioGap) -> str:
    one = ratio.interval
    if one is None:
        return f"– ({ratio.reason})"
    return f"{one.point:.0%} [{one.low:.0%}, {one.high:.0%}]"


def _collapse(result: PairResult) -> str:
    facts = result.collapse
    return f"{facts['collapsed']} of {facts['seeds']} ({facts['rate_up_to']:.0%})"


def table(block: Block) -> str:
    """Return a block as a Markdown table."""
    names = {"l": "left", "r": "right"}
    return tabulate(
        [[_cell(cell) for cell in row] for row in block.rows],
        [_cell(one) for one in block.headers], tablefmt="github", disable_numparse=True,
        colalign=[names[one] for one in block.alignment],
    )  # fmt: skip


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
