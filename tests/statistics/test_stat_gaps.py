"""Gaps of one pair: sign, pairing, dropped episodes, several held-out sides, arms."""

import numpy as np
import pytest

from harness.statistics import SUCCESS, Metric, arm_interval, paired_gap, split_gap, wilson

OPEN = Metric("distance", scale=490.0)
RNG = np.random.default_rng(0)
TRAIN = RNG.normal(400, 40, (4, 20))
HELDOUT = TRAIN - 100 + RNG.normal(0, 10, (4, 20))


def test_gap_keeps_its_sign():
    assert paired_gap(TRAIN, HELDOUT, OPEN).interval.point > 90
    assert paired_gap(HELDOUT, TRAIN, OPEN).interval.point < -90


def test_a_loss_is_positive_where_lower_is_better():
    steps = Metric("steps", scale=100.0, direction="lower")
    gap = paired_gap([[10.0, 12.0]], [[30.0, 33.0]], steps)
    assert gap.interval.point == 20.5
    assert gap.train.interval.point == 11.0


def test_equal_episodes_give_exactly_zero():
    scores = RNG.normal(size=(3, 50)) / 3
    gap = paired_gap(scores, scores.copy(), OPEN)
    assert (gap.interval.point, gap.interval.low, gap.interval.high) == (0.0, 0.0, 0.0)


def test_pairing_by_episode_narrows_the_interval():
    paired = paired_gap(TRAIN, HELDOUT, OPEN, scope="checkpoint")
    apart = paired_gap(TRAIN, HELDOUT, OPEN, scope="checkpoint", paired=False)
    assert paired.interval.point == pytest.approx(apart.interval.point)
    assert apart.interval.width > 3 * paired.interval.width


def test_unpaired_arms_may_differ_in_length():
    gap = paired_gap([TRAIN[0]], [HELDOUT[0, :7]], OPEN, paired=False)
    expected = TRAIN[0].var(ddof=1) / 20 + HELDOUT[0, :7].var(ddof=1) / 7
    assert gap.within_variance == pytest.approx([expected])
    assert gap.differences is None


def test_unpaired_success_uses_smoothed_shares():
    gap = paired_gap([np.ones(8)], [np.zeros(6)], SUCCESS, paired=False)
    expected = 0.9 * 0.1 / 8 + (1 / 8) * (7 / 8) / 6
    assert gap.within_variance == pytest.approx([expected])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("arm", [0, 1])
def test_a_bad_episode_is_dropped_from_both_arms_and_counted(bad, arm):
    arms = [TRAIN.copy(), HELDOUT.copy()]
    arms[arm][2, 5] = bad
    gap = paired_gap(*arms, OPEN)
    clean = [
        [np.delete(row, 5) if seed == 2 else row for seed, row in enumerate(side)]
        for side in (TRAIN, HELDOUT)
    ]
    assert gap.interval == paired_gap(*clean, OPEN).interval
    assert (gap.dropped, gap.total) == (1, 80)
    assert gap.sizes == (20, 20, 19, 20)
    assert gap.train.per_seed[2] == pytest.approx(np.delete(TRAIN[2], 5).mean())


def test_more_than_one_percent_dropped_is_a_problem():
    train = np.zeros((2, 100))
    train[0, :2] = np.nan
    assert paired_gap(train, np.zeros((2, 100)), OPEN).problems == ()
    train[1, 0] = np.nan
    assert "3 of 200 episodes" in paired_gap(train, np.zeros((2, 100)), OPEN).problems[0]


def test_a_missing_seed_is_a_problem_and_the_rest_is_still_counted():
    train = TRAIN.copy()
    train[1] = np.nan
    gap = paired_gap(train, HELDOUT, OPEN)
    assert gap.seeds == (0, 2, 3)
    assert "training seed 1" in gap.problems[0]
    assert gap.interval.seeds == 3


def test_no_valid_episode_at_all_gives_no_number():
    gap = paired_gap(np.full((2, 4), np.nan), np.zeros((2, 4)), OPEN)
    assert gap.interval is None
    assert gap.problems
    assert "no training seed" in gap.reason


