"""Caves: a rocky wall, stalactites and stalagmites, with crystals, lava, lakes, bones or ore."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, disc, span
from envs.platformer.art.fields import cells, cloudy, scatter, spots
from envs.platformer.art.landscape import water
from envs.platformer.art.palette import darker, lighter, mix, ramp

# Back wall dark to light, near rock shaded and lit, accent light and dark.
PALETTES = (
    ("10141c 1c2430 2c3848 40506a", "141c28 54688c", "7ce8ff 2c84c8"),
    ("180c0c 2c1414 481c18 6c2c20", "1c0c10 7c3c2c", "ffd050 f0581c"),
    ("180c24 28143c 401f58 5c307c", "140a20 74489c", "ff8cf0 9c3cc8"),
    ("0c1814 16281f 24402c 3c5c3c", "0c1812 587c4c", "c8ff6c 54a83c"),
    ("1c1610 302418 4c3a24 705638", "1a120c 947048", "ffe070 c88c24"),
    ("0c1c24 14343c 1f5058 347478", "0a1820 549c9c", "c0fff0 3cb4a8"),
    ("1c1c24 2c2c38 444450 64646c", "181820 888890", "f4ecd8 b4a488"),
    ("101830 1c2c50 30487c 5078ac", "0e1a38 84b0dc", "f0fcff 9cd0f4"),
)


def _wall(canvas: Canvas, rng: np.random.Generator, tones: list, squash: float) -> None:
    """A cobbled back wall that falls into the dark towards the middle."""
    near, second, number = cells(rng, 7, 7, squash)
    crack = np.round(second - near, 5)
    light = 0.42 + 0.26 * np.abs(ROWS - 60) / 60 + 0.16 * ((number * 7) % 5 - 2) / 2
    light += 0.22 * np.clip(crack / 9, 0, 1) - 0.1
    canvas.shade(np.clip(light, 0, 1), tones, strength=0.7)
    canvas.paint(crack < 1.3, tones[0])
    depth = cloudy(rng, 3, 3, 4) - np.abs(ROWS - 62) / 88
    canvas.paint(depth > 0.22, tones[0])
    canvas.paint((depth > 0.12) & (depth <= 0.22) & ((ROWS + COLS) % 2 == 0), tones[0])


def _spike(canvas: Canvas, x: float, root: int, tip: int, half: float, tones: list) -> None:
    """A hanging or a standing cone of rock with a lit left edge and rings."""
    low, high = min(root, tip), max(root, tip)
    share = np.abs(ROWS - tip) / max(high - low, 1)
    reach = np.round(half * share**1.4, 6)
    body = (low <= ROWS) & (high >= ROWS) & (np.abs(span(x)) <= reach)
    dark, lit = tones
    canvas.paint(body, mix(dark, lit, 0.42))
    canvas.paint(body & (span(x) > reach * 0.25), mix(dark, lit, 0.16))
    canvas.paint(body & (span(x) < -reach * 0.45), mix(dark, lit, 0.85))
    ring = (ROWS + (span(x) * span(x) / (half + 1)).astype(int)) % 7 == 0
    canvas.paint(body & ring & (reach > 2), mix(dark, lit, 0.16))


def _teeth(
    canvas: Canvas, rng: np.random.Generator, count: int, size: tuple[int, int], tones, share: float
) -> None:
    """A row of spikes from the roof and one from the floor."""
    faded = [tones[0], mix(tones[0], tones[1], share)]
    for x in spots(rng, count, 0.9):
        tall = int(rng.integers(*size))
        _spike(canvas, x, 0, tall, tall * 0.22 + 2, faded)
    for x in spots(rng, count, 0.9):
        tall = int(rng.integers(*size) * 0.7)
        _spike(canvas, x, SIZE, SIZE - 8 - tall, tall * 0.26 + 3, faded)


def _rim(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Rough rock along the top and the bottom edge."""
    rough = cloudy(rng, 8, 8, 3)
    for edge in (ROWS, SIZE - 1 - ROWS):
        body = edge < 7 + 9 * rough
        canvas.paint(body, mix(*tones, 0.12))
        canvas.paint(body & (edge > 4 + 9 * rough), mix(*tones, 0.5))


