"""Winter: peaks, firs, cabins, igloos, ice, snowmen and aurora-coloured dusks."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, Canvas, disc
from envs.platformer.art.fields import cells, scatter, spots, swell
from envs.platformer.art.landscape import cloud, hill, moon, mountains, snowfall, stars, sun, water
from envs.platformer.art.palette import darker, lighter, mix, ramp
from envs.platformer.art.plants import pines

# Sky from the top down; rock lit and shaded; snow light, mid and shaded; needles.
PALETTES = (
    ("4c94d8 84bcec bcdcf4 e8f4fc", "8c9cbc 5c6c98", "ffffff dceaf8 a4c0e0", "2c5c6c 1c3c54"),
    ("1c2450 34407c 6468a4 a898c0", "54588c 34386c", "d8d8f4 a8acdc 6c74b4", "24305c 141c40"),
    ("f0a4a8 f4bcb4 f8d8c8 fcece0", "b08ca4 7c6488", "fff4f0 f4d4d8 c8a0bc", "5c4c70 403458"),
    ("8ca4b0 a8bcc4 c8d4d8 e4eaec", "8498a4 64788c", "ffffff e0e8ec b4c4cc", "4c6470 344854"),
    ("3c7ca8 64a8c4 9cd0d8 d4f0ec", "7cb4c8 4c84a8", "f4ffff c4ecf0 84bcd4", "2c6474 1c4458"),
    ("2c3c6c 6c5c94 c48ca4 f4c4a4", "785c88 4c3c68", "f8e4e8 ccb0d0 8c78ac", "34305c 201e40"),
    ("102030 183848 286070 509c94", "2c5460 1c3844", "d0ece8 8cb8c0 50808c", "14343c 0a2028"),
    ("70b8e4 a0d4f0 d0ecf8 f4fafc", "9cb0d0 6c80ac", "ffffff e4eefc b0c4e8", "3c7068 24504c"),
)


def _cabin(canvas: Canvas, x: int, foot: int, wide: int, snow: list) -> None:
    """A log cabin with snow on its roof, a lit window and smoke."""
    tall = wide // 2
    canvas.rect(x, foot - tall, wide, tall + 1, "7c4c38")
    for y in range(foot - tall, foot, 3):
        canvas.rect(x, y, wide, 1, "543028")
    canvas.rect(x + wide - 7, foot - tall - wide // 2 - 4, 4, 8, "6c5c64")
    canvas.rect(x + wide - 8, foot - tall - wide // 2 - 5, 6, 2, snow[0])
    peak = (x + wide / 2 - 0.5, foot - tall - wide * 0.5)
    canvas.convex([(x - 4, foot - tall + 1), peak, (x + wide + 3, foot - tall + 1)], snow[2])
    canvas.convex([(x - 4, foot - tall - 1), peak, (x + wide - 3, foot - tall - 1)], snow[0])
    canvas.rect(x + 3, foot - tall + 4, 5, 5, "ffd870")
    canvas.rect(x + 5, foot - tall + 4, 1, 5, "7c4c38")
    canvas.rect(x + wide - 8, foot - 9, 5, 10, "442820")
    for k in range(5):
        canvas.disc(
            x + wide - 5 + k * k * 0.6, foot - tall - wide // 2 - 9 - 5 * k, 1 + k * 0.5, snow[1]
        )


def _igloo(canvas: Canvas, x: int, foot: int, size: int, snow: list) -> None:
    """A house of snow blocks with an entrance tunnel."""
    ground = foot >= ROWS
    dome, mouth = disc(x, foot, size) & ground, x + size * 0.95
    shade, joint = mix(snow[2], "5c7cac", 0.25), mix(snow[2], "486898", 0.55)
    canvas.paint(disc(x, foot, size + 1) & ground, joint)
    canvas.paint(dome, shade)
    canvas.paint(disc(x - size * 0.3, foot - size * 0.2, size * 0.82) & dome, snow[1])
    canvas.paint(disc(x - size * 0.4, foot - size * 0.35, size * 0.5) & dome, snow[0])
    row = (foot - ROWS) // 4
    canvas.paint(dome & (((foot - ROWS) % 4 == 0) | ((COLS - x + row * 4) % 8 == 0)), joint)
    for reach, tone in ((0.52, joint), (0.44, snow[1]), (0.3, "24385c")):
        canvas.paint(disc(mouth, foot, size * reach) & ground, tone)


def _snowman(canvas: Canvas, x: int, foot: int, snow: list) -> None:
    """Three balls, a hat, a scarf and twigs for arms."""
    canvas.line(x - 12, foot - 20, x + 12, foot - 20, "5c4034")
    canvas.line(x - 12, foot - 20, x - 14, foot - 23, "5c4034")
    canvas.line(x + 12, foot - 20, x + 14, foot - 23, "5c4034")
    for rise, size in ((6, 9), (18, 7), (28, 5)):
        canvas.disc(x, foot - rise, size, snow[2])
        canvas.disc(x - 1, foot - rise - 1, size - 1, snow[0])
    canvas.rect(x - 5, foot - 24, 11, 2, "d04858")
    canvas.rect(x + 3, foot - 22, 2, 6, "d04858")
    canvas.rect(x - 6, foot - 33, 13, 2, "30303c")
    canvas.rect(x - 4, foot - 40, 9, 7, "30303c")
    canvas.rect(x - 4, foot - 35, 9, 1, "d04858")
    canvas.rect(x - 2, foot - 30, 1, 2, "202028")
    canvas.rect(x + 2, foot - 30, 1, 2, "202028")
    canvas.rect(x, foot - 28, 4, 1, "f08c3c")
    for y in (21, 17, 8, 4):
        canvas.rect(x, foot - y, 1, 1, "202028")


def _bergs(canvas: Canvas, rng: np.random.Generator, tones: list, snow: list, row: int) -> None:
    """Faceted icebergs afloat and their broken reflections."""
    for k, x in enumerate(spots(rng, 4, 0.3)):
        tall, wide = (40, 22, 30, 16)[k], (19, 12, 15, 10)[k]
        points = [
            (x - wide, row),
            (x - wide * 0.7, row - tall * 0.55),
            (x - wide * 0.1, row - tall),
        ]
        canvas.convex([*points, (x + wide * 0.1, row)], snow[0])
        tip = [(x - wide * 0.1, row - tall), (x + wide * 0.5, row - tall * 0.7), (x + wide, row)]
        canvas.convex([*tip, (x + wide * 0.1, row)], snow[2])
        canvas.convex([points[2], tip[1], (x + wide * 0.2, row - tall * 0.35)], snow[1])
        for y in range(row + 1, row + tall // 2, 2):
            run = int(wide * (1.1 - (y - row) / tall))
            canvas.rect(
                x - run + int(rng.integers(-2, 3)), y, 2 * run, 1, mix(snow[1], tones[1], 0.4)
            )


def _glacier(canvas: Canvas, rng: np.random.Generator, snow: list) -> None:
    """A wall of cracked blue ice."""
    near, second, number = cells(rng, 9, 6)
    crack = np.round(second - near, 5)
    line = 50 + 16 * swell(rng, 2, 6)
    ice = np.floor(line)[None, :] <= ROWS
    tone = 0.25 + 0.2 * (number % 4) / 3 + 0.35 * np.clip((ROWS - 50) / 70, 0, 1)
    ramp_ice = [snow[0], snow[1], snow[2], darker(snow[2], 0.25)]
    canvas.shade(np.clip(tone + 0.12 * (crack < 2), 0, 1), ramp_ice, ice, 0.6)
    canvas.paint(ice & (crack < 1.1), darker(snow[2], 0.2))
    canvas.paint((ROWS - np.floor(line)[None, :] < 4) & ice, snow[0])


def _skaters_pond(canvas: Canvas, rng: np.random.Generator, snow: list, ice) -> None:
    """A frozen pond with scratches."""
    canvas.ellipse(64, 117, 46, 8, snow[2])
    canvas.ellipse(64, 116, 45, 7, ice)
    for x, y in scatter(rng, 14, 6, 111, 122):
        if 30 < x < 92:
            canvas.line(x, y, x + 6, y - 2, lighter(ice, 0.6))


def _land(canvas: Canvas, rng: np.random.Generator, member: int, tones: tuple) -> None:
    """The white ground and whatever stands on it."""
    sky, _, snow, needles = tones
    far = 92 - 12 * swell(rng, 1, 3)
    firs = [mix(needle, sky[2], 0.3) for needle in needles] + ["4c4048"]
    hill(canvas, far, [snow[1], mix(snow[1], snow[2], 0.7)], 26, snow[0])
    pines(canvas, rng, far, 16, (8, 15), firs, mix(snow[1], snow[2], 0.5))
    line = 108 - 9 * swell(rng, 1, 2)
    hill(canvas, line, [snow[0], snow[1], snow[2]], 32, snow[0], 0.9)
    if member in (0, 3, 5, 6):
        pines(canvas, rng, line + 3, 6, (26, 42), [*needles, "4c3838"], snow[0])
    if member == 1:
        pines(canvas, rng, line + 2, 5, (24, 34), [*needles, "4c3838"], snow[0])
        _cabin(canvas, 24, int(line[34]) + 8, 24, snow)
        _cabin(canvas, 84, int(line[92]) + 6, 18, snow)
    if member == 2:
        pines(canvas, rng, line, 4, (22, 34), [*needles, "4c3838"], snow[0])
        _skaters_pond(canvas, rng, snow, "b0c8e4")
        _snowman(canvas, 22, 116, snow)
    if member == 7:
        for x, size in ((30, 19), (88, 13), (112, 10)):
            _igloo(canvas, x, int(line[x]) + 6, size, snow)


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight winter scenes."""
    tones = tuple(ramp(words) for words in PALETTES[member])
    sky, stone, snow, _ = tones
    canvas = Canvas()
    canvas.gradient(sky, 0, 92, 0.9)
    if member in (1, 6):
        stars(canvas, rng, 60, [sky[2], sky[3], "ffffff"], 70, 4)
        moon(canvas, 92, 26, 12, ramp("ffffff dce0f0 a8b0d0"), crescent=member == 6)
    if member in (2, 5):
        sun(canvas, 88, 52, 12, [mix(sky[2], "fff0d0", 0.5), "fff4dc"])
    if member in (0, 7):
        for x in spots(rng, 3):
            shades = [mix(sky[1], sky[2], 0.6), sky[3], "ffffff"]
            cloud(canvas, rng, x, int(rng.integers(16, 40)), int(rng.integers(24, 38)), shades)
    if member == 4:
        peaks = [(x, int(rng.integers(44, 60)), 1.2) for x in spots(rng, 5)]
        mountains(canvas, rng, peaks, [mix(tone, sky[2], 0.4) for tone in stone], snow[:2], 16)
        water(canvas, rng, 88, [sky[3], sky[1], sky[0], darker(sky[0])], lighter(sky[1], 0.4))
        _bergs(canvas, rng, sky, snow, 98)
        return canvas
    haze = [mix(tone, sky[2], 0.5) for tone in stone]
    peaks = [(x, 34 + int(rng.integers(0, 18)), 1.0 + 0.3 * rng.random()) for x in spots(rng, 4)]
    mountains(canvas, rng, peaks, haze, [mix(snow[0], sky[2], 0.3), mix(snow[2], sky[2], 0.3)], 14)
    peaks = [(x, 50 + int(rng.integers(0, 18)), 1.0 + 0.3 * rng.random()) for x in spots(rng, 4)]
    mountains(canvas, rng, peaks, stone, [snow[0], snow[2]], 15)
    if member == 6:
        _glacier(canvas, rng, snow)
    _land(canvas, rng, member, tones)
    if member in (1, 3, 5, 6):
        snowfall(canvas, rng, 90 if member == 3 else 50, snow[0])
    return canvas
