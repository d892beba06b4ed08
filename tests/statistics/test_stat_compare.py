"""Two policies, a saved baseline, and narrow against wide training."""

import numpy as np
import pytest
from scipy import stats

from harness.statistics import (
    SUCCESS,
    Metric,
    against_baseline,
    compare_policies,
    gap_difference,
    paired_gap,
    probability_of_improvement,
    widening,
)
from harness.statistics.intervals import Interval

OPEN = Metric("score")
RNG = np.random.default_rng(0)


def rates(values, episodes=128, seed=0):
    levels = np.random.default_rng(seed).random((len(values), episodes))
    return (levels < np.array(values)[:, None]).astype(float)


def interval(low, high):
    return Interval((low + high) / 2, low, high, 0.95, "algorithm", "welch-t", 5, 128)


def test_difference_of_independent_seeds_is_welch():
    first, second = RNG.normal(1.0, 0.3, (5, 1)), RNG.normal(0.2, 0.6, (4, 1))
    found = compare_policies(first, second, OPEN).difference
    known = stats.ttest_ind(first[:, 0], second[:, 0], equal_var=False).confidence_interval()
    assert [found.low, found.high] == pytest.approx([known.low, known.high])
    assert found.method == "welch-t"


def test_bootstrap_of_independent_seeds_is_close_to_welch():
    for sizes in ((5, 5), (10, 12)):
        first, second = (RNG.normal(0, 1, (size, 1)) for size in sizes)
        welch = compare_policies(first, second, OPEN).difference
        drawn = compare_policies(first, second, OPEN, method="bootstrap-t-scaled").difference
        assert drawn.width == pytest.approx(welch.width, rel=0.35)
        again = compare_policies(first, second, OPEN, method="bootstrap-t-scaled").difference
        assert again == drawn


def test_swapping_the_policies_flips_the_sign():
    first, second = RNG.normal(1, 0.3, (5, 8)), RNG.normal(0, 0.3, (4, 8))
    forth, back = compare_policies(first, second, OPEN), compare_policies(second, first, OPEN)
    assert back.difference.low == pytest.approx(-forth.difference.high)
    assert back.improvement.low == pytest.approx(1 - forth.improvement.high)


def test_lower_is_better_turns_the_difference():
    steps = Metric("steps", direction="lower")
    result = compare_policies([[10.0]] * 2 + [[11.0]], [[20.0]] * 2 + [[21.0]], steps)
    assert result.difference.point == pytest.approx(10.0)
    assert result.improvement.point == 1.0


def test_equal_numbers_do_not_pair_training_seeds():
    levels = np.linspace(0.0, 1.0, 5)[:, None]
    result = compare_policies(levels + 0.01, levels, OPEN)
    assert result.difference.low < -0.3  # pairing would claim certainty


def test_success_difference_is_never_closed():
    ones = np.ones((3, 32))
    assert compare_policies(ones, ones, SUCCESS).difference.width > 0
    assert compare_policies(ones[:1], ones[:1], SUCCESS).difference.width > 0


def test_shared_levels_narrow_the_comparison_of_two_checkpoints():
    first, second = rates([0.8]), rates([0.75])
    apart = compare_policies(first, second, SUCCESS).difference
    shared = compare_policies(first, second, SUCCESS, paired_levels=True).difference
    assert apart.scope == shared.scope == "checkpoint"
    assert shared.point == apart.point
    assert shared.width < 0.7 * apart.width


def test_single_scores_of_one_policy_each_cannot_be_compared():
    result = compare_policies([[1.0]], [[0.0]], OPEN)
    assert result.difference is None
    assert result.improvement is None
    assert "no interval" in result.reason


def test_probability_of_improvement_is_mann_whitney():
    first, second = RNG.normal(0.5, 1, 6), RNG.normal(0, 1, 8)
    found = probability_of_improvement(first, second)
    u = stats.mannwhitneyu(first, second).statistic
    assert found.point == pytest.approx(u / 48)
    assert found.low < found.point < found.high
    assert probability_of_improvement(np.ones(3), np.ones(3)).point == 0.5


