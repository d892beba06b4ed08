"""Checkpoints with a manifest that names a user's own factory."""

import shutil

import jax
import numpy as np
import pytest
from policy_files import chosen, env, expected_action, linear, load, write, write_code

from envs.errors import InputError
from harness.policies.checkpoint import build_network, load_checkpoint, save_policy
from harness.policies.sources import load_policies

pytestmark = pytest.mark.slow


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A folder with policy files, where the user stands."""
    monkeypatch.chdir(tmp_path)
    return write_code(tmp_path)


def save_own(code, **options):
    shown = np.zeros((2, 2, 2, 3), np.uint8)
    (code / "mine.py").write_text(
        "import flax.linen as nn\n"
        "class Net(nn.Module):\n"
        "    width: int\n"
        "    @nn.compact\n"
        "    def __call__(self, obs):\n"
        "        x = obs.reshape(*obs.shape[:-3], -1) / 255\n"
        "        mean = self.variable('statistics', 'mean', lambda: x[..., 0] * 0).value\n"
        "        return nn.Dense(3)(nn.relu(nn.Dense(self.width)(x))) + mean.sum()\n"
        "def factory(width):\n"
        "    return Net(width)\n"
    )
    network = build_network("mine.py:factory", {"width": 5})
    variables = network.init(jax.random.key(0), shown[0])
    save_policy(
        "ckpt", variables["params"], "mine.py:factory", {"width": 5}, observations=shown,
        num_actions=3, seed=4, collections={"statistics": {"mean": np.float32(0)}}, **options,
    )  # fmt: skip


def test_a_users_factory_is_saved_in_three_lines_and_runs_only_when_the_user_says_so(code):
    save_own(code)
    with pytest.raises(InputError, match=r"not one of ours; .*--apply mine.py:factory"):
        load_policies("ckpt", env=env())
    with pytest.raises(InputError, match="not one of ours"):
        load_checkpoint("ckpt")
    one, _ = load("ckpt", "mine.py:factory")
    assert (one.seed, one.actions, one.origin["checked"]) == (4, "sample", "verified")
    assert one.origin["leaves"] == 5


def test_other_collections_are_saved_and_a_missing_one_is_named(code):
    save_own(code)
    shutil.rmtree(code / "ckpt" / "collections")
    with pytest.raises(InputError, match="collections"):
        load("ckpt", "mine.py:factory")


def test_the_stored_outputs_are_compared_for_a_users_factory_too(code):
    save_own(code)
    text = (code / "mine.py").read_text()
    (code / "mine.py").write_text(text.replace("mean.sum()", "1"))
    with pytest.raises(InputError, match="outputs differ from those stored"):
        load("ckpt", "mine.py:factory")


def test_a_factory_that_makes_no_network_is_refused(code):
    (code / "mine.py").write_text("def factory():\n    return 3\n")
    shown = np.zeros((1, 2, 2, 3), np.uint8)
    with pytest.raises(InputError, match="returned a int, not a network"):
        save_policy("ckpt", {}, "mine.py:factory", observations=shown, num_actions=3)


def test_an_unknown_checkpoint_rule_names_the_nearest(code):
    with pytest.raises(InputError, match="did you mean 'best-on-train'"):
        save_own(code, checkpoint_rule="best-on-trian")


def test_a_file_with_postponed_annotations_may_define_networks(code):
    (code / "late.py").write_text(
        "from __future__ import annotations\n"
        "import flax.linen as nn\n"
        "class Net(nn.Module):\n"
        "    width: int = 3\n"
        "    @nn.compact\n"
        "    def __call__(self, obs):\n"
        "        return nn.Dense(self.width)(obs.reshape(-1) / 255)\n"
        "net = Net()\n"
    )
    write(code / "ckpt", {"params": {"Dense_0": linear(5)}})
    one, _ = load("ckpt", "late.py:net", actions="greedy")
    assert chosen(one) == expected_action(linear(5))
