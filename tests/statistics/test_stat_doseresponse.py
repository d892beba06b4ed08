"""Gaps along an ordered axis."""

import numpy as np
import pytest

from harness.statistics import (
    SUCCESS,
    Metric,
    dose_response,
    half_loss_dose,
    paired_gap,
    simultaneous_band,
    slope_interval,
)
from harness.statistics.doseresponse import band_quantile, seed_slopes

DOSES = np.array([1.0, 2.0, 3.0, 4.0])
GAPS = np.array([[0, 0.1, 0.2, 0.3], [0.05, 0.1, 0.1, 0.25], [0, 0.2, 0.3, 0.5]])


def test_each_seed_has_its_least_squares_slope():
    assert seed_slopes(DOSES, GAPS) == pytest.approx([0.1, 0.06, 0.16])
    expected = [np.polyfit(DOSES, row, 1)[0] for row in GAPS]
    assert seed_slopes(DOSES, GAPS) == pytest.approx(expected)


def test_slope_interval_has_its_known_ends():
    interval = slope_interval(DOSES, GAPS)
    assert interval.point == pytest.approx(0.1066667)
    assert [interval.low, interval.high] == pytest.approx([-0.018804, 0.250061], abs=1e-6)


def test_band_uses_the_bonferroni_quantile():
    assert band_quantile(4, 3) == pytest.approx(8.860200, abs=1e-5)
    band = simultaneous_band(GAPS)
    half = 8.860200 * GAPS[:, 3].std(ddof=1) / np.sqrt(3)
    assert band[3].high - band[3].point == pytest.approx(half, abs=1e-5)
    assert simultaneous_band(GAPS, bounds=(-1, 1))[3].high == 1.0


def test_band_covers_all_doses_together():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        truth = np.linspace(0, 0.3, 4)
        gaps = truth + rng.normal(0, 0.05, (5, 4))
        band = simultaneous_band(gaps)
        hits += all(b.low <= t <= b.high for b, t in zip(band, truth, strict=True))
    assert hits >= 276


def success_sweep(seeds, rates, episodes=64):
    rng = np.random.default_rng(0)
    levels = rng.random((seeds, episodes))
    train = (levels < 0.95).astype(float)
    return [paired_gap(train, (levels < rate).astype(float), SUCCESS) for rate in rates]


def test_a_sweep_gives_slope_band_and_half_loss():
    gaps = success_sweep(5, [0.95, 0.75, 0.4, 0.1])
    result = dose_response([0, 1, 2, 3], gaps)
    assert result.slope.point == pytest.approx(0.29, abs=0.04)
    assert result.slope.low > 0
    assert len(result.band) == 4
    assert result.band[0].low < 0 < result.band[0].high  # equal sides, still open
    assert 1.5 < result.half_loss.dose < 2.1
    assert result.half_loss.low <= result.half_loss.dose <= result.half_loss.high


@pytest.mark.parametrize("seeds", [1, 2])
def test_one_checkpoint_has_a_slope_from_episode_noise(seeds):
    result = dose_response([0, 1, 2], success_sweep(seeds, [0.95, 0.5, 0.1]))
    assert result.slope.scope == "checkpoint"
    assert result.slope.width > 0
    assert {b.scope for b in result.band} == {"checkpoint"}
    assert result.half_loss.low is None
    assert "too few" in result.half_loss.reason


def test_single_scores_of_one_seed_have_no_slope():
    score = Metric("score")
    gaps = [paired_gap([[1.0]], [[v]], score) for v in (1.0, 0.5)]
    result = dose_response([0, 1], gaps)
    assert result.slope is None
    assert result.band == ()


def test_half_loss_is_interpolated_between_doses():
    train, held = np.array([1.0, 1.0, 1.0]), np.tile([1.0, 0.75, 0.25], (3, 1))
    assert half_loss_dose(np.array([0.0, 10, 20]), train, held).dose == pytest.approx(15.0)


def test_half_loss_out_of_reach_has_no_dose():
    held = np.tile([1.0, 0.9, 0.8], (3, 1))
    result = half_loss_dose(np.array([0.0, 1, 2]), np.ones(3), held)
    assert result.dose is None
    assert "not reached" in result.reason
    lost = half_loss_dose(np.array([0.0, 1, 2]), np.zeros(3), held * 0)
    assert lost.reason == "no success in training"


def test_half_loss_beyond_the_doses_leaves_that_end_open():
    held = np.array([[1.0, 0.7, 0.45], [1.0, 0.6, 0.2], [1.0, 0.95, 0.8]])
    result = half_loss_dose(np.array([0.0, 1, 2]), np.ones(3), held)
    assert result.dose == pytest.approx(1.9, abs=0.15)
    assert result.high is None


def test_half_lost_at_the_first_dose_is_that_dose():
    held = np.tile([0.3, 0.2], (3, 1))
    assert half_loss_dose(np.array([4.0, 8.0]), np.ones(3), held).dose == 4.0


@pytest.mark.parametrize(
    ("doses", "message"), [([1.0, 1.0], "increase strictly"), ([1.0], "got 1 for 2 gaps")]
)
def test_doses_must_be_ordered_and_complete(doses, message):
    with pytest.raises(ValueError, match=message):
        dose_response(doses, success_sweep(3, [0.9, 0.5]))


def test_doses_measured_on_other_seeds_are_refused():
    first = success_sweep(3, [0.9])
    with pytest.raises(ValueError, match="different training seeds"):
        dose_response([0, 1], first + success_sweep(4, [0.5]))
