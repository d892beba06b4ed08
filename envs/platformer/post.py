"""What happens to a whole frame: presets, filters in their fixed order, and lights.

Filters work on three f32 planes in [0, 255]; where one looks at neighbours the frame is packed into
words in between. Whole grey levels are cut once, at the end, except that presets give whole levels.
Pointwise filters appear here only where they could not be applied to the colours, images and skins
that the frame was made of.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from envs.keys import named_key
from envs.platformer import filters, hashing
from envs.platformer.filters import clipped, smaller
from envs.platformer.pixels import STEPS, U32, WHOLE, Planes, apart, pack, unpack
from envs.platformer.powers import power
from envs.platformer.scene import Look, Scene, Values, preset_settings

LANE_STEPS = 256  # levels per grey level of pixels in two words
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
    if look.pixelate > 1 and not look.deep:
        frame = _pixelate(frame, always, look.pixelate)
    passes = Passes(deep=look.deep)
    if look.deep:
        _preset(look, passes, scene, params)
        _filters(look, passes, noise, values, scene)
    if look.light_count:
        passes.then(partial(_lit, look, scene.lights, values, params.light_colors))
    return passes.run(frame, always)


def _floor(planes: Planes) -> Planes:
    return tuple(jnp.floor(plane) for plane in planes)


class Passes:
    """Loops over the pixels, each of which reads what the one before has written.

    Steps go into one loop for as long as none looks beyond its own pixel.
    """

    def __init__(self, *, deep: bool) -> None:
        self._plain = partial(unpack, deep=deep)
        # How the pass before writes, how that is rearranged, how it is read, and what follows.
        self._passes: list[tuple[Callable, Callable, Callable, list[Callable]]] = []

    def then(self, step: Callable) -> None:
        """Add a function of planes that acts on every pixel alone."""
        if not self._passes:
            self._passes.append((pack, lambda words, always: words, self._plain, []))
        self._passes[-1][-1].append(step)

    def around(self, step: Callable) -> None:
        """Add a function of (planes, means of the 3x3 pixels around each)."""
        deep = partial(pack, deep=True)
        self._passes.append((deep, _padded, lambda words: step(*_means(words)), []))

    def pixelated(self, factor: int) -> None:
        """Add squares of one colour."""
        moved = partial(_pixelate, factor=factor)
        if self._passes:
            self._passes.append((_lanes, moved, _from_lanes, []))
        else:
            self._passes.append((pack, moved, self._plain, []))

    def run(self, frame: jax.Array, always: jax.Array) -> jax.Array:
        """Return what the last pass makes of a frame's words, as words of 8 bits."""
        for index, (_, arrange, read, steps) in enumerate(self._passes):
            last = index == len(self._passes) - 1
            write = pack if last else self._passes[index + 1][0]

            def whole(frame, read=read, steps=steps, write=write):
                planes = read(frame)
                for step in steps:
                    planes = step(planes)
                return write(planes)

            frame = apart(whole, always, arrange(frame, always))
        return frame


def _preset(look: Look, passes: Passes, scene: Scene, params: Any) -> None:
    """Apply what colours could not show of the presets; whole grey levels remain."""
    if look.preset != "pixels" and not look.preset_spatial:
        return
    drawn = {
        name: value[:, None, None] for name, value in preset_settings(params, scene.preset).items()
    }
    if look.preset == "pixels":
        passes.then(partial(filters.preset_colors, preset=drawn))
    if look.preset_darkens:
        passes.then(partial(_vignette, look, drawn["vignette"]))
    if look.preset == "pixels" or look.preset_darkens:
        passes.then(partial(filters.contrasted, contrast=drawn["contrast"]))
    if look.preset_darkens_late:
        passes.then(partial(_vignette, look, drawn["late_vignette"]))
    if look.preset_sharpens:
        passes.around(partial(_sharpened, drawn["sharpen"]))
    passes.then(_floor)


