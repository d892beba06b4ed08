"""Every parameter of the platformer, declared once; the defaults are KAGE-Bench's base.

Group and parameter names are KAGE's, so that people can carry their configurations over.
Conventions that differ from it:

- angles and rotation speeds are degrees (per step), and every shape turns clockwise;
- a colour name is looked up in the palette it is validated against; pools are really drawn from,
  every draw with a key of its own; speeds honour their minimum;
- a blur beyond 2.5, where KAGE's has no further effect, is refused;
- lights are as bright and as wide as declared; their places are drawn per episode;
- NPCs stand on the ground, in the part of the world that an episode can show, and each is animated
  at its own phase; those that follow the agent jump with a gravity of their own;
- distractors are drawn whole at any size; every skin runs through all of its own frames;
- unknown keys, names and values are errors, never silent defaults.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from envs.core import Config, Env
from envs.errors import InputError
from envs.parameters import CONTROL, SCREEN, Group, Uniform, integer, number
from envs.platformer.config.looks import Background, Character, Effects, Filters
from envs.platformer.config.objects import Distractors, Npc
from envs.platformer.config.shapes import ROTATING, SHAPES
from envs.platformer.config.world import Camera, Layout, Physics
from envs.platformer.images import image_contents
from envs.platformer.sprites import skin_contents, skin_pool

__all__ = [
    "ROTATING",
    "SHAPES",
    "Background",
    "Camera",
    "Character",
    "Distractors",
    "Effects",
    "Filters",
    "Layout",
    "Npc",
    "Physics",
    "PlatformerConfig",
]

# (group, parameter that names a folder, parameter that names members)
_POOLS = (
    ("background", "image_dir", "image_paths"),
    ("character", "sprite_dir", "sprite_paths"),
    ("npc", "sprite_dir", "sprite_paths"),
    ("npc", "sticky_sprite_dir", "sticky_sprite_paths"),
)


@dataclass(frozen=True)
class PlatformerConfig(Config):
    """One configuration of the platformer; `PlatformerConfig()` is the benchmark's base."""

    environment: ClassVar[str] = "platformer"
    _path: ClassVar[str] = ""

    episode_length: int = integer(
        500, "Steps per episode.", low=1, high=100_000, unit="steps", role=CONTROL, static=True
    )
    forward_reward_scale: float = number(
        0.2, "Reward per pixel beyond the furthest column so far.", role=CONTROL
    )
    jump_penalty: float = number(10.0, "Charged while the jump button is down.", role=CONTROL)
    timestep_penalty: float = number(0.1, "Charged every step.", role=CONTROL)
    idle_penalty: float = number(5.0, "Charged when the column did not change.", role=CONTROL)
    dist_to_success: float = number(
        490.0, "Distance at which an episode counts as a success.", unit="px", role=CONTROL
    )
    H: int = integer(128, "Screen height.", low=64, high=250, unit="px", role=SCREEN, static=True)
    W: int = integer(128, "Screen width.", low=64, high=250, unit="px", role=SCREEN, static=True)
    background: Background = field(default_factory=Background)
    character: Character = field(default_factory=Character)
    npc: Npc = field(default_factory=Npc)
    distractors: Distractors = field(default_factory=Distractors)
    filters: Filters = field(default_factory=Filters)
    effects: Effects = field(default_factory=Effects)
    layout: Layout = field(default_factory=Layout)
    physics: Physics = field(default_factory=Physics)
    camera: Camera = field(default_factory=Camera)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ordered(self.npc, "min_npc_count", "max_npc_count")
        _ordered(self.npc, "min_sticky_count", "max_sticky_count")
        _ordered(self.npc, "sticky_y_min_offset", "sticky_y_max_offset")
        _ordered(self.npc, "sticky_x_min", "sticky_x_max")
        _ordered(self.distractors, "min_speed", "max_speed")
        _ordered(self.distractors, "min_rotation_speed", "max_rotation_speed")
        _ordered(self.distractors, "min_size", "max_size")
        _ordered(self.layout, "min_step_height", "max_step_height")
        _ordered(self.layout, "min_height", "max_height")
        self._check_agent()
        self._check_screen()

    def _check_agent(self) -> None:
        agent = self.character
        if agent.use_sprites == agent.use_shape:
            both = "both" if agent.use_shape else "neither"
            raise InputError(
                f"character.use_sprites: exactly one of use_sprites and use_shape, not {both}"
            )

    def _check_screen(self) -> None:
        """Refuse ground that leaves the screen: the agent must fit between it and both borders."""
        layout, body, camera = self.layout, self.character.height, self.camera
        if layout.height_px != self.H:
            raise InputError(f"layout.height_px: {layout.height_px} must equal H, {self.H}")
        if layout.length < self.W:
            raise InputError(f"layout.length: {layout.length} is less than the screen, W {self.W}")
        if _high(camera.left_margin) + _high(camera.right_margin) > self.W:
            raise InputError(f"camera.left_margin: both margins exceed the screen, W {self.W}")
        lowest = _high(layout.base_ground_y)
        highest = _low(layout.base_ground_y) - _high(layout.pix_per_unit) * _high(layout.max_height)
        if lowest > self.H - 1:
            raise InputError(f"layout.base_ground_y: row {lowest} is below the screen (H {self.H})")
        if highest < body + 2:
            raise InputError(
                f"layout.max_height: the highest ground would be at row {highest}, "
                f"which leaves no room for an agent {body} px high"
            )

    def effective(self) -> dict[str, Any]:
        """As in `Config`, with looks in place of names.

        A black background is a pool of one colour; pools of images and skins are the hashes of
        their decoded pixels, whether they were given as names, as paths or as a folder; what
        another parameter implies is left out.
        """
        values = super().effective()
        if values["background.mode"] == "black":
            values |= {"background.mode": "color", "background.color_names": [[0, 0, 0]]}
        if len(values.get("background.color_names", ())) == 1:  # one colour has none to switch to
            values.pop("background.switch_frequency", None)
        for path in ("character.use_shape", "layout.height_px"):
            values.pop(path, None)
        for group, folder, pool in _POOLS:
            if values.pop(f"{group}.{folder}", None) or f"{group}.{pool}" in values:
                values[f"{group}.{pool}"] = self.contents(group, folder, pool)
        return values

    def contents(self, group: str, folder: str, pool: str) -> list[str]:
        """Return the content hashes of a pool of images or skins."""
        owner = getattr(self, group)
        if group == "background":
            return image_contents(owner.image_dir, owner.image_paths)
        path = f"{group}.{folder}"
        return skin_contents(skin_pool(path, getattr(owner, folder), getattr(owner, pool)))

    def build(self) -> tuple[Env, Any]:
        from envs.platformer.build import build  # it needs this module

        return build(self)


def _low(value: float | Uniform) -> float:
    return value.low if isinstance(value, Uniform) else value


def _high(value: float | Uniform) -> float:
    return value.high if isinstance(value, Uniform) else value


def _ordered(group: Group, lower: str, upper: str) -> None:
    least, most = getattr(group, lower), getattr(group, upper)
    if _high(least) > _low(most):
        raise InputError(f"{group._path}{lower}: {least} is above {upper} {most}")
