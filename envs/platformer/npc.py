"""Non-player characters: those that stand in the world and those that follow the agent.

They only show. Feet are on the row above `bottom`, columns are those of the sprite's middle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from envs.keys import named_key
from envs.platformer.level import column_top

FIRST_COLUMN = 200  # px; the start of the level stays free of NPCs
HALF_WIDTH = 8  # px; of the widest bundled skin
HALF_HEIGHT = 12  # px; from the row that offsets are given for to the feet
GRAVITY, JUMP_SPEED = 0.75, -7.5  # px/step^2, px/step; the picture's own, whatever the physics
FRAMES_DRAWN = 60  # phases of the animation; a multiple of every usual number of frames


class Standing(NamedTuple):
    """NPCs in the world; K of them, of which the first `count` show."""

    count: jax.Array  # u8[]
    x: jax.Array  # i16[K]; world column
    bottom: jax.Array  # i16[K]; screen row below the feet
    skin: jax.Array  # i16[K]; index into the skins
    phase: jax.Array  # u8[K]; frames by which its animation is ahead


class Sticky(NamedTuple):
    """NPCs that follow the agent; K of them, of which the first `count` show."""

    count: jax.Array  # u8[]
    offset: jax.Array  # i16[K]; column relative to the agent
    home: jax.Array  # i16[K]; row at rest
    y: jax.Array  # i16[K]; row now
    speed: jax.Array  # f32[K]; px/step, downward
    skin: jax.Array  # i16[K]
    phase: jax.Array  # u8[K]


def _whole(key, name: str, shape: tuple[int, ...], low, high, dtype: Any) -> jax.Array:
    """Draw whole numbers from [low, high]."""
    low, high = jnp.asarray(low).astype(int), jnp.asarray(high).astype(int)
    return jax.random.randint(named_key(key, name), shape, low, high + 1).astype(dtype)


def draw_standing(look: Any, key: jax.Array, values: dict, pick: Any, world: dict) -> Standing:
    """Draw the NPCs of an episode, uniformly over the columns that it can show."""
    count = look.standing_count
    last = max(FIRST_COLUMN, min(look.reach, look.length - FIRST_COLUMN - 1))
    x = _whole(key, "npc.x", (count,), FIRST_COLUMN, last, jnp.int16)
    top = column_top(world["tops"], x.astype(jnp.int32), world["run_width"], world["length"])
    lift = values["npc.spawn_y_offset"].astype(jnp.int32)
    return Standing(
        count=_whole(
            key,
            "npc.count",
            (),
            values["npc.min_npc_count"],
            values["npc.max_npc_count"],
            jnp.uint8,
        ),
        x=x,
        bottom=(top - lift).astype(jnp.int16),
        skin=pick("npc.skins", "npc.skin", (count,)).astype(jnp.int16),
        phase=_whole(key, "npc.phase", (count,), 0, FRAMES_DRAWN - 1, jnp.uint8),
    )


def draw_sticky(look: Any, key: jax.Array, values: dict, params: Any, pick: Any) -> Sticky:
    """Draw the NPCs that follow the agent; given offsets are used one after the other."""
    count = look.sticky_count
    setting = {name.removeprefix("npc.sticky_"): values[name] for name in values}
    drawn = _whole(key, "npc.sticky_x", (count,), setting["x_min"], setting["x_max"], jnp.int16)
    given = params.pools["npc.sticky_x_offsets"]
    order = jnp.arange(count) % jnp.maximum(given.count, 1)
    base = values["layout.base_ground_y"] - values["npc.spawn_y_offset"]
    home = base + _whole(
        key, "npc.sticky_y", (count,), setting["y_min_offset"], setting["y_max_offset"], jnp.int16
    )
    home = home.astype(jnp.int16)
    least, most = values["npc.min_sticky_count"], values["npc.max_sticky_count"]
    return Sticky(
        count=_whole(key, "npc.sticky_count", (), least, most, jnp.uint8),
        offset=jnp.where(given.count > 0, given.values[order], drawn).astype(jnp.int16),
        home=home,
        y=home,
        speed=jnp.zeros(count, jnp.float32),
        skin=pick("npc.sticky_skins", "npc.sticky_skin", (count,)).astype(jnp.int16),
        phase=_whole(key, "npc.sticky_phase", (count,), 0, FRAMES_DRAWN - 1, jnp.uint8),
    )


def bounce(some: Sticky, key: jax.Array, values: dict) -> Sticky:
    """Advance the followers one step: those at rest jump now and then."""
    chance = values["npc.sticky_jump_probability"] * values["npc.sticky_can_jump"]
    resting = (some.y >= some.home) & (some.speed == 0)
    jumps = resting & (jax.random.uniform(key, some.y.shape) < chance)
    speed = jnp.where(jumps, JUMP_SPEED, some.speed) + GRAVITY
    y = jnp.trunc(some.y + speed)
    landed = y >= some.home
    return some._replace(
        y=jnp.where(landed, some.home, y.astype(jnp.int16)), speed=jnp.where(landed, 0.0, speed)
    )


def animated(t: jax.Array, fps: jax.Array, phase: jax.Array, frames: jax.Array) -> jax.Array:
    """Return the frame shown after t steps (60 a second), i32 of the arguments' common shape."""
    shown = jnp.floor(t.astype(jnp.float32) * fps / 60.0).astype(jnp.int32)
    return (shown + phase) % frames
