"""From episode records to pair results: gaps, floors, spreads and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from envs.core import Metric as Declared
from harness.policy import Policy
from harness.result import PairResult
from harness.rollout import EpisodeBatch
from harness.statistics import (
    GapResult,
    Metric,
    SuiteResult,
    Verdict,
    axis_gaps,
    judge,
    judge_suite,
    noise_floor,
    seed_spread,
    split_gap,
    suite_floor,
    suite_gap,
)
from protocols import Pair

VERIFIED, UNVERIFIED = "verified", "unverified"


def metric_of(declared: Declared) -> Metric:
    """Return an environment's metric in the form the statistics take."""
    return Metric(
        declared.name,
        binary=declared.binary,
        bounds=declared.bounds,
        scale=declared.scale,
        direction=getattr(declared, "direction", "higher"),
        label=declared.name.replace("_", " "),
    )


def training_check(pair: Pair, policies: Sequence[Policy]) -> str:
    """Return "verified", "unverified", or why the policies make the pair invalid.

    A checkpoint's manifest says what it was trained on; functions and scripts say nothing.
    """
    heldout = {side.digest: name for name, side in pair.heldout.items()}
    unknown = False
    for one in policies:
        digest = one.train.get("digest")
        if digest is None:
            unknown = True
        elif digest != pair.train.digest:
            if digest in heldout:
                return f"seed {one.seed} was trained on the held-out side"
            trained = one.train.get("name", "another configuration")
            return f"seed {one.seed} was trained on {trained!r}, not on {pair.train_name!r}"
    return UNVERIFIED if unknown else VERIFIED


def judge_pair(
    pair: Pair,
    policies: Sequence[Policy],
    metrics: Sequence[Declared],
    train: Sequence[EpisodeBatch],
    heldout: Mapping[str, Sequence[EpisodeBatch]],
    blind: Mapping[str, Mapping[str, float]],
    level: float = 0.95,
) -> PairResult:
    """Judge one pair.

    Args:
        pair: the pair.
        policies: one per training seed.
        metrics: what the environment declares.
        train, heldout: records per training seed (and held-out side), in the order of `policies`.
        blind: blind policy -> metric -> its mean on the same levels of the training side.
        level: of the intervals.
    """
    training = training_check(pair, policies)
    invalid = () if training in (VERIFIED, UNVERIFIED) else (training,)
    results, floors, spreads = {}, {}, {}
    for declared in metrics:
        metric, name = metric_of(declared), declared.name
        scores = [batch.columns[name] for batch in train]
        others = {
            side: [batch.columns[name] for batch in batches] for side, batches in heldout.items()
        }
        results[name] = split_gap(scores, others, metric, level=level)
        floors[name] = noise_floor(scores, metric)
        spreads[name] = seed_spread(results[name].train.per_seed)
    success = results["success"].train.per_seed if "success" in results else None
    best_blind = max((scores["success"] for scores in blind.values()), default=None)
    verdicts = {
        name: judge(
            results[name],
            floors[name],
            spreads[name],
            success=success,
            blind=best_blind,
            invalid=invalid,
        )
        for name in results
    }
    seeds = tuple(int(one.seed) for one in policies)
    return PairResult(pair, seeds, results, floors, spreads, verdicts, training, blind)


def blind_scores(
    batches: Mapping[str, Sequence[EpisodeBatch]], metrics: Sequence[Declared]
) -> dict[str, dict[str, float]]:
    """Return blind policy -> metric -> mean over all seeds' episodes."""
    return {
        name: {
            metric.name: float(np.mean([batch.columns[metric.name].mean() for batch in runs]))
            for metric in metrics
        }
        for name, runs in batches.items()
    }


def strata_of(pairs: Sequence[PairResult]) -> dict[str, str] | None:
    """Return pair name -> training configuration, or None where all pairs share one."""
    training = {result.name: result.pair.train_name for result in pairs}
    return training if len(set(training.values())) > 1 else None


def suite_results(pairs: Sequence[PairResult], metrics: Sequence[str]) -> dict[str, Any]:
    """Return the suite-level parts of a report: mean, axes and verdict."""
    strata = strata_of(pairs)
    axes_of = {result.name: result.pair.axis for result in pairs}
    mean: dict[str, SuiteResult] = {}
    axes: dict[str, dict[str, SuiteResult]] = {}
    for metric in metrics:
        gaps: dict[str, GapResult] = {result.name: result.results[metric] for result in pairs}
        mean[metric] = suite_gap(gaps, strata)
        axes[metric] = axis_gaps(gaps, axes_of, strata)
    primary = pairs[0].pair.metric
    floors = {result.name: result.floors[primary] for result in pairs}
    verdicts: dict[str, Verdict] = {result.name: result.verdict for result in pairs}
    verdict = judge_suite(mean[primary], suite_floor(floors, strata), verdicts)
    return {"mean": mean, "axes": axes, "verdict": verdict}
