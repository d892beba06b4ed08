"""The gate against a saved run: five outcomes, and what they exit with."""

from dataclasses import replace

import numpy as np
import pytest
from harness_probes import agents, probe_pair, probe_suite
from simulated_runs import simulated

from envs.errors import InputError
from harness import evaluate
from harness.reporting.baseline import against as judged
from harness.reporting.export import dump, to_dict, write_report
from harness.reporting.stored import load_report

SUITE = probe_suite(60, 150)
SETTING = {"episodes": 128}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("baseline") / "run"
    write_report(evaluate(agents(5), SUITE, **SETTING), folder)
    return folder


def against(saved, policies=None, suite=SUITE, **options):
    return evaluate(policies or agents(5), suite, **{**SETTING, **options}, baseline=saved)


def test_a_larger_gap_is_a_regression_and_names_the_pairs(saved):
    report = against(saved, agents(5, slope=0.5))
    assert report.baseline["status"] == "regressed"
    assert report.exit_code == 1
    assert "regressed: grey-60, grey-150" in report.baseline["reason"]
    assert "gate: against the baseline   REGRESSED" in str(report)


def test_a_smaller_gap_is_an_improvement(saved):
    report = against(saved, agents(5, slope=0.02))
    assert report.baseline["status"] == "improved"
    assert report.exit_code == 0


def test_the_same_weights_hold(saved):
    """Fingerprints tell that both runs played the same policies: nothing can have changed."""
    known = [f"sha-{seed}" for seed in range(5)]

    def marked():
        return [replace(one, fingerprint=mark) for one, mark in zip(agents(5), known, strict=True)]

    first = evaluate(marked(), SUITE, **SETTING)
    report = against(first, marked())
    change = report.baseline["metrics"]["success"]["change"]
    assert report.baseline["status"] == "held"
    assert change.point == 0
    assert change.low < 0 < change.high
    assert report.exit_code == 0


def test_too_little_data_is_inconclusive_and_exits_as_asked(saved):
    for wanted, code in [("exit3", 3), ("pass", 0), ("fail", 1)]:
        report = against(saved, agents(3), episodes=8, on_inconclusive=wanted)
        assert report.baseline["status"] == "inconclusive"
        assert report.exit_code == code
    assert "would decide it" in report.baseline["reason"]


def test_another_suite_is_incompatible_and_says_which_pairs(saved):
    report = against(saved, suite=probe_suite(60, 170))
    assert report.baseline["status"] == "incompatible"
    assert report.exit_code == 4
    assert "without grey-150; new grey-170" in report.baseline["reason"]


def test_a_metric_declared_otherwise_is_incompatible(saved):
    old = load_report(saved)
    metrics = tuple(replace(one, scale=7.0) for one in old.records.metrics)
    report = against(replace(old, records=replace(old.records, metrics=metrics)))
    assert report.baseline["status"] == "incompatible"
    assert "is declared otherwise" in report.baseline["reason"]


def test_a_single_pair_is_compared_with_its_own_in_the_saved_suite(saved):
    worse = agents(5, slope=0.5)
    report = against(saved, worse, suite=SUITE["grey-60"])
    assert report.baseline["status"] == "regressed"
    assert list(report.baseline["metrics"]["success"]["pairs"]) == ["grey-60"]
    report = against(saved, worse, suite=probe_pair("other", grey=60.0))
    assert report.baseline["status"] == "incompatible"
    assert "no pair other" in report.baseline["reason"]


def test_the_allowed_worsening_decides(saved):
    report = against(saved, agents(5, slope=0.5), max_worsening={"success": 0.9})
    assert report.baseline["status"] == "held"
    assert report.exit_code == 0


def test_a_policy_that_learned_nothing_never_holds(saved):
    report = against(saved, agents(5, base=0.9, slope=0.0))
    assert {result.verdict.name for result in report.pairs} == {"untrained"}
    assert report.baseline["status"] == "inconclusive"
    assert report.exit_code == 3


def test_an_allowed_worsening_without_a_baseline_is_refused():
    with pytest.raises(InputError, match="--baseline"):
        evaluate(agents(1), SUITE, episodes=4, max_worsening={"success": 0.1})


def test_the_outcome_is_in_the_file_and_survives_it(saved, tmp_path):
    report = against(saved, agents(5, slope=0.5))
    write_report(report, tmp_path / "run")
    again = load_report(tmp_path / "run")
    assert dump(to_dict(again)) == dump(to_dict(report))
    assert again.exit_code == 1
    assert str(again) == str(report)


@pytest.mark.slow
def test_an_unchanged_algorithm_seldom_regresses():
    """Retrained seeds of one algorithm against each other: at most 3 % false alarms."""
    rng = np.random.default_rng(5)
    sides = np.clip(0.7 + 0.05 * rng.standard_normal((12, 5, 2)), 0, 1)
    runs = list(simulated(np.full((12, 5), 0.9), sides, 64))
    # Every run of the simulation has levels of its own, as retraining and a new seed would.
    statuses = [
        judged(one, other, {}, "exit3")["status"] for one in runs for other in runs if one != other
    ]
    assert statuses.count("regressed") <= 0.03 * len(statuses)
