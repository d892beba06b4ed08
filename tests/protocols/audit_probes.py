"""A walker on a line, with one parameter for everything that an audit has to find out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from envs.core import Config, Metric, Outcome
from envs.parameters import CONTROL, flag, integer, number
from protocols import Pair

WIDTH = 24


class Latent(NamedTuple):
    x: jax.Array  # f32[]
    speed: jax.Array  # f32[]
    t: jax.Array  # i32[]


class State(NamedTuple):
    latent: Latent
    key: jax.Array


@dataclass(frozen=True)
class Walker:
    """Actions: stay, right, left. Success: the last column is reached by the horizon."""

    horizon: int = 20

    num_actions = 3
    observation_shape = (4, WIDTH, 3)
    metrics = (Metric("success", 1.0, (0.0, 1.0), binary=True), Metric("return", 20.0))
    scripts = (("noop", 0), ("right", 1))

    def reset(self, key, params):
        return State(Latent(jnp.float32(1), jnp.float32(0), jnp.int32(0)), key)

    def step(self, state, action, params):
        before = state.latent
        push = (action == 1).astype(jnp.float32) - (action == 2)
        speed = jnp.clip(before.speed * params["friction"] + push, -1, 1)
        x = before.x + speed + params["leak"]
        latent = Latent(x, speed, before.t + 1)
        over = latent.t >= self.horizon
        success = (x >= params["goal"]).astype(jnp.float32)
        outcome = Outcome(speed, jnp.zeros((), bool), over, {"success": success})
        return State(latent, state.key), outcome

    def observe(self, state, params):
        column = jnp.arange(WIDTH) == jnp.clip(jnp.rint(state.latent.x), 0, WIDTH - 1)
        row = jnp.where(column, params["ink"], params["grey"])
        key = jax.random.fold_in(state.key, state.latent.t)
        noise = params["noise"] * jax.random.normal(key, self.observation_shape)
        picture = jnp.broadcast_to(row[None, :, None], self.observation_shape) + noise
        return jnp.clip(picture, 0, 255).astype(jnp.uint8)


@dataclass(frozen=True)
class WalkerConfig(Config):
    environment: ClassVar[str] = "walker"
    grey: float = number(0.0, "Level of the background.", low=0, high=255)
    ink: float = number(200.0, "Level of the walker.", low=0, high=255)
    noise: float = number(0.0, "Spread of the noise.", low=0, high=255)
    friction: float = number(0.8, "Share of speed kept.", low=0, high=1, role=CONTROL)
    goal: float = number(15.0, "Where it ends.", role=CONTROL)
    # Declared as visual, and not: what a mistake in an environment looks like.
    leak: float = number(0.0, "Moves the walker although it should only show.")
    lit: bool = flag(False, "Whether the light is on; without effect here.", static=False)
    light: float = number(1.0, "Strength of the light.", context={"lit": True})
    min_size: int = integer(1, "Smallest size; without effect here.", low=0, high=99)
    max_size: int = integer(4, "Largest size; without effect here.", low=0, high=99)

    def build(self):
        names = ("grey", "ink", "noise", "friction", "goal", "leak")
        return Walker(), {name: jnp.float32(getattr(self, name)) for name in names}


class ForeignConfig:
    """What somebody brings who declares nothing: it builds, and has a digest."""

    def __init__(self, **values: float) -> None:
        self.inner = WalkerConfig(**values)

    @property
    def digest(self) -> str:
        return "foreign " + self.inner.digest

    def build(self):
        return self.inner.build()


def walker_pair(
    train: dict | None = None, *, kind: str = "pair", note: str = "", **heldout
) -> Pair:
    """Return a pair of walkers; `train` and the keywords are changes of the defaults."""
    side = WalkerConfig().replace(train or {})
    sides = {"heldout": side.replace(heldout)}
    return Pair("walker", "looks", "walker", side, sides, note=note)


def foreign_pair(**heldout: float) -> Pair:
    return Pair("foreign", "looks", "f", ForeignConfig(), {"heldout": ForeignConfig(**heldout)})
