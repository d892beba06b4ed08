"""Picture families made by and of people: portraits, cities, abstract shapes, mandalas, quilts."""

from __future__ import annotations

import math

import numpy as np

from envs.puzzle.art.canvas import Canvas, Dice, hsv, mix

_SKIN = (
    hsv(0.07, 0.25, 1.0), hsv(0.07, 0.4, 0.92), hsv(0.06, 0.5, 0.75), hsv(0.06, 0.55, 0.55),
    hsv(0.05, 0.6, 0.4),
)  # fmt: skip
_HAIR = (
    hsv(0.08, 0.7, 0.2), hsv(0.07, 0.65, 0.45), hsv(0.12, 0.6, 0.9), hsv(0.03, 0.75, 0.6),
    hsv(0.0, 0.0, 0.12), hsv(0.0, 0.0, 0.75), hsv(0.85, 0.5, 0.75), hsv(0.5, 0.6, 0.7),
)  # fmt: skip
_DARK = (0.08, 0.06, 0.1)


def portrait(c: Canvas, dice: Dice) -> None:
    hue = dice.between(0, 1)
    back = (hsv(hue, 0.45, 0.95), hsv(hue + 0.08, 0.55, 0.75), hsv(hue + 0.16, 0.65, 0.4))
    turn = dice.between(0, math.pi)
    c.shade(0.5 + (c.x - 0.5) * math.cos(turn) * 0.7 + (c.y - 0.5) * math.sin(turn) * 0.7, back)
    sun = c.disc(dice.pick((0.15, 0.85)), dice.between(0.12, 0.3), dice.between(0.07, 0.14))
    c.paint(sun, hsv(hue + dice.pick((0.3, 0.5)), 0.35, 1.0), 0.8)
    x, y = dice.between(0.42, 0.58), dice.between(0.42, 0.5)
    wide, high = dice.between(0.17, 0.22), dice.between(0.23, 0.27)
    skin, hair = dice.pick(_SKIN), dice.pick(_HAIR)
    style = dice.pick(("short", "long", "bun", "curly", "bald", "bob"))
    _hair_behind(c, dice, style, (x, y, wide, high), hair)
    _clothes(c, dice, x, y + high, skin)
    face = c.oval(x, y, wide, high)
    for side in (-1, 1):
        c.paint(c.oval(x + side * wide, y + 0.02, 0.035, 0.055), mix(skin, (0, 0, 0), 0.12))
    c.shade(
        (c.x - x) / wide * 0.5 + 0.5,
        (mix(skin, (1, 1, 1), 0.2), skin, mix(skin, (0, 0, 0), 0.25)),
        face,
    )
    _face(c, dice, (x, y, wide, high), skin, hair)
    _hair_before(c, dice, style, (x, y, wide, high), hair)
    if dice.chance(0.3):
        _hat(c, dice, x, y - high * 0.62, wide)


def _hair_behind(c: Canvas, dice: Dice, style: str, head: tuple, hair) -> None:
    x, y, wide, high = head
    if style in ("long", "bob"):
        down = dice.between(0.3, 0.4) if style == "long" else 0.16
        c.paint(
            c.box(x, y + down / 2, wide * 1.3, high * 0.7 + down / 2, round_by=0.12),
            mix(hair, _DARK, 0.25),
        )
    if style == "bun":
        c.paint(c.disc(x + dice.between(-0.06, 0.06), y - high * 1.2, 0.085), hair)
    if style == "curly":
        for step in range(11):
            turn = math.pi * (0.9 + 1.2 * step / 10)
            c.paint(c.disc(x + wide * 1.1 * math.cos(turn), y + high * math.sin(turn), 0.085), hair)


def _hair_before(c: Canvas, dice: Dice, style: str, head: tuple, hair) -> None:
    x, y, wide, high = head
    if style == "bald":
        return
    cap = c.oval(x, y - high * 0.12, wide * 1.1, high * 1.02)
    part = x + dice.between(-0.08, 0.08)
    line = y - high * 0.52 + 1.1 * np.abs(c.x - part) ** 1.6
    c.paint(np.maximum(cap, c.y - line), hair)


