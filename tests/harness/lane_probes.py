"""An environment whose records give away everything that can go wrong between episodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from envs.core import Metric, Outcome
from envs.keys import LEVEL, POLICY, SCENE, episode_key

HORIZON = 100


class TellState(NamedTuple):
    t: jax.Array  # i32[]
    length: jax.Array  # i32[]
    start: jax.Array  # f32[]; drawn at the start, another in every episode
    first: jax.Array  # i32[]; the first action, -1 before it
    code: jax.Array  # i32[]; a checksum of all actions
    key: jax.Array


@dataclass(frozen=True)
class Tell:
    """Reward 1 per step. `length` is 1, 3, HORIZON, or "coin": 1 or HORIZON by a fair coin.

    In the episode whose start is `broken`, the reward or a metric is NaN at step 2.
    """

    length: int | str = "coin"
    broken: tuple[str, float] | None = None  # "reward" | "code", start of the episode

    num_actions = 3
    horizon = HORIZON
    observation_shape = (2, 2, 1)
    metrics = (Metric("start", 1.0), Metric("return", 10.0))

    def reset(self, key, params):
        level = jax.random.fold_in(key, LEVEL)
        long = jax.random.bernoulli(level)
        coin = jnp.where(long, HORIZON, 1)
        length = coin if self.length == "coin" else jnp.int32(self.length)
        start = jax.random.uniform(jax.random.fold_in(key, SCENE))
        return TellState(jnp.int32(0), length, start, jnp.int32(-1), jnp.int32(0), key)

    def step(self, state, action, params):
        state = state._replace(
            t=state.t + 1,
            first=jnp.where(state.t == 0, action, state.first),
            code=(state.code * 3 + action + 1) % 9973,
        )
        name, start = self.broken or ("", -1.0)
        now = (state.start == jnp.float32(start)) & (state.t == 3)
        values = {"reward": jnp.float32(1), "code": state.code.astype(jnp.float32)}
        values = {one: jnp.where(now & (one == name), jnp.nan, x) for one, x in values.items()}
        metrics = {"start": state.start, "first": state.first.astype(jnp.float32)}
        terminated = (state.t >= state.length) & (state.length < self.horizon)
        return state, Outcome(
            reward=values["reward"],
            terminated=terminated,
            truncated=state.t >= self.horizon,
            metrics={**metrics, "code": values["code"]},
        )

    def observe(self, state, params):
        return jnp.full(self.observation_shape, state.t, jnp.uint8)


def alone(env: Tell, act, episode: int) -> dict[str, float]:
    """Return the record of one episode, played in a plain loop that knows no batches."""
    key, step = episode_key(0, 0, episode), jax.jit(env.step)
    choose = jax.jit(
        lambda obs, t: act(obs, jax.random.fold_in(jax.random.fold_in(key, POLICY), t))
    )
    state, total, t = env.reset(key, None), 0.0, 0
    while True:
        state, outcome = step(state, choose(env.observe(state, None), t), None)
        total, t = total + float(outcome.reward), t + 1
        if outcome.terminated or outcome.truncated:
            break
    record = {name: float(value) for name, value in outcome.metrics.items()}
    ends = {"terminated": float(outcome.terminated), "truncated": float(outcome.truncated)}
    return {**record, **ends, "return": total, "length": float(t)}


@jax.jit
def starts(episodes: jax.Array) -> jax.Array:
    """Return f32[N], what every episode draws at its start."""
    keys = jax.vmap(partial(episode_key, 0, 0))(episodes)
    return jax.vmap(lambda key: jax.random.uniform(jax.random.fold_in(key, SCENE)))(keys)


def sampled(obs, key):
    """A policy that draws its actions."""
    return jax.random.randint(key, (), 0, Tell.num_actions)


def counting(obs, count, key):
    """A policy with a memory: its action is its step, modulo the number of actions."""
    return count % Tell.num_actions, count + 1
