"""Write the tables of results/README.md from the reports beside it: `python results/render.py`.

A table stands between `<!-- pairs: FOLDER -->` (or `axes:`, `doses:`) and `<!-- end -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tabulate import tabulate

from harness import Report, load_report
from harness.reporting.blocks import interval, label

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
TABLE = re.compile(r"<!-- (\w+): ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)

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


def pairs(report: Report) -> str:
    """Return one row per pair: success on both sides, the gap, the verdict."""
    rows = []
    for result in report.pairs:
        gap = result.results["success"]
        rows.append([
            result.name, f"{gap.train.interval.point:.2f}", f"{gap.heldout.interval.point:.2f}",
            interval(gap.interval, gap.metric), label(result.verdict),
        ])  # fmt: skip
    mean = report.mean["success"]
    rows.append(["suite mean", "", "", interval(mean.interval, mean.metric), label(report.verdict)])
    return _table(["pair", "train", "held-out", "gap [95 % interval]", "verdict"], rows)


def axes(report: Report) -> str:
    """Return one row per axis, beside the published loss."""
    rows = []
    for axis, mean in report.axes["success"].items():
        own = [one.results["success"] for one in report.pairs if one.pair.axis == axis]
        train, heldout = (
            float(np.mean([getattr(gap, side).interval.point for gap in own]))
            for side in ("train", "heldout")
        )
        share = f"{100 * (train - heldout) / train:.0f} %" if train else "–"
        published = f"{PUBLISHED[axis]:.0f} %" if axis in PUBLISHED else "–"
        rows.append([
            axis, len(own), f"{train:.2f}", f"{heldout:.2f}", interval(mean.interval, mean.metric),
            share, published,
        ])  # fmt: skip
    headers = ["axis", "pairs", "train", "held-out", "gap [95 % interval]", "loss", "published"]
    return _table(headers, rows)


def doses(report: Report) -> str:
    """Return one row per sweep: the success held out at each dose, and the slope of the gap."""
    rows = []
    for result in report.pairs:
        gap, curve = result.results["success"], result.doses["success"]
        train = gap.train.interval.point
        scores = (
            f"{name}: {train - loss:.2f}"
            for name, loss in zip(result.pair.heldout, curve.gaps, strict=True)
        )
        slope = curve.slope
        text = f"{slope.point:.3g} [{slope.low:.3g}, {slope.high:.3g}]" if slope else "–"
        rows.append([result.name, " · ".join(scores), text])
    return _table(["sweep", "success at each dose", "gap per unit of dose"], rows)


TABLES: dict[str, Callable[[Report], str]] = {"pairs": pairs, "axes": axes, "doses": doses}


def rendered(text: str) -> str:
    """Return the text with every table made anew from its report."""

    def anew(match: re.Match) -> str:
        kind, folder = match.groups()
        return (
            f"<!-- {kind}: {folder} -->\n{TABLES[kind](load_report(HERE / folder))}\n<!-- end -->"
        )

    return TABLE.sub(anew, text)


def _table(headers: list[str], rows: list[list]) -> str:
    return tabulate(rows, headers, tablefmt="github", disable_numparse=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(f"{Path(__file__).name} takes no arguments")
    README.write_text(rendered(README.read_text(encoding="utf-8")), encoding="utf-8")
