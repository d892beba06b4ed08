"""The puzzle's latent dynamics: moves, rewards, metrics. Nothing here can see a picture.

Rewards, with M the tiles' summed distances to where they belong after the move (blank left out), M+
the same with the blank, n = HW, S(k) = sum of max(j, k-1-j) over j < k, and D = W S(H) + H S(W):

    paper           -M / (D - (H-1) - (W-1))
    code            -M+ / D
    percent_solved  -(cells among the first n-1 that hold the wrong thing) / (n-1)
    sparse          move_reward

for a valid move that leaves the puzzle unsolved; `invalid_reward` for an invalid move; `win_reward`
instead of all of it for the move that solves it. "paper" is the formula published with the Sliding
Puzzles Gym (arXiv 2410.14038, section 3), "code" and the others are what its package computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp

from envs.core import Metric, Outcome
from envs.puzzle import board as boards
from envs.puzzle.solver import MOST_CELLS

REWARDS = ("paper", "code", "percent_solved", "sparse")


class Latent(NamedTuple):
    """Everything that decides rewards and metrics."""

    board: jax.Array  # u8[H, W]; 0 is the blank
    blank: jax.Array  # i32[]; its cell
    distance: jax.Array  # i32[]; M of the board
    first: jax.Array  # i32[]; M of the episode's first board
    best: jax.Array  # i32[]; smallest M so far
    t: jax.Array  # i32[]; steps taken, invalid ones included
    invalid: jax.Array  # i32[]; invalid moves so far
    optimum: jax.Array  # i32[]; fewest moves that solve the first board, 0 where no table tells


class Slide(NamedTuple):
    """What one move does to a board."""

    board: jax.Array  # u8[H, W]
    blank: jax.Array  # i32[]
    distance: jax.Array  # i32[]
    valid: jax.Array  # bool[]


@lru_cache(maxsize=64)
def metrics_of(height: int, width: int, horizon: int) -> tuple[Metric, ...]:
    """Return what an episode on this grid is judged by; the scale of `distance` is mean first M."""
    share = (0.0, 1.0)
    scale = boards.mean_manhattan(height, width)
    solved_fast = Metric(
        "efficiency", 1.0, share, doc="fewest moves over moves taken; 0 where the episode failed"
    )
    return (
        Metric("success", 1.0, share, binary=True, doc="the board was solved"),
        Metric("distance", scale, unit="tile moves", doc="M at the start minus M at the end"),
        Metric("progress", 1.0, doc="distance over M at the start"),
        Metric("best_progress", 1.0, share, doc="the largest progress at any step"),
        Metric("tiles", 1.0, share, doc="share of the tiles that end where they belong"),
        Metric("return", 10.0, doc="undiscounted sum of rewards"),
        Metric(
            "length", float(horizon), (1.0, float(horizon)), unit="steps",
            doc="steps until solved or out of time", direction="lower",
        ),
        Metric("invalid", 1.0, share, doc="share of invalid moves", direction="lower"),
        *([solved_fast] if height * width <= MOST_CELLS else []),
    )  # fmt: skip


def _farthest(count: int) -> int:
    return sum(max(k, count - 1 - k) for k in range(count))


@dataclass(frozen=True)
class Dynamics:
    """The static part of the dynamics."""

    height: int
    width: int
    horizon: int
    reward: str = "paper"
    circular: bool = False

    @cached_property
    def cells(self) -> int:
        return self.height * self.width

    @property
    def has_table(self) -> bool:
        """Whether an exact table of optimal lengths is small enough to keep."""
        return self.cells <= MOST_CELLS

    @cached_property
    def normalizer(self) -> int:
        """The D of the dense rewards: the sum of the largest distances on each axis."""
        height, width = self.height, self.width
        full = width * _farthest(height) + height * _farthest(width)
        return full if self.reward == "code" else full - (height - 1) - (width - 1)

    def begin(self, board: jax.Array, optimum: jax.Array | int = 0) -> Latent:
        """Return the latent state of an episode that starts with `board`, u8[H, W]."""
        board = board.astype(jnp.uint8)
        distance = boards.manhattan(board).astype(jnp.int32)
        zero = jnp.int32(0)
        return Latent(
            board=board,
            blank=jnp.argmin(board.reshape(-1)).astype(jnp.int32),
            distance=distance,
            first=distance,
            best=distance,
            t=zero,
            invalid=zero,
            optimum=jnp.asarray(optimum, jnp.int32),
        )

    def slide(self, latent: Latent, action: jax.Array) -> Slide:
        """Return what one move does; a move that does not exist leaves the board as it is."""
        sources = jnp.asarray(
            boards.source_cells(self.height, self.width, self.circular).reshape(-1)
        )
        known = (action >= 0) & (action < 4)
        source = sources[latent.blank * 4 + jnp.clip(action, 0, 3)]
        valid = known & (source != boards.NO_CELL)
        source = jnp.where(valid, source, latent.blank)
        flat = latent.board.reshape(-1)
        tile = flat[source]
        away = jnp.asarray(boards.taxicab(self.height, self.width).reshape(-1))
        row = tile.astype(jnp.int32) * self.cells
        gained = jnp.where(valid, away[row + latent.blank] - away[row + source], 0)
        cell = jnp.arange(self.cells, dtype=jnp.uint8)
        here, there = latent.blank.astype(jnp.uint8), source.astype(jnp.uint8)
        moved = jnp.where(cell == there, jnp.uint8(0), jnp.where(cell == here, tile, flat))
        moved = jnp.where(valid, moved, flat).reshape(latent.board.shape)
        return Slide(moved, source, latent.distance + gained, valid)

    def transition(
        self, latent: Latent, action: jax.Array, control: dict[str, jax.Array]
    ) -> tuple[Latent, Outcome]:
        """Advance one step; `control` holds the rewards, f32[] each.

        An action outside 0 … 3 counts as an invalid move.
        """
        board, blank, distance, valid = self.slide(latent, action)
        t = latent.t + 1
        solved = valid & (distance == 0)
        after = latent._replace(
            board=board,
            blank=blank,
            distance=distance,
            best=jnp.minimum(latent.best, distance),
            t=t,
            invalid=latent.invalid + jnp.where(valid, 0, 1),
        )
        dense = self._dense(after, control)
        reward = jnp.where(valid, dense, control["invalid_reward"])
        reward = jnp.where(solved, control["win_reward"], reward).astype(jnp.float32)
        return after, Outcome(reward, solved, t >= self.horizon, self._metrics(after, solved))

    def _dense(self, latent: Latent, control: dict[str, jax.Array]) -> jax.Array:
        if self.reward == "sparse":
            return control["move_reward"]
        if self.reward == "percent_solved":
            return -(1.0 - self._in_place(latent.board) / (self.cells - 1))
        total = latent.distance
        if self.reward == "code":
            corner = jnp.asarray(boards.taxicab(self.height, self.width)[0])
            total = total + corner[latent.blank]
        return -total.astype(jnp.float32) / self.normalizer

    def _in_place(self, board: jax.Array) -> jax.Array:
        """Return how many tiles are where they belong, f32[]."""
        same = board == jnp.asarray(boards.goal(self.height, self.width))
        return (same & (board != 0)).sum().astype(jnp.float32)

    def _metrics(self, latent: Latent, solved: jax.Array) -> dict[str, jax.Array]:
        first = jnp.maximum(latent.first, 1).astype(jnp.float32)
        length = latent.t.astype(jnp.float32)
        gained = (latent.first - latent.distance).astype(jnp.float32)
        metrics = {
            "success": solved.astype(jnp.float32),
            "distance": gained,
            "progress": gained / first,
            "best_progress": (latent.first - latent.best).astype(jnp.float32) / first,
            "tiles": self._in_place(latent.board) / (self.cells - 1),
            "length": length,
            "invalid": latent.invalid.astype(jnp.float32) / length,
        }
        if self.has_table:
            optimum = latent.optimum.astype(jnp.float32)
            metrics["efficiency"] = jnp.where(solved, optimum / length, 0.0)
        return metrics
