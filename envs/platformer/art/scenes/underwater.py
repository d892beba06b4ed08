"""Under the sea: reefs, kelp, wrecks, ruins, jellyfish, a whale, the deep and its lights."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, disc, ellipse, span
from envs.platformer.art.fields import cloudy, scatter, sine, spots, swell
from envs.platformer.art.landscape import hill
from envs.platformer.art.palette import darker, lighter, mix, ramp

# Water from the top down, far and near rock, sand light and dark.
PALETTES = (
    ("a4ecec 58c8dc 2c94c4 1c64a0 183c74", "2c78a8 1c4c7c", "ecd898 a89868"),
    ("c4f0a8 7cd49c 3ca48c 207468 124848", "2c8070 1c5450", "c4cc80 5c8460"),
    ("3c6cb0 284c90 1a3070 101c50 080c30", "1c3474 101c48", "34407c 141a44"),
    ("78d8f0 3ca8dc 2878bc 1c5094 142c64", "2c68a4 1c3c70", "b0b8a0 5c7484"),
    ("f0b8c8 c088c0 8060b0 503c8c 2c2060", "684c9c 3c2c70", "d8a4b0 805c90"),
    ("98e0d0 4cb4b4 2c8494 1c5874 123450", "2c7c88 1c4c60", "dccca0 84887c"),
    ("4c8c9c 34687c 244c64 16304c 0c1a30", "284c64 162c44", "748474 34484c"),
    ("d0f4e8 7ce0dc 38b8d0 2488b4 1c5c8c", "38a0bc 24688c", "fce8b8 c8ac80"),
)
FISH = (
    ("..aa....", ".aaaa..b", "eaaaaabb", "aaaaaabb", ".ccca..b", "..cc...."),
    ("..aaa...b", ".aaaaaabb", "eaabaabb.", ".ccbccabb", "..ccc...b"),
    (".aaa.b", "eaaabb", ".ccc.b"),
    ("...a....", "..aaa...", ".abaab.b", "eabaabbb", ".abaab.b", "..ccc...", "...c...."),
)


def _rays(canvas: Canvas, rng: np.random.Generator, colour, depth: int) -> None:
    """Light from the surface in slanting shafts that fade with depth."""
    for x in spots(rng, 5, 0.7):
        wide = int(rng.integers(4, 12))
        lean = (span(x) + ROWS * 0.35 + 64) % SIZE - 64
        half = wide / 2 + ROWS * 0.03
        beam = np.abs(np.round(lean, 6)) < half
        checks = (ROWS + COLS) % 2 == 0
        canvas.paint(beam & checks & (depth * 0.5 > ROWS), colour)
        canvas.paint(beam & checks & (ROWS % 2 == 0) & (depth > ROWS), colour)


def _surface(canvas: Canvas, rng: np.random.Generator, colour) -> None:
    """Rippling bright lines just under the surface."""
    for y in range(2, 14, 4):
        for x in spots(rng, 7 - y // 4, 0.9):
            canvas.rect(x, y, int(rng.integers(4, 14)) - y // 3, 1, colour)


def _shoal(canvas: Canvas, rng: np.random.Generator, kind: int, count: int, tones: list) -> None:
    """Fish of one kind swimming the same way."""
    flip = rng.random() < 0.5
    body, fin, belly = tones
    for x, y in scatter(rng, count, 13, 24, 96):
        colours = {"a": body, "b": fin, "c": belly, "e": "101828"}
        canvas.stamp(x, y, FISH[kind], colours, flip)


def _bubbles(canvas: Canvas, rng: np.random.Generator, count: int, colour) -> None:
    """Rings with a glint, rising in loose columns."""
    for x in spots(rng, count, 0.8):
        y = int(rng.integers(60, 104))
        for k in range(5):
            size = (3, 2, 2, 1, 1)[k] if rng.random() < 0.8 else 1
            px, py = x + int(rng.integers(-3, 4)), y - k * int(rng.integers(8, 15))
            if size > 1:
                canvas.paint(disc(px, py, size) & ~disc(px, py, size - 1), colour)
                canvas.dot(px - 1, py - 1, "ffffff")
            else:
                canvas.dot(px, py, colour)


def _kelp(canvas: Canvas, rng: np.random.Generator, count: int, tall: tuple, tones: list) -> None:
    """Swaying stalks with alternate leaves."""
    dark, light = tones
    for k, x in enumerate(spots(rng, count, 0.9)):
        height = int(rng.integers(*tall))
        phase = rng.random()
        tone = light if k % 3 else dark
        for step in range(height):
            sway = int(np.floor(2.5 * float(sine(step / 34 + phase)) + 0.5))
            y = 122 - step
            canvas.rect(x + sway, y, 2, 1, tone)
            if step % 5 == 2 and step > 4:
                way = 1 if (step // 5) % 2 else -1
                reach = 2 + (height - step) // 22
                for leaf in range(reach + 1):
                    across = x + sway + (2 + leaf if way > 0 else -1 - leaf)
                    canvas.rect(across, y - leaf // 2 - 1, 1, 2, tone if leaf < reach else dark)


def _branch(
    canvas: Canvas, x: float, y: float, size: float, lean: float, tones: list, wide: int
) -> None:
    """A forking coral."""
    ex, ey = x + lean * size, y - size
    canvas.line(x, y, ex, ey, tones[1], wide)
    canvas.line(x, y, ex, ey, tones[0], max(1, wide - 1))
    if size > 4:
        _branch(canvas, ex, ey, size * 0.68, lean - 0.5, tones, max(1, wide - 1))
        _branch(canvas, ex, ey, size * 0.68, lean + 0.55, tones, max(1, wide - 1))


def _coral(canvas: Canvas, rng: np.random.Generator, tones: list, count: int) -> None:
    """A mixed reef: branches, brains, tubes and fans."""
    for k, x in enumerate(spots(rng, count, 0.6)):
        light = tones[k % len(tones)]
        pair = [light, darker(light, 0.35)]
        foot = 122 + k % 3
        if k % 4 == 0:
            _branch(canvas, x, foot, 11, 0.05, pair, 3)
        elif k % 4 == 1:
            half = int(rng.integers(7, 12))
            dome = disc(x, foot, half) & (foot + 1 > ROWS)
            canvas.paint(dome, pair[1])
            canvas.paint(dome & disc(x - 1, foot - 1, half - 1.5), pair[0])
            wave = np.abs(np.round(sine(ROWS / 8 + 0.3 * sine(COLS * 16 / SIZE)), 6))
            canvas.paint(dome & disc(x, foot, half - 1) & (wave < 0.3), pair[1])
        elif k % 4 == 2:
            for step, tall in enumerate((12, 20, 15, 9)):
                canvas.rect(x - 8 + 5 * step, foot - tall, 4, tall + 2, pair[0])
                canvas.rect(x - 5 + 5 * step, foot - tall, 1, tall + 2, pair[1])
                canvas.rect(x - 7 + 5 * step, foot - tall, 2, 2, darker(light, 0.65))
        else:
            fan = disc(x, foot - 8, 11) & (foot >= ROWS)
            web = ((span(x) * 3 + ROWS).astype(int) % 5 < 2) | (ROWS % 4 == 0)
            canvas.paint(fan & web, pair[0])
            canvas.paint(fan & ~disc(x, foot - 8, 10), pair[1])


def _jelly(canvas: Canvas, x: int, y: int, size: int, tones: list) -> None:
    """A jellyfish with a ribbed bell and trailing arms."""
    light, mid, dark = tones
    bell = ellipse(x, y, size, size * 0.8) & (y + 1 >= ROWS)
    canvas.paint(bell, mid)
    canvas.paint(bell & ellipse(x - 1, y - 1, size * 0.7, size * 0.6), light)
    canvas.paint(bell & (y == ROWS) & (COLS % 3 != 0), dark)
    for k in range(-size + 2, size - 1, 3):
        for step in range(size * 2 + (k * 7) % 9):
            sway = int(np.floor(1.5 * float(sine(step / 13 + k * 0.13)) + 0.5))
            if step % 6 != 5:
                canvas.dot(x + k + sway, y + 2 + step, mid if step < size else dark)


def _wreck(canvas: Canvas, x: int, foot: int) -> None:
    """A sunken ship on its side with broken masts."""
    wood, dark, lit = "5c4c4c", "38323c", "84706a"
    hull = [(x - 38, foot - 24), (x + 34, foot - 16), (x + 24, foot + 6), (x - 30, foot + 4)]
    canvas.convex(hull, wood)
    canvas.convex([(x - 46, foot - 32), (x - 24, foot - 24), (x - 30, foot - 6)], wood)
    for k in range(4):
        canvas.line(x - 36, foot - 19 + 6 * k, x + 30, foot - 11 + 6 * k, dark)
    canvas.line(x - 38, foot - 24, x + 34, foot - 16, lit, 2)
    for px, tall in ((x - 12, 52), (x + 14, 34)):
        canvas.line(px, foot - 20, px + 8, foot - 20 - tall, dark, 3)
        canvas.line(px - 8, foot - 22 - tall * 0.6, px + 22, foot - 18 - tall * 0.6, dark, 2)
    canvas.disc(x - 2, foot - 8, 6, dark)
    canvas.disc(x + 18, foot - 6, 3, dark)
    for k in range(3):
        canvas.line(x + 6 + 7 * k, foot - 60 + 9 * k, x + 2 + 6 * k, foot - 22, dark)


def _ruins(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Fluted columns, some broken, and a fallen lintel."""
    lit, dark = tones
    for k, x in enumerate(spots(rng, 5, 0.3)):
        top = (34, 62, 34, 82, 50)[k]
        wobble = (cloudy(np.random.default_rng(k), 16, 16, 2) * 6).astype(int)
        shaft = (np.abs(span(x)) < 7) & (top + wobble * (top != 34) <= ROWS)
        canvas.paint(shaft, mix(lit, dark, 0.35))
        canvas.paint(shaft & (span(x) % 3 == 0), dark)
        canvas.paint(shaft & (span(x) < -4), lit)
        canvas.rect(x - 10, 114, 20, 12, mix(lit, dark, 0.3))
        canvas.rect(x - 10, 114, 20, 1, lit)
        if top == 34:
            canvas.rect(x - 10, 28, 20, 7, mix(lit, dark, 0.2))
            canvas.rect(x - 10, 28, 20, 1, lit)
            canvas.rect(x - 10, 33, 20, 2, dark)


