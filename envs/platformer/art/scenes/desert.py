"""Deserts: dunes, pyramids, cactus flats, an oasis, ruins, caravans, by day and by night."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, convex, span
from envs.platformer.art.fields import scatter, spots, swell
from envs.platformer.art.landscape import birds, hill, moon, mountains, stars, streak, sun
from envs.platformer.art.palette import darker, lighter, mix, ramp
from envs.platformer.art.plants import CACTUS, TUFT, palm

# Sky from the top down; dunes lit and shaded; far land; accent lit and shaded.
PALETTES = (
    ("4ca4dc 84c8ec c0e4f0 f4ecd4", "f4cc80 c4884c", "e0b888", "f0c070 a8703c"),
    ("e07c4c f0a464 f8c884 fce8b4", "e8984c 9c4c34", "c87850", "d88c4c 8c4830"),
    ("101434 202458 3c3878 6c5490", "5c5490 2c2858", "443c78", "7068a8 343064"),
    ("60b8d8 98d4e0 d0ece0 fcf4d8", "f0d898 c8a060", "c8b48c", "5ca048 2c6c40"),
    ("9c4c6c d07868 f0a874 fcd898", "c87c60 6c3c50", "a86468", "d89470 7c4454"),
    ("c8a878 dcc090 ecd8ac f8ecd0", "d8b078 a07848", "c4a478", "b08858 785838"),
    ("3c88c8 70b4e0 b4dcf0 e8f4f4", "e88c5c a84c3c", "c88070", "58984c 30643c"),
    ("243c54 3c6470 708c84 d0bc8c", "8c8464 4c4c4c", "60706c", "a89c70 545450"),
)


def _dunes(canvas: Canvas, rng: np.random.Generator, rows: tuple, tones: list, far) -> None:
    """Crests whose left slopes are lit and whose right slopes lie in shade.

    Each crest is a sawtooth with a long left and a short right side.
    """
    lit, dark = tones
    for k, row in enumerate(rows):
        haze = 0.55 * (1 - k / max(len(rows) - 1, 1))
        light, shade = mix(lit, far, haze), mix(dark, far, haze)
        count = max(1, 3 - k)
        top = np.full((SIZE, SIZE), 1e9)
        shaded = np.zeros((SIZE, SIZE), dtype=bool)
        for x in spots(rng, count, 0.5):
            tall = (11 + 6 * rng.random()) * (0.7 + 0.35 * k)
            wide = SIZE / count * 0.62
            # The shaded face is bounded by a crest line that curls away below the summit.
            curl = x + (ROWS - row + tall) * 0.55 + 2 * (row < ROWS)
            side = (COLS - x + SIZE / 2) % SIZE - SIZE / 2
            height = row - tall * np.maximum(0, 1 - np.abs(side) / wide) ** 1.4
            inner = ((COLS - curl + SIZE / 2) % SIZE - SIZE / 2) > 0
            taper = wide - np.maximum(0, ROWS - row) * 1.4
            better = np.round(height, 5) < top
            shaded = np.where(better, (side > 0) & inner & (side < taper), shaded)
            top = np.minimum(top, np.round(height, 5))
        land = top <= ROWS
        canvas.shade(np.clip((ROWS - top) / 40, 0, 1), [light, mix(light, shade, 0.45)], land, 0.9)
        canvas.shade(
            np.clip((ROWS - top) / 34, 0, 1), [shade, mix(light, shade, 0.6)], land & shaded, 0.9
        )
        canvas.paint((np.floor(top) == ROWS) & ~shaded, lighter(light, 0.35))
    for x, y in scatter(rng, 26, 8, rows[-1] + 4, SIZE):
        canvas.rect(x, y, 5, 1, mix(lit, dark, 0.6))


def _pyramid(canvas: Canvas, x: int, foot: int, tall: int, tones: list) -> None:
    """A stepped-block pyramid, left face lit, right face shaded."""
    lit, dark = tones
    tip = (x, foot - tall)
    wide = tall * 1.05
    canvas.convex([(x - wide, foot), tip, (x + wide * 0.25, foot)], lit)
    right = convex([(x + wide * 0.25, foot), tip, (x + wide, foot)])
    canvas.paint(right, dark)
    whole = convex([(x - wide, foot), tip, (x + wide, foot)])
    canvas.paint(
        whole & ~right & (ROWS % 4 == 0) & ((COLS + ROWS // 4 * 3) % 7 < 4), mix(lit, dark, 0.35)
    )
    canvas.paint(right & (ROWS % 4 == 0) & ((COLS + ROWS // 4 * 3) % 7 < 4), darker(dark, 0.2))


def _camel(canvas: Canvas, x: int, foot: int, tone, cloth) -> None:
    """A laden camel in silhouette."""
    rows = (
        "...........aa...",
        "...........aaa..",
        "....cc.....aa...",
        "...cccc...aa....",
        "..acccaa.aaa....",
        ".aacccaaaaa.....",
        "aaaaccaaaaa.....",
        "a.aaaaaaaa......",
        "..aa....aa......",
        "..a.a...a.a.....",
        "..a.a...a.a.....",
        "..a.a...a.a.....",
    )
    canvas.stamp(x, foot - len(rows), rows, {"a": tone, "c": cloth})


def _cacti(canvas: Canvas, rng: np.random.Generator, tones: list, ground) -> None:
    """Large armed cacti near, small ones far, and dry tufts."""
    for x in spots(rng, 5, 0.8):
        canvas.rect(x, 90, 3, 10, mix(tones[1], ground, 0.3))
        canvas.rect(x - 3, 92, 2, 4, mix(tones[1], ground, 0.3))
        canvas.rect(x - 3, 95, 4, 1, mix(tones[1], ground, 0.3))
    for x in spots(rng, 3, 0.6):
        foot = int(rng.integers(112, 122))
        tall = int(rng.integers(30, 44))
        high = foot - tall
        stems = (
            (x, high, 7, foot),
            (x - 9, high + 9, 5, foot - 14),
            (x + 11, high + 4, 5, foot - 18),
        )
        for left, top, wide, low in stems:
            canvas.rect(left, top + 1, wide, low - top - 1, tones[0])
            canvas.rect(left + 1, top, wide - 2, 1, tones[0])
            canvas.rect(left + wide - 2, top + 1, 2, low - top - 1, tones[1])
            canvas.rect(left + 1, top + 2, 1, low - top - 3, lighter(tones[0], 0.4))
            for y in range(top + 3, low - 1, 4):
                canvas.dot(left + wide // 2, y, "f4f0c8")
        canvas.rect(x - 9, foot - 16, 10, 4, tones[0])
        canvas.rect(x - 9, foot - 13, 10, 1, tones[1])
        canvas.rect(x + 7, foot - 20, 9, 4, tones[0])
        canvas.rect(x + 7, foot - 17, 9, 1, tones[1])
        canvas.rect(x + 2, foot - tall - 2, 3, 2, "f06c8c")
    for x, y in scatter(rng, 10, 12, 104, 122):
        canvas.stamp(x, y, TUFT, {"a": tones[1], "b": tones[0]})


def _oasis(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """A pool with palms and reeds."""
    canvas.ellipse(62, 112, 42, 9, tones[1])
    canvas.ellipse(62, 112, 40, 7, "3c9cc0")
    canvas.ellipse(58, 110, 30, 4, "70c8dc")
    for x, y in scatter(rng, 9, 5, 107, 117):
        if 30 < x < 90:
            canvas.rect(x, y, 6, 1, "c4f0f0")
    for x, tall, lean in ((24, 48, 8), (34, 34, -7), (94, 54, -12), (102, 36, 6)):
        palm(canvas, x, 112, tall, lean, [tones[0], tones[1], "8c6040"])
    for x, y in scatter(rng, 24, 4, 117, 122):
        canvas.stamp(x, y - 3, TUFT, {"a": tones[1], "b": tones[0]})


def _pillars(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """A half-buried temple: columns, a broken beam and a fallen head of stone."""
    lit, dark = tones
    for k, x in enumerate(spots(rng, 6, 0.25)):
        top = (52, 52, 70, 52, 84, 62)[k]
        canvas.rect(x - 5, top, 10, 72, lit)
        canvas.rect(x + 1, top, 4, 72, dark)
        for y in range(top + 6, 120, 9):
            canvas.rect(x - 5, y, 10, 1, mix(lit, dark, 0.6))
        canvas.rect(x - 7, top - 3, 14, 4, lit)
        canvas.rect(x - 7, top, 14, 1, dark)
        if k < 1:
            canvas.rect(x - 8, top - 11, 36, 8, mix(lit, dark, 0.2))
            canvas.rect(x - 8, top - 11, 36, 1, lighter(lit, 0.4))
            for step in range(5):
                canvas.rect(x - 5 + 7 * step, top - 8, 4, 3, dark)


def _arches(canvas: Canvas, tones: list) -> None:
    """Two natural arches of layered red rock."""
    lit, dark = tones
    for x, wide, top in ((34, 26, 40), (98, 19, 58)):
        body = (np.abs(span(x)) < wide) & (top + (span(x) / wide) ** 4 * 12 <= ROWS)
        hole = (span(x + 1) / (wide * 0.5)) ** 2 + ((ROWS - 106) / (88 - top)) ** 2 < 1
        stone = body & ~hole
        canvas.paint(stone, lit)
        canvas.paint(
            stone & ((ROWS + (np.abs(span(x)) // 6).astype(int)) % 8 < 2), mix(lit, dark, 0.4)
        )
        canvas.paint(stone & (span(x) > wide * 0.62), dark)
        canvas.paint(stone & (span(x) < 0) & (span(x) > -wide * 0.62), mix(lit, dark, 0.55))


def _middle(canvas: Canvas, rng: np.random.Generator, member: int, tones: tuple) -> None:
    """What stands between the sky and the near dunes."""
    sky, sand, far, accent = tones
    if member in (0, 2):
        for x, tall, share in ((98, 30, 0.4), (30, 54, 0.0), (74, 40, 0.15)):
            _pyramid(canvas, x, 100, tall, [mix(tone, sky[3], share) for tone in accent])
    if member == 6:
        _arches(canvas, sand)
    if member == 1:
        for row, haze in ((84, 0.5), (92, 0.2)):
            peaks = [(x, row - int(rng.integers(6, 20)), 0.6) for x in spots(rng, 4)]
            mountains(canvas, rng, peaks, [mix(tone, far, haze) for tone in accent])
    if member in (5, 7):
        _pillars(canvas, rng, accent)


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight deserts."""
    sky, sand, far_list, accent = (ramp(words) for words in PALETTES[member])
    far = far_list[0]
    canvas = Canvas()
    canvas.gradient(sky, 0, 92, 0.9)
    canvas.gradient([far, mix(far, sand[0], 0.5), sand[0]], 92, SIZE, 0.9)
    if member == 2:
        stars(canvas, rng, 80, ramp("6c64a8 b0a8e0 ffffff"), 84, 5)
        moon(canvas, 96, 26, 11, ramp("fff4d0 d8cca8 a89c80"), crescent=True)
    elif member == 7:
        moon(canvas, 40, 44, 20, ramp("f4e8b8 d8c48c b09c6c"))
    else:
        place = (
            (100, 24, 9),
            (64, 60, 17),
            0,
            (26, 24, 8),
            (84, 58, 16),
            (60, 46, 13),
            (104, 22, 8),
        )[member]
        glow = [mix(sky[1], "fff0b8", 0.4), mix(sky[2], "fff4c8", 0.6), "fff8dc"]
        sun(canvas, *place, glow)
    if member in (0, 3, 4, 6):
        for x, y in scatter(rng, 6, 20, 12, 56):
            streak(canvas, rng, x, y, int(rng.integers(14, 34)), mix(sky[2], "ffffff", 0.5))
    _middle(canvas, rng, member, (sky, sand, far, accent))
    rows = (104, 118) if member in (5, 7) else (90, 102, 118)
    if member in (1, 6):
        line = 98 - 3 * swell(rng, 1, 3)
        hill(canvas, line, [sand[0], mix(*sand, 0.5), sand[1]], 40, lighter(sand[0], 0.3))
        _cacti(canvas, rng, ramp("58984c 30643c") if member == 6 else ramp("7c8440 4c4c34"), far)
    else:
        _dunes(canvas, rng, rows, sand, far)
    if member == 3:
        _oasis(canvas, rng, accent)
    if member == 4:
        for k, x in enumerate((14, 36, 58, 80)):
            cloth = ramp("f0d088 d05c5c 5c7cb0 e8b060")[k]
            _camel(canvas, x, 100 + (k % 2), sand[1], cloth)
    if member == 2:
        for x in spots(rng, 3, 0.7):
            canvas.stamp(x, 105, CACTUS, {"a": accent[1], "b": sand[1]})
    if member in (0, 1, 5):
        birds(canvas, rng, 3, accent[1], 14, 44)
    return canvas
