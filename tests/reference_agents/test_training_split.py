"""A split is frozen before the first training step, or not at all."""

from dataclasses import replace

import pytest
from ppo_probes import NoisyObservation

from envs.errors import InputError
from harness.policies.checkpoint import read_manifest
from harness.policies.splits import trained_for
from protocols import load_suite
from protocols.freeze import freeze, write_split
from reference_agents import networks, ppo, train, training

pytestmark = pytest.mark.slow

CONFIG = ppo.PPOConfig(steps=256, num_envs=8, rollout=16, epochs=1, minibatch=32)
TASK = ppo.Task(NoisyObservation(), networks.patch(2, pool=2, size=2, widths=(4,), dense=8), CONFIG)
PAIR = load_suite("smoke")["purple-background"]
SIDE = {"name": "base", "digest": PAIR.train.digest}
PLAIN = training.Training(TASK, None, SIDE, checkpoints=1)
FROZEN = replace(PLAIN, side=trained_for(SIDE, freeze(load_suite("smoke"))))


def test_checkpoints_carry_the_split_they_were_trained_for(tmp_path):
    folder = training.train_seed(FROZEN, 0, tmp_path)
    stamp = read_manifest(folder / "step-256")["train"]["split"]
    assert stamp["suite"]["name"] == "smoke"
    assert stamp["pairs"][PAIR.name] == PAIR.digest


@pytest.mark.parametrize(("first", "then"), [(PLAIN, FROZEN), (FROZEN, PLAIN)])
def test_a_training_that_has_begun_is_given_no_other_split(tmp_path, first, then):
    assert training.train_seed(first, 0, tmp_path, stop=lambda iteration: True) is None
    with pytest.raises(InputError, match=r"train\.split: .* there, .* here"):
        training.train_seed(then, 0, tmp_path)


def test_the_command_refuses_a_missing_split_and_one_for_another_training(tmp_path, capsys):
    file = tmp_path / "split.json"
    options = ["--train-config", "skeleton", "--out", str(tmp_path / "out"), "--split", str(file)]
    assert train.main(options) == 2
    assert "there is no such file" in capsys.readouterr().err
    write_split(freeze(load_suite("smoke")), file)
    assert train.main(options) == 2
    assert "no pair that is trained on 'skeleton', only on base" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
