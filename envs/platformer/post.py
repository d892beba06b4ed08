"""What happens to a whole frame: presets, filters in their fixed order, and lights.

Filters work on three f32 planes in [0, 255]; between those that look at neighbours the frame is
packed into words of 10 bits per channel. Pointwise filters appear here only where they could not
be applied to the colours, images and skins that the frame was made of.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from envs.keys import named_key
from envs.platformer import filters, hashing
from envs.platformer.filters import Planes
from envs.platformer.pixels import U32, materialize, pack, unpack
from envs.platformer.scene import Look, Scene, Values, preset_settings

LANE_STEPS = 16  # levels per grey level in sums of 9 pixels, which then fit into 16 bits
SHARPEN_BLUR = 1.0 / 2.5  # share of the 3x3 mean in the blur that sharpening is measured against


class Noise(NamedTuple):
    """This step's random numbers of the stochastic filters; None where they are off."""

    mix: jax.Array | None  # f32[N, 3, 3]; rows of absolute sum 1
    gaussian: jax.Array | None  # u32[N, 2]; seeds
    poisson: jax.Array | None  # u32[N, 2]


def draw_noise(look: Look, keys: jax.Array, t: jax.Array, values: Values) -> Noise:
    """Draw what step `t` needs, every filter with a key of its own folded with the step."""

    def fresh(name: str) -> jax.Array:
        return jax.vmap(lambda key, t: jax.random.fold_in(named_key(key, name), t))(keys, t)

    def seeds(name: str) -> jax.Array:
        return jax.vmap(lambda key: jax.random.bits(key, (2,), jnp.uint32))(fresh(name))

    mix = None
    if look.tone:
        drawn = jax.vmap(lambda key: jax.random.normal(key, (3, 3)))(fresh("filters.jitter"))
        mix = jnp.eye(3) + values["filters.color_jitter_std"][:, None, None] * drawn
        mix = mix / jnp.maximum(jnp.abs(mix).sum(-1, keepdims=True), 1e-6)
    return Noise(
        mix=mix,
        gaussian=seeds("filters.gaussian") if look.gaussian else None,
        poisson=seeds("filters.poisson") if look.poisson else None,
    )


def finish(
    look: Look, frame: jax.Array, scene: Scene, noise: Noise, values: Values, params: Any, always
) -> jax.Array:
    """Return the frame u32[N, H, W] after presets, filters and lights, as 8-bit words."""
    settings = {
        name.removeprefix("filters."): value[:, None, None] for name, value in values.items()
    }
    if look.deep:
        frame = _preset(look, frame, scene, params, always)
        frame = _filters(look, frame, noise, settings, scene, always)
    elif look.pixelate > 1:
        frame = _pixelate(frame, look.pixelate, always)
    if look.light_count:
        frame = _add_lights(look, frame, scene.lights, values, params.light_colors)
    return frame


def _preset(look: Look, words, scene: Scene, params: Any, always) -> jax.Array:
    """Apply what colours could not show of the presets; whole grey levels remain."""
    if look.preset != "pixels" and not look.preset_spatial:
        return words
    drawn = {
        name: value[:, None, None] for name, value in preset_settings(params, scene.preset).items()
    }
    planes = unpack(words, deep=True)
    if look.preset == "pixels":
        planes = filters.preset_colors(planes, drawn)
    if look.preset_darkens:
        planes = _vignette(look, planes, drawn["vignette"])
    if look.preset == "pixels" or look.preset_darkens:
        planes = filters.contrasted(planes, drawn["contrast"])
    if look.preset_darkens_late:
        planes = _vignette(look, planes, drawn["late_vignette"])
    if look.preset_sharpens:
        planes = _sharpen(planes, drawn["sharpen"], always)
    return pack(tuple(jnp.floor(plane) for plane in planes), deep=True)


def _filters(look: Look, words, noise: Noise, settings: Values, scene: Scene, always) -> jax.Array:
    """Apply the filters in their order and truncate to whole grey levels, 8-bit words."""
    early = look.pixelate > 1 and not (look.blur or look.sharpen)
    if early:  # what comes before is the same for every pixel, and words are cheaper to move
        words = _pixelate(words, look.pixelate, always)
    planes = unpack(words, deep=True)
    if look.pointwise == "pixels":
        used = [name for name in filters.NAMES if name != "gamma" or look.gamma]
        planes = filters.pointwise(planes, {name: settings[name] for name in used})
    if look.tone:
        planes = _mixed(planes, noise.mix)
    if look.blur:
        planes = _blur(planes, settings["blur_sigma"] / 2.5, always)
    if look.sharpen:
        planes = _sharpen(planes, settings["sharpen_amount"], always)
    if look.pixelate > 1 and not early:
        planes = tuple(_pixelate(plane, look.pixelate, always) for plane in planes)
    if look.gaussian:
        bits = _pixel_bits(look, noise.gaussian)
        planes = tuple(
            jnp.clip(plane + settings["gaussian_noise_std"] * hashing.normal(bit), 0, 255)
            for plane, bit in zip(planes, bits, strict=True)
        )
    if look.poisson:
        planes = _shot_noise(look, planes, noise.poisson, settings["poisson_noise_scale"])
    if look.tone:
        planes = _vignette(look, planes, settings["vignette_strength"])
        planes = _radial(look, planes, settings["radial_light_strength"], scene.radial_color)
    return pack(planes)