def _filters(look: Look, passes: Passes, noise: Noise, values: Values, scene: Scene) -> None:
    """Apply the filters in their order."""
    settings = {
        name.removeprefix("filters."): value[:, None, None] for name, value in values.items()
    }
    early = look.pixelate > 1 and not (look.blur or look.sharpen)
    if early:  # what comes before is the same for every pixel
        passes.pixelated(look.pixelate)
    if look.pointwise == "pixels":
        used = {name: settings[name] for name in look.pointwise_used}
        passes.then(partial(filters.pointwise, settings=used))
    if look.tone:
        passes.then(partial(_mixed, noise.mix))
    if look.blur:
        passes.around(partial(_blurred, settings["blur_sigma"] / 2.5))
    if look.sharpen:
        passes.around(partial(_sharpened, settings["sharpen_amount"]))
    if look.pixelate > 1 and not early:
        passes.pixelated(look.pixelate)
    if look.gaussian:
        passes.then(partial(_grainy, look, noise.gaussian, settings["gaussian_noise_std"]))
    if look.poisson:
        passes.then(partial(_shot_noise, look, noise.poisson, settings["poisson_noise_scale"]))
    if look.tone:
        passes.then(partial(_vignette, look, settings["vignette_strength"]))
        strength = settings["radial_light_strength"]
        passes.then(partial(_radial, look, strength, scene.radial_color))


def _mixed(mix: jax.Array, planes: Planes) -> Planes:
    return tuple(
        clipped(
            sum(mix[:, row, channel, None, None] * planes[channel] for channel in range(3)), 0, 255
        )
        for row in range(3)
    )


def _padded(words: jax.Array, always: jax.Array) -> jax.Array:
    """Return words with their borders repeated once, u32[N, H + 2, W + 2]."""

    def pad(words):
        words = jnp.concatenate([words[:, :1], words, words[:, -1:]], axis=1)
        return jnp.concatenate([words[:, :, :1], words, words[:, :, -1:]], axis=2)

    return apart(pad, always, words)


def _means(padded: jax.Array) -> tuple[Planes, Planes]:
    """Return the planes of padded words and the means of the 3x3 pixels around each pixel.

    Channels are summed within the words: above red there is room while green is masked out, and
    the 2 bits above blue take the carry of three pixels.
    """
    height, width = padded.shape[1] - 2, padded.shape[2] - 2
    ends = greens = U32(0)
    for right in range(3):
        column = U32(0)
        for down in range(3):
            words = padded[:, down : down + height, right : right + width]
            column = column + (words & U32(0x3FF003FF))
            greens = greens + (words & U32(0x3FF << 10))
        ends = ends + ((column & U32(0xFFF)) | ((column >> 4) & U32(0xFFF << 16)))
    sums = ends & U32(0xFFFF), greens >> 10, ends >> 16
    means = (total.astype(jnp.int32).astype(jnp.float32) * (1 / (9 * STEPS)) for total in sums)
    return unpack(padded[:, 1:-1, 1:-1], deep=True), tuple(means)


def _blurred(share: jax.Array, planes: Planes, means: Planes) -> Planes:
    return tuple(plane + share * (mean - plane) for plane, mean in zip(planes, means, strict=True))


def _sharpened(amount: jax.Array, planes: Planes, means: Planes) -> Planes:
    gain = SHARPEN_BLUR * amount
    return tuple(
        clipped(plane + gain * (plane - mean), 0, 255)
        for plane, mean in zip(planes, means, strict=True)
    )


def pixelate_index(size: int, factor: int) -> np.ndarray:
    """Return which of `size` pixels each of them shows after nearest scaling down and up, i[size].

    There are size // factor squares per side; both scalings take the nearest centre.
    """
    squares = size // factor
    square = np.floor((np.arange(size) + 0.5) * squares / size)
    return np.floor((square + 0.5) * size / squares).astype(int)


def _lanes(planes: Planes) -> tuple[jax.Array, jax.Array]:
    """Return planes as two words per pixel: red and green of 16 bits each, and blue."""
    red, green, blue = (
        jax.lax.bitcast_convert_type(plane * LANE_STEPS + WHOLE, U32) for plane in planes
    )
    return (red & U32(0xFFFF)) | (green << 16), blue & U32(0xFFFF)


def _from_lanes(lanes: tuple[jax.Array, jax.Array]) -> Planes:
    ends, blue = lanes
    values = ends & U32(0xFFFF), ends >> 16, blue
    return tuple(value.astype(jnp.int32).astype(jnp.float32) * (1 / LANE_STEPS) for value in values)


