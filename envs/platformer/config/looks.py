"""How the picture looks: background, agent, filters and lights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from envs.parameters import (
    CONTROL,
    EMPTY,
    NONZERO,
    Group,
    assets,
    choice,
    colors,
    flag,
    folder,
    integer,
    names,
    number,
)
from envs.platformer.config.shapes import ROTATING, SHAPES
from envs.platformer.filters import PRESETS
from envs.platformer.images import BUNDLED, check_image, check_image_dir
from envs.platformer.sprites import check_skin, check_skin_dir

_IMAGE = {"background.mode": "image"}


@dataclass(frozen=True)
class Background(Group):
    _path: ClassVar[str] = "background."
    mode: str = choice(
        "black", ("black", "color", "noise", "image"), "What fills the screen behind it all."
    )
    image_dir: str = folder(
        BUNDLED, check_image_dir, "Folder of images; one is drawn per episode.",
        context={**_IMAGE, "background.image_paths": EMPTY},
    )  # fmt: skip
    image_paths: tuple = assets(
        (), check_image, "Pool of images by name or path, instead of the folder.", context=_IMAGE
    )
    parallax_factor: float = number(
        0.5, "How far the image scrolls per column of the camera.", low=-4, high=4, context=_IMAGE
    )
    tile_horizontal: bool = flag(
        True, "The image repeats; otherwise its border columns do.", static=False, context=_IMAGE
    )
    switch_frequency: float = number(
        0.0, "Chance per step that another background is drawn.", low=0, high=1,
        context={"background.mode": ("color", "noise", "image")},
    )  # fmt: skip
    color_names: tuple = colors(
        ("purple", "teal", "indigo"), "background", "Pool of background colours.",
        context={"background.mode": "color"},
    )  # fmt: skip


_SHAPE = {"character.use_sprites": False}
_SPRITE = {"character.use_sprites": True}
_SPINNING = {**_SHAPE, "character.shape_types": ROTATING}
_ANIMATED = {**_SPRITE, "character.enable_animation": True}


@dataclass(frozen=True)
class Character(Group):
    _path: ClassVar[str] = "character."
    width: int = integer(
        16, "Width of the agent's box; its shape has the smaller side as diameter.",
        low=2, high=30, unit="px", role=CONTROL, static=True,
    )  # fmt: skip
    height: int = integer(
        24, "Height of the agent's box.", low=2, high=60, unit="px", role=CONTROL, static=True
    )
    use_sprites: bool = flag(False, "The agent is an animated skin.")
    sprite_dir: str = folder(
        BUNDLED, check_skin_dir, "Folder of skins; one is drawn per episode.",
        context={**_SPRITE, "character.sprite_paths": EMPTY},
    )  # fmt: skip
    sprite_paths: tuple = assets(
        (), check_skin, "Pool of skins by name or path, instead of the folder.", context=_SPRITE
    )
    enable_animation: bool = flag(
        True, "Frames change while it moves.", static=False, context=_SPRITE
    )
    animation_fps: float = number(
        12.0, "Frames per second, at 60 steps a second.", low=0, high=60, unit="1/s",
        context=_ANIMATED,
    )  # fmt: skip
    idle_sprite_idx: int = integer(
        0, "Frame shown at rest (at most the skin's last).", low=0, high=63, context=_SPRITE
    )
    use_shape: bool = flag(True, "The agent is a shape: the opposite of use_sprites.")
    shape_types: tuple = names(("circle",), SHAPES, "Pool of agent shapes.", context=_SHAPE)
    shape_colors: tuple = colors(("teal",), "shape", "Pool of agent colours.", context=_SHAPE)
    shape_rotate: bool = flag(False, "The agent's shape spins.", context=_SPINNING)
    shape_rotation_speed: float = number(
        5.0, "How fast the shape spins.", low=-180, high=180, unit="degrees/step",
        context={"character.shape_rotate": True},
    )  # fmt: skip


@dataclass(frozen=True)
class Filters(Group):
    _path: ClassVar[str] = "filters."
    brightness: float = number(0.0, "Adds 100 x this to every channel.", low=-1, high=1)
    contrast: float = number(1.0, "Stretches around grey 128.", low=0.01, high=256)
    gamma: float = number(1.0, "Exponent on the 0..1 intensity.", low=0.5, high=2)
    saturation: float = number(1.0, "Factor on the HSV saturation.", low=0, high=2)
    hue_shift: float = number(0.0, "Turns the HSV hue.", low=-180, high=180, unit="degrees")
    color_temp: float = number(0.0, "Warm (positive) or cold (negative).", low=-1, high=1)
    color_jitter_std: float = number(
        0.0, "Mixes the channels with a random matrix every step.", low=0, high=10
    )
    gaussian_noise_std: float = number(
        0.0, "Normal noise on every channel, every step.", low=0, high=255, unit="grey levels"
    )
    poisson_noise_scale: float = number(
        0.0, "Counts per grey level of shot noise, every step.", low=0, high=1
    )
    blur_sigma: float = number(0.0, "2.5 is the full mean of 3x3 pixels.", low=0, high=2.5)
    sharpen_amount: float = number(0.0, "Adds what a blur of sigma 1 takes away.", low=0, high=10)
    pixelate_factor: int = integer(
        1, "Side of the squares of one colour.", low=1, high=64, unit="px", static=True
    )
    vignette_strength: float = number(0.0, "Darkens towards the corners.", low=0, high=50)
    radial_light_strength: float = number(0.0, "Lights up the middle.", low=0, high=10)
    radial_light_color: tuple = colors(
        ((255, 255, 200),), "light", "Pool of colours of that light.",
        context={"filters.radial_light_strength": NONZERO},
    )  # fmt: skip
    pop_filter_list: tuple = names(
        (), tuple(PRESETS), "Pool of presets, applied before the other filters.", optional=True
    )


_LIT = {"effects.point_light_enabled": True}


@dataclass(frozen=True)
class Effects(Group):
    _path: ClassVar[str] = "effects."
    point_light_enabled: bool = flag(False, "Coloured lights at random places of the screen.")
    point_light_intensity: float = number(
        1.0, "Strength of each light.", low=0.1, high=5, context=_LIT
    )
    point_light_radius: float = number(
        0.1, "Half-strength radius.", low=0.01, high=1, unit="screen diagonals", context=_LIT
    )
    point_light_falloff: float = number(
        2.0, "Exponent of the decay with distance.", low=1, high=4, context=_LIT
    )
    point_light_count: int = integer(
        4, "How many.", low=1, high=5, unit="lights", static=True, context=_LIT
    )
    point_light_color_names: tuple = colors(
        ("blue", "pink", "gold"), "light", "Light i has colour i modulo their number.", context=_LIT
    )
