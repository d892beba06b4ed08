"""Pointwise colour filters. They act on colours, so scenes of flat colours pay for them once.

A colour is three arrays (r, g, b) of f32 in [0, 255]; arrays of any shape are filtered elementwise.
A neutral setting returns its input bit for bit (rounding in a colour space would shift it).
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs.platformer.pixels import Planes
from envs.platformer.powers import power

NAMES = ("brightness", "contrast", "gamma", "saturation", "hue_shift", "color_temp")
NEUTRAL = {
    "brightness": 0.0, "contrast": 1.0, "gamma": 1.0, "saturation": 1.0, "hue_shift": 0.0,
    "color_temp": 0.0,
}  # fmt: skip
# Presets run before all filters, in an order of their own: saturation and hue, temperature,
# brightness, vignette, contrast, a vignette after contrast, sharpening.
_PRESET_NEUTRAL = {
    "saturation": 1.0, "hue_shift": 0.0, "color_temp": 0.0, "brightness": 0.0, "vignette": 0.0,
    "contrast": 1.0, "late_vignette": 0.0, "sharpen": 0.0,
}  # fmt: skip
PRESETS: dict[str, dict[str, float]] = {
    "vintage": {"saturation": 0.7, "color_temp": 0.3, "vignette": 0.3, "contrast": 1.1},
    "retro": {"saturation": 1.5, "hue_shift": 15.0, "brightness": 0.1, "contrast": 0.9},
    "cyberpunk": {"saturation": 1.8, "color_temp": -0.2, "contrast": 1.3, "sharpen": 0.5},
    "horror": {
        "saturation": 0.3, "color_temp": -0.4, "brightness": -0.2, "vignette": 0.6, "contrast": 1.4,
    },
    "noir": {"saturation": 0.0, "contrast": 1.6, "late_vignette": 0.4},
    "none": {},
}  # fmt: skip


def larger(a, b, xp: ModuleType = jnp) -> jax.Array:
    """Return the maximum of numbers; one instruction, where `maximum` also has NaN and -0."""
    return xp.where(a > b, a, b)


def smaller(a, b, xp: ModuleType = jnp) -> jax.Array:
    """Return the minimum of numbers (see `larger`)."""
    return xp.where(a < b, a, b)


def clipped(x, low: float, high: float, xp: ModuleType = jnp) -> jax.Array:
    """Return numbers limited to [low, high] (see `larger`)."""
    return smaller(larger(x, low, xp), high, xp)


def preset_table() -> dict[str, jax.Array]:
    """Return the presets' settings: name of a filter -> f32[presets], in the order of PRESETS."""
    rows = [{**_PRESET_NEUTRAL, **settings} for settings in PRESETS.values()]
    return {name: jnp.array([row[name] for row in rows], jnp.float32) for name in _PRESET_NEUTRAL}


def any_preset(pool: tuple[str, ...], setting: str) -> bool:
    """Return whether a preset of the pool uses a setting."""
    return any(setting in PRESETS[name] for name in pool)


def preset_colors(planes: Planes, preset: dict[str, jax.Array], xp: ModuleType = jnp) -> Planes:
    """Apply what comes first in a preset: saturation and hue, temperature, brightness."""
    planes = _hue_and_saturation(planes, preset["hue_shift"], preset["saturation"], xp)
    planes = _temperature(planes, preset["color_temp"], xp)
    return tuple(clipped(plane + 100.0 * preset["brightness"], 0, 255, xp) for plane in planes)


def contrasted(planes: Planes, contrast: jax.Array, xp: ModuleType = jnp) -> Planes:
    """Stretch around grey 128."""
    return tuple(clipped((plane - 128.0) * contrast + 128.0, 0, 255, xp) for plane in planes)


def used(values: dict[str, Any]) -> tuple[str, ...]:
    """Return which of NAMES do something; of hue and saturation, both or neither."""
    together = {"saturation": "hue_shift", "hue_shift": "saturation"}
    active = {name for name in NAMES if values[name] != NEUTRAL[name]}
    return tuple(name for name in NAMES if {name, together.get(name, name)} & active)


