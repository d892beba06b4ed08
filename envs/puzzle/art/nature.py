"""Picture families from nature: landscapes, the sea, flowers, maps of islands, planets."""

from __future__ import annotations

import math

import numpy as np

from envs.puzzle.art.canvas import Canvas, Dice, hsv, mix

_SKIES = (
    (hsv(0.58, 0.75, 0.85), hsv(0.55, 0.35, 0.97)),  # day
    (hsv(0.72, 0.55, 0.45), hsv(0.95, 0.5, 0.85), hsv(0.1, 0.6, 1.0)),  # dusk
    (hsv(0.63, 0.8, 0.18), hsv(0.6, 0.65, 0.45)),  # night
    (hsv(0.5, 0.3, 0.9), hsv(0.13, 0.35, 1.0)),  # morning
    (hsv(0.8, 0.35, 0.7), hsv(0.04, 0.45, 1.0)),  # pink
)


def landscape(c: Canvas, dice: Dice) -> None:
    sky = dice.pick(_SKIES)
    horizon = dice.between(0.42, 0.62)
    c.shade(c.y / horizon, sky)
    x, y, size = dice.between(0.12, 0.88), dice.between(0.08, 0.3), dice.between(0.05, 0.1)
    sun = dice.pick((hsv(0.14, 0.5, 1.0), hsv(0.1, 0.2, 1.0), hsv(0.04, 0.6, 1.0)))
    c.glow(c.disc(x, y, size), sun, 0.1, 0.6)
    c.paint(c.disc(x, y, size), sun)
    for _ in range(dice.whole(1, 3)):
        _cloud(c, dice, dice.between(0.1, 0.9), dice.between(0.08, 0.34))
    hue, layers = dice.between(0.2, 0.75), dice.whole(2, 4)
    for layer in range(layers):
        near = (layer + 1) / layers
        color = mix(sky[-1], hsv(hue, 0.55, 0.4), 0.25 + 0.65 * near)
        top = horizon - 0.2 + 0.24 * near
        hill = c.ridge(dice, top, 0.5 - 0.25 * near, dice.between(4, 9))
        c.shade((c.y - top) * 2.5, (mix(color, (1, 1, 1), 0.15), mix(color, (0, 0, 0), 0.25)), hill)
    if dice.chance(0.45):
        _lake(c, dice, dice.between(0.66, 0.74), sky)
    else:
        _meadow(c, dice, dice.between(0.62, 0.7))
    for _ in range(dice.whole(2, 5)):
        _tree(c, dice, dice.between(0.05, 0.95), dice.between(0.74, 0.97))
    if dice.chance(0.5):
        _house(c, dice, dice.between(0.2, 0.8), dice.between(0.76, 0.86))


def _cloud(c: Canvas, dice: Dice, x: float, y: float) -> None:
    for _ in range(5):
        blob = c.oval(
            x + dice.between(-0.11, 0.11), y + dice.between(-0.02, 0.02),
            dice.between(0.05, 0.1), dice.between(0.02, 0.04),
        )  # fmt: skip
        c.paint(blob, (1, 1, 1), 0.55)


def _lake(c: Canvas, dice: Dice, top: float, sky) -> None:
    water = c.ridge(dice, top, 0.03)
    c.shade(
        (c.y - top) / (1 - top), (mix(sky[-1], sky[0], 0.3), mix(sky[0], (0, 0, 0.2), 0.4)), water
    )
    for _ in range(6):
        x, y = dice.between(0, 1), dice.between(top + 0.05, 0.98)
        c.paint(c.oval(x, y, dice.between(0.06, 0.2), 0.006), (1, 1, 1), 0.4)


def _meadow(c: Canvas, dice: Dice, top: float) -> None:
    hue = dice.between(0.12, 0.36)
    ground = c.ridge(dice, top, 0.08)
    c.shade((c.y - top) / (1 - top), (hsv(hue, 0.5, 0.75), hsv(hue + 0.04, 0.7, 0.4)), ground)
    if dice.chance(0.6):  # a path that narrows towards the horizon
        lean, wide = dice.between(-0.3, 0.3), dice.between(0.05, 0.12)
        middle = 0.5 + lean * (c.y - 0.6) * 2
        path = abs(c.x - middle) - wide * np.maximum(c.y - top, 0) * 2.5
        c.paint(np.maximum(path, top + 0.04 - c.y), hsv(0.1, 0.35, 0.8))


