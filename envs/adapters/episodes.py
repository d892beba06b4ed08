"""Lanes of episodes that follow one another: what a trainer outside this project steps.

The key of a lane's n-th episode is made of (seed, lane, n) under the tag of training keys, as in
the reference trainer: it does not depend on the number of lanes, and no evaluation key equals it.

Between calls keys are kept as their words, u32[..., 2]: JAX takes a much slower way through Python
for programs that return typed keys.
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

IMPL = "threefry2x32"


class Lanes(NamedTuple):
    """The running episodes, leading axis N."""

    states: Any  # keys in it as words
    started: jax.Array  # i32[N]; episodes started in each lane
    returns: jax.Array  # f32[N]; rewards of the running episode so far
    lengths: jax.Array  # i32[N]; its steps so far
    ended: jax.Array  # bool[N]; the episode is over, the lane waits for its next one


def rows_of(env: Env, params: Any) -> tuple[str, ...]:
    """Return what each row of a step's outcome is (see `advance`)."""
    state = jax.eval_shape(env.reset, jax.random.key(0, impl=IMPL), params)
    metrics = jax.eval_shape(env.step, state, jnp.int32(0), params)[1].metrics
    return ("reward", "terminated", "truncated", *sorted({*metrics, "return", "length"}))


def root_key(seed: int) -> jax.Array:
    """Return the words, u32[2], of the key of all episodes of a training; `seed` in [0, 2**32)."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise InputError(f"seed: expected a whole number in [0, 2**32), got {seed!r}")
    return jax.random.key_data(named_key(training_key(seed), "episodes"))


def observe_all(env: Env) -> Callable:
    """Return (states, params) -> observations [N, ...], by the batch path where there is one."""
    return getattr(env, "observe_batch", jax.vmap(env.observe, (0, None)))


def step_all(env: Env) -> Callable:
    """Return (states, actions, params) -> (states, outcomes), by the batch path as well."""
    return getattr(env, "step_batch", jax.vmap(env.step, (0, 0, None)))


def no_episodes(env: Env, num_envs: int, params: Any) -> Lanes:
    """Return lanes before their first episode: `restart` begins it."""

    def first(key: jax.Array) -> Any:
        return _words(env.reset(key, params))

    key = jax.random.key(0, impl=IMPL)
    states = jax.tree.map(
        lambda leaf: jnp.zeros((num_envs, *leaf.shape), leaf.dtype), jax.eval_shape(first, key)
    )
    none = jnp.zeros(num_envs, jnp.int32)
    return Lanes(states, none, none.astype(jnp.float32), none + 0, none.astype(bool))


@partial(jax.jit, static_argnames="env", donate_argnames="lanes")
def advance(
    env: Env, params: Any, root: jax.Array, lanes: Lanes, actions: jax.Array
) -> tuple[Lanes, jax.Array, jax.Array]:
    """Step every lane once; a lane that waits starts its next episode instead (its action is
    ignored, its reward is 0).

    Returns:
        The lanes, what they show now, and the outcome as f32[rows, N], one array because every one
        that is handed out costs time: reward, terminated, truncated, and the metrics of the episode
        so far, "return" and "length" among them (`rows_of` has their names).
    """
    waited, states = lanes.ended, _keys(env, params, lanes.states)
    states, outcome = step_all(env)(states, actions, params)
    reward = jnp.where(waited, 0.0, outcome.reward)
    terminated, truncated = outcome.terminated & ~waited, outcome.truncated & ~waited
    stepped = Lanes(
        _words(states), lanes.started, lanes.returns + reward, lanes.lengths + ~waited,
        terminated | truncated,
    )  # fmt: skip
    lanes = jax.lax.cond(
        waited.any(), lambda: _start_anew(env, params, root, stepped, waited), lambda: stepped
    )
    found = {
        **outcome.metrics, "reward": reward, "terminated": terminated, "truncated": truncated,
        "return": stepped.returns, "length": stepped.lengths,
    }  # fmt: skip
    rows = [found[name].astype(jnp.float32) for name in rows_of(env, params)]
    return lanes, _observe(env, params, lanes), jnp.stack(rows)


@partial(jax.jit, static_argnames="env", donate_argnames="lanes")
def restart(
    env: Env, params: Any, root: jax.Array, lanes: Lanes, which: jax.Array
) -> tuple[Lanes, jax.Array]:
    """Begin the next episode of the lanes in `which`, bool[N]; returns lanes and what they show."""
    lanes = _start_anew(env, params, root, lanes, which)
    return lanes, _observe(env, params, lanes)


def _start_anew(env: Env, params: Any, root: jax.Array, lanes: Lanes, which: jax.Array) -> Lanes:
    return Lanes(
        where(which, _words(_fresh(env, params, root, lanes.started)), lanes.states),
        lanes.started + which,
        jnp.where(which, 0.0, lanes.returns),
        jnp.where(which, 0, lanes.lengths),
        lanes.ended & ~which,
    )


def _fresh(env: Env, params: Any, root: jax.Array, numbers: jax.Array) -> Any:
    key = jax.random.wrap_key_data(root, impl=IMPL)

    def start(lane: jax.Array, number: jax.Array) -> Any:
        return env.reset(jax.random.fold_in(jax.random.fold_in(key, lane), number), params)

    return jax.vmap(start)(jnp.arange(numbers.shape[0]), numbers)


def _observe(env: Env, params: Any, lanes: Lanes) -> jax.Array:
    return observe_all(env)(_keys(env, params, lanes.states), params)


def _words(tree: Any) -> Any:
    """Return a tree with its keys as words."""
    return jax.tree.map(lambda leaf: jax.random.key_data(leaf) if _is_key(leaf) else leaf, tree)


def _keys(env: Env, params: Any, states: Any) -> Any:
    """Return states with their words as keys again."""
    like = jax.eval_shape(env.reset, jax.random.key(0, impl=IMPL), params)
    return jax.tree.map(
        lambda leaf, one: jax.random.wrap_key_data(leaf, impl=IMPL) if _is_key(one) else leaf,
        states, like,
    )  # fmt: skip


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def where(chosen: jax.Array, new: Any, old: Any) -> Any:
    """Take the lanes of `new` where `chosen`, bool[N]; leaves have any shape behind that axis."""

    def pick(a: jax.Array, b: jax.Array) -> jax.Array:
        return jnp.where(chosen.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, new, old)
