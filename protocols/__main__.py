"""Look at suites: `python -m protocols list | show NAME | audit NAME`."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from envs.errors import InputError
from protocols.audit import share_seen
from protocols.loader import load_suite, suite_names
from protocols.pair import Pair, Suite

BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, or 2 for bad input."""
    parser = argparse.ArgumentParser(prog="python -m protocols", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the bundled suites")
    for name, text in (("show", "pairs and what differs"), ("audit", "prove what a suite claims")):
        commands.add_parser(name, help=text).add_argument("suite", help="a name or a YAML file")
    options = parser.parse_args(arguments)
    try:
        if options.command == "list":
            print("\n".join(_summary(load_suite(name)) for name in suite_names()))
        else:
            suite = load_suite(options.suite)  # loading audits every pair
            print(_shown(suite) if options.command == "show" else _audited(suite))
    except InputError as error:
        print(f"protocols: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _summary(suite: Suite) -> str:
    text = f"{suite.name} v{suite.version} ({len(suite)} pairs): {suite.description}"
    return textwrap.fill(text, 100, subsequent_indent="    ")


def _shown(suite: Suite) -> str:
    lines = [_summary(suite), f"digest {suite.digest}"]
    for pair in suite:
        lines += ["", f"{pair.name}  (axis {pair.axis}, trained on {pair.train_name})"]
        lines += _differences(pair)
    return "\n".join(lines)


def _differences(pair: Pair) -> list[str]:
    lines = []
    for side in pair.heldout:
        changed = pair.difference(side) or {"(nothing)": ("", "")}
        for path, (left, right) in changed.items():
            place = f"{side}: " if len(pair.heldout) > 1 else ""
            lines.append(f"    {place}{path}: {_value(left)} -> {_value(right)}")
    return lines


def _value(value: Any) -> str:
    return "(no effect)" if value is None else str(value)


def _audited(suite: Suite) -> str:
    lines = [_summary(suite)]
    for pair in suite:
        lines.append(f"  ok  {pair.name:24} {pair.axis}: {_proof(pair)}")
    return "\n".join(lines)


def _proof(pair: Pair) -> str:
    if pair.kind == "null":
        return "equal sides"
    if pair.kind == "sweep":
        shares = ", ".join(f"{side} {share_seen(pair, side):.0%}" for side in pair.heldout)
        return f"one axis; share that training shows: {shares}"
    return "one axis, disjoint support"


if __name__ == "__main__":
    sys.exit(main())
