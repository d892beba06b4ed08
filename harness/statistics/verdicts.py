"""From numbers to a verdict: one table, first match wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from harness.statistics import wording
from harness.statistics.floor import NoiseFloor, Spread, collapse_bound, competence_threshold
from harness.statistics.power import needed_to_decide
from harness.statistics.results import GapResult, spread_sd
from harness.statistics.samples import F64, row_mean
from harness.statistics.suite import SuiteResult

VERDICTS = (
    "invalid",
    "untrained",
    "seed-dependent",
    "eval-better",
    "generalizes",
    "consistent-gap",
    "gap-within-spread",
    "within-noise",
    "checkpoint-gap",
)
HETEROGENEITY_P = 0.01
LOW_SHARE = 0.1  # both sides below this share of the scale: little left to lose


@dataclass(frozen=True)
class Verdict:
    """A verdict with its reason, the next step, and what belongs beside it.

    flags    short names for machines: suggestive, this_checkpoint_only, training_instability,
             `2_of_5_untrained`, rough_spread, aa_exceeded, degenerate, few_episodes, ...
    notes    sentences that qualify the verdict
    details  the numbers that decided it; JSON-ready
    """

    name: str
    reason: str
    next_step: str
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Words for a table: `consistent gap`, `seed-dependent (2 of 5 seeds fail)`."""
        if self.name == "seed-dependent":
            dropped = len(self.details["dropped_seeds"])  # type: ignore[arg-type]
            fail = "fail" if dropped != 1 else "fails"
            return f"seed-dependent ({dropped} of {self.details['seeds']} seeds {fail})"
        keep = ("seed-dependent", "eval-better")
        return self.name if self.name in keep else self.name.replace("-", " ")


def verdict_row(
    low: float,
    high: float,
    point: float,
    *,
    floor: float,
    tolerance: float | None,
    spread: float | None,
    invalid: bool = False,
    untrained: bool = False,
    seed_dependent: bool = False,
    checkpoint: bool = False,
) -> str:
    """The verdict table alone. low, point, high: the gap with its interval.

    tolerance None: `generalizes` cannot be reached. checkpoint: the rows that speak of several
    seeds collapse into `checkpoint-gap`.
    """
    if invalid:
        return "invalid"
    if untrained:
        return "untrained"
    if seed_dependent and not checkpoint:
        return "seed-dependent"
    if high < -floor:
        return "eval-better"
    if tolerance is not None and high <= tolerance:
        return "generalizes"
    if low > floor:
        if checkpoint:
            return "checkpoint-gap"
        return "consistent-gap" if point > (spread or 0.0) else "gap-within-spread"
    return "within-noise"


def judge(
    gap: GapResult | SuiteResult,
    floor: NoiseFloor,
    spread: Spread | float | None,
    *,
    success: Sequence[float] | F64 | None = None,
    competence: float | None = None,
    blind: float | None = None,
    invalid: Sequence[str] = (),
) -> Verdict:
    """Verdict on one pair (or suite) and metric.

    spread: of the train scores over seeds, as from `seed_spread` or as its value; None for one
    seed. success: f64[S] train-side success of the same seeds, by which competence is judged for
    every metric; None leaves it unjudged and marks the verdict. competence: the level to reach,
    by default from `blind`, the success of the best blind policy. invalid: reasons found elsewhere
    (leaks, training side, self-test). ValueError for a two-seed interval in algorithm scope.
    """
    interval = gap.interval
    if interval is not None and "no_verdict" in interval.flags:
        raise ValueError(
            "scope: no verdict for new seeds from two training seeds; judge in checkpoint scope"
        )
    facts = _facts(gap, floor, spread, invalid)
    flags = _competence(facts, success, competence, blind)
    checkpoint = facts["scope"] == "checkpoint"
    if gap.per_seed.size >= 3 and not checkpoint:
        _split_seeds(gap, facts)
        _nothing_to_lose(gap, facts, success)
    if interval is None and not facts["invalid"]:
        name = "untrained" if facts["untrained"] else "within-noise"
    else:
        name = verdict_row(
            facts["low"] or 0.0, facts["high"] or 0.0, facts["point"] or 0.0,
            floor=floor.value, tolerance=floor.tolerance, spread=facts["spread"],
            invalid=bool(facts["invalid"]), untrained=facts["untrained"],
            seed_dependent=facts["seed_dependent"], checkpoint=checkpoint,
        )  # fmt: skip
    flags += _flags(gap, name, facts, floor, spread)
    if name == "within-noise" and interval is not None:
        facts["needed"] = needed_to_decide(gap, floor.tolerance or 0.0).sentence()
    return finish(name, facts, flags, gap.metric.show)


