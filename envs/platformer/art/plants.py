"""Trees and plants in several shapes, each rooted at the bottom middle point it is given."""

from collections.abc import Sequence

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, disc
from envs.platformer.art.palette import Colour

CACTUS = (
    "....ab....",
    "...aabb...",
    "ab.aabb...",
    "ab.aabb.ab",
    "ab.aabb.ab",
    "aabaabb.ab",
    ".aaaabbaab",
    "..aaabbab.",
    "...aabb...",
    "...aabb...",
    "...aabb...",
    "...aabb...",
    "...aabb...",
)
TUFT = ("a..a.", ".a.ab", "aabab", "aaabb")
FLOWER = (".f.", "fcf", ".f.", ".s.", ".s.")


def pine(
    canvas: Canvas, x: int, foot: int, height: int, colours: Sequence[Colour], snow: Colour = ""
) -> None:
    """A fir in tiers; `colours` are lit needles, shaded needles and trunk."""
    lit, dark, trunk = colours
    canvas.rect(x, foot - 3, max(1, height // 12), 3, trunk)
    tiers = max(2, min(5, height // 6))
    tall = (height - 2) / tiers
    for row in range(height - 2):
        tier, within = divmod(row, tall)
        reach = int((0.4 + 0.6 * within / tall) * height * 0.27 * (tier + 1.3) / (tiers + 0.3))
        y = foot - height + row
        canvas.rect(x - reach, y, 2 * reach + 1, 1, dark)
        canvas.rect(x - reach, y, reach + (1 if row % 2 else 0), 1, lit)
        if snow and within < tall * 0.45:
            canvas.rect(x - reach, y, reach + 1, 1, snow)


def pines(
    canvas: Canvas,
    rng: np.random.Generator,
    line: np.ndarray,
    count: int,
    heights: tuple[int, int],
    colours: Sequence[Colour],
    snow: Colour = "",
) -> None:
    """A row of firs standing on a line of rows."""
    step = SIZE / count
    for k in range(count):
        x = int(k * step + rng.random() * step * 0.8) % SIZE
        foot = int(line[x]) + 2
        pine(canvas, x, foot, int(rng.integers(heights[0], heights[1] + 1)), colours, snow)


def leaves(
    canvas: Canvas,
    rng: np.random.Generator,
    x: float,
    y: float,
    half_w: float,
    half_h: float,
    colours: Sequence[Colour],
) -> None:
    """A crown of leaf clumps, dark below to light at the upper left."""
    count = max(8, int(half_w * half_h / 6))
    clumps = []
    for _ in range(count):
        a, b = rng.random() * 2 - 1, rng.random() * 2 - 1
        if a * a + b * b <= 1:
            clumps.append((x + a * half_w * 0.72, y + b * half_h * 0.72))
    clumps.append((x, y))
    radius = max(2.0, min(half_w, half_h) * 0.5)
    for level, colour in enumerate(colours):
        share = level / max(len(colours) - 1, 1)
        for cx, cy in clumps:
            shift = share * radius * 0.62
            canvas.disc(cx - shift * 0.7, cy - shift, radius * (1 - 0.62 * share), colour)


def tree(
    canvas: Canvas,
    rng: np.random.Generator,
    x: int,
    foot: int,
    height: int,
    crown: Sequence[Colour],
    trunk: Sequence[Colour],
) -> None:
    """A round-headed tree; crown colours run dark to light, trunk is lit then shaded."""
    thick = max(1, height // 9)
    canvas.rect(x - thick // 2, foot - height // 2, thick, height // 2, trunk[0])
    canvas.rect(
        x - thick // 2 + (thick + 1) // 2, foot - height // 2, thick // 2, height // 2, trunk[1]
    )
    leaves(canvas, rng, x, foot - height * 0.68, height * 0.36, height * 0.3, crown)


def palm(
    canvas: Canvas, x: int, foot: int, height: int, lean: int, colours: Sequence[Colour]
) -> None:
    """A palm with a curved trunk and seven drooping fronds; colours are leaf, dark leaf, trunk."""
    leaf, dark, trunk = colours
    for k in range(height):
        share = k / height
        canvas.rect(x + int(lean * share * share), foot - k, 2, 1, trunk if k % 4 else dark)
    top_x, top_y = x + lean, foot - height
    reach = max(6, height // 3)
    for turn, (a, rise) in enumerate(
        ((-1, 0.15), (1, 0.15), (-0.85, 0.55), (0.85, 0.55), (-0.45, 0.9), (0.45, 0.9), (0.1, 1))
    ):
        for k in range(reach):
            share = k / reach
            px = top_x + a * k
            py = top_y - rise * k * 0.8 + share * share * reach * (0.55 + 0.35 * rise)
            tone = dark if turn in (1, 3) else leaf
            canvas.rect(int(np.floor(px + 0.5)), int(np.floor(py + 0.5)), 2, 1, tone)
            if k % 2 and share > 0.2:
                canvas.dot(int(np.floor(px + 0.5)), int(np.floor(py + 1.5)), dark)


def grass(
    canvas: Canvas, rng: np.random.Generator, line: np.ndarray, colour: Colour, tall: int = 3
) -> None:
    """Blades of random height along a line of rows."""
    for x in range(SIZE):
        if rng.random() < 0.55:
            blade = int(rng.integers(1, tall + 1))
            canvas.rect(x, int(line[x]) - blade, 1, blade + 1, colour)


def bush(
    canvas: Canvas, rng: np.random.Generator, x: int, foot: int, width: int, crown: Sequence[Colour]
) -> None:
    """A low mound of leaves cut flat at its foot."""
    before = canvas.pixels.copy()
    leaves(canvas, rng, x, foot - width * 0.18, width * 0.5, width * 0.34, crown)
    hidden = foot < ROWS
    canvas.pixels[hidden] = before[hidden]


def canopy(
    canvas: Canvas, rng: np.random.Generator, bottom: int, colours: Sequence[Colour], size: float
) -> None:
    """A roof of leaves down from the top edge, ragged along row `bottom`."""
    canvas.paint(bottom - size * 1.5 > ROWS, colours[0])
    count = int(SIZE / size * 2.2)
    places = [(k * SIZE / count, bottom - size * (0.4 + 1.4 * rng.random())) for k in range(count)]
    high = [(rng.random() * SIZE, rng.random() * max(bottom - size, 1)) for _ in range(count)]
    for level, colour in enumerate(colours):
        share = level / max(len(colours) - 1, 1)
        for x, y in [*high, *places]:
            shift = share * size * 0.6
            where = disc(x - shift * 0.6, y - shift, size * (1 - 0.6 * share))
            if level == len(colours) - 1:
                # The lightest leaves are broken up, else the crown looks like soap bubbles.
                where &= (ROWS + COLS) % 2 == 0
            canvas.paint(where, colour)
