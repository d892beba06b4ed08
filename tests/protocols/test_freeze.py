"""A split is written down once; afterwards it is that split, or another one."""

import json

import pytest

from envs.errors import InputError
from protocols import Suite, load_suite
from protocols.__main__ import main
from protocols.freeze import freeze, read_split, write_split

NAME, EXPECTED = "smoke", "All of them lose."


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "split.json"
    assert write_split(freeze(load_suite(NAME), EXPECTED), path)
    return path


def edited(file, change):
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def test_a_frozen_split_holds_what_will_be_played(file):
    suite, data = load_suite(NAME), read_split(file)
    assert data["suite"] == {"name": NAME, "version": suite.version, "digest": suite.digest}
    pair, frozen = suite["purple-background"], data["pairs"]["purple-background"]
    assert frozen["digest"] == pair.digest
    assert frozen["train"] == {"name": "base", "digest": pair.train.digest}
    assert frozen["heldout"] == {"heldout": pair.heldout["heldout"].digest}
    values = data["configurations"][frozen["heldout"]["heldout"]]
    assert values["background.color_names"] == [[138, 43, 226]]
    assert data["prediction"] == EXPECTED


def test_both_trainings_of_a_widening_are_frozen():
    pair = load_suite("widening")["background-colors"]
    frozen = freeze(load_suite("widening"))["pairs"]
    assert frozen[pair.name]["train"]["name"] == "base"
    assert frozen[f"{pair.name} (wide)"]["train"]["name"] == "colors-5"
    assert frozen[pair.name]["prediction"] == pair.prediction != ""


def test_the_same_split_is_frozen_once(file):
    before = file.read_bytes()
    again = freeze(load_suite(NAME), EXPECTED)
    assert not write_split({**again, "date": "2031-01-01", "digest": "of that day"}, file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("suite", "prediction"), [(NAME, "None of them loses."), ("kage-hard", EXPECTED)]
)
def test_another_split_never_replaces_it(file, suite, prediction):
    before = file.read_bytes()
    with pytest.raises(InputError, match="holds another split"):
        write_split(freeze(load_suite(suite), prediction), file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(prediction="I knew it."),
        lambda data: data.update(date="2020-01-01"),
        lambda data: data["pairs"].popitem(),
        lambda data: data.pop("configurations"),
    ],
)
def test_an_edit_after_the_freeze_is_seen(file, change):
    edited(file, change)
    with pytest.raises(InputError, match="edited after it had been frozen"):
        read_split(file)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "unreadable"),
        ("[]", "not a split manifest"),
        ('{"format": "heldout-policy"}', "not a split manifest"),
        ('{"format": "heldout-split", "version": 9}', "version 9; this program reads version 1"),
    ],
)
def test_another_kind_of_file_is_refused(tmp_path, text, problem):
    file = tmp_path / "split.json"
    file.write_text(text)
    with pytest.raises(InputError, match=problem):
        read_split(file)
    with pytest.raises(InputError, match="there is no such file"):
        read_split(tmp_path / "split.jsn")


def test_other_episodes_are_another_split():
    suite = load_suite(NAME)
    more = Suite(suite.name, suite.version, suite.description, suite.pairs, suite.episodes + 1)
    assert freeze(suite)["digest"] != freeze(more)["digest"]


def test_the_command_freezes_and_refuses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["freeze", NAME, "--prediction", EXPECTED]) == 0
    assert capsys.readouterr().out.startswith("split.json: suite smoke v1, 2 pairs, frozen ")
    assert main(["freeze", NAME, "--prediction", EXPECTED]) == 0
    assert "frozen already" in capsys.readouterr().out
    assert main(["freeze", "kage-hard"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("protocols: split.json: holds another split (suite smoke, frozen ")
    assert error.count("\n") == 1
    assert main(["freeze", NAME, "--out", "no/such/folder.json"]) == 2
    assert "cannot be written" in capsys.readouterr().err