def _clothes(c: Canvas, dice: Dice, x: float, chin: float, skin) -> None:
    cloth = hsv(dice.between(0, 1), dice.between(0.4, 0.8), dice.between(0.4, 0.9))
    shoulders = c.oval(x, 1.08, dice.between(0.36, 0.46), 1.08 - chin - 0.02)
    c.shade(
        (c.x - x) + 0.5, (mix(cloth, (1, 1, 1), 0.25), cloth, mix(cloth, (0, 0, 0), 0.4)), shoulders
    )
    kind = dice.pick(("stripes", "buttons", "plain"))
    other = hsv(dice.between(0, 1), 0.4, 0.95)
    if kind == "stripes":
        c.paint(np.maximum(shoulders, abs((c.y * 14) % 1 - 0.5) * 0.08 - 0.018), other)
    c.paint(c.box(x, chin + 0.0, 0.075, 0.1, round_by=0.03), mix(skin, (0, 0, 0), 0.18))
    c.paint(
        np.maximum(c.disc(x, chin + 0.06, 0.1), -(c.y - chin - 0.03)), mix(skin, (0, 0, 0), 0.1)
    )
    if kind == "buttons":
        for step in range(3):
            c.paint(c.disc(x, chin + 0.17 + 0.06 * step, 0.014), other)


def _face(c: Canvas, dice: Dice, head: tuple, skin, hair) -> None:
    x, y, wide, high = head
    apart, iris = wide * dice.between(0.4, 0.5), hsv(dice.pick((0.08, 0.3, 0.55, 0.6)), 0.7, 0.5)
    for side in (-1, 1):
        eye = (x + side * apart, y - 0.02)
        c.paint(c.oval(*eye, 0.042, 0.028), (1, 1, 1))
        c.paint(c.disc(eye[0] + 0.004, eye[1], 0.024), iris)
        c.paint(c.disc(eye[0] + 0.004, eye[1], 0.011), _DARK)
        brow = (eye[0], eye[1] - 0.055)
        c.paint(
            c.box(*brow, 0.045, 0.009, side * dice.between(-0.1, 0.25), 0.008),
            mix(hair, _DARK, 0.4),
        )
        c.paint(c.oval(x + side * apart * 1.15, y + 0.09, 0.04, 0.028), hsv(0.99, 0.5, 0.95), 0.35)
    c.paint(c.line((x, y), (x + 0.015, y + 0.065), 0.009), mix(skin, (0, 0, 0), 0.3))
    smile = dice.between(-0.02, 0.05)
    mouth = abs(c.y - (y + 0.14 + smile * (1 - ((c.x - x) / 0.08) ** 2))) - 0.012
    c.paint(np.maximum(mouth, abs(c.x - x) - 0.075), hsv(0.98, 0.6, 0.7))
    if dice.chance(0.35):  # glasses
        for side in (-1, 1):
            c.paint(abs(c.disc(x + side * apart, y - 0.02, 0.062)) - 0.008, _DARK)
        c.paint(c.box(x, y - 0.02, max(apart - 0.06, 0.005), 0.007), _DARK)
    elif dice.chance(0.3):  # a beard
        jaw = np.maximum(c.oval(x, y, wide, high * 1.04), y + 0.1 - c.y + abs(c.x - x) * -0.3)
        c.paint(np.maximum(jaw, -(c.oval(x, y + 0.14, 0.07, 0.03))), hair, 0.92)


def _hat(c: Canvas, dice: Dice, x: float, y: float, wide: float) -> None:
    color = hsv(dice.between(0, 1), 0.7, 0.7)
    high = dice.between(0.08, 0.13)
    c.paint(c.box(x, y - high, wide * 0.95, high, round_by=0.05), color)
    c.paint(c.box(x, y - 0.02, wide * 0.96, 0.025), mix(color, (0, 0, 0), 0.5))
    c.paint(c.oval(x, y + 0.01, wide * dice.between(1.3, 1.7), 0.03), mix(color, (1, 1, 1), 0.15))


