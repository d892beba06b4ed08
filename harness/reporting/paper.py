"""The published aggregation over checkpoints: an envelope that stands beside published tables.

    python -m harness.report --paper RUN RUN ...

One run folder per checkpoint step, all on the same suite and training seeds. Per pair and seed the
best checkpoint counts on either side (the maximum over steps), then mean and standard error over
seeds. A maximum over noisy evaluations overstates scores and breaks the pairing of the two sides,
so this is labelled an envelope and never gates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from envs.errors import InputError
from harness.reporting.blocks import Block, count, short
from harness.reporting.result import Report
from harness.statistics import Envelope, Metric, envelope, envelope_mean


def paper_rows(reports: Sequence[Report], metric: str) -> dict[str, Envelope]:
    """Return pair -> envelope over the checkpoints of all reports.

    Raises:
        InputError: the runs measured other suites, or other training seeds.
    """
    first = reports[0]
    for other in reports[1:]:
        if other.suite.digest != first.suite.digest:
            raise InputError(
                f"--paper takes runs of one suite: {first.suite.name} v{first.suite.version} "
                f"({first.suite.digest[:8]}) against {other.suite.name} v{other.suite.version} "
                f"({other.suite.digest[:8]})"
            )
        if any(first[one.name].seeds != one.seeds for one in other.pairs):
            raise InputError("--paper takes runs of the same training seeds, one per checkpoint")
    found = {}
    for result in first.pairs:
        gaps = [report[result.name].results[metric] for report in reports]
        train = np.stack([gap.train.per_seed for gap in gaps], axis=1)
        heldout = np.stack([gap.heldout.per_seed for gap in gaps], axis=1)
        found[result.name] = envelope(train, heldout, gaps[0].metric)
    return found


def render(reports: Sequence[Report]) -> str:
    """Return the published kind of table for every metric of the suite, within 100 columns."""
    from harness.reporting.table import columns, filled

    first = reports[0]
    steps = sorted({one["steps"] for r in reports for one in r.policy["policies"]}, key=str)
    known = [str(step) for step in steps if step is not None]
    parts = [
        filled(
            f"envelope of {count(len(reports), 'checkpoint')}"
            + (f" (steps {', '.join(known)})" if known else "")
            + f", suite {first.suite.name} v{first.suite.version}: best checkpoint per training "
            "seed and side, mean ± standard error over seeds"
        )
    ]
    for metric in first.mean:
        rows = paper_rows(reports, metric)
        kind = first.mean[metric].metric
        shown = [_row(name, one, kind) for name, one in rows.items()]
        if len(rows) > 1:
            shown.append(_row("mean over pairs", envelope_mean(list(rows.values()), kind), kind))
        headers = [metric, "train", "held-out", "gap", "|gap|", "share lost"]
        parts.append(columns(Block(headers, shown, "lrrrrr")))
    parts.append(
        filled(
            "For comparison with published tables only: a maximum over checkpoints overstates "
            "scores and is no evidence of a gap. Verdicts and gates use one checkpoint."
        )
    )
    return "\n\n".join(parts)


def _row(name: str, one: Envelope, metric: Metric) -> list[str]:
    def mean(value: float, error: float | None) -> str:
        return metric.show(value) + ("" if error is None else f" ± {metric.show(error)}")

    share = "–" if one.relative is None else f"{one.relative:.0f} %"
    return [
        short(name),
        mean(one.train, one.train_sem),
        mean(one.heldout, one.heldout_sem),
        metric.show(one.signed),
        metric.show(one.absolute),
        share,
    ]
