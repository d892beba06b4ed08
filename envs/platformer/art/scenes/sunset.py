"""Sunsets: a great sun low over sea, palms, savanna, marsh, dunes or a neon horizon."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, disc, span
from envs.platformer.art.fields import scatter, spots, swell
from envs.platformer.art.landscape import birds, hill, mountains, stars, streak, water
from envs.platformer.art.palette import darker, mix, ramp
from envs.platformer.art.plants import grass, palm

# Sky from the top down; sun top and bottom; cloud streak light and dark; land far to near.
PALETTES = (
    ("3c2a6c 7a3c80 c0527c f0806c fcb868", "fff0a0 ff8c5c", "fca074 94487c", "6a2c5c 2c1838"),
    ("2a1a4c 5a2a7c a03c94 e85c98 ff9c8c", "fff07c ff4c8c", "ff84a8 7c3490", "3c1c5c 140c2c"),
    ("8c3c3c c85c3c ec8c44 f8b85c fce49c", "fffbd8 ffd470", "fcd088 b4583c", "7c3838 34181c"),
    ("28385c 4c5c84 8c7c98 d89c94 f8c8a0", "fff0d0 f88c6c", "f4b4a0 6c6488", "48506c 1c2238"),
    ("34244c 6c3458 a84858 e07050 f4a85c", "ffe088 f0604c", "f08c64 74345c", "582848 200f26"),
    ("1c3c54 2c6070 5c8c84 c0b484 f4d890", "fffbd0 fcb060", "e4cc98 46747c", "2c5058 102830"),
    ("5c2c54 9c3c5c d8605c f49068 fcc890", "fff4c0 fc8464", "fcb48c a44460", "74304c 381830"),
    ("44548c 7c74ac b890b8 ecb0b0 fcdcb4", "fff8e4 fca898", "fcd4c4 8878ac", "6c689c 343664"),
)


def _orb(canvas: Canvas, x: int, y: int, radius: int, tones: list, slits: bool) -> None:
    """A large sun shaded from top to bottom, with widening gaps when slit."""
    body = disc(x, y, radius)
    if slits:
        low = ROWS - (y - radius // 3)
        body &= ~((low >= 0) & (low % 6 < 1 + low // 9))
    colours = [tones[0], mix(tones[0], tones[1], 0.5), tones[1]]
    canvas.shade(np.clip((ROWS - y + radius) / (2 * radius), 0, 1), colours, body, 0.8)


def _glow(canvas: Canvas, x: int, y: int, radius: int, colour) -> None:
    """Two dithered rings of light around the sun."""
    checks = ((ROWS + COLS) % 2 == 0, (ROWS % 2 == 0) & ((COLS + ROWS) % 4 == 0))
    for ring, where in zip((1.35, 1.9), checks, strict=True):
        canvas.paint(disc(x, y, radius * ring) & where, colour)


def _sail(canvas: Canvas, x: int, y: int, size: int, colour, hull) -> None:
    """A small boat with two sails."""
    canvas.convex([(x, y - size), (x, y - 2), (x + size * 0.7, y - 2)], colour)
    canvas.convex([(x - 2, y - size * 0.8), (x - 2, y - 2), (x - size * 0.5, y - 2)], colour)
    canvas.rect(x - size // 2, y - 1, size + 2, 1, hull)
    canvas.rect(x - size // 2 + 1, y, size, 1, hull)
    canvas.rect(x - size // 2 + 2, y + 1, size - 2, 1, hull)


def _acacia(canvas: Canvas, rng: np.random.Generator, x: int, foot: int, size: int, tone) -> None:
    """A flat-crowned savanna tree in silhouette."""
    top = foot - size
    for reach in (-1, -0.4, 0.35, 0.9):
        canvas.line(x, foot - size * 0.35, x + reach * size * 0.5, top + 2, tone)
    canvas.rect(x, foot - int(size * 0.45), 2, int(size * 0.45) + 3, tone)
    for _ in range(7):
        shift = (rng.random() - 0.5) * size * 1.1
        canvas.ellipse(x + shift, top + int(rng.integers(-2, 3)), size * 0.24, 2, tone)
    canvas.ellipse(x, top, size * 0.7, 2, tone)


def _reeds(canvas: Canvas, rng: np.random.Generator, tone, glow) -> None:
    """Bulrushes along the bottom edge."""
    for x in spots(rng, 26, 0.9):
        if abs(x - 34) < 11 or abs(x - 104) < 11:
            continue  # where the herons stand
        tall = int(rng.integers(14, 38))
        lean = int(rng.integers(-4, 5))
        canvas.line(x, SIZE, x + lean, SIZE - tall, tone)
        if tall > 22:
            canvas.rect(x + lean, SIZE - tall - 5, 2, 6, tone)
            canvas.rect(x + lean, SIZE - tall - 4, 1, 2, glow)


def _grid(canvas: Canvas, horizon: int, floor, glow) -> None:
    """A neon floor whose cross lines close up towards the horizon."""
    canvas.rect(0, horizon, SIZE, SIZE - horizon, floor)
    # Upright lanes, since lines that meet at a point would break at the picture's edge.
    canvas.paint((horizon < ROWS) & (COLS % 16 == 8), mix(glow, floor, 0.35))
    y, gap = float(horizon), 1.6
    while y < SIZE:
        canvas.rect(0, int(y), SIZE, 1, glow)
        y, gap = y + gap, gap * 1.35


def _heron(canvas: Canvas, x: int, foot: int, tone) -> None:
    """A wading heron in silhouette."""
    rows = (
        ".......aaa.....",
        "......aaaaaaaaa",
        "......aa.......",
        "......aa.......",
        ".......aa......",
        "........aa.....",
        "...aaaaaaaa....",
        "..aaaaaaaaa....",
        ".aaaaaaaaa.....",
        "aaaaaaaaa......",
        "aa..aaaa.......",
        ".....aa........",
        ".....a.a.......",
        ".....a.a.......",
        ".....a..a......",
        ".....a..a......",
        ".....a..a......",
        ".....a.........",
        ".....a.........",
    )
    canvas.stamp(x, foot - len(rows), rows, {"a": tone})


def _wires(canvas: Canvas, tone) -> None:
    """Two telegraph poles with sagging wires and a few birds on them."""
    for x in range(SIZE):
        reach = ((x - 20) % 64 - 32) / 32
        for top in (66, 71):
            canvas.dot(x, int(top + 6 * (1 - reach * reach)), tone)
    for x in (20, 84):
        canvas.rect(x, 60, 2, 60, tone)
        for y in (65, 70):
            canvas.rect(x - 6, y, 14, 1, tone)
            canvas.rect(x - 6, y - 2, 1, 2, tone)
            canvas.rect(x + 7, y - 2, 1, 2, tone)
    for x in (2, 42, 47, 100, 108, 64):
        reach = ((x - 20) % 64 - 32) / 32
        y = int(66 + 6 * (1 - reach * reach))
        canvas.stamp(x, y - 4, (".aa.", ".aaa", "aaa.", "a.a."), {"a": tone})


def _shore(canvas: Canvas, rng: np.random.Generator, member: int, sun_x: int, tones: list) -> None:
    """The scenes with water in them."""
    sky, orb, _, land = tones
    sea = [mix(sky[4], sky[2], 0.3), sky[2], sky[1], darker(sky[0], 0.2)]
    top = 84 if member == 5 else 88
    water(canvas, rng, top, sea, mix(sky[1], sky[3], 0.4), [(sun_x, 17, orb[0])])
    if member in (0, 4):
        for x, half in ((sun_x + 50, 18), (sun_x + 74, 11)):
            isle = np.maximum(0, 1 - (span(x)[0] / half) ** 2)
            canvas.paint((top - np.round(7 * isle, 6) <= ROWS) & (top > ROWS), land[0])
    if member == 0:
        _sail(canvas, 30, 100, 20, land[1], land[1])
        _sail(canvas, 106, 93, 9, land[0], land[0])
    if member == 4:
        line = 122 - 10 * swell(rng, 1, 2)
        for x, tall, lean in ((16, 62, 10), (30, 44, -8), (104, 70, -14), (116, 46, 9)):
            palm(canvas, x, int(line[x]) + 2, tall, lean, [land[1], land[1], land[1]])
        hill(canvas, line, [land[1]])
        grass(canvas, rng, line, land[1])
    if member == 5:
        _heron(canvas, 30, 116, land[1])
        _heron(canvas, 100, 122, land[1])
        _reeds(canvas, rng, land[1], land[0])
    if member == 7:
        for x, peak in ((16, 62), (32, 76), (108, 58), (94, 80)):
            stone = [mix(land[0], sky[4], 0.25), land[1]]
            mountains(canvas, rng, [(x, peak, 3.2)], stone)
        for x, y in scatter(rng, 60, 4, 112, SIZE):
            canvas.rect(x, y, 5, 1, sky[1])


def _front(canvas: Canvas, rng: np.random.Generator, member: int, tones: list) -> None:
    """The scenes with dry land before the sun."""
    sky, _, _, land = tones
    if member == 1:
        mountains(canvas, rng, [(x, 76, 1.0) for x in spots(rng, 6)], land)
        _grid(canvas, 92, land[1], "ff5cc8")
    if member == 2:
        hill(canvas, 92 - 6 * swell(rng, 1, 3), [land[0], mix(*land, 0.5)], 24)
        hill(canvas, 112 - 5 * swell(rng, 1, 2), [land[1]], 4)
        for x, size in ((22, 34), (66, 22), (104, 28)):
            _acacia(canvas, rng, x, 112, size, land[1])
        grass(canvas, rng, np.full(SIZE, 110.0), land[1], 4)
    if member == 3:
        for row, share in ((80, 0.0), (94, 0.45), (110, 1.0)):
            tone = mix(mix(land[0], sky[3], 0.35), land[1], share)
            hill(canvas, row - 18 * swell(rng, 2, 5), [tone, mix(tone, land[1], 0.3)], 20)
    if member == 6:
        for row, share in ((90, 0.2), (114, 1.0)):
            tone = mix(land[0], land[1], share)
            hill(canvas, row - 9 * swell(rng, 1, 2), [tone, darker(tone)], 24)
        _wires(canvas, land[1])


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight sunsets."""
    tones = [ramp(words) for words in PALETTES[member]]
    sky, orb, bars, _ = tones
    canvas = Canvas()
    canvas.gradient(sky, 0, 92, 0.85)
    sun_x = (64, 64, 40, 84, 64, 70, 92, 60)[member]
    radius, sun_y = (
        (21, 28, 26, 16, 22, 15, 24, 18)[member],
        (76, 68, 76, 54, 74, 66, 66, 74)[member],
    )
    if member in (0, 1, 3, 7):
        stars(canvas, rng, 26, [bars[0], sky[3], "ffe8d8"], 36, 2)
    if member != 1:
        _glow(canvas, sun_x, sun_y, radius, mix(sky[3], orb[0], 0.35))
    _orb(canvas, sun_x, sun_y, radius, orb, member == 1)
    if member != 1:
        for x, y in scatter(rng, 11, 15, 14, 78):
            streak(canvas, rng, x, y, int(rng.integers(14, 46)), bars[0 if y > 38 else 1])
    if member in (0, 4, 5, 7):
        _shore(canvas, rng, member, sun_x, tones)
    else:
        _front(canvas, rng, member, tones)
    if member in (2, 3, 5):
        birds(canvas, rng, 5, tones[3][1], 18, 56)
    return canvas
