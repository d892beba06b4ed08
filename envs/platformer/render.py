"""From a batch of states to pixels, u8[N, H, W, 3].

Pixels are composed as packed 32-bit words (see `pixels`). What a pixel needs to know (per column,
per row) is computed first, in small arrays; masks are unsigned byte comparisons in which
wrap-around tests both ends of a span at once. Layers, later ones on top: background, distractors,
ground, NPCs in the world, NPCs that follow the agent, agent, filters, lights.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from envs.platformer import blit, npc, post, shapes
from envs.platformer.hashing import hash_bits
from envs.platformer.level import solid_rows
from envs.platformer.pixels import U8, U32, materialize, to_bytes
from envs.platformer.scene import (
    AGENT,
    BACKGROUND,
    FIRST_DISTRACTOR,
    GROUND,
    Look,
    Scene,
    Values,
)


def render(
    look: Look, latent: Any, thickness: jax.Array, scene: Scene, keys: jax.Array, values: Values,
    params: Any,
) -> jax.Array:  # fmt: skip
    """Draw N states.

    Args:
        look: the static part.
        latent: the latent states, leading axis N.
        thickness: thickness of the ground's shell, f32[N].
        scene: the scenes, leading axis N.
        keys: the episodes' scene keys, [N].
        values: visual parameters resolved per episode, f32[N] each.
        params: the environment's `Params` (tables and atlases).

    Returns:
        u8[N, H, W, 3].
    """
    always = latent.t[0] >= 0
    words = scene.colors  # u32[N, 3 + D]
    ground = _ground_columns(look, latent.tops, scene.camera, thickness)
    agent = [] if look.sprite else _agent_rows(look, latent, scene, values, params)
    others = _distractor_rows(look, scene, values)
    noise = post.draw_noise(look, keys, latent.t, values)
    words, ground, agent, others, noise = materialize((words, ground, agent, others, noise), always)

    frame = _background(look, words[:, BACKGROUND], scene, values, params)
    column = jnp.arange(look.width, dtype=U8)[None, None, :]
    row = jnp.arange(look.height, dtype=U8)[None, :, None]

    def paint(frame, spans, color):
        for start, length in spans:
            covered = (column - start[:, :, None]) < length[:, :, None]
            frame = jnp.where(covered, color[:, None, None], frame)
        return frame

    for index in range(look.distractor_count):
        spans = [(start[:, index], length[:, index]) for start, length in others]
        frame = paint(frame, spans, words[:, FIRST_DISTRACTOR + index])
    first, thick = ground
    solid = (row - first[:, None, :]) < thick[:, None, :]
    frame = jnp.where(solid, words[:, GROUND, None, None], frame)
    objects = _objects(look, latent, scene, values, params)
    if objects and not look.sprite:
        frame = blit.draw(frame, params.skins, blit.join(objects), deep=look.deep)
    frame = paint(frame, agent, words[:, AGENT])
    if look.sprite:
        frame = blit.draw(frame, params.skins, blit.join(objects), deep=look.deep)
    return to_bytes(post.finish(look, frame, scene, noise, values, params, always))


def _clip_span(start: jax.Array, end: jax.Array, limit: int) -> tuple[jax.Array, jax.Array]:
    """Return (start, length) as bytes of the part of [start, end) that lies within [0, limit)."""
    start = jnp.clip(start, 0, limit).astype(jnp.int32)
    end = jnp.clip(end, 0, limit).astype(jnp.int32)
    return start.astype(U8), jnp.maximum(end - start, 0).astype(U8)


def _ground_columns(look: Look, tops, camera, thickness) -> tuple[jax.Array, jax.Array]:
    """Return first solid row and number of solid rows of every screen column, u8[N, W] each."""
    columns = camera[:, None] + jnp.arange(look.width)
    first, end = jax.vmap(solid_rows, (0, 0, 0, None, None))(
        tops, columns, thickness, look.run_width, look.length
    )
    return _clip_span(first, end, look.height)


def _agent_rows(look: Look, latent: Any, scene: Scene, values: Values, params: Any) -> list:
    center = (latent.x - scene.camera)[:, None]
    middle = latent.y + 1  # drawn one pixel lower than its box
    if look.agent_shapes:  # it turns
        speed = values["character.shape_rotation_speed"]
        angle = jnp.mod(speed * latent.t.astype(jnp.float32), 360.0)[:, None]
        dy = jnp.arange(look.height, dtype=jnp.float32) - middle[:, None]
        size = shapes.agent_geometry(*look.body)
        spans = shapes.row_spans(look.agent_shapes, scene.shape[:, None], size, angle, dy)
    else:
        spans = _upright(look, scene.shape, middle, params.agent_rows)
    return [_clip_span(center + start, center + end, look.width) for start, end in spans]


def _upright(look: Look, which, middle, table) -> list:
    """Cut the rows on the screen out of the table of spans, i16[shapes, 2H, spans, 2]."""
    size = (1, look.height, *table.shape[2:])

    def cut(shape, row):
        return jax.lax.dynamic_slice(table, (shape, look.height - row, 0, 0), size)[0]

    rows = jax.vmap(cut)(which, middle).astype(jnp.int32)  # i32[N, H, spans, 2]
    return [(rows[:, :, index, 0], rows[:, :, index, 1]) for index in range(look.agent_spans)]


def _distractor_rows(look: Look, scene: Scene, values: Values) -> list:
    if not look.distractor_count:
        return []
    some = scene.distractors
    center = jnp.rint(some.place)[..., None, :]  # f32[N, D, 1, 2]
    dy = jnp.arange(look.height, dtype=jnp.float32) - center[..., 1]
    size = shapes.distractor_geometry(some.size[..., None])
    angle = some.angle[..., None] if look.distractors_rotate else None
    spans = shapes.row_spans(look.distractor_shapes, some.shape[..., None], size, angle, dy)
    across = center[..., 0]
    present = jnp.arange(look.distractor_count) < values["distractors.count"][:, None]
    cut = [_clip_span(across + start, across + end, look.width) for start, end in spans]
    return [(start, jnp.where(present[..., None], length, 0)) for start, length in cut]


def _background(look: Look, color, scene: Scene, values: Values, params: Any) -> jax.Array:
    shape = (color.shape[0], look.height, look.width)
    if look.mode == "color":
        return jnp.broadcast_to(color[:, None, None], shape)
    if look.mode == "noise":
        pixel = jnp.arange(look.height * look.width, dtype=U32).reshape(1, *shape[1:])
        bits = hash_bits(pixel, scene.noise_seed[:, None, None])
        if look.deep:
            return ((bits & 0xFF) << 2) | ((bits & 0xFF00) << 4) | ((bits & 0xFF0000) << 6)
        return bits & U32(0xFFFFFF)
    width = params.images.shape[2] - look.width  # of an image, before its repetition
    scroll = scene.camera.astype(jnp.float32) * values["background.parallax_factor"]
    scroll = jnp.rint(scroll).astype(jnp.int32)
    tiled = values["background.tile_horizontal"] > 0
    first = jnp.where(tiled, jnp.mod(scroll, width), jnp.clip(scroll, 0, width))

    def cut(image, column):
        return jax.lax.dynamic_slice(params.images, (image, 0, column), (1, *shape[1:]))[0]

    return jax.vmap(cut)(scene.image, first)


def _objects(look: Look, latent: Any, scene: Scene, values: Values, params: Any) -> list:
    """Return everything drawn as a sprite, in drawing order, leading axes (N, objects)."""
    found, center = [], (latent.x - scene.camera)[:, None]
    if look.standing_count:
        found.append(_standing(look, latent, scene, values, params))
    if look.sticky_count:
        some = scene.sticky
        found.append(
            _actors(
                params, latent.t, values, some, middle=center + some.offset,
                bottom=some.y.astype(jnp.int32) + npc.HALF_HEIGHT,
            )
        )  # fmt: skip
    if look.sprite:
        skin = scene.skin[:, None]
        frames = params.skins.frames[skin]
        idle = jnp.minimum(values["character.idle_sprite_idx"][:, None].astype(int), frames - 1)
        moved = values["character.enable_animation"][:, None] * scene.walked[:, None]
        fps = values["character.animation_fps"][:, None]
        half = look.body[1] // 2
        found.append(
            blit.Objects(
                middle=center,
                bottom=latent.y[:, None] + 1 + half,
                skin=skin,
                frame=npc.animated(moved, fps, idle, frames),
                visible=jnp.ones_like(center, bool),
            )
        )
    return found


def _standing(look: Look, latent: Any, scene: Scene, values: Values, params: Any) -> blit.Objects:
    some = scene.standing
    middle = some.x.astype(jnp.int32) - scene.camera[:, None]
    return _actors(
        params, latent.t, values, some, middle=middle, bottom=some.bottom.astype(jnp.int32)
    )


def _actors(params: Any, t, values: Values, some: Any, *, middle, bottom) -> blit.Objects:
    skin = some.skin.astype(jnp.int32)
    fps = values["npc.animation_fps"][:, None]
    frames = params.skins.frames[skin]
    return blit.Objects(
        middle=middle,
        bottom=bottom,
        skin=skin,
        frame=npc.animated(t[:, None], fps, some.phase.astype(jnp.int32), frames),
        visible=jnp.arange(skin.shape[1]) < some.count[:, None],
    )