def judge_suite(
    result: SuiteResult,
    floor: NoiseFloor,
    pair_verdicts: Mapping[str, Verdict] | Mapping[str, str],
    *,
    invalid: Sequence[str] = (),
) -> Verdict:
    """Verdict on a mean over pairs: invalid if any pair is, untrained if most of them are."""
    names = {key: getattr(value, "name", value) for key, value in pair_verdicts.items()}
    broken = [key for key, name in names.items() if name == "invalid"]
    found = list(invalid) + ([f"invalid pairs: {', '.join(broken)}"] if broken else [])
    untrained = sum(name == "untrained" for name in names.values())
    if not found and not result.problems and untrained * 2 > len(names):
        facts = _facts(result, floor, result.spread, ())
        facts["untrained"] = True
        text = f"{wording.of(untrained, len(names), 'pair')} are untrained."
        return Verdict("untrained", text, wording.next_step("untrained", facts), (), (), facts)
    return judge(result, floor, result.spread, invalid=found)


def heterogeneity(per_seed: F64, variances: F64 | None) -> tuple[float, float] | None:
    """Cochran's Q of per-seed gaps against episode noise, and its p-value.

    Q = sum (d_s - mean)^2 / mean(v_s), chi-squared with S - 1 degrees of freedom. Without episode
    noise any difference is certain. None where the noise is unknown.
    """
    if variances is None or per_seed.size < 2:
        return None
    ranked = np.sort(per_seed)
    squares = float(((ranked - row_mean(ranked)) ** 2).sum())
    noise = float(np.mean(variances))
    if noise == 0.0:
        return (0.0, 1.0) if ranked[0] == ranked[-1] else (float(np.finfo(float).max), 0.0)
    q = squares / noise
    return q, float(special.chdtrc(per_seed.size - 1, q))


def unstable_training(train: F64, dropped: Iterable[int], held: Iterable[int]) -> bool:
    """The seeds that drop are also weaker in training, by more than one SD over all seeds."""
    weak, strong = train[list(dropped)], train[list(held)]
    if weak.size == 0 or strong.size == 0 or train.size < 2:
        return False
    return bool(weak.mean() < strong.mean() - spread_sd(train))


def finish(name: str, facts: dict, flags: Sequence[str], show: wording.Show) -> Verdict:
    """Put the words to a verdict."""
    return Verdict(
        name,
        wording.reason(name, facts, show),
        wording.next_step(name, facts),
        tuple(flags),
        wording.notes(name, facts, flags),
        facts,
    )


def _facts(
    gap: GapResult | SuiteResult,
    floor: NoiseFloor,
    spread: Spread | float | None,
    invalid: Sequence[str],
) -> dict:
    interval = gap.interval
    value = spread.value if isinstance(spread, Spread) else spread
    seeds = interval.seeds if interval else gap.per_seed.size
    return {
        "point": interval.point if interval else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "scope": interval.scope if interval else "checkpoint",
        "seeds": seeds,
        "episodes": interval.episodes if interval else None,
        "floor": floor.value,
        "tolerance": floor.tolerance,
        "spread": value,
        "invalid": [*gap.problems, *invalid],
        "no_interval": gap.reason,
        "untrained": False,
        "untrained_seeds": 0,
        "seed_dependent": False,
        "dropped_seeds": [],
        "held_seeds": [],
    }


