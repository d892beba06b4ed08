"""City skylines by day, dusk, night, in rain and in neon."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, box, disc, span
from envs.platformer.art.fields import scatter, spots
from envs.platformer.art.landscape import birds, cloud, moon, stars, sun, water
from envs.platformer.art.palette import darker, lighter, mix, ramp

# Sky from the top down, far and near building walls, lit windows.
PALETTES = (
    ("5ca8e4 94cbf0 cce8f6 eef6f4", "a8c4dc 4c6488", "e8f4fc b8d8ec"),
    ("34285c 7c3c74 d0646c f8ac6c", "a05474 2c1c40", "ffd878 ff9c54"),
    ("080c24 101c44 1c3468 305490", "1c305c 080e20", "ffe08c 8cd0ff"),
    ("14082c 341050 6c1c74 c8388c", "3c1860 100824", "3cf0f0 ff5cb8"),
    ("48545c 647478 88989a b0bcb8", "7c8c90 343e48", "fce8a8 c8d8d4"),
    ("f0a890 f6c4a0 fae0bc fdf4dc", "e0a88c 9c5a5c", "fff4dc 74384c"),
    ("0c2c30 145048 2c8468 8cc88c", "1c5c54 08201f", "f4ffa0 94f0b0"),
    ("88b8d8 b4d4e4 dce8e8 f8f0e0", "b8c4d0 6c7c94", "fffae0 54688c"),
)


def _roof(canvas: Canvas, rng: np.random.Generator, x: int, top: int, wide: int, tone) -> None:
    """One of five ways to end a tower."""
    style = int(rng.integers(0, 5))
    middle = x + wide // 2
    if style == 0:
        canvas.rect(middle, top - 10, 1, 10, tone)
        canvas.rect(middle - 1, top - 4, 3, 4, tone)
    elif style == 1:
        canvas.rect(x + 2, top - 3, wide - 4, 3, tone)
        canvas.rect(x + 4, top - 6, max(wide - 8, 1), 3, tone)
    elif style == 2:
        canvas.convex([(x, top), (x + wide - 1, top), (x + wide - 1, top - wide * 0.6)], tone)
    elif style == 3:
        canvas.rect(x + 2, top - 5, 5, 4, tone)
        canvas.convex([(x + 1, top - 5), (x + 4, top - 8), (x + 7, top - 5)], tone)
        canvas.rect(x + 2, top - 1, 1, 1, tone)
        canvas.rect(x + 6, top - 1, 1, 1, tone)
    else:
        canvas.rect(x + wide - 4, top - 3, 2, 3, tone)


def _tower(
    canvas: Canvas,
    rng: np.random.Generator,
    place: tuple[int, int, int],
    wall,
    lamps: list,
    lit: float,
) -> None:
    """A tower with a shaded right edge and a grid of windows, `lit` of them shining."""
    x, top, wide = place
    _roof(canvas, rng, x, top, wide, wall)
    canvas.rect(x, top, wide, SIZE - top, wall)
    canvas.rect(x + wide - 2, top, 2, SIZE - top, darker(wall, 0.25))
    canvas.rect(x, top, wide, 1, lighter(wall, 0.18))
    if not lamps:
        return
    style = int(rng.integers(0, 3))
    pane_w, pane_h, gap_x, gap_y = ((1, 2, 3, 4), (2, 1, 3, 3), (2, 3, 4, 5))[style]
    blind = mix(wall, lamps[-1], 0.10)
    for y in range(top + 3, SIZE, gap_y):
        for left in range(x + 2, x + wide - pane_w - 1, gap_x):
            shine = rng.random() < lit
            tone = lamps[0] if rng.random() < 0.7 else lamps[1]
            canvas.rect(left, y, pane_w, pane_h, tone if shine else blind)


def _row(
    canvas: Canvas,
    rng: np.random.Generator,
    tops: tuple[int, int],
    widths: tuple[int, int],
    wall,
    lamps: list,
    lit: float,
) -> None:
    """A whole street of towers, edge to edge around the picture."""
    x, end = int(rng.integers(0, SIZE)), SIZE
    while end > 0:
        wide = min(int(rng.integers(*widths)), end)
        tone = (wall, lighter(wall, 0.08), darker(wall, 0.12))[int(rng.integers(0, 3))]
        _tower(canvas, rng, (x, int(rng.integers(*tops)), wide), tone, lamps, lit)
        x, end = x + wide, end - wide


def _signs(canvas: Canvas, rng: np.random.Generator) -> None:
    """Glowing upright shop signs with strokes that look like letters."""
    for k, x in enumerate(spots(rng, 6)):
        y, tall = int(rng.integers(62, 88)), int(rng.integers(14, 26))
        tone = ramp("ff4c9c 3cf0f0 ffe04c a86cff")[k % 4]
        canvas.rect(x - 1, y - 1, 8, tall + 2, "180a30")
        canvas.paint(box(x - 1, y - 1, 8, tall + 2) & ~box(x, y, 6, tall), tone)
        for row in range(y + 2, y + tall - 3, 5):
            for a, b in scatter(rng, 5, 1, 0, 4):
                canvas.dot(x + 1 + a % 4, row + b, tone)
            canvas.rect(x + 1, row + 1, 4, 1, tone)


def _rain(canvas: Canvas, rng: np.random.Generator, tone) -> None:
    """Short straight strokes of rain."""
    for x, y in scatter(rng, 130, 6, 0, SIZE - 4):
        canvas.rect(x, y, 1, 4, tone)


def _street(canvas: Canvas, rng: np.random.Generator, wall, lamps: list) -> None:
    """A wet street with lamp posts and their smeared reflections."""
    canvas.rect(0, 112, SIZE, 16, darker(wall, 0.25))
    canvas.rect(0, 112, SIZE, 1, lighter(wall, 0.3))
    for x in (14, 46, 78, 110):
        canvas.rect(x, 92, 1, 20, darker(wall, 0.5))
        canvas.rect(x, 92, 5, 1, darker(wall, 0.5))
        canvas.paint(disc(x + 4, 94, 4) & ((ROWS + COLS) % 2 == 0), lamps[0])
        canvas.rect(x + 3, 93, 3, 2, lamps[0])
        for y in range(115, SIZE, 2):
            shift = int(rng.integers(-2, 3))
            canvas.rect(x + 2 + shift, y, 5, 1, mix(lamps[0], wall, 0.25 + (y - 112) / 26))


def _bridge(canvas: Canvas, tone, cable) -> None:
    """A suspension bridge: one tower, its cables meeting across the edge."""
    reach = np.abs(span(64)[0]) / 64.0
    sag = np.floor(np.round(94 - 38 * reach * reach, 6)).astype(int)
    for k in range(SIZE):
        canvas.dot(k, int(sag[k]), cable)
        canvas.dot(k, int(sag[k]) + 1, cable)
        if k % 6 == 0:
            canvas.rect(k, int(sag[k]), 1, 100 - int(sag[k]), cable)
    for left in (-5, 4):
        canvas.rect(left, 52, 3, 66, tone)
    for y in (54, 66, 78, 90):
        canvas.rect(-4, y, 9, 2, tone)
    canvas.rect(0, 100, SIZE, 4, tone)
    canvas.rect(0, 100, SIZE, 1, lighter(tone, 0.3))


def _domes(canvas: Canvas, rng: np.random.Generator, wall, lamps: list) -> None:
    """An old town: domes, minarets and arched windows."""
    for k, x in enumerate(spots(rng, 6, 0.3)):
        wide = int(rng.integers(16, 24))
        top = int(rng.integers(82, 98))
        tone = mix(wall, "fff0d8", (0.1, 0.3, 0.2)[k % 3])
        canvas.rect(x, top, wide, SIZE - top, tone)
        canvas.rect(x + wide - 4, top, 4, SIZE - top, mix(tone, wall, 0.6))
        canvas.rect(x - 1, top, wide + 2, 2, lighter(tone, 0.35))
        roof = ("d0685c", "5c94a0", "e0b05c")[k % 3]
        canvas.paint(disc(x + wide / 2, top, wide * 0.38) & (top > ROWS), roof)
        shine = disc(x + wide / 2 - 2, top - 1, wide * 0.24) & (top > ROWS)
        canvas.paint(shine, lighter(roof, 0.35))
        canvas.rect(x + wide // 2, top - int(wide * 0.38) - 6, 1, 6, roof)
        for left in range(x + 3, x + wide - 4, 5):
            for y in range(top + 6, SIZE, 11):
                canvas.rect(left, y, 3, 5, lamps[1])
                canvas.dot(left + 1, y - 1, lamps[1])
        if k % 2 == 0:
            canvas.rect(x - 4, top - 26, 4, SIZE, mix(tone, wall, 0.3))
            canvas.rect(x - 5, top - 18, 6, 2, lighter(tone, 0.3))
            canvas.convex([(x - 5, top - 26), (x - 2.5, top - 34), (x, top - 26)], roof)


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight skylines."""
    sky, walls, lamps = (ramp(words) for words in PALETTES[member])
    canvas = Canvas()
    canvas.gradient(sky, 0, 104, 0.9)
    night = member in (2, 3, 6)
    if night:
        stars(canvas, rng, 46, [sky[2], sky[3], "f4f4ff"], 60, 3)
    if member in (2, 6):
        moon(canvas, 30, 24, 10, ramp("fffbe0 e4dcb8 b8b098"), crescent=member == 6)
    if member in (1, 5):
        sun(canvas, 82, 58, 15, [mix(sky[2], "ffe0a0", 0.4), mix(sky[3], "fff0b0", 0.6)])
    if member in (0, 5, 7):
        for x in spots(rng, 4):
            tones = [mix(sky[1], sky[2], 0.6), mix(sky[2], "ffffff", 0.6), "ffffff"]
            cloud(canvas, rng, x, int(rng.integers(18, 48)), int(rng.integers(22, 40)), tones)
        birds(canvas, rng, 4, darker(walls[1], 0.2), 14, 50)
    lit = (0.35, 0.5, 0.42, 0.5, 0.3, 0.4, 0.4, 0.4)[member]
    if member == 5:
        _row(canvas, rng, (74, 92), (12, 20), mix(walls[0], sky[3], 0.35), [], 0)
        _domes(canvas, rng, walls[1], lamps)
        return canvas
    far = mix(walls[0], sky[3], 0.45)
    _row(canvas, rng, (34, 70), (8, 15), far, [], 0)
    mid = mix(walls[0], walls[1], 0.35)
    _row(canvas, rng, (52, 88), (10, 18), mid, [mix(lamp, mid, 0.35) for lamp in lamps], lit * 0.8)
    if member == 7:
        water(canvas, rng, 106, [sky[2], sky[0], walls[1]], sky[3])
        _bridge(canvas, "a8483c", "c86450")
        return canvas
    _row(canvas, rng, (80, 112), (15, 25), walls[1], lamps, lit)
    if member == 3:
        _signs(canvas, rng)
    if member == 4:
        _rain(canvas, rng, mix(sky[3], "ffffff", 0.3))
        _street(canvas, rng, walls[1], lamps)
    return canvas
