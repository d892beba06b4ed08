"""Sky and land that many scenes share: stars, moons, suns, clouds, mountains, hills, water."""

from collections.abc import Sequence

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, disc, span
from envs.platformer.art.fields import noise, profile, scatter, sine
from envs.platformer.art.palette import Colour


def stars(
    canvas: Canvas,
    rng: np.random.Generator,
    count: int,
    colours: Sequence[Colour],
    bottom: int = SIZE,
    sparkles: int = 4,
) -> None:
    """Lone pixels, mostly the dimmer colours, and a few four-pointed sparkles in the brightest."""
    for x, y in scatter(rng, count, 4, 1, bottom):
        canvas.dot(x, y, colours[int(rng.integers(0, len(colours)))])
    for x, y in scatter(rng, sparkles, 22, 4, bottom - 4):
        arm = int(rng.integers(1, 3))
        for k in range(1, arm + 1):
            for a, b in ((k, 0), (-k, 0), (0, k), (0, -k)):
                canvas.dot(x + a, y + b, colours[max(0, len(colours) - 1 - k)])
        canvas.dot(x, y, colours[-1])


def moon(
    canvas: Canvas, x: int, y: int, radius: int, colours: Sequence[Colour], crescent: bool = False
) -> None:
    """A moon in three colours, light to dark: cratered when full, else a crescent.

    The dark part of a crescent is left untouched so that the sky shows through.
    """
    light, mid, dark = colours
    body = disc(x, y, radius)
    if crescent:
        body &= ~disc(x + radius * 0.55, y - radius * 0.25, radius * 0.9)
        canvas.paint(body, mid)
        canvas.paint(body & disc(x + 1, y - 1, radius), light)
        return
    canvas.paint(body, mid)
    canvas.paint(body & disc(x - 2, y - 2, radius - 1), light)
    for a, b, r in ((-0.35, -0.3, 0.24), (0.3, 0.25, 0.3), (-0.25, 0.45, 0.16), (0.45, -0.4, 0.13)):
        cx, cy = round(x + a * radius), round(y + b * radius)
        hole = disc(cx, cy, radius * r) & body
        canvas.paint(hole, mid)
        canvas.paint(hole & ~disc(cx + 1, cy + 1, radius * r), dark)


