"""Intervals: exact reference numbers, edge rules, and properties on arbitrary data."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.statistics import SUCCESS, Metric, heterogeneity, paired_gap, wilson
from harness.statistics.intervals import seed_bounds, seed_interval, statistic_interval

OPEN = Metric("distance", scale=490.0)
EXAMPLE = np.array([180.0, 105.0, 325.0, 110.0, 195.0])


def discordant(train_only, heldout_only, episodes):
    """One seed's success arms with the given numbers of one-sided successes."""
    train, heldout = np.zeros(episodes), np.zeros(episodes)
    train[:train_only] = 1.0
    heldout[train_only : train_only + heldout_only] = 1.0
    return train, heldout


def success_gap(*seeds, **options):
    arms = [discordant(*seed) for seed in seeds]
    return paired_gap([a for a, _ in arms], [b for _, b in arms], SUCCESS, **options)


def ends(interval):
    return [interval.low, interval.high]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("percentile", [122.0, 256.0]),
        ("bootstrap-t-scaled", [86.389164, 298.616247]),
        ("t", [72.411713, 293.588287]),
    ],
)
def test_five_example_seeds_give_the_known_intervals(method, expected):
    interval = seed_interval(EXAMPLE, method=method)
    assert interval.point == pytest.approx(183.0)
    assert ends(interval) == pytest.approx(expected, abs=1e-6)
    assert EXAMPLE.std(ddof=1) == pytest.approx(89.064583, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "level", "percentile", "scaled"),
    [
        ([0.1, 0.2, 0.4], 0.95, [0.1, 0.4], [-0.125153, 0.681441]),
        ([0.0, 0.1, 0.1, 0.6], 0.95, [0.025, 0.475], [-0.128111, 0.715603]),
        ([0.05, 0.1, 0.12, 0.2, 0.33], 0.95, [0.084, 0.252], [0.039632, 0.305708]),
        ([0.05, 0.1, 0.12, 0.2, 0.33], 0.90, [0.092, 0.236], [0.061465, 0.270128]),
    ],
)
def test_small_samples_give_the_known_intervals(values, level, percentile, scaled):
    values = np.array(values)
    bare = seed_interval(values, level=level, method="percentile")
    assert ends(bare) == pytest.approx(percentile, abs=1e-9)
    assert ends(seed_interval(values, level=level)) == pytest.approx(scaled, abs=1e-6)


def test_t_interval_of_three_seeds_is_the_textbook_one():
    interval = seed_interval(np.array([0.1, 0.2, 0.4]), method="t")
    assert interval.point == pytest.approx(0.233333, abs=1e-6)
    assert ends(interval) == pytest.approx([-0.146125, 0.612792], abs=1e-6)


@pytest.mark.parametrize(
    ("counts", "variance", "expected"),
    [
        ((0, 0, 16), 0.006172840, [-0.167462, 0.167462]),
        ((16, 0, 16), 0.011659808, [0.769845, 1.0]),
        ((5, 1, 32), 0.006513332, [-0.039599, 0.289599]),
        ((13, 4, 128), 0.001087392, [0.005060, 0.135565]),
        ((0, 0, 128), 0.000118343, [-0.021527, 0.021527]),
        ((128, 0, 128), 0.000234866, [0.969674, 1.0]),
    ],
)
def test_one_checkpoint_gives_the_known_success_interval(counts, variance, expected):
    gap = success_gap(counts)
    assert gap.within_variance == pytest.approx([variance], abs=5e-10)
    assert ends(gap.interval) == pytest.approx(expected, abs=1e-6)
    assert gap.interval.scope == "checkpoint"


@pytest.mark.parametrize(
    ("counts", "seeds", "point", "expected"),
    [
        ((16, 0, 16), 3, 1.0, [0.874436, 1.0]),
        ((0, 0, 16), 3, 0.0, [-0.091362, 0.091362]),
        ((0, 0, 128), 10, 0.0, [-0.006749, 0.006749]),
    ],
)
def test_guard_keeps_a_success_interval_open(counts, seeds, point, expected):
    interval = success_gap(*[counts] * seeds).interval
    assert interval.point == point
    assert ends(interval) == pytest.approx(expected, abs=1e-6)
    assert interval.guard_active
    assert interval.width > 0


