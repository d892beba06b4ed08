"""Look at suites, and freeze them: `python -m protocols list | show | audit | sheet | freeze`."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from envs.errors import InputError
from protocols.audit import audit_rollouts
from protocols.audit.text import FAIL, OK, WARN, pair_lines, status, value_text
from protocols.freeze import freeze, write_split
from protocols.loader import load_suite, suite_names
from protocols.pair import Pair, Suite
from protocols.sheet import check_target, save_sheet, suite_sheet

BAD_INPUT, AUDIT_FAILED = 2, 4

_LEGEND = """\
Proved by playing both sides with the same keys. pictures only: latents and rewards are bit-equal.
solved: by the best script. contrast: grey levels that a move changes. (Of training in brackets.)"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 2 for bad input, 4 where an audit fails."""
    parser = argparse.ArgumentParser(prog="python -m protocols", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the bundled suites")
    for name, text in (
        ("show", "pairs and what differs"),
        ("audit", "prove what a suite claims, by playing it"),
        ("sheet", "a picture of all sides in the same states"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("suite", help="a name or a YAML file")
        if name != "show":
            command.add_argument("--pair", help="only this one")
        if name == "sheet":
            command.add_argument("--states", type=int, metavar="N", help="per pair; default: 4, 3")
            command.add_argument("--out", type=Path, metavar="FILE", help="default: SUITE.png")
    _add_freeze(commands.add_parser("freeze", help="write down a split before training"))
    options = parser.parse_args(arguments)
    try:
        if options.command == "list":
            print("\n".join(_summary(load_suite(name)) for name in suite_names()))
        elif options.command == "freeze":
            print(_frozen(load_suite(options.suite), options.prediction, options.out))
        elif options.command == "audit":
            return _audit(load_suite(options.suite), options.pair)
        elif options.command == "sheet":
            suite = load_suite(options.suite)
            print(_drawn(suite, options.pair, options.states, options.out))
        else:
            print(_shown(load_suite(options.suite)))
    except InputError as error:
        print(f"protocols: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _add_freeze(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("suite", help="a name or a YAML file")
    add("--prediction", default="", metavar="TEXT", help="what you expect, before anything runs")
    add("--out", type=Path, default=Path("split.json"), metavar="FILE", help="default: split.json")


def _frozen(suite: Suite, prediction: str, file: Path) -> str:
    data = freeze(suite, prediction)
    if not write_split(data, file):
        return f"{file}: this split is frozen already"
    named = f"suite {suite.name} v{suite.version}, {_count(len(suite), 'pair')}"
    return f"{file}: {named}, frozen {data['date']}, digest {data['digest'][:8]}"


def _drawn(suite: Suite, pair: str | None, states: int | None, out: Path | None) -> str:
    file = out or Path(f"{suite.name}.png")
    check_target(file)
    sheet = suite_sheet(suite, pair=pair, states=states)
    save_sheet(sheet, file)
    size = f"{sheet.width}x{sheet.height} px, {file.stat().st_size / 1e6:.1f} MB"
    return f"{file}: suite {suite.name} v{suite.version}, {size}"


def _summary(suite: Suite) -> str:
    every = [one for pair in suite for one in (pair, pair.widened) if one is not None]
    sides = {pair.train.digest for pair in every}
    played = {
        (pair.train_name, side.digest)
        for pair in every
        for side in (pair.train, *pair.heldout.values())
    }
    counts = ", ".join([
        _count(len(suite), "pair"),
        _count(len(sides), "training side"),
        f"{_count(len(played), 'side')} to play per seed",
    ])  # fmt: skip
    text = f"{suite.name} v{suite.version} ({counts}): {suite.description}"
    return textwrap.fill(text, 100, subsequent_indent="    ", break_on_hyphens=False)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shown(suite: Suite) -> str:
    lines = [_summary(suite), f"digest {suite.digest}"]
    for pair in suite:
        lines += ["", f"{pair.name}  ({_described(pair)})"]
        lines += [textwrap.indent(textwrap.fill(text, 96), "    ") for text in _remarks(pair)]
        lines += _differences(pair)
    return "\n".join(lines)


def _described(pair: Pair) -> str:
    kind = [] if pair.kind == "pair" else [pair.kind]
    wide = f" and on {pair.wide_name}" if pair.wide_name else ""
    confounded = ["confounded"] if pair.confounded else []
    return ", ".join(
        [*kind, f"axis {pair.axis}", f"trained on {pair.train_name}{wide}", *confounded]
    )


def _remarks(pair: Pair) -> list[str]:
    predicted = f"predicted: {pair.prediction}" if pair.prediction else ""
    pooled = "each dose pools its side and those before it, in equal shares"
    return [text for text in (pair.note, predicted, pooled if pair.cumulative else "") if text]


def _differences(pair: Pair) -> list[str]:
    lines = []
    for side in pair.heldout:
        changed = pair.difference(side)
        place = f"    {side}: " if len(pair.heldout) > 1 else "    "
        lines += [] if changed else [f"{place}behaves like the training side"]
        for path, (left, right) in changed.items():
            lines.append(f"{place}{path}: {value_text(left)} -> {value_text(right)}")
    return lines


def _audit(suite: Suite, only: str | None) -> int:
    """Print the proof of every pair as it comes; return the exit code."""
    pairs = [suite[only]] if only else list(suite)
    print(_summary(suite))
    print(f"digest {suite.digest}")
    print(_LEGEND, flush=True)
    counts, memory = dict.fromkeys((OK, WARN, FAIL), 0), {}
    for pair in pairs:
        proofs = audit_rollouts(pair, memory)
        counts[status(proofs)] += 1
        print("\n".join(pair_lines(pair, proofs)), flush=True)
    total = f"{counts[OK]} ok, {counts[WARN]} with warnings, {counts[FAIL]} failed"
    print(f"{_count(len(pairs), 'pair')}: {total}")
    return AUDIT_FAILED if counts[FAIL] else 0


if __name__ == "__main__":
    sys.exit(main())