def sun(canvas: Canvas, x: int, y: int, radius: int, colours: Sequence[Colour]) -> None:
    """A sun in nested discs; `colours` run from the outer halo to the core."""
    for k, colour in enumerate(colours):
        halo = (len(colours) - 1 - k) * max(2, radius // 3)
        canvas.disc(x, y, radius + halo, colour)


def cloud(
    canvas: Canvas,
    rng: np.random.Generator,
    x: int,
    base: int,
    width: int,
    colours: Sequence[Colour],
) -> None:
    """A flat-bottomed cumulus in shade, body and light colours."""
    shade, body, light = colours
    puffs = []
    count = max(3, width // 6)
    for k in range(count):
        place = (k + 0.5) / count * 2 - 1
        radius = width * (0.10 + 0.13 * (1 - place * place)) * (0.8 + 0.45 * rng.random())
        lift = radius * (0.35 + 0.5 * rng.random()) * (1.1 - abs(place))
        puffs.append((x + place * width * 0.42, base - lift, radius))
    whole = np.zeros((SIZE, SIZE), dtype=bool)
    bright, top = whole.copy(), whole.copy()
    for px, py, r in puffs:
        whole |= disc(px, py, r)
        bright |= disc(px - r * 0.12, py - r * 0.28, r * 0.86)
        top |= disc(px - r * 0.26, py - r * 0.46, r * 0.52)
    whole &= base >= ROWS
    canvas.paint(whole, shade)
    canvas.paint(whole & bright & (base > ROWS), body)
    canvas.paint(whole & top, light)


def streak(
    canvas: Canvas, rng: np.random.Generator, x: int, y: int, length: int, colour: Colour
) -> None:
    """A thin layered cloud: a few stacked runs, longest in the middle."""
    for row, share in ((-1, 0.5), (0, 1.0), (1, 0.62)):
        run = max(2, int(length * share * (0.8 + 0.3 * rng.random())))
        shift = int(rng.integers(-length // 6 - 1, length // 6 + 2))
        canvas.rect(x - run // 2 + shift, y + row, run, 1, colour)


def mountains(
    canvas: Canvas,
    rng: np.random.Generator,
    peaks: Sequence[tuple[float, float, float]],
    colours: Sequence[Colour],
    snow: Sequence[Colour] | None = None,
    cap: float = 12,
) -> np.ndarray:
    """Peaks (x, top row, slope) with a lit left side, a shaded right side and ragged snow caps.

    `colours` are the lit and the shaded side, `snow` likewise. Returns the mask.
    """
    rough = noise(rng, 16, 16) * 5 + noise(rng, 32, 32) * 3
    sides = np.stack([np.abs(span(x)) * slope + top for x, top, slope in peaks])
    nearest = np.argmin(sides, axis=0)
    height = sides.min(axis=0) + profile(rng, 16, 3)[None, :] * 4
    land = np.round(height, 6) <= ROWS
    across = np.stack([span(x) for x, _, _ in peaks])
    offset = np.take_along_axis(across, nearest[None], 0)[0]
    tops = np.array([top for _, top, _ in peaks])[nearest]
    depth = ROWS - tops
    # The ridge wanders further from the summit line the further down it runs.
    ridge = (rough - 4) * (0.5 + depth / 28) + depth * 0.12
    lit = offset < np.round(ridge, 6)
    canvas.paint(land, colours[1])
    canvas.paint(land & lit, colours[0])
    if snow is not None:
        line = cap + (rough - 4) * 1.6 + 2.5 * (COLS % 5 < 2)
        white = land & (depth < np.round(line, 6))
        canvas.paint(white, snow[1])
        canvas.paint(white & lit, snow[0])
    return land


def hill(
    canvas: Canvas,
    line: np.ndarray,
    colours: Sequence[Colour],
    depth: float = 40,
    rim: Colour | None = None,
    strength: float = 0.8,
) -> np.ndarray:
    """Everything below a line of rows, dithered from the first colour down to the last.

    `rim` colours the top pixel of each column. Returns the mask.
    """
    top = np.floor(np.round(line, 6)).astype(int)[None, :]
    land = top <= ROWS
    canvas.shade(np.clip((ROWS - top) / depth, 0, 1), colours, land, strength)
    if rim is not None:
        canvas.paint(top == ROWS, rim)
    return land


def water(
    canvas: Canvas,
    rng: np.random.Generator,
    top: int,
    colours: Sequence[Colour],
    glint: Colour,
    glitter: Sequence[tuple[int, int, Colour]] = (),
) -> None:
    """A sea from row `top` down: bands, short wave strokes and columns of broken reflection.

    `glitter` lists (x, half width, colour) for the light of a sun or moon on the water.
    """
    canvas.gradient(colours, top, SIZE, 0.7)
    for y in range(top + 2, SIZE, 3):
        near = (y - top) / max(SIZE - top, 1)
        for _ in range(5):
            if rng.random() < 0.7:
                run = int(3 + near * 8 + rng.integers(0, 3))
                canvas.rect(int(rng.integers(0, SIZE)), y, run, 1, glint)
    for x, half, colour in glitter:
        for y in range(top, SIZE):
            near = (y - top) / max(SIZE - top, 1)
            reach = half * (0.55 + 0.6 * near) * (0.55 + 0.45 * float(sine(y * 0.29)))
            if (y - top) % 2 == 0 and reach >= 1:
                shift = int(rng.integers(-2, 3))
                canvas.rect(int(x - reach) + shift, y, int(2 * reach) + 1, 1, colour)


def birds(
    canvas: Canvas, rng: np.random.Generator, count: int, colour: Colour, top: int, bottom: int
) -> None:
    """Small birds in flight, drawn as shallow letters V."""
    for x, y in scatter(rng, count, 9, top, bottom):
        for a, b in ((-2, -1), (-1, 0), (0, 0), (1, 0), (2, -1)):
            canvas.dot(x + a, y + b if a else y + 1, colour)


def snowfall(canvas: Canvas, rng: np.random.Generator, count: int, colour: Colour) -> None:
    """Snowflakes: single pixels and a few small crosses."""
    for k, (x, y) in enumerate(scatter(rng, count, 6, 0, SIZE)):
        canvas.dot(x, y, colour)
        if k % 5 == 0:
            for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                canvas.dot(x + a, y + b, colour)