def test_three_seeds_give_the_known_numbers_in_both_scopes():
    seeds = [(5, 1, 32), (4, 2, 32), (6, 0, 32)]
    gap = success_gap(*seeds)
    assert gap.per_seed == pytest.approx([0.125, 0.0625, 0.1875])
    assert ends(gap.interval) == pytest.approx([-0.043040, 0.293040], abs=1e-6)
    assert not gap.interval.guard_active
    assert gap.interval.scope == "algorithm"
    percentile = success_gap(*seeds, method="percentile").interval
    assert ends(percentile) == pytest.approx([0.0625, 0.1875])
    checkpoint = success_gap(*seeds, scope="checkpoint").interval
    assert ends(checkpoint) == pytest.approx([0.032954, 0.217046], abs=1e-6)
    assert checkpoint.high - checkpoint.point == pytest.approx(0.092046, abs=1e-6)
    q, p = heterogeneity(gap.per_seed, gap.within_variance)
    assert (q, p) == pytest.approx((1.212089, 0.545504), abs=1e-6)


@pytest.mark.parametrize(
    ("successes", "trials", "expected"),
    [(0, 16, [0, 0.193608]), (16, 16, [0.806392, 1]), (30, 32, [0.798529, 0.982689])],
)
def test_wilson_interval_has_its_known_values(successes, trials, expected):
    assert wilson(successes, trials) == pytest.approx(expected, abs=1e-6)


def test_nothing_differs_is_flagged_and_not_widened_for_open_metrics():
    gap = paired_gap(np.full((5, 8), 0.1), np.full((5, 8), 0.3), OPEN)
    assert ends(gap.interval) == [gap.interval.point] * 2
    assert gap.interval.degenerate
    assert gap.interval.point == pytest.approx(-0.2)


def test_one_seed_refuses_the_algorithm_scope():
    with pytest.raises(ValueError, match="algorithm scope: needs at least 2"):
        success_gap((5, 1, 32), scope="algorithm")


def test_two_seeds_get_a_t_interval_that_carries_no_verdict():
    gap = success_gap((5, 1, 32), (9, 0, 32), scope="algorithm")
    half = 12.7062047 * np.std(gap.per_seed, ddof=1) / np.sqrt(2)
    assert ends(gap.interval) == pytest.approx(
        [max(-1, gap.interval.point - half), min(1, gap.interval.point + half)], abs=1e-6
    )
    assert gap.interval.flags == ("no_verdict",)
    assert success_gap((5, 1, 32), (9, 0, 32)).interval.scope == "checkpoint"


def test_single_episodes_leave_no_guard_and_no_checkpoint_scope():
    scores = np.array([[1.0], [2.0], [4.0]])
    gap = paired_gap(scores, np.zeros((3, 1)), OPEN)
    assert gap.within_variance is None
    assert not gap.interval.guard_active
    assert gap.per_seed_intervals == (None, None, None)
    alone = paired_gap(scores[:1], np.zeros((1, 1)), OPEN)
    assert alone.interval is None
    assert "one episode" in alone.reason


def test_single_success_episodes_never_have_zero_width():
    for seeds in (1, 2, 3, 5):
        interval = paired_gap(np.ones((seeds, 1)), np.ones((seeds, 1)), SUCCESS).interval
        assert interval.width > 0.5


def test_the_scaled_method_falls_back_to_percentile_ends_times_k():
    values = np.array([0.3, 0.1, 0.25, 0.2, 0.0])
    bare, scaled = (seed_interval(values, method=m) for m in ("percentile", "bootstrap-t-scaled"))
    assert scaled.point - scaled.low == pytest.approx(1.583784 * (bare.point - bare.low), abs=1e-6)
    assert scaled.high - scaled.point == pytest.approx(
        1.583784 * (bare.high - bare.point), abs=1e-6
    )


@pytest.mark.parametrize("method", ["bootstrap-t-scaled", "percentile", "t"])
def test_a_general_statistic_agrees_with_the_mean(method):
    values = np.random.default_rng(1).normal(size=6)
    mean = seed_interval(values, method=method)
    general = statistic_interval(values[:, None], lambda means: means[:, 0], method=method)
    assert ends(general) == pytest.approx(ends(mean), abs=1e-9)


def test_a_statistic_without_a_finite_value_has_no_interval():
    features = np.ones((4, 1))
    assert statistic_interval(features, lambda m: np.full(len(m), np.inf)) is None


def test_more_than_ten_seeds_are_drawn_and_repeatable():
    values = np.random.default_rng(0).normal(0.2, 0.1, size=14)
    first, again = seed_interval(values, seed=5), seed_interval(values, seed=5)
    assert first == again
    classic = seed_interval(values, method="t")
    assert first.low == pytest.approx(classic.low, abs=0.02)
    assert first.high == pytest.approx(classic.high, abs=0.02)
    assert seed_interval(values, seed=6) != first


