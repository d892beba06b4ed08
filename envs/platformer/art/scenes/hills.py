"""Mountains and hills in layers that fade with distance."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, Canvas, span
from envs.platformer.art.fields import cloudy, profile, scatter, spots, swell
from envs.platformer.art.landscape import birds, cloud, hill, mountains, sun
from envs.platformer.art.palette import darker, lighter, mix, ramp
from envs.platformer.art.plants import FLOWER, bush, grass, pines, tree

# Sky, mountain (lit, shaded), far hill, near hill (top, bottom).
PALETTES = (
    ("4a93dc 7cb7ea b0d9f2 def1f4", "9fb4cc 6c83ac", "6fae8a 4a8a78", "7cc452 2f7a48"),
    ("e8a860 f0c07c f7dba0 fbeec8", "c98a74 8f5f6a", "c8703c 94483c", "d8922c 803a30"),
    ("5a4a8c 8a64a4 c884a8 f0b4a4", "8c74a8 5a4c84", "5c4a80 443a6c", "3c3464 241f46"),
    ("8fb8b4 b0d0c4 d0e4d4 eaf4e4", "a8c8c0 84aaa8", "6c9c98 548688", "3c7070 22484e"),
    ("f2b27a f7cb94 fbe2b4 fdf2d4", "d88a5c a85848", "c8704c 944840", "a04c3c 5c2c34"),
    ("88cce8 aaddee cdeef0 eef9ea", "a6cdbc 7faaa8", "7cb878 58987c", "a4d05c 4c9848"),
    ("5fb0e4 8ccaee bce2f4 e8f6f4", "b0c8d8 86a4c0", "86c26c 5ca060", "a8dc58 52a04c"),
    ("302848 58385c 984a5c d8704c", "5c4458 382c44", "402c40 2c2034", "281c2c 140e1c"),
)


def _alps(canvas: Canvas, rng: np.random.Generator, stone: list, haze, snow: list | None) -> None:
    """A far faint range behind a near one."""
    far = [mix(tone, haze, 0.5) for tone in stone]
    cap = [mix(tone, haze, 0.4) for tone in snow] if snow else None
    peaks = [(x, 34 + int(rng.integers(0, 14)), 1.0 + 0.4 * rng.random()) for x in spots(rng, 5)]
    mountains(canvas, rng, peaks, far, cap, 9)
    peaks = [(x, 44 + int(rng.integers(0, 22)), 0.9 + 0.4 * rng.random()) for x in spots(rng, 4)]
    mountains(canvas, rng, peaks, stone, snow, 11)


def _mist(canvas: Canvas, row: int, colour) -> None:
    """A dithered veil that thins upward from a row."""
    for back, where in ((2, (ROWS + COLS) % 2 == 0), (8, (ROWS % 2 == 0) & (COLS % 4 == 0))):
        canvas.paint((row - back - 4 <= ROWS) & (row - back + 4 > ROWS) & where, colour)


def _mesas(canvas: Canvas, rng: np.random.Generator, lit, dark, base: int, count: int) -> None:
    """Flat-topped rocks with banded faces and a shaded right side."""
    wobble = (cloudy(rng, 16, 32, 2) - 0.5) * 7
    for x in spots(rng, count):
        width, top = int(rng.integers(9, 19)), base - int(rng.integers(22, 52))
        slope = 0.10 + 0.42 * np.maximum(ROWS - (top + 16), 0) / 30
        reach = np.round(width + (ROWS - top) * slope + wobble * 0.6, 5)
        face = (np.abs(span(x)) <= reach) & (top <= ROWS)
        canvas.paint(face, lit)
        canvas.paint(face & ((ROWS + (wobble * 0.8).astype(int)) % 9 < 2), mix(lit, dark, 0.4))
        canvas.paint(face & (span(x) > reach * 0.35 + wobble), dark)
        canvas.paint(face & (top + 2 > ROWS), lighter(lit, 0.35))


def _terraces(canvas: Canvas, rng: np.random.Generator, near: list) -> None:
    """Rice terraces: stacked contour steps, each with a bright lip and a strip of water."""
    line = 78 + 12 * swell(rng, 1, 2)
    for k in range(8):
        drift = swell(rng, 1, 3)
        shades = [mix(near[0], near[1], k / 8), mix(near[0], near[1], min(1, k / 8 + 0.35))]
        hill(canvas, line, shades, 9, lighter(shades[0], 0.4))
        # A pool lies where a terrace is broad and narrows to nothing at both of its ends.
        thick = np.round(5.5 * drift - 2.4, 5)[None, :]
        low = np.floor(line + 3)[None, :]
        canvas.paint((low <= ROWS) & (low + thick > ROWS), "8cd4ec")
        canvas.paint((low == ROWS) & (thick > 1), "d8f4f8")
        line = line + 5 + 5 * drift


def _volcano(canvas: Canvas, rng: np.random.Generator, stone: list) -> None:
    """A cone with a glowing mouth, lava runs and an ash plume."""
    puffs = [(62 + 3 * k + int(rng.integers(-4, 5)), 24 - 5 * k, 6 + 1.6 * k) for k in range(9)]
    for shift, share, tone in ((0, 1.0, "2c2036"), (-1.5, 0.78, "4a3048"), (-3, 0.5, "6c4058")):
        for x, y, size in puffs:
            for side in (-0.7, 0.8, 0.0):
                canvas.disc(x + shift + side * size, y + shift + 2 * abs(side), size * share, tone)
    canvas.ellipse(64, 26, 9, 5, "94444c")
    mountains(canvas, rng, [(64, 22, 1.15)], stone)
    crater = (np.abs(span(64)) < 9) & (ROWS < 34)
    glow = crater & (28 + np.abs(span(64)) * 0.3 < ROWS)
    canvas.paint(glow, "ff9c3c")
    canvas.paint(glow & (ROWS > 31), "ffe08a")
    for start in (-6, 1, 6):
        x = 64.0 + start
        for y in range(33, 100):
            x += (0.7 if start > 1 else -0.75 if start < 0 else 0.1) + (rng.random() - 0.5) * 1.4
            canvas.rect(int(x), y, 2 if y < 70 else 1, 1, "ffb048" if y % 5 else "ff5c34")
    for x, y in scatter(rng, 26, 5, 2, 60):
        canvas.dot(x, y, "ff9c3c")


def _mill(canvas: Canvas, x: int, foot: int) -> None:
    """A windmill with four sails."""
    for y in range(22):
        half = 3 + y // 7
        canvas.rect(x - half, foot - 22 + y, 2 * half + 1, 1, "f4ead8")
        canvas.rect(x + half // 2, foot - 22 + y, half - half // 2 + 1, 1, "cdb9a4")
    canvas.convex([(x - 5, foot - 22), (x, foot - 29), (x + 5, foot - 22)], "b0483c")
    canvas.rect(x - 1, foot - 5, 3, 5, "7a4c38")
    for a, b in ((1, 0.4), (-1, -0.4), (-0.4, 1), (0.4, -1)):
        hub = foot - 21
        canvas.line(x, hub, x + 13 * a, hub + 13 * b, "6a4634")
        near_x, near_y = x + 4 * a - b * 2, hub + 4 * b + a * 2
        canvas.line(near_x, near_y, near_x + 9 * a, near_y + 9 * b, "fbf4e0", 2)


def _fields(canvas: Canvas, rng: np.random.Generator, member: int, far: list, near: list) -> None:
    """The far hill and the near ground with whatever grows on it."""
    back = 84 + 12 * swell(rng, 1, 3)
    hill(canvas, back, far, 30, lighter(far[0], 0.25))
    line = 100 + 12 * swell(rng, 1, 3)
    crown = [darker(near[1], 0.25), near[1], near[0]]
    if member in (0, 3, 7):
        needles = [mix(far[0], near[1], 0.5), darker(far[1], 0.2), "4a3a30"]
        pines(canvas, rng, back, 16, (9, 15), needles)
    if member == 1:
        for x in spots(rng, 7):
            leaf = ramp("8c3030 c85030 f09838") if x % 2 else ramp("94502c d89030 f8d060")
            tree(canvas, rng, x, int(back[x]) + 2, 18, leaf, ["6a4434", "4a3030"])
    if member == 5:
        _mill(canvas, 40, int(back[40]) + 3)
        _mill(canvas, 98, int(back[98]) + 3)
    hill(canvas, line, near, 30, lighter(near[0], 0.3))
    if member in (0, 2, 3):
        pines(canvas, rng, line, 6, (20, 34), [near[1], darker(near[1], 0.4), "3a2a28"])
    if member == 1:
        for x in spots(rng, 4):
            leaf = ramp("7c2830 b84030 e87830")
            tree(canvas, rng, x, int(line[x]) + 3, 34, leaf, ["5a3830", "3c2428"])
    if member in (5, 6):
        for x in spots(rng, 5):
            bush(canvas, rng, x, int(line[x]) + 2, int(rng.integers(12, 20)), crown)
        for x, y in scatter(rng, 26, 7, 112, 124):
            petal = ("fff4f4", "ffd0dc", "fff0a0")[x % 3]
            canvas.stamp(x, y, FLOWER, {"f": petal, "c": "f0a030", "s": near[1]})
    grass(canvas, rng, line, near[0])


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight hill landscapes."""
    sky, stone, far, near = (ramp(words) for words in PALETTES[member])
    canvas = Canvas()
    canvas.gradient(sky, 0, 90, 0.8)
    if member in (1, 2, 4):
        sun(canvas, 88, 40, 10, [mix(sky[1], "fff0c0", 0.4), mix(sky[2], "fff4d0", 0.7), "fff8e0"])
    if member in (0, 5, 6):
        for x in spots(rng, 4):
            size = int(rng.integers(22, 38))
            cloud(canvas, rng, x, int(rng.integers(14, 38)), size, ramp("b8d8ee e8f4fa ffffff"))
    if member == 4:
        _mesas(canvas, rng, mix(stone[0], sky[2], 0.5), mix(stone[1], sky[2], 0.5), 100, 4)
        _mesas(canvas, rng, stone[0], stone[1], 112, 3)
        birds(canvas, rng, 5, stone[1], 12, 50)
    elif member == 7:
        _volcano(canvas, rng, stone)
    elif member in (5, 6):
        for row, haze in ((62, 0.55), (74, 0.25)):
            tones = [mix(tone, sky[2], haze) for tone in stone]
            hill(canvas, row + 18 * swell(rng, 1, 3), tones, 34)
    else:
        snow = ramp("ffffff c4d8ec") if member in (0, 3) else None
        _alps(canvas, rng, stone, sky[2], snow)
    if member == 3:
        _mist(canvas, 84, sky[3])
    if member == 6:
        _terraces(canvas, rng, near)
        return canvas
    _fields(canvas, rng, member, far, near)
    if member == 4:
        canvas.paint(110 + 6 * profile(rng, 4)[None, :] <= ROWS, near[1])
    return canvas