def city(c: Canvas, dice: Dice) -> None:
    night = dice.chance(0.6)
    hue = dice.between(0.55, 0.75) if night else dice.between(0.5, 0.62)
    if night:
        sky = (
            hsv(hue, 0.8, 0.2),
            hsv(hue + 0.12, 0.6, 0.45),
            hsv(dice.between(0.95, 1.1), 0.55, 0.9),
        )
    else:
        sky = (hsv(hue, 0.6, 0.95), hsv(hue, 0.25, 1.0), hsv(0.12, 0.2, 1.0))
    ground = dice.between(0.76, 0.86)
    c.shade(c.y / ground, sky)
    x, y = dice.between(0.15, 0.85), dice.between(0.12, 0.28)
    c.glow(c.disc(x, y, 0.07), (1, 0.95, 0.8), 0.08, 0.5)
    c.paint(c.disc(x, y, dice.between(0.05, 0.09)), (1, 0.97, 0.85))
    for near in (0, 1, 2):
        color = mix(
            sky[1],
            hsv(hue + dice.between(-0.1, 0.1), 0.5, 0.12 if night else 0.45),
            0.35 + 0.3 * near,
        )
        _row_of_houses(c, dice, ground, near, color, night)
    if dice.chance(0.5):
        c.shade(
            (c.y - ground) / (1 - ground), (mix(sky[-1], (0, 0, 0.1), 0.35), sky[0]), ground - c.y
        )
        for _ in range(9):
            spot = c.oval(
                dice.between(0, 1), dice.between(ground + 0.03, 1), dice.between(0.03, 0.12), 0.006
            )
            c.paint(spot, hsv(0.13, 0.4, 1), 0.5)
    else:
        c.paint(ground - c.y, hsv(0.65, 0.15, 0.25))
        marks = np.maximum(abs(c.y - ground - 0.1) - 0.012, abs((c.x * 5) % 1 - 0.5) * 0.2 - 0.05)
        c.paint(marks, (0.95, 0.9, 0.6))
        _bus(c, dice, dice.between(0.15, 0.85), ground + 0.06)


def _row_of_houses(c: Canvas, dice: Dice, ground: float, near: int, color, night: bool) -> None:
    x = dice.between(-0.1, 0.0)
    while x < 1.0:
        wide, tall = dice.between(0.08, 0.18), dice.between(0.2, 0.62) * (1 - 0.22 * near)
        strip = c.columns(x - 0.02, x + wide + 0.02)
        tint = mix(color, hsv(dice.between(0, 1), 0.6, 0.6), 0.12 + 0.13 * near)
        _house(strip, dice, (x, ground - tall, wide, tall), tint, (near > 0, night))
        x += wide + dice.between(0.0, 0.03)


def _house(c: Canvas, dice: Dice, place: tuple, tint, windows: tuple[bool, bool]) -> None:
    x, top, wide, tall = place
    middle = x + wide / 2
    wall = c.box(middle, top + tall / 2, wide / 2, tall / 2)
    c.shade((c.x - x) / wide, (mix(tint, (1, 1, 1), 0.15), mix(tint, (0, 0, 0), 0.2)), wall)
    roof = dice.pick(("flat", "point", "mast"))
    if roof == "point":
        c.paint(c.polygon((x, top), (middle, top - wide * 0.6), (x + wide, top)), tint)
    elif roof == "mast":
        c.paint(c.line((middle, top), (middle, top - 0.1), 0.006), tint)
    has_windows, night = windows
    if has_windows:
        u, v = (c.x - x) / wide * 4, (c.y - top) / 0.065
        panes = np.maximum(abs(u % 1 - 0.5) - 0.26, abs(v % 1 - 0.5) - 0.26) * 0.05
        lit = np.sin(np.floor(u) * 12.9 + np.floor(v) * 78.2 + x * 50)
        glass = hsv(0.14, 0.5, 1.0) if night else hsv(0.55, 0.3, 0.95)
        c.paint(np.maximum(wall + 0.012, panes), glass, np.where(lit > -0.2, 0.95, 0.12))


