"""Works: pipes and valves, gears, tanks, furnaces, girders and chimneys."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, box, disc, span
from envs.platformer.art.fields import cloudy, scatter, spots
from envs.platformer.art.landscape import cloud, sun
from envs.platformer.art.palette import darker, lighter, mix, ramp

# Wall dark to light, metal light mid dark, accent light and dark.
PALETTES = (
    ("1c2830 28383f 34484f", "7cc08c 3c8c64 1c5448", "ffd85c c87c2c"),
    ("2c1c1c 3f2a28 543a34", "d89060 9c5438 5c2c28", "ffc060 d8602c"),
    ("181c2c 232a40 303a54", "a0acc8 64708c 383f58", "5cf0d8 2c8ca4"),
    ("28202c 3a3040 4c4054", "e8b84c b07c30 6c4828", "f0ecd8 a09880"),
    ("e8a070 f0bc88 f8d8ac fcecd0", "8c5c5c 5c3c4c 38243c", "fff0c8 f4a45c"),
    ("202420 2f362e 40493c", "b0b498 74785c 44483a", "f0e048 38382c"),
    ("241014 3c161a 541f20", "8c6464 5c3c44 34222c", "ffdc70 f0642c"),
    ("6c8ca0 8ca8b4 b0c4c8 d4dcd8", "5c7484 3c5060 283644", "f0e4b0 d87c54"),
)


def _panels(canvas: Canvas, rng: np.random.Generator, wall: list, size: int) -> None:
    """Riveted plates with a lit top left and a dark lower right edge."""
    tone = rng.integers(0, 2, (SIZE // size, SIZE // size))[ROWS // size, COLS // size]
    canvas.paint(tone == 0, wall[1])
    canvas.paint(tone == 1, mix(wall[0], wall[1], 0.6))
    canvas.paint((ROWS % size == 0) | (COLS % size == 0), wall[2])
    canvas.paint((ROWS % size == size - 1) | (COLS % size == size - 1), wall[0])
    rivet = np.isin(ROWS % size, (3, size - 4)) & np.isin(COLS % size, (3, size - 4))
    canvas.paint(rivet, wall[2])


def _tube(canvas: Canvas, mask: np.ndarray, across: np.ndarray, metal: list) -> None:
    """Shade a tube by how far each pixel lies across it, 0 to 1."""
    light, mid, dark = metal
    bands = ((1.1, darker(dark, 0.3)), (0.88, dark), (0.68, mid), (0.42, light))
    for limit, tone in bands:
        canvas.paint(mask & (across <= limit), tone)
    canvas.paint(mask & (across <= 0.30) & (across > 0.12), lighter(light, 0.5))
    canvas.paint(mask & (across <= 0.12), mid)


def _collar(canvas: Canvas, x: int, y: int, wide: int, tall: int, metal: list) -> None:
    """The flange between two lengths of pipe; long sides tell which way it runs."""
    canvas.rect(x, y, wide, tall, metal[1])
    if wide > tall:
        canvas.rect(x, y, wide, 1, metal[0])
        canvas.rect(x, y + tall - 1, wide, 1, metal[2])
        canvas.rect(x + 1, y + 1, 2, tall - 2, metal[0])
        canvas.rect(x + wide - 3, y + 1, 3, tall - 2, metal[2])
    else:
        canvas.rect(x, y, 1, tall, metal[0])
        canvas.rect(x + wide - 1, y, 1, tall, metal[2])
        canvas.rect(x + 1, y + 1, wide - 2, 2, metal[0])
        canvas.rect(x + 1, y + tall - 3, wide - 2, 3, metal[2])


def _upright(canvas: Canvas, x: int, top: int, low: int, wide: int, metal: list) -> None:
    """A vertical pipe with collars."""
    mask = box(x, top, wide, low - top)
    _tube(canvas, mask, (COLS - x) % SIZE / (wide - 1), metal)
    for y in range(top, low, 34):
        _collar(canvas, x - 2, y, wide + 4, 5, metal)


def _level(canvas: Canvas, x: int, y: int, length: int, wide: int, metal: list) -> None:
    """A horizontal pipe with collars."""
    mask = box(x, y, length, wide)
    _tube(canvas, mask, (ROWS - y) / (wide - 1), metal)
    for left in range(x, x + length, 32):
        _collar(canvas, left, y - 2, 5, wide + 4, metal)


def _wheel(canvas: Canvas, x: int, y: int, radius: int, tones: list) -> None:
    """A valve wheel with spokes."""
    canvas.paint(disc(x, y, radius) & ~disc(x, y, radius - 2), tones[0])
    canvas.paint(disc(x, y + 1, radius) & ~disc(x, y, radius), tones[1])
    for a, b in ((1, 0), (0, 1), (0.7, 0.7), (0.7, -0.7)):
        canvas.line(
            x - a * (radius - 2),
            y - b * (radius - 2),
            x + a * (radius - 2),
            y + b * (radius - 2),
            tones[1],
        )
    canvas.disc(x, y, 1, tones[0])


def _gauge(canvas: Canvas, x: int, y: int, radius: int, needle) -> None:
    """A dial with a needle."""
    canvas.disc(x, y, radius + 1, "1c1c24")
    canvas.disc(x, y, radius, "f0ecdc")
    for a, b in ((-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7), (1, 0)):
        canvas.dot(int(x + a * (radius - 1)), int(y + b * (radius - 1)), "484850")
    canvas.line(x, y, x + radius * 0.5, y - radius * 0.6, needle)


def _gear(canvas: Canvas, x: int, y: int, radius: int, teeth: int, tones: list) -> None:
    """A cog wheel with a rim, spokes and a hub."""
    light, mid, dark = tones
    turn = np.arctan2(ROWS - y, span(x)) / (2 * np.pi)
    # The small turn keeps the axes and diagonals, where rounding could go either way, off an edge.
    notch = np.round((turn * teeth + 0.013) % 1, 6)
    reach = np.round(np.sqrt(span(x) ** 2 + (ROWS - y) ** 2), 6)
    body = (reach <= radius) | ((reach <= radius + 3.5) & (notch < 0.5))
    canvas.paint(np.roll(body, 1, 0), darker(dark, 0.4))
    canvas.paint(body, mid)
    canvas.paint(body & (reach > radius - 1.5), dark)
    canvas.paint((reach <= radius - 2) & (reach > radius - 4), light)
    spoke = np.round((turn * 5 + 0.013) % 1, 6)
    canvas.paint((reach < radius * 0.68) & (reach > radius * 0.34) & (spoke > 0.28), "14121c")
    canvas.paint(reach <= radius * 0.2, dark)
    canvas.paint(reach <= radius * 0.12, light)


def _pipework(canvas: Canvas, rng: np.random.Generator, metal: list, accent: list) -> None:
    """Crossing runs of pipe, thin behind thick, with valves and dials."""
    thin = [mix(tone, "14181c", 0.45) for tone in metal]
    for x in spots(rng, 5, 0.6):
        _upright(canvas, x, -4, SIZE, 6, thin)
    for y in (14, 88):
        _level(canvas, 0, y, SIZE, 8, thin)
    for x in spots(rng, 2, 0.4):
        _upright(canvas, x, -10, SIZE, 15, metal)
    _level(canvas, 0, 44, SIZE, 13, metal)
    _level(canvas, 0, 108, SIZE, 10, metal)
    for x, y in scatter(rng, 4, 26, 30, 100):
        _wheel(canvas, x, y, 7, ["e0584c", "8c2c34"])
    for x, y in scatter(rng, 4, 28, 20, 100):
        _gauge(canvas, x, y, 5, "d03c3c")
    for x, y in scatter(rng, 6, 22, 16, 116):
        canvas.rect(x, y, 4, 3, accent[0])
        canvas.rect(x, y + 3, 4, 1, accent[1])


def _clockwork(canvas: Canvas, rng: np.random.Generator, metal: list, accent: list) -> None:
    """Gears of three sizes, far ones dim."""
    dim = [mix(tone, "1c1820", 0.6) for tone in metal]
    for x, y in scatter(rng, 7, 30, 8, 120):
        _gear(canvas, x, y, int(rng.integers(10, 17)), 12, dim)
    steel = ramp("a8a8b4 6c6c7c 404050")
    for k, (x, y, size) in enumerate(((30, 40, 21), (76, 72, 25), (114, 26, 15), (18, 100, 14))):
        _gear(canvas, x, y, size, size // 2 * 2 - 6, metal if k % 2 else steel)
    for x, y in scatter(rng, 10, 20, 6, 122):
        canvas.rect(x, y, 2, 2, accent[1])


def _tank(canvas: Canvas, x: int, top: int, wide: int, low: int, metal: list, fill: list) -> None:
    """A glass tank of bright liquid between metal ends."""
    _tube(canvas, box(x, top, wide, low - top), (COLS - x) % SIZE / (wide - 1), metal)
    glass = box(x + 3, top + 9, wide - 6, low - top - 18)
    canvas.paint(glass, darker(fill[1], 0.65))
    liquid = glass & (top + (low - top) * 0.4 < ROWS)
    canvas.shade(np.clip((ROWS - top - 20) / (low - top - 20), 0, 1), fill, liquid, 0.8)
    canvas.paint(glass & (np.abs(ROWS - top - (low - top) * 0.4) < 1), lighter(fill[0], 0.6))
    canvas.rect(x + 5, top + 11, 2, low - top - 22, lighter(fill[0], 0.35))
    for k in range(6):
        bx, by = x + 8 + (k * 7) % (wide - 14), low - 16 - (k * 11) % ((low - top) // 2)
        canvas.disc(bx, by, 1, lighter(fill[0], 0.5))
    for y in (top, low - 8):
        _collar(canvas, x - 2, y, wide + 4, 8, metal)


def _furnace(canvas: Canvas, x: int, low: int, metal: list, fire: list) -> None:
    """A brick furnace with a grate, and heat above it."""
    canvas.paint(disc(x, low - 16, 30) & ((ROWS + COLS) % 2 == 0) & (ROWS % 2 == 0), fire[1])
    canvas.rect(x - 20, low - 44, 40, 44, metal[2])
    bricks = box(x - 20, low - 44, 40, 44)
    row = (ROWS - low) // 5
    joint = ((ROWS - low) % 5 == 0) | ((COLS - x + 20 + row * 4) % 9 == 0)
    canvas.paint(bricks & ~joint, metal[1])
    canvas.rect(x - 23, low - 48, 46, 5, metal[0])
    mouth = (disc(x, low - 18, 12) & (low - 18 >= ROWS)) | box(x - 12, low - 18, 25, 14)
    canvas.shade(
        np.clip((ROWS - low + 32) / 28, 0, 1), ["5c1418", fire[1], fire[0], "fffbe0"], mouth, 1.0
    )
    canvas.paint(mouth & ((COLS - x) % 5 == 0), "1c1418")
    _upright(canvas, x - 6, -8, low - 48, 13, metal)


def _belt(canvas: Canvas, y: int, metal: list, accent: list, x: int) -> None:
    """A conveyor with rollers, a warning stripe and crates."""
    canvas.rect(0, y, SIZE, 8, metal[2])
    canvas.rect(0, y, SIZE, 1, metal[0])
    for left in range(0, SIZE, 8):
        canvas.disc(left + 4, y + 4, 2, metal[1])
        canvas.dot(left + 3, y + 3, metal[0])
    canvas.rect(0, y + 8, SIZE, 4, accent[0])
    canvas.paint(box(0, y + 8, SIZE, 4) & ((COLS + ROWS) % 8 < 4), accent[1])
    for k, left in enumerate((x, x + 44, x + 82)):
        size = (18, 13, 15)[k]
        canvas.rect(left, y - size, size, size, "b07c48")
        canvas.rect(left, y - size, size, 2, "d8a868")
        canvas.rect(left, y - 2, size, 2, "7c5034")
        canvas.rect(left, y - size, 2, size, "d8a868")
        canvas.rect(left + size - 2, y - size, 2, size, "7c5034")
        canvas.line(left + 2, y - size + 2, left + size - 3, y - 3, "7c5034")


def _girders(canvas: Canvas, rng: np.random.Generator, metal: list, rows: tuple) -> None:
    """Lattice beams and uprights, and chains with hooks."""
    for y in rows:
        canvas.rect(0, y, SIZE, 12, mix(metal[2], "101018", 0.5))
        for left in range(0, SIZE, 16):
            canvas.line(left, y + 2, left + 8, y + 10, metal[1], 2)
            canvas.line(left + 8, y + 10, left + 16, y + 2, metal[1], 2)
        for edge in (y, y + 10):
            canvas.rect(0, edge, SIZE, 2, metal[1])
            canvas.rect(0, edge, SIZE, 1, metal[0])
    for x in spots(rng, 4, 0.7):
        tall = int(rng.integers(24, 60))
        for y in range(rows[0] + 12, rows[0] + tall, 4):
            canvas.rect(x, y, 2, 3, metal[1])
        foot = rows[0] + tall
        canvas.stamp(
            x - 2, foot, ("..aa..", "..aa..", "a...aa", "aa..aa", ".aaaa."), {"a": metal[0]}
        )


def _chimneys(canvas: Canvas, rng: np.random.Generator, member: int, tones: tuple) -> None:
    """A row of works against the sky, with smoke."""
    sky, metal, accent = tones
    canvas.gradient(sky, 0, 104, 0.9)
    if member == 4:
        sun(canvas, 36, 60, 15, [mix(sky[2], accent[0], 0.6), accent[0]])
    for share, tops, count in ((0.6, (44, 66), 6), (0.0, (26, 52), 3)):
        body = [mix(tone, sky[2], share) for tone in metal]
        for x in spots(rng, count, 0.5):
            top, wide = int(rng.integers(*tops)), int(rng.integers(6, 10))
            drift = 0
            for k in range(5):
                drift += int(rng.integers(2, 8))
                shades = [mix(metal[0], sky[1], 0.6), mix(metal[0], sky[2], 0.75), sky[-1]]
                cloud(canvas, rng, x + drift, top - 2 - 8 * k, 10 + 5 * k, shades)
            for y in range(top, SIZE):
                grow = (y - top) // 24
                canvas.rect(x - grow, y, wide + 2 * grow, 1, body[1])
                canvas.rect(x - grow, y, 2, 1, body[0])
                canvas.rect(x + wide + grow - 3, y, 3, 1, body[2])
            for y in (top + 3, top + 12):
                canvas.rect(x - 1, y, wide + 2, 4, mix(accent[1], sky[2], share))
            canvas.rect(x - 1, top, wide + 2, 2, body[2])
        roof = 86 if share else 102
        for left in range(0, SIZE, 16):
            canvas.convex([(left, roof), (left, roof - 9), (left + 15, roof)], body[1])
            canvas.line(left, roof - 9, left + 15, roof, body[0])
        canvas.rect(0, roof, SIZE, SIZE - roof, body[1] if share else body[2])
        for left in range(3, SIZE, 16):
            canvas.rect(left, roof + 5, 9, 7, accent[0] if not share else body[0])
            canvas.rect(left + 4, roof + 5, 1, 7, body[2])
            canvas.rect(left, roof + 8, 9, 1, body[2])


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight works."""
    wall, metal, accent = (ramp(words) for words in PALETTES[member])
    canvas = Canvas()
    if member in (4, 7):
        _chimneys(canvas, rng, member, (wall, metal, accent))
        return canvas
    _panels(canvas, rng, wall, 32 if member in (0, 2) else 16)
    if member == 0:
        _pipework(canvas, rng, metal, accent)
    elif member in (1, 6):
        soot = cloudy(rng, 3, 3, 3)
        canvas.paint((soot > 0.6) & ((ROWS + COLS) % 2 == 0), wall[0])
        _girders(canvas, rng, metal, (6,))
        for x in (32, 96) if member == 1 else (62,):
            _furnace(canvas, x, 124, metal, accent)
        if member == 6:
            _level(canvas, 0, 60, SIZE, 12, metal)
            _furnace(canvas, 62, 124, metal, accent)
            for x, y in scatter(rng, 40, 6, 30, 124):
                canvas.dot(x, y, accent[x % 2])
        canvas.rect(0, 124, SIZE, 4, metal[2])
    elif member == 2:
        fills = (ramp("8cfff0 2c9cac"), ramp("f0a0ff 8c3cb8"), ramp("c8ff7c 4c9c3c"))
        for k, x in enumerate((8, 50, 92)):
            _tank(canvas, x, 22 + 6 * k, 27, 120, metal, fills[k])
        _level(canvas, 0, 8, SIZE, 9, metal)
        _level(canvas, 0, 116, SIZE, 10, metal)
    elif member == 3:
        _clockwork(canvas, rng, metal, accent)
    else:
        _girders(canvas, rng, metal, (4,))
        _belt(canvas, 70, metal, accent, 10)
        _belt(canvas, 114, metal, accent, 30)
    return canvas
