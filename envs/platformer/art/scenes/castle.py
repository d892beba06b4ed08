"""Castles: towers against the sky outside; stone halls, banners, windows and torches inside."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, box, disc, span
from envs.platformer.art.fields import noise, scatter, spots, swell
from envs.platformer.art.landscape import birds, cloud, hill, moon, mountains, stars
from envs.platformer.art.palette import darker, lighter, mix, ramp
from envs.platformer.art.plants import pines

# Four outside: sky from the top down, stone lit and shaded, roof, flag or glow.
OUTSIDE = (
    ("5098dc 88bcec bcdcf4 ecf4f4", "c8c0b8 88848c", "b84848", "f0c040"),
    ("241c48 4c3070 8c4c88 e08c8c", "6c5c8c 3c3060", "30244c", "ffc85c"),
    ("f4b484 f8cc98 fbe2b8 fdf4dc", "e8d0b0 b08c7c", "5c84a8", "d85c5c"),
    ("14202c 20384c 34586c 608c90", "5c7480 30424c", "24343c", "a8f08c"),
)
# Left column, top row and width of the far towers, the near towers and the gatehouse.
KEEPS = (
    (((8, 66, 12), (50, 40, 14), (104, 58, 13)), ((28, 62, 17), (82, 54, 18), (112, 78, 14)), 46),
    (((4, 46, 13), (66, 52, 12), (92, 34, 14)), ((14, 60, 20), (104, 66, 15), (62, 78, 13)), 72),
    (((18, 44, 12), (34, 54, 12), (78, 62, 12)), ((54, 46, 20), (96, 72, 16), (2, 74, 14)), 18),
    (((30, 36, 15), (58, 56, 12), (112, 50, 12)), ((8, 58, 16), (90, 48, 22), (70, 76, 12)), 28),
)
# Four inside: wall dark to light, banner and trim, glow of windows.
INSIDE = (
    ("28242c 3c3640 544c54 6c6268", "b03444 f0c458", "ffb44c"),
    ("1c2438 2c3850 40506c 586c88", "3458b0 d8d8e4", "a8d8ff"),
    ("2c2018 44332a 60483c 7c6250", "3c7c4c f0d884", "ffd078"),
    ("241830 362444 50385f 6c4f7c", "7c3ca4 f4b0dc", "e89cff"),
)


def _battlement(canvas: Canvas, x: int, top: int, wide: int, lit, dark) -> None:
    """A wall walk: corbels below, merlons above."""
    canvas.rect(x - 2, top, wide + 4, 5, lit)
    canvas.rect(x + wide // 2, top, wide - wide // 2 + 2, 5, dark)
    canvas.rect(x - 2, top + 5, wide + 4, 1, darker(dark, 0.25))
    for left in range(x - 2, x + wide, 5):
        tone = lit if left < x + wide // 2 else dark
        canvas.rect(left, top - 3, 3, 3, tone)


def _stones(canvas: Canvas, rng: np.random.Generator, x: int, y: int, wide: int, tall: int, tone):
    """A few lone bricks on a plain wall suggest the rest."""
    for _ in range(max(2, wide * tall // 90)):
        left = x + 1 + int(rng.integers(0, max(wide - 6, 1)))
        row = y + int(rng.integers(0, max(tall, 1))) // 4 * 4
        canvas.rect(left, row, 4, 1, tone)
        canvas.rect(left + 4, row - 2, 1, 2, tone)


def _tower(
    canvas: Canvas, rng: np.random.Generator, x: int, top: int, wide: int, tones: tuple, cone: bool
) -> None:
    """A round tower with a conical roof and a flag, or with battlements."""
    lit, dark, roof, flag = tones
    canvas.rect(x, top, wide, SIZE - top, mix(lit, dark, 0.35))
    canvas.rect(x, top, max(2, wide // 4), SIZE - top, lit)
    canvas.rect(x + wide * 2 // 3, top, wide - wide * 2 // 3, SIZE - top, dark)
    _stones(canvas, rng, x, top + 8, wide, 110 - top, mix(lit, dark, 0.75))
    for y in range(top + 12, 112, 22):
        canvas.rect(x + wide // 2 - 1, y, 2, 6, darker(dark, 0.6))
        canvas.rect(x + wide // 2 - 1, y + 6, 3, 1, lit)
    _battlement(canvas, x, top, wide, lit, dark)
    if not cone:
        return
    tall = int(wide * 1.35)
    peak = (x + wide / 2 - 0.5, top - tall)
    canvas.convex([(x - 2, top), peak, (x + wide + 1, top)], roof)
    canvas.convex([(x - 2, top), peak, (x + wide * 0.3, top)], lighter(roof, 0.3))
    canvas.convex([(x + wide * 0.7, top), peak, (x + wide + 1, top)], darker(roof, 0.35))
    pole = x + wide // 2
    canvas.rect(pole, top - tall - 9, 1, 10, darker(dark, 0.4))
    tip = top - tall - 9
    canvas.convex([(pole + 1, tip), (pole + 8, tip + 2.5), (pole + 1, tip + 5)], flag)


def _gate(canvas: Canvas, x: int, foot: int, tones: tuple) -> None:
    """An arched gate with a portcullis."""
    lit, dark, _, _ = tones
    for grow, tone in ((3, darker(dark, 0.25)), (0, "18141c")):
        arch = disc(x, foot - 18, 10 + grow) & (foot - 18 >= ROWS)
        canvas.paint(arch, tone)
        canvas.rect(x - 10 - grow, foot - 18, 21 + 2 * grow, 18, tone)
    inside = (disc(x, foot - 18, 10) & (foot - 18 >= ROWS)) | box(x - 10, foot - 18, 21, 18)
    bars = ((COLS - x) % 4 == 0) | (ROWS % 5 == 0)
    canvas.paint(inside & bars & (foot - 8 > ROWS), mix(lit, "3c2c24", 0.65))


def _outside(canvas: Canvas, rng: np.random.Generator, member: int) -> None:
    """A castle on its hill."""
    sky, stone, roof_list, flag_list = (ramp(words) for words in OUTSIDE[member])
    tones = (stone[0], stone[1], roof_list[0], flag_list[0])
    canvas.gradient(sky, 0, 110, 0.9)
    if member in (1, 3):
        stars(canvas, rng, 50, [sky[2], sky[3], "ffffff"], 70, 3)
        moon(canvas, 30, 28, 13, ramp("fff4d8 dcc8b0 ac9490"), crescent=member == 1)
    for x in spots(rng, 4):
        shades = [mix(sky[1], sky[2], 0.5), mix(sky[2], sky[3], 0.6), lighter(sky[3], 0.6)]
        if member in (1, 3):
            shades = [sky[1], mix(sky[1], sky[2], 0.5), sky[2]]
        cloud(canvas, rng, x, int(rng.integers(30, 70)), int(rng.integers(24, 40)), shades)
    peaks = [(x, int(rng.integers(62, 80)), 1.0) for x in spots(rng, 5)]
    haze = [mix(tone, sky[3], 0.55) for tone in stone]
    mountains(canvas, rng, peaks, haze)
    far = tuple(mix(tone, sky[3], 0.3) for tone in tones)
    back, front, gate = KEEPS[member]
    for x, top, wide in back:
        _tower(canvas, rng, x, top, wide, far, True)
    canvas.rect(0, 82, SIZE, 46, mix(far[0], far[1], 0.4))
    _battlement(canvas, 0, 82, SIZE - 3, far[0], far[0])
    for k, (x, top, wide) in enumerate(front):
        _tower(canvas, rng, x, top, wide, tones, k < 2)
    canvas.rect(gate, 90, 36, 40, mix(stone[0], stone[1], 0.3))
    _stones(canvas, rng, gate + 1, 98, 35, 22, stone[1])
    _battlement(canvas, gate, 90, 36, stone[0], mix(*stone, 0.4))
    _gate(canvas, gate + 18, 122, tones)
    green = ("6cb04c 2c6c3c", "342850 181230", "b8a860 6c6c48", "2c4838 101c1c")[member]
    line = 118 - 6 * swell(rng, 1, 3) + 6 * (np.abs(span(gate + 18)[0]) < 20)
    grass = ramp(green)
    hill(canvas, np.maximum(line, 112), grass, 16, lighter(grass[0], 0.25))
    pines(canvas, rng, line + 2, 7, (8, 15), [grass[0], grass[1], grass[1]])
    birds(canvas, rng, 4, darker(stone[1], 0.4), 12, 50)


def _bricks(canvas: Canvas, rng: np.random.Generator, wall: list) -> None:
    """A wall of bonded stones, each with its own tone and a lit upper edge."""
    row = ROWS // 8
    shifted = (COLS + (row % 2) * 8) % SIZE
    col = shifted // 16
    tone = rng.integers(0, 3, (16, 8))[row, col]
    stain = noise(rng, 4, 4)
    level = np.clip(1 + (tone == 2) * 1 - (tone == 0) * (stain > 0.55), 0, 2)
    for k in range(3):
        canvas.paint(level == k, mix(wall[1], wall[2], (0.0, 0.5, 1.0)[k]))
    canvas.paint(ROWS % 8 == 1, mix(wall[2], wall[3], 0.5))
    canvas.paint((ROWS % 8 == 0) | (shifted % 16 == 0), wall[0])


def _banner(canvas: Canvas, x: int, y: int, tall: int, tones: list, sign: int) -> None:
    """A hanging with a forked end and a device."""
    cloth, trim = tones
    canvas.rect(x - 9, y - 2, 19, 2, "4c3428")
    canvas.rect(x - 10, y - 2, 1, 2, trim)
    canvas.rect(x + 10, y - 2, 1, 2, trim)
    body = (np.abs(span(x)) <= 7) & (y <= ROWS) & (y + tall - 7 + np.abs(span(x)) > ROWS)
    canvas.paint(body, cloth)
    canvas.paint(body & (span(x) > 3), darker(cloth, 0.25))
    canvas.paint(body & (np.abs(span(x)) == 7), trim)
    middle = y + tall // 2 - 5
    if sign == 0:
        canvas.paint((np.abs(span(x)) + np.abs(ROWS - middle) <= 4), trim)
        canvas.paint((np.abs(span(x)) + np.abs(ROWS - middle) <= 1), cloth)
    elif sign == 1:
        canvas.rect(x, middle - 5, 1, 11, trim)
        canvas.rect(x - 3, middle - 2, 7, 1, trim)
    else:
        canvas.stamp(x - 3, middle - 3, ("a.a.a.a", "aaaaaaa", "aaaaaaa", ".aaaaa."), {"a": trim})


def _window(canvas: Canvas, x: int, y: int, half: int, tall: int, wall: list, glow) -> None:
    """A tall arched window with leaded panes and light falling from it."""
    low = ROWS - (y + tall)
    beam = (low >= 0) & (np.abs(span(x) - low * 0.5) <= half) & (low < 46)
    canvas.paint(beam & ((ROWS + COLS) % 2 == 0) & (ROWS % 2 == 0), mix(glow, wall[2], 0.35))
    for grow, tone in ((3, wall[0]), (2, wall[3]), (0, glow)):
        arch = (span(x) / (half + grow + 0.3)) ** 2 + ((ROWS - y) / (half * 1.6 + grow)) ** 2 <= 1
        canvas.paint(arch & (y >= ROWS), tone)
        canvas.rect(x - half - grow, y, 2 * (half + grow) + 1, tall + grow, tone)
    pane = (np.abs(span(x)) <= half) & (y - half * 2 < ROWS) & (y + tall > ROWS)
    bars = ((COLS - x + ROWS) % 6 == 0) | ((COLS - x - ROWS) % 6 == 0) | (x % SIZE == COLS)
    lit = pane & np.all(canvas.pixels == np.array(glow, dtype=np.uint8), axis=-1)
    canvas.paint(lit & bars, mix(glow, wall[0], 0.6))
    canvas.paint(lit & ~bars & (span(x) + ROWS * 0.4 < y * 0.4), lighter(glow, 0.5))


def _torch(canvas: Canvas, x: int, y: int, glow) -> None:
    """A wall torch with a round dithered glow."""
    canvas.paint(disc(x, y, 15) & ((ROWS + COLS) % 2 == 0) & (ROWS % 2 == 0), glow)
    canvas.paint(disc(x, y, 8) & ((ROWS + COLS) % 2 == 0), glow)
    canvas.rect(x - 1, y + 4, 3, 9, "6c4830")
    canvas.rect(x - 2, y + 3, 5, 2, "9c9ca4")
    canvas.convex([(x - 3, y + 3), (x, y - 6), (x + 3, y + 3)], "f06c2c")
    canvas.convex([(x - 2, y + 3), (x, y - 2), (x + 2, y + 3)], "ffe07c")


def _column(canvas: Canvas, x: int, wall: list) -> None:
    """A round column with a capital and a base."""
    for k, share in enumerate((0.0, 1.0, 1.0, 0.8, 0.6, 0.5, 0.35, 0.2, 0.1, 0.0)):
        canvas.rect(x - 5 + k, 0, 1, SIZE, mix(wall[1], lighter(wall[3], 0.2), share))
    for y, grow in ((8, 3), (12, 1), (112, 1), (116, 3)):
        canvas.rect(x - 5 - grow, y, 10 + 2 * grow, 4, wall[3])
        canvas.rect(x + 1, y, 4 + grow, 4, wall[2])
        canvas.rect(x - 5 - grow, y, 10 + 2 * grow, 1, lighter(wall[3], 0.35))
        canvas.rect(x - 5 - grow, y + 3, 10 + 2 * grow, 1, wall[0])


def _inside(canvas: Canvas, rng: np.random.Generator, member: int) -> None:
    """A hall with four bays."""
    wall, cloth, glow_list = (ramp(words) for words in INSIDE[member])
    glow = glow_list[0]
    _bricks(canvas, rng, wall)
    for x, y in scatter(rng, 12, 12, 14, 116):
        canvas.rect(x, y, 2, 1, wall[0])
    for x in (41, 105):
        if member in (1, 3):
            _window(canvas, x, 38, 11, 44, wall, glow)
        elif member == 0:
            _banner(canvas, x, 26, 62, cloth, 0)
        else:
            _window(canvas, x, 44, 7, 30, wall, glow)
    for x in (9, 73):
        if member == 0:
            _torch(canvas, x, 48, "e08838")
        elif member == 1:
            _column(canvas, x, wall)
        elif member == 2:
            _banner(canvas, x, 30, 50, cloth, 2)
            _torch(canvas, x + 32, 98, "c88838")
        else:
            _column(canvas, x, wall)
            _banner(canvas, x, 30, 44, cloth, 1)
    canvas.paint((ROWS < 6) | (ROWS >= 120), wall[1])
    for y in (5, 120):
        canvas.rect(0, y, SIZE, 1, wall[3])
        canvas.rect(0, y + 1, SIZE, 1, wall[0])
    for x in range(0, SIZE, 16):
        canvas.rect(x, 121, 1, 7, wall[0])
        canvas.rect(x + 6, 0, 4, 5, wall[3])


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight castles: even members from outside, odd ones from inside."""
    canvas = Canvas()
    if member % 2 == 0:
        _outside(canvas, rng, member // 2)
    else:
        _inside(canvas, rng, member // 2)
    return canvas
