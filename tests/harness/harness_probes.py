"""A tiny environment with known answers, in the form that users' own would have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from envs.core import Config, Metric, Outcome
from envs.keys import LEVEL
from envs.parameters import CONTROL, choice, integer, number
from harness.policies.sources import PolicySet
from harness.policy import Policy
from protocols import Pair, Suite

SUCCESS = Metric("success", 1.0, (0.0, 1.0), binary=True)
RETURN = Metric("return", 10.0)


class ProbeState(NamedTuple):
    t: jax.Array  # i32[]
    length: jax.Array  # i32[]; steps until the episode terminates
    right: jax.Array  # f32[]; 1 while every action so far was 1
    key: jax.Array


@dataclass(frozen=True)
class Probe:
    """Shows one grey level. Success: action 1 at every step. Reward 1 per step."""

    lengths: str
    horizon: int

    num_actions = 3
    observation_shape = (2, 2, 3)
    metrics = (SUCCESS, RETURN)

    def reset(self, key, params):
        long = jax.random.bernoulli(jax.random.fold_in(key, LEVEL))
        length = {
            "three": jnp.int32(3),
            "one or hundred": jnp.where(long, 100, 1),
            "endless": jnp.int32(1_000_000),
        }[self.lengths]
        return ProbeState(jnp.int32(0), length, jnp.float32(1), key)

    def step(self, state, action, params):
        right = state.right * (action == 1)
        state = state._replace(t=state.t + 1, right=right)
        outcome = Outcome(
            reward=jnp.float32(1),
            terminated=state.t >= state.length,
            truncated=(state.t >= self.horizon) & (state.t < state.length),
            metrics={"success": right, "t": state.t.astype(jnp.float32)},
        )
        return state, outcome

    def observe(self, state, params):
        return jnp.full(self.observation_shape, params["grey"], jnp.uint8)


@dataclass(frozen=True)
class ProbeConfig(Config):
    environment: ClassVar[str] = "probe"
    grey: float = number(0.0, "What is shown.", low=0, high=255)
    lengths: str = choice("three", ("three", "one or hundred", "endless"), "Episode lengths.")
    horizon: int = integer(200, "Time limit.", low=1, high=1000, role=CONTROL, static=True)

    def build(self):
        brightest = getattr(self.grey, "high", self.grey)  # of a range, nothing else is drawn
        return Probe(self.lengths, self.horizon), {"grey": jnp.float32(brightest)}


def probe_pair(name: str = "grey", *, kind: str = "pair", grey: float = 200.0, **values) -> Pair:
    """A pair whose held-out side shows another grey level (the same one where kind is null)."""
    train = ProbeConfig(**values)
    shown = train.grey if kind == "null" else grey
    return Pair(
        name, "background", "probe", train, {"heldout": train.replace({"grey": shown})}, kind
    )


def always_right(obs, key):
    return jnp.int32(1)


def right_in_training(obs, key):
    """Succeeds on the training picture (dark), never on a bright one."""
    return jnp.where(obs[0, 0, 0] < 100, 1, 0)


def often_right(obs, key):
    """Succeeds in training; on a bright picture each step goes wrong with probability 0.2."""
    slip = jax.random.uniform(key) < 0.2
    return jnp.where((obs[0, 0, 0] >= 100) & slip, 0, 1)


def slipping(weights, carry, obs, key):
    """Each step goes wrong with a probability that grows with the grey level shown.

    As a module-level function it is compiled once, whatever its weights are.
    """
    chance = weights["base"] + weights["slope"] * obs[0, 0, 0].astype(jnp.float32) / 255
    return jnp.where(jax.random.uniform(key) < chance, 0, 1), carry


def agent(seed: int = 0, base: float = 0.02, slope: float = 0.2, **facts) -> Policy:
    """A policy with known answers: success (1 - base - slope * grey / 255) ** 3."""
    weights = {"base": jnp.float32(base), "slope": jnp.float32(slope)}
    return Policy("agent", slipping, weights=weights, seed=seed, **facts)


def agents(seeds: int = 3, base: float = 0.02, slope: float = 0.2, **facts) -> list[Policy]:
    """Training seeds that differ a little in how much the picture disturbs them."""
    return [agent(seed, base, slope + 0.02 * seed, **facts) for seed in range(seeds)]


def probe_suite(*greys: float, name: str = "probes") -> Suite:
    """A suite of pairs on one training side, one held-out grey level each."""
    return Suite(name, 1, "", tuple(probe_pair(f"grey-{grey:g}", grey=grey) for grey in greys))


def probe_sweep() -> Pair:
    """Four doses of grey, the first of which is the training side."""
    doses = {"0": 0.0, "50": 50.0, "100": 100.0, "200": 200.0}
    train = ProbeConfig()
    sides = {name: train.replace({"grey": dose}) for name, dose in doses.items()}
    return Pair("doses", "background", "probe", train, sides, "sweep", doses=doses,
                parameter="grey")  # fmt: skip


def probe_widening() -> Pair:
    """Training on black or on dark grey, before one bright held-out side."""
    narrow, wide = ProbeConfig(), ProbeConfig(grey={"uniform": [0, 20]})
    sides = {"bright": narrow.replace({"grey": 200.0})}
    return Pair("wider", "background", "narrow", narrow, sides, "widening", wide_name="wide",
                wide=wide, prediction="The gap shrinks.")  # fmt: skip


def widened_agents(seeds: int = 3) -> PolicySet:
    """Policies for `probe_widening`: narrow training is disturbed by grey, wide training less."""
    pair = probe_widening()
    sides = {"narrow": (pair.train, 0.3), "wide": (pair.wide, 0.05)}
    return PolicySet(
        "agent",
        {
            name: tuple(agents(seeds, 0.0, slope, train={"name": name, "digest": config.digest}))
            for name, (config, slope) in sides.items()
        },
    )
