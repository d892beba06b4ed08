"""Means over pairs: seeds are resampled jointly, whatever the number of pairs."""

import numpy as np
import pytest

from harness.statistics import (
    SUCCESS,
    Metric,
    axis_gaps,
    paired_gap,
    split_gap,
    suite_gap,
    worst_pairs,
)

OPEN = Metric("score")


def from_means(columns, metric=OPEN, **options):
    """One gap per column of per-seed means, without episode noise."""
    return {
        name: paired_gap(np.asarray(col)[:, None], np.zeros((len(col), 1)), metric, **options)
        for name, col in columns.items()
    }


TWO = {"a": [0.1, 0.2, 0.6], "b": [0.3, 0.2, 0.4]}


def test_pairs_are_averaged_inside_a_seed_first():
    suite = suite_gap(from_means(TWO))
    assert suite.per_seed == pytest.approx([0.2, 0.2, 0.5])
    assert suite.interval.point == pytest.approx(0.3)
    expected = [0.031135, 0.837729]
    assert [suite.interval.low, suite.interval.high] == pytest.approx(expected, abs=1e-6)
    assert suite.pair_points == pytest.approx([0.3, 0.3])


def test_pairs_on_the_same_policies_are_not_treated_as_independent():
    suite = suite_gap(from_means(TWO), method="percentile").interval
    assert [suite.low, suite.high] == pytest.approx([0.2, 0.5])
    independent = [0.183333, 0.433333]
    assert abs(suite.high - independent[1]) > 0.05


def test_copies_of_a_pair_add_no_evidence():
    one = suite_gap(from_means({"a": [0.1, 0.2, 0.6]})).interval
    many = suite_gap(from_means({str(i): [0.1, 0.2, 0.6] for i in range(34)})).interval
    assert (many.low, many.high) == pytest.approx((one.low, one.high))


def test_separately_trained_sets_of_policies_form_strata():
    gaps = from_means(
        {"a0": [0.1, 0.2, 0.3], "a1": [0.1, 0.2, 0.3], "a2": [0.1, 0.2, 0.3], "b": [0, 0, 0.3]}
    )
    suite = suite_gap(gaps, {"a0": "A", "a1": "A", "a2": "A", "b": "B"})
    assert suite.interval.point == pytest.approx(0.175)
    assert suite.seed_error == pytest.approx(0.05)
    assert suite.seed_dof == pytest.approx(3.2)
    expected = [0.021359, 0.328641]
    assert [suite.interval.low, suite.interval.high] == pytest.approx(expected, abs=1e-6)


def test_strata_support_the_percentile_for_comparison():
    gaps = from_means({"a": [0.1, 0.2, 0.3], "b": [0, 0, 0.3]})
    bare = suite_gap(gaps, {"a": "A", "b": "B"}, method="percentile").interval
    full = suite_gap(gaps, {"a": "A", "b": "B"}).interval
    assert full.low < bare.low < bare.point < bare.high < full.high


def test_order_of_pairs_changes_nothing():
    gaps = from_means(TWO)
    back = dict(reversed(gaps.items()))
    assert suite_gap(back).interval == suite_gap(gaps).interval


def test_one_pair_is_its_own_suite():
    rng = np.random.default_rng(0)
    train, held = (rng.random((2, 3, 32)) < 0.7).astype(float)
    gap = paired_gap(train, held, SUCCESS)
    suite = suite_gap({"only": gap})
    assert (suite.interval.low, suite.interval.high) == pytest.approx(
        (gap.interval.low, gap.interval.high)
    )


def test_episode_noise_of_a_row_counts_shared_episodes_once():
    rng = np.random.default_rng(0)
    train = (rng.random((1, 128)) < 0.9).astype(float)
    held = (rng.random((1, 128)) < 0.5).astype(float)
    gap = paired_gap(train, held, SUCCESS)
    same = suite_gap({str(i): gap for i in range(8)})
    assert same.interval.scope == "checkpoint"
    assert same.within_variance == pytest.approx(gap.within_variance, rel=0.05)
    fresh = {}
    for i in range(8):
        other = (rng.random((1, 128)) < 0.5).astype(float)
        fresh[str(i)] = paired_gap((rng.random((1, 128)) < 0.9).astype(float), other, SUCCESS)
    assert suite_gap(fresh).within_variance < gap.within_variance / 4


@pytest.mark.parametrize("seeds", [1, 2, 3, 5])
@pytest.mark.parametrize("strata", [None, {"a": "A", "b": "B"}])
def test_suite_mean_of_success_never_closes(seeds, strata):
    ones = np.ones((seeds, 16))
    gaps = {"a": paired_gap(ones, ones, SUCCESS), "b": paired_gap(ones, 1 - ones, SUCCESS)}
    suite = suite_gap(gaps, strata)
    assert suite.interval.width > 0
    assert suite.interval.scope == ("algorithm" if seeds >= 3 else "checkpoint")
    assert worst_pairs(gaps, 1, strata).interval.width > 0


