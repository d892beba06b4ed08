"""Circuit boards, chips, server racks, falling glyphs, hexagon panels and holographic grids."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, box, disc, span
from envs.platformer.art.fields import cloudy, scatter, sine, spots
from envs.platformer.art.palette import darker, lighter, mix, ramp

# Board dark to light, trace dim and bright, glow accents.
PALETTES = (
    ("0c3024 10402c 185438", "3c9c5c 84dc84", "f8d070 f4f4e0"),
    ("0c1030 141a48 1e2864", "3454b4 5cb4ff", "ff5cb0 f4f8ff"),
    ("14161c 1e222c 2c323e", "40505c 74909c", "58f08c ff6c54"),
    ("020c06 04180c 082814", "14803c 3cf078", "d8ffe0 9cffb8"),
    ("1c1024 2a1838 3c2450", "7c3c94 d86cf0", "5cf0f0 fff4ff"),
    ("1c0c0c 2c1414 3f1e1c", "9c4430 f09c54", "ffe08c fff8e8"),
    ("0c1c2c 10283c 18384f", "2c6c8c 64c8e0", "ffb454 f0fcff"),
    ("e4ecec d0dede b8caca", "7ca4a8 3c7478", "e0604c f4b444"),
)
GLYPHS = (
    ("###", "#.#", "#.#", "#.#", "###"),
    (".#.", "##.", ".#.", ".#.", "###"),
    ("#.#", ".#.", "###", ".#.", "#.#"),
    ("##.", ".##", "##.", ".##", "#.."),
    ("###", "..#", ".##", "..#", "###"),
    ("#..", "###", "#.#", ".##", ".#."),
    (".#.", "#.#", ".#.", "###", "..#"),
    ("#.#", "###", "..#", "###", "#.."),
)


def _trace(
    canvas: Canvas, rng: np.random.Generator, x: int, y: int, tones: list, length: int
) -> None:
    """A wire that runs straight and turns by 45 degrees, with a pad at either end."""
    ways = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
    way = int(rng.integers(0, 4)) * 2
    pads = [(x, y)]
    for leg in range(3):
        run = int(rng.integers(4, length)) if leg != 1 else int(rng.integers(3, 9))
        a, b = ways[way % 8]
        canvas.line(x, y, x + a * run, y + b * run, tones[0])
        x, y = x + a * run, y + b * run
        way += 1 if rng.random() < 0.5 else -1
        if not 2 < y < SIZE - 3:
            break
    pads.append((x, y))
    for px, py in pads:
        canvas.disc(px, py, 2, tones[1])
        canvas.dot(px, py, tones[2])


def _bus(canvas: Canvas, x: int, y: int, count: int, legs: tuple, tone) -> None:
    """Several parallel wires with one diagonal jog."""
    first, drop, second = legs
    for k in range(count):
        top = y + 3 * k
        bend = x + first - k
        canvas.line(x, top, bend, top, tone)
        canvas.line(bend, top, bend + abs(drop), top + drop, tone)
        canvas.line(bend + abs(drop), top + drop, x + first + second, top + drop, tone)


def _chip(canvas: Canvas, x: int, y: int, wide: int, tall: int, tones: tuple) -> None:
    """A packaged chip with legs on two or four sides, a notch and print."""
    body, pin, ink = tones
    for left in range(x + 2, x + wide - 2, 4):
        canvas.rect(left, y - 3, 2, tall + 6, pin)
        canvas.rect(left, y - 3, 2, 1, lighter(pin, 0.5))
    if tall > 16:
        for top in range(y + 2, y + tall - 2, 4):
            canvas.rect(x - 3, top, wide + 6, 2, pin)
            canvas.rect(x - 3, top, wide + 6, 1, lighter(pin, 0.5))
    canvas.rect(x, y, wide, tall, body)
    canvas.rect(x, y, wide, 1, lighter(body, 0.25))
    canvas.rect(x, y, 1, tall, lighter(body, 0.25))
    canvas.rect(x, y + tall - 1, wide, 1, darker(body, 0.5))
    canvas.disc(x + 3, y + 3, 1, lighter(body, 0.3))
    for k, run in enumerate((0.5, 0.35)):
        if tall > 9 + 4 * k:
            canvas.rect(x + 5, y + tall // 2 + 3 * k, int(wide * run), 1, ink)


def _board(canvas: Canvas, rng: np.random.Generator, tones: tuple, dark_chip: bool) -> None:
    """A printed board: buses, wires, small parts and chips."""
    board, trace, glow = tones
    canvas.paint(ROWS >= 0, board[1])
    canvas.paint(cloudy(rng, 4, 4, 2) > 0.55, mix(board[1], board[2], 0.5))
    canvas.paint((ROWS % 8 == 4) & (COLS % 8 == 4), mix(board[1], board[2], 0.8))
    wire = [trace[0], trace[1], board[0]]
    for y in (8, 34, 92, 112):
        legs = (
            int(rng.integers(20, 40)),
            int(rng.choice([-12, 10, 14])),
            int(rng.integers(24, 50)),
        )
        _bus(canvas, int(rng.integers(0, SIZE)), y, 4, legs, trace[0])
    for x, y in scatter(rng, 26, 14, 6, 122):
        _trace(canvas, rng, x, y, wire, 22)
    ink = mix(board[2], "ffffff", 0.45)
    body = "20242c" if dark_chip else mix(board[0], "000000", 0.3)
    chips = (
        (12, 16, 28, 14),
        (72, 44, 32, 32),
        (20, 78, 18, 22),
        (100, 96, 24, 12),
        (56, 104, 22, 11),
    )
    for x, y, wide, tall in chips:
        _chip(canvas, x, y, wide, tall, (body, "b8bcc4", ink))
    canvas.rect(82, 54, 12, 12, glow[0])
    canvas.rect(83, 55, 11, 11, mix(glow[0], body, 0.4))
    for x, y in scatter(rng, 12, 15, 6, 120):
        canvas.rect(x, y, 6, 3, "d8b890")
        canvas.rect(x, y, 1, 3, "c0c4cc")
        canvas.rect(x + 5, y, 1, 3, "c0c4cc")
        canvas.rect(x + 2, y, 1, 3, ("b04c3c", "3c5cb0", "54803c")[x % 3])
    for x, y in ((52, 22), (112, 24), (8, 112)):
        canvas.disc(x, y + 1, 6, darker(board[0], 0.4))
        canvas.disc(x, y, 6, "b4bac4")
        canvas.disc(x, y, 4, "8890a0")
        canvas.rect(x - 3, y, 7, 1, "5c6474")


def _glowing(canvas: Canvas, rng: np.random.Generator, tones: tuple) -> None:
    """Light traces on a dark board around a bright core."""
    board, trace, glow = tones
    canvas.gradient([board[0], board[1], board[2], board[1], board[0]], strength=0.9)
    for x, y in scatter(rng, 44, 11, 4, 124):
        pair = trace if rng.random() < 0.75 else [mix(glow[0], board[0], 0.45), glow[0]]
        _trace(canvas, rng, x, y, [pair[0], pair[1], board[0]], 18)
    for x, y, half in ((40, 46, 15), (104, 88, 11)):
        halo = np.maximum(np.abs(span(x)), np.abs(ROWS - y))
        canvas.paint((halo <= half + 6) & ((ROWS + COLS) % 2 == 0), trace[0])
        canvas.paint(halo <= half, board[0])
        canvas.paint((halo == half) | (halo == half - 3), trace[1])
        canvas.paint((halo <= half - 6) & ((ROWS + COLS) % 2 == 0), glow[0])
        canvas.paint(halo <= half - 9, glow[1])


def _racks(canvas: Canvas, rng: np.random.Generator, tones: tuple) -> None:
    """Server cabinets with vents, drives and lamps."""
    board, trace, glow = tones
    for x in range(0, SIZE, 32):
        canvas.rect(x, 0, 32, SIZE, board[0])
        canvas.rect(x + 2, 0, 28, SIZE, board[1])
        y = -int(rng.integers(0, 8))
        while y < SIZE:
            tall = int(rng.choice([7, 11, 15]))
            canvas.rect(x + 3, y, 26, tall, board[2])
            canvas.rect(x + 3, y, 26, 1, trace[0])
            canvas.rect(x + 3, y + tall - 1, 26, 1, board[0])
            if tall == 7:
                for left in range(x + 5, x + 20, 2):
                    canvas.rect(left, y + 2, 1, 3, board[0])
            elif tall == 11:
                for left in range(x + 5, x + 21, 4):
                    canvas.rect(left, y + 2, 3, 7, trace[0])
                    canvas.rect(left, y + 2, 3, 1, trace[1])
                    canvas.dot(left + 1, y + 7, glow[0] if rng.random() < 0.6 else board[0])
            else:
                canvas.rect(x + 5, y + 3, 15, 9, board[0])
                level = int(rng.integers(2, 14))
                for row in range(3):
                    run = max(1, (level * (row + 2)) % 14)
                    canvas.rect(x + 6, y + 4 + 3 * row, run, 1, mix(glow[0], board[0], 0.35))
            for k in range(3):
                lamp = rng.random()
                tone = glow[0] if lamp < 0.5 else glow[1] if lamp < 0.68 else board[0]
                canvas.rect(x + 22 + 2 * k, y + tall // 2, 1, 1, tone)
            y += tall
        canvas.rect(x + 31, 0, 1, SIZE, "0a0c10")
    for x in (14, 78):
        for k, tone in enumerate(ramp("4c7cc8 c85c4c c8a84c")):
            sway = 3 * sine(ROWS[:, 0] / SIZE * 2 + 0.2 * k)
            for y in range(SIZE):
                canvas.dot(x + 15 + 2 * k + int(np.floor(sway[y])), y, tone)


def _glyphfall(canvas: Canvas, rng: np.random.Generator, tones: tuple) -> None:
    """Columns of falling signs that brighten towards their heads."""
    board, trace, glow = tones
    canvas.gradient(board[:2], strength=1.0)
    for x in range(0, SIZE, 4):
        head = int(rng.integers(2, 24))
        tail = int(rng.integers(6, 18))
        for k in range(tail):
            row = (head - k) * 6
            if not 0 <= row < SIZE:
                continue
            share = k / tail
            tone = glow[0] if k == 0 else mix(trace[1], trace[0], min(1, share * 2))
            tone = tone if share < 0.6 else mix(trace[0], board[1], (share - 0.6) * 1.8)
            sign = GLYPHS[int(rng.integers(0, len(GLYPHS)))]
            canvas.stamp(x, row, sign, {"#": tone})


def _hexes(canvas: Canvas, rng: np.random.Generator, tones: tuple) -> None:
    """Hexagonal plates, some of them lit, with a glowing gap between."""
    board, trace, glow = tones
    best = np.full((SIZE, SIZE), 1e9)
    owner = np.zeros((SIZE, SIZE), dtype=int)
    number = 0
    for row in range(-1, 10):
        for col in range(8):
            x, y = col * 16 + 8 * (row % 2), row * 14.0
            a, b = np.abs(span(x)), np.abs(ROWS - y)
            reach = np.round(np.maximum(a, a * 0.5 + b * 0.875), 6)
            closer = reach < best
            best, owner = np.where(closer, reach, best), np.where(closer, number, owner)
            number += 1
    level = rng.integers(0, 8, number)[owner]
    canvas.paint(ROWS >= 0, board[0])
    lit = [mix(board[2], trace[0], share) for share in (0.35, 0.7, 1.0)]
    tints = [board[1], board[1], board[2], board[2], *lit, mix(trace[0], trace[1], 0.4)]
    for k, tone in enumerate(tints):
        plate = (level == k) & (best < 7.2)
        canvas.paint(plate, tone)
        canvas.paint(plate & (best > 5.6) & (np.roll(best, 1, 0) > best), darker(tone, 0.25))
        canvas.paint(plate & (best > 5.6) & (np.roll(best, -1, 0) > best), lighter(tone, 0.12))
    canvas.paint((level == 7) & (best < 2.5), glow[0])
    canvas.paint((best >= 7.2) & np.isin(level, (6, 7)), trace[1])


def _holo(canvas: Canvas, rng: np.random.Generator, tones: tuple) -> None:
    """Read-outs on a grid: rings, bars, a curve and scan lines."""
    board, trace, glow = tones
    canvas.gradient([board[0], board[2], board[0]], strength=0.9)
    canvas.paint((ROWS % 16 == 0) | (COLS % 16 == 0), mix(board[2], trace[0], 0.35))
    for x, y, radius in ((36, 44, 24), (100, 82, 18)):
        reach = np.sqrt(span(x) ** 2 + (ROWS - y) ** 2)
        for k, share in enumerate((1.0, 0.72, 0.42)):
            ring = np.abs(np.round(reach, 5) - radius * share) < 0.7 + (k == 1)
            gap = (span(x) * (1 if k else -1) > radius * 0.3) & (y > ROWS)
            canvas.paint(ring & ~(gap & (k < 2)), trace[1] if k != 1 else trace[0])
        canvas.paint((reach < radius * 0.9) & (np.abs(span(x)) < 1), trace[0])
        canvas.paint((reach < radius * 0.9) & (np.abs(ROWS - y) < 1), trace[0])
        canvas.disc(x + radius * 0.3, y - radius * 0.4, 2, glow[0])
        canvas.disc(x - radius * 0.5, y + radius * 0.1, 1, glow[0])
    for k in range(9):
        tall = int(rng.integers(6, 30))
        for y in range(0, tall, 3):
            tone = glow[0] if y > 21 else trace[1] if y > 9 else trace[0]
            canvas.rect(74 + 5 * k, 44 - y, 4, 2, tone)
    x = np.arange(SIZE)
    curve = 106 + 6 * sine(3 * x / SIZE) + 4 * sine(7 * x / SIZE + 0.2)
    for k in x:
        canvas.rect(int(k), int(curve[k]), 1, 2, trace[1])
        if k % 2 == 0:
            canvas.paint(box(int(k), int(curve[k]) + 3, 1, 30) & (ROWS % 2 == 0), trace[0])
    for row in range(5):
        canvas.rect(6, 76 + 4 * row, int(rng.integers(8, 34)), 2, trace[0])
        canvas.rect(2, 76 + 4 * row, 2, 2, glow[0])


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight electronic scenes."""
    tones = tuple(ramp(words) for words in PALETTES[member])
    canvas = Canvas()
    if member in (0, 7):
        _board(canvas, rng, tones, True)
    elif member in (1, 5):
        _glowing(canvas, rng, tones)
        if member == 5:
            for x in spots(rng, 3, 0.4):
                y = int(rng.integers(20, 104))
                canvas.paint(disc(x, y, 9) & ((ROWS + COLS) % 2 == 0), tones[1][0])
                canvas.disc(x, y, 3, tones[2][0])
    elif member == 2:
        _racks(canvas, rng, tones)
    elif member == 3:
        _glyphfall(canvas, rng, tones)
    elif member == 4:
        _hexes(canvas, rng, tones)
    else:
        _holo(canvas, rng, tones)
    return canvas
