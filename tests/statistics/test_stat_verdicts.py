"""The verdict table: exclusive, exhaustive, and in words."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.statistics import (
    SUCCESS,
    VERDICTS,
    Metric,
    heterogeneity,
    judge,
    judge_suite,
    noise_floor,
    paired_gap,
    seed_spread,
    suite_floor,
    suite_gap,
    verdict_row,
)

QUICK = settings(max_examples=200, deadline=None)


def sides(train, heldout, episodes=128, seed=0):
    """Success arms with given rates per seed, drawn on shared levels."""
    levels = np.random.default_rng(seed).random((len(train), episodes))
    return [(levels < np.array(rate)[:, None]).astype(float) for rate in (train, heldout)]


def judged(train, heldout, *, episodes=128, scope=None, **options):
    first, second = sides(train, heldout, episodes)
    gap = paired_gap(first, second, SUCCESS, scope=scope)
    means = gap.train.per_seed
    options.setdefault("success", means)
    return judge(gap, noise_floor(first, SUCCESS), seed_spread(means), **options)


@pytest.mark.parametrize(
    ("low", "high", "point", "name"),
    [
        (-0.4, -0.06, -0.2, "eval-better"),
        (-0.4, -0.05, -0.2, "generalizes"),
        (-0.1, 0.05, 0.0, "generalizes"),
        (0.01, 0.05, 0.03, "generalizes"),
        (0.01, 0.20, 0.12, "within-noise"),
        (0.05, 0.20, 0.12, "within-noise"),
        (0.06, 0.20, 0.12, "consistent-gap"),
        (0.06, 0.20, 0.10, "gap-within-spread"),
        (-0.2, 0.20, 0.0, "within-noise"),
    ],
)
def test_first_matching_row_wins(low, high, point, name):
    assert verdict_row(low, high, point, floor=0.05, tolerance=0.05, spread=0.1) == name


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"invalid": True, "untrained": True, "seed_dependent": True}, "invalid"),
        ({"untrained": True, "seed_dependent": True}, "untrained"),
        ({"seed_dependent": True}, "seed-dependent"),
        ({"seed_dependent": True, "checkpoint": True}, "checkpoint-gap"),
        ({"checkpoint": True}, "checkpoint-gap"),
        ({}, "consistent-gap"),
    ],
)
def test_rows_before_the_numbers_keep_their_order(options, name):
    row = verdict_row(0.5, 0.9, 0.7, floor=0.05, tolerance=0.05, spread=0.1, **options)
    assert row == name


NUMBER = st.floats(-2, 2, allow_nan=False)
SIZE = st.floats(0, 2, allow_nan=False)


@QUICK
@given(NUMBER, NUMBER, NUMBER, SIZE, SIZE, SIZE, st.booleans())
def test_every_set_of_numbers_maps_to_exactly_one_verdict(a, b, c, extra, tol, spread, checkpoint):
    low, point, high = sorted((a, b, c))
    floor = tol + extra  # the floor is never below the tolerance
    name = verdict_row(
        low, high, point, floor=floor, tolerance=tol, spread=spread, checkpoint=checkpoint
    )
    better, equal, lost = high < -floor, high <= tol and not high < -floor, low > floor
    conditions = {
        "eval-better": better,
        "generalizes": equal,
        "consistent-gap": lost and not checkpoint and point > spread,
        "gap-within-spread": lost and not checkpoint and point <= spread,
        "checkpoint-gap": lost and checkpoint,
        "within-noise": not (better or equal or lost),
    }
    assert [key for key, true in conditions.items() if true] == [name]


def test_a_noisy_floor_never_helps_a_policy_to_generalize():
    for floor in (0.05, 0.2, 0.5):
        row = verdict_row(-0.1, 0.08, 0.0, floor=floor, tolerance=0.05, spread=0.1)
        assert row == "within-noise"


def test_every_seed_losing_is_a_consistent_gap():
    verdict = judged([0.95, 0.93, 0.94, 0.96, 0.92], [0.1, 0.05, 0.12, 0.02, 0.08])
    assert verdict.name == "consistent-gap"
    assert verdict.label == "consistent gap"
    assert "noise floor" in verdict.reason
    assert "Widen" in verdict.next_step


def test_some_seeds_losing_is_seed_dependent():
    verdict = judged([0.95, 0.93, 0.94, 0.96, 0.92], [0.2, 0.93, 0.94, 0.3, 0.92])
    assert verdict.name == "seed-dependent"
    assert verdict.label == "seed-dependent (2 of 5 seeds fail)"
    assert verdict.details["dropped_seeds"] == [0, 3]
    assert verdict.details["held_seeds"] == [1, 2, 4]
    assert verdict.details["q_p_value"] < 1e-6
    assert "training_instability" not in verdict.flags


def test_a_seed_that_never_learned_has_nothing_to_lose():
    verdict = judged([0.95, 0.0, 0.94, 0.96, 0.92], [0.1, 0.0, 0.1, 0.1, 0.1])
    assert verdict.name == "seed-dependent"
    assert verdict.details["held_seeds"] == [1]
    assert "1 of 5 seeds stays within the noise floor, not having learned" in verdict.reason
    assert "nothing to lose" in verdict.next_step
    one_holds = judged([0.95, 0.0, 0.94, 0.96, 0.92], [0.1, 0.0, 0.94, 0.1, 0.1])
    assert one_holds.name == "seed-dependent"
    assert "nothing to lose" not in one_holds.next_step


def counted(losses, episodes=128, train=None):
    """Success gaps with exact numbers of levels lost per seed, all levels won in training."""
    first = np.ones((len(losses), episodes))
    if train is not None:
        for row, failures in zip(first, train, strict=True):
            row[episodes - failures :] = 0.0
    second = first.copy()
    for row, lost in zip(second, losses, strict=True):
        row[:lost] = 0.0
    gap = paired_gap(first, second, SUCCESS)
    return judge(
        gap, noise_floor(first, SUCCESS), seed_spread(gap.train.per_seed), success=first.mean(1)
    )


def test_seeds_that_differ_by_episode_noise_alone_are_not_seed_dependent():
    # One seed loses 14 of 128 and another 6: one side of the floor each, yet no real difference.
    verdict = counted([14, 12, 6])
    assert verdict.details["dropped_seeds"] == [0]
    assert verdict.details["held_seeds"] == [2]
    assert verdict.details["q_p_value"] > 0.01
    assert verdict.name != "seed-dependent"
    assert counted([30, 28, 6]).name == "seed-dependent"


def test_a_seed_drops_only_when_its_own_interval_says_so():
    # 10 of 128 lie above the floor of 0.05, but the interval of that seed does not.
    verdict = counted([10, 0, 0])
    assert verdict.details["dropped_seeds"] == []
    assert verdict.details["held_seeds"] == [1, 2]
    assert verdict.name != "seed-dependent"


def test_slightly_weaker_training_of_failing_seeds_is_no_instability():
    close = counted([90, 90, 0, 0], train=[9, 1, 7, 2])
    far = counted([90, 90, 0, 0], train=[20, 22, 2, 1])
    assert close.name == far.name == "seed-dependent"
    assert "training_instability" not in close.flags
    assert "training_instability" in far.flags


def test_failing_seeds_that_train_worse_point_at_training():
    verdict = judged([0.95, 0.72, 0.96, 0.70, 0.97], [0.95, 0.1, 0.96, 0.1, 0.97])
    assert verdict.name == "seed-dependent"
    assert "training_instability" in verdict.flags
    assert "do not widen" in verdict.next_step


def test_no_loss_generalizes_and_names_the_unseen_collapse_rate():
    verdict = judged([0.97] * 5, [0.97] * 5)
    assert verdict.name == "generalizes"
    assert any("0 of 5 seeds collapsed" in note and "45%" in note for note in verdict.notes)


def test_a_better_heldout_side_asks_for_a_check():
    verdict = judged([0.6, 0.62, 0.61, 0.59, 0.6], [0.95] * 5)
    assert verdict.name == "eval-better"
    assert verdict.label == "eval-better"
    assert "leak" in verdict.next_step


def test_a_real_gap_under_a_wide_seed_spread_says_so():
    verdict = judged([0.6, 0.75, 0.9, 0.7, 0.85], [0.48, 0.63, 0.78, 0.58, 0.73], episodes=1024)
    assert verdict.name == "gap-within-spread"


def test_an_undecided_gap_prints_what_would_decide_it():
    verdict = judged([0.95, 0.93, 0.94], [0.85, 0.80, 0.93], episodes=64)
    assert verdict.name == "within-noise"
    assert "training seeds" in verdict.next_step
    assert "would decide it" in verdict.next_step


def test_a_gap_above_zero_but_not_above_noise_is_suggestive():
    verdict = judged([0.95] * 5, [0.90] * 5, episodes=512)
    assert verdict.name == "within-noise"
    assert "suggestive" in verdict.flags
    assert "not demonstrated" in verdict.reason


@pytest.mark.parametrize("seeds", [1, 2])
@pytest.mark.parametrize(
    ("heldout", "name"), [(0.1, "checkpoint-gap"), (0.95, "generalizes"), (0.9, "within-noise")]
)
def test_one_or_two_seeds_speak_of_these_checkpoints_only(seeds, heldout, name):
    verdict = judged([0.95] * seeds, [heldout] * seeds)
    assert verdict.name == name
    assert "this_checkpoint_only" in verdict.flags
    assert any("only" in note for note in verdict.notes)


def test_one_dropped_seed_of_two_is_not_called_seed_dependent():
    assert judged([0.95, 0.95], [0.1, 0.95]).name == "checkpoint-gap"


def test_a_verdict_on_new_seeds_is_refused_for_two():
    with pytest.raises(ValueError, match="two training seeds"):
        judged([0.95, 0.9], [0.1, 0.2], scope="algorithm")


def test_most_seeds_below_competence_make_it_untrained():
    verdict = judged([0.3, 0.2, 0.95, 0.1, 0.4], [0.1] * 5)
    assert verdict.name == "untrained"
    assert "4_of_5_untrained" in verdict.flags
    assert "0.50" in verdict.reason


def test_a_minority_below_competence_is_kept_and_flagged():
    verdict = judged([0.3, 0.95, 0.95, 0.94, 0.96], [0.1] * 5)
    assert verdict.name == "consistent-gap"
    assert "1_of_5_untrained" in verdict.flags
    assert any("they are kept" in note for note in verdict.notes)


def test_exactly_half_below_competence_is_not_most():
    assert judged([0.3, 0.3, 0.9, 0.9], [0.0] * 4).name != "untrained"


def test_competence_is_judged_on_success_for_every_metric():
    distance = Metric("distance", scale=490.0)
    rng = np.random.default_rng(0)
    train = rng.normal(450, 5, (3, 32))
    gap = paired_gap(train, train - 300, distance)
    spread, floor = seed_spread(gap.train.per_seed), noise_floor(train, distance)
    assert judge(gap, floor, spread, success=[0.1, 0.2, 0.1]).name == "untrained"
    assert judge(gap, floor, spread, success=[0.9, 0.9, 0.9]).name == "consistent-gap"
    unknown = judge(gap, floor, spread)
    assert unknown.name == "consistent-gap"
    assert "competence_unverified" in unknown.flags
    assert "300 [300, 300]" in unknown.reason


def test_a_blind_policy_that_succeeds_raises_the_bar():
    assert judged([0.6] * 3, [0.1] * 3, blind=0.59).name == "untrained"
    assert judged([0.6] * 3, [0.1] * 3, blind=0.1).name != "untrained"
    assert judged([0.6] * 3, [0.1] * 3, competence=0.65).name == "untrained"


def test_reasons_found_elsewhere_make_it_invalid():
    verdict = judged([0.9] * 3, [0.1] * 3, invalid=["trained on the held-out side"])
    assert verdict.name == "invalid"
    assert verdict.reason == "Trained on the held-out side."
    assert "Fix the measurement" in verdict.next_step


def test_dropped_episodes_make_it_invalid():
    first, second = sides([0.9] * 3, [0.1] * 3)
    first[0, :8] = np.nan
    gap = paired_gap(first, second, SUCCESS)
    verdict = judge(gap, noise_floor(first, SUCCESS), None, success=[0.9] * 3)
    assert verdict.name == "invalid"
    assert "8 of 384 episodes" in verdict.reason


def test_nothing_valid_is_invalid_and_has_no_numbers():
    gap = paired_gap(np.full((3, 4), np.nan), np.zeros((3, 4)), SUCCESS)
    verdict = judge(gap, noise_floor(np.ones((3, 4)), SUCCESS), None)
    assert verdict.name == "invalid"
    assert verdict.details["point"] is None


def test_two_single_episodes_have_no_interval_and_say_why():
    score = Metric("score")
    gap = paired_gap([[1.0], [0.5]], [[0.0], [0.0]], score)
    verdict = judge(gap, noise_floor([[1.0], [0.5]], score), seed_spread([1.0, 0.5]))
    assert verdict.name == "within-noise"
    assert "no_interval" in verdict.flags
    assert "nothing to measure noise with" in verdict.reason


@pytest.mark.parametrize(
    ("flag", "train", "heldout", "episodes"),
    [
        ("rough_spread", [0.9] * 3, [0.9] * 3, 64),
        ("few_episodes", [0.9] * 3, [0.9] * 3, 8),
        ("no_train_spread", [1.0] * 3, [1.0] * 3, 64),
        ("both_sides_low", [0.0] * 3, [0.0] * 3, 64),
    ],
)
def test_what_weakens_a_reading_is_flagged(flag, train, heldout, episodes):
    assert flag in judged(train, heldout, episodes=episodes).flags


def test_unequal_seeds_are_told_from_episode_noise():
    variances = np.full(4, 0.01)
    assert heterogeneity(np.zeros(4), variances) == (0.0, 1.0)
    q, p = heterogeneity(np.array([0.0, 0.0, 1.0, 1.0]), variances)
    assert (q, p) == pytest.approx((100.0, 1.55e-21), rel=0.01)
    assert heterogeneity(np.array([0.0, 0.1]), np.zeros(2))[1] == 0.0
    assert math.isfinite(heterogeneity(np.array([0.0, 0.1]), np.zeros(2))[0])
    assert heterogeneity(np.array([0.0, 0.1]), None) is None


def test_a_suite_is_judged_by_the_same_table():
    names = ("a", "b", "c")
    arms = {n: sides([0.95] * 5, [0.2] * 5, seed=i) for i, n in enumerate(names)}
    gaps = {n: paired_gap(*arms[n], SUCCESS) for n in names}
    suite = suite_gap(gaps)
    floor = suite_floor({n: noise_floor(arms[n][0], SUCCESS) for n in names})
    verdict = judge_suite(suite, floor, dict.fromkeys(names, "consistent-gap"))
    assert verdict.name == "consistent-gap"
    assert judge_suite(suite, floor, {"a": "invalid", "b": "generalizes"}).name == "invalid"
    mostly = {"a": "untrained", "b": "untrained", "c": "generalizes"}
    assert judge_suite(suite, floor, mostly).name == "untrained"
    apart = suite_gap(gaps, {n: n for n in names})
    assert judge_suite(apart, floor, {}).name == "consistent-gap"


def test_names_are_the_published_ones_and_sentences_end():
    verdicts = [
        judged([0.9] * 3, [0.1] * 3),
        judged([0.9] * 3, [0.9] * 3),
        judged([0.1] * 3, [0.1] * 3),
        judged([0.9], [0.1]),
        judged([0.9, 0.9, 0.9], [0.1, 0.9, 0.9]),
    ]
    for verdict in verdicts:
        assert verdict.name in VERDICTS
        for text in (verdict.reason, verdict.next_step, *verdict.notes):
            assert text[0].isupper() or text[0].isdigit()
            assert text.endswith(".")
            assert "nan" not in text.lower()
