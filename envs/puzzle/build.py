"""From a validated configuration to the static environment and its traced parameters."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs import parameters
from envs.parameters import Uniform
from envs.platformer.filters import NAMES, pointwise
from envs.puzzle.config import PuzzleConfig
from envs.puzzle.dynamics import Dynamics
from envs.puzzle.env import Params, Puzzle
from envs.puzzle.render import Look, Pictures, cut
from envs.puzzle.solver import optimal_lengths


def build(config: PuzzleConfig, images: np.ndarray | None = None) -> tuple[Puzzle, Params]:
    """Return (Env, Params) of one configuration; `images` as in `PuzzleConfig.build`."""
    dynamics = Dynamics(
        height=config.height,
        width=config.width,
        horizon=config.max_steps,
        reward=config.reward,
        circular=config.circular,
    )
    shown = config.observation == "image"
    filters = {name: getattr(config.filters, name) for name in NAMES}
    ranged = tuple(name for name in NAMES if isinstance(filters[name], Uniform))
    look = Look(config.height, config.width, config.image_size, ranged if shown else ())
    env = Puzzle(dynamics, look, config.observation, config.start.mode)
    rewards = ("win_reward", "move_reward", "invalid_reward")
    table = (
        optimal_lengths(config.height, config.width, config.circular)
        if dynamics.has_table
        else None
    )
    params = Params(
        control={name: jnp.float32(getattr(config, name)) for name in rewards},
        moves=jnp.asarray(_ends(config.start.moves), jnp.int32),
        lengths=None if table is None else jnp.asarray(table),
        pictures=_pictures(config, look, images) if shown else None,
        filters={name: jnp.asarray(_ends(value), jnp.float32) for name, value in filters.items()},
    )
    return env, params


def _ends(value: Any) -> tuple[float, float]:
    return (value.low, value.high) if isinstance(value, Uniform) else (value, value)


def _pictures(config: PuzzleConfig, look: Look, images: np.ndarray | None) -> Pictures:
    pool = config.pool(*look.picture, images)
    if not look.ranged:  # filters that never change act once, on the pool
        pool = filtered(pool, dataclasses.asdict(config.filters))
    blanks = [parameters.rgb("background", color) for color in config.blank_color]
    return cut(look, pool, np.array(blanks, np.uint8))


def filtered(images: np.ndarray, settings: dict[str, float]) -> np.ndarray:
    """Return images after the colour filters, u8 like `images`, u8[..., 3]."""
    if settings == dataclasses.asdict(PuzzleConfig().filters):
        return images
    values = {name: jnp.float32(settings[name]) for name in NAMES}
    planes = tuple(jnp.asarray(images[..., channel], jnp.float32) for channel in range(3))
    return np.stack([np.asarray(plane) for plane in _pointwise(planes, values)], -1).astype(
        np.uint8
    )


_pointwise = jax.jit(pointwise)