def _tree(c: Canvas, dice: Dice, x: float, foot: float) -> None:
    size = 0.28 * (foot - 0.55)
    green = hsv(dice.between(0.22, 0.42), dice.between(0.5, 0.8), dice.between(0.3, 0.6))
    c.paint(c.box(x, foot - size * 0.3, size * 0.12, size * 0.5), hsv(0.07, 0.6, 0.35))
    if dice.chance(0.5):
        for level in range(3):
            low, half = foot - size * (0.5 + 0.7 * level), size * (0.8 - 0.18 * level)
            crown = c.polygon((x - half, low), (x, low - size * 1.2), (x + half, low))
            c.paint(crown, mix(green, (1, 1, 1), 0.08 * level))
    else:
        c.paint(c.disc(x, foot - size * 1.5, size), green)
        c.paint(c.disc(x - size * 0.3, foot - size * 1.8, size * 0.5), mix(green, (1, 1, 1), 0.2))


def _house(c: Canvas, dice: Dice, x: float, foot: float) -> None:
    size = dice.between(0.06, 0.09)
    wall = hsv(dice.between(0, 1), dice.between(0.1, 0.4), 0.95)
    roof = hsv(dice.pick((0.0, 0.04, 0.6)), 0.7, 0.6)
    c.paint(c.box(x, foot - size * 0.7, size, size * 0.7), wall)
    top = foot - size * 1.35
    c.paint(c.polygon((x - size * 1.25, top), (x, top - size), (x + size * 1.25, top)), roof)
    c.paint(c.box(x - size * 0.4, foot - size * 0.45, size * 0.2, size * 0.45), hsv(0.08, 0.6, 0.4))
    c.paint(c.box(x + size * 0.45, foot - size * 0.8, size * 0.22, size * 0.22), hsv(0.15, 0.5, 1))


def sea(c: Canvas, dice: Dice) -> None:
    hue = dice.between(0.47, 0.64)
    c.shade(c.y, (hsv(hue - 0.05, 0.45, 0.95), hsv(hue, 0.75, 0.65), hsv(hue + 0.05, 0.85, 0.3)))
    source = dice.between(0.0, 1.0)
    rays = np.sin((c.x - source) / (c.y + 0.4) * dice.between(9, 16))
    c.pixels += 0.09 * np.maximum(rays, 0)[..., None] * (1 - c.y)[..., None]
    floor = c.ridge(dice, dice.between(0.82, 0.9), 0.1)
    c.shade((c.y - 0.8) * 5, (hsv(0.12, 0.35, 0.9), hsv(0.1, 0.5, 0.6)), floor)
    for _ in range(dice.whole(2, 5)):
        _weed(c, dice, dice.between(0.05, 0.95))
    for place in range(dice.whole(3, 5)):
        _fish(c, dice, dice.between(0.15, 0.85), 0.18 + 0.16 * place, dice.between(0.06, 0.15))
    if dice.chance(0.5):
        _star_fish(c, dice, dice.between(0.1, 0.9))
    x = dice.between(0.1, 0.9)
    for step in range(5):
        bubble = c.disc(x + dice.between(-0.03, 0.03), 0.8 - 0.15 * step, dice.between(0.012, 0.03))
        c.paint(abs(bubble) - 0.004, (1, 1, 1), 0.8)


def _weed(c: Canvas, dice: Dice, x: float) -> None:
    tall, phase = dice.between(0.2, 0.5), dice.between(0, 6.3)
    middle = x + 0.03 * np.sin(c.y * 18 + phase)
    color = hsv(dice.pick((0.3, 0.36, 0.42, 0.95)), 0.7, dice.between(0.35, 0.65))
    c.paint(np.maximum(abs(c.x - middle) - 0.018, 0.92 - tall - c.y), color)


def _fish(c: Canvas, dice: Dice, x: float, y: float, size: float) -> None:
    hue, side = dice.between(0, 1), dice.pick((-1, 1))
    body, stripe = hsv(hue, 0.75, 0.95), hsv(hue + dice.pick((0.1, 0.5)), 0.6, 0.95)
    tail = x - side * size * 1.25
    corners = (
        (tail, y),
        (x - side * size * 1.9, y - size * 0.6),
        (x - side * size * 1.9, y + size * 0.6),
    )
    inner = (x - side * size * 0.7, y)
    shape = (inner, corners[1], corners[2])
    c.paint(c.polygon(*(shape[::-1] if side > 0 else shape)), stripe)
    outline = c.oval(x, y, size * 1.1, size * 0.62)
    c.shade(
        (c.y - y) / size + 0.5,
        (mix(body, (1, 1, 1), 0.35), body, mix(body, (0, 0, 0), 0.3)),
        outline,
    )
    if dice.chance(0.6):
        bands = abs(((c.x - x) / size * 1.4) % 1.0 - 0.5) - 0.2
        c.paint(np.maximum(outline, bands * size * 0.7), stripe)
    eye = (x + side * size * 0.65, y - size * 0.12)
    c.paint(c.disc(*eye, size * 0.17), (1, 1, 1))
    c.paint(c.disc(eye[0] + side * size * 0.05, eye[1], size * 0.09), (0, 0, 0.1))


