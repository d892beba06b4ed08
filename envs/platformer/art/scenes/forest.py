"""Woods seen from inside: trunks in three depths under a roof of leaves."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, box, disc, span
from envs.platformer.art.fields import cloudy, noise, scatter, spots, swell
from envs.platformer.art.landscape import hill, water
from envs.platformer.art.palette import darker, lighter, mix, ramp
from envs.platformer.art.plants import bush, canopy, grass

# Air from the top down, trunk lit and shaded, leaves dark to light, ground.
PALETTES = (
    (
        "c8e8a8 a4d494 6cb080 3c8068",
        "7c5c40 4c3a34",
        "1c4c3c 2c7444 58a848 a8d858",
        "3c7c3c 1c4434",
    ),
    (
        "fce8b0 f8cc88 e49c60 a8604c",
        "64403c 3c2830",
        "7c2c2c b84c2c e48430 fcc850",
        "a8582c 54282c",
    ),
    (
        "3c6c8c 2c5078 1c3860 101f40",
        "1c2c4c 10182c",
        "08142c 103050 185070 2c7c90",
        "143450 0a1830",
    ),
    (
        "e8f4f0 d0e8dc a8d0c0 7cac9c",
        "f0f0e8 a8b0b0",
        "4c8c54 74b464 a8d474 dcf0a0",
        "6ca868 386c54",
    ),
    (
        "fce0ec f8c8dc e8a4c4 c084b0",
        "6c4854 442c40",
        "b85c8c e084ac f8b0cc ffdce8",
        "84a878 4c6c64",
    ),
    (
        "e0f4b8 bce498 84c47c 4c9468",
        "84b850 4c8040",
        "2c6c3c 4c9440 84c04c c4e878",
        "5c9444 2c5834",
    ),
    (
        "6c4c9c 543c84 3c2c68 241c48",
        "5c4470 34284c",
        "281c50 3c2c6c 584090 8460b8",
        "2c2454 181234",
    ),
    (
        "a0b088 7c9474 546c5c 344848",
        "443c34 262828",
        "1c3028 2c4834 4c6c40 7c9450",
        "34482c 1a2a26",
    ),
)


def _trunk(
    canvas: Canvas, rng: np.random.Generator, x: int, wide: int, foot: int, tones: list
) -> None:
    """A trunk from the top edge to a flared root, lit on the left, with bark marks."""
    lit, dark = tones
    sway = noise(rng, 1, 6)[:, 0] * 5 - 2.5
    for y in range(foot + 3):
        flare = max(0, (y - foot + 7)) // 2
        left = x - wide // 2 - flare + int(sway[min(y, SIZE - 1)])
        full = wide + 2 * flare
        canvas.rect(left, y, full, 1, dark)
        canvas.rect(left, y, max(1, full * 3 // 5 + (y % 3 == 0)), 1, lit)
        canvas.rect(left, y, 1, 1, lighter(lit, 0.22))
    for _ in range(wide * 2):
        y = int(rng.integers(6, max(foot - 6, 7)))
        mark = x - wide // 2 + 1 + int(rng.integers(0, max(wide - 2, 1)))
        canvas.rect(mark + int(sway[y]), y, 1, int(rng.integers(2, 6)), dark)
    if wide > 7:
        y = int(rng.integers(44, 80))
        canvas.ellipse(x + int(sway[y]), y, 1.5, 3, darker(dark, 0.4))


def _birch(canvas: Canvas, rng: np.random.Generator, x: int, wide: int, foot: int, tones) -> None:
    """A white trunk with dark scars."""
    canvas.rect(x, 0, wide, foot + 2, tones[0])
    canvas.rect(x + wide * 2 // 3, 0, wide - wide * 2 // 3, foot + 2, tones[1])
    for y in range(int(rng.integers(0, 6)), foot, 7):
        side = int(rng.integers(0, 2))
        run = max(2, wide * 2 // 3)
        canvas.rect(x + (wide - run if side else 0), y + int(rng.integers(0, 3)), run, 1, "54585c")
        if rng.random() < 0.3:
            canvas.rect(x + (wide - run if side else 0), y + 2, run - 1, 2, "54585c")


def _bamboo(canvas: Canvas, rng: np.random.Generator, x: int, wide: int, tones, leaf) -> None:
    """A jointed cane with a few pointed leaves."""
    canvas.rect(x, 0, wide, SIZE, tones[0])
    canvas.rect(x + wide - max(1, wide // 3), 0, max(1, wide // 3), SIZE, tones[1])
    canvas.rect(x, 0, 1, SIZE, lighter(tones[0], 0.35))
    for y in range(int(rng.integers(0, 14)), SIZE, 15):
        canvas.rect(x - (wide > 3), y, wide + 2 * (wide > 3), 1, tones[1])
        canvas.rect(x, y + 1, wide, 1, lighter(tones[0], 0.4))
        if rng.random() < 0.45:
            way = 1 if rng.random() < 0.5 else -1
            for k in range(3):
                ex = x + way * int(rng.integers(6, 13))
                canvas.line(x + wide // 2, y, ex, y + 2 + 3 * k, leaf)
                canvas.line(x + wide // 2 + way, y, ex - way, y + 2 + 3 * k, leaf)


def _mushroom(canvas: Canvas, x: int, foot: int, size: int, tones: list) -> None:
    """A great toadstool: cap, pale spots, gills and a stem."""
    cap, shade, spot, stem = tones
    top = foot - size
    half = max(2, size // 7)
    canvas.rect(x - half, top, 2 * half + 1, size, stem)
    canvas.rect(x + half // 2 + 1, top, half - half // 2, size, darker(stem, 0.25))
    reach, tall = size * 0.52, size * 0.42
    dome = np.round((span(x) / reach) ** 2 + ((ROWS - top) / tall) ** 2, 6) <= 1
    dome &= top >= ROWS
    canvas.paint(dome, cap)
    canvas.paint(dome & (span(x) > reach * 0.35 - (ROWS - top) * 0.1), shade)
    canvas.ellipse(x, top + 1, reach * 0.92, 1, darker(shade, 0.25))
    for a, b, r in (
        (-0.5, -0.35, 0.13),
        (0.05, -0.65, 0.15),
        (0.5, -0.3, 0.11),
        (-0.1, -0.15, 0.09),
    ):
        canvas.disc(x + a * reach, top + b * tall - 1, max(1, size * r * 0.55), spot)


def _shafts(canvas: Canvas, rng: np.random.Generator, colour) -> None:
    """Slanting beams of light, dithered so that what is behind them stays visible."""
    for x in spots(rng, 4):
        wide = int(rng.integers(6, 15))
        lean = span(x) + ROWS * 0.45
        lean = (lean + 64) % SIZE - 64
        beam = (np.abs(lean) < wide / 2) & (ROWS < 112)
        canvas.paint(beam & ((ROWS + COLS) % 2 == 0) & (ROWS % 2 == 0), colour)


def _petals(canvas: Canvas, rng: np.random.Generator, count: int, tones: list) -> None:
    """Loose leaves or petals in the air."""
    for k, (x, y) in enumerate(scatter(rng, count, 8, 30, 122)):
        canvas.rect(x, y, 2, 1, tones[k % len(tones)])
        canvas.dot(x + 1, y + 1 - 2 * (k % 2), tones[k % len(tones)])


def _far(canvas: Canvas, rng: np.random.Generator, air: list, trunk: list) -> None:
    """Two faint ranks of trunks and foliage in the haze."""
    blur = cloudy(rng, 8, 6, 3) - ROWS / 150
    canvas.paint(blur > 0.28, mix(air[1], air[2], 0.55))
    for count, wide, share in ((15, 3, 0.35), (10, 5, 0.62)):
        for x in spots(rng, count, 0.9):
            tone = mix(air[2], trunk[1], share)
            canvas.rect(x, 0, int(wide + rng.integers(-1, 2)), 116, tone)
            if rng.random() < 0.5:
                y, way = int(rng.integers(40, 80)), 1 if rng.random() < 0.5 else -1
                canvas.line(x + 1, y, x + way * 11, y - 9, tone, 1 + (wide > 4))


def _vines(canvas: Canvas, rng: np.random.Generator, tone, tip) -> None:
    """Hanging creepers."""
    for x in spots(rng, 9, 0.9):
        tall = int(rng.integers(40, 84))
        for y in range(tall):
            canvas.dot(x + (y // 9) % 2, y, tone)
            if y % 5 == 0 and y > 30:
                canvas.rect(x - 1 + 2 * ((y // 5) % 2), y, 2, 1, tip)


def _near(canvas: Canvas, rng: np.random.Generator, member: int, tones: list) -> None:
    """The near trunks, in the manner of the member."""
    _, trunk, leaf, ground = tones
    if member == 3:
        for k, x in enumerate(spots(rng, 7, 0.8)):
            _birch(canvas, rng, x, 4 + 2 * (k % 3), 112 + k % 4, trunk)
    elif member == 5:
        for k, x in enumerate(spots(rng, 9, 0.8)):
            _bamboo(canvas, rng, x, 4 + k % 4, trunk, leaf[1 + k % 2])
    elif member == 6:
        for k, x in enumerate(spots(rng, 5, 0.5)):
            caps = (
                ramp("e05c8c 9c3c78 ffe0f0 d8c8e8")
                if k % 2
                else ramp("4cc8d8 2c84a8 e8ffff c8d4ec")
            )
            _mushroom(canvas, x, 118, (64, 34, 52, 26, 42)[k], caps)
    else:
        for k, x in enumerate(spots(rng, 4, 0.5)):
            _trunk(canvas, rng, x, (12, 8, 10, 7)[k], 112 + 2 * (k % 3), trunk)
    line = 116 - 5 * swell(rng, 1, 3)
    hill(canvas, line, ground, 12, lighter(ground[0], 0.25))
    grass(canvas, rng, line, ground[0], 4)


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight woods."""
    tones = [ramp(words) for words in PALETTES[member]]
    air, trunk, leaf, ground = tones
    canvas = Canvas()
    canvas.gradient(air, 0, 118, 0.9)
    _far(canvas, rng, air, trunk)
    if member in (0, 1, 3, 5):
        _shafts(canvas, rng, lighter(air[0], 0.5))
    if member == 2:
        for x, y in scatter(rng, 26, 9, 30, 120):
            canvas.dot(x, y, "b8fff0")
            canvas.paint(disc(x, y, 2) & ((ROWS + COLS) % 2 == 1), "3c9cac")
    _near(canvas, rng, member, tones)
    for x in spots(rng, 6, 0.9):
        if member not in (5,):
            bush(canvas, rng, x, 122, int(rng.integers(14, 24)), leaf[:3])
    if member != 6 and member != 5:
        canopy(canvas, rng, 26, leaf, 9)
    if member in (1, 4):
        _petals(canvas, rng, 26, leaf[2:])
    if member == 7:
        water(canvas, rng, 114, ramp("5c7454 3c5448 243834"), "7c9464")
        _vines(canvas, rng, leaf[1], leaf[2])
    if member == 6:
        _petals(canvas, rng, 30, ramp("f8d0f0 a8f0f0"))
    canvas.paint(box(0, SIZE - 2, SIZE, 2), darker(ground[1], 0.3))
    return canvas
