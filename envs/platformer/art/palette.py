"""Colours: hex words to bytes, colour ramps, and mixes between two colours."""

from functools import cache

import numpy as np

Colour = str | tuple[int, int, int]


@cache
def rgb(colour: Colour) -> tuple[int, int, int]:
    """Red, green and blue bytes of a six-digit hex word (a tuple passes through)."""
    if isinstance(colour, tuple):
        return colour
    if len(colour) != 6:
        raise ValueError(f"a colour is six hex digits, got {colour!r}")
    return int(colour[0:2], 16), int(colour[2:4], 16), int(colour[4:6], 16)


def ramp(words: str) -> list[tuple[int, int, int]]:
    """A list of colours from hex words separated by spaces."""
    return [rgb(word) for word in words.split()]


def mix(first: Colour, second: Colour, share: float) -> tuple[int, int, int]:
    """The colour `share` of the way from `first` to `second`, in whole bytes."""
    a, b = np.array(rgb(first), dtype=float), np.array(rgb(second), dtype=float)
    red, green, blue = np.rint(a + (b - a) * share).astype(int).tolist()
    return red, green, blue


def steps(first: Colour, second: Colour, count: int) -> list[tuple[int, int, int]]:
    """`count` colours evenly spaced from `first` to `second`, both included."""
    return [mix(first, second, k / max(count - 1, 1)) for k in range(count)]


def darker(colour: Colour, share: float = 0.3) -> tuple[int, int, int]:
    """The colour moved towards a deep blue, which reads as shade better than plain black."""
    return mix(colour, "0a0a1e", share)


def lighter(colour: Colour, share: float = 0.3) -> tuple[int, int, int]:
    """The colour moved towards a warm white."""
    return mix(colour, "fff8e4", share)
