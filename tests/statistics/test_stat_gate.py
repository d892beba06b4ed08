"""The three-way gate, its p-values, and the correction for many pairs."""

import numpy as np
import pytest

from harness.statistics import (
    SUCCESS,
    Metric,
    adjusted_p_values,
    apply_verdicts,
    gap_p_value,
    pair_gate,
    paired_gap,
    suite_gap,
    suite_gate,
    three_way,
    worst_status,
)
from harness.statistics.gate import exceedance_p

OPEN = Metric("score")


def discordant(train_only, heldout_only, episodes):
    train, heldout = np.zeros(episodes), np.zeros(episodes)
    train[:train_only] = 1.0
    heldout[train_only : train_only + heldout_only] = 1.0
    return train, heldout


def success_gap(*seeds, **options):
    arms = [discordant(*seed) for seed in seeds]
    return paired_gap([a for a, _ in arms], [b for _, b in arms], SUCCESS, **options)


def mean_gap(values):
    return paired_gap(np.asarray(values, float)[:, None], np.zeros((len(values), 1)), OPEN)


THREE = ((5, 1, 32), (4, 2, 32), (6, 0, 32))


@pytest.mark.parametrize(
    ("low", "high", "status"),
    [
        (0.11, 0.3, "fail"),
        (0.10, 0.3, "inconclusive"),
        (0.0, 0.11, "inconclusive"),
        (0.0, 0.10, "pass"),
        (-0.5, -0.3, "pass"),
    ],
)
def test_gate_has_three_outcomes_and_the_threshold_passes(low, high, status):
    assert three_way(low, high, 0.10) == status


def test_known_p_values_of_three_seeds():
    gap = success_gap(*THREE)
    by_seeds = exceedance_p(gap.point, gap.seed_error, 2, None, 0, 0.1)
    by_noise = exceedance_p(gap.point, None, 0, gap.noise_error, gap.dof, 0.1)
    assert float(by_seeds) == pytest.approx(0.280029, abs=1e-6)
    assert float(by_noise) == pytest.approx(0.295466, abs=1e-6)
    assert gap_p_value(gap, 0.1) == pytest.approx(0.295466, abs=1e-6)


def test_known_gates_of_three_seeds():
    gap = success_gap(*THREE)
    undecided = suite_gate(gap, 0.1)
    assert undecided.status == "inconclusive"
    assert undecided.reason.startswith("0.12 [-0.04, 0.29]; about ")
    assert undecided.reason.endswith("would decide it")
    assert suite_gate(gap, 0.3).status == "pass"


def test_one_checkpoint_is_gated_on_episode_noise_alone():
    gap = success_gap((64, 0, 128))
    assert suite_gate(gap, 0.1).status == "fail"
    expected = exceedance_p(gap.point, None, 0, gap.noise_error, 127, 0.1)
    assert gap_p_value(gap, 0.1) == float(expected)
    assert gap_p_value(gap, 0.1) < 1e-6
    assert suite_gate(success_gap((5, 1, 16)), 0.1).status == "inconclusive"


def test_two_seeds_are_gated_as_checkpoints_and_not_as_an_algorithm():
    two = [(64, 0, 128), (60, 0, 128)]
    gap = success_gap(*two)
    assert suite_gate(gap, 0.1).status == "fail"
    assert suite_gate(success_gap(*two, scope="algorithm"), 0.1).status == "inconclusive"
    suite = suite_gap({"a": gap, "b": gap})
    assert suite.interval.scope == "checkpoint"
    assert suite_gate(suite, 0.1).status == "fail"


def test_no_spread_at_all_decides_by_the_number():
    assert gap_p_value(mean_gap([0.2, 0.2, 0.2]), 0.1) == 0.0
    assert gap_p_value(mean_gap([0.1, 0.1, 0.1]), 0.1) == 1.0


def test_p_values_work_on_arrays():
    points, errors = np.array([0.3, 0.1, 0.0]), np.array([0.05, 0.05, 0.0])
    p = exceedance_p(points, errors, 4, None, 0, 0.1)
    assert p[0] == pytest.approx(0.0080650, abs=1e-6)
    assert p[1:].tolist() == [0.5, 1.0]


