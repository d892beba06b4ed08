"""The learning curve of a training: rows of finished episodes, as CSV and as a picture."""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COLUMNS = ("steps", "seconds", "episodes", "success", "return")
LEARNED = 0.8  # success from which a training counts as having learned


def write_curve(path: Path, rows: Sequence[Sequence[float]]) -> None:
    """Write rows of COLUMNS as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def read_curve(path: Path) -> list[list[float]]:
    """Return the rows of a CSV that `write_curve` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return [[float(value) for value in row] for row in list(csv.reader(file))[1:]]


def steps_to_success(rows: Sequence[Sequence[float]], level: float = LEARNED) -> dict[str, Any]:
    """Return when the training episodes first reached a success of `level`.

    Returns:
        {"success": level, "steps": the row's steps, or None where it was never reached by then,
        "censored_at": None, or the steps up to which it was not reached}.
    """
    success = COLUMNS.index("success")
    for row in rows:
        if row[success] >= level:
            return {"success": level, "steps": int(row[0]), "censored_at": None}
    last = int(rows[-1][0]) if rows else 0
    return {"success": level, "steps": None, "censored_at": last}


def plot_curves(path: Path, curves: dict[str, Sequence[Sequence[float]]], title: str) -> bool:
    """Draw success and return over steps, one line per curve; False without matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.5), layout="constrained")
    axes = figure.subplots(1, 2)
    for panel, name in zip(axes, ("success", "return"), strict=True):
        column = COLUMNS.index(name)
        for label, rows in curves.items():
            panel.plot([row[0] / 1e6 for row in rows], [row[column] for row in rows], label=label)
        panel.set(xlabel="million steps", ylabel=f"{name} of training episodes")
        panel.grid(alpha=0.3)
    axes[0].set_ylim(-0.02, 1.02)
    returns = [row[COLUMNS.index("return")] for rows in curves.values() for row in rows]
    if min(returns, default=0) < -300:
        axes[1].set_yscale("symlog", linthresh=100)  # the first losses dwarf all that is learned
    axes[0].legend()
    figure.suptitle(title)
    figure.savefig(path, dpi=120)
    return True
