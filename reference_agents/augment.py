"""Augmentations of training pictures (RAD: Laskin et al., 2020), one picture at a time.

They act where a rollout is collected, with a new draw at every step, so that the policy learns from
exactly what it saw. Evaluation never augments.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

CUT_SIDES = (0.11, 0.34)  # shortest and longest side of the rectangle, as a share of the picture's
SMALLEST_CROP = 0.8  # of the picture's side


def cutout_color(key: jax.Array, picture: jax.Array) -> jax.Array:
    """Return the picture u8[H, W, C] with one random rectangle in one random colour."""
    shape, place, paint = jax.random.split(key, 3)
    size = jnp.array(picture.shape[:2])
    share = jax.random.uniform(shape, (2,), minval=CUT_SIDES[0], maxval=CUT_SIDES[1])
    sides = jnp.round(share * size)
    first = jnp.floor(jax.random.uniform(place, (2,)) * (size - sides + 1))
    rows, columns = (
        (jnp.arange(picture.shape[axis]) >= first[axis])
        & (jnp.arange(picture.shape[axis]) < first[axis] + sides[axis])
        for axis in (0, 1)
    )
    colour = jax.random.bits(paint, picture.shape[2:], picture.dtype)
    return jnp.where((rows[:, None] & columns)[..., None], colour, picture)


def crop_resize(key: jax.Array, picture: jax.Array) -> jax.Array:
    """Return a random square part of the picture u8[H, W, C], stretched to its size (nearest)."""
    shape, place = jax.random.split(key)
    share = jax.random.uniform(shape, minval=SMALLEST_CROP, maxval=1.0)
    corner = jax.random.uniform(place, (2,)) * (1.0 - share)
    for axis in (0, 1):
        size = picture.shape[axis]
        at = (corner[axis] + share * (jnp.arange(size) + 0.5) / size) * size
        picture = jnp.take(picture, at.astype(jnp.int32), axis)
    return picture


AUGMENTATIONS: dict[str, Callable] = {"cutout-color": cutout_color, "crop-resize": crop_resize}


def augment(name: str | None, key: jax.Array, pictures: jax.Array) -> jax.Array:
    """Return pictures u8[N, H, W, C], each with its own draw of the named augmentation."""
    if name is None:
        return pictures
    keys = jax.random.split(key, pictures.shape[0])
    return jax.vmap(AUGMENTATIONS[name])(keys, pictures)
