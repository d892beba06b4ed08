"""`--describe-policy` says what is there and what to type next, and runs nothing."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness import cli
from harness.policies.describe import MOST_LEAVES, describe
from harness.policies.sources import load_policies

FIXTURES = Path(__file__).parent / "fixtures" / "orbax"


def lines(text):
    return [line.strip() for line in text.splitlines()]


def test_a_managers_folder_is_described(tmp_path):
    root = tmp_path / "ckpt"
    shutil.copytree(FIXTURES / "0.12.8" / "manager", root)
    shutil.copytree(root / "10", root / "11")
    (root / "11" / "default" / "_METADATA").unlink()
    (root / "notes").mkdir()
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    found = lines(describe(str(root)))
    command = f"python -m harness.evaluate --policy {root} --apply my_net.py:NAME --suite hard"
    for line in (
        "steps        2, 10",
        "incomplete   11: default: no _METADATA",
        "no steps     notes",
        "read         10: Orbax (items default)",
        "leaves       17 with 138 numbers, bfloat16, float32, int64",
        "params/dense/kernel          float32[12, 3]",
        "manifest     none: nothing says what code these weights belong to",
        f"next         {command}",
        "without an init(key, obs) in that file, act gets params as its params",
    ):
        assert line in found
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_our_own_checkpoint_needs_nothing_more(tmp_path):
    from reference_agents.bundled import ppo

    assert "--policy builtin:ppo --suite hard" in describe("builtin:ppo")
    place = ppo() / "base"
    text = describe(str(place))
    assert "5 trainings" in text
    assert "factory      reference_agents.networks:patch" in text
    assert f"next         python -m harness.evaluate --policy {place} --suite hard" in text
    (first, *_) = load_policies(str(place), env=None)
    assert f"fingerprint  {first.fingerprint}" in text


def test_long_trees_are_shortened(tmp_path):
    np.savez(tmp_path / "w.npz", **{f"layer{i}/kernel": np.ones(1) for i in range(MOST_LEAVES + 5)})
    text = describe(str(tmp_path / "w.npz"))
    assert "… and 5 more" in text
    assert len(text.splitlines()) < MOST_LEAVES + 10


def test_a_factory_of_the_users_is_named_and_not_run(tmp_path, monkeypatch):
    from reference_agents.bundled import ppo

    shutil.copytree(next(ppo().glob("*/seed-0")), tmp_path / "ckpt")
    manifest = tmp_path / "ckpt" / "manifest.json"
    facts = {**json.loads(manifest.read_text()), "factory": "trap.py:make"}
    manifest.write_text(json.dumps(facts))
    (tmp_path / "trap.py").write_text("raise RuntimeError('it ran')\n")
    monkeypatch.chdir(tmp_path)
    text = describe("ckpt")
    assert "--policy ckpt --apply trap.py:make --suite hard" in text
    assert "not one of ours" in text


@pytest.mark.parametrize(("path", "code"), [("0.12.8/v1", 0), ("0.12.8/v2", 2)])
def test_the_command_describes_or_names_the_neighbour(capsys, path, code):
    assert cli.main(["--describe-policy", str(FIXTURES / path)]) == code
    out, err = capsys.readouterr()
    assert ("fingerprint" in out) == (code == 0)
    assert ("did you mean" in err) == (code == 2)
