"""Lanes of episodes that follow one another: what a trainer outside this project steps.

The key of a lane's n-th episode is made of (seed, lane, n) under the tag of training keys, as in
the reference trainer: it does not depend on the number of lanes, and no evaluation key equals it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from envs.core import Env
from envs.errors import InputError
from envs.keys import named_key, training_key


class Lanes(NamedTuple):
    """The running episodes, leading axis N."""

    states: Any
    started: jax.Array  # i32[N]; episodes started in each lane
    returns: jax.Array  # f32[N]; rewards of the running episode so far
    lengths: jax.Array  # i32[N]; its steps so far
    ended: jax.Array  # bool[N]; the episode is over, the lane waits for its next one


class Step(NamedTuple):
    """What one step of all lanes brought."""

    reward: jax.Array  # f32[N]
    terminated: jax.Array  # bool[N]
    truncated: jax.Array  # bool[N]
    metrics: dict[str, jax.Array]  # f32[N] each; "return" and "length" of the episode so far too


def root_key(seed: int) -> jax.Array:
    """Return the key under which all episodes of a training lie; `seed` in [0, 2**32)."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise InputError(f"seed: expected a whole number in [0, 2**32), got {seed!r}")
    return named_key(training_key(seed), "episodes")


def observe_all(env: Env) -> Callable:
    """Return (states, params) -> observations [N, ...], by the environment's own batch path."""
    return getattr(env, "observe_batch", jax.vmap(env.observe, (0, None)))


@partial(jax.jit, static_argnames=("env", "num_envs"))
def begin(env: Env, num_envs: int, params: Any, root: jax.Array) -> tuple[Lanes, jax.Array]:
    """Start the first episode of every lane; returns the lanes and what they show."""
    zeros = jnp.zeros(num_envs, jnp.int32)
    states = _fresh(env, params, root, zeros)
    lanes = Lanes(states, zeros + 1, zeros.astype(jnp.float32), zeros, zeros.astype(bool))
    return lanes, observe_all(env)(states, params)


@partial(jax.jit, static_argnames="env", donate_argnames="lanes")
def advance(
    env: Env, params: Any, root: jax.Array, lanes: Lanes, actions: jax.Array
) -> tuple[Lanes, jax.Array, Step]:
    """Step every lane once; a lane that waits starts its next episode instead (its action is
    ignored, its reward is 0). Returns the lanes, what they show now, and the step."""
    waited = lanes.ended
    states, outcome = jax.vmap(env.step, (0, 0, None))(lanes.states, actions, params)
    reward = jnp.where(waited, 0.0, outcome.reward)
    terminated, truncated = outcome.terminated & ~waited, outcome.truncated & ~waited
    stepped = Lanes(
        states, lanes.started, lanes.returns + reward, lanes.lengths + ~waited,
        terminated | truncated,
    )  # fmt: skip
    lanes = jax.lax.cond(
        waited.any(), lambda: _start_anew(env, params, root, stepped, waited), lambda: stepped
    )
    ended = {"return": stepped.returns, "length": stepped.lengths.astype(jnp.float32)}
    step = Step(reward, terminated, truncated, {**outcome.metrics, **ended})
    return lanes, observe_all(env)(lanes.states, params), step


@partial(jax.jit, static_argnames="env", donate_argnames="lanes")
def restart(
    env: Env, params: Any, root: jax.Array, lanes: Lanes, which: jax.Array
) -> tuple[Lanes, jax.Array]:
    """Start the next episode of the lanes in `which`, bool[N]; returns lanes and what they show."""
    lanes = _start_anew(env, params, root, lanes, which)
    return lanes, observe_all(env)(lanes.states, params)


def _start_anew(env: Env, params: Any, root: jax.Array, lanes: Lanes, which: jax.Array) -> Lanes:
    return Lanes(
        where(which, _fresh(env, params, root, lanes.started), lanes.states),
        lanes.started + which,
        jnp.where(which, 0.0, lanes.returns),
        jnp.where(which, 0, lanes.lengths),
        lanes.ended & ~which,
    )


def _fresh(env: Env, params: Any, root: jax.Array, numbers: jax.Array) -> Any:
    def start(lane: jax.Array, number: jax.Array) -> Any:
        return env.reset(jax.random.fold_in(jax.random.fold_in(root, lane), number), params)

    return jax.vmap(start)(jnp.arange(numbers.shape[0]), numbers)


def where(chosen: jax.Array, new: Any, old: Any) -> Any:
    """Take the lanes of `new` where `chosen`, bool[N]; leaves have any shape behind that axis."""

    def pick(a: jax.Array, b: jax.Array) -> jax.Array:
        return jnp.where(chosen.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, new, old)
