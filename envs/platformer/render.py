"""From a batch of states to pixels, u8[N, H, W, 3].

Pixels are composed as packed 32-bit words 0x00BBGGRR, because XLA vectorizes selects on 32-bit lanes and
turns the final 4-to-3-byte compaction into part of the same loop. What a pixel needs to know (per
column, per row) is computed first, in small arrays; masks are unsigned byte comparisons in which
wrap-around tests both ends of a span at once.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from envs.platformer import filters, shapes
from envs.platformer.level import solid_rows
from envs.platformer.scene import AGENT, BACKGROUND, FIRST_DISTRACTOR, GROUND, Look, Scene

U8, U32 = jnp.uint8, jnp.uint32


def pack(red: jax.Array, green: jax.Array, blue: jax.Array) -> jax.Array:
    """Truncate three f32 planes in [0, 255] to bytes and pack them into u32 words."""
    red, green, blue = (plane.astype(jnp.int32).astype(U32) for plane in (red, green, blue))
    return red | (green << 8) | (blue << 16)


def unpack(words: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the three channels of packed words as f32 planes."""
    return tuple(((words >> shift) & 255).astype(jnp.float32) for shift in (0, 8, 16))


def render(
    look: Look, tops, x, y, t, thickness, scene: Scene, values: dict[str, jax.Array], light_colors
) -> jax.Array:
    """Draw N states.

    Args:
        look: the static part.
        tops, x, y, t: latent state, i16[N, segments], i32[N], i32[N], i32[N].
        thickness: thickness of the ground's shell, i32[N].
        scene: the scenes, leading axis N.
        values: visual parameters resolved per episode, f32[N] each.
        light_colors: f32[5, 3].

    Returns:
        u8[N, H, W, 3].
    """
    words = pack(scene.colors[..., 0], scene.colors[..., 1], scene.colors[..., 2])  # u32[N, 3+D]
    ground = _ground_columns(look, tops, scene.camera, thickness)
    agent = _agent_rows(look, x, y, t, scene, values)
    others = _distractor_rows(look, scene)
    words, ground, agent, others = _materialize((words, ground, agent, others), t[0] >= 0)

    frame = _background(look, words[:, BACKGROUND], scene, values)
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
    frame = paint(frame, agent, words[:, AGENT])
    if look.light_count:
        frame = _add_lights(look, frame, scene.lights, values, light_colors)
    return jax.lax.bitcast_convert_type(frame, U8)[..., :3]


def _materialize(arrays, always):
    """Keep XLA from recomputing small arrays for every pixel that reads them.

    On a CPU an optimization barrier does not stop fusion; a branch whose condition is only known at
    run time does.
    """
    if jax.default_backend() != "cpu":
        return jax.lax.optimization_barrier(arrays)
    return jax.lax.cond(always, lambda a: a, lambda a: jax.tree.map(jnp.zeros_like, a), arrays)


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


def _agent_rows(look: Look, x, y, t, scene: Scene, values) -> list:
    center = (x - scene.camera)[:, None].astype(jnp.float32)
    rows = jnp.arange(look.height, dtype=jnp.float32)
    dy = rows - (y[:, None] + 1)  # drawn one pixel lower than its box
    angle = None
    if look.agent_rotates:
        speed = values["character.shape_rotation_speed"]
        angle = jnp.mod(speed * t.astype(jnp.float32), 360.0)[:, None]
    size = shapes.agent_geometry(*look.body)
    spans = shapes.row_spans(look.agent_shapes, scene.shape[:, None], size, angle, dy)
    return [_clip_span(center + start, center + end, look.width) for start, end in spans]


def _distractor_rows(look: Look, scene: Scene) -> list:
    if not look.distractor_count:
        return []
    some = scene.distractors
    center = jnp.rint(some.place)[..., None, :]  # f32[N, D, 1, 2]
    dy = jnp.arange(look.height, dtype=jnp.float32) - center[..., 1]
    size = shapes.distractor_geometry(some.size[..., None])
    angle = some.angle[..., None] if look.distractors_rotate else None
    spans = shapes.row_spans(look.distractor_shapes, some.shape[..., None], size, angle, dy)
    across = center[..., 0]
    return [_clip_span(across + start, across + end, look.width) for start, end in spans]


def _background(look: Look, color, scene: Scene, values) -> jax.Array:
    shape = (color.shape[0], look.height, look.width)
    if not look.noise:
        return jnp.broadcast_to(color[:, None, None], shape)
    pixel = jnp.arange(look.height * look.width, dtype=U32).reshape(1, *shape[1:])
    words = hash_bits(pixel, scene.noise_seed[:, None, None]) & U32(0xFFFFFF)
    if look.noise_filtered:
        settings = {name: values[f"filters.{name}"][:, None, None] for name in filters.NAMES}
        words = pack(*filters.pointwise(unpack(words), settings))
    return words


def hash_bits(index: jax.Array, seed: jax.Array) -> jax.Array:
    """Return well-mixed u32 bits of (index, seed), equal on every backend.

    Two multiply-xorshift rounds; the seed enters before and between them, so that two seeds do not
    give shifted copies of one another.
    """
    bits = index * U32(0x9E3779B1) + seed
    bits = (bits ^ (bits >> 16)) * U32(0x7FEB352D)
    bits = (bits ^ (bits >> 15)) + seed * U32(0x2C1B3C6D)
    bits = (bits ^ (bits >> 16)) * U32(0x846CA68B)
    return bits ^ (bits >> 16)


def _add_lights(look: Look, frame, lights, values, colors) -> jax.Array:
    """Add coloured lights that decay as 1 / (1 + (distance / radius)^falloff), saturating at 255."""
    diagonal = (look.height**2 + look.width**2) ** 0.5
    scale = (1.0 / (diagonal * values["effects.point_light_radius"]) ** 2)[:, None, None]
    power = 0.5 * values["effects.point_light_falloff"][:, None, None]
    strength = values["effects.point_light_intensity"][:, None, None]
    column = jnp.arange(look.width, dtype=jnp.float32)[None, None, :]
    row = jnp.arange(look.height, dtype=jnp.float32)[None, :, None]
    sums = [jnp.float32(0)] * 3
    for index in range(look.light_count):
        across = (column - look.width * lights[:, index, 0, None, None]) ** 2
        down = (row - look.height * lights[:, index, 1, None, None]) ** 2
        far = (across + down) * scale
        if look.light_exponent != 2:
            far = far * far if look.light_exponent == 4 else far**power
        mask = strength / (1.0 + far)
        sums = [total + mask * colors[index, channel] for channel, total in enumerate(sums)]
    lit = [jnp.minimum(plane + add, 255.0) for plane, add in zip(unpack(frame), sums, strict=True)]
    return pack(*lit)
