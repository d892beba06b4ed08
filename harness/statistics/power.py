"""How much evidence a question needs, before a run and after one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from harness.statistics.bootstrap import t_quantile
from harness.statistics.floor import NoiseFloor
from harness.statistics.metric import SUCCESS, Metric
from harness.statistics.results import GapResult
from harness.statistics.suite import SuiteResult

MAX_SEEDS = 100
MAX_EPISODES = 10_000
TYPICAL_SEED_SD = 0.05  # assumed spread of gaps between seeds, before anything is measured
TYPICAL_TRAIN = 0.93
TYPICAL_CORRELATION = 0.6  # latent correlation of the two sides' outcomes on shared levels
USEFUL_POWER = 0.5


@dataclass(frozen=True)
class Needed:
    """What would settle a question: one of the two is enough. None where that alone would not."""

    seeds: int | None
    episodes: int | None

    def sentence(self) -> str:
        parts = []
        if self.seeds is not None:
            parts.append(f"{self.seeds} training seeds")
        if self.episodes is not None:
            parts.append(f"{self.episodes} episodes")
        if not parts:
            return "more data would hardly decide it: the gap lies too close to the threshold"
        return f"about {' or '.join(parts)} would decide it"


@dataclass(frozen=True)
class Evidence:
    """What decides an interval's width: spread over seeds, and noise of one seed's mean."""

    point: float
    between_sd: float
    noise_variance: float
    seeds: int
    episodes: int
    scope: str
    level: float

    def half_width(self, seeds: int, episodes: int) -> float:
        """Approximate half-width with other numbers of seeds and episodes."""
        upper = 1.0 - (1.0 - self.level) / 2.0
        noise = self.noise_variance * self.episodes / episodes if self.episodes else 0.0
        guard = 0.0
        if noise:
            dof = max(1, seeds * (episodes - 1))
            guard = t_quantile(upper, dof) * math.sqrt(noise / seeds)
        if self.scope == "checkpoint":
            return guard
        own = max(0.0, self.between_sd**2 - self.noise_variance)
        spread = math.sqrt((own + noise) / seeds)
        if not self.episodes:
            spread = self.between_sd / math.sqrt(seeds)
        return max(guard, t_quantile(upper, seeds - 1) * spread)


def evidence(result: GapResult | SuiteResult) -> Evidence | None:
    """Read the widths behind a result; None where it has no interval."""
    interval = result.interval
    if interval is None:
        return None
    seeds = interval.seeds
    scale = math.sqrt(seeds)
    return Evidence(
        interval.point,
        (result.seed_error or 0.0) * scale,
        ((result.noise_error or 0.0) * scale) ** 2,
        seeds,
        interval.episodes if result.noise_error else 0,
        interval.scope,
        interval.level,
    )


def needed_to_decide(result: GapResult | SuiteResult, threshold: float) -> Needed:
    """Training seeds, or episodes per seed, at which the interval would clear the threshold.

    Assumes that the gap and its variances stay what they were measured to be. Episodes are rounded
    up to two digits. In checkpoint scope only episodes count.
    """
    facts = evidence(result)
    if facts is None:
        return Needed(3, None)
    distance = abs(facts.point - threshold)
    seeds = None
    if facts.scope == "algorithm":
        candidates = range(max(3, facts.seeds + 1), MAX_SEEDS + 1)
        episodes = facts.episodes or 1
        seeds = next((n for n in candidates if facts.half_width(n, episodes) < distance), None)
    return Needed(seeds, _episodes(facts, distance))


def smallest_detectable(
    result: GapResult | SuiteResult, floor: NoiseFloor, power: float = 0.8
) -> float | None:
    """Smallest true gap that a run like this one would call real with the given probability."""
    facts = evidence(result)
    if facts is None:
        return None
    half = facts.half_width(facts.seeds, facts.episodes or 1)
    if facts.scope == "algorithm":
        dof: float = facts.seeds - 1
    else:
        dof = max(1, facts.seeds * (facts.episodes - 1))
    upper = 1.0 - (1.0 - facts.level) / 2.0
    error = half / t_quantile(upper, dof)
    return floor.value + half + t_quantile(power, dof) * error


def success_variance(train: float, heldout: float, correlation: float) -> float:
    """Variance of one paired success difference under a Gaussian copula with this correlation."""
    share = min(max(correlation, 0.0), 1.0 - 1e-9)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()

    def given(rate: float) -> np.ndarray:
        cut = special.ndtri(min(max(rate, 1e-12), 1 - 1e-12))
        return special.ndtr((cut - math.sqrt(share) * nodes) / math.sqrt(1.0 - share))

    both = float((weights * given(train) * given(heldout)).sum())
    return train + heldout - 2.0 * both - (train - heldout) ** 2


def power_to_exceed(
    gap: float,
    threshold: float,
    seeds: int,
    episodes: int,
    *,
    between_sd: float = TYPICAL_SEED_SD,
    train: float = TYPICAL_TRAIN,
    correlation: float = TYPICAL_CORRELATION,
    level: float = 0.95,
    pairs: int = 1,
) -> float:
    """Probability that the interval of a success gap lies wholly on the gap's side of a threshold.

    Above it for gap > threshold, below it for gap < threshold. Three seeds or more; noncentral t
    with the variance of paired successes. With `pairs` the tail is shared out among them, the
    worst case of a correction for many pairs.
    """
    heldout = min(max(train - gap, 0.0), 1.0)
    variance = between_sd**2 + success_variance(train, heldout, correlation) / episodes
    noncentral = abs(gap - threshold) / math.sqrt(variance / seeds)
    critical = t_quantile(1.0 - (1.0 - level) / 2.0 / pairs, seeds - 1)
    return 1.0 - float(special.nctdtr(seeds - 1, min(noncentral, 35.0), critical))


def best_case_half_width(seeds: int, episodes: int, level: float = 0.95) -> float:
    """Half-width of a success gap without a single differing episode: nothing is narrower."""
    dof = max(1, seeds * (episodes - 1))
    error = math.sqrt(2.0 / (episodes + 2) ** 2 / seeds)
    return t_quantile(1.0 - (1.0 - level) / 2.0, dof) * error


def plan_message(
    threshold: float,
    seeds: int,
    episodes: int,
    *,
    pairs: int = 1,
    metric: Metric = SUCCESS,
    level: float = 0.95,
) -> str | None:
    """One sentence where the chosen seeds and episodes cannot, or will seldom, decide a gate.

    pairs > 1 means a gate on every one of them. None where the plan is sound, or where the metric
    is not a success rate and nothing can be said before measuring.
    """
    if not metric.binary:
        return None
    asked = f"{metric.title} gap {metric.show(threshold)}"
    plan = f"{_count(seeds, 'training seed')} and {episodes} episodes"
    half = best_case_half_width(seeds, episodes, level)
    if half > threshold:
        return (
            f"{plan} cannot pass a gate at {asked}: even without a single difference between the "
            f"sides the interval reaches {metric.show(half)}"
        )
    if seeds < 3:
        return None
    common = {"level": level, "seeds": seeds, "episodes": episodes}
    fails = power_to_exceed(threshold + 0.1, threshold, pairs=pairs, **common)
    passes = power_to_exceed(0.0, threshold, **common)
    if min(fails, passes) >= USEFUL_POWER:
        return None
    per_pair = f" on each of {pairs} pairs" if pairs > 1 else ""
    return (
        f"{plan} will seldom decide a gate at {asked}{per_pair}: if gaps vary by "
        f"{TYPICAL_SEED_SD} between seeds, a true gap of {metric.show(threshold + 0.1)} fails in "
        f"{fails:.0%} of runs and a true gap of 0 passes in {passes:.0%}"
    )


def _episodes(facts: Evidence, distance: float) -> int | None:
    if not facts.episodes:
        return None
    low, high = facts.episodes, MAX_EPISODES
    if high <= low or facts.half_width(facts.seeds, high) >= distance:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if facts.half_width(facts.seeds, middle) < distance:
            high = middle
        else:
            low = middle
    unit = 10 ** max(0, len(str(high)) - 2)
    return -(-high // unit) * unit


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