def test_many_data_sets_at_once_equal_one_at_a_time():
    rng = np.random.default_rng(2)
    means, variances = rng.normal(0.1, 0.1, (20, 5)), rng.uniform(1e-4, 4e-3, (20, 5))
    point, low, high, active = seed_bounds(means, variances, 155.0)
    for i in range(20):
        one = seed_interval(means[i], variances[i], 155.0)
        assert (point[i], low[i], high[i]) == pytest.approx((one.point, one.low, one.high))
        assert bool(active[i]) == one.guard_active


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap"}, "method: 'bootstrap' is unknown.*bootstrap-t-scaled.*percentile"),
        ({"scope": "seeds"}, "scope: 'seeds' is unknown.*algorithm, checkpoint"),
        ({"level": 95}, "level: 95 is not a confidence level"),
    ],
)
def test_bad_settings_name_the_input_and_the_choices(options, message):
    with pytest.raises(ValueError, match=message):
        success_gap((5, 1, 32), **options)


# Properties. Multiples of 1/64 keep sums exact, so that equalities can be strict.
EIGHTHS = st.integers(-640, 640).map(lambda n: n / 64)
SAMPLES = st.integers(3, 6).flatmap(
    lambda s: st.tuples(*[hnp.arrays(np.float64, (s, 6), elements=EIGHTHS)] * 2)
)
QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(SAMPLES)
def test_swapping_the_arms_mirrors_the_interval(arms):
    train, heldout = arms
    forth = paired_gap(train, heldout, OPEN).interval
    back = paired_gap(heldout, train, OPEN).interval
    assert (back.point, back.low, back.high) == pytest.approx(
        (-forth.point, -forth.high, -forth.low), abs=1e-9
    )


@QUICK
@given(SAMPLES, st.randoms(use_true_random=False))
def test_order_of_seeds_and_episodes_changes_nothing(arms, random):
    train, heldout = arms
    seeds, episodes = list(range(len(train))), list(range(6))
    random.shuffle(seeds)
    random.shuffle(episodes)
    mixed = np.ix_(seeds, episodes)
    assert (
        paired_gap(train[mixed], heldout[mixed], OPEN).interval
        == paired_gap(train, heldout, OPEN).interval
    )


@QUICK
@given(SAMPLES, EIGHTHS)
def test_a_constant_shift_of_one_side_shifts_the_interval(arms, shift):
    train, heldout = arms
    before = paired_gap(train, heldout, OPEN).interval
    after = paired_gap(train + shift, heldout, OPEN).interval
    for end in ("point", "low", "high"):
        assert getattr(after, end) == pytest.approx(getattr(before, end) + shift, abs=1e-9)


@QUICK
@given(SAMPLES, st.sampled_from([0.25, 2.0, 10.0, 1000.0]))
def test_units_scale_the_interval(arms, factor):
    train, heldout = arms
    before = paired_gap(train, heldout, OPEN).interval
    after = paired_gap(train * factor, heldout * factor, OPEN).interval
    for end in ("point", "low", "high"):
        assert getattr(after, end) == pytest.approx(factor * getattr(before, end), abs=1e-6)


@QUICK
@given(SAMPLES, st.sampled_from(["bootstrap-t-scaled", "percentile", "t"]))
def test_interval_is_finite_repeatable_and_holds_its_point(arms, method):
    first = paired_gap(*arms, OPEN, method=method).interval
    assert first == paired_gap(*arms, OPEN, method=method).interval
    assert np.isfinite([first.point, first.low, first.high]).all()
    assert first.low <= first.point <= first.high


@QUICK
@given(SAMPLES, st.sampled_from(["bootstrap-t-scaled", "percentile", "t"]))
def test_a_higher_level_is_never_narrower(arms, method):
    widths = [
        paired_gap(*arms, OPEN, level=level, method=method).interval
        for level in (0.5, 0.8, 0.9, 0.95, 0.99)
    ]
    for narrow, wide in pairwise(widths):
        assert wide.low <= narrow.low + 1e-12
        assert wide.high >= narrow.high - 1e-12


@QUICK
@given(
    st.tuples(st.integers(1, 6), st.integers(1, 8)).flatmap(
        lambda shape: st.tuples(
            *[hnp.arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0]))] * 2
        )
    )
)
def test_success_intervals_stay_possible_and_never_close(arms):
    for method in ("bootstrap-t-scaled", "t"):
        gap = paired_gap(*arms, SUCCESS, method=method)
        for interval in (gap.interval, gap.train.interval, gap.heldout.interval):
            assert interval.low < interval.high
            assert interval.low <= interval.point <= interval.high
        assert gap.interval.low >= -1
        assert gap.interval.high <= 1
        assert gap.train.interval.low >= 0
        assert gap.train.interval.high <= 1
