"""Write the tables of results/README.md from the reports beside it: `python results/render.py`.

A table stands between `<!-- KIND: FOLDER ... -->` and `<!-- end -->`; TABLES names the kinds. One
more, `trainings: AGENT`, is made from the checkpoints that are bundled.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from harness import Report, load_report
from harness.compare import compare
from harness.policies.checkpoint import read_manifest
from harness.reporting.blocks import Block, interval, label, main_block, number, widening
from harness.reporting.markdown import table
from harness.statistics import rank_groups
from reference_agents.bundled import CHECKPOINTS
from reference_agents.curve import COLUMNS, LEARNED, read_curve
from reference_agents.training import CURVE

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
TABLE = re.compile(r"<!-- (\w+): ([\w -]+) -->\n.*?<!-- end -->", re.DOTALL)

# Loss of success as a share of the training success, in percent, by axis: what the paper of the
# published pairs reports (arXiv 2601.14232, table 1), from the best checkpoint of each metric.
PUBLISHED = {
    "agent_appearance": 21.1,
    "background": 53.3,
    "distractors": 30.9,
    "effects": 80.5,
    "filters": 86.8,
    "layout": 62.8,
}


def pairs(report: Report) -> Block:
    """One row per pair, as the report's own table, and the suite mean."""
    block, mean = main_block(report), report.mean["success"]
    spread = number(mean.spread, mean.metric)
    last = ["suite mean", "", "", interval(mean.interval, mean.metric), "", spread]
    return Block(block.headers, [*block.rows, [*last, label(report.verdict)]], block.alignment)


def axes(report: Report) -> Block:
    """One row per axis, the largest gap first, with the places that the seeds leave open."""
    means, rows = report.axes["success"], []
    for axis, rank in rank_groups(means).items():
        mean = means[axis]
        own = [one.results["success"] for one in report.pairs if one.pair.axis == axis]
        train = float(np.mean([gap.train.mean for gap in own]))
        heldout = float(np.mean([gap.heldout.mean for gap in own]))
        place = str(rank.low) if rank.low == rank.high else f"{rank.low} to {rank.high}"
        rows.append([
            axis, str(len(own)), f"{train:.2f}", f"{heldout:.2f}",
            interval(mean.interval, mean.metric), number(mean.spread, mean.metric), place,
            f"{100 * (train - heldout) / train:.0f} %" if train else "–",
            f"{PUBLISHED[axis]:.0f} %" if axis in PUBLISHED else "–",
        ])  # fmt: skip
    headers = [
        "axis", "pairs", "train", "held-out", "gap [95 % interval]", "spread", "place", "loss",
        "published",
    ]  # fmt: skip
    return Block(headers, rows, "lrrrrrrrr")


def doses(report: Report) -> Block:
    """One row per sweep: the success held out at each dose, and the slope of the gap."""
    rows = []
    for result in report.pairs:
        gap, curve = result.results["success"], result.doses["success"]
        scores = (
            f"{name}: {gap.train.mean - loss:.2f}"
            for name, loss in zip(result.pair.heldout, curve.gaps, strict=True)
        )
        slope, spread = curve.slope, result.spreads["success"]
        text = f"{slope.point:.3g} [{slope.low:.3g}, {slope.high:.3g}]" if slope else "–"
        rows.append([
            result.name, " · ".join(scores), text,
            number(spread.value if spread else None, gap.metric), label(result.verdict),
        ])  # fmt: skip
    headers = ["sweep", "success at each dose", "gap per unit of dose", "spread", "verdict"]
    return Block(headers, rows, "llrrl")


def widened(report: Report) -> Block:
    """The widening experiments: narrow and wide training before the same held-out sides."""
    (block,) = [found for result in report.pairs if (found := widening(result))]
    return block


