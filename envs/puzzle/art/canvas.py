"""A small canvas of smooth shapes, in numpy: coordinates run over the unit square, y downward.

A shape is a field of signed distances, negative inside; painting blends a colour over the pixels
inside with an edge one pixel wide, so a picture looks the same at every size.
"""

from __future__ import annotations

import colorsys
import copy
import random
from collections.abc import Sequence

import numpy as np

Color = tuple[float, float, float]  # RGB, each in [0, 1]


class Dice:
    """Draws that are the same on every machine and under every version of Python and numpy."""

    def __init__(self, name: str) -> None:
        self._random = random.Random(name).random  # only `random()` is promised to stay the same

    def between(self, low: float, high: float) -> float:
        """Draw a number uniformly from [low, high)."""
        return low + (high - low) * self._random()

    def whole(self, low: int, high: int) -> int:
        """Draw a whole number uniformly from low … high, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, choices: Sequence):
        """Draw one of some choices."""
        return choices[int(self._random() * len(choices))]

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self._random() < probability


def hsv(hue: float, saturation: float, value: float) -> Color:
    """Return the RGB of a hue (in turns, any number), saturation and value."""
    return colorsys.hsv_to_rgb(
        hue % 1.0, *(min(max(part, 0.0), 1.0) for part in (saturation, value))
    )


def mix(first: Color, second: Color, share: float) -> Color:
    """Return a colour `share` of the way from the first to the second."""
    return tuple(a + (b - a) * share for a, b in zip(first, second, strict=True))


class Canvas:
    """Pixels in [0, 1], f64[rows, columns, 3], and the coordinates of their centres."""

    def __init__(self, rows: int, columns: int) -> None:
        self.y, self.x = np.meshgrid(
            (np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns, indexing="ij"
        )
        self.pixels = np.zeros((rows, columns, 3))
        self.edge = 1.0 / min(rows, columns)

    def columns(self, left: float, right: float) -> Canvas:
        """Return the part between two x coordinates; it shares its pixels with this canvas."""
        part = copy.copy(self)
        count = self.x.shape[1]
        chosen = slice(max(int(left * count), 0), max(int(right * count) + 1, 1))
        part.x, part.y = self.x[:, chosen], self.y[:, chosen]
        part.pixels = self.pixels[:, chosen]
        return part

    def shade(self, share: np.ndarray, colors: Sequence[Color], where=None, opacity=1.0) -> None:
        """Colour by a ramp: `share` in [0, 1] runs through `colors`; inside a shape where given."""
        stops = np.linspace(0.0, 1.0, len(colors))
        ramp = np.stack([np.interp(share, stops, part) for part in zip(*colors, strict=True)], -1)
        cover = opacity if where is None else self.cover(where, opacity)[..., None]
        self.pixels += (ramp - self.pixels) * cover

    def paint(self, distance: np.ndarray, color: Color, opacity: float | np.ndarray = 1.0) -> None:
        """Fill a shape with one colour."""
        cover = self.cover(distance, opacity)[..., None]
        self.pixels += (np.array(color) - self.pixels) * cover

    def glow(self, distance: np.ndarray, color: Color, reach: float, strength: float) -> None:
        """Add light around a shape, fading over `reach`."""
        light = strength * np.exp(-np.maximum(distance, 0.0) / reach)
        self.pixels += (np.array(color) - self.pixels) * light[..., None]

    def cover(self, distance: np.ndarray, opacity: float | np.ndarray = 1.0) -> np.ndarray:
        """Return how much of each pixel a shape covers."""
        return np.clip(0.5 - distance / self.edge, 0.0, 1.0) * opacity

    def finish(self) -> np.ndarray:
        """Return the picture, u8[rows, columns, 3].

        Rounding in two steps keeps a last-bit difference between machines from moving a pixel.
        """
        levels = np.round(np.clip(self.pixels, 0.0, 1.0) * 255.0, 4)
        return np.floor(levels + 0.5).astype(np.uint8)

    # ------------------------------------------------------------------------------- shapes

    def disc(self, x: float, y: float, radius: float) -> np.ndarray:
        return np.hypot(self.x - x, self.y - y) - radius

    def oval(self, x: float, y: float, wide: float, high: float, turn: float = 0.0) -> np.ndarray:
        """Return an ellipse with half axes `wide` and `high`, turned by `turn` radians."""
        u, v = self.local(x, y, turn)
        return (np.hypot(u / wide, v / high) - 1.0) * min(wide, high)

    def box(
        self, x: float, y: float, wide: float, high: float, turn: float = 0.0, round_by=0.0
    ) -> np.ndarray:
        """Return a rectangle with half sides `wide` and `high` and rounded corners."""
        u, v = self.local(x, y, turn)
        u, v = abs(u) - wide + round_by, abs(v) - high + round_by
        outside = np.hypot(np.maximum(u, 0.0), np.maximum(v, 0.0))
        return outside + np.minimum(np.maximum(u, v), 0.0) - round_by

    def line(self, start: tuple, end: tuple, thickness: float) -> np.ndarray:
        """Return a stroke with round ends; `thickness` is its half width."""
        (x0, y0), (x1, y1) = start, end
        dx, dy = x1 - x0, y1 - y0
        along = ((self.x - x0) * dx + (self.y - y0) * dy) / max(dx * dx + dy * dy, 1e-9)
        along = np.clip(along, 0.0, 1.0)
        return np.hypot(self.x - x0 - along * dx, self.y - y0 - along * dy) - thickness

    def polygon(self, *corners: tuple[float, float]) -> np.ndarray:
        """Return a convex polygon; its corners are given clockwise on the screen."""
        sides = []
        for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
            length = max(np.hypot(x1 - x0, y1 - y0), 1e-9)
            sides.append(((self.x - x0) * (y1 - y0) - (self.y - y0) * (x1 - x0)) / length)
        return np.max(sides, axis=0)

    def petals(
        self, x: float, y: float, radius: float, count: int, depth: float, turn: float = 0.0
    ) -> np.ndarray:
        """Return a flower outline: a circle whose radius swings `count` times by `depth`."""
        u, v = self.local(x, y, 0.0)
        swing = np.cos(count * (np.arctan2(v, u) - turn))
        return np.hypot(u, v) - radius * (1.0 + depth * swing)

    def local(self, x: float, y: float, turn: float) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates around (x, y), turned by `turn` radians."""
        u, v = self.x - x, self.y - y
        if turn:
            c, s = np.cos(turn), np.sin(turn)
            u, v = u * c + v * s, v * c - u * s
        return u, v

    def waves(self, dice: Dice, count: int, slowest: float, fastest: float) -> np.ndarray:
        """Return a smooth random field with mean 0 and spread about 1, a sum of plane waves."""
        field = np.zeros_like(self.x)
        for _ in range(count):
            turn, rate = dice.between(0, 2 * np.pi), dice.between(slowest, fastest)
            phase = dice.between(0, 2 * np.pi)
            along = self.x * np.cos(turn) + self.y * np.sin(turn)
            field += np.cos(2 * np.pi * rate * along + phase) * slowest / rate
        return field / max(float(np.sqrt((field**2).mean())), 1e-9)

    def ridge(self, dice: Dice, height: float, swing: float, detail: float = 6.0) -> np.ndarray:
        """Return everything below a random skyline at about `height`."""
        top = np.full_like(self.x, height)
        for rate in (0.6, 1.3, 2.7, detail):
            phase = dice.between(0, 2 * np.pi)
            top += swing / (1 + rate) * np.sin(2 * np.pi * rate * self.x + phase)
        return top - self.y
