"""Trainings: resuming, checkpoints, curves, the command line."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import replace

import jax
import numpy as np
import pytest
from ppo_probes import NoisyObservation

from envs.errors import InputError
from harness.checkpoint import load_checkpoint, read_manifest
from reference_agents import networks, ppo, train, training

pytestmark = pytest.mark.slow

CONFIG = ppo.PPOConfig(
    steps=1_024, num_envs=8, rollout=16, epochs=2, minibatch=32, reward_scale=1.0
)
SIDE = {"name": "probe", "digest": "0" * 64}
TASK = ppo.Task(NoisyObservation(), networks.patch(2, pool=2, size=2, widths=(4,), dense=8), CONFIG)


def run(out, task=TASK, side=SIDE, **options):
    return training.train_seed(task, None, side, 3, out, **options)


def weights(path):
    return jax.tree.leaves(load_checkpoint(path).variables)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return run(tmp_path_factory.mktemp("whole"))


def test_an_interrupted_training_ends_like_an_uninterrupted_one(tmp_path, uninterrupted):
    assert run(tmp_path, stop=lambda iteration: iteration == 3) is None
    assert not (tmp_path / "probe" / "seed-3").exists()

    def ctrl_c(iteration):
        if iteration == 5:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, stop=ctrl_c)
    for a, b in zip(weights(run(tmp_path)), weights(uninterrupted), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_finished_training_leaves_a_checkpoint_and_its_curve_and_nothing_else(uninterrupted):
    assert [path.name for path in uninterrupted.parent.iterdir()] == ["seed-3"]
    manifest = load_checkpoint(uninterrupted).manifest
    assert manifest["train"] == SIDE
    assert (manifest["seed"], manifest["steps"], manifest["actions"]) == (3, 1_024, "sample")
    assert manifest["notes"]["training"]["config"]["gamma"] == CONFIG.gamma
    lines = (uninterrupted / training.CURVE).read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    assert rows[-1]["steps"] == "1024"
    assert int(rows[-1]["episodes"]) == 1_024, "every step of this probe is an episode"


def test_a_finished_training_is_not_repeated(uninterrupted, capsys):
    before = (uninterrupted / "manifest.json").stat().st_mtime_ns
    assert run(uninterrupted.parent.parent) == uninterrupted
    assert "already trained" in capsys.readouterr().err
    assert (uninterrupted / "manifest.json").stat().st_mtime_ns == before


def test_other_settings_neither_continue_nor_replace_a_training(tmp_path):
    longer = TASK._replace(config=replace(CONFIG, steps=2_048))
    run(tmp_path, stop=lambda iteration: iteration == 1)
    with pytest.raises(InputError, match=r"config\.steps: 1024 there, 2048 here"):
        run(tmp_path, task=longer)
    finished = run(tmp_path)
    changed = {**SIDE, "digest": "1" * 64}
    with pytest.raises(InputError, match=r"train\.digest: 000.* --fresh replaces it"):
        run(tmp_path, side=changed)
    run(tmp_path, side=changed, fresh=True)
    assert read_manifest(finished)["train"] == changed


def test_a_damaged_state_file_is_one_line(tmp_path):
    run(tmp_path, stop=lambda iteration: iteration == 1)
    (tmp_path / "probe" / ".seed-3-training" / training.STATE).write_bytes(b"not a state")
    with pytest.raises(InputError, match="--fresh starts over"):
        run(tmp_path)


def test_progress_says_speed_scores_and_time_left(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "PROGRESS_SECONDS", 0.0)
    run(tmp_path, stop=lambda iteration: iteration == 3)
    line = capsys.readouterr().err.splitlines()[0]
    for part in ("probe seed 3", "M steps", "/s", "success", "return", "min left"):
        assert part in line


def test_a_misspelt_training_configuration_is_bad_input(capsys, tmp_path):
    assert train.main(["--train-config", "bsae", "--out", str(tmp_path)]) == 2
    assert "did you mean 'base'" in capsys.readouterr().err


@pytest.mark.parametrize("bad", [["--seeds", "-1"], ["--steps", "0"], ["--network", "resnet"]])
def test_bad_options_are_usage_errors(bad, capsys):
    with pytest.raises(SystemExit) as ended:
        train.main(bad)
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_help_does_not_wait_for_jax():
    code = "import sys, reference_agents.train as t; t._parser(); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
