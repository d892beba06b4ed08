"""What several tests of the platformer share: programs compiled once, small batches, scenes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from envs import PlatformerConfig

GOLDEN = Path(__file__).parent / "golden"
BASE = PlatformerConfig()
SKIN = {"character": {"use_sprites": True, "use_shape": False, "sprite_paths": ["skeleton"]}}
IMAGE = {"background": {"mode": "image", "image_paths": ["bg-1"]}}


def config(*changes: dict) -> PlatformerConfig:
    """Return the base configuration with changes merged in, one after the other."""
    result = BASE
    for change in changes:
        result = result.replace(change)
    return result


@cache
def built(made: PlatformerConfig):
    """Build each configuration once."""
    return made.build()


@cache
def _reset(env):
    return jax.jit(jax.vmap(env.reset, (0, None)))


@cache
def _play(env):
    def play(states, actions, params):
        def body(states, action):
            return jax.vmap(env.step, (0, 0, None))(states, action, params)

        return jax.lax.scan(body, states, actions)

    return jax.jit(play)


@cache
def _observe(env):
    return jax.jit(env.observe_batch)


def start(made: PlatformerConfig, count: int = 4, seed: int = 0):
    """Return `count` first states; environments that are equal share one compiled program."""
    env, params = built(made)
    keys = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(seed), i))(jnp.arange(count))
    return _reset(env)(keys, params)


def play(made: PlatformerConfig, states, actions):
    """Return (states, outcomes) after actions i32[T, N]."""
    env, params = built(made)
    return _play(env)(states, jnp.asarray(actions, jnp.int32), params)


def observe(made: PlatformerConfig, states) -> np.ndarray:
    """Return the pictures u8[N, H, W, 3]."""
    env, params = built(made)
    return np.asarray(_observe(env)(states, params))


def running(steps: int, count: int = 4) -> np.ndarray:
    """Return actions that run right and jump now and then, i32[steps, count]."""
    pattern = np.where(np.arange(steps) % 24 < 4, 6, 2)
    return np.repeat(pattern[:, None], count, axis=1)
