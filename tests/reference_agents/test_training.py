"""Trainings: resuming, checkpoints, curves, the command line."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import jax
import numpy as np
import pytest
from ppo_probes import NoisyObservation

from envs.errors import InputError
from harness.policies.checkpoint import load_checkpoint, read_manifest
from harness.policies.sources import load_policies
from protocols import load_suite
from reference_agents import curve, networks, ppo, progress, sides, train, training

pytestmark = pytest.mark.slow

CONFIG = ppo.PPOConfig(
    steps=1_024, num_envs=8, rollout=16, epochs=2, minibatch=32, reward_scale=1.0
)
SIDE = {"name": "probe", "digest": "0" * 64}
TASK = ppo.Task(NoisyObservation(), networks.patch(2, pool=2, size=2, widths=(4,), dense=8), CONFIG)
TRAINING = training.Training(TASK, None, SIDE, checkpoints=2)


def run(out, what=TRAINING, **options):
    return training.train_seed(what, 3, out, **options)


def weights(folder, step=1_024):
    return jax.tree.leaves(load_checkpoint(folder / f"step-{step}").variables)


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
    # What a kill leaves behind while a checkpoint is being written.
    (tmp_path / "probe" / ".seed-3-training" / ".step-512-abc").mkdir()
    finished = run(tmp_path)
    assert names(finished) == names(uninterrupted)
    for step in (512, 1_024):
        for a, b in zip(weights(finished, step), weights(uninterrupted, step), strict=True):
            np.testing.assert_array_equal(a, b)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_finished_training_leaves_its_checkpoints_and_its_curve_and_nothing_else(uninterrupted):
    assert names(uninterrupted.parent) == ["seed-3"]
    assert set(names(uninterrupted)) - {training.PLOT} == {"step-512", "step-1024", training.CURVE}
    manifest = load_checkpoint(uninterrupted / "step-1024").manifest
    assert manifest["train"] == SIDE
    assert (manifest["seed"], manifest["steps"], manifest["actions"]) == (3, 1_024, "sample")
    assert manifest["algorithm"]["config"]["gamma"] == CONFIG.gamma
    assert manifest["checkpoint_rule"] == "last"
    assert read_manifest(uninterrupted / "step-512")["checkpoint_rule"] == "fixed"
    rows = curve.read_curve(uninterrupted / training.CURVE)
    assert rows[-1][0] == 1_024
    assert sum(row[2] for row in rows) == 1_024, "every step of this probe is an episode"
    assert manifest["notes"]["learned"] == curve.steps_to_success(rows)


def test_the_last_step_is_what_a_folder_of_steps_means(uninterrupted):
    (one,) = load_policies(str(uninterrupted), env=TASK.env)
    assert one.steps == 1_024
    for a, b in zip(jax.tree.leaves(one.weights), weights(uninterrupted), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_finished_training_is_not_repeated(uninterrupted, capsys):
    manifest = uninterrupted / "step-1024" / "manifest.json"
    before = manifest.stat().st_mtime_ns
    assert run(uninterrupted.parent.parent) == uninterrupted
    assert "already trained" in capsys.readouterr().err
    assert manifest.stat().st_mtime_ns == before


def test_other_settings_neither_continue_nor_replace_a_training(tmp_path):
    longer = replace(TRAINING, task=TASK._replace(config=replace(CONFIG, steps=2_048)))
    run(tmp_path, stop=lambda iteration: iteration == 1)
    with pytest.raises(InputError, match=r"config\.steps: 1024 there, 2048 here"):
        run(tmp_path, longer)
    finished = run(tmp_path)
    changed = replace(TRAINING, side={**SIDE, "digest": "1" * 64})
    with pytest.raises(InputError, match=r"train\.digest: 000.* --fresh replaces it"):
        run(tmp_path, changed)
    run(tmp_path, changed, fresh=True)
    assert read_manifest(finished / "step-1024")["train"] == changed.side


def test_augmented_training_is_another_algorithm():
    augmented = replace(TRAINING, task=TASK._replace(augment="cutout-color"))
    assert augmented.algorithm["name"] == "ppo, cutout-color"
    assert augmented.identity(3) != TRAINING.identity(3)


def test_the_first_row_at_the_level_is_when_a_training_has_learned():
    rows = [[100, 1, 5, 0.1, 0], [200, 2, 5, 0.8, 0], [300, 3, 5, 0.9, 0]]
    assert curve.steps_to_success(rows)["steps"] == 200
    never = curve.steps_to_success(rows, 0.95)
    assert (never["steps"], never["censored_at"]) == (None, 300)


def test_a_training_in_which_no_episode_ended_has_an_empty_picture(tmp_path):
    pytest.importorskip("matplotlib")
    assert curve.plot_curves(tmp_path / "curve.png", {"base seed 0": []}, "ppo")
    assert (tmp_path / "curve.png").stat().st_size > 0


def test_a_suite_names_its_training_configurations():
    assert sides.configurations(None, "hard") == ["base"]
    assert sides.configurations(None, "widening") == ["base", "colors-5"]


def test_each_environment_has_its_network_and_others_are_refused():
    assert training.make_training("base").network == "patch"
    puzzle = training.make_training("puzzle-near-1")
    assert puzzle.network == "tiles"
    assert puzzle.task.config.reward_floor == -1.0
    with pytest.raises(InputError, match="no network 'patch' for puzzle-near-1"):
        training.make_training("puzzle-near-1", network="patch")


def test_the_published_baseline_has_the_published_settings():
    found = training.make_training("base", published=True)
    config = found.task.config
    assert found.network == "nature"
    assert (config.batch, config.iterations, config.updates_per_iteration) == (16_384, 1_526, 24)
    assert training.make_training("base", published=True, steps=16_384).task.config.iterations == 1
    with pytest.raises(InputError, match="no network 'nature' for puzzle-near-board"):
        training.make_training("puzzle-near-board", published=True)


def test_what_is_only_held_out_is_never_trained_on(monkeypatch):
    suite = load_suite("hard")
    held_out = next(iter(suite.pairs[0].heldout.values()))
    monkeypatch.setattr(sides, "load_train_config", lambda name: held_out)
    with pytest.raises(InputError, match=r"sly is held out by pair line-agent of suite hard"):
        sides.refuse_held_out("sly", [suite])


def test_a_damaged_state_file_is_one_line(tmp_path):
    run(tmp_path, stop=lambda iteration: iteration == 1)
    (tmp_path / "probe" / ".seed-3-training" / training.STATE).write_bytes(b"not a state")
    with pytest.raises(InputError, match="--fresh starts over"):
        run(tmp_path)


def test_progress_says_speed_scores_and_time_left(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.0)
    run(tmp_path, stop=lambda iteration: iteration == 3)
    line = capsys.readouterr().err.splitlines()[0]
    for part in ("probe seed 3", "M steps", "/s", "success", "return", "min left"):
        assert part in line


def test_a_misspelt_training_configuration_is_bad_input(capsys, tmp_path):
    assert train.main(["--train-config", "bsae", "--out", str(tmp_path)]) == 2
    assert "did you mean 'base'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "bad",
    [["--seeds", "-1"], ["--steps", "0"], ["--network", "resnet"], ["--augment", "blur"],
     ["--suite", "hard", "--train-config", "base"]],
)  # fmt: skip
def test_bad_options_are_usage_errors(bad, capsys):
    with pytest.raises(SystemExit) as ended:
        train.main(bad)
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_help_does_not_wait_for_jax():
    code = "import sys, reference_agents.train as t; t._parser(); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
