"""Abstract pictures: plasma, swells, contours, arcs, facets, halftone, blobs, ribbons."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, disc, span
from envs.platformer.art.fields import cells, cloudy, noise, scatter, sine
from envs.platformer.art.palette import darker, lighter, mix, ramp

PALETTES = (
    "1c1c4c 4c2c84 943c94 dc5c84 f89c6c fcdc8c",
    "0c2c4c 14506c 2c8090 64b4a4 b8dca8 f8f0b8",
    "24183c 3c2c64 5c4c94 7c84c4 a4c4e4 e8f4f4",
    "f4e8d0 e8b078 d87058 8c4054 3c2c4c 5c94a0",
    "102c3c 1c5058 308068 64b070 b4d878 f4f0a8",
    "fce8d4 f8b4a4 e86c84 9c3c7c 4c2464",
    "2c1038 5c1c50 a02c58 e05050 f89858 fce0a0",
    "e8f4ec a8dcd4 58b0c0 3474a4 2c4078 281c48",
)


def _plasma(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Summed sines, dithered through a warm ramp."""
    x, y = COLS / SIZE, ROWS / SIZE
    warp = 0.25 * sine(2 * y + rng.random()) + 0.15 * sine(x + y + rng.random())
    value = sine(x + warp) + sine(2 * x - 1.5 * y + 0.3) + sine(1.5 * y + warp + 0.5 * sine(x))
    value += 0.7 * sine(3 * x + 2 * y + warp)
    value = (value - value.min()) / (value.max() - value.min())
    canvas.shade(np.abs(((value * 2.6) % 2) - 1), tones, strength=0.7)


