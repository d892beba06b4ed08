"""Compare two policies on the held-out sides they both played: which is better, by how much?

    python -m harness.compare A B [--metric success] [--side heldout|train] [--json]

A and B are run folders or report.json files. Training seeds of two policies are never paired;
levels are, where both runs played the same ones. Positive differences mean that A is better.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from envs.errors import InputError, not_among
from harness.cli import Parser, guarded
from harness.errors import COMPLETE
from harness.reporting.blocks import Block, count, interval, short
from harness.reporting.judging import metric_of
from harness.reporting.result import PairResult, Report
from harness.statistics import Comparison, Metric, compare_means, compare_policies

SIDES = ("heldout", "train")


@dataclass(frozen=True)
class PolicyComparison:
    """Comparison of every shared pair, and of the mean over them (None where seeds differ)."""

    metric: Metric
    side: str
    pairs: dict[str, Comparison]
    means: dict[str, tuple[float, float]]  # pair -> mean score of A and of B
    mean: Comparison
    shared_levels: bool
    skipped: tuple[str, ...]  # pairs that only one run has, or that differ


def compare(
    first: Report, second: Report, *, metric: str | None = None, side: str = "heldout"
) -> PolicyComparison:
    """Compare two reports on the pairs they share.

    Args:
        metric: by default the primary metric of the first shared pair.
        side: "heldout" (the mean of a pair's held-out sides) or "train".

    Raises:
        InputError: no pair is shared, or one run does not know the metric.
    """
    if side not in SIDES:
        raise InputError(not_among(f"no side {side!r}", side, SIDES))
    shared, skipped = _shared(first, second)
    name = metric or first[shared[0]].pair.metric
    for report in (first, second):
        known = [one.name for one in report.records.metrics]
        if name not in known:
            raise InputError(not_among(f"no metric {name!r}", name, known))
    declared = next(one for one in first.records.metrics if one.name == name)
    kind = metric_of(declared)
    level = float(first.settings["level"])
    paired = _same_levels(first, second, shared)
    rows = {
        pair: [_scores(report, report[pair], name, side) for report in (first, second)]
        for pair in shared
    }
    # The average of several held-out sides is no longer 0 or 1.
    single = side == "train" or all(len(first[pair].pair.heldout) == 1 for pair in shared)
    binary = kind.binary and single
    pairs, means = {}, {}
    for pair, scores in rows.items():
        pairs[pair] = compare_policies(
            *scores, replace(kind, binary=binary), level=level, paired_levels=paired
        )
        means[pair] = tuple(float(np.mean([row.mean() for row in one])) for one in scores)
    parts = [[rows[pair][at] for pair in shared] for at in (0, 1)]
    whole = Comparison(None, None, "the pairs were played by other numbers of training seeds")
    if all(len({len(scores) for scores in one}) == 1 for one in parts):
        whole = compare_means(
            *parts, replace(kind, binary=binary), level=level, paired_levels=paired
        )
    return PolicyComparison(kind, side, pairs, means, whole, paired, skipped)


def _shared(first: Report, second: Report) -> tuple[list[str], tuple[str, ...]]:
    now, then = ({pair.name: pair.digest for pair in one.suite} for one in (first, second))
    shared = [name for name, digest in now.items() if then.get(name) == digest]
    if not shared:
        raise InputError(
            f"the two runs share no pair (A: suite {first.suite.name} v{first.suite.version}, "
            f"B: suite {second.suite.name} v{second.suite.version})"
        )
    return shared, tuple(sorted((now.keys() | then.keys()) - set(shared)))


def _same_levels(first: Report, second: Report, shared: Sequence[str]) -> bool:
    same_seeds = all(first[name].seeds == second[name].seeds for name in shared)
    settings = ("seed", "episodes")
    return same_seeds and all(first.settings[one] == second.settings[one] for one in settings)


def _scores(report: Report, result: PairResult, metric: str, side: str) -> list[np.ndarray]:
    """Return one f64[E] per training seed."""
    pair, records = result.pair, report.records
    configs = [pair.train] if side == "train" else list(pair.heldout.values())
    runs = [records.batches(pair, config.digest, result.seeds) for config in configs]
    return [
        np.mean([batch.columns[metric] for batch in group], axis=0)
        for group in zip(*runs, strict=True)
    ]


def render(found: PolicyComparison, names: tuple[str, str]) -> str:
    """Return the comparison as text, within 100 columns."""
    from harness.reporting.table import columns, filled

    metric = found.metric
    rows = [
        [short(pair), *(metric.show(one) for one in found.means[pair]), *_shown(found, one)]
        for pair, one in found.pairs.items()
    ]
    if len(found.pairs) > 1:
        mean = [metric.show(float(np.mean(one))) for one in zip(*found.means.values(), strict=True)]
        rows.append(["mean over pairs", *mean, *_shown(found, found.mean)])
    word = "held-out" if found.side == "heldout" else "train"
    headers = [f"{metric.title}, {word}", "A", "B", "A − B [95 % interval]", "P(A better)"]
    lines = [f"A: {names[0]}", f"B: {names[1]}"]
    levels = "the same levels" if found.shared_levels else "levels of their own"
    lines.append(f"{count(len(found.pairs), 'shared pair')}, {levels}")
    if found.skipped:
        lines.append(f"not compared, because not shared: {', '.join(found.skipped)}")
    notes = []
    scopes = {one.difference.scope for one in found.pairs.values() if one.difference}
    if scopes == {"checkpoint"}:
        notes.append(
            "Fewer than three training seeds on a side: this speaks of these checkpoints only, "
            "and no probability of improvement can be given."
        )
    else:
        notes.append("P(A better): a new training run of A beats a new one of B; ties count half.")
    reasons = {one.reason for one in (*found.pairs.values(), found.mean) if one.reason}
    parts = ["\n".join(map(filled, lines)), columns(Block(headers, rows, "lrrrr"))]
    return "\n\n".join([*parts, "\n".join(map(filled, [*notes, *sorted(reasons)]))])


def _shown(found: PolicyComparison, one: Comparison) -> list[str]:
    better = "–"
    if one.improvement is not None:
        chance = one.improvement
        better = f"{chance.point:.2f} [{chance.low:.2f}, {chance.high:.2f}]"
    return [interval(one.difference, found.metric), better]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = Parser("compare", __doc__)
    parser.add_argument("first", metavar="A", help="a run folder, or its report.json")
    parser.add_argument("second", metavar="B", help="another one")
    parser.add_argument("--metric", help="default: the primary metric")
    parser.add_argument("--side", choices=SIDES, default="heldout", help="default: heldout")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    options = parser.parse_args(arguments)
    return guarded(lambda: _compare(options))


def _compare(options) -> int:
    from harness.reporting.export import dump, plain
    from harness.reporting.stored import load_report

    reports = [load_report(path) for path in (options.first, options.second)]
    found = compare(*reports, metric=options.metric, side=options.side)
    if options.json:
        print(dump(plain(found)), end="", flush=True)
        return COMPLETE
    names = tuple(
        f"{report.policy['name']} ({count(len(report.policy['seeds']), 'training seed')}), {path}"
        for report, path in zip(reports, (options.first, options.second), strict=True)
    )
    print(render(found, names), flush=True)
    return COMPLETE


if __name__ == "__main__":
    sys.exit(main())
