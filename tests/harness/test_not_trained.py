"""A suite of several training sides, with policies for some: the others are named, never judged."""

from __future__ import annotations

import json

import pytest
from harness_probes import ProbeConfig, agents, probe_pair

from harness import evaluate
from harness.reporting.export import to_dict
from protocols import Pair, Suite

OWN = ProbeConfig()
OTHER = ProbeConfig(lengths="one or hundred")
SUITE = Suite(
    "two sides",
    1,
    "",
    (
        probe_pair("grey", grey=200.0),
        Pair("elsewhere", "background", "other", OTHER, {"x": OTHER.replace({"grey": 200.0})}),
    ),
)
TRAIN = {"name": "probe", "digest": OWN.digest}


@pytest.fixture(scope="module")
def report():
    return evaluate(agents(3, train=TRAIN), SUITE, episodes=8, max_gap={"success": 1.0})


def test_pairs_without_a_policy_are_left_out_and_named(report):
    assert [pair.name for pair in report.pairs] == ["grey"]
    assert report.records.not_trained == {"elsewhere": "other"}
    assert "not trained: 1 pair left out, nothing was trained on `other`" in str(report)
    assert "not trained: 1 pair left out" in report.to_markdown()
    assert json.loads(json.dumps(to_dict(report)))["not_trained"] == {"elsewhere": "other"}


def test_no_gate_passes_over_what_was_not_trained(report):
    (gate,) = report.gates
    assert gate.status == "inconclusive"
    assert "1 of 2 pairs are untrained" in gate.reason
    assert report.exit_code == 3


def test_policies_for_no_pair_at_all_are_a_broken_measurement():
    elsewhere = {"name": "elsewhere", "digest": "0" * 64}
    report = evaluate(agents(3, train=elsewhere), SUITE, episodes=4)
    assert {pair.verdict.name for pair in report.pairs} == {"invalid"}
    assert report.records.not_trained == {}


def test_policies_that_do_not_say_what_they_were_trained_on_play_everything():
    report = evaluate(agents(3), SUITE, episodes=4)
    assert len(report.pairs) == 2
