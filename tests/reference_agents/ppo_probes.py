"""Tiny environments with known answers, each proving one thing about a learner; a tiny network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp

from envs.core import Metric, Outcome

METRICS = (Metric("score", 1.0, doc="the last reward"),)


class State(NamedTuple):
    t: jax.Array  # i32[]; steps since the episode began
    memory: jax.Array  # i32[]; what the probe remembers
    key: jax.Array  # the episode's key


@dataclass(frozen=True)
class Probe:
    """What all probes share: an episode begins at t = 0, and a picture is one grey level."""

    num_actions: int = 2
    horizon: int = 1
    observation_shape: tuple[int, int, int] = (1, 1, 1)
    metrics = METRICS

    def reset(self, key, params):
        return State(jnp.int32(0), jnp.int32(0), key)

    def observe(self, state, params):
        return jnp.full(self.observation_shape, 100 * state.t, jnp.uint8)

    def _go_on(self, state, reward, *, terminated=False, truncated=False, memory=0):
        reward = jnp.float32(reward)
        outcome = Outcome(reward, jnp.bool_(terminated), jnp.bool_(truncated), {"score": reward})
        return State(state.t + 1, jnp.int32(memory), state.key), outcome


@dataclass(frozen=True)
class ConstantReward(Probe):
    """One step, reward 1: the value of the only observation is 1."""

    def step(self, state, action, params):
        return self._go_on(state, 1.0, terminated=True)


@dataclass(frozen=True)
class TimeLimit(Probe):
    """Reward 1 for ever, the same picture for ever, cut every 5 steps: value 1 / (1 - gamma)."""

    horizon: int = 5

    def step(self, state, action, params):
        return self._go_on(state, 1.0, truncated=state.t + 1 >= self.horizon)

    def observe(self, state, params):
        return jnp.full(self.observation_shape, 100, jnp.uint8)


@dataclass(frozen=True)
class DelayedReward(Probe):
    """Two steps, reward 1 at the second: values gamma, then 1."""

    horizon: int = 2

    def step(self, state, action, params):
        return self._go_on(state, state.t == 1, terminated=state.t == 1)


@dataclass(frozen=True)
class TwoStepChoice(Probe):
    """The first action decides the reward of the second step, and nothing shows it: 1 is right."""

    horizon: int = 2

    def step(self, state, action, params):
        memory = jnp.where(state.t == 0, action, state.memory)
        reward = (state.t == 1) & (memory == 1)
        return self._go_on(state, reward, terminated=state.t == 1, memory=memory)


@dataclass(frozen=True)
class NoisyObservation(Probe):
    """The action must say whether a picture is bright; noise is as large as the signal."""

    observation_shape: tuple[int, int, int] = (8, 8, 3)

    def reset(self, key, params):
        return State(jnp.int32(0), jax.random.bernoulli(key).astype(jnp.int32), key)

    def step(self, state, action, params):
        return self._go_on(state, action == state.memory, terminated=True)

    def observe(self, state, params):
        noise = jax.random.normal(jax.random.fold_in(state.key, 1), self.observation_shape)
        return jnp.clip(100.0 + 40.0 * state.memory + 40.0 * noise, 0, 255).astype(jnp.uint8)


@dataclass(frozen=True)
class RandomLength(Probe):
    """Episodes of 1 to 4 steps, drawn from the episode's key; the picture counts the steps."""

    horizon: int = 4

    def reset(self, key, params):
        return State(jnp.int32(0), jax.random.randint(key, (), 1, 5), key)

    def step(self, state, action, params):
        over = state.t + 1 >= state.memory
        return self._go_on(state, 1.0, terminated=over, memory=state.memory)

    def observe(self, state, params):
        return jnp.full(self.observation_shape, state.t, jnp.uint8)


class TinyNet(nn.Module):
    """One hidden layer; enough for every probe."""

    num_actions: int = 2

    def compact(self, obs):
        return obs

    @nn.compact
    def judge(self, obs):
        x = obs.reshape(*obs.shape[:-3], -1).astype(jnp.float32) / 255.0
        x = nn.tanh(nn.Dense(16, name="hidden")(x))
        logits = nn.Dense(self.num_actions, name="policy")(x)
        return logits, nn.Dense(1, name="value")(x)[..., 0]

    def __call__(self, obs):
        return self.judge(self.compact(obs))