def test_adjusted_p_values_are_those_of_benjamini_and_hochberg():
    adjusted = adjusted_p_values([0.001, 0.008, 0.039, 0.041, 0.27])
    assert adjusted == pytest.approx([0.005, 0.02, 0.05125, 0.05125, 0.27])


def test_a_suite_mean_fails_passes_or_waits():
    high = suite_gap({"a": success_gap(*[(100, 0, 128)] * 5)})
    low = suite_gap({"a": success_gap(*[(1, 0, 128)] * 5)})
    assert suite_gate(high, 0.1).status == "fail"
    assert suite_gate(low, 0.1).status == "pass"
    assert suite_gate(high, 0.1).target == "suite mean of 1 pairs"
    with pytest.raises(ValueError, match="threshold: nan"):
        suite_gate(low, float("nan"))


def test_every_pair_must_pass():
    good, bad = success_gap(*[(1, 0, 128)] * 5), success_gap(*[(100, 0, 128)] * 5)
    assert pair_gate({"a": good, "b": good}, 0.1).status == "pass"
    mixed = pair_gate({"a": good, "b": bad}, 0.1)
    assert mixed.status == "fail"
    assert mixed.outcomes["a"].status == "pass"
    assert mixed.reason == "1 of 2 pairs fail: b"
    with pytest.raises(ValueError, match="no pairs"):
        pair_gate({}, 0.1)


def test_a_pair_barely_above_fails_alone_but_not_among_many():
    barely = mean_gap([0.30, 0.36, 0.42, 0.33, 0.39])  # lower end just above the threshold
    threshold = barely.interval.low - 0.004
    crowd = {f"p{i}": mean_gap([0.0, 0.4, 0.1, 0.3, 0.2]) for i in range(33)}
    assert pair_gate({"one": barely}, threshold).status == "fail"
    among = pair_gate({"one": barely} | crowd, threshold)
    assert among.outcomes["one"].status == "inconclusive"
    assert "chance" in among.outcomes["one"].reason
    assert among.outcomes["one"].adjusted_p > 0.05 > among.outcomes["one"].p_value


def test_null_pairs_seldom_raise_a_false_alarm():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(60):
        gaps = {str(k): mean_gap(rng.normal(0.1, 0.05, 5)) for k in range(34)}
        alarms += pair_gate(gaps, 0.1).status == "fail"
    assert alarms <= 8  # about 3 in 100 expected; without a correction about 37


def test_broken_measurements_are_invalid_not_failed():
    train = np.full((3, 64), np.nan)
    gap = paired_gap(train, np.zeros((3, 64)), SUCCESS)
    assert suite_gate(gap, 0.1).status == "invalid"
    both = pair_gate({"a": gap, "b": success_gap(*[(100, 0, 128)] * 5)}, 0.1)
    assert both.status == "invalid"


def test_no_interval_is_inconclusive():
    gap = paired_gap([[1.0], [0.5]], [[0.0], [0.0]], OPEN)
    assert suite_gate(gap, 0.1).status == "inconclusive"
    assert gap_p_value(gap, 0.1) == 1.0


def test_the_worst_outcome_wins():
    assert worst_status(["pass", "inconclusive", "fail", "invalid"]) == "invalid"
    assert worst_status(["pass", "inconclusive", "fail"]) == "fail"
    assert worst_status(["pass", "inconclusive"]) == "inconclusive"
    assert worst_status(["pass", "pass"]) == "pass"
    with pytest.raises(ValueError, match="'failed' is unknown"):
        worst_status(["failed"])


def test_a_policy_that_learned_nothing_never_passes():
    assert apply_verdicts("pass", ["generalizes", "untrained"]) == "inconclusive"
    assert apply_verdicts("fail", ["untrained"]) == "fail"
    assert apply_verdicts("pass", ["generalizes", "invalid"]) == "invalid"
    assert apply_verdicts("pass", ["generalizes", "within-noise"]) == "pass"
