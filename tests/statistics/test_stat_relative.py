"""Gaps as shares, and when there is none."""

import numpy as np
import pytest

from harness.statistics import SUCCESS, Metric, normalized_gap, paired_gap, relative_gap

SCORE = Metric("score", scale=1000.0)
RETURN = Metric("return", scale=2600.0, ratio=False)
TRAIN = np.array([850.0, 920.0, 780.0, 910.0, 840.0])[:, None]
GAPS = np.array([180.0, 105.0, 325.0, 110.0, 195.0])[:, None]


@pytest.mark.parametrize(
    ("method", "expected"),
    [("percentile", [0.135255, 0.312958]), ("bootstrap-t-scaled", [0.089991, 0.371435])],
)
def test_share_is_a_ratio_of_means(method, expected):
    share = relative_gap(TRAIN, TRAIN - GAPS, SCORE, method=method).interval
    assert share.point == pytest.approx(0.212791, abs=1e-6)
    assert [share.low, share.high] == pytest.approx(expected, abs=1e-6)


def test_a_train_score_of_zero_has_no_share():
    share = relative_gap(np.zeros((3, 8)), np.zeros((3, 8)), SUCCESS)
    assert share.interval is None
    assert share.reason == "denominator"


def test_a_train_score_that_may_be_zero_has_no_share():
    scores = np.array([[1.0, 0, 0, 0], [0.0, 0, 0, 0], [1.0, 1, 0, 0]])
    assert relative_gap(scores, np.zeros((3, 4)), SUCCESS).reason == "denominator"


def test_a_train_score_whose_interval_reaches_zero_has_no_share():
    # Every resample of these seeds is positive, yet a new seed might well not be.
    scores = np.array([[100.0], [500.0], [900.0]])
    assert relative_gap(scores, scores / 2, SCORE).reason == "denominator"
    assert relative_gap(scores, scores / 2, SCORE, method="percentile").interval is not None


def test_a_train_score_within_tolerance_of_zero_has_no_share():
    scores = np.full((3, 1), 40.0)
    assert relative_gap(scores, scores / 2, SCORE).reason == "denominator"
    assert relative_gap(scores, scores / 2, SCORE, tolerance=10.0).interval.point == 0.5


def test_return_never_has_a_plain_share():
    assert relative_gap(TRAIN, TRAIN - GAPS, RETURN).reason == "sign"


def test_a_share_of_success_is_never_closed():
    ones = np.ones((3, 16))
    lost = relative_gap(ones, 1 - ones, SUCCESS).interval
    assert lost.point == 1.0
    assert lost.low < 1.0 == lost.high
    kept = relative_gap(ones, ones, SUCCESS).interval
    assert kept.low < 0 < kept.high
    # With a perfect train side the share is the gap, so is its noise.
    gap = paired_gap(ones, ones, SUCCESS).interval
    assert kept.high == pytest.approx(gap.high, rel=1e-9)


def test_one_checkpoint_has_a_share_from_episode_noise():
    rng = np.random.default_rng(3)
    train = (rng.random((1, 128)) < 0.9).astype(float)
    held = (rng.random((1, 128)) < 0.45).astype(float)
    share = relative_gap(train, held, SUCCESS).interval
    assert share.scope == "checkpoint"
    assert share.low < 0.5 < share.high
    assert 0.1 < share.width < 0.4


def test_share_keeps_its_sign():
    better = relative_gap(TRAIN, TRAIN + GAPS, SCORE).interval
    assert better.point == pytest.approx(-0.212791, abs=1e-6)
    assert better.high < 0


def test_normalized_gap_survives_negative_returns():
    rng = np.random.default_rng(0)
    train = rng.normal(-1000, 50, (5, 32))
    held, blind = train - 2000, np.full((5, 32), -5000.0)
    share = normalized_gap(train, held, blind, RETURN).interval
    assert share.point == pytest.approx(0.5, abs=0.02)
    assert share.low < 0.5 < share.high
    as_number = normalized_gap(train, held, -5000.0, RETURN).interval
    assert as_number.point == pytest.approx(share.point)


def test_no_gain_over_the_blind_baseline_has_no_share():
    rng = np.random.default_rng(0)
    train = (rng.random((3, 64)) < 0.6).astype(float)
    blind = (rng.random((3, 64)) < 0.6).astype(float)
    share = normalized_gap(train, 1 - train, blind, SUCCESS)
    assert share.interval is None
    assert share.reason == "denominator"


def test_share_works_where_lower_is_better():
    steps = Metric("steps", scale=100.0, direction="lower")
    train, held = np.full((3, 4), 20.0), np.full((3, 4), 30.0)
    assert relative_gap(train, held, steps).interval.point == pytest.approx(0.5)
    assert normalized_gap(train, held, 40.0, steps).interval.point == pytest.approx(0.5)


def test_too_little_evidence_gives_a_reason_not_a_number():
    assert relative_gap([[1.0]], [[0.5]], Metric("progress")).reason == "episodes"
    pair = np.ones((2, 16))
    assert relative_gap(pair, pair, SUCCESS, scope="algorithm").reason == "seeds"
