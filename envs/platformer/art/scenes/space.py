"""Space: nebulae, planets, a spiral galaxy, asteroids, a station, a black hole, a moon's ground."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, disc, span
from envs.platformer.art.fields import cloudy, noise, profile, scatter, sine, spots
from envs.platformer.art.landscape import hill, stars
from envs.platformer.art.palette import darker, lighter, mix, ramp

# Nebula dark to light, stars dim to bright.
PALETTES = (
    ("08081c 1c1440 441c64 843c84 d8708c", "5c5484 b4a4dc fff4f8"),
    ("040c18 08243c 0c4858 1c8484 6cd0b0", "3c6478 8cc8d0 f4fff8"),
    ("0c0614 240c2c 541c34 a03c34 f08c4c", "6c4450 d0a090 fff4e0"),
    ("06081c 0c143c 182468 3450a4 6c9ce4", "445490 94b0e8 ffffff"),
    ("0a0a10 16161f 242432 383850 54546c", "50506c a8a8c0 ffffff"),
    ("0c0818 1c1034 34205c 5c3c94 a078d8", "544484 b4a0e8 fff8ff"),
    ("040808 0c1c14 143c24 2c743c 84c860", "3c6448 94c8a0 f8fff0"),
    ("0c0818 20103c 4c2058 94387c f474a0", "5c4c84 b8a4d8 fff4ff"),
)


def _nebula(canvas: Canvas, rng: np.random.Generator, tones: list, cover: float) -> None:
    """Glowing gas: fractal noise warped by itself, with dark lanes."""
    gas = cloudy(rng, 3, 3, 5)
    veil = cloudy(rng, 4, 4, 4)
    glow = np.clip((gas - (1 - cover)) / cover, 0, 1) * (0.35 + 0.9 * veil)
    lanes = np.abs(cloudy(rng, 4, 5, 4) - 0.5)
    glow = np.where(lanes < 0.035, glow * 0.45, glow)
    canvas.shade(np.clip(glow * 1.15, 0, 1), tones, strength=0.95)


def _planet(canvas: Canvas, rng: np.random.Generator, place: tuple, tones: list, kind: str) -> None:
    """A lit ball: banded, cloudy or cratered, with a dark limb on the lower right."""
    x, y, radius = place
    body = disc(x, y, radius)
    if kind == "bands":
        wave = (ROWS - y) / radius * 2.4 + 0.35 * noise(rng, 6, 12)
        value = 0.5 + 0.5 * sine(wave * 0.8)
    elif kind == "clouds":
        value = cloudy(rng, 6, 10, 4)
    else:
        value = 0.35 + 0.3 * noise(rng, 12, 12)
    canvas.shade(np.clip(value, 0, 1), tones, body, 0.7)
    if kind == "craters":
        for a, b in scatter(rng, 30, 7, int(y - radius), int(y + radius)):
            size = int(rng.integers(1, 4))
            if (a - x) ** 2 + (b - y) ** 2 < (radius - size) ** 2:
                canvas.disc(a, b, size, tones[0])
                canvas.paint(disc(a + 1, b + 1, size) & ~disc(a, b, size) & body, tones[-1])
    shadow = body & ~disc(x - radius * 0.32, y - radius * 0.32, radius * 1.06)
    half = body & ~disc(x - radius * 0.2, y - radius * 0.2, radius * 1.02)
    dark = darker(tones[0], 0.6)
    canvas.paint(half & ((ROWS + COLS) % 2 == 0), dark)
    canvas.paint(shadow, dark)
    canvas.paint(body & ~disc(x + 1, y + 1, radius) & ~half, lighter(tones[-1], 0.5))


def _ring(canvas: Canvas, x: int, y: int, radius: int, tones: list, front: bool) -> None:
    """One half of a tilted planet ring."""
    tilt = ROWS - y + span(x) * 0.28
    reach = np.round(np.sqrt((span(x) / 1.0) ** 2 + (tilt * 3.4) ** 2), 5)
    side = tilt > 0 if front else tilt <= 0
    for inner, outer, tone in (
        (1.35, 1.6, tones[1]),
        (1.6, 1.72, tones[0]),
        (1.76, 1.95, tones[2]),
    ):
        canvas.paint(side & (reach >= radius * inner) & (reach < radius * outer), tone)


def _galaxy(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """A two-armed spiral seen at a slant."""
    u, v = span(64) / 52.0, ((ROWS - 60) + span(64) * 0.35) / 30.0
    reach = np.round(np.sqrt(u * u + v * v), 6)
    turn = np.arctan2(v, u) / np.pi
    arm = 0.5 + 0.5 * sine(np.round(turn - 1.5 * np.log(reach + 0.12), 7))
    cloud = cloudy(rng, 8, 8, 4)
    glow = (0.2 + 0.9 * arm) * np.clip(1.05 - reach, 0, 1) * (0.5 + 0.8 * cloud)
    glow += np.exp(-((reach / 0.2) ** 2)) * 0.9
    canvas.shade(np.clip(glow * 1.1, 0, 1), [*tones, "fff0e0"], glow > 0.08, 1.0)
    for x, y in scatter(rng, 70, 4, 16, 108):
        if glow[y, x] > 0.2:
            canvas.dot(x, y, lighter(tones[-1], 0.6))


def _rock(canvas: Canvas, rng: np.random.Generator, x: int, y: int, radius: int, tones) -> None:
    """A lumpy asteroid with craters."""
    lump = (noise(rng, 16, 16) - 0.5) * radius * 0.9
    reach = np.round(np.sqrt(span(x) ** 2 + ((ROWS - y) * 1.2) ** 2) + lump, 5)
    body = reach <= radius
    canvas.paint(body, tones[1])
    lit = body & (span(x) + (ROWS - y) + lump < -radius * 0.25)
    canvas.paint(lit, tones[2])
    canvas.paint(body & (span(x) + (ROWS - y) + lump > radius * 0.5), tones[0])
    if radius > 5:
        for a, b, r in ((-0.3, -0.2, 0.2), (0.3, 0.15, 0.26), (-0.1, 0.4, 0.15)):
            cx, cy = x + a * radius, y + b * radius
            canvas.paint(body & disc(cx, cy, radius * r), tones[0])
            canvas.paint(
                body & disc(cx + 1, cy + 1, radius * r) & ~disc(cx, cy, radius * r), tones[2]
            )


def _hole(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """A black hole with its bright disc and the bent image of its far side."""
    x, y = 64, 58
    tilt = (ROWS - y) * 4.2
    flat = np.sqrt(span(x) ** 2 + tilt**2)
    swirl = cloudy(rng, 4, 24, 3)
    round_reach = np.sqrt(span(x) ** 2 + (ROWS - y) ** 2.0)
    halo = np.clip(1 - np.abs(round_reach - 23) / 7, 0, 1) * (0.6 + 0.5 * swirl)
    canvas.shade(np.clip(halo, 0, 1), [*tones[1:], "fff4d8"], halo > 0.18, 0.9)
    canvas.disc(x, y, 18, "000000")
    glow = np.clip(1.15 - flat / 58, 0, 1) * (0.55 + 0.6 * swirl)
    front = (flat < 58) & ((y <= ROWS) | (round_reach > 19)) & (flat > 20)
    canvas.shade(np.clip(glow * 1.2, 0, 1), [*tones[1:], "fff4d8"], front & (glow > 0.16), 0.9)
    ring = np.abs(np.round(round_reach, 5) - 18.6) < 0.7
    canvas.paint(ring & (y > ROWS), "fff4d8")


def _station(canvas: Canvas, x: int, y: int) -> None:
    """A ring station with spokes, solar wings and lights."""
    hull, lit, dark = "8c94ac", "c8d0e0", "4c5470"
    for side in (-1, 1):
        for k in range(3):
            left = x + side * (26 + 11 * k) - 4
            canvas.rect(left, y - 9, 9, 19, "2c4c94")
            canvas.rect(left, y - 9, 9, 1, "7ca4e8")
            canvas.rect(left + 4, y - 9, 1, 19, "5c84d0")
            for row in (-4, 1, 6):
                canvas.rect(left, y + row, 9, 1, "5c84d0")
    canvas.rect(x - 54, y, 109, 1, hull)
    canvas.paint(disc(x, y, 19) & ~disc(x, y, 14), hull)
    canvas.paint(disc(x, y, 19) & ~disc(x + 1, y + 1, 19), lit)
    canvas.paint(disc(x, y, 19) & ~disc(x - 2, y - 2, 18) & ~disc(x, y, 14), dark)
    for a, b in ((1, 1), (1, -1)):
        canvas.line(x - 10 * a, y - 10 * b, x + 10 * a, y + 10 * b, hull, 2)
    canvas.disc(x, y, 6, hull)
    canvas.disc(x - 1, y - 1, 4, lit)
    canvas.disc(x, y, 2, "5cd0f0")
    for a, b in ((0, -17), (17, 0), (0, 17), (-17, 0), (12, -12), (-12, 12), (12, 12), (-12, -12)):
        canvas.rect(x + a, y + b, 1, 1, "ffe88c")


def _moonscape(canvas: Canvas, rng: np.random.Generator) -> None:
    """Grey ground with craters under a blue planet."""
    _planet(canvas, rng, (82, 40, 22), ramp("2c5ca8 3c84c8 4ca474 e8f4f4"), "clouds")
    for row, tone in ((92, "585868"), (106, "80808c")):
        line = row - 10 * profile(rng, 4, 3)
        hill(canvas, line, [tone, darker(tone, 0.35)], 30, lighter(tone, 0.45))
    for x, y in scatter(rng, 9, 17, 110, 125):
        half = int(rng.integers(4, 10))
        canvas.ellipse(x, y, half, half // 3 + 1, "b4b4bc")
        canvas.ellipse(x, y + 1, half - 1, half // 3, "484854")
    canvas.rect(24, 82, 1, 20, "d8d8e0")
    canvas.rect(25, 82, 9, 6, "e05c4c")
    canvas.rect(25, 84, 9, 2, "f4f0e4")


def _comet(canvas: Canvas, rng: np.random.Generator, x: int, y: int, tones: list) -> None:
    """A comet whose tail spreads and thins up and to the right."""
    along = span(x) * 0.87 - (ROWS - y) * 0.5
    across = np.abs(span(x) * 0.5 + (ROWS - y) * 0.87)
    ragged = 3 * noise(rng, 32, 8)
    for length, wide, where, tone in (
        (66, 1.25, (ROWS + COLS) % 2 == 0, tones[0]),
        (46, 0.9, (ROWS + COLS) % 2 == 0, tones[1]),
        (34, 0.6, ROWS >= 0, tones[1]),
        (20, 0.45, ROWS >= 0, tones[2]),
    ):
        tail = (along > 0) & (along + ragged * 4 < length)
        canvas.paint(tail & (across + ragged < 4 + along * 0.16 * wide) & where, tone)
    canvas.disc(x, y, 3, tones[-1])
    canvas.disc(x, y, 2, "fffff4")


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight views of space."""
    gas, points = (ramp(words) for words in PALETTES[member])
    canvas = Canvas(gas[0])
    if member in (0, 1, 2, 7):
        _nebula(canvas, rng, gas, (0.72, 0.6, 0.55, 0.66)[member if member < 3 else 3])
    else:
        _nebula(canvas, rng, [gas[0], gas[0], gas[1], mix(gas[1], gas[2], 0.5)], 0.6)
    stars(canvas, rng, 120, points, SIZE, 7)
    if member == 0:
        _planet(canvas, rng, (92, 40, 15), ramp("7c4068 c06878 f0a488 fcd8a8"), "bands")
        _planet(canvas, rng, (30, 92, 6), ramp("3c4c84 5c7cb0 8cb0d8"), "craters")
    elif member == 1:
        tones = ramp("8c5c44 c88c58 e8b878 f8e0b0")
        _ring(canvas, 62, 56, 24, ramp("b89470 d8b890 8c6c58"), False)
        _planet(canvas, rng, (62, 56, 24), tones, "bands")
        _ring(canvas, 62, 56, 24, ramp("b89470 d8b890 8c6c58"), True)
        _planet(canvas, rng, (112, 102, 7), ramp("4c6c5c 6c9474 9cc494"), "clouds")
    elif member == 2:
        _hole(canvas, rng, gas)
    elif member == 3:
        _galaxy(canvas, rng, gas)
    elif member == 4:
        _moonscape(canvas, rng)
    elif member == 5:
        _planet(canvas, rng, (64, 150, 52), ramp("3c2c74 5c50a4 84a0cc b4dce4"), "clouds")
        _station(canvas, 62, 48)
    elif member == 6:
        _planet(canvas, rng, (34, 34, 17), ramp("2c5c3c 4c8c4c 8cc05c d8e890"), "clouds")
        for x in spots(rng, 9, 0.9):
            grey = ramp("3c3834 6c6458 a49880")
            _rock(canvas, rng, x, int(rng.integers(72, 116)), int(rng.integers(3, 12)), grey)
    else:
        _comet(canvas, rng, 30, 62, ramp("94387c f474a0 ffd8e4"))
        _planet(canvas, rng, (100, 100, 19), ramp("3c2c6c 6c4c9c a878c0"), "craters")
    return canvas
