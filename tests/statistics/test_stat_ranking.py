"""Places of axes: sure only where the training seeds say so."""

import numpy as np
import pytest
from scipy import stats

from harness.statistics import Metric, axis_gaps, paired_gap, rank_groups, suite_gap

OPEN = Metric("score")


def groups(columns, policies=None):
    """One group of one pair per column of per-seed gaps, without episode noise."""
    gaps = {
        name: paired_gap(np.asarray(col)[:, None], np.zeros((len(col), 1)), OPEN)
        for name, col in columns.items()
    }
    return axis_gaps(gaps, {name: name for name in columns}, policies)


def places(ranks):
    return {name: (one.place, one.low, one.high) for name, one in ranks.items()}


def test_a_difference_is_judged_on_the_same_seeds():
    # The seeds differ by 0.6, the two gaps within each seed always by about 0.1.
    columns = {"a": [0.1, 0.4, 0.7], "b": [0.0, 0.3, 0.61]}
    assert places(rank_groups(groups(columns))) == {"a": (1, 1, 1), "b": (2, 2, 2)}
    apart = rank_groups(groups(columns, {"a": "A", "b": "B"}))
    assert places(apart) == {"a": (1, 1, 2), "b": (2, 1, 2)}


def test_the_level_is_that_of_the_paired_t_test():
    a, b = np.array([0.3, 0.5, 0.4, 0.9]), np.array([0.2, 0.45, 0.1, 0.5])
    p = stats.ttest_rel(a, b).pvalue
    assert places(rank_groups(groups({"a": a, "b": b}), level=1 - 1.01 * p))["b"] == (2, 2, 2)
    assert places(rank_groups(groups({"a": a, "b": b}), level=1 - 0.99 * p))["b"] == (2, 1, 2)


def test_many_comparisons_ask_for_more():
    pair = {"a": [0.5, 0.6, 0.7], "b": [0.38, 0.51, 0.58]}  # p = 0.009 alone
    assert places(rank_groups(groups(pair)))["a"] == (1, 1, 1)
    rng = np.random.default_rng(0)
    noisy = {str(i): rng.normal(0.5, 0.5, 3) for i in range(4)}
    assert rank_groups(groups({**pair, **noisy}))["a"].high > rank_groups(groups(pair))["a"].high


def test_two_seeds_or_no_gap_leave_everything_open():
    assert places(rank_groups(groups({"a": [1.0, 1.0], "b": [0.0, 0.0]}))) == {
        "a": (1, 1, 2), "b": (2, 1, 2),
    }  # fmt: skip


def test_episode_noise_alone_can_leave_an_order_open():
    rng = np.random.default_rng(1)
    levels = (rng.random((2, 3, 16)) < 0.5).astype(float)
    from harness.statistics import SUCCESS

    gaps = {name: paired_gap(np.ones((3, 16)), one, SUCCESS)
            for name, one in zip("ab", levels, strict=True)}  # fmt: skip
    found = rank_groups({name: suite_gap({name: gap}) for name, gap in gaps.items()})
    assert {(one.low, one.high) for one in found.values()} == {(1, 2)}


@pytest.mark.parametrize("same", [True, False])
def test_the_true_places_lie_in_the_sets_as_often_as_claimed(same):
    truth = np.array([0.6, 0.5, 0.5, 0.2])  # two are equal: either may be second or third
    allowed = [(1, 1), (2, 3), (2, 3), (4, 4)]
    rng = np.random.default_rng(3)
    policies = None if same else {str(i): str(i % 2) for i in range(4)}
    held = narrow = 0
    for _ in range(120):
        seeds = rng.normal(0, 0.1, (5, 1)) + rng.normal(0, 0.05, (5, 4)) + truth
        found = rank_groups(groups({str(i): seeds[:, i] for i in range(4)}, policies))
        sets = [found[str(i)] for i in range(4)]
        held += all(
            one.low <= low and high <= one.high
            for one, (low, high) in zip(sets, allowed, strict=True)
        )
        narrow += sets[3].low > 1
    assert held >= 0.95 * 120 - 3 * np.sqrt(120 * 0.95 * 0.05)
    assert narrow > 60, "sets that hold everything would always be right"
