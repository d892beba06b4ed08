"""Night skies over pines, villages, lakes and rooftops, with moons, aurora and fireflies."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, disc, span
from envs.platformer.art.fields import cloudy, noise, scatter, sine, spots, swell
from envs.platformer.art.landscape import cloud, hill, moon, mountains, stars, water
from envs.platformer.art.palette import lighter, mix, ramp
from envs.platformer.art.plants import grass, pines

# Sky from the top down, stars dim to bright, moon light mid dark, land far to near.
PALETTES = (
    (
        "0a0e28 121c44 1e3064 34508c",
        "4c64a0 8ca4d8 f4f4ff",
        "fff6d8 e0d4b8 b4a898",
        "16244c 080e20",
    ),
    (
        "06101c 0a2030 10384c 1c5864",
        "3c7080 8cc8c8 f0fff8",
        "f4fff0 c8e0d4 94b4b0",
        "0c2c38 041018",
    ),
    (
        "180c34 2c1450 4c2070 7c3c8c",
        "744c9c c494e0 fff0ff",
        "ffe8f4 e0bcd8 b08cb8",
        "301450 120624",
    ),
    (
        "0c1030 1a1e4c 322c6c 5c4890",
        "5c5c9c a4a4e0 fff8e8",
        "fff0c0 e4c890 b89868",
        "201c4c 0c0a20",
    ),
    (
        "101820 1c2c38 2c4454 486878",
        "54707c a0b8bc f4fcf4",
        "f4f8ec ccd4c8 98a8a4",
        "182830 0a1218",
    ),
    (
        "08081c 10103c 1c1c60 303090",
        "4444a0 9c9cec ffffff",
        "ffffff d8dcf4 a4acd4",
        "14144c 06061c",
    ),
    (
        "200c1c 401430 6c2040 a04050",
        "8c4860 e0a0a0 fff0e0",
        "ffc890 f09460 c06048",
        "381028 14060e",
    ),
    (
        "0a1814 12302c 1c4c40 348060",
        "3c7058 98d8a8 f4ffe8",
        "fcffd8 dce8b0 a8bc88",
        "0e2820 04100c",
    ),
)


def _aurora(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Curtains of light: bright at a waving hem, thinning upward in rays."""
    rays = noise(rng, 32, 1)[0]
    for k, (row, colour) in enumerate(zip((58, 42, 66), tones, strict=True)):
        x = np.arange(SIZE) / SIZE
        hem = row + 9 * sine(x + 0.2 * k + 0.1) + 5 * sine(2 * x + 0.37 * k)
        above = hem[None, :] - ROWS
        tall = 20 + 22 * np.roll(rays, 11 * k)
        fade = np.where((above >= 0) & (above < tall[None, :]), 1 - above / tall[None, :], 0)
        canvas.paint((fade > 0.78) | ((fade > 0.5) & ((ROWS + COLS) % 2 == 0)), colour)
        thin = (fade > 0.15) & (ROWS % 2 == 0) & ((COLS + ROWS // 2) % 2 == 0)
        canvas.paint(thin & (fade <= 0.5), mix(colour, "10304c", 0.35))


def _cottage(canvas: Canvas, x: int, foot: int, wide: int, tones: list) -> None:
    """A dark cottage with a pitched roof, a chimney and lit windows."""
    wall, roof, lamp = tones
    tall = wide * 2 // 3
    canvas.rect(x, foot - tall, wide, tall + 4, wall)
    canvas.rect(x + wide - 4, foot - tall - wide // 2 - 1, 2, 6, roof)
    peak = (x + wide / 2 - 0.5, foot - tall - wide * 0.55)
    canvas.convex([(x - 2, foot - tall), peak, (x + wide + 1, foot - tall)], roof)
    for k in range(max(1, wide // 7)):
        canvas.rect(x + 2 + 6 * k, foot - tall + 3, 3, 3, lamp)
        canvas.dot(x + 3 + 6 * k, foot - tall + 4, mix(lamp, wall, 0.5))


def _meteors(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Shooting stars with fading tails."""
    for x, y in scatter(rng, 5, 24, 8, 60):
        tail = int(rng.integers(9, 18))
        for k in range(tail):
            tone = tones[2] if k < 2 else tones[1] if k < tail // 2 else tones[0]
            canvas.dot(x + k, y - k // 2, tone)


def _fireflies(canvas: Canvas, rng: np.random.Generator, count: int) -> None:
    """Yellow-green lights with a faint cross of glow."""
    for x, y in scatter(rng, count, 9, 62, 124):
        for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            canvas.dot(x + a, y + b, "5c8c3c")
        canvas.dot(x, y, "f4ff9c")


def _lighthouse(canvas: Canvas, x: int, foot: int, beam) -> None:
    """A banded tower whose lamp throws two dithered beams."""
    reach = np.abs(span(x))
    lamp = foot - 52
    light = np.abs(ROWS - lamp) <= 1 + reach * 0.16
    # The beams thin out twice before they would meet themselves on the far side of the picture.
    canvas.paint(light & (reach < 30) & ((ROWS + COLS) % 2 == 0), beam)
    canvas.paint(light & (reach < 46) & (ROWS % 2 == 0) & (COLS % 2 == 0), beam)
    canvas.paint(light & (reach < 58) & (ROWS % 2 == 0) & ((COLS + ROWS) % 4 == 0), beam)
    for y in range(46):
        half = 4 + y // 14
        tone = ("dcd8e4", "b03c4c")[(y // 9) % 2]
        canvas.rect(x - half, foot - 46 + y, 2 * half + 1, 1, tone)
        canvas.rect(x + half // 2, foot - 46 + y, half - half // 2 + 1, 1, mix(tone, "101030", 0.4))
    canvas.rect(x - 5, foot - 47, 11, 2, "3c3c5c")
    canvas.rect(x - 3, foot - 54, 7, 7, "fff4b0")
    canvas.convex([(x - 4, foot - 55), (x, foot - 60), (x + 4, foot - 55)], "b03c4c")


def _graves(canvas: Canvas, rng: np.random.Generator, line: np.ndarray, tone, lit) -> None:
    """Crooked headstones, crosses and one bare tree."""
    for k, x in enumerate(spots(rng, 7)):
        y = int(line[x])
        if k % 3 == 2:
            canvas.rect(x, y - 9, 2, 11, tone)
            canvas.rect(x - 2, y - 7, 6, 2, tone)
        else:
            canvas.rect(x - 2, y - 6, 6, 9, tone)
            canvas.rect(x - 1, y - 7, 4, 1, tone)
        canvas.rect(x - (2 if k % 3 < 2 else 0), y - 5, 1, 4, lit)
    branches = [(96.0, float(line[96]) + 2, 26.0, 0.0, 4)]
    while branches:
        x, y, size, lean, wide = branches.pop()
        ex, ey = x + lean * size, y - size * (1 - 0.25 * abs(lean))
        canvas.line(x, y, ex, ey, tone, max(1, wide))
        if size > 6:
            for turn in (-0.75, 0.55 + 0.3 * rng.random()):
                branches.append((ex, ey, size * 0.62, lean * 0.5 + turn, wide - 1))


def _manor(canvas: Canvas, x: int, foot: int, tone, lamp) -> None:
    """A haunted house of three towers on a crag, and bats around it."""
    canvas.convex([(x - 24, SIZE), (x - 12, foot - 2), (x + 14, foot - 2), (x + 26, SIZE)], tone)
    for left, wide, tall in ((x - 11, 7, 22), (x - 4, 10, 34), (x + 6, 7, 26)):
        canvas.rect(left, foot - tall, wide, tall, tone)
        tip = (left + wide / 2 - 0.5, foot - tall - wide * 1.3)
        canvas.convex([(left - 2, foot - tall), tip, (left + wide + 1, foot - tall)], tone)
        canvas.rect(left + wide // 2 - 1, foot - tall + 5, 2, 4, lamp)
        canvas.rect(left + wide // 2 - 1, foot - tall + 14, 2, 3, lamp)
    wings = ("a.......a", "aa.a.a.aa", "aaaaaaaaa", ".aaaaaaa.", ".a..a..a.")
    for bat_x, bat_y in ((14, 24), (30, 60), (100, 24), (46, 14), (112, 48), (8, 74)):
        canvas.stamp(bat_x, bat_y, wings, {"a": tone})


def _galaxy(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """A slanting river of light with dark lanes; it winds once around the picture."""
    x = np.arange(SIZE) / SIZE
    middle = 44 + 20 * sine(x + 0.1) + 4 * sine(3 * x)
    away = np.abs(ROWS - middle[None, :])
    glow = 1.15 - away / 26 + 0.9 * (cloudy(rng, 6, 6, 4) - 0.5)
    lane = np.abs(ROWS - middle[None, :] - 3) + 14 * cloudy(rng, 8, 8, 3)
    glow -= 0.45 * (lane < 7)
    canvas.shade(np.clip(glow, 0, 1), tones, glow > 0.15)


def _tent(canvas: Canvas, x: int, foot: int, size: int) -> None:
    """A tent lit from inside."""
    tip = (x, foot - size)
    canvas.convex([(x - size, foot), tip, (x + size, foot)], "f0a04c")
    canvas.convex([(x, foot), tip, (x + size, foot)], "b85c3c")
    canvas.convex([(x - size * 0.45, foot), tip, (x - size * 0.1, foot)], "ffe8a0")
    canvas.line(x - size, foot, x, foot - size - 2, "5c2c34")
    canvas.line(x + size, foot, x, foot - size - 2, "5c2c34")


def _clouds(canvas: Canvas, rng: np.random.Generator, sky: list) -> None:
    """Two or three dim clouds drifting across."""
    for x in spots(rng, 3):
        shades = [mix(sky[1], sky[2], 0.5), sky[2], sky[3]]
        cloud(canvas, rng, x, int(rng.integers(30, 64)), int(rng.integers(26, 44)), shades)


def _ground(canvas: Canvas, rng: np.random.Generator, member: int, land: list, sky: list) -> None:
    """Far ridge, near ground and what stands on them."""
    mid = mix(land[0], land[1], 0.5)
    back = 92 - 14 * swell(rng, 1, 3)
    line = 114 - 9 * swell(rng, 1, 2)
    if member == 5:
        for row, share in ((98, 0.0), (110, 0.5), (120, 1.0)):
            tone = mix(sky[2], land[1], 0.3 + 0.7 * share)
            hill(
                canvas,
                row - 12 * swell(rng, 1, 2),
                [tone, mix(tone, land[1], 0.4)],
                14,
                lighter(tone, 0.12),
            )
        for x, size in ((24, 20), (104, 14)):
            _tent(canvas, x, 124, size)
        return
    if member == 1:
        peaks = [(x, int(rng.integers(62, 78)), 1.1) for x in spots(rng, 5)]
        mountains(canvas, rng, peaks, [lighter(land[0], 0.12), land[0]], [sky[3], sky[2]], 8)
        water(canvas, rng, 98, [sky[3], sky[2], sky[1], sky[0]], mix(sky[2], sky[3], 0.6))
        pines(canvas, rng, np.full(SIZE, 99.0), 18, (8, 15), [mid, land[1], land[1]])
        return
    hill(canvas, back, [land[0], mid], 26, lighter(land[0], 0.12))
    if member in (0, 2, 4, 7):
        pines(canvas, rng, back, 15, (9, 16), [land[0], mid, mid])
    if member == 3:
        for x, wide in ((10, 14), (34, 18), (66, 13), (92, 20)):
            tones = [mix(land[0], land[1], 0.35), land[1], "ffcc64"]
            _cottage(canvas, x, int(back[x + 6]) + 5, wide, tones)
    hill(canvas, line, [land[1]], 10, lighter(land[1], 0.1))
    if member in (0, 7):
        pines(canvas, rng, line, 7, (24, 40), [lighter(land[1], 0.07), land[1], land[1]])
    if member == 4:
        _graves(canvas, rng, line, land[1], mix(land[1], sky[3], 0.4))
    if member == 6:
        _manor(canvas, 92, 100, land[1], "ffb04c")
    if member == 2:
        _lighthouse(canvas, 92, int(line[92]) + 2, sky[3])
    grass(canvas, rng, line, land[1])


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight night scenes."""
    sky, points, face, land = (ramp(words) for words in PALETTES[member])
    canvas = Canvas()
    canvas.gradient(sky, 0, 106, 0.9)
    if member == 5:
        _galaxy(canvas, rng, ramp("1c1c60 2c2c88 5048a8 8c74c8 d0b4e4"))
    stars(canvas, rng, 90, points, 96, 6)
    if member == 1:
        _aurora(canvas, rng, ramp("3cd89c 54c8e0 a87cf0"))
    if member in (0, 2, 3, 4, 6, 7):
        x, y, size = (
            (92, 32, 15),
            0,
            (34, 30, 13),
            (98, 28, 11),
            (62, 42, 24),
            0,
            (58, 46, 27),
            (30, 34, 14),
        )[member]
        canvas.paint(disc(x, y, size * 1.5) & ((ROWS + COLS) % 2 == 0), mix(sky[2], sky[3], 0.5))
        moon(canvas, x, y, size, face, crescent=member in (2, 3))
    if member in (0, 4, 6):
        _clouds(canvas, rng, sky)
    if member in (2, 3):
        _meteors(canvas, rng, points)
    _ground(canvas, rng, member, land, sky)
    if member == 7:
        _fireflies(canvas, rng, 20)
    return canvas
