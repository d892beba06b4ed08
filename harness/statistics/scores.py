"""A verdict from one score per seed and side, for runs that were evaluated elsewhere.

Nothing is known about single episodes here, so the spread of training scores stands in for the
noise floor, and seeds are sorted by counts alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.statistics.checks import DEFAULT_METHOD
from harness.statistics.floor import Spread, collapse_bound, seed_spread
from harness.statistics.intervals import Interval, seed_interval, statistic_interval
from harness.statistics.metric import show_number
from harness.statistics.relative import share_of_means
from harness.statistics.samples import F64, row_means
from harness.statistics.verdicts import Verdict, finish, unstable_training, verdict_row

CLEAR_RATIO = 2.0
LABELS = ("within", "borderline", "clear")


@dataclass(frozen=True, eq=False)
class ScoresResult:
    """What one score per seed and side can say.

    per_seed     f64[S] gaps, train minus mean held-out; empty when the input is invalid
    interval     of the mean gap; None for a single seed
    relative     share of the train score lost, or None
    spread       of train scores over seeds; None for a single seed
    labels       within / borderline / clear per seed, or None where the train scores do not spread
    correlation  of train score and gap over seeds, or None where undefined
    """

    per_seed: F64
    interval: Interval | None
    relative: Interval | None
    spread: Spread | None
    labels: tuple[str, ...] | None
    correlation: float | None
    verdict: Verdict


def seed_labels(
    train: Sequence[float] | F64, gaps: Sequence[float] | F64, threshold: float = CLEAR_RATIO
) -> tuple[str, ...] | None:
    """Each seed's gap against the range of train scores: within, borderline or clear.

    within: gap <= range; clear: gap >= threshold * range; borderline: between. None where all
    train scores are equal and the ratio is undefined.
    """
    if not threshold > 1:
        raise ValueError(f"threshold: {threshold!r}; must be larger than 1, such as 2.0")
    reach = float(np.ptp(np.asarray(train, dtype=np.float64)))
    if reach == 0:
        return None
    ratios = np.asarray(gaps, dtype=np.float64) / reach
    return tuple(
        LABELS[0] if ratio <= 1 else LABELS[2] if ratio >= threshold else LABELS[1]
        for ratio in ratios
    )


def judge_scores(
    train: Sequence[float] | F64,
    heldout: Sequence[float] | Sequence[Sequence[float]] | Mapping[str, Sequence[float]] | F64,
    *,
    tolerance: float | None = None,
    level: float = 0.95,
    method: str = DEFAULT_METHOD,
    seed: int = 0,
) -> ScoresResult:
    """Intervals, spread, labels and verdict from f64[S] train and f64[S] or f64[S, V] held-out.

    Several held-out columns are averaged within each seed. tolerance: the largest loss that counts
    as none, in score units; without one `generalizes` cannot be reached. A score that is missing
    or not finite makes the verdict `invalid`; it is never left out.
    """
    first, second = _table(train, heldout)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return _refused(int(first.size))
    gaps = row_means([np.sort(first[i] - second[i]) for i in range(first.size)])
    spread = seed_spread(first)
    known = {"level": level, "method": method, "seed": seed}
    interval = None
    if gaps.size >= 2:
        interval = seed_interval(gaps, scope="algorithm", **known)
    facts = _facts(first, gaps, spread, interval, tolerance)
    verdict = _verdict(facts, interval, float(np.ptp(np.concatenate([first, gaps]))))
    return ScoresResult(
        gaps, interval, _relative(first, gaps, tolerance, known), spread,
        seed_labels(first, gaps) if first.size > 1 else None, _correlation(first, gaps), verdict,
    )  # fmt: skip


def _table(train: object, heldout: object) -> tuple[F64, F64]:
    first = np.asarray(train, dtype=np.float64)
    if first.ndim != 1 or first.size == 0:
        raise ValueError("train: needs one score per training seed")
    if isinstance(heldout, Mapping):
        second = np.stack([np.asarray(v, dtype=np.float64) for v in heldout.values()], axis=1)
    else:
        second = np.asarray(heldout, dtype=np.float64)
        second = second[:, None] if second.ndim == 1 else second
    if second.ndim != 2 or second.shape[0] != first.size:
        raise ValueError(
            f"heldout: shape {second.shape} does not fit {first.size} training seeds; "
            "give one row per seed"
        )
    return first, second


def _facts(
    train: F64,
    gaps: F64,
    spread: Spread | None,
    interval: Interval | None,
    tolerance: float | None,
) -> dict:
    value = spread.value if spread else 0.0
    dropped = [int(i) for i in np.flatnonzero(gaps > value)]
    held = [int(i) for i in np.flatnonzero(gaps <= value)]
    judged = gaps.size >= 3
    return {
        "point": interval.point if interval else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "scope": "algorithm" if judged else "checkpoint",
        "seeds": int(gaps.size),
        "episodes": None,
        "floor": value,
        "tolerance": tolerance,
        "spread": value,
        "invalid": [],
        "no_interval": "a single seed without episodes has no interval",
        "dropped_seeds": dropped,
        "held_seeds": held,
        "seed_dependent": bool(judged and dropped and held),
        "training_instability": unstable_training(train, dropped, held),
        "collapse_bound": collapse_bound(gaps.size) if judged and not dropped else None,
    }


def _verdict(facts: dict, interval: Interval | None, scale: float) -> Verdict:
    judged = facts["seeds"] >= 3
    if interval is None or not judged:
        name = "within-noise"
    else:
        name = verdict_row(
            interval.low, interval.high, interval.point, floor=facts["floor"],
            tolerance=facts["tolerance"], spread=facts["spread"],
            seed_dependent=facts["seed_dependent"],
        )  # fmt: skip
    checks = {
        "suggestive": judged and name == "within-noise" and interval and interval.low > 0,
        "training_instability": name == "seed-dependent" and facts["training_instability"],
        "insufficient_seeds": not judged,
        "this_checkpoint_only": not judged,
        "rough_spread": judged and facts["seeds"] < 10,
        "no_train_spread": facts["seeds"] > 1 and facts["spread"] == 0,
        "degenerate": interval is not None and interval.degenerate,
        "no_tolerance": facts["tolerance"] is None,
    }
    flags = [flag for flag, true in checks.items() if true]
    return finish(name, facts, flags, lambda value: show_number(value, scale))


def _relative(train: F64, gaps: F64, tolerance: float | None, known: dict) -> Interval | None:
    """Share of the train score lost; None unless the train score is clearly above zero."""
    if train.size < 3:
        return None
    below = seed_interval(train, scope="algorithm", **known)
    if below.low <= 0 or below.point < (tolerance or 0.0):
        return None
    features = np.stack([gaps, train], axis=1)
    return statistic_interval(features, share_of_means, **known)


def _correlation(train: F64, gaps: F64) -> float | None:
    if train.size < 3 or np.ptp(train) == 0 or np.ptp(gaps) == 0:
        return None
    return float(np.corrcoef(train, gaps)[0, 1])


def _refused(seeds: int) -> ScoresResult:
    facts = {"invalid": ["a score is missing or not finite"], "seeds": seeds}
    verdict = finish("invalid", facts, (), str)
    return ScoresResult(np.empty(0), None, None, None, None, None, verdict)