def _competence(
    facts: dict,
    success: Sequence[float] | F64 | None,
    competence: float | None,
    blind: float | None,
) -> list[str]:
    if success is None:
        return ["competence_unverified"]
    scores = np.asarray(success, dtype=np.float64)
    level = competence_threshold(blind) if competence is None else competence
    below = int((scores < level).sum())
    facts["competence"] = level
    facts["untrained_seeds"] = below
    facts["untrained"] = below * 2 > scores.size
    return [f"{below}_of_{scores.size}_untrained"] if below else []


def _split_seeds(gap: GapResult | SuiteResult, facts: dict) -> None:
    """Which seeds drop, which hold, and whether that is more than episode noise."""
    floor, spread = facts["floor"], facts["spread"] or 0.0
    for seed, (value, own) in enumerate(zip(gap.per_seed, gap.per_seed_intervals, strict=True)):
        label = int(gap.seeds[seed]) if isinstance(gap, GapResult) else seed
        if value <= floor:
            facts["held_seeds"].append(label)
        elif value > spread and (own is None or own.low > floor):
            facts["dropped_seeds"].append(label)
    facts["collapse_bound"] = None if facts["dropped_seeds"] else collapse_bound(gap.per_seed.size)
    mixed = bool(facts["dropped_seeds"] and facts["held_seeds"])
    test = heterogeneity(gap.per_seed, gap.within_variance)
    if test is not None:
        facts["q"], facts["q_p_value"] = test
        mixed = mixed and test[1] < HETEROGENEITY_P
    facts["seed_dependent"] = mixed
    train = _train_scores(gap)
    if train is not None and mixed:
        order = list(gap.seeds) if isinstance(gap, GapResult) else list(range(train.size))
        groups = [[order.index(s) for s in facts[key]] for key in ("dropped_seeds", "held_seeds")]
        turned = gap.metric.sign * train
        facts["training_instability"] = unstable_training(turned, *groups)


def _nothing_to_lose(
    gap: GapResult | SuiteResult, facts: dict, success: Sequence[float] | F64 | None
) -> None:
    """Whether every seed that holds up only does so because it has not learned the task."""
    known = isinstance(gap, GapResult) and success is not None and len(success) == len(gap.seeds)
    if not known or not facts["held_seeds"]:
        return
    scores = dict(zip((int(seed) for seed in gap.seeds), success, strict=True))
    held = [scores[seed] for seed in facts["held_seeds"]]
    facts["held_untrained"] = all(score < facts["competence"] for score in held)


def _train_scores(gap: GapResult | SuiteResult) -> F64 | None:
    if isinstance(gap, GapResult):
        return gap.train.per_seed
    return gap.strata[0].train if len(gap.strata) == 1 else None


def _flags(
    gap: GapResult | SuiteResult,
    name: str,
    facts: dict,
    floor: NoiseFloor,
    spread: Spread | float | None,
) -> list[str]:
    interval, metric = gap.interval, gap.metric
    rough = isinstance(spread, Spread) and spread.rough
    train = _train_scores(gap)
    checks = {
        "suggestive": name == "within-noise" and (facts["low"] or 0.0) > 0,
        "this_checkpoint_only": facts["scope"] == "checkpoint" and name != "invalid",
        "training_instability": name == "seed-dependent" and facts.get("training_instability"),
        "rough_spread": rough and facts["scope"] == "algorithm",
        "no_train_spread": train is not None and train.size > 1 and spread_sd(train) == 0,
        "aa_exceeded": floor.aa_exceeded,
        "degenerate": interval is not None and interval.degenerate,
        "both_sides_low": isinstance(gap, GapResult) and _both_low(gap),
        "few_episodes": interval is not None and 0 < interval.episodes < metric.min_episodes,
        "no_interval": interval is None,
    }
    return [flag for flag, true in checks.items() if true]


def _both_low(gap: GapResult) -> bool:
    """Both sides score near the bottom, so that a small gap means little."""
    bounds = gap.metric.bounds
    if bounds is None or gap.metric.sign < 0 or gap.heldout.per_seed.size == 0:
        return False
    reach = bounds[0] + LOW_SHARE * (bounds[1] - bounds[0])
    return bool(max(gap.train.per_seed.mean(), gap.heldout.per_seed.mean()) < reach)