def _crystal(
    canvas: Canvas, x: float, y: float, lean: float, size: float, tones: list, up: int = 1
) -> None:
    """A pointed prism in two faces with a bright edge; `up` is -1 when it hangs."""
    light, dark = tones
    half = size * 0.17 + 1
    tip = (x + lean * size, y - up * size)
    neck_x, neck_y = x + lean * size * 0.75, y - up * size * 0.72
    left, right = (neck_x - half, neck_y), (neck_x + half, neck_y)
    canvas.convex(
        [(x - half * 0.8, y), left, tip, (neck_x, neck_y), (x, y)], mix(light, dark, 0.35)
    )
    canvas.convex([(x + half * 0.8, y), right, tip, (neck_x, neck_y), (x, y)], dark)
    canvas.convex([left, tip, (neck_x, neck_y)], light)
    canvas.line(x - half * 0.8 + 1, y, left[0] + 1, left[1], light)


def _clusters(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Groups of crystals on the floor and the roof, each with a dithered glow."""
    for k, x in enumerate(spots(rng, 5, 0.6)):
        up = 1 if k % 3 != 2 else -1
        y = 120 if up == 1 else 8
        glow = disc(x, y - up * 10, 22) & ((ROWS + COLS) % 2 == 0) & (ROWS % 2 == 0)
        canvas.paint(glow, mix(tones[1], tones[0], 0.2))
        for lean in (-0.62, 0.6, -0.28, 0.3, 0.02):
            size = int(rng.integers(11, 19)) * (1.7 - abs(lean))
            _crystal(canvas, x + lean * 9, y, lean, size, tones, up)


def _lava(canvas: Canvas, rng: np.random.Generator) -> None:
    """A molten floor with crusts, and two falls of lava."""
    for x in spots(rng, 2, 0.4):
        wide = int(rng.integers(4, 8))
        for y in range(112):
            lean = int(rng.integers(0, 2))
            canvas.rect(x, y, wide, 1, "e8501c")
            canvas.rect(x + 1 + lean, y, wide - 3, 1, "ff9c30")
            if (y // 5) % 3:
                canvas.rect(x + 2, y, 1, 1, "ffe070")
    canvas.gradient(ramp("ffd850 ff9c2c e8501c a82814"), 104, SIZE, 0.9)
    rough = cloudy(rng, 8, 20, 3)
    canvas.paint((ROWS > 108) & (rough > 0.58), "5c1c18")
    canvas.paint((ROWS > 108) & (rough > 0.66), "2c1014")
    canvas.paint((ROWS > 96) & (ROWS < 104) & ((ROWS + COLS) % 2 == 0) & (ROWS % 2 == 0), "c84820")
    for x, y in scatter(rng, 24, 8, 50, 104):
        canvas.dot(x, y, "ffb040")


def _glowcaps(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Shining mushrooms along the floor and glow-worm threads from the roof."""
    light, dark = tones
    for x in spots(rng, 11, 0.9):
        tall, half = int(rng.integers(5, 22)), int(rng.integers(3, 7))
        foot = 122
        glow = disc(x, foot - tall, half + 5) & ((ROWS + COLS) % 2 == 0) & (ROWS % 2 == 0)
        canvas.paint(glow, mix(dark, light, 0.3))
        canvas.rect(x, foot - tall, 2, tall, mix(dark, "f0ffe0", 0.55))
        dome = disc(x + 0.5, foot - tall, half) & (foot - tall >= ROWS)
        canvas.paint(dome, dark)
        canvas.paint(dome & disc(x - 0.5, foot - tall - 1.5, half - 1.5), light)
    for x in spots(rng, 14, 0.9):
        tall = int(rng.integers(18, 52))
        for y in range(10, tall, 3):
            canvas.dot(x, y, mix(dark, light, (y // 9) / 6))
        canvas.rect(x, tall, 1, 2, light)


def _mine(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Timber props, a lantern each, gold in the wall and a rail."""
    for x, y in scatter(rng, 14, 13, 20, 104):
        for a, b in ((0, 0), (1, 0), (0, 1), (2, 1), (1, 2), (3, 0)):
            canvas.dot(x + a, y + b, tones[0] if a + b < 2 else tones[1])
    for x in (10, 74):
        for left in (x, x + 40):
            canvas.rect(left, 30, 6, 90, "7c5434")
            canvas.rect(left + 4, 30, 2, 90, "543820")
            canvas.rect(left, 30, 1, 90, "a87c4c")
        canvas.rect(x - 5, 24, 56, 7, "7c5434")
        canvas.rect(x - 5, 24, 56, 1, "a87c4c")
        canvas.rect(x - 5, 29, 56, 2, "543820")
        canvas.rect(x + 23, 31, 1, 8, "3c2c20")
        glow = disc(x + 23, 43, 15) & ((ROWS + COLS) % 2 == 0) & (ROWS % 2 == 0)
        canvas.paint(glow, "c88c3c")
        canvas.rect(x + 21, 39, 5, 7, "3c2c20")
        canvas.rect(x + 22, 40, 3, 5, "fff0a0")
    for x in range(2, SIZE, 8):
        canvas.rect(x, 119, 5, 3, "543820")
    canvas.rect(0, 117, SIZE, 2, "9c9ca4")
    canvas.rect(0, 118, SIZE, 1, "5c5c68")


def _bones(canvas: Canvas, x: int, foot: int, tones: list) -> None:
    """The ribs, spine and skull of something very large."""
    light, dark = tones
    canvas.line(x - 40, foot - 22, x + 20, foot - 30, dark, 3)
    for k in range(7):
        left = x - 38 + 9 * k
        tall = 26 - abs(k - 3) * 3
        for step in range(tall):
            bow = int(6 * (1 - (step / tall - 0.5) ** 2 * 4))
            canvas.rect(left + bow, foot - 24 - k + step, 3, 1, light)
            canvas.rect(left + bow + 2, foot - 24 - k + step, 1, 1, dark)
    canvas.ellipse(x + 34, foot - 30, 13, 10, light)
    canvas.ellipse(x + 46, foot - 24, 10, 5, light)
    canvas.ellipse(x + 38, foot - 32, 4, 4, "181820")
    canvas.rect(x + 51, foot - 27, 2, 2, "181820")
    for k in range(6):
        canvas.rect(x + 38 + 3 * k, foot - 19, 2, 4, light)


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight caves."""
    wall, rock, glow = (ramp(words) for words in PALETTES[member])
    canvas = Canvas()
    _wall(canvas, rng, wall, 1.5 if member in (4, 6) else 1.0)
    if member == 6:
        _bones(canvas, 56, 116, glow)
    if member != 4:
        _teeth(canvas, rng, 9, (14, 40), [wall[0], mix(wall[2], rock[1], 0.3)], 0.8)
    if member == 1:
        _lava(canvas, rng)
    if member == 5:
        water(canvas, rng, 96, ramp("8ce8d8 3ca8a0 1c6470 0e3444"), "c0fff0")
        for x in spots(rng, 3, 0.5):
            beam = (np.abs(span(x) + (ROWS - 60) * 0.15) < 6) & (ROWS < 98)
            canvas.paint(beam & ((ROWS + COLS) % 2 == 0) & (ROWS % 2 == 0), "c0fff0")
    if member in (0, 2):
        _clusters(canvas, rng, glow)
    if member == 4:
        _mine(canvas, rng, glow)
    if member not in (1, 5):
        _rim(canvas, rng, rock)
    else:
        before = canvas.pixels[64:].copy()
        _rim(canvas, rng, rock)
        canvas.pixels[64:] = before
    if member == 3:
        _glowcaps(canvas, rng, glow)
    if member in (0, 2, 7):
        _teeth(canvas, rng, 4, (26, 58), rock, 1.0)
    if member == 7:
        for x in spots(rng, 8, 0.9):
            tall = int(rng.integers(20, 56))
            _spike(canvas, x, 4, tall, tall * 0.12 + 2, ["3c6cac", glow[0]])
        for x, y in scatter(rng, 40, 8, 10, 120):
            canvas.dot(x, y, lighter(glow[0], 0.3))
    canvas.paint(ROWS == SIZE - 1, darker(rock[0], 0.3))
    return canvas
