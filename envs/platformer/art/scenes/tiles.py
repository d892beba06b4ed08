"""Flat patterns: checks, plaids, argyle, bricks, scales, dots, mosaic, woven bands."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, span
from envs.platformer.art.fields import scatter
from envs.platformer.art.palette import darker, lighter, mix, ramp

PALETTES = (
    "3c4c8c 6c84c4 a4bce8 e8eef8",
    "7c2c3c b84c4c f0d8a8 2c3c50",
    "2c5c50 4c8c74 d8d8a8 f4f0dc e08c54",
    "8c4438 b0604c c87c60 5c2c2c e8a888",
    "1c4c6c 2c7494 54a8b8 a0d8d0 f0f4dc",
    "f4d8c0 f0a89c d8687c 8c3c64 fff4e4",
    "2c2c44 c85450 e89c50 f0d878 5c9c84 4878a0 e8e0d0",
    "4c3054 7c4c74 b47c8c e0b4a0 f4e0c4",
)


def _checks(canvas: Canvas, tones: list) -> None:
    """Bevelled check tiles in two sizes: a diamond in every second one."""
    dark, mid, light, pale = tones
    odd = ((ROWS // 16) + (COLS // 16)) % 2 == 1
    y, x = ROWS % 16, COLS % 16
    for where, tone in ((odd, mid), (~odd, light)):
        canvas.paint(where, tone)
        canvas.paint(where & ((y == 0) | (x == 0)), lighter(tone, 0.45))
        canvas.paint(where & ((y == 15) | (x == 15)), darker(tone, 0.3))
    reach = np.abs(x - 7.5) + np.abs(y - 7.5)
    canvas.paint(odd & (reach <= 5), dark)
    canvas.paint(odd & (reach <= 5) & (y < 8) & (reach > 3), lighter(dark, 0.2))
    canvas.paint(~odd & (reach <= 2), pale)
    canvas.paint(~odd & (reach > 9) & (reach <= 11), mix(light, pale, 0.6))


def _plaid(canvas: Canvas, tones: list) -> None:
    """A tartan: crossing bands that mix in a twill of single pixels."""
    deep, red, cream, navy = tones
    bands = (
        [deep] * 10 + [navy] * 6 + [red] * 4 + [cream] * 1 + [red] * 4 + [navy] * 6 + [cream] * 1
    )
    table = np.array(bands, dtype=np.uint8)
    warp, weft = table[COLS % 32], table[(ROWS + 8) % 32]
    over = ((ROWS + COLS) % 4 < 2)[..., None]
    canvas.pixels[:] = np.where(over, warp, weft)


def _argyle(canvas: Canvas, tones: list) -> None:
    """Lozenges in three colours under a net of dashes."""
    deep, mid, sand, pale, warm = tones
    x, y = (COLS % 32) - 15.5, (ROWS % 32) - 15.5
    inside = np.abs(x) + np.abs(y) <= 16
    column = (COLS // 32) % 2
    canvas.paint(ROWS >= 0, deep)
    canvas.paint(inside & (column == 0), mid)
    canvas.paint(inside & (column == 1), sand)
    rim = inside & (np.abs(x) + np.abs(y) > 14)
    canvas.paint(rim & (column == 0), lighter(mid, 0.25))
    canvas.paint(rim & (column == 1), lighter(sand, 0.5))
    first, second = (COLS + ROWS + 16) % 32, (COLS - ROWS + 16) % 32
    dashes = ((first == 0) & (ROWS % 4 < 2)) | ((second == 0) & (ROWS % 4 < 2))
    canvas.paint(dashes, warm)
    core = np.abs(x) + np.abs(y) <= 4
    canvas.paint(core, warm)
    canvas.paint(core & (np.abs(x) + np.abs(y) <= 2), pale)


def _bricks(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Brickwork in three fired tones, some bricks chipped, with weeds in the joints."""
    mid, warm, light, mortar, pale = tones
    row = ROWS // 8
    x = (COLS + (row % 2) * 8) % SIZE
    choice = rng.integers(0, 6, (16, 8))[row, x // 16]
    for k, tone in enumerate((mid, warm, warm, light, mid, mix(mid, mortar, 0.35))):
        where = choice == k
        canvas.paint(where, tone)
        canvas.paint(where & (ROWS % 8 == 1), lighter(tone, 0.25))
        canvas.paint(where & (ROWS % 8 == 7), darker(tone, 0.2))
    speck = rng.random((SIZE, SIZE))
    canvas.paint((speck < 0.025) & (ROWS % 8 > 1), mix(mid, mortar, 0.5))
    canvas.paint((speck > 0.985) & (ROWS % 8 > 1), mix(light, pale, 0.4))
    canvas.paint((ROWS % 8 == 0) | (x % 16 == 0), mortar)
    for px, py in scatter(rng, 16, 14, 4, 124):
        top = py // 8 * 8
        for a, b in ((0, 0), (1, -1), (-1, -1), (0, -2), (2, -2), (-1, -3)):
            canvas.dot(px + a, top + b, "5c8c4c" if a < 1 else "84b45c")


def _scales(canvas: Canvas, tones: list) -> None:
    """Overlapping round scales, each of three rings."""
    ring = list(tones)
    for row in range(17, -2, -1):
        for col in range(8):
            x = col * 16 + 8 * (row % 2)
            reach = np.sqrt((span(x + 7.5)) ** 2 + (ROWS - row * 8.0) ** 2)
            for radius, tone in ((8.6, ring[0]), (7.6, ring[1]), (5.6, ring[2]), (3.6, ring[3])):
                canvas.paint(np.round(reach, 5) <= radius, tone)
            shift = (row * 5 + col * 3) % 4
            if shift == 0:
                canvas.paint(np.round(reach, 5) <= 3.6, ring[4])


def _dots(canvas: Canvas, tones: list) -> None:
    """Polka dots in two sizes whose colours march along the diagonals."""
    canvas.paint(ROWS >= 0, tones[0])
    stripe = ((COLS + ROWS) // 16) % 2 == 0
    canvas.paint(stripe, mix(tones[0], tones[4], 0.6))
    for row in range(-1, 9):
        for col in range(8):
            x, y = col * 16 + 7.5, row * 16 + 7.5
            tone = tones[1 + (row + col) % 3]
            canvas.paint((span(x) ** 2 + (ROWS - y - 1) ** 2) <= 22, darker(tones[0], 0.25))
            canvas.paint((span(x) ** 2 + (ROWS - y) ** 2) <= 22, tone)
            canvas.paint((span(x - 1) ** 2 + (ROWS - y + 1) ** 2) <= 6, lighter(tone, 0.35))
            canvas.paint((span(x + 8) ** 2 + (ROWS - y - 8) ** 2) <= 2.6, tones[3])


def _mosaic(canvas: Canvas, rng: np.random.Generator, tones: list) -> None:
    """Quilt blocks of triangles, squares and pinwheels in five colours."""
    y, x = ROWS % 32, COLS % 32
    block = (ROWS // 32) * 4 + COLS // 32
    ground = tones[6]
    u, v = x - 15.5, y - 15.5
    wheel = ((u > 0) == (v > 0)) ^ (np.abs(u) > np.abs(v))
    ring = np.maximum(np.abs(u), np.abs(v))
    spin = np.abs(u) + np.abs(v)
    order = rng.permutation(16)
    for k in range(16):
        here = block == k
        pick = int(order[k])
        first, second, third = tones[1 + pick % 5], tones[1 + (pick + 2) % 5], tones[0]
        canvas.paint(here, ground)
        if pick % 4 == 0:
            canvas.paint(here & wheel & (ring < 14), first)
            canvas.paint(here & (ring < 5), third)
        elif pick % 4 == 1:
            canvas.paint(here & (spin < 15), first)
            canvas.paint(here & (spin < 9), second)
            canvas.paint(here & (spin < 4), ground)
        elif pick % 4 == 2:
            canvas.paint(here & (ring < 14) & ((x // 8 + y // 8) % 2 == 0), first)
            canvas.paint(here & (ring < 14) & ((x // 8 + y // 8) % 4 == 2), second)
        else:
            canvas.paint(here & (ring < 14) & ((u + v) > 0), second)
            canvas.paint(here & (spin > 15) & (ring < 14), first)
            canvas.paint(here & (ring < 4), third)
    canvas.paint((x == 0) | (y == 0), third)
    stitch = ((x == 2) | (y == 2) | (x == 30) | (y == 30)) & ((ROWS + COLS) % 4 < 2)
    canvas.paint(stitch & (ring < 15), mix(ground, tones[0], 0.35))


def _weave(canvas: Canvas, tones: list) -> None:
    """A basket weave whose bands pass over and under."""
    cell_y, cell_x = ROWS // 16, COLS // 16
    across = (cell_y + cell_x) % 2 == 0
    place = np.where(across, ROWS % 16, COLS % 16)
    along = np.where(across, COLS % 16, ROWS % 16)
    tone = np.array([0, 1, 2, 3, 3, 3, 2, 2, 3, 3, 4, 4, 3, 2, 1, 0])[place]
    tone = np.where((along < 2) | (along > 13), np.maximum(tone - 1, 0), tone)
    table = np.array(tones, dtype=np.uint8)
    canvas.pixels[:] = table[tone]
    canvas.paint(across & (place == 7), tones[1])
    canvas.paint(across & ((along == 7) | (along == 8)) & (place > 3) & (place < 12), tones[4])


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight patterns."""
    tones = ramp(PALETTES[member])
    canvas = Canvas()
    if member == 3:
        _bricks(canvas, rng, tones)
    elif member == 6:
        _mosaic(canvas, rng, tones)
    else:
        plain = {0: _checks, 1: _plaid, 2: _argyle, 4: _scales, 5: _dots, 7: _weave}
        plain[member](canvas, tones)
    # The picture's edge should fall inside a tile, not on a joint, so that no seam stands out.
    canvas.pixels = np.roll(canvas.pixels, (5, 5), (0, 1))
    return canvas
