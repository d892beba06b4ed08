"""A table of scores from runs made elsewhere: one row per training seed, read from CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tabulate import tabulate

from envs.errors import InputError, nearest
from harness.statistics import ScoresResult, Verdict, judge_scores
from harness.statistics.metric import show_number

REQUIRED = ("seed", "train")
ABSENT = ("", "nan", "na", "null", "none")  # a run that crashed: shown, never left out


@dataclass(frozen=True, eq=False)
class Scores:
    """seeds: as written; train f64[S]; heldout: column name -> f64[S]."""

    name: str
    seeds: tuple[str, ...]
    train: np.ndarray
    heldout: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class JudgedScores:
    """A table, what it says as a whole, and what each held-out column says alone."""

    scores: Scores
    result: ScoresResult
    columns: dict[str, ScoresResult]

    @property
    def verdict(self) -> Verdict:
        return self.result.verdict


def read_scores(path: Path) -> Scores:
    """Read columns seed, train, and one or more held-out ones (all the others).

    Raises:
        InputError: no such file, a column is missing or named twice, a row has another number of
            cells, a cell is not a number, a seed comes twice; with the line where it stands.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        text = path.read_text(encoding="utf-8-sig")
        lines = [
            (at, [cell.strip() for cell in row])
            for at, row in enumerate(csv.reader(text.splitlines(), strict=True), 1)
            if any(cell.strip() for cell in row)
        ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: not readable as CSV ({error})") from None
    if len(lines) < 2:
        raise InputError(f"{path}: needs a header (seed, train, heldout) and a row per seed")
    columns = _header(path, lines[0][1])
    cells = {name: [] for name in columns}
    for at, row in lines[1:]:
        if len(row) != len(columns):
            raise InputError(f"{path}, line {at}: {len(row)} cells, the header has {len(columns)}")
        for name, cell in zip(columns, row, strict=True):
            cells[name].append(cell if name == "seed" else _value(path, at, name, cell))
    seeds = tuple(cells.pop("seed"))
    repeated = next((seed for seed in seeds if seeds.count(seed) > 1), None)
    if repeated is not None:
        raise InputError(f"{path}: seed {repeated} comes twice; give one row per training seed")
    train = np.array(cells.pop("train"))
    return Scores(path.name, seeds, train, {name: np.array(one) for name, one in cells.items()})


def _header(path: Path, names: list[str]) -> list[str]:
    columns = [name.lower() if name.lower() in REQUIRED else name for name in names]
    for name in REQUIRED:
        if name not in columns:
            close = nearest(name, columns)
            hint = f"; is it {close!r}?" if close else ""
            raise InputError(
                f"{path}: no column {name!r}{hint} (expected seed, train and held-out columns, "
                f"found {', '.join(names)})"
            )
    repeated = next((name for name in columns if columns.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"{path}: column {repeated!r} comes twice")
    if len(columns) == len(REQUIRED):
        raise InputError(f"{path}: no held-out column beside seed and train")
    return columns


def _value(path: Path, line: int, column: str, cell: str) -> float:
    if cell.lower() in ABSENT:
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        raise InputError(
            f"{path}, line {line}: {cell!r} in column {column!r} is not a number"
        ) from None


def judged(scores: Scores, tolerance: float | None = None) -> JudgedScores:
    """Judge a table: the mean of the held-out columns, and each column alone."""
    columns = {
        name: judge_scores(scores.train, one, tolerance=tolerance)
        for name, one in scores.heldout.items()
    }
    return JudgedScores(
        scores, judge_scores(scores.train, scores.heldout, tolerance=tolerance), columns
    )


def render(found: JudgedScores, form: str) -> str:
    """Return the result as text ("table", "markdown") or strict JSON ("json"), with a newline."""
    if form == "json":
        return _json(found)
    from harness.reporting.table import filled

    markdown = form == "markdown"
    wrapped = str if markdown else filled
    verdict, scores = found.verdict, found.scores
    parts = [f"scores {scores.name}: {_counted(scores)}"]
    if found.result.per_seed.size:
        parts.append(_rows(found, markdown))
        parts.append("\n".join(map(wrapped, _facts(found))))
    words = f"verdict: {verdict.label}"
    parts.append(f"**{words}**" if markdown else words)
    parts.append("\n".join(map(wrapped, (verdict.reason, f"Next: {verdict.next_step}"))))
    parts.append("\n".join(map(wrapped, verdict.notes)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _counted(scores: Scores) -> str:
    seeds, sides = len(scores.seeds), len(scores.heldout)
    return (
        f"{seeds} training seed{'' if seeds == 1 else 's'}, "
        f"{sides} held-out column{'' if sides == 1 else 's'}, no episodes"
    )


def _scale(scores: Scores) -> float:
    values = np.concatenate([scores.train, *scores.heldout.values()])
    return float(np.ptp(values)) or 1.0


def _rows(found: JudgedScores, markdown: bool) -> str:
    scores, result = found.scores, found.result
    scale = _scale(scores)
    reach = result.spread.range if result.spread else 0.0
    rows = []
    for at, seed in enumerate(scores.seeds):
        gap = float(result.per_seed[at])
        label = "–" if result.labels is None else f"{result.labels[at]} ({gap / reach:.2f})"
        held = float(np.mean([one[at] for one in scores.heldout.values()]))
        numbers = [show_number(value, scale) for value in (scores.train[at], held, gap)]
        rows.append([seed, *numbers, label])
    train = float(scores.train.mean())
    gap = float(result.per_seed.mean())
    numbers = [show_number(value, scale) for value in (train, train - gap, gap)]
    rows.append(["mean", *numbers, ""])
    headers = ["seed", "train", "held-out", "gap", "gap against the range of training scores"]
    aligned = ["left", "right", "right", "right", "left"]
    if markdown:
        return tabulate(rows, headers, tablefmt="github", disable_numparse=True, colalign=aligned)
    text = tabulate([headers, *rows], tablefmt="plain", disable_numparse=True, colalign=aligned)
    return "\n".join(line.rstrip() for line in text.splitlines())


def _facts(found: JudgedScores) -> list[str]:
    result, scale = found.result, _scale(found.scores)

    def shown(one) -> str:
        return " ".join(
            f"{show_number(one.point, scale)} "
            f"[{show_number(one.low, scale)}, {show_number(one.high, scale)}]".split()
        )

    lines = []
    if result.interval is None:
        lines.append("mean gap: no interval from a single seed without episodes")
    else:
        how = "t" if result.interval.method == "t" else "t-scaled bootstrap over seeds"
        lines.append(f"mean gap {shown(result.interval)} (95 % interval for new seeds, {how})")
    if len(found.columns) > 1:
        lines += [
            f"  {name}: {shown(one.interval)}"
            for name, one in found.columns.items()
            if one.interval is not None
        ]
    if result.relative is not None:
        one = result.relative
        lines.append(
            f"share of the training score lost: {one.point:.0%} [{one.low:.0%}, {one.high:.0%}]"
        )
    if result.spread is not None:
        spread = result.spread
        lines.append(
            f"seed spread of training scores: {show_number(spread.value, scale)} (2 SD), "
            f"range {show_number(spread.range, scale)}"
        )
    if result.correlation is not None:
        lines.append(f"correlation of training score and gap: {result.correlation:.2f}")
    return lines


def _json(found: JudgedScores) -> str:
    from harness.reporting.export import dump, plain

    scores = found.scores
    return dump(plain({
        "schema": "heldout-scores",
        "schema_version": 1,
        "seeds": scores.seeds,
        "train": scores.train,
        "heldout": scores.heldout,
        "result": found.result,
        "columns": found.columns,
    }))  # fmt: skip
