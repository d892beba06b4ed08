"""Every parameter of the sliding puzzle, declared once. The defaults are the published task."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from envs import parameters
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
    folder,
    integer,
    names,
    number,
)
from envs.puzzle import observations, pools
from envs.puzzle.art import FAMILIES
from envs.puzzle.dynamics import REWARDS

MOST_SIDE = 12  # cells; H x W must fit a byte
_SHOWN = {"observation": "image"}
_RANGED = ("start.moves", "filters.")  # parameters that may be drawn per episode
_SHORT_HASH = 16  # hex digits of a content hash that stand in digests and differences


@dataclass(frozen=True)
class Start(Group):
    """How the first board of an episode is drawn."""

    _path: ClassVar[str] = "start."
    mode: str = choice(
        "uniform", ("uniform", "scramble"),
        "uniform: any unsolved board that can be solved; scramble: moves away from the solved one.",
        role=CONTROL,
    )  # fmt: skip
    moves: int = integer(
        100, "Random moves of a scramble, none of which undoes the one before.",
        low=1, high=10_000, unit="moves", role=CONTROL, context={"start.mode": "scramble"},
    )  # fmt: skip


_BUNDLED = {**_SHOWN, "images.source": "procedural"}


@dataclass(frozen=True)
class Images(Group):
    """Which images a side may show, one per episode."""

    _path: ClassVar[str] = "images."
    source: str = choice(
        "procedural", ("procedural", "folder", "array"),
        "Where images come from: bundled families, a folder of files, or a .npy file.",
        context=_SHOWN,
    )  # fmt: skip
    family: tuple = names(("landscape",), FAMILIES, "Bundled families.", context=_BUNDLED)
    path: str = folder(
        "", lambda _, value: value, "The folder, or the .npy file with u8[n, h, w, 3].",
        context={**_SHOWN, "images.source": ("folder", "array")},
    )  # fmt: skip
    split: str = choice(
        "train", pools.SPLITS, "Which half of the images: no image is in both.", context=_SHOWN
    )
    pool: int = integer(
        1, "How many images; smaller pools are part of larger ones.",
        low=1, high=100_000, unit="images", context=_SHOWN,
    )  # fmt: skip
    skip: int = integer(
        0, "Leaves out the first images of the half, for further disjoint pools.",
        low=0, high=100_000, unit="images", context=_SHOWN,
    )  # fmt: skip
    pool_seed: int = integer(
        0, "Which order the half is drawn from.", low=0, high=2**31 - 1, context=_SHOWN
    )


@dataclass(frozen=True)
class Filters(Group):
    """Colour filters on the picture (never on the blank), in this order."""

    _path: ClassVar[str] = "filters."
    brightness: float = number(
        0.0, "Adds 100 x this to every channel.", low=-1, high=1, context=_SHOWN
    )
    contrast: float = number(1.0, "Stretches around grey 128.", low=0.01, high=256, context=_SHOWN)
    gamma: float = number(1.0, "Exponent on the 0..1 intensity.", low=0.5, high=2, context=_SHOWN)
    saturation: float = number(1.0, "Factor on the HSV saturation.", low=0, high=2, context=_SHOWN)
    hue_shift: float = number(
        0.0, "Turns the HSV hue.", low=-180, high=180, unit="degrees", context=_SHOWN
    )
    color_temp: float = number(
        0.0, "Warm (positive) or cold (negative).", low=-1, high=1, context=_SHOWN
    )


@dataclass(frozen=True)
class PuzzleConfig(Config):
    """One configuration of the puzzle; `PuzzleConfig()` is the published task on one image."""

    environment: ClassVar[str] = "puzzle"
    _path: ClassVar[str] = ""

    height: int = integer(
        3, "Rows of the grid.", low=2, high=MOST_SIDE, unit="cells", role=CONTROL, static=True
    )
    width: int = integer(
        3, "Columns of the grid.", low=2, high=MOST_SIDE, unit="cells", role=CONTROL, static=True
    )
    max_steps: int = integer(
        1000, "Time limit; invalid moves count.",
        low=1, high=100_000, unit="steps", role=CONTROL, static=True,
    )  # fmt: skip
    circular: bool = flag(
        False,
        "Tiles may leave over one border and come back over the other; with an odd side every "
        "arrangement can then be reached, else half of them.",
        role=CONTROL,
    )
    reward: str = choice(
        "paper",
        REWARDS,
        "Formula of the reward for valid moves that do not solve it.",
        role=CONTROL,
    )
    win_reward: float = number(10.0, "For the move that solves it.", low=0, role=CONTROL)
    invalid_reward: float = number(-1.0, "For an invalid move.", high=0, role=CONTROL)
    move_reward: float = number(
        -0.1, "For any other move.", high=0, role=CONTROL, context={"reward": "sparse"}
    )
    observation: str = choice("image", observations.KINDS, "What the policy sees.", role=SCREEN)
    image_size: int = integer(
        84, "Side of the square frame.",
        low=24, high=512, unit="px", role=SCREEN, static=True, context=_SHOWN,
    )  # fmt: skip
    blank_color: tuple = colors(
        ("black",), "background", "Pool of colours of the blank cell.", context=_SHOWN
    )
    start: Start = field(default_factory=Start)
    images: Images = field(default_factory=Images)
    filters: Filters = field(default_factory=Filters)

    def __post_init__(self) -> None:
        for name in ("height", "width"):
            if getattr(self, name) == 1:
                raise InputError(
                    f"{name}: a strip of one cell's width can never change the order of its tiles; "
                    "at least 2"
                )
        super().__post_init__()
        for path, _, value in parameters.walk(self):
            if isinstance(value, Uniform) and not path.startswith(_RANGED):
                raise InputError(f"{path}: takes one value, not a range")
        if self.invalid_reward == 0:
            raise InputError("invalid_reward: an invalid move must cost something (below 0)")

    def effective(self) -> dict[str, Any]:
        """As in `Config`; a pool of images is what it holds: `images.content`, a list of hashes."""
        return dict(self._effective)

    @cached_property
    def _effective(self) -> dict[str, Any]:
        values = super().effective()
        if self.observation != "image":
            return values
        values = {path: value for path, value in values.items() if not path.startswith("images.")}
        universe = self._universe()
        hashes = [universe.content(image)[:_SHORT_HASH] for image in self._chosen(universe)]
        return {**values, "images.content": hashes}

    def _universe(self) -> pools.Universe:
        images = self.images
        return pools.universe_of(images.source, images.family, images.path)

    def _chosen(self, universe: pools.Universe) -> tuple[str, ...]:
        own = self.images
        return pools.choose(
            universe, split=own.split, size=own.pool, seed=own.pool_seed, skip=own.skip
        )

    def pool(self, rows: int, columns: int, images: np.ndarray | None = None) -> np.ndarray:
        """Return the images of this side's pool, u8[pool, rows, columns, 3], unfiltered.

        Args:
            rows, columns: their size, px.
            images: u8[n, h, w, 3], to draw the pool from instead of `images.source`.
        """
        universe = self._universe() if images is None else pools.Arrays(images)
        chosen = self._chosen(universe)
        return np.stack([universe.picture(image, rows, columns) for image in chosen])

    def build(self, images: np.ndarray | None = None) -> tuple[Env, Any]:
        """Return (Env, Params).

        Args:
            images: u8[n, h, w, 3], an array to draw the pool from instead of `images.source`;
                split, pool, skip and pool_seed act as ever. The configuration's digest does not
                know it: pairs need `images.source: array`.
        """
        from envs.puzzle.build import build

        return build(self, images)
