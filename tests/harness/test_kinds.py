"""Splits, sweeps and widenings: what a report says of each."""

import pytest
from harness_probes import (
    ProbeConfig,
    agent,
    agents,
    probe_sweep,
    probe_widening,
    widened_agents,
)

from envs import InputError
from harness import evaluate
from harness.reporting.export import to_dict
from protocols import Pair


def expected(base, slope, grey):
    return (1 - base - slope * grey / 255) ** 3


@pytest.fixture(scope="module")
def swept():
    return evaluate(agents(5, 0.01, 0.3), probe_sweep(), episodes=128)


@pytest.fixture(scope="module")
def widened():
    return evaluate(widened_agents(5), probe_widening(), episodes=128)


def test_a_split_averages_its_held_out_sides_within_a_seed():
    train = ProbeConfig()
    sides = {f"{grey}": train.replace({"grey": float(grey)}) for grey in (50, 100, 200)}
    pair = Pair("three", "background", "probe", train, sides, "split")
    result = evaluate(agents(3), pair, episodes=32)["three"]
    points = [side.interval.point for side in result.results["success"].sides.values()]
    assert result.gap["success"].point == pytest.approx(sum(points) / 3)
    assert points == sorted(points)


def test_a_sweep_rises_with_the_dose_and_knows_what_training_showed(swept):
    result = swept["doses"]
    curve = result.doses["success"]
    assert curve.gaps[0] == 0
    assert list(curve.gaps) == sorted(curve.gaps)
    assert curve.slope.low > 0
    data = to_dict(swept)["pairs"][0]
    shares = [side["share_seen_in_training"] for side in data["heldout"].values()]
    assert shares == [1, 0, 0, 0]
    assert data["dose_response"]["success"]["slope"]["point"] > 0


def test_the_gap_of_a_sweep_leaves_out_what_training_showed(swept):
    curve = swept["doses"].doses["success"]
    assert swept["doses"].gap["success"].point == pytest.approx(curve.gaps[1:].mean())


def test_the_joint_band_holds_the_known_answers(swept):
    for dose, band in zip((0, 50, 100, 200), swept["doses"].doses["success"].band, strict=True):
        truth = (
            sum(
                expected(0.01, 0.3 + 0.02 * seed, 0) - expected(0.01, 0.3 + 0.02 * seed, dose)
                for seed in range(5)
            )
            / 5
        )
        assert band.low <= truth <= band.high


def test_half_of_the_success_is_lost_where_it_should_be(swept):
    """(0.99 - slope * dose / 255) ** 3 = 0.5 * 0.99 ** 3 at about 153 for the middle seed."""
    half = swept["doses"].doses["success"].half_loss
    assert half.low < 153 < half.high
    assert "half of the score lost at" in str(swept)


def test_a_widening_shows_both_gaps_their_difference_and_the_prediction(widened):
    result = widened["wider"]
    found = result.widenings["success"]
    assert found.narrow.point > found.wide.point
    assert found.shrinkage.low > 0
    assert result.wide.results["success"].train.mean > 0.9
    assert found.prediction_held is True
    text = str(widened)
    assert "narrow: narrow" in text
    assert "wide: wide" in text
    assert "Predicted: The gap shrinks. Outcome: it held." in text
    assert max(map(len, text.splitlines())) <= 100


def test_each_side_of_a_widening_is_played_by_its_own_policies(widened):
    assert widened["wider"].training == "verified"
    assert widened["wider"].wide.training == "verified"
    assert {cell.training for cell in widened.cells} == {"narrow", "wide"}


def test_a_wide_policy_trained_elsewhere_makes_the_widening_invalid():
    pair = probe_widening()
    stranger = agent(train={"name": "narrow", "digest": pair.train.digest})
    report = evaluate(stranger, pair, episodes=16)
    assert report["wider"].verdict.name == "invalid"
    assert report.exit_code == 4


def test_a_pair_made_in_python_is_audited_before_anything_runs():
    train = ProbeConfig(grey={"uniform": [0, 90]})
    inside = Pair("inside", "grey", "wide", train, {"heldout": ProbeConfig(grey=90.0)})
    with pytest.raises(InputError, match="pair inside: not held out"):
        evaluate(agent(), inside, episodes=4)
