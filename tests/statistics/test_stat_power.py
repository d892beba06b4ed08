"""How much evidence is enough, before and after a run."""

import re

import numpy as np
import pytest

from harness.statistics import (
    SUCCESS,
    Metric,
    needed_to_decide,
    noise_floor,
    paired_gap,
    plan_message,
    power_to_exceed,
    smallest_detectable,
    suite_gap,
)
from harness.statistics.power import best_case_half_width, success_variance


def drawn(rates, held, episodes, seed=0):
    levels = np.random.default_rng(seed).random((len(rates), episodes))
    return [(levels < np.array(rate)[:, None]).astype(float) for rate in (rates, held)]


# Simulated power of one pair: P(lower end > 0) at a gap of .10, P(lower end > .1) at .20.
# Rates were clipped to [0, 1] there, which narrows the widest spreads.
@pytest.mark.parametrize(
    ("spread", "seeds", "episodes", "above_zero", "above_tau"),
    [
        (0.02, 3, 128, 0.65, 0.55),
        (0.02, 5, 32, 0.66, 0.52),
        (0.02, 5, 128, 0.99, 0.97),
        (0.05, 3, 128, 0.37, 0.33),
        (0.05, 5, 32, 0.52, 0.41),
        (0.05, 5, 128, 0.81, 0.75),
        (0.05, 10, 32, 0.93, 0.87),
        (0.10, 3, 128, 0.16, 0.15),
        (0.10, 5, 128, 0.37, 0.34),
        (0.10, 10, 128, 0.84, 0.75),
    ],
)
def test_power_agrees_with_simulation(spread, seeds, episodes, above_zero, above_tau):
    zero = power_to_exceed(0.10, 0.0, seeds, episodes, between_sd=spread)
    tau = power_to_exceed(0.20, 0.1, seeds, episodes, between_sd=spread)
    assert zero == pytest.approx(above_zero, abs=0.09)
    assert tau == pytest.approx(above_tau, abs=0.09)


def test_paired_success_variance_agrees_with_simulation():
    rng = np.random.default_rng(0)
    common, own = rng.normal(size=(1, 200_000)), rng.normal(size=(2, 200_000))
    latent = np.sqrt(0.6) * common + np.sqrt(0.4) * own
    train, held = latent[0] < 1.4758, latent[1] < 0.6128  # rates .93 and .73
    simulated = np.var(train.astype(float) - held)
    assert success_variance(0.93, 0.73, 0.6) == pytest.approx(simulated, abs=0.004)
    assert success_variance(0.9, 0.4, 0.0) == pytest.approx(0.09 + 0.24, abs=1e-6)


def test_what_is_said_to_be_needed_does_decide():
    train, held = drawn([0.95] * 4, [0.90, 0.80, 0.88, 0.84], 64)
    gap = paired_gap(train, held, SUCCESS)
    assert gap.interval.low < 0.05 < gap.interval.high
    needed = needed_to_decide(gap, 0.05)
    assert needed.seeds > 4
    more = paired_gap(
        np.tile(train, (needed.seeds // 4 + 1, 1)),
        np.tile(held, (needed.seeds // 4 + 1, 1)),
        SUCCESS,
    )
    assert more.interval.low > 0.05


def test_more_episodes_help_only_against_episode_noise():
    rng = np.random.default_rng(0)
    scattered = np.repeat(rng.permutation([0.0, 0.2, 0.4, 0.6])[:, None], 64, axis=1)
    gap = paired_gap(scattered + rng.normal(0, 0.01, (4, 64)), scattered * 0, Metric("score"))
    needed = needed_to_decide(gap, 0.2)
    assert needed.episodes is None
    assert needed.seeds is not None
    assert "episodes" not in needed.sentence()


def test_episodes_suffice_where_seeds_differ_by_episode_noise_only():
    train, held = np.zeros((3, 32)), np.zeros((3, 32))
    for row, other, lost, won in zip(train, held, (5, 4, 6), (1, 2, 0), strict=True):
        row[:lost] = 1.0
        other[lost : lost + won] = 1.0
    needed = needed_to_decide(paired_gap(train, held, SUCCESS), 0.1)
    assert (needed.seeds, needed.episodes) == (43, 2100)


def test_many_pairs_leave_less_power_for_each():
    alone = power_to_exceed(0.3, 0.1, 3, 128)
    among = power_to_exceed(0.3, 0.1, 3, 128, pairs=34)
    assert alone > 0.6
    assert among < 0.15


def test_one_checkpoint_is_told_episodes_only():
    train, held = drawn([0.95], [0.85], 32)
    needed = needed_to_decide(paired_gap(train, held, SUCCESS), 0.05)
    assert needed.seeds is None
    assert needed.episodes > 32
    assert "seeds" not in needed.sentence()


def test_a_gap_at_the_threshold_cannot_be_decided_by_more_data():
    scores = np.array([[0.0], [0.1], [0.2]])
    gap = paired_gap(scores, np.zeros((3, 1)), Metric("score"))
    needed = needed_to_decide(gap, gap.interval.point)
    assert needed.seeds is None
    assert needed.episodes is None
    assert "too close" in needed.sentence()


def test_suites_are_told_what_they_need_as_well():
    gaps = {
        name: paired_gap(*drawn([0.95] * 3, [0.9, 0.7, 0.85], 64, seed), SUCCESS)
        for seed, name in enumerate("ab")
    }
    for strata in (None, {"a": "A", "b": "B"}):
        assert needed_to_decide(suite_gap(gaps, strata), 0.05).seeds > 3


def test_no_interval_needs_three_seeds():
    gap = paired_gap([[1.0]], [[0.5]], Metric("score"))
    assert needed_to_decide(gap, 0.1).seeds == 3
    assert smallest_detectable(gap, noise_floor([[1.0]], Metric("score"))) is None


def test_smallest_detectable_gap_shrinks_with_evidence():
    found = []
    for episodes in (32, 128, 1024):
        train, held = drawn([0.9] * 5, [0.9] * 5, episodes)
        gap = paired_gap(train, held[:, ::-1], SUCCESS)
        found.append(smallest_detectable(gap, noise_floor(train, SUCCESS)))
    assert found == sorted(found, reverse=True)
    assert found[-1] > 0.05


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"seeds": 1, "episodes": 16}, "cannot pass.*0.17"),
        ({"seeds": 3, "episodes": 128}, "seldom decide"),
        ({"seeds": 3, "episodes": 128, "pairs": 34}, "each of 34 pairs"),
    ],
)
def test_a_plan_that_cannot_decide_is_told_before_it_runs(plan, words):
    message = plan_message(0.10, **plan)
    assert message is not None
    assert re.search(words, message)


@pytest.mark.parametrize("plan", [(5, 128, 1), (10, 128, 34), (1, 512, 1)])
def test_a_sound_plan_is_not_commented(plan):
    seeds, episodes, pairs = plan
    assert plan_message(0.10, seeds, episodes, pairs=pairs) is None


def test_nothing_is_predicted_for_unmeasured_metrics():
    assert plan_message(10.0, 3, 8, metric=Metric("distance", scale=490.0)) is None


def test_best_case_is_an_interval_without_a_single_difference():
    ones = np.ones((3, 16))
    interval = paired_gap(ones, ones, SUCCESS, scope="checkpoint").interval
    assert best_case_half_width(3, 16) == pytest.approx(interval.high)
