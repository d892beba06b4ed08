"""Pointwise colour filters. They act on colours, so scenes of flat colours pay for them once.

A colour is three arrays (r, g, b) of f32 in [0, 255]; arrays of any shape are filtered elementwise.
A neutral setting returns its input bit for bit (rounding in a colour space would shift it).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

NAMES = ("brightness", "contrast", "gamma", "saturation", "hue_shift", "color_temp")
Planes = tuple[jax.Array, jax.Array, jax.Array]


def pointwise(planes: Planes, settings: dict[str, jax.Array]) -> Planes:
    """Apply brightness, contrast, gamma, saturation and hue, then colour temperature, in this order.

    `settings` holds one f32 array per name in NAMES, broadcastable to the planes.
    """
    brightness, contrast, gamma = (settings[name] for name in NAMES[:3])
    planes = tuple(jnp.clip(plane + 100.0 * brightness, 0, 255) for plane in planes)
    planes = tuple(jnp.clip((plane - 128.0) * contrast + 128.0, 0, 255) for plane in planes)
    planes = tuple(
        jnp.where(gamma == 1, plane, 255.0 * (plane / 255.0) ** gamma) for plane in planes
    )
    planes = _hue_and_saturation(planes, settings["hue_shift"], settings["saturation"])
    return _temperature(planes, settings["color_temp"])


def _hue_and_saturation(planes: Planes, shift: jax.Array, factor: jax.Array) -> Planes:
    red, green, blue = (plane / 255.0 for plane in planes)
    most = jnp.maximum(jnp.maximum(red, green), blue)
    least = jnp.minimum(jnp.minimum(red, green), blue)
    spread = most - least
    safe = jnp.where(spread == 0, 1.0, spread)
    hue = jnp.where(most == red, jnp.mod((green - blue) / safe, 6.0), 0.0)
    hue = jnp.where(most == green, (blue - red) / safe + 2.0, hue)
    hue = jnp.where(most == blue, (red - green) / safe + 4.0, hue)
    hue = jnp.where(spread == 0, 0.0, 60.0 * hue)
    saturation = jnp.where(most == 0, 0.0, spread / jnp.where(most == 0, 1.0, most))

    saturation = jnp.clip(saturation * factor, 0, 1)
    sextant = jnp.mod(hue + shift, 360.0) / 60.0
    chroma = most * saturation
    second = chroma * (1 - jnp.abs(jnp.mod(sextant, 2.0) - 1))
    base = most - chroma

    def channel(offset: float) -> jax.Array:
        """Full chroma within one sextant of the channel's hue, a ramp in the next, else none."""
        distance = jnp.mod(jnp.floor(sextant) + offset, 6.0)
        full = (distance == 0) | (distance == 5)
        ramp = (distance == 1) | (distance == 4)
        part = jnp.where(full, chroma, jnp.where(ramp, second, 0.0))
        return jnp.clip(255.0 * (part + base), 0, 255)

    neutral = (shift == 0) & (factor == 1)
    changed = (channel(0.0), channel(4.0), channel(2.0))
    return tuple(jnp.where(neutral, old, new) for old, new in zip(planes, changed, strict=True))


def _temperature(planes: Planes, temperature: jax.Array) -> Planes:
    warm, cold = jnp.maximum(0, temperature), jnp.maximum(0, -temperature)
    red, green, blue = planes
    red = jnp.clip(red + 30.0 * warm - 15.0 * cold, 0, 255)
    return red, green, jnp.clip(blue + 30.0 * cold - 15.0 * warm, 0, 255)