@pytest.mark.parametrize(
    ("train", "heldout", "metric", "message"),
    [
        (np.ones(5), np.ones(5), SUCCESS, r"train: needs shape \[seeds, episodes\]"),
        (np.ones((2, 5)), np.ones((3, 5)), SUCCESS, "train has 2, heldout has 3"),
        (np.ones((2, 5)), np.ones((2, 4)), SUCCESS, "seed 0: train 5, heldout 4"),
        ([], [], SUCCESS, "no training seeds"),
        (np.full((1, 4), 0.5), np.ones((1, 4)), SUCCESS, "train: success is declared binary"),
        (np.ones((1, 4)), np.full((1, 4), 3.0), Metric("tiles", bounds=(0, 1)), "heldout: tiles"),
    ],
)
def test_input_that_does_not_fit_is_refused_by_name(train, heldout, metric, message):
    with pytest.raises(ValueError, match=message):
        paired_gap(train, heldout, metric)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "up"}, "direction: 'up' is unknown.*higher, lower"),
        ({"scale": 0.0}, "scale: 0.0"),
        ({"bounds": (1.0, 0.0)}, "bounds"),
    ],
)
def test_a_metric_that_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Metric("x", **options)


def test_bounded_metrics_are_clipped_and_open_ones_are_not():
    train, heldout = np.array([[1.0], [1.0], [0.4]]), np.zeros((3, 1))
    assert paired_gap(train, heldout, Metric("tiles", bounds=(0, 1))).interval.high == 1.0
    assert paired_gap(train, heldout, Metric("progress")).interval.high > 1.0


def test_one_checkpoint_success_rate_gets_the_wilson_interval():
    arm = arm_interval([np.r_[np.ones(30), np.zeros(2)]], SUCCESS)
    assert (arm.interval.low, arm.interval.high) == pytest.approx(wilson(30, 32))
    assert arm.interval.method == "wilson"
    assert arm_interval(np.zeros((1, 50)), SUCCESS).interval.high > 0.05


def test_arms_of_several_seeds_use_the_spread_over_seeds():
    arm = arm_interval(np.repeat([[0.0], [1.0], [1.0]], 16, axis=1), SUCCESS)
    assert arm.interval.scope == "algorithm"
    assert (arm.interval.low, arm.interval.high) == (0.0, 1.0)
    assert arm.per_seed.tolist() == [0, 1, 1]


def test_the_gap_carries_both_arms():
    gap = paired_gap(TRAIN, HELDOUT, OPEN)
    assert gap.train.interval == arm_interval(TRAIN, OPEN).interval
    assert gap.heldout.interval == arm_interval(HELDOUT, OPEN).interval


def test_several_heldout_sides_average_within_a_seed():
    other = HELDOUT - 50
    split = split_gap(TRAIN, {"near": HELDOUT, "far": other}, OPEN)
    near, far = paired_gap(TRAIN, HELDOUT, OPEN), paired_gap(TRAIN, other, OPEN)
    assert split.per_seed == pytest.approx((near.per_seed + far.per_seed) / 2)
    assert split.sides["far"].interval == far.interval
    assert split.train.interval == near.train.interval
    assert split.heldout.per_seed == pytest.approx(((HELDOUT + other) / 2).mean(axis=1))
    alone = split_gap(TRAIN, {"near": HELDOUT}, OPEN)
    assert alone.interval == near.interval


def test_several_sides_do_not_count_shared_episodes_twice():
    # The same side given three times carries no more evidence than once.
    train = (RNG.random((1, 64)) < 0.9).astype(float)
    held = (RNG.random((1, 64)) < 0.5).astype(float)
    once = paired_gap(train, held, SUCCESS).interval
    thrice = split_gap(train, {"a": held, "b": held, "c": held}, SUCCESS).interval
    assert thrice.width == pytest.approx(once.width, rel=0.05)


def test_several_all_equal_success_sides_keep_the_interval_open():
    for seeds in (1, 3):
        ones = np.ones((seeds, 16))
        assert split_gap(ones, {"a": ones, "b": ones}, SUCCESS).interval.width > 0
        assert split_gap(ones, {"a": 1 - ones, "b": 1 - ones}, SUCCESS).interval.width > 0


def test_no_heldout_side_is_refused():
    with pytest.raises(ValueError, match="heldouts: no held-out side"):
        split_gap(TRAIN, {}, OPEN)


def test_a_million_episodes_stay_small():
    scores = np.ones((10, 100_000))
    gap = paired_gap(scores, scores, SUCCESS)
    assert 0 < gap.interval.width < 1e-4