def _whale(canvas: Canvas, x: int, y: int, tones: list) -> None:
    """A great whale with a grooved pale belly."""
    back, belly, dark = tones
    canvas.convex([(x + 30, y - 3), (x + 50, y - 16), (x + 46, y + 1)], back)
    canvas.convex([(x + 30, y + 1), (x + 54, y + 4), (x + 46, y - 4)], dark)
    body = ellipse(x, y, 38, 15)
    canvas.paint(body, back)
    under = body & (y + 3 + span(x) * 0.12 < ROWS)
    canvas.paint(under, belly)
    canvas.paint(under & ((ROWS - (span(x) * 0.12).astype(int)) % 3 == 0) & (span(x) < 14), dark)
    canvas.paint(body & ~ellipse(x, y - 2, 38, 15) & (y - 6 > ROWS), lighter(back))
    canvas.convex([(x - 8, y + 8), (x + 4, y + 10), (x + 14, y + 24)], dark)
    canvas.rect(x - 24, y + 1, 2, 2, "0c1424")
    canvas.paint(body & disc(x - 6, y - 26, 15), lighter(back, 0.15))


def _floor(canvas: Canvas, rng: np.random.Generator, rock: list, sand: list) -> None:
    """Far rocks and a rippled floor of sand."""
    far = 104 - 26 * swell(rng, 2, 6) ** 1.5
    hill(canvas, far, [rock[0], mix(*rock, 0.6)], 26, lighter(rock[0], 0.12))
    near = 114 - 14 * swell(rng, 2, 5) ** 2
    hill(canvas, near, [rock[1], darker(rock[1])], 20, lighter(rock[1], 0.12))
    line = 119 - 4 * swell(rng, 1, 3)
    hill(canvas, line, sand, 12, lighter(sand[0], 0.3))
    for x, y in scatter(rng, 16, 7, 121, 127):
        canvas.rect(x, y, 4, 1, sand[1])