def _bus(c: Canvas, dice: Dice, x: float, y: float) -> None:
    color = hsv(dice.between(0, 1), 0.8, 0.9)
    c.paint(c.box(x, y, 0.12, 0.045, round_by=0.02), color)
    c.paint(c.box(x, y - 0.012, 0.1, 0.015), (0.85, 0.95, 1.0))
    for side in (-0.07, 0.07):
        c.paint(c.disc(x + side, y + 0.045, 0.022), _DARK)


def shapes(c: Canvas, dice: Dice) -> None:
    hue = dice.between(0, 1)
    turn = dice.between(0, 2 * math.pi)
    share = 0.5 + (c.x - 0.5) * math.cos(turn) * 0.65 + (c.y - 0.5) * math.sin(turn) * 0.65
    pale = dice.chance(0.6)
    value = (0.98, 0.8) if pale else (0.5, 0.18)
    c.shade(share, (hsv(hue, 0.25 if pale else 0.6, value[0]), hsv(hue + 0.2, 0.5, value[1])))
    spots = [(0.2, 0.22), (0.78, 0.2), (0.5, 0.5), (0.22, 0.78), (0.8, 0.78), (0.5, 0.12)]
    for step, (x, y) in enumerate(spots[: dice.whole(4, 6)]):
        color = hsv(
            hue + 0.17 * step + dice.between(0.1, 0.25),
            dice.between(0.55, 0.9),
            dice.between(0.6, 1),
        )
        place = (x + dice.between(-0.09, 0.09), y + dice.between(-0.09, 0.09))
        _figure(c, dice, place, dice.between(0.1, 0.22), color)
    for _ in range(dice.whole(2, 4)):
        start = (dice.between(0, 1), dice.between(0, 1))
        end = (dice.between(0, 1), dice.between(0, 1))
        c.paint(c.line(start, end, dice.between(0.006, 0.016)), _DARK if pale else (1, 1, 0.9))
    for _ in range(dice.whole(2, 5)):
        dot = c.disc(dice.between(0.05, 0.95), dice.between(0.05, 0.95), dice.between(0.015, 0.04))
        c.paint(dot, hsv(dice.between(0, 1), 0.8, 0.9))


def _figure(c: Canvas, dice: Dice, place: tuple, size: float, color) -> None:
    turn = dice.between(0, math.pi)
    kind = dice.pick(("rings", "box", "star", "half", "triangle", "cross"))
    other = mix(color, (1, 1, 1), 0.6)
    if kind == "rings":
        for step in range(4):
            tone = (color, other, mix(color, (0, 0, 0), 0.4), (1, 1, 1))[step]
            c.paint(c.disc(*place, size * (1 - 0.25 * step)), tone)
    elif kind == "box":
        c.paint(c.box(*place, size, size * dice.between(0.4, 1), turn), color)
        c.paint(c.box(*place, size * 0.5, size * 0.3, turn), other)
    elif kind == "star":
        c.paint(c.petals(*place, size * 0.8, dice.whole(4, 8), 0.35, turn), color)
        c.paint(c.disc(*place, size * 0.3), other)
    elif kind == "half":
        u, _ = c.local(*place, turn)
        c.paint(np.maximum(c.disc(*place, size), u), color)
        c.paint(np.maximum(c.disc(*place, size), -u), other)
    elif kind == "triangle":
        corners = [
            (
                place[0] + size * math.cos(turn + k * 2.094),
                place[1] + size * math.sin(turn + k * 2.094),
            )
            for k in range(3)
        ]
        c.paint(c.polygon(*corners[::-1]), color)
    else:
        c.paint(c.box(*place, size, size * 0.25, turn), color)
        c.paint(c.box(*place, size * 0.25, size, turn), other)


