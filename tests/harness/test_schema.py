"""What an evaluation writes is what its schema says, and nothing else."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from harness_probes import (
    agents,
    often_right,
    probe_suite,
    probe_sweep,
    probe_widening,
    widened_agents,
)

from harness import evaluate, report
from harness.reporting.export import SCHEMA_VERSION, dump, report_schema, to_dict
from harness.reporting.judging import judge_records
from harness.statistics.verdicts import VERDICTS

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent.parent
RECORDED = sorted((ROOT / "results").glob("*/report.json"))


@pytest.fixture(scope="module")
def validate():
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator(schema)

    def check(data):
        faults = sorted(checker.iter_errors(data), key=lambda one: one.json_path)
        return [f"{one.json_path}: {one.message[:200]}" for one in faults]

    return check


@pytest.fixture(scope="module")
def healthy():
    return evaluate(agents(3), probe_suite(60, 150), episodes=24, max_gap={"success": 0.1})


def strict(text):
    """Parse JSON as the standard has it: no NaN, no infinity."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the file"))


def run(case):
    return {
        "three seeds, gates, policy shift": lambda: evaluate(
            agents(3), probe_suite(60, 150), episodes=24, max_gap={"success": 0.1},
            max_pair_gap={"success": 0.1}, policy_shift=True,
        ),
        "two seeds": lambda: evaluate(agents(2), probe_suite(60, 150), episodes=24),
        "one seed": lambda: evaluate(often_right, probe_suite(150), episodes=24),
        "one episode": lambda: evaluate(often_right, probe_suite(150), episodes=1),
        "sweep": lambda: evaluate(agents(3), probe_sweep(), episodes=24),
        "widening": lambda: evaluate(widened_agents(), probe_widening(), episodes=24),
    }[case]()  # fmt: skip


@pytest.mark.parametrize(
    "case",
    ["three seeds, gates, policy shift", "two seeds", "one seed", "one episode", "sweep",
     "widening"],
)  # fmt: skip
def test_a_report_is_what_the_schema_says(validate, case):
    assert validate(strict(dump(to_dict(run(case))))) == []


def test_a_report_against_a_baseline_is_too(validate, healthy):
    again = evaluate(agents(3), probe_suite(60, 150), episodes=24, baseline=healthy)
    other = evaluate(agents(3), probe_suite(60, 200), episodes=24, baseline=healthy)
    for one in (again, other):
        assert validate(strict(dump(to_dict(one)))) == []
    assert other.exit_code == 4


@pytest.mark.parametrize("lost", [1, 24])
def test_an_invalid_report_is_too(validate, healthy, lost):
    """Episodes that are not finite: one, or all of a cell."""
    first, *others = healthy.cells
    columns = {name: column.copy() for name, column in first.batch.columns.items()}
    columns["success"][:lost] = np.nan
    broken = replace(first, batch=replace(first.batch, columns=columns))
    judged = judge_records(replace(healthy.records, cells=(broken, *others)))
    data = strict(dump(to_dict(replace(judged, timing=healthy.timing))))
    assert data["pairs"][0]["verdict"]["name"] == "invalid"
    assert data["exit_code"] == 4
    assert validate(data) == []


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_recorded_reports_are_too(validate, path):
    assert validate(strict(path.read_text())) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("verdict", "name"), "great"),
        (("extra",), 1),
        (("pairs", 0, "metrics", "success", "gap", "low"), None),
        (("pairs", 0, "metrics", "success", "verdict"), "passed"),
        (("cells", 0, "episodes", "length", 0), "3"),
        (("cells", 0, "wall"), 1.0),
        (("exit_code",), 2),
        (("suite", "digest"), "abc"),
    ],
)
def test_the_schema_refuses_what_no_run_writes(validate, healthy, place, value):
    data = json.loads(dump(to_dict(healthy)))
    inside = data
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = value
    assert len(validate(data)) == 1


@pytest.mark.parametrize("key", ["verdict", "cells", "provenance", "schema_version"])
def test_the_schema_misses_what_is_left_out(validate, healthy, key):
    data = json.loads(dump(to_dict(healthy)))
    del data[key]
    assert validate(data) == [f"$: {key!r} is a required property"]


def test_the_schema_knows_every_verdict_and_its_version():
    schema = report_schema()
    assert schema["$defs"]["verdict_name"]["enum"] == list(VERDICTS)
    assert schema["properties"]["schema_version"] == {"const": SCHEMA_VERSION}


def test_the_command_prints_the_schema(capsys):
    assert report.main(["--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == report_schema()