def _swells(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Stacked rolling waves, light to dark, each with a foam edge."""
    x = COLS[0] / SIZE
    canvas.gradient([tones[5], tones[4]], 0, 30)
    for k in range(9):
        rise = 8 + 13.5 * k
        crest = rise + 5 * sine(2 * x + 0.31 * k + rng.random() * 0.2) + 3 * sine(3 * x - 0.23 * k)
        tone = mix(tones[4 - k // 2] if k < 8 else tones[0], tones[max(0, 3 - k // 2)], (k % 2) / 2)
        top = np.floor(np.round(crest, 5)).astype(int)[None, :]
        canvas.paint(top <= ROWS, tone)
        canvas.paint((top <= ROWS) & (top + 2 > ROWS), lighter(tone, 0.55))
        band = (ROWS - top >= 4) & (ROWS - top < 9)
        canvas.paint(band & ((ROWS + COLS) % 2 == 0), lighter(tone, 0.16))


def _contours(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """A map of heights: flat tints with a lit and a shaded side to every contour."""
    height = 0.75 * cloudy(rng, 2, 2, 2) + 0.25 * cloudy(rng, 4, 4, 2)
    height = (height - height.min()) / (height.max() - height.min())
    step = np.clip(np.floor(np.round(height * 12, 5)), 0, 11).astype(int)
    for k in range(12):
        canvas.paint(step == k, mix(tones[k // 2], tones[min(k // 2 + 1, 5)], (k % 2) / 2))
    above, below = np.roll(step, 1, 0), np.roll(step, -1, 0)
    rim = (step > above) | (step > np.roll(step, 1, 1))
    foot = (step < above) | (step < np.roll(step, 1, 1))
    for k in range(12):
        base = mix(tones[k // 2], tones[min(k // 2 + 1, 5)], (k % 2) / 2)
        canvas.paint((step == k) & rim, lighter(base, 0.4))
        canvas.paint((step == k) & foot, darker(base, 0.45))
    canvas.paint((step < below) & (step % 3 == 0) & (COLS % 3 == 0), tones[5])


def _arcs(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Quarter-circle tiles turned at random, so that the arcs join into winding roads."""
    size = 16
    turn = rng.integers(0, 2, (8, 8))[ROWS // size, COLS // size] == 1
    x, y = COLS % size + 0.5, ROWS % size + 0.5
    x = np.where(turn, size - x, x)
    near = np.sqrt(x * x + y * y)
    far = np.sqrt((size - x) ** 2 + (size - y) ** 2)
    away = np.round(np.minimum(np.abs(near - size / 2), np.abs(far - size / 2)), 5)
    inner = (near < size / 2) | (far < size / 2)
    parity = ((ROWS // size + COLS // size) % 2 == 1) ^ turn
    canvas.paint(inner ^ parity, tones[0])
    canvas.paint(~(inner ^ parity), tones[1])
    for limit, tone in ((4.4, tones[4]), (3.4, tones[2]), (1.2, tones[3])):
        canvas.paint(away < limit, tone)
    canvas.paint((away < 2.4) & (away > 1.4), lighter(tones[2], 0.35))
    lone = rng.random((8, 8))[ROWS // size, COLS // size] < 0.2
    canvas.paint(lone & ((x - 8) ** 2 + (y - 8) ** 2 < 5), tones[5])


def _facets(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Cut-gem facets: cells shaded by the slope of each, lit along their upper edges."""
    near, second, number = cells(rng, 6, 6)
    tilt = rng.random(number.max() + 1)[number]
    height = 1 - ROWS / SIZE
    value = 0.55 * height + 0.45 * tilt
    canvas.shade(np.clip(value, 0, 1), tones, strength=0.25)
    edge = np.round(second - near, 5) < 1.1
    canvas.paint(edge, tones[0])
    canvas.paint(np.roll(edge, 1, 0) & ~edge, tones[5])
    canvas.paint(np.roll(edge, 1, 1) & ~edge & ((ROWS + COLS) % 2 == 0), tones[4])


def _halftone(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Dots on a slanted grid, grown by a wave, over a soft field."""
    x, y = COLS / SIZE, ROWS / SIZE
    field = 0.5 + 0.5 * sine(x + 0.35 * sine(y + 0.1) + y * 0.8)
    canvas.shade(field, [tones[0], tones[1], tones[2]], strength=0.6)
    # The dots sit on a slanted grid and each takes its size at its own centre, so it stays round.
    diagonal, other = (COLS + ROWS) // 16, (COLS - ROWS) // 16
    mid_x, mid_y = (diagonal + other) * 8 + 7.5, (diagonal - other) * 8 + 0.5
    grow = 0.5 + 0.5 * sine((mid_x * 2 - mid_y * 1.3) / SIZE + 0.2)
    reach = np.round(np.sqrt((COLS - mid_x) ** 2 + (ROWS - mid_y) ** 2), 6)
    canvas.paint(reach < 6.6 * grow, tones[3])
    canvas.paint(reach < 6.6 * grow - 2.4, tones[4])
    canvas.paint((noise(rng, 4, 4) > 0.62) & (reach < 1.5), tones[2])


def _blobs(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Drops of warm wax that merge as they near one another."""
    total = np.zeros((SIZE, SIZE))
    for x, y in scatter(rng, 13, 22, 4, 124):
        radius = 5 + 10 * rng.random()
        total += radius * radius / (span(x) ** 2 + ((ROWS - y) * 0.85) ** 2 + 12)
    canvas.gradient([tones[0], tones[1]], strength=1.0)
    total = np.round(total, 6)
    for limit, tone in (
        (0.62, mix(tones[1], tones[2], 0.5)),
        (0.9, tones[2]),
        (1.15, tones[3]),
        (1.7, tones[4]),
        (2.8, tones[5]),
    ):
        canvas.paint(total > limit, tone)
    up = np.roll(total, 2, 0)
    canvas.paint((total > 0.9) & (up <= 0.9) & (ROWS > 2), lighter(tones[4], 0.3))


def _ribbons(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Broad ribbons that cross over a quiet contour map."""
    pale = [tones[0], mix(tones[0], tones[1], 0.5)]
    canvas.shade((cloudy(rng, 2, 2, 2) * 5) % 1, pale, strength=0.0)
    x = COLS[0] / SIZE
    for k in range(6):
        middle = 14 + 20 * k + 11 * sine(x * (1 + k % 2) + rng.random())
        thick = 7 + 3.5 * sine(x * (2 - k % 2) + 0.3 * k)
        across = (ROWS - middle[None, :]) / np.maximum(thick[None, :], 2)
        body = np.abs(np.round(across, 6)) <= 1
        first = tones[1 + k % 5]
        canvas.paint(np.roll(body, 3, 0), darker(tones[1], 0.25))
        shade = [lighter(first, 0.35), first, darker(first, 0.25)]
        canvas.shade(np.clip((across + 1) / 2, 0, 1), shade, body, 0.6)
        canvas.paint(body & (np.roll(body, 1, 0) != body), lighter(first, 0.6))
    for a, b in scatter(rng, 10, 22, 6, 122):
        canvas.paint(disc(a, b, 2), tones[5])
        canvas.dot(a - 1, b - 1, tones[0])


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight abstract pictures."""
    tones = ramp(PALETTES[member])
    canvas = Canvas()
    drawers = {
        0: _plasma,
        1: _swells,
        2: _contours,
        3: _arcs,
        4: _facets,
        5: _halftone,
        6: _blobs,
        7: _ribbons,
    }
    drawers[member](canvas, rng, tones)
    return canvas
