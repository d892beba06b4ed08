"""Stored reports shown again, and tables of scores from elsewhere judged."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from harness_probes import agents, always_right, often_right, probe_pair, probe_suite

import harness
from harness import evaluate, report
from harness.reporting.export import write_report
from harness.reporting.paper import paper_rows

GOLDEN = Path(__file__).parent / "golden_report.md"
PROVENANCE = {
    "versions": {"heldout": "0.1.0", "jax": "0.10.2"}, "python": "3.12",
    "device": {"platform": "cpu", "kind": "cpu", "cpu": "any"}, "cores": 2, "command": None,
}  # fmt: skip
# The worked example of a published article: five training seeds, one held-out mean each.
ARTICLE = "seed,train,heldout\n0,850,670\n1,920,815\n2,780,455\n3,910,800\n4,840,645\n"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    found = evaluate(agents(3), probe_suite(60, 150, 255), episodes=64, max_gap={"success": 0.1})
    found = replace(found, records=replace(found.records, provenance=PROVENANCE))
    folder = tmp_path_factory.mktemp("report") / "run"
    write_report(found, folder)
    return folder, found


def run(capsys, *arguments):
    try:
        code = report.main([str(one) for one in arguments])
    except SystemExit as stop:  # argparse's way out
        code = stop.code
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def scores(capsys, tmp_path, text, *options):
    path = tmp_path / "table.csv"
    path.write_text(text)
    return run(capsys, "--scores", path, *options)


def test_a_stored_report_prints_what_the_run_printed(capsys, finished):
    folder, found = finished
    code, out, err = run(capsys, folder)
    assert out == f"{found}\n"
    assert err == ""
    assert code == found.exit_code == 1


def test_markdown_is_as_recorded(capsys, finished):
    _, out, _ = run(capsys, finished[0], "--format", "markdown")
    assert out == GOLDEN.read_text()


@pytest.mark.parametrize(
    ("one", "where"),
    [
        (harness.policy(always_right), ["every side"]),
        (harness.policy(often_right), ["probe"]),  # held out: four times out of five
        (harness.policy(always_right, name="right"), ["every side"]),
        (replace(harness.policy(always_right, name="right"), actions="greedy"), []),
    ],
    ids=["always the same", "in training only", "a function named right", "the script"],
)
def test_one_action_all_the_time_is_noted_where_it_is_not_meant(one, where):
    found = evaluate(one, probe_pair(grey=150.0), episodes=16)
    noted = re.findall(r"One action makes up over 95 % of all steps on (.*)\.", str(found))
    assert noted == where
    heldout = next(cell for cell in found.to_dict()["cells"] if cell["name"] == "grey")
    same = {"action": 1, "share": 1.0}
    assert heldout["dominant_action"] == (None if "often" in one.name else same)


def test_json_is_the_stored_file(capsys, finished):
    folder, _ = finished
    _, out, _ = run(capsys, folder / "report.json", "--format", "json")
    assert out == (folder / "report.json").read_text()


def test_the_published_aggregation_takes_the_best_checkpoint_and_never_gates(
    capsys, finished, tmp_path
):
    """Two checkpoints, the second better on every side: the envelope is at least the second."""
    early = evaluate(agents(3, slope=0.6), probe_suite(60, 150, 255), episodes=64)
    write_report(early, tmp_path / "early")
    code, out, _ = run(capsys, "--paper", tmp_path / "early", finished[0])
    assert code == 0  # the stored run failed its gate; an envelope has none
    assert "envelope of 2 checkpoints" in out
    assert "±" in out
    rows = paper_rows([early, finished[1]], "success")
    for name, row in rows.items():
        own = finished[1][name].results["success"]
        assert row.heldout >= own.heldout.mean
        assert row.train >= own.train.mean
    other = evaluate(agents(3), probe_suite(60), episodes=4)
    write_report(other, tmp_path / "other")
    code, _, err = run(capsys, "--paper", finished[0], tmp_path / "other")
    assert code == 2
    assert "runs of one suite" in err


def test_the_articles_table_is_seed_dependent_with_unstable_training(capsys, tmp_path):
    code, out, _ = scores(capsys, tmp_path, ARTICLE)
    assert code == 0
    assert "verdict: seed-dependent" in out
    assert "the failing seeds are also the weakest in training" in " ".join(out.split())
    assert "183 [86, 299]" in out
    for label in ("borderline (1.29)", "within (0.75)", "clear (2.32)"):
        assert label in out
    assert max(map(len, out.splitlines())) <= 100


def test_the_order_of_the_rows_changes_no_verdict(capsys, tmp_path):
    header, *rows = ARTICLE.splitlines()
    _, out, _ = scores(capsys, tmp_path, "\n".join([header, *reversed(rows)]))
    assert "183 [86, 299]" in out
    assert "verdict: seed-dependent" in out


def test_several_held_out_columns_average_within_a_seed(capsys, tmp_path):
    text = "seed,train,low,high\na,10,9,7\nb,11,9,7\nc,12,10,8\n"
    code, out, _ = scores(capsys, tmp_path, text, "--format", "json")
    data = json.loads(out)
    assert code == 0
    assert data["result"]["per_seed"] == [2, 3, 3]
    assert data["columns"]["high"]["per_seed"] == [3, 4, 4]


def test_a_missing_score_makes_the_table_invalid(capsys, tmp_path):
    code, out, _ = scores(capsys, tmp_path, ARTICLE.replace("455", ""))
    assert code == 4
    assert "verdict: invalid" in out
    assert "nan" not in out


@pytest.mark.parametrize("rows", [1, 2])
def test_one_or_two_seeds_carry_no_verdict(capsys, tmp_path, rows):
    text = "\n".join(ARTICLE.splitlines()[: rows + 1])
    code, out, _ = scores(capsys, tmp_path, text)
    assert code == 0
    assert "carry no verdict" in out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "needs a header"),
        ("seed,train,heldout\n", "needs a header"),
        ("seed,heldout\n0,1\n", "no column 'train'"),
        ("seed,trian,heldout\n0,1,2\n", "no column 'train'; is it 'trian'?"),
        ("seed,train\n0,1\n", "no held-out column"),
        ("seed,train,a,a\n0,1,2,3\n", "column 'a' comes twice"),
        ("seed,train,heldout\n0,1\n", "line 2: 2 cells, the header has 3"),
        ("seed,train,heldout\n0,1,x\n", "line 2: 'x' in column 'heldout' is not a number"),
        ("seed,train,heldout\n0,1,1\n\n0,1,1\n", "seed 0 comes twice"),
    ],
)
def test_a_bad_table_gets_one_clear_line(capsys, tmp_path, text, expected):
    code, out, err = scores(capsys, tmp_path, text)
    assert code == 2
    assert out == ""
    assert expected in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "give either a run folder or --scores"),
        (["run", "--scores", "x.csv"], "give either a run folder or --scores"),
        (["no/such/run"], "no report 'no/such/run'"),
        (["--scores", "no.csv"], "there is no such file"),
        (["run", "--tolerance", "1"], "belongs to --scores"),
        (["one", "two"], "one run at a time"),
        (["run", "--paper", "--format", "json"], "prints a table"),
        (["run", "--fromat", "json"], "did you mean --format?"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, arguments, expected):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert expected in err
    assert err.count("\n") == 1
