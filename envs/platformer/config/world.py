"""World, physics and camera: what decides levels and movement, and the ground's colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from envs.parameters import CONTROL, SCREEN, Group, colors, integer, number


@dataclass(frozen=True)
class Layout(Group):
    _path: ClassVar[str] = "layout."
    length: int = integer(
        2048, "Width of the world.", low=640, high=32768, unit="px", role=CONTROL, static=True
    )
    height_px: int = integer(
        128, "Height of the world, which is the screen's: must equal H.",
        low=64, high=250, unit="px", role=SCREEN, static=True,
    )  # fmt: skip
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