def test_probability_of_improvement_stays_open_at_the_ends():
    for seeds in (3, 5, 10):
        sure = probability_of_improvement(np.arange(seeds) + 100.0, np.arange(seeds) * 1.0)
        assert sure.point == sure.high == 1.0
        assert 0 < sure.low < 0.9
    assert probability_of_improvement(np.ones(2), np.zeros(9)) is None


def test_probability_of_improvement_covers_the_truth():
    rng = np.random.default_rng(1)
    for seeds in (3, 5):
        covered = 0
        for _ in range(200):
            shift = stats.norm.ppf(0.8) * np.sqrt(2)
            found = probability_of_improvement(rng.normal(shift, 1, seeds), rng.normal(0, 1, seeds))
            covered += found.low <= 0.8 <= found.high
        assert covered >= 186


@pytest.mark.parametrize(
    ("low", "high", "status"),
    [
        (0.06, 0.2, "regressed"),
        (0.02, 0.2, "inconclusive"),
        (-0.02, 0.05, "held"),
        (-0.3, -0.1, "improved"),
        (-0.3, 0.3, "inconclusive"),
    ],
)
def test_a_change_against_a_baseline_is_named(low, high, status):
    assert against_baseline(interval(low, high), 0.05).status == status


def test_runs_that_do_not_match_are_incompatible():
    result = against_baseline(interval(0, 1), 0.05, incompatible="suite digests differ")
    assert result.status == "incompatible"
    assert result.change is None
    assert against_baseline(None, 0.05).status == "inconclusive"
    with pytest.raises(ValueError, match="allowed: -1"):
        against_baseline(None, -1)


def test_the_same_policies_again_have_held():
    for seeds in (1, 3, 5):
        train, held = rates([0.9] * seeds, seed=1), rates([0.6] * seeds, seed=2)
        gap = paired_gap(train, held, SUCCESS)
        change = gap_difference(gap, gap, same_policies=True)
        assert change.point == 0.0
        assert change.width > 0
        assert against_baseline(change, 0.05).status == "held"


def test_a_worse_gap_is_a_regression():
    train = rates([0.95] * 5, seed=1)
    before = paired_gap(train, rates([0.9, 0.92, 0.88, 0.91, 0.9], seed=1), SUCCESS)
    after = paired_gap(train, rates([0.4, 0.42, 0.38, 0.41, 0.4], seed=1), SUCCESS)
    assert against_baseline(gap_difference(after, before), 0.05).status == "regressed"
    assert against_baseline(gap_difference(before, after), 0.05).status == "improved"


def test_gaps_of_different_metrics_or_seeds_are_not_subtracted():
    one = paired_gap(np.ones((3, 8)), np.ones((3, 8)), SUCCESS)
    other = paired_gap(np.ones((3, 8)), np.ones((3, 8)), OPEN)
    with pytest.raises(ValueError, match="metric: success against score"):
        gap_difference(one, other)
    fewer = paired_gap(np.ones((2, 8)), np.ones((2, 8)), SUCCESS)
    with pytest.raises(ValueError, match="different training seeds"):
        gap_difference(one, fewer, same_policies=True)


def test_widening_that_closes_the_gap_keeps_its_prediction():
    train = rates([0.95] * 5, seed=1)
    narrow = paired_gap(train, rates([0.2, 0.25, 0.3, 0.2, 0.22], seed=1), SUCCESS)
    wide = paired_gap(train, rates([0.9, 0.91, 0.92, 0.9, 0.93], seed=1), SUCCESS)
    result = widening(narrow, wide)
    assert result.prediction_held is True
    assert result.shrinkage.low > 0.5
    assert widening(narrow, narrow).prediction_held is None
    assert widening(wide, narrow).prediction_held is False


def test_widening_that_ruins_training_breaks_its_prediction():
    narrow = paired_gap(rates([0.95] * 5), rates([0.2, 0.25, 0.3, 0.2, 0.22]), SUCCESS)
    wide = paired_gap(rates([0.4, 0.41, 0.42, 0.4, 0.38]), rates([0.4] * 5), SUCCESS)
    assert widening(narrow, wide).prediction_held is False
