"""The recorded results: made by the commands beside them from what is bundled, and made again."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness import Report
from harness.policies.sources import load_policies
from harness.run import Settings, run
from protocols import load_suite

RESULTS = Path(__file__).resolve().parent.parent / "results"
README = (RESULTS / "README.md").read_text(encoding="utf-8")
REPORTS = sorted(path.parent.name for path in RESULTS.glob("*/report.json"))


@pytest.fixture(scope="module")
def render():
    spec = importlib.util.spec_from_file_location("results_render", RESULTS / "render.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reports(render):
    return {name: render.report(name) for name in REPORTS}


def test_every_table_is_what_its_report_says(render):
    assert render.rendered(README) == README, "stale: python results/render.py"
    found = render.TABLE.findall(README)
    used = {name for kind, names in found if kind != "trainings" for name in names.split()}
    assert used == set(REPORTS), "every report is shown, and nothing else"


def test_a_stale_table_is_found(render):
    number = render.TABLE.search(README).group(0)
    assert render.rendered(README.replace(number, number.replace("0.", "1."))) == README


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_small_and_was_made_by_the_command_beside_it(name, reports):
    row = re.search(rf"^\| `{name}/` \|.*\| `(.*)` \|$", README, re.MULTILINE)
    assert row.group(1) == reports[name].provenance["command"]
    assert f"--out results/{name}" in row.group(1)
    assert (RESULTS / name / "report.json").stat().st_size < 1_500_000
    assert [path.name for path in (RESULTS / name).iterdir()] == ["report.json"]


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_of_the_released_suite_and_the_bundled_policies(name, reports):
    report: Report = reports[name]
    policy = re.search(r"--policy (\S+)", report.provenance["command"]).group(1)
    suite = load_suite(report.suite.name)
    assert {pair.name: pair.digest for pair in report.suite}.items() <= {
        pair.name: pair.digest for pair in suite
    }.items()
    env, _ = suite.pairs[0].train.build()
    bundled = load_policies(policy, env=env, sides=suite.training_sides)
    recorded = {one["fingerprint"] for one in report.policy["policies"]}
    assert recorded == {one.fingerprint for one in bundled}


@pytest.mark.slow
def test_a_new_run_agrees_with_the_recorded_one(reports):
    recorded: Report = reports["hard-ppo"]
    suite = load_suite("hard")
    names = ("line-agent", "gamma-2")
    two = replace(suite, pairs=tuple(suite[name] for name in names))
    env, _ = suite.pairs[0].train.build()
    again = run(load_policies("builtin:ppo", env=env), two, Settings(episodes=16))
    equal = []
    for name in names:
        new, old = again[name], recorded[name]
        interval = new.results["success"].interval
        assert interval.low <= old.results["success"].point <= interval.high
        for config in (new.pair.train, *new.pair.heldout.values()):
            batches = (
                report.records.batches(new.pair, config.digest, new.seeds)
                for report in (again, recorded)
            )
            for now, then in zip(*batches, strict=True):
                rows = np.stack([now.columns[one] == then.columns[one][:16] for one in now.columns])
                equal.append(rows.all(axis=0))
    # All of them where it was recorded; elsewhere an action near a tie may be drawn otherwise.
    assert np.mean(equal) > 0.9
