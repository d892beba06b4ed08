"""Day skies: cumulus in three depths, with balloons, islands, rain, a rainbow, an airship."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, Canvas, box, disc, span
from envs.platformer.art.fields import cloudy, scatter, spots
from envs.platformer.art.landscape import birds, cloud, streak, sun
from envs.platformer.art.palette import mix, ramp

# Sky from the top down, then shade, body and light of the near clouds.
PALETTES = (
    ("2f6fd0 4f93e4 79b6f0 a8d6f7 d6effb", "9cc3e8 dcecf8 ffffff"),
    ("8d7fc0 c48fc4 eda4b4 f9c4b0 fde3c4", "d78fb0 f8c9cf fff0ea"),
    ("2c3648 3d4c60 55677a 74879a 94a6b2", "39475a 62748a 8b9db0"),
    ("1f8a9c 3aabb0 69c8bf a2e0cc d8f3dc", "8cc8c8 d2efe6 fdfff4"),
    ("3a4fa0 6a6cc0 b98fc8 f2b8a8 fbdc9c", "d98a7c f8c08c ffe9bc"),
    ("5b6fd0 7f8fe0 a6aeee c9c9f7 e8e2fb", "a9a4e0 dcd8f8 ffffff"),
    ("1c5fae 2f86c6 55abd6 8accdf c4e7e4", "7fb9cf c6e6ea fbfdf2"),
    ("3c9a8a 62b894 93d09c c6e5a8 f0f5c4", "a8cf9c e2f0c4 fffbe4"),
)


def _banks(canvas: Canvas, rng: np.random.Generator, sky: list, tones: list) -> None:
    """Small hazy clouds low down, then larger and cleaner ones higher up."""
    for base, width, count, haze in ((112, 16, 8, 0.62), (94, 24, 5, 0.38), (66, 38, 3, 0.14)):
        shades = [mix(tone, sky[-2], haze) for tone in tones]
        for x in spots(rng, count):
            y = base + int(rng.integers(-9, 10))
            cloud(canvas, rng, x, y, int(width * (0.8 + 0.5 * rng.random())), shades)
    for x in spots(rng, 2, 0.4):
        size = int(48 + rng.integers(0, 14))
        cloud(canvas, rng, x, 28 + int(rng.integers(0, 12)), size, tones)


def _balloon(canvas: Canvas, x: int, y: int, radius: int, colours: list) -> None:
    """A striped hot-air balloon with its basket."""
    first, second, dark = colours
    ball = disc(x, y, radius)
    neck = (y < ROWS) & (np.abs(span(x)) <= radius - (ROWS - y) * 0.62) & (y + radius + 2 >= ROWS)
    skin = ball | neck
    canvas.paint(skin, first)
    wide = np.sqrt(np.maximum(radius * radius - (ROWS - y) ** 2, 1.0))
    canvas.paint(skin & (np.abs(np.round(span(x) / wide, 6)) < 0.28), second)
    canvas.paint(skin & (np.round(span(x) / wide, 6) > 0.7), dark)
    canvas.paint(skin & (np.abs(np.round(span(x) / wide, 6) + 0.62) < 0.14), second)
    for side in (-2, 1):
        canvas.rect(x + side, y + radius + 2, 1, 3, "4a3528")
    canvas.rect(x - 2, y + radius + 5, 4, 3, "8a5a34")


def _island(canvas: Canvas, rng: np.random.Generator, x: int, y: int, width: int) -> None:
    """A floating rock with grass on top and a hanging point."""
    reach = width / 2
    rough = cloudy(rng, 16, 16, 2)
    depth = width * 0.8 * (1 - np.abs(span(x)) / reach) * (0.7 + 0.5 * rough)
    rock = (np.abs(span(x)) < reach) & (y <= ROWS) & (y + np.round(depth, 5) > ROWS)
    canvas.shade(0.5 + span(x) / width + 0.5 * (rough - 0.5), ramp("b08a68 8a6450 5c4448"), rock)
    turf = (np.abs(span(x)) < reach) & (y - 2 <= ROWS) & (y + 2 + 3 * rough > ROWS)
    canvas.paint(turf, "4f9a4a")
    canvas.paint(turf & (y > ROWS), "9cd65c")
    for k in range(max(1, width // 12)):
        place = int(x - reach * 0.6 + k * 11 + rng.integers(0, 4))
        canvas.rect(place, y - 6, 1, 5, "6a4a3a")
        canvas.disc(place, y - 8, 3, "3c7f48")
        canvas.disc(place - 1, y - 9, 2, "78c050")


def _rain(canvas: Canvas, rng: np.random.Generator) -> None:
    """Slanted strokes of rain and one forked flash."""
    for x, y in scatter(rng, 150, 5, 40, SIZE):
        for k in range(4):
            canvas.dot(x - k // 2, y + k, "a9bccb" if k < 3 else "d7e4ec")
    x, y = int(rng.integers(30, 90)), 34
    while y < 104:
        step = int(rng.integers(-5, 6))
        canvas.line(x, y, x + step, y + 7, "fff6c0", 2)
        if rng.random() < 0.35:
            canvas.line(x, y, x - step * 2, y + 11, "f2df8a")
        x, y = x + step, y + 7


def _rainbow(canvas: Canvas) -> None:
    """Six dithered bands in an arc whose feet are below the picture."""
    reach = np.sqrt(span(64) ** 2 + (ROWS - 118.0) ** 2)
    for k, colour in enumerate(ramp("f07a8a f7b06a f8e27a 8fdc8a 74b8f0 a68ae8")):
        band = (reach >= 58 - 3 * k) & (reach < 61 - 3 * k)
        canvas.paint(band & ((ROWS + COLS) % 2 == 0), colour)


def _airship(canvas: Canvas, x: int, y: int, colours: list) -> None:
    """A long airship with a fin and a gondola."""
    light, mid, dark = colours
    canvas.convex([(x - 24, y - 7), (x - 14, y), (x - 24, y + 7)], dark)
    canvas.ellipse(x, y, 20, 8, mid)
    canvas.ellipse(x - 1, y - 2, 17, 5, light)
    canvas.ellipse(x - 1, y + 1, 19, 1, dark)
    canvas.rect(x - 6, y + 9, 13, 4, dark)
    for k in range(4):
        canvas.rect(x - 4 + 3 * k, y + 10, 2, 1, "ffe9a0")


def draw(rng: np.random.Generator, member: int) -> Canvas:
    """One of eight day skies."""
    sky, tones = (ramp(words) for words in PALETTES[member])
    canvas = Canvas()
    canvas.gradient(sky, strength=0.9)
    if member in (0, 7):
        sun(canvas, 96 if member else 30, 26, 9, [mix(sky[1], "fff3b0", 0.35), "fff0a8", "fffbe0"])
    if member == 5:
        _rainbow(canvas)
    if member == 6:
        for x, y in scatter(rng, 16, 17, 8, 92):
            streak(canvas, rng, x, y, int(rng.integers(16, 44)), tones[2 if y < 50 else 1])
        _airship(canvas, 52, 46, ramp("f4d9a0 d89a5c 8a4f3c"))
        _airship(canvas, 112, 78, ramp("d2dfd4 93b4b8 5d8496"))
        birds(canvas, rng, 5, "2a5a80", 14, 100)
        canvas.paint(box(0, 0, SIZE, SIZE) & (ROWS >= 118) & ((ROWS + COLS) % 2 == 0), tones[1])
        return canvas
    _banks(canvas, rng, sky, tones)
    if member == 1:
        _balloon(canvas, 34, 50, 12, ramp("d8506a ffe2a8 983a64"))
        _balloon(canvas, 94, 76, 8, ramp("5f74c4 f4e6d0 42508e"))
        _balloon(canvas, 112, 26, 5, ramp("e8913c fff0c0 b05c34"))
    if member == 2:
        _rain(canvas, rng)
    if member == 3:
        for x, y, width in ((28, 58, 40), (86, 36, 26), (104, 88, 34)):
            _island(canvas, rng, x, y, width)
    if member == 4:
        for base, haze in ((104, 0.35), (118, 0.15), (134, 0.0)):
            shades = [mix(tone, sky[-2], haze) for tone in tones]
            for x in spots(rng, 5):
                cloud(canvas, rng, x, base, int(rng.integers(34, 52)), shades)
                canvas.rect(x - 14, base, 28, SIZE - base, shades[0])
    if member in (0, 5, 7):
        birds(canvas, rng, 4, mix(sky[0], "10203a", 0.5), 16, 90)
    return canvas