def _mixed(planes: Planes, mix: jax.Array) -> Planes:
    return tuple(
        jnp.clip(
            sum(mix[:, row, channel, None, None] * planes[channel] for channel in range(3)), 0, 255
        )
        for row in range(3)
    )


def _means(planes: Planes, always) -> Planes:
    """Return the means of 3x3 pixels (borders repeated), summed in two 16-bit lanes per word."""
    red, green, blue = (
        (plane * LANE_STEPS + 0.5).astype(jnp.int32).astype(U32) for plane in planes
    )
    lanes = materialize((red | (green << 16), blue), always)
    sums = tuple(_sum_of_three(_sum_of_three(lane, 1, always), 2, always) for lane in lanes)
    parts = sums[0] & 0xFFFF, sums[0] >> 16, sums[1]
    return tuple(part.astype(jnp.int32).astype(jnp.float32) / (9 * LANE_STEPS) for part in parts)


def _sum_of_three(lane: jax.Array, axis: int, always) -> jax.Array:
    """Sum each element and its two neighbours along an axis; the borders count twice."""

    def part(first: int, end: int) -> jax.Array:
        return jax.lax.slice_in_dim(lane, first, end, axis=axis)

    size = lane.shape[axis]
    middle = part(0, size - 2) + part(1, size - 1) + part(2, size)
    ends = 2 * part(0, 1) + part(1, 2), 2 * part(size - 1, size) + part(size - 2, size - 1)
    return materialize(jnp.concatenate([ends[0], middle, ends[1]], axis), always)


def _blur(planes: Planes, share: jax.Array, always) -> Planes:
    pairs = zip(planes, _means(planes, always), strict=True)
    return tuple(plane * (1 - share) + mean * share for plane, mean in pairs)


def _sharpen(planes: Planes, amount: jax.Array, always) -> Planes:
    blurred = _blur(planes, SHARPEN_BLUR, always)
    pairs = zip(planes, blurred, strict=True)
    return tuple(jnp.clip(plane + amount * (plane - soft), 0, 255) for plane, soft in pairs)


def pixelate_index(size: int, factor: int) -> np.ndarray:
    """Return which of `size` pixels each of them shows after nearest scaling down and up, i[size].

    There are size // factor squares per side; both scalings take the nearest centre.
    """
    squares = size // factor
    square = np.floor((np.arange(size) + 0.5) * squares / size)
    return np.floor((square + 0.5) * size / squares).astype(int)


def _pixelate(pixels: jax.Array, factor: int, always) -> jax.Array:
    """Gather squares; in one pass per axis, not again for every byte or channel that reads them."""
    for axis in (1, 2):
        source = jnp.asarray(pixelate_index(pixels.shape[axis], factor))
        pixels = jnp.take(materialize(pixels, always), source, axis=axis)
    return materialize(pixels, always)


def _pixel_bits(look: Look, seeds: jax.Array) -> list[jax.Array]:
    """Return independent u32 bits per pixel and channel, 3 arrays [N, H, W]."""
    size = look.height * look.width
    pixel = jnp.arange(size, dtype=U32).reshape(1, look.height, look.width) * U32(3)
    one, two = seeds[:, 0, None, None], seeds[:, 1, None, None]
    return [hashing.hash_bits(pixel + U32(channel), one, two) for channel in range(3)]


def _shot_noise(look: Look, planes: Planes, seeds: jax.Array, scale: jax.Array) -> Planes:
    counts = (
        hashing.poisson(bits, plane * scale)
        for plane, bits in zip(planes, _pixel_bits(look, seeds), strict=True)
    )
    on, safe = scale > 0, jnp.maximum(scale, 1e-6)
    noisy = [jnp.clip(count / safe, 0, 255) for count in counts]
    return tuple(jnp.where(on, new, old) for new, old in zip(noisy, planes, strict=True))


def _squared_radius(look: Look) -> np.ndarray:
    """f32[H, W]; squared distance from the middle, 1 in the corner (0, 0)."""
    across = (np.arange(look.width, dtype=np.float32) - look.width / 2) ** 2
    down = (np.arange(look.height, dtype=np.float32) - look.height / 2) ** 2
    whole = (look.width / 2) ** 2 + (look.height / 2) ** 2
    return ((across[None, :] + down[:, None]) / whole).astype(np.float32)


def _vignette(look: Look, planes: Planes, strength: jax.Array) -> Planes:
    kept = jnp.clip(1 - strength * _squared_radius(look), 0, 1)
    return tuple(plane * kept for plane in planes)


def _radial(look: Look, planes: Planes, strength: jax.Array, color: jax.Array) -> Planes:
    light = np.clip(1 - _squared_radius(look) ** 0.75, 0, 1).astype(np.float32)
    return tuple(
        jnp.minimum(plane + strength * light * color[:, channel, None, None], 255)
        for channel, plane in enumerate(planes)
    )


def _add_lights(look: Look, frame, lights, values: Values, colors) -> jax.Array:
    """Add coloured lights that decay as 1 / (1 + (distance / radius)^falloff), up to 255."""
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
        far = jnp.where(power == 2, far * far, far) if look.light_exponent == 2 else far**power
        mask = strength / (1.0 + far)
        sums = [total + mask * colors[index, channel] for channel, total in enumerate(sums)]
    lit = [jnp.minimum(plane + add, 255.0) for plane, add in zip(unpack(frame), sums, strict=True)]
    return pack(tuple(lit))
