"""What moves about without ever touching the agent: NPCs and floating shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from envs.parameters import (
    EMPTY,
    Group,
    assets,
    colors,
    flag,
    folder,
    integer,
    integers,
    names,
    number,
)
from envs.platformer.config.shapes import ROTATING, SHAPES
from envs.platformer.images import BUNDLED
from envs.platformer.sprites import check_skin, check_skin_dir

_WORLD = {"npc.enabled": True}
_STICKY = {"npc.sticky_enabled": True}
_EITHER = {"npc.enabled|npc.sticky_enabled": True}
_JUMPING = {**_STICKY, "npc.sticky_can_jump": True}
_PLACED = {**_STICKY, "npc.sticky_x_offsets": EMPTY}


@dataclass(frozen=True)
class Npc(Group):
    _path: ClassVar[str] = "npc."
    enabled: bool = flag(False, "Skins stand about in the world.")
    min_npc_count: int = integer(5, "Fewest of them.", low=0, high=64, unit="NPCs", context=_WORLD)
    max_npc_count: int = integer(
        20, "Most of them.", low=0, high=64, unit="NPCs", static=True, context=_WORLD
    )
    spawn_y_offset: int = integer(
        0, "Lifts them, and the home rows of those that follow the agent.",
        low=-64, high=128, unit="px", context=_EITHER,
    )  # fmt: skip
    animation_fps: float = number(
        12.0, "Frames per second, at 60 steps a second.", low=0, high=60, unit="1/s",
        context=_EITHER,
    )  # fmt: skip
    sprite_dir: str = folder(
        BUNDLED, check_skin_dir, "Folder of skins; one is drawn per NPC.",
        context={**_WORLD, "npc.sprite_paths": EMPTY},
    )  # fmt: skip
    sprite_paths: tuple = assets(
        (), check_skin, "Pool of skins by name or path, instead of the folder.", context=_WORLD
    )
    sticky_enabled: bool = flag(False, "Skins follow the agent over the screen.")
    min_sticky_count: int = integer(
        1, "Fewest of them.", low=0, high=16, unit="NPCs", context=_STICKY
    )
    max_sticky_count: int = integer(
        5, "Most of them.", low=0, high=16, unit="NPCs", static=True, context=_STICKY
    )
    sticky_sprite_dir: str = folder(
        BUNDLED, check_skin_dir, "Folder of skins; one is drawn per NPC.",
        context={**_STICKY, "npc.sticky_sprite_paths": EMPTY},
    )  # fmt: skip
    sticky_sprite_paths: tuple = assets(
        (), check_skin, "Pool of skins by name or path, instead of the folder.", context=_STICKY
    )
    sticky_can_jump: bool = flag(True, "They jump now and then.", static=False, context=_STICKY)
    sticky_jump_probability: float = number(
        0.01, "Chance per step of a jump from rest.", low=0, high=1, context=_JUMPING
    )
    sticky_y_min_offset: int = integer(
        -40, "Highest home row, from layout.base_ground_y.", low=-128, high=128, unit="px",
        context=_STICKY,
    )  # fmt: skip
    sticky_y_max_offset: int = integer(
        -10, "Lowest home row, from layout.base_ground_y.", low=-128, high=128, unit="px",
        context=_STICKY,
    )  # fmt: skip
    sticky_x_offsets: tuple = integers(
        (), "Columns from the agent, one NPC after the other; empty: drawn.",
        low=-250, high=250, unit="px", context=_STICKY,
    )  # fmt: skip
    sticky_x_min: int = integer(
        -60, "Leftmost column from the agent.", low=-250, high=250, unit="px", context=_PLACED
    )
    sticky_x_max: int = integer(
        60, "Rightmost column from the agent.", low=-250, high=250, unit="px", context=_PLACED
    )


_ON = {"distractors.enabled": True}
_MOVING = {**_ON, "distractors.can_move": True}
_SPINNING = {**_ON, "distractors.can_rotate": True, "distractors.shape_types": ROTATING}


@dataclass(frozen=True)
class Distractors(Group):
    _path: ClassVar[str] = "distractors."
    enabled: bool = flag(False, "Shapes float over the screen, behind ground and agent.")
    count: int = integer(
        5, "How many.", low=1, high=32, unit="shapes", static=True, context=_ON
    )  # fmt: skip
    shape_types: tuple = names(
        ("circle", "star", "cross"), SHAPES, "Pool of their shapes.", context=_ON
    )
    shape_colors: tuple = colors(
        ("red", "green", "blue"), "shape", "Pool of their colours.", context=_ON
    )
    can_move: bool = flag(True, "They move and bounce off the borders.", static=False, context=_ON)
    min_speed: float = number(
        0.0, "Smallest speed on each axis (either direction).",
        low=0, high=16, unit="px/step", context=_MOVING,
    )  # fmt: skip
    max_speed: float = number(
        1.0, "Largest speed on each axis (either direction).",
        low=0, high=16, unit="px/step", context=_MOVING,
    )  # fmt: skip
    can_rotate: bool = flag(
        True, "They spin.", static=False, context={**_ON, "distractors.shape_types": ROTATING}
    )
    min_rotation_speed: float = number(
        -0.3, "Smallest spin.", low=-180, high=180, unit="degrees/step", context=_SPINNING
    )
    max_rotation_speed: float = number(
        0.3, "Largest spin.", low=-180, high=180, unit="degrees/step", context=_SPINNING
    )
    min_size: int = integer(4, "Smallest diameter.", low=1, high=64, unit="px", context=_ON)
    max_size: int = integer(12, "Largest diameter.", low=1, high=64, unit="px", context=_ON)
