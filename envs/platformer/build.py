"""From a validated configuration to the static environment and its traced parameters."""

from __future__ import annotations

import math

import jax.numpy as jnp

from envs import parameters
from envs.parameters import CONTROL, Uniform
from envs.platformer.config import ROTATING, SHAPES, PlatformerConfig
from envs.platformer.dynamics import Dynamics
from envs.platformer.env import Params, Platformer, pad_pool
from envs.platformer.scene import Look, Pool

POOL_LENGTH = 16  # pools are padded to multiples of this, so that their size changes no program


def build(config: PlatformerConfig) -> tuple[Platformer, Params]:
    """Return (Env, Params) of one configuration."""
    tables: dict[str, dict] = {"control": {}, "visual": {}}
    ranged: dict[str, list[str]] = {"control": [], "visual": []}
    for path, spec, value in parameters.walk(config):
        if spec.static or spec.kind not in ("number", "integer"):
            continue
        side = "control" if spec.role == CONTROL else "visual"
        ends = (value.low, value.high) if isinstance(value, Uniform) else (value, value)
        tables[side][path] = jnp.asarray(ends, jnp.float32)
        if isinstance(value, Uniform):
            ranged[side].append(path)
    some = config.distractors
    tables["visual"]["distractors.can_move"] = jnp.full(2, float(some.can_move))
    tables["visual"]["distractors.can_rotate"] = jnp.full(2, float(some.can_rotate))
    env = Platformer(
        dynamics=_dynamics(config),
        look=_look(config),
        ranged_control=tuple(ranged["control"]),
        ranged_visual=tuple(ranged["visual"]),
    )
    return env, Params(tables["control"], tables["visual"], _pools(config), _lights(config))


def _dynamics(config: PlatformerConfig) -> Dynamics:
    speed = config.physics.move_speed
    return Dynamics(
        horizon=config.episode_length,
        screen_height=config.H,
        length=config.layout.length,
        run_width=config.layout.run_width,
        body_width=config.character.width,
        body_height=config.character.height,
        max_columns=math.ceil(speed.high if isinstance(speed, Uniform) else speed),
    )


def _look(config: PlatformerConfig) -> Look:
    some, effects, filters = config.distractors, config.effects, config.filters
    lights = effects.point_light_count if effects.point_light_enabled else 0
    falloff = effects.point_light_falloff
    agent_shapes = _kinds(config.character.shape_types)
    other_shapes = _kinds(some.shape_types) if some.enabled else ()
    return Look(
        height=config.H,
        width=config.W,
        length=config.layout.length,
        run_width=config.layout.run_width,
        body=(config.character.width, config.character.height),
        noise=config.background.mode == "noise",
        noise_filtered=config.background.mode == "noise" and filters != type(filters)(),
        agent_shapes=agent_shapes,
        agent_rotates=config.character.shape_rotate and _turns(agent_shapes),
        distractor_shapes=other_shapes,
        distractor_count=some.count if some.enabled else 0,
        distractors_rotate=_turns(other_shapes),
        light_count=lights,
        light_exponent=int(falloff) if lights and falloff in (2.0, 4.0) else None,
    )


def _kinds(pool: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shapes of a pool in a fixed order, each once."""
    return tuple(shape for shape in SHAPES if shape in pool)


def _turns(shapes: tuple[str, ...]) -> bool:
    return any(shape in ROTATING for shape in shapes)


def _pools(config: PlatformerConfig) -> dict[str, Pool]:
    black = config.background.mode == "black"
    some = config.distractors
    return {
        "background.color_names": _colors(
            "background", ((0, 0, 0),) if black else config.background.color_names
        ),
        "layout.layout_colors": _colors("ground", config.layout.layout_colors),
        "character.shape_colors": _colors("shape", config.character.shape_colors),
        "character.shape_types": _shapes(config.character.shape_types),
        "distractors.shape_colors": _colors("shape", some.shape_colors),
        "distractors.shape_types": _shapes(some.shape_types),
    }


def _padded_length(pool: tuple) -> int:
    return -(-len(pool) // POOL_LENGTH) * POOL_LENGTH


def _colors(palette: str, pool: tuple) -> Pool:
    members = [parameters.rgb(palette, color) for color in pool]
    return pad_pool(members, _padded_length(pool), jnp.float32)


def _shapes(pool: tuple[str, ...]) -> Pool:
    kinds = _kinds(pool)
    return pad_pool([kinds.index(shape) for shape in pool], _padded_length(pool), jnp.int32)


def _lights(config: PlatformerConfig) -> jnp.ndarray:
    names = config.effects.point_light_color_names
    colors = [parameters.rgb("light", names[index % len(names)]) for index in range(5)]
    return jnp.asarray(colors, jnp.float32)
