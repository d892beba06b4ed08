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
    "color_temp": 0.0, "sharpen_amount": 0.0, "vignette_strength": 0.0,
}  # fmt: skip
# Presets are filters that run, in the same order, before all others.
PRESETS: dict[str, dict[str, float]] = {
    "vintage": {"saturation": 0.7, "color_temp": 0.3, "vignette_strength": 0.3, "contrast": 1.1},
    "retro": {"saturation": 1.5, "hue_shift": 15.0, "brightness": 0.1, "contrast": 0.9},
    "cyberpunk": {"saturation": 1.8, "color_temp": -0.2, "contrast": 1.3, "sharpen_amount": 0.5},
    "horror": {
        "saturation": 0.3, "color_temp": -0.4, "brightness": -0.2, "vignette_strength": 0.6,
        "contrast": 1.4,
    },
    "noir": {"saturation": 0.0, "contrast": 1.6, "vignette_strength": 0.4},
    "none": {},
}  # fmt: skip
Planes = tuple[jax.Array, jax.Array, jax.Array]


def preset_table() -> dict[str, jax.Array]:
    """Return the presets' settings: name of a filter -> f32[presets], in the order of PRESETS."""
    rows = [{**NEUTRAL, **settings} for settings in PRESETS.values()]
    return {name: jnp.array([row[name] for row in rows], jnp.float32) for name in NEUTRAL}


def pointwise(planes: Planes, settings: dict[str, jax.Array], xp: ModuleType = jnp) -> Planes:
    """Apply brightness, contrast, gamma, saturation and hue, then colour temperature, in this order.

    `settings` holds one f32 array per name in NAMES, broadcastable to the planes; `xp` is the array
    library (numpy works without compiling anything).
    """
    brightness, contrast, gamma = (settings[name] for name in NAMES[:3])
    planes = tuple(xp.clip(plane + 100.0 * brightness, 0, 255) for plane in planes)
    planes = tuple(xp.clip((plane - 128.0) * contrast + 128.0, 0, 255) for plane in planes)
    planes = tuple(
        xp.where(gamma == 1, plane, 255.0 * (plane / 255.0) ** gamma) for plane in planes
    )
    planes = _hue_and_saturation(planes, settings["hue_shift"], settings["saturation"], xp)
    return _temperature(planes, settings["color_temp"], xp)


def _hue_and_saturation(
    planes: Planes, shift: jax.Array, factor: jax.Array, xp: ModuleType
) -> Planes:
    red, green, blue = (plane / 255.0 for plane in planes)
    most = xp.maximum(xp.maximum(red, green), blue)
    least = xp.minimum(xp.minimum(red, green), blue)
    spread = most - least
    safe = xp.where(spread == 0, 1.0, spread)
    hue = xp.where(most == red, xp.mod((green - blue) / safe, 6.0), 0.0)
    hue = xp.where(most == green, (blue - red) / safe + 2.0, hue)
    hue = xp.where(most == blue, (red - green) / safe + 4.0, hue)
    hue = xp.where(spread == 0, 0.0, 60.0 * hue)
    saturation = xp.where(most == 0, 0.0, spread / xp.where(most == 0, 1.0, most))

    saturation = xp.clip(saturation * factor, 0, 1)
    sextant = xp.mod(hue + shift, 360.0) / 60.0
    chroma = most * saturation
    second = chroma * (1 - xp.abs(xp.mod(sextant, 2.0) - 1))
    base = most - chroma

    def channel(offset: float) -> jax.Array:
        """Full chroma within one sextant of the channel's hue, a ramp in the next, else none."""
        distance = xp.mod(xp.floor(sextant) + offset, 6.0)
        full = (distance == 0) | (distance == 5)
        ramp = (distance == 1) | (distance == 4)
        part = xp.where(full, chroma, xp.where(ramp, second, 0.0))
        return xp.clip(255.0 * (part + base), 0, 255)

    neutral = (shift == 0) & (factor == 1)
    changed = (channel(0.0), channel(4.0), channel(2.0))
    return tuple(xp.where(neutral, old, new) for old, new in zip(planes, changed, strict=True))


def _temperature(planes: Planes, temperature: jax.Array, xp: ModuleType) -> Planes:
    warm, cold = xp.maximum(0, temperature), xp.maximum(0, -temperature)
    red, green, blue = planes
    red = xp.clip(red + 30.0 * warm - 15.0 * cold, 0, 255)
    return red, green, xp.clip(blue + 30.0 * cold - 15.0 * warm, 0, 255)


def filtered_pixels(
    pixels: np.ndarray, preset: dict[str, float] | None, settings: dict[str, Any]
) -> np.ndarray:
    """Return pictures after the pointwise part of a preset and the pointwise filters, on the host.

    Args:
        pixels: u8[..., 3].
        preset: the preset's settings, or None; a preset leaves whole grey levels behind.
        settings: one number per name in NAMES.

    Returns:
        f32[..., 3] in [0, 255].
    """
    planes = tuple(pixels[..., channel].astype(np.float32) for channel in range(3))
    if preset is not None:
        planes = pointwise(planes, _exact({**NEUTRAL, **preset}), np)
        planes = tuple(np.floor(plane) for plane in planes)
    return np.stack(pointwise(planes, _exact(settings), np), axis=-1)


def _exact(settings: dict[str, Any]) -> dict[str, np.float32]:
    return {name: np.float32(settings[name]) for name in NAMES}