def _star_fish(c: Canvas, dice: Dice, x: float) -> None:
    star = c.petals(x, 0.92, dice.between(0.05, 0.08), 5, 0.4, dice.between(0, 6))
    c.paint(star, hsv(dice.between(0.0, 0.1), 0.75, 0.95))


def flowers(c: Canvas, dice: Dice) -> None:
    wall, table = dice.between(0, 1), dice.between(0.72, 0.82)
    pale = hsv(wall, dice.between(0.2, 0.5), dice.between(0.75, 0.95))
    c.shade(0.5 * c.x + 0.5 * c.y, (mix(pale, (1, 1, 1), 0.5), pale, mix(pale, (0, 0, 0), 0.35)))
    cloth = hsv(wall + dice.pick((0.33, 0.5, 0.6)), 0.5, 0.6)
    c.shade(c.x, (cloth, mix(cloth, (0, 0, 0), 0.4)), table - c.y)
    x, wide = dice.between(0.38, 0.62), dice.between(0.1, 0.16)
    vase = hsv(dice.between(0, 1), 0.6, 0.8)
    heads = []
    for place in range(dice.whole(3, 6)):
        heads.append((0.12 + 0.17 * place + dice.between(-0.05, 0.05), dice.between(0.14, 0.42)))
        c.paint(c.line((x, 0.62), heads[-1], 0.009), hsv(0.33, 0.7, 0.4))
    for place, y in heads:
        leaf = mix((x, 0.62, 0), (place, y, 0), 0.55)
        c.paint(c.oval(leaf[0], leaf[1], 0.06, 0.022, dice.between(-1, 1)), hsv(0.3, 0.6, 0.55))
        _blossom(c, dice, place, y)
    body = c.oval(x, table - 0.08, wide, 0.2)
    neck = c.box(x, table - 0.24, wide * 0.55, 0.08, round_by=0.02)
    outline = np.maximum(np.minimum(body, neck), c.y - table - 0.07)
    tones = (mix(vase, (1, 1, 1), 0.55), vase, mix(vase, (0, 0, 0), 0.45))
    c.shade((c.x - x) / wide * 0.5 + 0.5, tones, outline)
    band = abs(c.y - (table - dice.between(0.0, 0.12))) - 0.018
    c.paint(np.maximum(outline, band), mix(vase, (1, 1, 1), 0.7))
    if dice.chance(0.6):
        fruit = hsv(dice.pick((0.0, 0.08, 0.14, 0.25)), 0.8, 0.9)
        spot = dice.pick((x - 0.3, x + 0.3))
        c.shade(
            (c.x - spot) * 6 + 0.5,
            (mix(fruit, (1, 1, 1), 0.4), fruit),
            c.disc(spot, table + 0.03, 0.07),
        )


def _blossom(c: Canvas, dice: Dice, x: float, y: float) -> None:
    size, hue = dice.between(0.07, 0.12), dice.between(0, 1)
    count, turn = dice.whole(5, 9), dice.between(0, 1)
    color = hsv(hue, dice.between(0.4, 0.8), 0.95)
    c.paint(c.petals(x, y, size, count, 0.3, turn), mix(color, (0, 0, 0), 0.25))
    c.paint(c.petals(x, y, size * 0.8, count, 0.3, turn), color)
    c.paint(c.disc(x, y, size * 0.33), hsv(dice.pick((0.1, 0.14, 0.06)), 0.8, 0.9))


def islands(c: Canvas, dice: Dice) -> None:
    height = c.waves(dice, 14, 0.7, 3.2)
    middle = np.hypot(c.x - dice.between(0.3, 0.7), c.y - dice.between(0.3, 0.7))
    height = height + 1.1 - 2.4 * middle
    dry = dice.chance(0.3)
    land = (0.12, 0.1) if dry else (dice.between(0.22, 0.36), 0.12)
    levels = (
        (-9.0, hsv(0.62, 0.8, 0.4)), (-0.9, hsv(0.59, 0.7, 0.6)), (-0.3, hsv(0.54, 0.5, 0.8)),
        (0.0, hsv(0.13, 0.35, 0.95)), (0.15, hsv(land[0], 0.5, 0.75)),
        (0.7, hsv(land[0], 0.6, 0.5)), (1.2, hsv(land[1], 0.45, 0.55)),
        (1.75, hsv(0.08, 0.15, 0.75)), (2.2, (1, 1, 1)),
    )  # fmt: skip
    steep = 0.12 * c.edge * 84
    for level, color in levels:
        c.paint((level - height) * steep, color)
    slope = np.gradient(height, axis=1) + np.gradient(height, axis=0)
    c.pixels *= (1.0 - np.clip(slope * (height > 0) / c.edge / 84, -0.25, 0.25))[..., None]
    c.pixels *= (1.06 - 0.25 * c.y)[..., None]  # evening from the south
    _compass(c, dice)
    start = (dice.between(0.1, 0.4), dice.between(0.1, 0.9))
    end = (dice.between(0.6, 0.9), dice.between(0.1, 0.9))
    along = np.hypot(c.x - start[0], c.y - start[1]) % 0.08 - 0.045
    c.paint(np.maximum(c.line(start, end, 0.007), along), hsv(0.0, 0.8, 0.75))
    for turn in (0.785, -0.785):
        c.paint(c.box(*end, 0.04, 0.009, turn), hsv(0.0, 0.85, 0.7))


