"""An environment whose pictures tell the step, the place and the channel, and are not square."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from envs.core import Metric, Outcome
from envs.keys import LEVEL
from harness.policies.settling import settle
from harness.policy import policy
from harness.rollouts.rollout import play

SHAPE = (2, 3, 2)


class StripesState(NamedTuple):
    t: jax.Array
    length: jax.Array
    trace: jax.Array  # f32[]; a number in which every action so far has left its mark
    key: jax.Array


@dataclass(frozen=True)
class Stripes:
    """Episodes of 1 … 5 steps; every pixel is another number; success: every action was 1."""

    num_actions = 5
    horizon = 9
    observation_shape = SHAPE
    metrics = (Metric("success", 1.0, (0.0, 1.0), binary=True), Metric("trace", 1.0))

    def reset(self, key, params):
        length = jax.random.randint(jax.random.fold_in(key, LEVEL), (), 1, 6)
        return StripesState(jnp.int32(0), length, jnp.float32(1), key)

    def step(self, state, action, params):
        trace = (state.trace * 7 + action) % 8191
        good = (action == 1) & ((state.trace < 8192) | (state.t == 0))
        state = state._replace(t=state.t + 1, trace=trace)
        metrics = {"success": good.astype(jnp.float32), "trace": trace}
        return state, Outcome(
            good.astype(jnp.float32), state.t >= state.length, jnp.bool_(False), metrics
        )

    def observe(self, state, params):
        return (state.t * 12 + jnp.arange(12) + state.length).astype(jnp.uint8).reshape(SHAPE)


def picture(t, length=0):
    """What `Stripes` shows at step t of an episode, less the length."""
    return (t * 12 + np.arange(12) + length).astype(np.uint8).reshape(SHAPE)


def rolled(function, episodes=9, num_envs=4, **values):
    """The records of a function as a policy of some kind, through the dry run."""
    made, _ = settle(policy(function, **values), Stripes())
    return play(Stripes(), None, made, episodes=episodes, num_envs=num_envs)


def same_records(one, other):
    return all(np.array_equal(column, other.columns[name]) for name, column in one.columns.items())
