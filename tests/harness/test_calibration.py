"""Simulated runs from end to end: the reports of policies whose true gap is known."""

import numpy as np
import pytest
from harness_probes import ProbeConfig, agents, probe_pair
from simulated_runs import simulated

from harness import evaluate
from harness.reporting.gate import Rule

pytestmark = pytest.mark.slow

GAPS = ("seed-dependent", "consistent-gap", "gap-within-spread", "checkpoint-gap")


def rates(rng, mean, sd, shape):
    """Success rates of training seeds: Beta distributed with this mean."""
    weight = mean * (1 - mean) / sd**2 - 1
    return rng.beta(mean * weight, (1 - mean) * weight, shape)


def covered(reports, truth):
    intervals = [report.pairs[0].gap["success"] for report in reports]
    assert all(one.low < one.high for one in intervals)
    return np.mean([one.low <= truth <= one.high for one in intervals])


def test_a_policy_that_ignores_the_picture_has_no_gap_in_any_run():
    level = np.full((20, 3), 0.8)
    for report in simulated(level, level[:, :, None], 32):
        assert report.pairs[0].gap["success"].point == 0


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_the_interval_holds_the_known_gap_at_the_stated_rate(seeds):
    """200 runs each: a coverage of 0.95 gives at least 0.91 in all but one case in a hundred."""
    rng = np.random.default_rng(seeds)
    shape = (200, seeds)
    if seeds == 1:  # this checkpoint: its own rates are the truth
        train, heldout = np.full(shape, 0.9), np.full(shape, 0.6)
    else:
        train, heldout = rates(rng, 0.93, 0.03, shape), rates(rng, 0.56, 0.15, shape)
    truth = 0.3 if seeds == 1 else 0.37
    assert covered(simulated(train, heldout[:, :, None], 32), truth) >= 0.91


@pytest.mark.slow
def test_no_shift_raises_no_alarm():
    """Equal success on both sides, but other draws: a gap beyond noise in at most 5 of 100 runs."""
    for seeds in (1, 3):
        level = np.full((100, seeds), 0.7)
        reports = list(simulated(level, level[:, :, None], 128, shared=False))
        alarms = sum(report.pairs[0].verdict.name in GAPS for report in reports)
        assert alarms <= 5
        points = np.array([report.pairs[0].gap["success"].point for report in reports])
        assert 0.35 < np.mean(points > 0) < 0.65


@pytest.mark.slow
def test_many_pairs_without_a_shift_raise_no_alarm_either():
    """34 pairs, gate on every one at no loss at all: at most 1 of 10 runs fails."""
    level = np.full((10, 3), 0.7)
    sides = np.full((10, 3, 34), 0.7)
    rules = [Rule("success", 0.0, "pairs")]
    reports = list(simulated(level, sides, 64, rules=rules, shared=False))
    assert sum(report.gates[0].status == "fail" for report in reports) <= 1


def test_a_simulated_run_is_what_the_harness_measures():
    """The batched shortcut and a real evaluation of the same policies agree."""
    config = ProbeConfig(grey=100.0)
    base = 0.05
    report = next(iter(simulated(np.full((1, 3), (1 - base) ** 3), np.full((1, 3, 1), 0.5), 64)))
    real = evaluate(agents(3, base, 0.0)[:1] * 1, probe_pair(grey=config.grey), episodes=64)
    simulated_train = report.pairs[0].results["success"].train.per_seed[0]
    assert simulated_train == real.pairs[0].results["success"].train.per_seed[0]
