"""From episode records to a report: gaps, floors, spreads, verdicts and gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from envs.core import Metric as Declared
from harness.policies.splits import split_check
from harness.policies.training_rules import UNVERIFIED, VERIFIED, broken_rules, rules_of
from harness.reporting.gate import judge_rule
from harness.reporting.records import Records
from harness.reporting.result import Extra, PairResult, Report
from harness.rollouts.rollout import EpisodeBatch
from harness.statistics import (
    GapResult,
    Metric,
    NoiseFloor,
    Verdict,
    axis_gaps,
    collapse_bound,
    dose_response,
    judge,
    judge_suite,
    noise_floor,
    normalized_gap,
    relative_gap,
    seed_labels,
    seed_spread,
    smallest_detectable,
    split_gap,
    suite_floor,
    suite_gap,
    widening,
    worst_pairs,
)
from protocols import Pair
from protocols.audit import unseen_sides

# Zero is no origin of a return, and its heavy tails need more episodes than other metrics do.
WITHOUT_ORIGIN = ("return",)
RETURN_EPISODES = 128
WORST = (1, 3)
UNTRAINED = "untrained"
FEWEST_SEEDS = 3  # from here on an interval for new training seeds carries a verdict

Rows = list[np.ndarray]  # one f64[E] per training seed


def metric_of(declared: Declared) -> Metric:
    """Return an environment's metric in the form the statistics take."""
    heavy = declared.name in WITHOUT_ORIGIN
    return Metric(
        declared.name,
        binary=declared.binary,
        bounds=declared.bounds,
        scale=declared.scale,
        direction=getattr(declared, "direction", "higher"),
        label=declared.name.replace("_", " "),
        ratio=not heavy,
        **({"min_episodes": RETURN_EPISODES} if heavy else {}),
    )


def judge_records(records: Records) -> Report:
    """Judge everything: pairs, axes, the suite mean and the gates. The same records always give
    the same report."""
    results = [judge_pair(pair, records) for pair in records.suite]
    whole = _suite_results(results, [metric.name for metric in records.metrics])
    # What nothing was trained for was not shown to generalize: no gate passes over it.
    verdicts = [result.verdict.name for result in results] + [UNTRAINED] * len(records.not_trained)
    gates = tuple(
        judge_rule(
            rule,
            whole["mean"],
            {result.name: result.results[rule.metric] for result in results},
            verdicts,
            records.on_inconclusive,
        )
        for rule in records.rules
    )
    return Report(records, tuple(results), gates=gates, **whole)


def training_check(pair: Pair, policies: Sequence[Mapping[str, Any]]) -> str:
    """Return "verified", "unverified", or why the policies make the pair invalid.

    A checkpoint's manifest says what it was trained on; functions and scripts say nothing.
    """
    heldout = {side.digest: name for name, side in pair.heldout.items()}
    unknown = False
    for one in policies:
        digest = one["train"].get("digest")
        if digest is None:
            unknown = True
        elif digest != pair.train.digest:
            if digest in heldout:
                return f"seed {one['seed']} was trained on the held-out side"
            trained = one["train"].get("name", "another configuration")
            if trained == pair.train_name:
                trained = f"another {trained} (digest {digest[:8]})"
            return f"seed {one['seed']} was trained on {trained!r}, not on {pair.train_name!r}"
    return UNVERIFIED if unknown else VERIFIED


def judge_pair(pair: Pair, records: Records) -> PairResult:
    """Judge one pair on every metric; a widening holds the wide side's result inside."""
    policies = records.policies_for(pair)
    seeds = tuple(int(one["seed"]) for one in policies)
    training = training_check(pair, policies)
    widened = [] if pair.widened is None else records.policies_for(pair.widened)
    rules = rules_of(policies, training, int(records.settings["episodes"]), widened)
    invalid = broken_rules(rules)
    split, problem = split_check(records.suite.name, pair, policies)
    invalid += [problem] if problem else []
    if (records.replay or {}).get("status") == "invalid":
        invalid.append(str(records.replay["reason"]))
    train = records.batches(pair, pair.train.digest, seeds)
    sides = {
        side: records.batches(pair, config.digest, seeds) for side, config in pair.heldout.items()
    }
    blind = records.blind_batches(pair.train.digest, seeds)
    level = float(records.settings["level"])
    results, floors, spreads, extras, doses = {}, {}, {}, {}, {}
    for declared in records.metrics:
        metric, name = metric_of(declared), declared.name
        rows, others = _rows(train, name), {side: _rows(runs, name) for side, runs in sides.items()}
        unseen = {side: others[side] for side in unseen_sides(pair)}
        results[name] = gap = split_gap(rows, unseen, metric, level=level)
        floors[name] = noise_floor(rows, metric)
        spreads[name] = seed_spread(gap.train.per_seed) if gap.train.per_seed.size else None
        blind_rows = {script: _rows(runs, name) for script, runs in blind.items()}
        extras[name] = _extra(rows, unseen, blind_rows, gap, floors[name])
        if pair.kind == "sweep":
            pools = [{one: others[one] for one in pair.pooled(side)} for side in pair.doses]
            curve = [split_gap(rows, pool, metric, level=level) for pool in pools]
            if not any(one.problems for one in curve):  # a broken dose breaks the whole curve
                doses[name] = dose_response(list(pair.doses.values()), curve)
    scores = blind_scores(blind, records.metrics)
    verdicts = {
        name: _with_training_seeds(verdict, seeds)
        for name, verdict in _verdicts(results, floors, spreads, scores, invalid).items()
    }
    result = PairResult(
        pair, seeds, results, floors, spreads, verdicts, training, scores, extras,
        _collapse(verdicts[pair.metric], len(seeds)), doses, split=split, rules=rules,
    )  # fmt: skip
    return result if pair.widened is None else _with_widening(result, records)


