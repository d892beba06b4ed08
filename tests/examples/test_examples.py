"""Policies trained elsewhere, saved and evaluated from disk, play as they did in memory.

Every example trains through the interfaces that anybody has; here for a moment, on a short side.
PyTorch and Stable-Baselines3 are no part of CI: last run, all passing, with PyTorch 2.14.1 and
Stable-Baselines3 2.9.2. As scripts the examples train for about a minute of one processor, which
is too little to learn the task: of the five only the JAX agent gets near it (success 0.28, and
0.00 on the purple background).
"""

import importlib
from functools import partial

import jax
import numpy as np
import pytest

from harness.policies.settling import settle
from harness.policies.sources import load_policies
from harness.policy import policy
from harness.rollouts.rollout import play
from protocols import load_train_config

pytestmark = pytest.mark.slow

SIDE = load_train_config("base").replace({"episode_length": 20})


def example(name, *needs):
    for one in needs:
        pytest.importorskip(one)
    return importlib.import_module(name)


def assert_same_records(in_memory, from_disk):
    """Both play the same episodes; policies of JAX in Python as well, to compile one program."""
    env, params = SIDE.build()
    one, other = (
        play(env, params, in_python(settle(made, env)[0]), episodes=6, num_envs=6)
        for made in (in_memory, from_disk)
    )
    for name, column in one.columns.items():
        assert np.array_equal(column, other.columns[name]), name
    assert np.array_equal(one.action_counts, other.action_counts)


def in_python(made):
    if made.on_host:
        return made
    every = jax.jit(jax.vmap(lambda obs: made.apply(made.weights, None, obs, None)[0]))
    return policy(lambda obs: np.asarray(every(obs)), kind="host-batch")


def from_disk(path, **values):
    (one,) = load_policies(str(path), env=SIDE.build()[0], **values)
    return one


def test_a_numpy_network(tmp_path):
    made = example("numpy_network", "gymnasium")
    weights = made.train(tmp_path / "net.npz", 2, SIDE)
    assert_same_records(made.policy_of(weights), made.load(tmp_path / "net.npz"))


@pytest.mark.torch
def test_a_pytorch_network(tmp_path):
    made = example("torch_network", "torch", "gymnasium")
    from harness import torch_policy

    net = made.train(tmp_path / "net.pt", 2, SIDE)
    assert_same_records(torch_policy(net), made.load(tmp_path / "net.pt"))


@pytest.mark.torch
def test_a_model_of_stable_baselines(tmp_path):
    made = example("sb3_model", "stable_baselines3")
    model = made.train(tmp_path / "model.zip", 16, SIDE)
    assert_same_records(made.policy_of(model), made.load(tmp_path / "model.zip"))


def test_a_flax_nnx_model(tmp_path):
    made = example("nnx_model")
    weights = made.train(tmp_path / "ckpt", 2, SIDE)
    saved = from_disk(tmp_path / "ckpt", apply=f"{made.__file__}:act")
    assert_same_records(policy(partial(made.act, weights)), saved)


def test_a_jax_agent_saved_with_a_manifest(tmp_path):
    made = example("purejax_agent")
    weights = made.train(tmp_path / "ckpt", 2, SIDE)
    saved = from_disk(tmp_path / "ckpt", apply=f"{made.__file__}:Net", actions="greedy")
    assert saved.train["digest"] == SIDE.digest

    def greedy(obs):
        return made.Net().apply(weights, obs)[0].argmax(-1)

    assert_same_records(policy(greedy), saved)