def mandala(c: Canvas, dice: Dice) -> None:
    hue, turn = dice.between(0, 1), dice.between(0, 2 * math.pi)
    share = 0.5 + (c.x - 0.5) * math.cos(turn) * 0.7 + (c.y - 0.5) * math.sin(turn) * 0.7
    c.shade(share, (hsv(hue, 0.2, 1.0), hsv(hue + 0.3, 0.5, 0.7), hsv(hue + 0.6, 0.7, 0.3)))
    x, y = dice.between(0.36, 0.64), dice.between(0.36, 0.64)
    count = dice.pick((5, 6, 7, 8, 9, 10, 12))
    rings = dice.whole(4, 6)
    for ring in range(rings):
        size = 0.48 * (1 - ring / rings)
        color = hsv(hue + dice.between(0.2, 0.8), dice.between(0.4, 0.85), dice.between(0.55, 1.0))
        phase = math.pi / count if dice.chance(0.5) else 0.0
        outline = c.petals(x, y, size, count, dice.between(0.06, 0.22), phase)
        c.paint(outline, mix(color, (0, 0, 0), 0.55))
        c.paint(outline + 0.014, color)
        if dice.chance(0.7):
            _beads(
                c, (x, y), size * 0.86, count, phase, dice.between(0.1, 0.2), hsv(hue + 0.5, 0.3, 1)
            )
    light = 0.5 + (c.x - 0.5) * math.cos(turn) + (c.y - 0.5) * math.sin(turn)
    c.pixels *= (1.15 - 0.5 * np.clip(light, 0, 1))[..., None]


def _beads(
    c: Canvas, middle: tuple, far: float, count: int, phase: float, size: float, color
) -> None:
    for step in range(count):
        turn = phase + 2 * math.pi * step / count
        bead = c.disc(
            middle[0] + far * math.cos(turn), middle[1] + far * math.sin(turn), far * size
        )
        c.paint(bead, color)


def quilt(c: Canvas, dice: Dice) -> None:
    hue = dice.between(0, 1)
    corners = [
        hsv(hue + dice.between(0, 0.7), dice.between(0.4, 0.9), dice.between(0.5, 1))
        for _ in range(4)
    ]
    across = [(1 - c.x) * (1 - c.y), c.x * (1 - c.y), (1 - c.x) * c.y, c.x * c.y]
    c.pixels = sum(
        share[..., None] * np.array(tone) for share, tone in zip(across, corners, strict=True)
    )
    count = dice.whole(4, 7)
    u, v = c.x * count % 1 - 0.5, c.y * count % 1 - 0.5
    column, row = np.floor(c.x * count), np.floor(c.y * count)
    size, kinds = 1.0 / count, dice.whole(2, 3)
    which = (column * dice.whole(1, 2) + row * dice.whole(1, 2)) % kinds
    patterns = [
        abs(u) + abs(v) - 0.42,
        np.hypot(u, v) - 0.34,
        np.maximum(u - v, -0.5),
        abs(u * v) - 0.05,
    ]
    first = dice.whole(0, 3)
    for kind in range(kinds):
        chosen = np.where(which == kind, patterns[(first + kind) % 4] * size, 1.0)
        tone = np.clip(1.0 - c.pixels[..., ::-1] * 0.8 + 0.1 * kind, 0, 1)
        cover = c.cover(chosen)[..., None]
        c.pixels += (tone - c.pixels) * cover
    seam = np.minimum(0.5 - abs(u), 0.5 - abs(v)) * size - 0.004
    c.paint(seam, (1, 1, 1), 0.7)
    x, y = dice.between(0.25, 0.75), dice.between(0.25, 0.75)
    badge = dice.between(0.12, 0.22)
    c.paint(c.petals(x, y, badge, dice.whole(4, 9), 0.2), hsv(hue + 0.5, 0.7, 0.95))
    c.paint(c.disc(x, y, badge * 0.5), hsv(hue + 0.5, 0.2, 1.0))