def _pixelate(arrays, always: jax.Array, factor: int):
    """Gather squares. Rows are copied whole, so only one row per square goes through columns."""
    down, across = (pixelate_index(size, factor) for size in jax.tree.leaves(arrays)[0].shape[1:])
    rows, again = np.unique(down, return_inverse=True)
    for axis, source in ((1, rows), (2, across), (1, again)):
        take = partial(jnp.take, indices=jnp.asarray(source), axis=axis, mode="clip")
        arrays = apart(partial(jax.tree.map, take), always, arrays)
    return arrays


def _grainy(look: Look, seeds: jax.Array, std: jax.Array, planes: Planes) -> Planes:
    place, one, two = _places(look) * U32(3), seeds[:, 0, None, None], seeds[:, 1, None, None]
    return tuple(
        clipped(
            plane + std * hashing.normal(hashing.hash_bits(place + U32(index), one, two)), 0, 255
        )
        for index, plane in enumerate(planes)
    )


def _shot_noise(look: Look, seeds: jax.Array, scale: jax.Array, planes: Planes) -> Planes:
    bits = hashing.three_hashes(_places(look), seeds[:, 0, None, None], seeds[:, 1, None, None])
    counts = (hashing.poisson(bit, plane * scale) for plane, bit in zip(planes, bits, strict=True))
    on, level = scale > 0, 1 / jnp.maximum(scale, 1e-6)
    noisy = [smaller(count * level, 255.0) for count in counts]
    return tuple(jnp.where(on, new, old) for new, old in zip(noisy, planes, strict=True))


def _places(look: Look) -> jax.Array:
    """Return the number of every pixel, u32[1, H, W]."""
    return jnp.arange(look.height * look.width, dtype=U32).reshape(1, look.height, look.width)


def _squared_radius(look: Look) -> np.ndarray:
    """f32[H, W]; squared distance from the middle, 1 in the corner (0, 0)."""
    across = (np.arange(look.width, dtype=np.float32) - look.width / 2) ** 2
    down = (np.arange(look.height, dtype=np.float32) - look.height / 2) ** 2
    whole = (look.width / 2) ** 2 + (look.height / 2) ** 2
    return ((across[None, :] + down[:, None]) / whole).astype(np.float32)


def _vignette(look: Look, strength: jax.Array, planes: Planes) -> Planes:
    kept = clipped(1 - strength * _squared_radius(look), 0, 1)
    return tuple(plane * kept for plane in planes)


def _radial(look: Look, strength: jax.Array, color: jax.Array, planes: Planes) -> Planes:
    light = np.clip(1 - _squared_radius(look) ** 0.75, 0, 1).astype(np.float32)
    return tuple(
        smaller(plane + strength * light * color[:, channel, None, None], 255)
        for channel, plane in enumerate(planes)
    )


def _lit(look: Look, lights, values: Values, colors, planes: Planes) -> Planes:
    """Add coloured lights that decay as 1 / (1 + (distance / radius)^falloff), up to 255."""
    diagonal = (look.height**2 + look.width**2) ** 0.5
    scale = (1.0 / (diagonal * values["effects.point_light_radius"]) ** 2)[:, None, None]
    half = 0.5 * values["effects.point_light_falloff"][:, None, None]
    strength = values["effects.point_light_intensity"][:, None, None]
    column = jnp.arange(look.width, dtype=jnp.float32)[None, None, :]
    row = jnp.arange(look.height, dtype=jnp.float32)[None, :, None]
    sums = [jnp.float32(0)] * 3
    for index in range(look.light_count):
        across = (column - look.width * lights[:, index, 0, None, None]) ** 2
        down = (row - look.height * lights[:, index, 1, None, None]) ** 2
        far = (across + down) * scale
        far = jnp.where(half == 2, far * far, far) if look.light_exponent == 2 else power(far, half)
        mask = strength / (1.0 + far)
        sums = [total + mask * colors[index, channel] for channel, total in enumerate(sums)]
    return tuple(smaller(plane + add, 255.0) for plane, add in zip(planes, sums, strict=True))
