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
Planes = tuple[jax.Array, jax.Array, jax.Array]


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
    return tuple(xp.clip(plane + 100.0 * preset["brightness"], 0, 255) for plane in planes)


def contrasted(planes: Planes, contrast: jax.Array, xp: ModuleType = jnp) -> Planes:
    """Stretch around grey 128."""
    return tuple(xp.clip((plane - 128.0) * contrast + 128.0, 0, 255) for plane in planes)


def pointwise(planes: Planes, settings: dict[str, jax.Array], xp: ModuleType = jnp) -> Planes:
    """Apply brightness, contrast, gamma, saturation and hue, and temperature, in this order.

    `settings` holds one f32 array per name in NAMES, broadcastable to the planes; gamma, a power
    per pixel, may be left out. `xp` is the array library (numpy compiles nothing).
    """
    planes = tuple(xp.clip(plane + 100.0 * settings["brightness"], 0, 255) for plane in planes)
    planes = contrasted(planes, settings["contrast"], xp)
    if "gamma" in settings:
        gamma = settings["gamma"]
        planes = tuple(
            xp.where(gamma == 1, plane, 255.0 * (plane / 255.0) ** gamma) for plane in planes
        )
    planes = _hue_and_saturation(planes, settings["hue_shift"], settings["saturation"], xp)
    return _temperature(planes, settings["color_temp"], xp)


def _hue_and_saturation(
    planes: Planes, shift: jax.Array, factor: jax.Array, xp: ModuleType
) -> Planes:
    """Turn the HSV hue by `shift` degrees and scale the saturation.

    Written with comparisons instead of remainders, which are slow per pixel.
    """
    red, green, blue = (plane / 255.0 for plane in planes)
    most = xp.maximum(xp.maximum(red, green), blue)
    spread = most - xp.minimum(xp.minimum(red, green), blue)
    safe = xp.where(spread == 0, 1.0, spread)
    first = (green - blue) / safe
    hue = xp.where(most == red, xp.where(first < 0, first + 6.0, first), 0.0)
    hue = xp.where(most == green, (blue - red) / safe + 2.0, hue)
    hue = xp.where(most == blue, (red - green) / safe + 4.0, hue)
    hue = xp.where(spread == 0, 0.0, 60.0 * hue) + shift
    hue = xp.where(hue < 0, hue + 360.0, hue)
    sextant = xp.where(hue >= 360.0, hue - 360.0, hue) / 60.0
    saturation = xp.where(most == 0, 0.0, spread / xp.where(most == 0, 1.0, most))

    chroma = most * xp.clip(saturation * factor, 0, 1)
    second = chroma * (1 - xp.abs(sextant - 2 * xp.floor(sextant * 0.5) - 1))
    base, whole = most - chroma, xp.floor(sextant)

    def channel(full: tuple[int, int], ramp: tuple[int, int]) -> jax.Array:
        """Full chroma in two sextants around the channel's hue, a ramp next to them, else none."""
        part = xp.where((whole == ramp[0]) | (whole == ramp[1]), second, 0.0)
        part = xp.where((whole == full[0]) | (whole == full[1]), chroma, part)
        return xp.clip(255.0 * (part + base), 0, 255)

    neutral = (shift == 0) & (factor == 1)
    changed = (channel((0, 5), (1, 4)), channel((1, 2), (0, 3)), channel((3, 4), (2, 5)))
    return tuple(xp.where(neutral, old, new) for old, new in zip(planes, changed, strict=True))


def _temperature(planes: Planes, temperature: jax.Array, xp: ModuleType) -> Planes:
    warm, cold = xp.maximum(0, temperature), xp.maximum(0, -temperature)
    red, green, blue = planes
    red = xp.clip(red + 30.0 * warm - 15.0 * cold, 0, 255)
    return red, green, xp.clip(blue + 30.0 * cold - 15.0 * warm, 0, 255)


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
