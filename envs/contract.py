"""`check_env`: the contract every environment keeps, as a function anyone can run on their own."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs.core import Env


def check_env(env: Env, params: Any, *, episodes: int = 4, steps: int = 32, seed: int = 0) -> None:
    """Play random actions and check the contract of `envs.core.Env`.

    Checked: hashable; observation is of the declared shape and dtype, and pure; `vmap` (and the
    batch paths, where offered) equal single calls; the same key gives the same episode; metrics
    and rewards are finite f32 scalars; `truncated` comes at the horizon and not before; stepping
    keeps the structure, shapes and dtypes of the state.

    Raises:
        AssertionError: naming the broken promise.
    """
    assert hash(env) == hash(env), "an environment is hashable"
    keys = jax.random.split(jax.random.key(seed), episodes)
    actions = jax.random.randint(jax.random.key(seed + 1), (steps, episodes), 0, env.num_actions)
    observe = jax.jit(env.observe)
    observe_all = jax.jit(getattr(env, "observe_batch", jax.vmap(env.observe, (0, None))))
    step = jax.jit(env.step)
    step_all = jax.jit(getattr(env, "step_batch", jax.vmap(env.step, (0, 0, None))))

    states = jax.jit(jax.vmap(env.reset, (0, None)))(keys, params)
    reset = jax.jit(env.reset)
    firsts = singles = [reset(key, params) for key in keys]
    _assert_same(states, singles, "vmap of reset equals single resets")
    _check_picture(env, observe(singles[0], params))
    for t in range(min(steps, env.horizon)):
        states, outcome = step_all(states, actions[t], params)
        pairs = [step(one, action, params) for one, action in zip(singles, actions[t], strict=True)]
        singles = [state for state, _ in pairs]
        _assert_same((states, outcome), pairs, "a batch of steps equals single steps")
        _check_outcome(env, pairs[0][1], t + 1)
    pictures = [observe(one, params) for one in singles]
    _assert_same(observe_all(states, params), pictures, "a batch of pictures equals single ones")
    _assert_same(observe(singles[0], params)[None], pictures[:1], "observing twice shows the same")
    _assert_same(reset(keys[0], params), firsts[0], "the same key starts the same episode")


def _check_picture(env: Env, picture: jax.Array) -> None:
    dtype = jnp.dtype(getattr(env, "observation_dtype", jnp.uint8))
    assert picture.dtype == dtype, f"observations are {dtype}, not {picture.dtype}"
    assert picture.shape == env.observation_shape, f"{picture.shape} != {env.observation_shape}"


def _check_outcome(env: Env, outcome: Any, t: int) -> None:
    assert outcome.reward.shape == () and outcome.reward.dtype == jnp.float32, "reward is f32[]"
    assert np.isfinite(outcome.reward), "rewards are finite"
    own = {metric.name for metric in env.metrics} - {"return"}
    assert own <= set(outcome.metrics), f"missing metrics: {own - set(outcome.metrics)}"
    for name, value in outcome.metrics.items():
        assert value.shape == () and np.isfinite(value), f"metric {name} is a finite scalar"
    ended = bool(outcome.terminated)
    assert bool(outcome.truncated) == (t >= env.horizon) or ended, "truncated means the horizon"


def _assert_same(batch: Any, singles: Any, promise: str) -> None:
    """Compare a batched tree with a list of single trees, bit for bit (keys by their data)."""

    def plain(leaf):
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if is_key else leaf)

    if not isinstance(singles, list):
        batch, singles = jax.tree.map(lambda leaf: leaf[None], batch), [singles]
    stacked = jax.tree.map(lambda *leaves: np.stack([plain(leaf) for leaf in leaves]), *singles)
    for path, leaf in jax.tree_util.tree_leaves_with_path(jax.tree.map(plain, batch)):
        other = dict(jax.tree_util.tree_leaves_with_path(stacked))[path]
        assert leaf.shape == other.shape and leaf.dtype == other.dtype, f"{promise}: {path}"
        assert np.array_equal(leaf, other), f"{promise}: {jax.tree_util.keystr(path)} differs"
