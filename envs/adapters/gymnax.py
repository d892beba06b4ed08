"""Our environments as pure functions in the manner of gymnax, for JAX trainers.

`reset(key, params)` and `step(key, state, action, params)` work on one environment and start the
next episode by themselves; trainers `vmap` and `scan` them. Nothing here needs gymnax.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from envs.adapters.episodes import observe_all, where
from envs.core import Env
from envs.keys import TRAIN


class Discrete(NamedTuple):
    """The actions 0 … n-1."""

    n: int
    shape: tuple[int, ...] = ()
    dtype: Any = jnp.int32

    def sample(self, key: jax.Array) -> jax.Array:
        """Return a uniform action, i32[]."""
        return jax.random.randint(key, self.shape, 0, self.n, self.dtype)


class Box(NamedTuple):
    """Arrays of one shape and dtype within bounds."""

    low: float
    high: float
    shape: tuple[int, ...]
    dtype: Any


class Running(NamedTuple):
    """One environment's state: the episode's own, and what its rewards and steps add up to."""

    episode: Any
    returns: jax.Array  # f32[]
    length: jax.Array  # i32[]


@dataclass(frozen=True)
class Functions:
    """An environment for JAX trainers (see the module)."""

    env: Env
    default_params: Any = field(compare=False, hash=False, repr=False)

    @property
    def num_actions(self) -> int:
        return self.env.num_actions

    def action_space(self, params: Any = None) -> Discrete:
        return Discrete(self.env.num_actions)

    def observation_space(self, params: Any = None) -> Box:
        dtype = jnp.dtype(getattr(self.env, "observation_dtype", jnp.uint8))
        low, high = (0, 255) if dtype == jnp.uint8 else (-jnp.inf, jnp.inf)
        return Box(low, high, tuple(self.env.observation_shape), dtype)

    def reset(self, key: jax.Array, params: Any = None) -> tuple[jax.Array, Running]:
        """Start an episode; returns (observation, state).

        The key (typed, or u32[2]) gets the tag of training keys: whatever key a trainer starts
        from, the episode is none of those that policies are evaluated on.
        """
        params = self.default_params if params is None else params
        state = self._start(key, params)
        return _observe(self.env, state.episode, params), state

    def step(
        self, key: jax.Array, state: Running, action: jax.Array, params: Any = None
    ) -> tuple[jax.Array, Running, jax.Array, jax.Array, dict[str, jax.Array]]:
        """Advance one step; where the episode ends, the state is the start of the next one.

        Returns:
            observation (of the new episode where one started), state, reward f32[], done bool[],
            and infos: "terminated" and "truncated" bool[]; the environment's metrics, "return" and
            "length" of the episode so far, f32[], which judge it where done; "discount" f32[], 0
            where the task terminated.
        """
        params = self.default_params if params is None else params
        episode, outcome = self.env.step(state.episode, action, params)
        moved = Running(episode, state.returns + outcome.reward, state.length + 1)
        done = outcome.terminated | outcome.truncated
        infos = {
            **outcome.metrics,
            "return": moved.returns,
            "length": moved.length.astype(jnp.float32),
            "terminated": outcome.terminated,
            "truncated": outcome.truncated,
            "discount": 1.0 - outcome.terminated.astype(jnp.float32),
        }
        state = _if_any(self._start)(done, moved, key, params)
        return _observe(self.env, state.episode, params), state, outcome.reward, done, infos

    def _start(self, key: jax.Array, params: Any) -> Running:
        if not jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
            key = jax.random.wrap_key_data(key)
        episode = self.env.reset(jax.random.fold_in(key, TRAIN), params)
        return Running(episode, jnp.float32(0), jnp.int32(0))


def make(env: Env, params: Any) -> Functions:
    """Return `env` as functions for JAX trainers; `params` are what they use where given none."""
    return Functions(env, params)


# Trainers vmap what is here, one lane at a time in their eyes. Two things are worth doing for all
# lanes together: drawing new levels only in steps in which some episode ends (under a plain vmap
# every lane would draw one every step), and drawing the pictures by the batch path.


def _if_any(start: Callable) -> Callable:
    @jax.custom_batching.custom_vmap
    def start_if(done: jax.Array, state: Running, key: jax.Array, params: Any) -> Running:
        return jax.lax.cond(done, lambda: start(key, params), lambda: state)

    @start_if.def_vmap
    def _(size: int, batched: Any, done, state, key, params):
        if not _all(batched[0]) or not _all(batched[2]) or _any(batched[3]):
            raise NotImplementedError("map over states, actions and keys, not over params")
        state = _spread(size, state, batched[1])
        both = jax.vmap(start, (0, None))

        def anew() -> Running:
            return where(done, both(key, params), state)

        result = jax.lax.cond(done.any(), anew, lambda: state)
        return result, jax.tree.map(lambda _: True, result)

    return start_if


def _observe(env: Env, episode: Any, params: Any) -> jax.Array:
    @jax.custom_batching.custom_vmap
    def observe(episode: Any, params: Any) -> jax.Array:
        return env.observe(episode, params)

    @observe.def_vmap
    def _(size: int, batched: Any, episode, params):
        if _any(batched[1]):
            raise NotImplementedError("map over states, actions and keys, not over params")
        return observe_all(env)(_spread(size, episode, batched[0]), params), True

    return observe(episode, params)


def _all(flags: Any) -> bool:
    return all(jax.tree.leaves(flags))


def _any(flags: Any) -> bool:
    return any(jax.tree.leaves(flags))


def _spread(size: int, tree: Any, batched: Any) -> Any:
    """Give every leaf the leading axis; those without one are the same in all lanes."""
    return jax.tree.map(
        lambda leaf, has: leaf if has else jnp.broadcast_to(leaf, (size, *leaf.shape)),
        tree, batched,
    )  # fmt: skip
