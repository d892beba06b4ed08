"""Procedural pictures for the puzzle: ten families of 500 members each, drawn in numpy.

Every picture has a global layout (a horizon, a figure, light from one side), so that the order of
its tiles can be inferred from what they show.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from envs.puzzle.art import nature, people
from envs.puzzle.art.canvas import Canvas, Dice

_DRAW: dict[str, Callable[[Canvas, Dice], None]] = {
    "landscape": nature.landscape,
    "portrait": people.portrait,
    "city": people.city,
    "islands": nature.islands,
    "shapes": people.shapes,
    "sea": nature.sea,
    "flowers": nature.flowers,
    "planets": nature.planets,
    "mandala": people.mandala,
    "quilt": people.quilt,
}
FAMILIES = tuple(_DRAW)
MEMBERS = 500  # per family


@lru_cache(maxsize=4096)
def draw(family: str, member: int, rows: int, columns: int) -> np.ndarray:
    """Return one picture, u8[rows, columns, 3], read-only; equal arguments give equal pixels."""
    canvas = Canvas(rows, columns)
    _DRAW[family](canvas, Dice(f"{family}/{member}"))
    pixels = canvas.finish()
    pixels.setflags(write=False)
    return pixels
