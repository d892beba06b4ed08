"""Pixels as packed 32-bit words, because XLA vectorizes selects and arithmetic on 32-bit lanes.

A word holds 8 bits per channel (0x00BBGGRR, whole grey levels) or, where filters follow that act on
unrounded values, 10 bits per channel (quarters of a grey level, red lowest). Bit 31 of a sprite's
pixel says that it is opaque.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

Planes = tuple[jax.Array, jax.Array, jax.Array]  # red, green and blue
U8, U32 = jnp.uint8, jnp.uint32
OPAQUE = 1 << 31
STEPS = 4  # levels of a deep word per grey level
WHOLE = float(1 << 23)  # added to a small f32, it leaves the nearest whole number in the low bits


def pack(planes: Planes, *, deep: bool = False) -> jax.Array:
    """Pack three f32 planes in [0, 255] into u32 words of their shape.

    Whole grey levels are truncated to, quarters are rounded to.
    """
    planes = tuple(plane * STEPS if deep else jnp.floor(plane) for plane in planes)
    red, green, blue = (jax.lax.bitcast_convert_type(plane + WHOLE, U32) for plane in planes)
    width = 10 if deep else 8  # shifting by it drops the bits of WHOLE
    return (red & ((1 << width) - 1)) | (green << width) | (blue << (2 * width))


def unpack(words: jax.Array, *, deep: bool = False) -> Planes:
    """Return the three channels of packed words as f32 planes in [0, 255]."""
    width, scale = (10, 1 / STEPS) if deep else (8, 1.0)
    mask = (1 << width) - 1
    return tuple(
        ((words >> (channel * width)) & mask).astype(jnp.int32).astype(jnp.float32) * scale
        for channel in range(3)
    )


def to_bytes(words: jax.Array) -> jax.Array:
    """Return 8-bit words as u8[..., 3]; compaction and compositing become one loop."""
    return jax.lax.bitcast_convert_type(words, U8)[..., :3]


def materialize(arrays, always: jax.Array):
    """Keep XLA from recomputing arrays for every pixel that reads them.

    On a CPU an optimization barrier does not stop fusion; a branch whose condition is only known at
    run time does. `always` is such a condition, bool[], that holds.
    """
    if jax.default_backend() != "cpu":
        return jax.lax.optimization_barrier(arrays)
    return jax.lax.cond(always, lambda a: a, lambda a: jax.tree.map(jnp.zeros_like, a), arrays)


def apart(function: Callable, always: jax.Array, *arrays):
    """Return function(*arrays), computed by loops of its own: what `materialize` does, not copied.

    Whatever else the function reads is computed before it, so that should be small.
    """
    if jax.default_backend() != "cpu":
        return jax.lax.optimization_barrier(function(*arrays))
    made = jax.eval_shape(function, *arrays)

    def never(*_):
        return jax.tree.map(lambda one: jnp.zeros(one.shape, one.dtype), made)

    return jax.lax.cond(always, function, never, *arrays)
