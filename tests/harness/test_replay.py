"""One record of a saved run comes out again, or it is said that it does not."""

import json

import probe_command
import pytest
from harness_probes import agent, probe_suite, probe_sweep
from PIL import Image

import protocols
from harness import cli, evaluate, replay
from harness.reporting import film, worst
from harness.reporting.export import write_report
from harness.reporting.stored import load_report

pytestmark = pytest.mark.slow
ONE = agent(0, fingerprint="1" * 64)
TWO = agent(1, fingerprint="2" * 64)
BOTH = [ONE, TWO]
OTHER = [agent(0, base=0.5, fingerprint="3" * 64), TWO]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two training seeds on two pairs, run from Python: nothing says where the policy is."""
    place = tmp_path_factory.mktemp("replay") / "run"
    write_report(evaluate(BOTH, probe_suite(60, 150), episodes=80), place)
    return place


def run(capsys, *arguments):
    try:
        code = replay.main([str(one) for one in arguments])
    except SystemExit as stop:  # argparse's way out
        code = stop.code
    return code, *capsys.readouterr()


@pytest.mark.parametrize("side", [[], ["--side", "train"], ["--side", "heldout"]])
@pytest.mark.parametrize(("seed", "episode"), [(0, 0), (1, 79)])
def test_a_record_comes_out_again(capsys, folder, side, seed, episode):
    code, out, err = run(
        capsys, folder, "grey-150", seed, episode, *side, "--policy", "test_replay:BOTH"
    )
    assert (code, err) == (0, "")
    assert "equal: it came out the same" in out
    assert f"training seed {seed} · episode {episode}" in out


def test_every_episode_of_a_cell_comes_out_again(folder):
    report = load_report(folder)
    for episode in range(0, 80, 7):
        record = replay.find_record(report, "grey-60", 1, episode)
        assert replay.play_again(record, TWO) == record.values


def test_a_record_that_was_changed_is_found_out(capsys, folder, tmp_path):
    data = json.loads((folder / "report.json").read_text())
    for cell in data["cells"]:
        cell["episodes"]["return"][3] += 1
    (tmp_path / "report.json").write_text(json.dumps(data))
    code, out, _ = run(capsys, tmp_path, "grey-60", 0, 3, "--policy", "test_replay:BOTH")
    assert code == 4
    assert "NOT EQUAL: return" in out
    code, _, _ = run(capsys, tmp_path, "grey-60", 0, 4, "--policy", "test_replay:BOTH")
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["grey-15", 0, 0], "did you mean 'grey-150'?"),
        (["grey-150", 7, 0], "no training seed 7; choose one of (0, 1)"),
        (["grey-150", 0, 80], "no episode 80: the run played 0 to 79"),
        (["grey-150", 0, -1], "no episode -1"),
        (["grey-150", 0, 0, "--side", "heldot"], "did you mean 'heldout'?"),
        (["grey-150", 0, 0, "--policy", "test_replay:BOHT"], "did you mean 'BOTH'?"),
        (["grey-150", 0, 0, "--policy", "test_replay:TWO"], "has no training seed 0"),
        (["grey-150", 0, 0], "does not say where its policy is"),
        (["grey-150", 0, 0, "--png", "no/such/folder/x.png"], "there is no such folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, folder, arguments, expected):
    code, out, err = run(capsys, folder, *arguments)
    assert (code, out) == (2, "")
    assert expected in err
    assert err.count("\n") == 1


def test_another_policy_is_refused(capsys, folder):
    code, out, err = run(capsys, folder, "grey-150", 0, 0, "--policy", "test_replay:OTHER")
    assert (code, out) == (2, "")
    assert "not the policy of this run: fingerprint 333333333333, recorded 111111111111" in err


def test_the_run_says_where_its_policy_is(capsys, tmp_path, monkeypatch):
    """A function has no fingerprint, and it is said that nothing was compared."""
    monkeypatch.setattr(protocols, "load_suite", probe_command.load_suite)
    evaluated = ["--policy", "harness_probes:often_right", "--suite", "probes", "--episodes", "8"]
    assert cli.main([*evaluated, "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    code, out, err = run(capsys, tmp_path / "run", "grey-150", 0, 5)
    assert code == 0
    assert "equal" in out
    assert "that it is the same policy is not checked" in err


def test_several_held_out_sides_have_to_be_told_apart(capsys, tmp_path):
    write_report(evaluate([ONE, TWO], probe_sweep(), episodes=8), tmp_path)
    found = ["doses", 0, 0, "--policy", "test_replay:BOTH"]
    code, _, err = run(capsys, tmp_path, *found)
    assert code == 2
    assert "which of 0, 50, 100, 200, or train?" in err
    code, out, _ = run(capsys, tmp_path, *found, "--side", "100")
    assert code == 0
    assert "side 100" in out


# ------------------------------------------------------------------------------------ pictures


def test_a_reel_is_the_recorded_episode(folder):
    report = load_report(folder)
    pair = report.suite["grey-150"]
    for episode in range(0, 80, 9):
        record = replay.find_record(report, "grey-150", 1, episode)
        reel = film.shoot(report.settings, pair.heldout["heldout"], TWO, 1, episode)
        assert reel.length == record.values["length"]
        assert reel.reward == record.values["return"]
        assert reel.metrics["success"] == record.values["success"]
        assert (reel.frames == 150).all()


def test_the_worst_episodes_are_those_that_lose_most_pair_by_pair(folder):
    """The brighter side comes first; whatever is shown succeeded in training and failed there."""
    report = load_report(folder)
    found = worst.worst_episodes(report, 5)
    assert [one.pair.name for one in found[:4]] == ["grey-150", "grey-60"] * 2
    assert len({(one.pair.name, one.seed, one.episode) for one in found}) == 5
    for one in found:
        train = replay.find_record(report, one.pair.name, one.seed, one.episode, "train")
        assert (train.values["success"], one.values["success"]) == (1, 0)


def test_worst_episodes_are_drawn_into_the_run(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(protocols, "load_suite", probe_command.load_suite)
    evaluated = ["--policy", "test_replay:BOTH", "--suite", "probes", "--episodes", "32"]
    assert cli.main([*evaluated, "--save-worst", "2"]) == 2
    assert "name it: --out" in capsys.readouterr().err
    assert cli.main([*evaluated, "--save-worst", "2", "--out", str(tmp_path / "run")]) == 0
    files = sorted((tmp_path / "run" / "worst").iterdir())
    assert [file.name[:11] for file in files] == ["01-grey-200", "02-grey-150"]
    assert all(file.suffix == ".png" for file in files)


def test_pictures_show_training_above_and_held_out_below(capsys, folder, tmp_path):
    """Three steps on a side of one grey each: before, after each step, and nothing twice."""
    png, gif = tmp_path / "strip.png", tmp_path / "episode.gif"
    code, _, err = run(
        capsys, folder, "grey-150", 0, 5, "--policy", "test_replay:BOTH", "--png", png, "--gif", gif
    )
    assert code == 0
    assert "another course" not in err
    with Image.open(png) as strip:
        greys = [strip.getpixel((40, y)) for y in range(strip.height)]
        sides = [grey[0] for grey in greys if grey in ((0, 0, 0), (150, 150, 150))]
        assert sides == [0] * film.SIDE + [150] * film.SIDE
        assert 4 * film.SIDE < strip.width < 5 * film.SIDE
    with Image.open(gif) as episode:
        assert episode.n_frames == 4
        first = episode.convert("RGB")
        middle = first.height // 2
        shown = {first.getpixel((x, middle)) for x in range(first.width)}
        assert {(0, 0, 0), (150, 150, 150)} <= shown