def _compass(c: Canvas, dice: Dice) -> None:
    x, y = dice.pick((0.13, 0.87)), dice.pick((0.13, 0.87))
    c.paint(c.disc(x, y, 0.1), hsv(0.12, 0.15, 0.95), 0.75)
    c.paint(abs(c.disc(x, y, 0.09)) - 0.004, hsv(0.08, 0.5, 0.3))
    for points, color in ((4, hsv(0.0, 0.7, 0.65)),):
        c.paint(c.petals(x, y, 0.045, points, 0.7, 0.0), color)


def planets(c: Canvas, dice: Dice) -> None:
    hue = dice.between(0.55, 0.95)
    tones = (hsv(hue, 0.8, 0.12), hsv(hue + 0.1, 0.7, 0.3), hsv(hue + 0.2, 0.6, 0.18))
    c.shade(c.x * dice.between(0.2, 0.6) + c.y * dice.between(0.2, 0.6), tones)
    cloud = np.clip(c.waves(dice, 8, 0.6, 2.5), 0, 2)
    c.pixels += 0.12 * cloud[..., None] * np.array(hsv(hue + 0.35, 0.6, 1.0))
    for _ in range(28):
        star = c.disc(dice.between(0, 1), dice.between(0, 1), dice.between(0.003, 0.01))
        c.paint(star, (1, 1, 0.9), dice.between(0.5, 1))
    x, y, size = dice.between(0.3, 0.7), dice.between(0.35, 0.65), dice.between(0.2, 0.32)
    _ball(c, dice, x, y, size, banded=True)
    if dice.chance(0.55):
        _ring(c, dice, x, y, size)
    for _ in range(dice.whole(2, 4)):
        turn = dice.between(0, 2 * math.pi)
        far = dice.between(0.38, 0.5)
        _ball(c, dice, x + far * math.cos(turn), y + far * math.sin(turn), dice.between(0.03, 0.08))
    if dice.chance(0.6):
        _comet(c, dice)


def _ball(c: Canvas, dice: Dice, x: float, y: float, size: float, banded: bool = False) -> None:
    hue = dice.between(0, 1)
    color, other = hsv(hue, 0.6, 0.95), hsv(hue + dice.pick((0.06, 0.45)), 0.55, 0.8)
    outline = c.disc(x, y, size)
    if banded:
        u, v = c.local(x, y, dice.between(-0.6, 0.6))
        bands = np.sin(v / size * dice.between(5, 11) + 0.6 * np.sin(u / size * 3))
        c.shade(bands * 0.5 + 0.5, (color, mix(color, other, 0.5), other), outline)
        spot = c.oval(x + dice.between(-0.4, 0.4) * size, y + 0.35 * size, size * 0.25, size * 0.14)
        c.paint(np.maximum(spot, outline), mix(other, (1, 1, 1), 0.3))
    else:
        c.paint(outline, color)
    light = np.hypot(c.x - x + size * 0.45, c.y - y + size * 0.45) / size
    c.paint(outline, (0, 0, 0.05), np.clip(light * 0.55 - 0.3, 0, 0.85))


def _ring(c: Canvas, dice: Dice, x: float, y: float, size: float) -> None:
    turn, color = dice.between(-0.6, 0.6), hsv(dice.between(0, 1), 0.35, 0.95)
    u, v = c.local(x, y, turn)
    around = np.hypot(u / size, v / size / 0.28)
    ring = abs(around - 1.6) * size * 0.28 - size * 0.06
    behind = np.where(v < 0, -c.disc(x, y, size), -1.0)
    c.paint(np.maximum(ring, behind), color, 0.9)


def _comet(c: Canvas, dice: Dice) -> None:
    x, y, turn = dice.between(0.1, 0.9), dice.between(0.06, 0.2), dice.between(-0.5, 0.5)
    end = (x + 0.25 * math.cos(turn), y + 0.25 * math.sin(turn))
    for width, share in ((0.02, 0.4), (0.012, 0.7), (0.006, 1.0)):
        c.paint(c.line((x, y), mix((x, y, 0), (*end, 0), share)[:2], width), (0.8, 0.95, 1), 0.5)
    c.paint(c.disc(x, y, 0.025), (1, 1, 1))
