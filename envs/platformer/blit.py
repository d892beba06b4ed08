"""Sprites onto frames: small patches copied to anywhere, also partly off the screen."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from envs.platformer.pixels import OPAQUE, U32, pack, unpack


class Atlas(NamedTuple):
    """Skins on patches with a transparent patch all around, so that clipping is a shifted copy."""

    words: jax.Array  # u32[S, F, 3h, 3w]; packed colours, OPAQUE set where the sprite covers
    alpha: jax.Array | None  # f32[S, F, 3h, 3w]; where pixels are translucent, else None
    frames: jax.Array  # i32[S]; frames of each skin


class Objects(NamedTuple):
    """Sprites to draw, K per frame, later ones on top. i32[N, K] each, visible is bool[N, K]."""

    middle: jax.Array  # screen column of the patch's middle
    bottom: jax.Array  # screen row below the patch
    skin: jax.Array
    frame: jax.Array
    visible: jax.Array


def join(parts: list[Objects]) -> Objects:
    """Return one list of objects out of several."""
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves, axis=1), *parts)


def draw(frames: jax.Array, atlas: Atlas, objects: Objects, *, deep: bool) -> jax.Array:
    """Draw objects onto packed frames u32[N, H, W].

    On a CPU one loop visits what is on the screen; elsewhere all frames take one object at a time.
    """
    height, width = (side // 3 for side in atlas.words.shape[2:])
    left = objects.middle - width // 2
    top = objects.bottom - height
    on_screen = (
        objects.visible
        & (left > -width) & (left < frames.shape[2])
        & (top > -height) & (top < frames.shape[1])
    )  # fmt: skip
    # The nearest place wholly on the screen, and how far the sprite is shifted within the patch.
    at_x, at_y = (
        jnp.clip(place, 0, limit)
        for place, limit in (
            (left, frames.shape[2] - width),
            (top, frames.shape[1] - height),
        )
    )
    shift_x = jnp.clip(width - (left - at_x), 0, 2 * width)
    shift_y = jnp.clip(height - (top - at_y), 0, 2 * height)
    places = jnp.stack(
        [objects.skin, objects.frame, shift_y, shift_x, at_y, at_x], axis=-1
    )  # i32[N, K, 6]

    if jax.default_backend() == "cpu":
        return _draw_visible(frames, atlas, places, on_screen, deep=deep)

    def onto(frame: jax.Array, place: jax.Array, visible: jax.Array) -> jax.Array:
        drawn = _copy(frame[None], atlas, jnp.int32(0), place, deep=deep)[0]
        return jnp.where(visible, drawn, frame)

    for index in range(places.shape[1]):
        frames = jax.vmap(onto)(frames, places[:, index], on_screen[:, index])
    return frames


def _draw_visible(frames, atlas: Atlas, places, on_screen, *, deep: bool) -> jax.Array:
    count = places.shape[1]
    (order,) = jnp.nonzero(on_screen.ravel(), size=on_screen.size, fill_value=0)

    def body(index, frames):
        lane, which = order[index] // count, order[index] % count
        return _copy(frames, atlas, lane, places[lane, which], deep=deep)

    return jax.lax.fori_loop(0, on_screen.sum(), body, frames)


def _copy(frames, atlas: Atlas, lane, place, *, deep: bool) -> jax.Array:
    """Draw one object onto frame `lane` of u32[N, H, W], in place where XLA can."""
    skin, pose, from_y, from_x, to_y, to_x = place
    source, target = (skin, pose, from_y, from_x), (lane, to_y, to_x)
    size = tuple(side // 3 for side in atlas.words.shape[2:])
    words = jax.lax.dynamic_slice(atlas.words, source, (1, 1, *size))[0]
    under = jax.lax.dynamic_slice(frames, target, (1, *size))
    color = words & U32(OPAQUE - 1)
    if atlas.alpha is not None:
        share = jax.lax.dynamic_slice(atlas.alpha, source, (1, 1, *size))[0]
        planes = zip(unpack(color, deep=deep), unpack(under, deep=deep), strict=True)
        color = pack(tuple(share * over + (1 - share) * old for over, old in planes), deep=deep)
    patch = jnp.where((words & U32(OPAQUE)) != 0, color, under)
    return jax.lax.dynamic_update_slice(frames, patch, target)
