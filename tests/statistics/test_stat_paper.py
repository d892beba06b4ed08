"""The published aggregation, as an envelope."""

import numpy as np
import pytest

from harness.statistics import SUCCESS, Metric, envelope, envelope_mean

RETURN = Metric("return", scale=2600.0, ratio=False)


def test_envelope_takes_the_best_checkpoint_of_each_run():
    train, held = np.array([[0.2, 0.9], [0.8, 0.7]]), np.array([[0.5, 0.1], [0.2, 0.3]])
    row = envelope(train, held, SUCCESS)
    assert (row.train, row.heldout) == pytest.approx((0.85, 0.4))
    assert row.train_sem == pytest.approx(0.05)
    assert row.relative == pytest.approx(100 * 0.45 / 0.85)
    assert row.label == "envelope"
    assert row.checkpoints == 2


def test_return_gap_is_absolute_and_has_no_share():
    row = envelope(np.array([[-100.0]]), np.array([[50.0]]), RETURN)
    assert (row.signed, row.absolute) == (-150.0, 150.0)
    assert row.relative is None


def test_a_single_run_has_no_standard_error():
    assert envelope(np.ones((1, 3)), np.ones((1, 3)), SUCCESS).train_sem is None


def test_axis_share_is_the_ratio_of_axis_means():
    rows = [envelope(np.array([[a]]), np.array([[b]]), SUCCESS) for a, b in [(1, 0.5), (0.5, 0.5)]]
    axis = envelope_mean(rows, SUCCESS)
    assert axis.relative == pytest.approx(100 * 0.25 / 0.75)
    assert axis.units == 2


def test_best_of_many_checkpoints_overstates_a_constant_policy():
    rng = np.random.default_rng(0)
    scores = rng.binomial(128, 0.5, (400, 30)) / 128
    row = envelope(scores, scores, SUCCESS)
    assert row.train == pytest.approx(0.590, abs=0.004)


def test_best_is_smallest_where_lower_is_better():
    steps = Metric("steps", direction="lower")
    row = envelope(np.array([[10.0, 8.0]]), np.array([[20.0, 30.0]]), steps)
    assert (row.train, row.heldout, row.signed) == (8.0, 20.0, 12.0)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"both need \[seeds, checkpoints\]"):
        envelope(np.ones(3), np.ones(3), SUCCESS)
    with pytest.raises(ValueError, match="no configurations"):
        envelope_mean([], SUCCESS)
