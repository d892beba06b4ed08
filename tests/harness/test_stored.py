"""A stored report is judged again from its episodes, and says the same."""

import json
from dataclasses import replace

import numpy as np
import pytest
from harness_probes import (
    ProbeConfig,
    agents,
    probe_suite,
    probe_sweep,
    probe_widening,
    widened_agents,
)

from envs.errors import InputError
from harness import evaluate
from harness.reporting.export import dump, to_dict, write_report
from harness.reporting.judging import judge_records
from harness.reporting.stored import Incompatible, load_report

CASES = {
    "suite": lambda: (agents(3), probe_suite(60, 150)),
    "one seed": lambda: (agents(1), probe_suite(150)),
    "two seeds": lambda: (agents(2), probe_suite(60, 150)),
    "sweep": lambda: (agents(3), probe_sweep()),
    "widening": lambda: (widened_agents(), probe_widening()),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A run folder with the report of three seeds on two pairs."""
    folder = tmp_path_factory.mktemp("stored") / "run"
    report = evaluate(
        agents(3), probe_suite(60, 150), episodes=32,
        max_gap={"success": 0.1}, max_pair_gap={"success": 0.3},
    )  # fmt: skip
    write_report(report, folder)
    return folder, report


def edited(folder, tmp_path, **changes):
    data = json.loads((folder / "report.json").read_text())
    data.update(changes)
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize("case", CASES)
def test_a_report_read_back_gives_the_same_file(case, tmp_path):
    policies, what = CASES[case]()
    report = evaluate(policies, what, episodes=24, max_gap={"success": 0.1}, policy_shift=True)
    write_report(report, tmp_path / "run")
    again = load_report(tmp_path / "run")
    assert dump(to_dict(again)) == (tmp_path / "run" / "report.json").read_text()
    assert str(again) == str(report)


@pytest.mark.parametrize("what", [probe_suite(60, 150), probe_sweep()], ids=["suite", "sweep"])
@pytest.mark.parametrize("lost", [1, 24])
def test_episodes_that_are_not_finite_make_a_pair_invalid_and_survive_the_file(
    what, lost, tmp_path
):
    """One episode, or all of a seed, in one cell of a held-out side."""
    records = evaluate(agents(3), what, episodes=24).records
    cells = list(records.cells)
    at = next(i for i, cell in enumerate(cells) if cell.digest != cells[0].digest)
    columns = {name: column.copy() for name, column in cells[at].batch.columns.items()}
    columns["success"][:lost] = np.nan
    cells[at] = replace(cells[at], batch=replace(cells[at].batch, columns=columns))
    report = judge_records(replace(records, cells=tuple(cells)))
    assert report.pairs[0].verdict.name == "invalid"
    assert report.exit_code == 4
    assert "nan" not in str(report) + report.to_markdown()
    write_report(report, tmp_path / "run")
    assert dump(to_dict(load_report(tmp_path / "run"))) == dump(to_dict(report))


def test_a_folder_and_its_file_are_the_same_report(stored):
    folder, report = stored
    assert str(load_report(folder)) == str(load_report(folder / "report.json")) == str(report)


def test_gates_and_their_exit_code_survive(stored):
    folder, report = stored
    again = load_report(folder)
    assert [gate.status for gate in again.gates] == [gate.status for gate in report.gates]
    assert again.exit_code == report.exit_code == 1


def refusal(path, kind=InputError):
    with pytest.raises(kind) as caught:
        load_report(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_missing_report_names_its_neighbour(stored):
    folder, _ = stored
    assert "did you mean" in refusal(folder / "reprot.json")
    assert "no report.json in this folder" in refusal(folder.parent)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "not readable as JSON"),
        ("[1]", "not a report of this harness"),
        ('{"schema": "coco"}', "not a report of this harness"),
        ('{"schema": "heldout-report", "schema_version": 99}', "written by a newer heldout"),
        ('{"schema": "heldout-report", "schema_version": null}', "report version None, this"),
        ('{"schema": "heldout-report", "schema_version": 1}', "a damaged report"),
    ],
)
def test_a_foreign_file_is_refused_in_one_line(tmp_path, text, expected):
    (tmp_path / "report.json").write_text(text)
    assert expected in refusal(tmp_path)


def test_configurations_that_mean_something_else_now_are_refused(stored, tmp_path):
    folder, _ = stored
    configs = json.loads((folder / "report.json").read_text())["configurations"]
    first = next(iter(configs))
    configs[first] = {"environment": "probe", **ProbeConfig(grey=33.0).to_dict()}
    message = refusal(edited(folder, tmp_path, configurations=configs), Incompatible)
    assert f"configuration {first[:8]} means something else now" in message
    configs[first]["environment"] = "prob"
    message = refusal(edited(folder, tmp_path, configurations=configs), Incompatible)
    assert "no environment 'prob'; did you mean 'probe'" in message
