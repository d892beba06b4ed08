"""Every parameter of the platformer, declared once. The defaults are KAGE-Bench's base configuration.

Group and parameter names are KAGE's, so that people can carry their configurations over. Conventions
that differ from it: angles and rotation speeds are degrees (per step); a colour name is looked up in
the palette it is validated against; speeds honour their minimum; unknown keys are errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from envs.core import Config, Env
from envs.errors import InputError
from envs.parameters import (
    CONTROL,
    SCREEN,
    Group,
    Uniform,
    choice,
    colors,
    flag,
    integer,
    names,
    number,
)

SHAPES = (
    "circle", "square", "line", "cross", "ellipse", "diamond", "triangle", "polygon", "star",
)  # fmt: skip
ROTATING = tuple(name for name in SHAPES if name != "circle")


@dataclass(frozen=True)
class Background(Group):
    _path: ClassVar[str] = "background."
    mode: str = choice("black", ("black", "color", "noise"), "What fills the screen behind it all.")
    color_names: tuple = colors(
        ("purple", "teal", "indigo"), "background", "Pool of background colours.",
        context={"background.mode": "color"},
    )  # fmt: skip


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
    shape_types: tuple = names(("circle",), SHAPES, "Pool of agent shapes.")
    shape_colors: tuple = colors(("teal",), "shape", "Pool of agent colours.")
    shape_rotate: bool = flag(
        False, "The agent's shape spins.", context={"character.shape_types": ROTATING}
    )
    shape_rotation_speed: float = number(
        5.0, "How fast the shape spins.", low=-180, high=180, unit="degrees/step",
        context={"character.shape_rotate": True},
    )  # fmt: skip


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
    can_move: bool = flag(True, "They move and bounce off the borders.", context=_ON)
    min_speed: float = number(
        0.0, "Smallest speed on each axis (either direction).",
        low=0, high=16, unit="px/step", context=_MOVING,
    )  # fmt: skip
    max_speed: float = number(
        1.0, "Largest speed on each axis (either direction).",
        low=0, high=16, unit="px/step", context=_MOVING,
    )  # fmt: skip
    can_rotate: bool = flag(True, "They spin.", context=_ON)
    min_rotation_speed: float = number(
        -0.3, "Smallest spin.", low=-180, high=180, unit="degrees/step", context=_SPINNING
    )
    max_rotation_speed: float = number(
        0.3, "Largest spin.", low=-180, high=180, unit="degrees/step", context=_SPINNING
    )
    min_size: int = integer(4, "Smallest diameter.", low=1, high=64, unit="px", context=_ON)
    max_size: int = integer(12, "Largest diameter.", low=1, high=64, unit="px", context=_ON)


@dataclass(frozen=True)
class Filters(Group):
    _path: ClassVar[str] = "filters."
    brightness: float = number(0.0, "Adds 100 x this to every channel.", low=-1, high=1)
    contrast: float = number(1.0, "Stretches around grey 128.", low=0.01, high=256)
    gamma: float = number(1.0, "Exponent on the 0..1 intensity.", low=0.5, high=2)
    saturation: float = number(1.0, "Factor on the HSV saturation.", low=0, high=2)
    hue_shift: float = number(0.0, "Turns the HSV hue.", low=-180, high=180, unit="degrees")
    color_temp: float = number(0.0, "Warm (positive) or cold (negative).", low=-1, high=1)


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


@dataclass(frozen=True)
class Layout(Group):
    _path: ClassVar[str] = "layout."
    length: int = integer(
        2048, "Width of the world.", low=640, high=32768, unit="px", role=CONTROL, static=True
    )
    base_ground_y: int = integer(
        96, "Screen row of height 0.", low=70, high=127, unit="px", role=CONTROL
    )
    pix_per_unit: int = integer(
        2, "Pixels per unit of height.", low=0, high=3, unit="px", role=CONTROL
    )
    ground_thickness: int = integer(
        2, "Thickness of the ground's shell.", low=1, high=10, unit="px", role=CONTROL
    )
    run_width: int = integer(
        25, "Columns per flat segment.", low=1, high=60, unit="px", role=CONTROL, static=True
    )
    p_change: float = number(
        0.7, "Chance that the height changes between segments.", low=0, high=1, role=CONTROL
    )
    p_up_given_change: float = number(
        0.5, "Chance that a change goes up.", low=0, high=1, role=CONTROL
    )
    min_step_height: int = integer(
        5, "Smallest change.", low=0, high=60, unit="units", role=CONTROL
    )
    max_step_height: int = integer(
        17, "Largest change.", low=0, high=60, unit="units", role=CONTROL
    )
    min_height: int = integer(0, "Lowest ground.", low=0, high=60, unit="units", role=CONTROL)
    max_height: int = integer(20, "Highest ground.", low=0, high=60, unit="units", role=CONTROL)
    layout_colors: tuple = colors(("cyan",), "ground", "Pool of ground colours.")


@dataclass(frozen=True)
class Physics(Group):
    _path: ClassVar[str] = "physics."
    gravity: float = number(
        0.75, "Added to the fall speed.", low=0.1, high=1, unit="px/step^2", role=CONTROL
    )
    move_speed: float = number(
        1.0, "Largest horizontal speed.", low=0.5, high=8, unit="px/step", role=CONTROL
    )
    jump_force: float = number(
        -7.5, "Vertical speed given by a jump.", low=-10, high=0, unit="px/step", role=CONTROL
    )
    ground_friction: float = number(
        0.8, "Share of speed kept on the ground.", low=0.1, high=1, role=CONTROL
    )
    air_resistance: float = number(
        0.95, "Share of speed kept in the air.", low=0.1, high=1, role=CONTROL
    )
    max_fall_speed: float = number(
        8.0, "Largest fall speed.", low=0.1, high=10, unit="px/step", role=CONTROL
    )
    ground_accel: float = number(
        1.0, "Speed gained per step on the ground.", low=0.1, high=8, unit="px/step^2", role=CONTROL
    )
    air_accel: float = number(
        0.4, "Speed gained per step in the air.", low=0, high=8, unit="px/step^2", role=CONTROL
    )
    coyote_time: int = integer(
        3, "Steps off the ground in which a jump still works.", low=0, high=30, unit="steps",
        role=CONTROL,
    )  # fmt: skip


@dataclass(frozen=True)
class Camera(Group):
    _path: ClassVar[str] = "camera."
    left_margin: int = integer(
        40, "The camera follows when the agent is nearer to the left border.",
        low=0, high=120, unit="px",
    )  # fmt: skip
    right_margin: int = integer(
        40, "The camera follows when the agent is nearer to the right border.",
        low=0, high=120, unit="px",
    )  # fmt: skip


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
    distractors: Distractors = field(default_factory=Distractors)
    filters: Filters = field(default_factory=Filters)
    effects: Effects = field(default_factory=Effects)
    layout: Layout = field(default_factory=Layout)
    physics: Physics = field(default_factory=Physics)
    camera: Camera = field(default_factory=Camera)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ordered(self.distractors, "min_speed", "max_speed")
        _ordered(self.distractors, "min_rotation_speed", "max_rotation_speed")
        _ordered(self.distractors, "min_size", "max_size")
        _ordered(self.layout, "min_step_height", "max_step_height")
        _ordered(self.layout, "min_height", "max_height")
        self._check_screen()

    def _check_screen(self) -> None:
        """Refuse ground that leaves the screen: the agent must fit between it and both borders."""
        layout, body = self.layout, self.character.height
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
        """As in `Config`; a black background is what it looks like, a pool of one colour."""
        values = super().effective()
        if values["background.mode"] == "black":
            values |= {"background.mode": "color", "background.color_names": [[0, 0, 0]]}
        return values

    def build(self) -> tuple[Env, Any]:
        from envs.platformer.build import build

        return build(self)


def _low(value: float | Uniform) -> float:
    return value.low if isinstance(value, Uniform) else value


def _high(value: float | Uniform) -> float:
    return value.high if isinstance(value, Uniform) else value


def _ordered(group: Group, lower: str, upper: str) -> None:
    least, most = getattr(group, lower), getattr(group, upper)
    if _high(least) > _low(most):
        raise InputError(f"{group._path}{lower}: {least} is above {upper} {most}")