def agents(first: Report, second: Report) -> Block:
    """One row per pair: both agents, and how much better the second does held out."""
    better = compare(second, first)
    names = [report.policy["name"] for report in (first, second)]
    rows = []
    for pair, found in better.pairs.items():
        row = [pair]
        for report in (first, second):
            gap = report[pair].results["success"]
            row += [number(gap.heldout.mean, gap.metric), interval(gap.interval, gap.metric)]
        rows.append([*row, interval(found.difference, better.metric), label(second[pair].verdict)])
    train = compare(second, first, side="train")
    row = ["training side"]
    for report in (first, second):
        row += [number(report.pairs[0].results["success"].train.mean, train.metric), "–"]
    rows.append([*row, interval(train.mean.difference, train.metric), "–"])
    row = ["mean over pairs"]
    for report in (first, second):
        heldout = float(np.mean([one.results["success"].heldout.mean for one in report.pairs]))
        mean = report.mean["success"]
        row += [number(heldout, mean.metric), interval(mean.interval, mean.metric)]
    verdict = label(second.verdict)
    rows.append([*row, interval(better.mean.difference, better.metric), verdict])
    each = [text for name in names for text in (f"{name}: success", f"{name}: gap")]
    headers = ["held out", *each, f"{names[1]} − {names[0]} [95 %]", f"verdict on {names[1]}"]
    return Block(headers, rows, "lrrrrrl")


def blind(*reports: Report) -> Block:
    """One row per script that does not look: its scores, and its largest gap."""
    metrics, rows = ("success", "progress", "return"), []
    for report in reports:
        first = report.pairs[0].results
        scores = [number(first[name].train.mean, first[name].metric) for name in metrics]
        largest = max(abs(one.results["success"].point or 0.0) for one in report.pairs)
        rows.append([report.policy["name"], *scores, f"{largest:.2f}", label(report.verdict)])
    return Block(["script", *metrics, "largest gap", "verdict"], rows, "lrrrrl")


def trainings(agent: Path) -> Block:
    """One row per training configuration of a bundled agent, the seeds in order."""
    rows = []
    for folder in sorted(path for path in agent.iterdir() if path.is_dir()):
        seeds = sorted(folder.glob("seed-*"), key=lambda path: int(path.name.removeprefix("seed-")))
        ends = [f"{_at_the_end(read_curve(seed / CURVE)):.2f}" for seed in seeds]
        manifests = [read_manifest(seed) for seed in seeds]
        learned = [one["notes"]["learned"]["steps"] for one in manifests]
        rows.append([
            folder.name, str(len(seeds)), f"{max(one['steps'] for one in manifests) / 1e6:.1f} M",
            ", ".join(ends),
            ", ".join("never" if steps is None else f"{steps / 1e6:.2f} M" for steps in learned),
        ])  # fmt: skip
    headers = ["trained on", "seeds", "steps", "success at the end", f"steps to {LEARNED}"]
    return Block(headers, rows, "lrrrr")


def _at_the_end(rows: list[list[float]]) -> float:
    """Return the success of the training episodes that ended in the last tenth of the steps."""
    steps, episodes, success = (COLUMNS.index(one) for one in ("steps", "episodes", "success"))
    last = [row for row in rows if row[steps] > 0.9 * rows[-1][steps]]
    weights = [row[episodes] for row in last]
    return float(np.average([row[success] for row in last], weights=weights))


TABLES: dict[str, Callable[..., Block]] = {
    "pairs": pairs, "axes": axes, "doses": doses, "widening": widened, "agents": agents,
    "blind": blind,
}  # fmt: skip


@functools.cache
def report(folder: str) -> Report:
    """Return a recorded report."""
    return load_report(HERE / folder)


def rendered(text: str) -> str:
    """Return the text with every table made anew from its report."""

    def anew(match: re.Match) -> str:
        kind, folders = match.groups()
        if kind == "trainings":
            block = trainings(CHECKPOINTS / folders)
        else:
            block = TABLES[kind](*(report(folder) for folder in folders.split()))
        below = "".join(f"\n\n{line}" for line in block.below)
        return f"<!-- {kind}: {folders} -->\n{table(block)}{below}\n<!-- end -->"

    return TABLE.sub(anew, text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(f"{Path(__file__).name} takes no arguments")
    README.write_text(rendered(README.read_text(encoding="utf-8")), encoding="utf-8")
