"""A user's policy file, weights for it, and how both are loaded, for the tests of checkpoints."""

from pathlib import Path

import jax
import numpy as np
import orbax.checkpoint as ocp
from harness_probes import ProbeConfig

from harness.policies.sources import load_policies

FIXTURES = Path(__file__).parent / "fixtures" / "orbax"
LINEAR = """
import jax, jax.numpy as jnp

def init(key, obs):
    return {"bias": jnp.zeros(3), "kernel": jnp.zeros((obs.size, 3))}

def logits(params, obs):
    return obs.reshape(-1) / 255 @ params["kernel"] + params["bias"]

def act(params, obs):
    return jnp.argmax(logits(params, obs))

def sampled(params, obs, key):
    return jax.random.categorical(key, logits(params, obs))

def after_two_steps(params, obs, carry, key):
    return jnp.where(carry < 2, 1, act(params, obs)), carry + 1

def initial_carry():
    return jnp.int32(0)

def of_numpy(params, obs):
    import numpy as np
    return np.asarray(obs).reshape(len(obs), -1).astype(float).dot(params["kernel"]).argmax(1)

class Network:
    def init(self, key, obs):
        return {"params": init(key, obs)}
    def apply(self, variables, obs):
        return logits(variables["params"], obs), 0.0

class InBatches(Network):
    def init(self, key, obs):
        return {"params": init(key, obs[0])}
    def apply(self, variables, obs):
        return jax.vmap(lambda one: logits(variables["params"], one))(obs)

network, batched, four = Network(), InBatches(), 4

def make():
    return network

def wrong():
    return 3
"""
MEMORYLESS = LINEAR.replace("def initial_carry():", "def unused():")


def env():
    return ProbeConfig().build()[0]


def linear(seed=0):
    kernel, bias = jax.random.split(jax.random.key(seed))
    return {"kernel": jax.random.normal(kernel, (12, 3)), "bias": jax.random.normal(bias, (3,))}


def write(path, tree):
    with ocp.PyTreeCheckpointer() as writer:
        writer.save(path, tree)
    return path


def load(path, apply, **options):
    notes = []
    found = load_policies(str(path), env=env(), apply=apply, note=notes.append, **options)
    (one,) = found
    return one, notes


def chosen(one):
    """Its action on a bright picture."""
    obs = np.full((2, 2, 3), 200, np.uint8)
    return int(one.apply(one.weights, one.carry, obs, jax.random.key(0))[0])


def expected_action(params):
    obs = np.full(12, 200 / 255, np.float32)
    return int(np.argmax(obs @ np.asarray(params["kernel"]) + np.asarray(params["bias"])))


def write_code(folder):
    """Write policy files into a folder: net.py, and memory.py with a carry."""
    (folder / "net.py").write_text(MEMORYLESS)
    (folder / "memory.py").write_text(LINEAR)
    return folder
