"""Show a stored report, or judge a table of scores from runs made elsewhere.

    python -m harness.report RUN [--format table|markdown|json]
    python -m harness.report --scores table.csv [--tolerance V]
    python -m harness.report --paper RUN RUN ...
    python -m harness.report --schema

A stored report is judged again from its episodes; the exit code is that of its run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli import Parser, guarded
from harness.errors import COMPLETE, FAILED

FORMATS = ("table", "markdown", "json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = Parser("report", __doc__)
    parser.add_argument("run", nargs="*", help="a run folder, or its report.json")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("--scores", type=Path, metavar="CSV",
                        help="columns seed, train and one or more held-out ones")  # fmt: skip
    parser.add_argument("--tolerance", type=float, metavar="V",
                        help="with --scores: the largest loss that counts as none")  # fmt: skip
    parser.add_argument("--paper", action="store_true",
                        help="best of several checkpoints, one run each, as published")  # fmt: skip
    parser.add_argument("--schema", action="store_true",
                        help="print the JSON Schema of report.json")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.schema:
        return guarded(_schema)
    if bool(options.run) == (options.scores is not None):
        parser.error("give either a run folder or --scores table.csv")
    if len(options.run) > 1 and not options.paper:
        parser.error("one run at a time (several are the checkpoints of --paper)")
    if options.paper and (options.scores or options.format != "table"):
        parser.error("--paper takes run folders and prints a table")
    if options.tolerance is not None and (options.scores is None or not options.tolerance >= 0):
        parser.error("--tolerance is a number of at least 0, and belongs to --scores")
    command = _scores if options.scores else _paper if options.paper else _stored
    return guarded(lambda: command(options))


def _stored(options) -> int:
    from harness.reporting.export import dump, to_dict
    from harness.reporting.stored import load_report

    report = load_report(options.run[0])
    if options.format == "json":
        print(dump(to_dict(report)), end="", flush=True)
    elif options.format == "markdown":
        print(report.to_markdown(), end="", flush=True)
    else:
        print(report, flush=True)
    return report.exit_code


def _paper(options) -> int:
    from harness.reporting.paper import render
    from harness.reporting.stored import load_report

    print(render([load_report(run) for run in options.run]), flush=True)
    return COMPLETE


def _schema() -> int:
    from harness.reporting.export import report_schema

    print(json.dumps(report_schema(), indent=2, ensure_ascii=False), flush=True)
    return COMPLETE


def _scores(options) -> int:
    from harness.reporting.scores import judged, read_scores, render

    result = judged(read_scores(options.scores), options.tolerance)
    print(render(result, options.format), end="", flush=True)
    return FAILED if result.verdict.name == "invalid" else COMPLETE


if __name__ == "__main__":
    sys.exit(main())
