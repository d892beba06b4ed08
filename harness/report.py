"""Show a stored report, or judge a table of scores from runs made elsewhere.

    python -m harness.report RUN [--format table|markdown|json]
    python -m harness.report --scores table.csv [--tolerance V]

A stored report is judged again from its episodes; the exit code is that of its run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli import EXIT_CODES, Parser, guarded
from harness.errors import COMPLETE, FAILED

FORMATS = ("table", "markdown", "json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    import argparse

    parser = Parser(
        prog="python -m harness.report",
        description=__doc__,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("run", nargs="?", help="a run folder, or its report.json")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("--scores", type=Path, metavar="CSV",
                        help="columns seed, train and one or more held-out ones")  # fmt: skip
    parser.add_argument("--tolerance", type=float, metavar="V",
                        help="with --scores: the largest loss that counts as none")  # fmt: skip
    options = parser.parse_args(arguments)
    if (options.run is None) == (options.scores is None):
        parser.error("give either a run folder or --scores table.csv")
    if options.tolerance is not None and (options.scores is None or not options.tolerance >= 0):
        parser.error("--tolerance is a number of at least 0, and belongs to --scores")
    return guarded(lambda: _scores(options) if options.scores else _stored(options))


def _stored(options) -> int:
    from harness.export import dump, to_dict
    from harness.stored import load_report

    report = load_report(options.run)
    if options.format == "json":
        print(dump(to_dict(report)), end="", flush=True)
    elif options.format == "markdown":
        print(report.to_markdown(), end="", flush=True)
    else:
        print(report, flush=True)
    return report.exit_code


def _scores(options) -> int:
    from harness.scores import judged, read_scores, render

    result = judged(read_scores(options.scores), options.tolerance)
    print(render(result, options.format), end="", flush=True)
    return FAILED if result.verdict.name == "invalid" else COMPLETE


if __name__ == "__main__":
    sys.exit(main())