def pointwise(planes: Planes, settings: dict[str, jax.Array], xp: ModuleType = jnp) -> Planes:
    """Apply brightness, contrast, gamma, saturation and hue, and temperature, in this order.

    `settings` holds f32 arrays by name, broadcastable to the planes: all of NAMES or those that are
    `used`. `xp` is the array library (numpy compiles nothing).
    """
    if "brightness" in settings:
        lift = 100.0 * settings["brightness"]
        planes = tuple(clipped(plane + lift, 0, 255, xp) for plane in planes)
    if "contrast" in settings:
        planes = contrasted(planes, settings["contrast"], xp)
    if "gamma" in settings:
        gamma = settings["gamma"]
        raised = power if xp is jnp else np.power
        planes = tuple(
            xp.where(gamma == 1, plane, 255.0 * raised(plane * (1 / 255), gamma))
            for plane in planes
        )
    if "hue_shift" in settings:
        planes = _hue_and_saturation(planes, settings["hue_shift"], settings["saturation"], xp)
    if "color_temp" in settings:
        planes = _temperature(planes, settings["color_temp"], xp)
    return planes


def _hue_and_saturation(
    planes: Planes, shift: jax.Array, factor: jax.Array, xp: ModuleType
) -> Planes:
    """Turn the HSV hue by `shift` degrees and scale the saturation.

    With s and v of HSV, a channel is v (1 - s x), where x grows from 0 to 1 with the distance of
    the hue from the channel's own; scaling s makes v s the smaller of factor (max - min) and v.
    Comparisons and one division by what depends on the pixel; colours go through [0, 1] because
    its rounding decides what truncation makes of whole grey levels.
    """
    red, green, blue = (plane / 255.0 for plane in planes)
    most = larger(larger(red, green, xp), blue, xp)
    spread = most - smaller(smaller(red, green, xp), blue, xp)
    is_blue, is_green = most == blue, most == green
    along = xp.where(is_blue, red - green, xp.where(is_green, blue - red, green - blue))
    none, two, four = np.float32([0, 2, 4])
    sextant = xp.where(is_blue, four, xp.where(is_green, two, none)) + shift * (1 / 60)
    hue = along * (1.0 / larger(spread, 1e-9, xp)) + sextant
    hue = hue - 6.0 * xp.floor(hue * (1 / 6))
    chroma = smaller(spread * factor, most, xp)
    away = (2.0 - xp.abs(hue - 3.0), xp.abs(hue - 2.0) - 1.0, xp.abs(hue - 4.0) - 1.0)
    neutral = (shift == 0) & (factor == 1)
    return tuple(
        xp.where(neutral, old, 255.0 * (most - chroma * clipped(lost, 0, 1, xp)))
        for old, lost in zip(planes, away, strict=True)
    )


def _temperature(planes: Planes, temperature: jax.Array, xp: ModuleType) -> Planes:
    warm, cold = xp.maximum(0, temperature), xp.maximum(0, -temperature)
    red, green, blue = planes
    red = clipped(red + (30.0 * warm - 15.0 * cold), 0, 255, xp)
    return red, green, clipped(blue + (30.0 * cold - 15.0 * warm), 0, 255, xp)


def filtered_pixels(
    pixels: np.ndarray, preset: dict[str, float] | None, settings: dict[str, Any], *, spatial: bool
) -> np.ndarray:
    """Return pictures after the pointwise part of a preset and the pointwise filters, on the host.

    Args:
        pixels: u8[..., 3].
        preset: the preset's settings, or None.
        settings: one number per name in NAMES.
        spatial: the preset goes on with what depends on a pixel's place or neighbours.

    Returns:
        f32[..., 3] in [0, 255].
    """
    planes = tuple(pixels[..., channel].astype(np.float32) for channel in range(3))
    if preset is not None:
        own = _exact({**_PRESET_NEUTRAL, **preset})
        planes = preset_colors(planes, own, np)
        if "vignette" not in preset:
            planes = contrasted(planes, own["contrast"], np)
        if not spatial:
            planes = tuple(np.floor(plane) for plane in planes)
    return np.stack(pointwise(planes, _exact(settings), np), axis=-1)


def _exact(settings: dict[str, Any]) -> dict[str, np.float32]:
    return {name: np.float32(value) for name, value in settings.items()}
