"""The noise floor, the seed spread, and the bound on collapses that were not seen."""

import numpy as np
import pytest

from harness.statistics import (
    SUCCESS,
    Metric,
    collapse_bound,
    competence_threshold,
    measured_aa,
    noise_floor,
    replay_check,
    seed_spread,
    suite_floor,
)

EXAMPLE = [850.0, 920.0, 780.0, 910.0, 840.0]


def successes(*counts, episodes=32):
    return np.array([[1.0] * k + [0.0] * (episodes - k) for k in counts])


def test_spread_of_the_example_is_two_sd_and_its_range_140():
    spread = seed_spread(EXAMPLE)
    assert spread.mean == 860.0
    assert spread.sd == pytest.approx(57.008771, abs=1e-6)
    assert spread.value == pytest.approx(114.017543, abs=1e-6)
    assert spread.range == 140.0
    assert spread.rough


def test_spread_needs_two_seeds_and_finite_scores():
    assert seed_spread([1.0]) is None
    assert seed_spread([0.1, 0.1, 0.1]).sd == 0.0
    assert not seed_spread(np.arange(10.0)).rough
    with pytest.raises(ValueError, match="train means"):
        seed_spread([1.0, np.nan])


def test_aa_floor_has_its_known_value():
    floor = noise_floor(successes(30, 31, 28), SUCCESS)
    assert floor.aa == pytest.approx(0.083482, abs=1e-6)
    assert floor.value == floor.aa
    assert floor.source == "aa"


def test_tolerance_is_the_least_floor():
    floor = noise_floor(np.ones((5, 512)), SUCCESS)
    assert (floor.value, floor.source) == (0.05, "tolerance")
    assert noise_floor(np.ones((5, 512)), SUCCESS, tolerance=0.2).value == 0.2
    assert noise_floor(np.ones((3, 64)) * 400, Metric("distance", scale=490)).value == 24.5
    with pytest.raises(ValueError, match="tolerance: -1"):
        noise_floor(np.ones((5, 8)), SUCCESS, tolerance=-1)


def test_aa_floor_is_exceeded_as_seldom_as_promised():
    rng = np.random.default_rng(0)
    # Odd and even halves of mediocre seeds: |measured| > floor in about 5 % of runs.
    scores = (rng.random((4000, 3, 64)) < 0.7).astype(float)
    share = np.minimum((scores.sum(-1) + 1) / 66, 1)
    floors = 1.959964 * np.sqrt(2 * (share * (1 - share) / 64).sum(-1)) / 3
    halves = (scores[..., ::2].mean(-1) - scores[..., 1::2].mean(-1)).mean(-1) / np.sqrt(2)
    assert 0.03 < np.mean(np.abs(halves) > floors) < 0.07
    for i in range(20):
        floor = noise_floor(scores[i], SUCCESS)
        assert floor.aa == pytest.approx(floors[i])
        assert floor.measured == pytest.approx(halves[i])
        assert floor.aa_exceeded == (abs(halves[i]) > floors[i])


def test_a_second_evaluation_can_stand_in_for_the_halves():
    first, again = successes(30, 31, 28), successes(10, 11, 12)
    assert measured_aa(first, again) == pytest.approx((89 - 33) / 96)
    assert noise_floor(first, SUCCESS, again=again).aa_exceeded
    assert measured_aa(np.ones((3, 1))) is None


def test_single_episodes_fall_back_to_the_seed_spread():
    floor = noise_floor(np.array(EXAMPLE)[:, None], Metric("score", scale=1000.0))
    assert floor.value == pytest.approx(114.017543, abs=1e-6)
    assert floor.source == "spread"
    assert noise_floor(np.ones((3, 1)), Metric("score")).source == "tolerance"


def test_floor_counts_valid_episodes_only():
    scores = successes(30, 31, 28)
    holes = np.concatenate([scores, np.full((3, 5), np.nan)], axis=1)
    assert noise_floor(holes, SUCCESS) == noise_floor(scores, SUCCESS)


def test_a_deterministic_policy_must_repeat_itself_exactly():
    scores = np.random.default_rng(0).normal(size=(2, 16))
    assert replay_check(scores, scores.copy()) is None
    other = scores.copy()
    other[1, 3] = np.nextafter(other[1, 3], 9)
    assert replay_check(scores, other) == "invalid"
    assert replay_check(scores, other, stochastic=True) == "stochastic_policy"
    with pytest.raises(ValueError, match="same seeds and episodes"):
        replay_check(scores, scores[:, :3])


@pytest.mark.parametrize(
    ("seeds", "bound"), [(1, 0.95), (3, 0.631597), (5, 0.450720), (10, 0.258866)]
)
def test_unseen_collapse_could_still_be_this_frequent(seeds, bound):
    assert collapse_bound(seeds) == pytest.approx(bound, abs=1e-6)


def test_collapse_bound_grows_with_collapsed_seeds():
    bounds = [collapse_bound(5, k) for k in range(6)]
    assert bounds == sorted(bounds)
    assert bounds[-1] == 1.0
    with pytest.raises(ValueError, match="collapsed: 6 of 5"):
        collapse_bound(5, 6)


@pytest.mark.parametrize(
    ("blind", "level"), [(None, 0.5), (0.1, 0.5), (0.59, 0.69), (0.94, 0.95), (1.0, 0.95)]
)
def test_competence_lies_above_the_best_blind_policy(blind, level):
    assert competence_threshold(blind) == pytest.approx(level)


def test_suite_floor_averages_shared_sides_and_squares_separate_ones():
    floors = {name: noise_floor(successes(30, 31, 28), SUCCESS) for name in "abcd"}
    assert suite_floor(floors).value == pytest.approx(0.083482, abs=1e-6)
    apart = suite_floor(floors, {name: name for name in "abcd"})
    assert apart.aa == pytest.approx(0.083482 / 2, abs=1e-6)
    assert apart.value == 0.05
    with pytest.raises(ValueError, match="no pairs"):
        suite_floor({})
