"""One score per seed and side: the five-seed example and the rules around it."""

import numpy as np
import pytest

from harness.statistics import judge_scores, seed_labels

TRAIN = np.array([850.0, 920.0, 780.0, 910.0, 840.0])
GAPS = np.array([180.0, 105.0, 325.0, 110.0, 195.0])
EXPECTED = ("borderline", "within", "clear", "within", "borderline")


def test_the_five_seed_example_is_seed_dependent():
    result = judge_scores(TRAIN, TRAIN - GAPS)
    verdict = result.verdict
    assert verdict.name == "seed-dependent"
    assert verdict.label == "seed-dependent (3 of 5 seeds fail)"
    assert verdict.details["dropped_seeds"] == [0, 2, 4]
    assert verdict.details["held_seeds"] == [1, 3]
    assert "training_instability" in verdict.flags
    assert "do not widen" in verdict.next_step
    assert "rough_spread" in verdict.flags


def test_the_five_seed_example_has_its_known_numbers():
    result = judge_scores(TRAIN, TRAIN - GAPS)
    assert result.per_seed == pytest.approx(GAPS)
    assert result.interval.point == 183.0
    known = [86.389164, 298.616247]
    assert [result.interval.low, result.interval.high] == pytest.approx(known, abs=1e-6)
    assert result.relative.point == pytest.approx(0.212791, abs=1e-6)
    assert result.spread.range == 140.0
    assert result.correlation == pytest.approx(-0.980, abs=5e-4)
    assert np.median(result.per_seed) == 180.0
    assert (TRAIN - GAPS).std(ddof=1) == pytest.approx(145.37, abs=0.01)


def test_t_interval_of_the_example_is_the_published_one():
    interval = judge_scores(TRAIN, TRAIN - GAPS, method="t").interval
    assert [interval.low, interval.high] == pytest.approx([72.4, 293.6], abs=0.05)
    bare = judge_scores(TRAIN, TRAIN - GAPS, method="percentile").interval
    assert [bare.low, bare.high] == pytest.approx([122, 256])


def test_labels_of_the_example_are_two_within_two_borderline_one_clear():
    assert seed_labels(TRAIN, GAPS) == EXPECTED
    assert pytest.approx([1.286, 0.750, 2.321, 0.786, 1.393], abs=5e-4) == GAPS / 140


@pytest.mark.parametrize(
    ("gap", "spread", "label"),
    [(200, 180, "borderline"), (50, 10, "clear"), (140, 140, "within"), (280, 140, "clear")],
)
def test_a_gap_is_read_against_the_range_not_against_zero(gap, spread, label):
    assert seed_labels([0.0, spread], [gap, gap]) == (label, label)


def test_label_threshold_must_leave_room_for_borderline():
    with pytest.raises(ValueError, match=r"threshold: 1.0"):
        seed_labels(TRAIN, GAPS, threshold=1.0)


@pytest.mark.parametrize("order", [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3]])
def test_order_of_rows_changes_no_verdict(order):
    first, mixed = (judge_scores(TRAIN[i], (TRAIN - GAPS)[i]) for i in ([0, 1, 2, 3, 4], order))
    assert mixed.verdict.name == first.verdict.name
    assert mixed.interval == first.interval
    assert mixed.labels == tuple(np.array(EXPECTED)[order])


def test_units_change_no_label_and_no_verdict():
    result = judge_scores(10 * TRAIN, 10 * (TRAIN - GAPS))
    assert result.labels == EXPECTED
    assert result.verdict.name == "seed-dependent"
    assert result.interval.low == pytest.approx(863.89164, abs=1e-5)


def test_a_constant_shift_changes_no_gap_range_or_label():
    result = judge_scores(TRAIN - 5000, TRAIN - GAPS - 5000)
    assert result.per_seed == pytest.approx(GAPS)
    assert result.labels == EXPECTED
    assert result.spread.range == 140.0
    assert result.relative is None  # a share of a negative score means nothing


def test_small_gaps_under_a_wide_spread_are_within_noise():
    result = judge_scores(TRAIN, TRAIN - 10)
    assert result.verdict.name == "within-noise"
    assert set(result.labels) == {"within"}
    assert "suggestive" in result.verdict.flags
    assert "more seeds" in result.verdict.next_step


def test_large_gaps_on_every_seed_are_consistent():
    gaps = np.array([410.0, 400.0, 450.0, 430.0, 420.0])
    result = judge_scores(TRAIN, TRAIN - gaps)
    assert result.verdict.name == "consistent-gap"
    assert set(result.labels) == {"clear"}


def test_gaps_with_little_spread_of_their_own_show_beside_a_wide_spread():
    gaps = np.array([100.0, 105.0, 95.0, 102.0, 98.0])
    result = judge_scores(TRAIN, TRAIN - gaps)
    assert result.verdict.name == "within-noise"
    assert result.interval.low > 90  # overwhelming as a paired interval, and printed as such
    assert "suggestive" in result.verdict.flags


def test_negative_gaps_are_reported_not_clipped():
    result = judge_scores(TRAIN, TRAIN + 300)
    assert result.interval.point == -300.0
    assert result.verdict.name == "eval-better"
    assert judge_scores(TRAIN, TRAIN + 20).verdict.name == "within-noise"


@pytest.mark.parametrize("seeds", [1, 2])
def test_one_or_two_seeds_carry_no_verdict(seeds):
    result = judge_scores(TRAIN[:seeds], (TRAIN - 500)[:seeds])
    assert result.verdict.name == "within-noise"
    assert "insufficient_seeds" in result.verdict.flags
    assert (result.interval is None) == (seeds == 1)


def test_train_scores_without_spread_leave_the_ratio_undefined():
    result = judge_scores([500.0] * 4, [400.0, 390.0, 410.0, 400.0])
    assert result.labels is None
    assert "no_train_spread" in result.verdict.flags
    assert any("undefined" in note for note in result.verdict.notes)
    assert result.verdict.name == "consistent-gap"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_missing_score_is_refused_never_left_out(bad):
    held = TRAIN - GAPS
    held[1] = bad
    result = judge_scores(TRAIN, held)
    assert result.verdict.name == "invalid"
    assert result.interval is None
    assert "missing" in result.verdict.reason


def test_a_tolerance_makes_a_generalizing_verdict_possible():
    close = judge_scores(TRAIN, TRAIN - np.array([1.0, 2.0, 0.0, 1.0, 2.0]), tolerance=20.0)
    assert close.verdict.name == "generalizes"
    assert "no_tolerance" not in close.verdict.flags


def test_several_heldout_columns_average_within_a_seed():
    held = np.stack([TRAIN - GAPS - 50, TRAIN - GAPS + 50], axis=1)
    assert judge_scores(TRAIN, held).per_seed == pytest.approx(GAPS)
    named = {"near": held[:, 1], "far": held[:, 0]}
    assert judge_scores(TRAIN, named).per_seed == pytest.approx(GAPS)


@pytest.mark.parametrize(
    ("train", "heldout", "message"),
    [([], [], "train"), (TRAIN, TRAIN[:3], "heldout: shape"), (TRAIN[None], TRAIN, "train")],
)
def test_tables_that_do_not_fit_are_refused(train, heldout, message):
    with pytest.raises(ValueError, match=message):
        judge_scores(train, heldout)