def _with_widening(result: PairResult, records: Records) -> PairResult:
    """Add what wide training did; a fault of the wide side makes the pair invalid as well."""
    wide = judge_pair(result.pair.widened, records)
    widenings = {
        name: widening(narrow, wide.results[name]) for name, narrow in result.results.items()
    }
    broken = wide.verdict.name == "invalid" and result.verdict.name != "invalid"
    verdicts = wide.verdicts if broken else result.verdicts
    return replace(result, wide=wide, widenings=widenings, verdicts=verdicts)


def _rows(batches: Sequence[EpisodeBatch], metric: str) -> Rows:
    return [batch.columns[metric] for batch in batches]


def _verdicts(results, floors, spreads, blind, invalid: Sequence[str]) -> dict[str, Verdict]:
    success = results["success"].train.per_seed if "success" in results else None
    best_blind = max((scores["success"] for scores in blind.values()), default=None)
    return {
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


def _with_training_seeds(verdict: Verdict, seeds: Sequence[int]) -> Verdict:
    """Name seeds by their training seed instead of their position."""
    named = {
        key: [seeds[place] for place in verdict.details[key]]
        for key in ("dropped_seeds", "held_seeds")
        if key in verdict.details
    }
    return replace(verdict, details={**verdict.details, **named})


def _extra(
    train: Rows,
    sides: Mapping[str, Rows],
    blind: Mapping[str, Rows],
    gap: GapResult,
    floor: NoiseFloor,
) -> Extra:
    metric, level = gap.metric, gap.settings.level
    heldout = next(iter(sides.values()))
    if len(sides) > 1:  # an average of several sides is no longer 0 or 1
        metric = replace(metric, binary=False)
        heldout = [np.mean(group, axis=0) for group in zip(*sides.values(), strict=True)]
    means = {
        name: metric.sign * np.mean([row.mean() for row in rows]) for name, rows in blind.items()
    }
    best = max(means, key=means.get, default=None)
    normalized = None
    if best is not None:
        normalized = normalized_gap(train, heldout, blind[best], metric, level=level)
    per_seed = gap.train.per_seed
    new_seeds = gap.interval if per_seed.size >= FEWEST_SEEDS else None
    if per_seed.size == 2:
        new_seeds = split_gap(train, sides, gap.metric, level=level, scope="algorithm").interval
    return Extra(
        relative=relative_gap(train, heldout, metric, level=level),
        normalized=normalized,
        baseline=best,
        detectable=smallest_detectable(gap, floor),
        labels=seed_labels(per_seed, gap.per_seed) if per_seed.size > 1 else None,
        new_seeds=new_seeds,
    )


def _collapse(verdict: Verdict, seeds: int) -> dict[str, Any]:
    """How many seeds lost clearly, and the largest rate of such seeds compatible with that."""
    collapsed = len(verdict.details.get("dropped_seeds", ()))
    return {
        "collapsed": collapsed,
        "seeds": seeds,
        "rate_up_to": collapse_bound(seeds, collapsed),
    }


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


def _suite_results(pairs: Sequence[PairResult], metrics: Sequence[str]) -> dict[str, Any]:
    """Return the suite-level parts of a report: means, worst pairs and verdict."""
    strata = strata_of(pairs)
    axes_of = {result.name: result.pair.axis for result in pairs}
    mean, axes = {}, {}
    for metric in metrics:
        gaps: dict[str, GapResult] = {result.name: result.results[metric] for result in pairs}
        mean[metric] = suite_gap(gaps, strata)
        axes[metric] = axis_gaps(gaps, axes_of, strata)
    primary = pairs[0].pair.metric
    floor = suite_floor({result.name: result.floors[primary] for result in pairs}, strata)
    verdicts: dict[str, Verdict] = {result.name: result.verdict for result in pairs}
    gaps = {result.name: result.results[primary] for result in pairs}
    worst = tuple(worst_pairs(gaps, k, strata) for k in WORST if k < len(pairs))
    seeds = min(len(result.seeds) for result in pairs)
    new_seeds = mean[primary].interval if seeds >= FEWEST_SEEDS else None
    if seeds == 2:
        new_seeds = suite_gap(gaps, strata, scope="algorithm").interval
    verdict = judge_suite(mean[primary], floor, verdicts)
    if len({result.seeds for result in pairs}) == 1:
        verdict = _with_training_seeds(verdict, pairs[0].seeds)
    return {
        "mean": mean,
        "axes": axes,
        "verdict": verdict,
        "worst": worst,
        "detectable": smallest_detectable(mean[primary], floor),
        "new_seeds": new_seeds,
    }
