"""Contact sheets: every bundled image and skin of the platformer, and a gallery of scenes."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image, ImageDraw

from envs import Env, PlatformerConfig
from envs.platformer import images, sprites

PAPER, INK = (28, 28, 34), (225, 225, 230)
LABEL = 12  # px; height of a caption

_SKIN = {"character": {"use_sprites": True, "use_shape": False}}
_SCENE = {**_SKIN, "background": {"mode": "image"}}
_ALL_SHAPES = ["circle", "square", "line", "cross", "ellipse", "diamond", "triangle", "star"]


def _with(**groups: dict) -> dict:
    return {**_SCENE, **groups}


GALLERY: dict[str, dict] = {
    "base": {},
    "colour": {"background": {"mode": "color"}, "layout": {"layout_colors": ["gold"]}},
    "noise": {"background": {"mode": "noise"}},
    "image": {"background": {"mode": "image"}},
    "skin": _SCENE,
    "NPCs": _with(npc={"enabled": True}),
    "followers": _with(npc={"sticky_enabled": True, "min_sticky_count": 3}),
    "distractors": {"distractors": {"enabled": True, "count": 8, "shape_types": _ALL_SHAPES}},
    "spinning": {"character": {"shape_types": ["star"], "shape_rotate": True}},
    **{
        name: _with(filters={"pop_filter_list": [name]})
        for name in ("vintage", "retro", "cyberpunk", "horror", "noir")
    },
    "brightness": _with(filters={"brightness": 0.4}),
    "contrast": _with(filters={"contrast": 2.0}),
    "gamma": _with(filters={"gamma": 2.0}),
    "saturation": _with(filters={"saturation": 0.0}),
    "hue": _with(filters={"hue_shift": 120}),
    "temperature": _with(filters={"color_temp": 1.0}),
    "jitter": _with(filters={"color_jitter_std": 0.5}),
    "blur": _with(filters={"blur_sigma": 2.5}),
    "sharpen": _with(filters={"sharpen_amount": 2.0}),
    "pixelate": _with(filters={"pixelate_factor": 4}),
    "gaussian": _with(filters={"gaussian_noise_std": 40}),
    "poisson": _with(filters={"poisson_noise_scale": 0.05}),
    "vignette": _with(filters={"vignette_strength": 1.0}),
    "radial": _with(filters={"radial_light_strength": 0.6}),
    "lights": _with(effects={"point_light_enabled": True}),
}


def _grid(cells: list[tuple[str, np.ndarray]], columns: int, scale: int) -> Image.Image:
    """Lay labelled pictures (u8[h, w, 3], one size) out on a sheet."""
    height, width = (side * scale for side in cells[0][1].shape[:2])
    rows = -(-len(cells) // columns)
    sheet = Image.new("RGB", (columns * (width + 4) + 4, rows * (height + LABEL + 4) + 4), PAPER)
    pen = ImageDraw.Draw(sheet)
    for index, (label, pixels) in enumerate(cells):
        left = 4 + index % columns * (width + 4)
        top = 4 + index // columns * (height + LABEL + 4)
        picture = Image.fromarray(pixels).resize((width, height), Image.Resampling.NEAREST)
        sheet.paste(picture, (left, top + LABEL))
        pen.text((left, top), label, fill=INK)
    return sheet


def image_sheet() -> Image.Image:
    """Return every bundled background."""
    files = images.image_files(images.BUNDLED, ())
    return _grid([(file.stem, images.read_pixels(file, "RGB")) for file in files], 16, 1)


def skin_sheet() -> Image.Image:
    """Return every frame of every bundled skin, four times enlarged."""
    names = sprites.bundled_skins()
    sheet = sprites.make_sheet(names)
    cells = []
    for index, name in enumerate(names):
        frames = sheet.pixels[index, :3]
        share = frames[..., 3:] / 255
        over = (frames[..., :3] * share + np.array((90, 110, 140)) * (1 - share)).astype(np.uint8)
        cells.append((name, np.concatenate(list(over), axis=1)))
    return _grid(cells, 6, 4)


def snapshot(env: Env, params: object, *, seed: int = 3, steps: int = 120) -> np.ndarray:
    """Return the picture u8[H, W, 3] of an episode after some steps of running and jumping."""
    state = jax.jit(env.reset)(jax.random.key(seed), params)
    actions = jnp.where(jnp.arange(steps) % 24 < 4, 6, 2)

    @jax.jit
    def play(state, params):
        state, _ = jax.lax.scan(lambda s, a: (env.step(s, a, params)[0], None), state, actions)
        return env.observe(state, params)

    return np.asarray(play(state, params))


def gallery_sheet() -> Image.Image:
    """Return one picture per entry of GALLERY."""
    cells = []
    for seed, (name, changes) in enumerate(GALLERY.items()):
        env, params = PlatformerConfig.from_dict(changes).build()
        cells.append((name, snapshot(env, params, seed=seed)))
    return _grid(cells, 6, 2)


SHEETS = {"images": image_sheet, "skins": skin_sheet, "gallery": gallery_sheet}


def save_sheets(out: Path, names: list[str]) -> list[Path]:
    """Draw the named sheets as `out` with the sheet's name added; return the files."""
    files = []
    for name in names:
        file = out.with_name(f"{out.stem}-{name}.png")
        SHEETS[name]().save(file)
        files.append(file)
    return files