def test_dropped_episodes_of_one_pair_leave_the_others_lined_up():
    rng = np.random.default_rng(0)
    train, zeros = rng.normal(size=(3, 200)), np.zeros((3, 200))
    holed = train.copy()
    holed[1, [7, 199]] = np.nan
    suite = suite_gap({"a": paired_gap(train, zeros, OPEN), "b": paired_gap(holed, zeros, OPEN)})
    expected = [np.var(row[np.isfinite(row)], ddof=1) for row in holed]
    counts = np.array([200, 198, 200])
    assert suite.within_variance == pytest.approx(np.array(expected) / counts)
    assert suite.problems == ()


def test_a_seed_missing_from_one_pair_is_told():
    rng = np.random.default_rng(0)
    train = rng.normal(size=(4, 10))
    broken = train.copy()
    broken[1] = np.nan
    zeros = np.zeros((4, 10))
    suite = suite_gap({"a": paired_gap(train, zeros, OPEN), "b": paired_gap(broken, zeros, OPEN)})
    assert suite.interval.seeds == 3
    assert any("training seed 1 is missing" in text for text in suite.problems)


def test_single_episodes_of_two_seeds_give_a_reason():
    suite = suite_gap(from_means({"a": [0.1, 0.2], "b": [0.3, 0.2]}))
    assert suite.interval is None
    assert "one episode" in suite.reason


def test_each_axis_is_a_suite_of_its_own():
    gaps = from_means(TWO | {"c": [0.5, 0.6, 0.7]})
    axes = axis_gaps(gaps, {"a": "filters", "b": "filters", "c": "layout"})
    assert list(axes) == ["filters", "layout"]
    assert axes["filters"].interval == suite_gap(from_means(TWO)).interval
    with pytest.raises(ValueError, match="no axis for pair 'c'"):
        axis_gaps(gaps, {"a": "filters", "b": "filters"})


def test_worst_pairs_are_the_largest_mean_gaps():
    gaps = from_means({"mild": [0.1, 0.0, 0.2], "bad": [0.8, 0.7, 0.9], "worse": [0.9, 0.9, 0.8]})
    worst = worst_pairs(gaps, 2)
    assert worst.pairs == ("worse", "bad")
    assert worst.points == pytest.approx((0.8666667, 0.8))
    assert worst.interval.point == pytest.approx(0.8333333)
    assert worst.interval.low <= worst.interval.point <= worst.interval.high
    one = worst_pairs(gaps, 1)
    # Resamples may name another pair as worst, so the interval is not that of the named one.
    assert one.interval.point == pytest.approx(0.8666667)
    with pytest.raises(ValueError, match="4 worst pairs of 3"):
        worst_pairs(gaps, 4)


def test_worst_pair_of_one_checkpoint_is_marked_as_selected():
    gaps = {"a": paired_gap(np.ones((1, 16)), np.zeros((1, 16)), SUCCESS)}
    assert "selected" in worst_pairs(gaps).interval.flags


def test_split_pairs_enter_a_suite_like_others():
    rng = np.random.default_rng(0)
    train = (rng.random((3, 32)) < 0.9).astype(float)
    held = (rng.random((3, 32)) < 0.5).astype(float)
    gaps = {
        "split": split_gap(train, {"x": held, "y": train}, SUCCESS),
        "pair": paired_gap(train, held, SUCCESS),
    }
    suite = suite_gap(gaps)
    assert suite.interval.point == pytest.approx(0.75 * gaps["pair"].interval.point)


def test_two_seeds_in_algorithm_scope_carry_no_verdict():
    rng = np.random.default_rng(0)
    arms = rng.normal(size=(2, 2, 8))
    gap = paired_gap(*arms, OPEN)
    for strata in (None, {"a": "A", "b": "B"}):
        suite = suite_gap({"a": gap, "b": gap}, strata, scope="algorithm")
        assert "no_verdict" in suite.interval.flags


@pytest.mark.parametrize(
    ("gaps", "strata", "message"),
    [
        ({}, None, "no pairs"),
        (from_means(TWO), {"a": "A"}, "no policy set for pair 'b'"),
        (
            from_means({"a": [1.0, 2.0, 3.0]})
            | from_means({"b": [1.0, 2.0, 3.0]}, Metric("distance")),
            None,
            "several metrics",
        ),
    ],
)
def test_suites_that_do_not_fit_are_refused(gaps, strata, message):
    with pytest.raises(ValueError, match=message):
        suite_gap(gaps, strata)
