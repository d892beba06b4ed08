"""What a pair says of itself beyond its sides: pooled doses, several causes at once."""

from dataclasses import replace

import pytest
from harness_probes import agents, probe_pair, probe_suite, probe_sweep

from harness import evaluate, load_report
from harness.reporting.export import to_dict, write_report
from protocols import Suite


@pytest.fixture(scope="module")
def pooled():
    return evaluate(agents(3, 0.01, 0.3), replace(probe_sweep(), cumulative=True), episodes=64)


@pytest.fixture(scope="module")
def confounded():
    one, other = probe_suite(60, 200)
    sides = {"heldout": other.train.replace({"grey": 200.0, "horizon": 150})}
    suite = Suite("marked", 1, "", (one, replace(other, heldout=sides, confounded=True)))
    return evaluate(agents(2), suite, episodes=16)


def test_a_cumulative_dose_is_the_mean_over_its_sides_in_equal_shares(pooled):
    apart = evaluate(agents(3, 0.01, 0.3), probe_sweep(), episodes=64)
    alone = apart["doses"].doses["success"].gaps
    curve = pooled["doses"].doses["success"].gaps
    for dose in range(len(alone)):
        assert curve[dose] == pytest.approx(alone[: dose + 1].mean())
    assert pooled["doses"].gap["success"].point == pytest.approx(alone[1:].mean())


def test_a_cumulative_sweep_says_what_each_dose_adds(pooled):
    shares = [side["share_seen_in_training"] for side in _pair(pooled)["heldout"].values()]
    assert shares == [1, 1 / 2, 1 / 3, 1 / 4]
    assert _pair(pooled)["cumulative"]


def test_a_confounded_pair_is_named_in_table_and_markdown(confounded):
    sentence = "grey-200: confounded: more than one thing changes, so the gap has no single cause."
    assert sentence in " ".join(str(confounded).split())
    assert sentence in confounded.to_markdown()
    assert [pair.get("confounded") for pair in to_dict(confounded)["pairs"]] == [None, True]


@pytest.mark.parametrize("name", ["pooled", "confounded"])
def test_marks_come_back_with_a_stored_report(name, request, tmp_path):
    report = request.getfixturevalue(name)
    again = load_report(write_report(report, tmp_path))
    assert again.suite.digest == report.suite.digest
    assert to_dict(again)["pairs"] == to_dict(report)["pairs"]


def test_a_mark_is_part_of_what_was_measured():
    assert probe_pair().digest != replace(probe_pair(), confounded=True).digest


def _pair(report):
    return to_dict(report)["pairs"][0]
