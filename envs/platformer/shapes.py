"""Shapes as spans of pixels per row, at any size and angle.

Every shape but circle and ellipse is given by half planes: a point belongs to it when
`nx*dx + ny*dy <= d` holds for all of them (for all but one in a five-pointed star, which is what
lies inside at least four of the five lines through its points). On a row each half plane bounds dx
from one side, so a row of any of these shapes is at most two spans. Angles turn every shape
clockwise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

FAR = 1.0e6
CLOSED = 1.0e-5  # px; pixels exactly on the outline of a closed shape belong to it
TWO_SPANS = ("cross", "star")


class Geometry(NamedTuple):
    """Sizes of a shape in px, arrays of one common shape [...]."""

    radius: jax.Array  # f32; square, line, cross, polygons, star, circle
    ellipse: tuple[jax.Array, jax.Array]  # f32; half axes (horizontal, vertical)
    diamond: tuple[jax.Array, jax.Array]  # f32; half diagonals (horizontal, vertical)


def agent_geometry(width: int, height: int) -> Geometry:
    """Return the geometry of an agent whose box is width x height."""
    radius = jnp.float32(min(width, height) / 2)
    return Geometry(radius, (jnp.float32(width / 2), jnp.float32(height / 2)), (radius, radius))


def distractor_geometry(size: jax.Array) -> Geometry:
    """Return the geometry of distractors of diameter `size` (any shape)."""
    size = size.astype(jnp.float32)
    return Geometry(size / 2, (0.5 * size, 0.3 * size), (size / 2, size))


def _regular(count: int, first: float) -> list[tuple[float, float]]:
    """Return `count` unit vectors, the first at `first` degrees."""
    angles = np.deg2rad(first + 360.0 / count * np.arange(count))
    return [(round(float(np.cos(a)), 7), round(float(np.sin(a)), 7)) for a in angles]


def _half_planes(kind: str, size: Geometry) -> list[tuple]:
    """Return [(nx, ny, d)] of a shape at angle 0."""
    radius = size.radius
    thin = jnp.maximum(1.0, radius / 4) / 2
    if kind == "square":
        return [(nx, ny, radius) for nx, ny in _regular(4, 0.0)]
    if kind == "line":
        return [(1.0, 0.0, radius), (0.0, 1.0, thin), (-1.0, 0.0, radius), (0.0, -1.0, thin)]
    if kind == "diamond":
        across, down = size.diamond
        return [(sx / across, sy / down, 1.0) for sx in (1.0, -1.0) for sy in (1.0, -1.0)]
    corners, first, apothem = {
        "triangle": (3, -30.0, 0.5),
        "polygon": (6, -60.0, float(np.cos(np.deg2rad(30)))),
        "star": (5, -90.0, float(np.cos(np.deg2rad(72)))),
    }[kind]
    return [(nx, ny, radius * round(apothem, 7)) for nx, ny in _regular(corners, first)]


def _bounds(planes: list[tuple], cos, sin, dy: jax.Array) -> tuple[list, list]:
    """Return per half plane the largest and the smallest dx it allows on rows `dy`."""
    most, least = [], []
    for nx, ny, d in planes:
        turned_x, turned_y = nx * cos - ny * sin, nx * sin + ny * cos
        flat = jnp.abs(turned_x) < 1e-5
        edge = (d - turned_y * dy) / jnp.where(flat, 1.0, turned_x)
        # A horizontal edge allows whole rows; the rows below a shape's lowest point are outside.
        row_ok = jnp.where(turned_y > 0, turned_y * dy < d, turned_y * dy <= d)
        most.append(
            jnp.where(flat, jnp.where(row_ok, FAR, -FAR), jnp.where(turned_x > 0, edge, FAR))
        )
        least.append(jnp.where(flat | (turned_x > 0), -FAR, edge))
    return most, least


def _closed_span(left, right) -> tuple[jax.Array, jax.Array]:
    return jnp.ceil(left - CLOSED), jnp.floor(right + CLOSED) + 1


def _all_planes(planes: list[tuple], cos, sin, dy, *, closed: bool) -> tuple[jax.Array, jax.Array]:
    if closed:  # widen by a hair, so that pixels on the outline are in on every side
        planes = [(nx, ny, d * (1 + 3e-6)) for nx, ny, d in planes]
    most, least = _bounds(planes, cos, sin, dy)
    right, left = jnp.stack(most).min(0), jnp.stack(least).max(0)
    return _closed_span(left, right) if closed else (jnp.ceil(left), jnp.ceil(right))


def _star(size: Geometry, cos, sin, dy) -> list[tuple[jax.Array, jax.Array]]:
    """Inside at least four of five half planes: drop the tightest bound on one side or other."""
    most, least = _bounds(_half_planes("star", size), cos, sin, dy)
    right, right_but_one = _smallest_two(most)
    left, left_but_one = (-bound for bound in _smallest_two([-bound for bound in least]))
    return [
        (jnp.ceil(left), jnp.ceil(right_but_one)),
        (jnp.ceil(left_but_one), jnp.ceil(right)),
    ]


def _smallest_two(values: list[jax.Array]) -> tuple[jax.Array, jax.Array]:
    first, second = values[0], jnp.full_like(values[0], FAR)
    for value in values[1:]:
        second = jnp.minimum(second, jnp.maximum(first, value))
        first = jnp.minimum(first, value)
    return first, second


def _ellipse(size: Geometry, cos, sin, dy) -> tuple[jax.Array, jax.Array]:
    across, down = size.ellipse
    wide, tall = 1 / across**2, 1 / down**2
    # The point turned back by the angle is (dx*cos + dy*sin, dy*cos - dx*sin).
    a = cos * cos * wide + sin * sin * tall
    b = dy * cos * sin * (wide - tall)
    c = dy * dy * (sin * sin * wide + cos * cos * tall) - 1
    inside = b * b - a * c
    root = jnp.sqrt(jnp.maximum(inside, 0.0))
    left, right = _closed_span((-b - root) / a, (-b + root) / a)
    return left, jnp.where(inside < -1e-6, left, right)


def _circle(radius: jax.Array, dy: jax.Array) -> tuple[jax.Array, jax.Array]:
    left_over = radius * radius - dy * dy
    reach = jnp.floor(jnp.sqrt(jnp.maximum(left_over, 0.0) + 1e-3))
    return -reach, jnp.where(left_over < -1e-3, -reach, reach + 1)


def _spans(kind: str, size: Geometry, cos, sin, dy) -> list[tuple[jax.Array, jax.Array]]:
    if kind == "circle":
        return [_circle(size.radius, dy)]
    if kind == "ellipse":
        return [_ellipse(size, cos, sin, dy)]
    if kind == "star":
        return _star(size, cos, sin, dy)
    if kind == "cross":
        line = _half_planes("line", size)
        return [
            _all_planes(line, cos, sin, dy, closed=True),
            _all_planes(line, -sin, cos, dy, closed=True),
        ]
    planes = _half_planes(kind, size)
    return [_all_planes(planes, cos, sin, dy, closed=kind in ("square", "line", "diamond"))]


def row_spans(
    kinds: tuple[str, ...], which: jax.Array, size: Geometry, angle: jax.Array | None, dy: jax.Array
) -> list[tuple[jax.Array, jax.Array]]:
    """Return the spans [start, end) of whole dx covered on each row, f32 of dy's shape.

    Args:
        kinds: the shapes that can occur (static).
        which: i32[..., 1], index into `kinds`.
        size: geometry, arrays that broadcast against `dy`.
        angle: f32[..., 1] in degrees, or None for upright shapes.
        dy: f32[..., rows], row minus the shape's centre row.

    Returns:
        One or two (start, end) pairs; an empty span has end <= start.
    """
    turn = jnp.deg2rad(jnp.float32(0) if angle is None else angle)
    cos, sin = (1.0, 0.0) if angle is None else (jnp.cos(turn), jnp.sin(turn))
    count = 2 if any(kind in TWO_SPANS for kind in kinds) else 1
    chosen = None
    for index, kind in enumerate(kinds):
        spans = _spans(kind, size, cos, sin, dy)
        if len(spans) < count:
            spans.append((jnp.zeros_like(dy), jnp.zeros_like(dy)))
        if chosen is None:
            chosen = spans
        else:
            picked = which == index
            chosen = [
                tuple(jnp.where(picked, new, old) for new, old in zip(span, before, strict=True))
                for span, before in zip(spans, chosen, strict=True)
            ]
    return chosen


@lru_cache(maxsize=32)
def upright_rows(kinds: tuple[str, ...], body: tuple[int, int], height: int) -> jax.Array:
    """Return the spans of an agent's upright shapes, tabulated so that drawing only cuts rows out.

    Args:
        kinds: the shapes (static).
        body: width and height of the agent's box, px.
        height: of the screen, px.

    Returns:
        i16[shapes, 2 * height, spans, 2]; start and end for dy in [-height, height), for as many
        shapes as there are names (unused ones are empty).
    """
    dy = jnp.arange(-height, height, dtype=jnp.float32)
    draw = jax.jit(lambda which: row_spans(kinds, which, agent_geometry(*body), None, dy))
    table = np.zeros((9, 2 * height, 2 if any(k in TWO_SPANS for k in kinds) else 1, 2), np.int16)
    for index in range(len(kinds)):
        for span, (start, end) in enumerate(draw(jnp.full(1, index))):
            table[index, :, span] = np.clip(np.stack([start, end], -1), -999, 999)
    return jnp.asarray(table)