def _life(canvas: Canvas, rng: np.random.Generator, member: int, water: list) -> None:
    """The creatures and plants of each member."""
    if member == 0:
        _coral(canvas, rng, ramp("ff7c84 ffb454 c878d8 6cd89c f4e07c"), 8)
        _shoal(canvas, rng, 0, 6, ramp("ffa438 f06c24 fff0d0"))
        _shoal(canvas, rng, 2, 7, ramp("f8e85c e0b030 ffffff"))
    if member == 1:
        _kelp(canvas, rng, 13, (40, 110), ramp("1c6048 58a448"))
        _shoal(canvas, rng, 1, 6, ramp("d8e8d8 8cb8a4 f4fff0"))
    if member == 2:
        for x, y, size in ((26, 40, 12), (70, 74, 7), (98, 34, 9), (48, 92, 5), (114, 82, 6)):
            tones = ramp("ffc8f4 d878d4 8c4cb4") if size % 2 else ramp("c8f4ff 6cbce8 3c74c4")
            _jelly(canvas, x, y, size, tones)
    if member == 4:
        _coral(canvas, rng, ramp("ffd0b0 f08ca8 b4a0f0 ffe8c8"), 7)
        _shoal(canvas, rng, 3, 5, ramp("fff0c8 f0a070 ffffff"))
    if member == 5:
        _kelp(canvas, rng, 8, (12, 34), ramp("245c54 4c9c74"))
        _shoal(canvas, rng, 1, 5, ramp("f0c868 c88438 fff0c0"))
    if member == 6:
        _kelp(canvas, rng, 7, (12, 40), ramp("1c3c40 345c50"))
        _shoal(canvas, rng, 2, 8, ramp("8cb0b0 5c8490 b4d0cc"))
    if member == 3:
        _shoal(canvas, rng, 2, 12, ramp("c8e4f0 84b8d8 ffffff"))
    if member == 7:
        _kelp(canvas, rng, 6, (8, 24), ramp("3c8c6c 7cc87c"))
        _coral(canvas, rng, ramp("ff9c9c ffd478 f48cc8"), 5)
        _shoal(canvas, rng, 3, 5, ramp("5c78e8 3c48b4 c0d0ff"))
        _shoal(canvas, rng, 0, 4, ramp("ff7c5c d84c4c ffe0c8"))
    _bubbles(canvas, rng, 4, water[0])


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight underwater scenes."""
    water, rock, sand = (ramp(words) for words in PALETTES[member])
    canvas = Canvas()
    canvas.gradient(water, 0, 120, 0.9)
    if member != 2:
        _rays(canvas, rng, mix(water[0], "ffffff", 0.25), 96)
        _surface(canvas, rng, lighter(water[0], 0.5))
    else:
        for x, y in scatter(rng, 40, 9, 4, 120):
            canvas.dot(x, y, mix(water[0], "ffffff", 0.35))
    if member == 3:
        _whale(canvas, 58, 54, ramp("345c88 b8d4dc 24406c"))
    _floor(canvas, rng, rock, sand)
    if member == 6:
        _wreck(canvas, 66, 112)
    if member == 5:
        _ruins(canvas, rng, ramp("b4d4c4 4c8488"))
        hill(canvas, 120 - 3 * swell(rng, 1, 3), sand, 12, lighter(sand[0], 0.3))
    _life(canvas, rng, member, water)
    return canvas
