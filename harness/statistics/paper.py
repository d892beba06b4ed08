"""The published way to aggregate: the best checkpoint of each run, mean and standard error.

Taking a maximum over noisy evaluations overstates scores, more so with more checkpoints and on the
side that varies more, and it breaks the pairing of the two sides. Results are therefore labelled
an envelope: they stand beside published tables and never gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.statistics.metric import Metric
from harness.statistics.samples import F64

LABEL = "envelope"


@dataclass(frozen=True)
class Envelope:
    """Means over seeds of each run's best checkpoint.

    relative: percent of the train score lost (ratio of means), None for metrics without a true
    zero or a train score that is not positive; absolute: |train - heldout|. Standard errors are
    None for a single unit, where there is no spread to show.
    """

    train: float
    heldout: float
    train_sem: float | None
    heldout_sem: float | None
    relative: float | None
    absolute: float
    signed: float
    checkpoints: int
    units: int
    label: str = LABEL


def envelope(train: F64, heldout: F64, metric: Metric) -> Envelope:
    """Best checkpoint of each run. train, heldout f64[S, C]: mean score per seed and checkpoint."""
    first, second = (np.asarray(side, dtype=np.float64) for side in (train, heldout))
    if first.ndim != 2 or first.shape != second.shape or not first.size:
        raise ValueError(
            f"train and heldout: shapes {first.shape} and {second.shape}; "
            "both need [seeds, checkpoints]"
        )
    best = [metric.sign * (metric.sign * side).max(axis=1) for side in (first, second)]
    return _row(best[0], best[1], metric, first.shape[1])


def envelope_mean(rows: Sequence[Envelope], metric: Metric) -> Envelope:
    """Mean over configurations, each of equal weight; the relative gap is that of the means."""
    if not rows:
        raise ValueError("rows: no configurations; give at least one")
    train = np.array([row.train for row in rows])
    heldout = np.array([row.heldout for row in rows])
    return _row(train, heldout, metric, max(row.checkpoints for row in rows))


def _row(train: F64, heldout: F64, metric: Metric, checkpoints: int) -> Envelope:
    first, second = float(train.mean()), float(heldout.mean())
    signed = metric.sign * (first - second)
    relative = 100.0 * signed / first if metric.ratio and first > 0 else None
    return Envelope(
        first, second, _sem(train), _sem(heldout), relative, abs(signed), signed,
        checkpoints, int(train.size),
    )  # fmt: skip


def _sem(values: F64) -> float | None:
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else None
