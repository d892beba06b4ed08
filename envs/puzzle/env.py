"""The sliding puzzle: slide tiles into the blank until the picture (or the board) is in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from envs.core import Metric, Outcome
from envs.errors import InputError
from envs.keys import LEVEL, POLICY, SCENE, named_key
from envs.puzzle import board as boards
from envs.puzzle import observations
from envs.puzzle.dynamics import Dynamics, Latent, metrics_of
from envs.puzzle.render import Look, Pictures, render
from envs.puzzle.solver import UNREACHABLE, rank


class Params(NamedTuple):
    """The traced part of a configuration."""

    control: dict[str, jax.Array]  # win_reward, move_reward, invalid_reward: f32[]
    moves: jax.Array  # i32[2]; fewest and most moves of a scramble
    lengths: jax.Array | None  # u8[(HW)!]; fewest moves by rank of the board, None on large grids
    pictures: Pictures | None  # None where no picture is shown
    filters: dict[str, jax.Array]  # colour filter -> f32[2], equal ends unless it is a range


class Scene(NamedTuple):
    """Everything that only shows; drawn once per episode."""

    image: jax.Array  # i32[]; which image of the pool
    blank: jax.Array  # i32[]; which colour of the blank
    drawn: dict[str, jax.Array]  # filters given as ranges: this episode's values, f32[]


class State(NamedTuple):
    latent: Latent  # what decides rewards
    scene: Scene  # what only shows
    key: jax.Array  # the episode's key


@dataclass(frozen=True)
class Puzzle:
    """The static part of one puzzle configuration (see `envs.core.Env` for the contract)."""

    dynamics: Dynamics
    look: Look
    observation: str = "image"
    start: str = "uniform"  # uniform | scramble

    num_actions = 4

    @property
    def horizon(self) -> int:
        return self.dynamics.horizon

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return metrics_of(self.dynamics.height, self.dynamics.width, self.horizon)

    @property
    def observation_shape(self) -> tuple[int, ...]:
        if self.observation == "image":
            return (self.look.side, self.look.side, 3)
        return observations.shape_of(self.observation, self.dynamics.height, self.dynamics.width)

    @property
    def observation_dtype(self) -> Any:
        return jnp.uint8 if self.observation == "image" else jnp.float32

    def reset(self, key: jax.Array, params: Params) -> State:
        """Start the episode of `key`; its board depends on nothing that only shows."""
        grid = self.dynamics
        level_key = jax.random.fold_in(key, LEVEL)
        shape = (grid.height, grid.width, grid.circular)
        if self.start == "uniform":
            board = boards.draw_uniform(named_key(level_key, "puzzle.board"), *shape)
        else:
            low, high = params.moves
            moves = jax.random.randint(named_key(level_key, "puzzle.moves"), (), low, high + 1)
            board = boards.scramble(named_key(level_key, "puzzle.scramble"), moves, *shape)
        return self._start(key, board, params)

    def reset_to(self, key: jax.Array, board: Any, params: Params) -> State:
        """Start on a given board, int[H, W] with the blank below 1; `key` decides what shows.

        Raises:
            InputError: wrong shape, not a permutation, not solvable, or solved. (Boards that JAX is
                tracing are taken as they are.)
        """
        grid = self.dynamics
        if not isinstance(board, jax.core.Tracer):
            board = boards.check_board(np.asarray(board), grid.height, grid.width, grid.circular)
        return self._start(key, jnp.maximum(jnp.asarray(board), 0), params)

    def _start(self, key: jax.Array, board: jax.Array, params: Params) -> State:
        optimum = 0 if params.lengths is None else params.lengths[rank(board)]
        latent = self.dynamics.begin(board, optimum)
        return State(latent, self._draw_scene(jax.random.fold_in(key, SCENE), params), key)

    def _draw_scene(self, key: jax.Array, params: Params) -> Scene:
        if params.pictures is None:
            return Scene(jnp.int32(0), jnp.int32(0), {})
        pictures = params.pictures
        image = jax.random.randint(named_key(key, "puzzle.image"), (), 0, pictures.count)
        blank = jax.random.randint(named_key(key, "puzzle.blank"), (), 0, pictures.blank_count)
        drawn = {
            name: jax.random.uniform(
                named_key(key, f"filters.{name}"),
                minval=params.filters[name][0],
                maxval=params.filters[name][1],
            )
            for name in self.look.ranged
        }
        return Scene(image, blank, drawn)

    def step(self, state: State, action: jax.Array, params: Params) -> tuple[State, Outcome]:
        """Advance one step; `action` is i32[]: 0 up, 1 down, 2 left, 3 right (how the tile moves).

        Invalid moves, and actions that do not exist, leave the board alone and cost a step.
        """
        latent, outcome = self.dynamics.transition(state.latent, action, params.control)
        return state._replace(latent=latent), outcome

    def observe(self, state: State, params: Params) -> jax.Array:
        """Return what the policy sees of one state (see `observation_shape`)."""
        return self.observe_batch(jax.tree.map(lambda leaf: leaf[None], state), params)[0]

    def observe_batch(self, states: State, params: Params) -> jax.Array:
        """Return what the policy sees of N states; the same as `vmap(observe)`, faster."""
        board = states.latent.board
        if self.observation != "image":
            return jax.vmap(lambda one: observations.vector(self.observation, one))(board)
        count = board.shape[0]
        settings = {
            name: states.scene.drawn.get(name, jnp.broadcast_to(ends[0], (count,)))
            for name, ends in params.filters.items()
        }
        scene = states.scene
        return render(self.look, board, scene.image, scene.blank, params.pictures, settings)

    def render_text(self, state: State, text: str | None = None) -> str:
        """Return the board of one state as text for people (see `observations.render_text`)."""
        return observations.render_text(np.asarray(state.latent.board), text)

    # ------------------------------------------------------------- policies that see the board

    def oracle(self, state: State, params: Params) -> jax.Array:
        """Return a move that begins a shortest solution, i32[].

        Raises:
            InputError: the grid is too large for an exact table.
        """
        if params.lengths is None:
            grid = self.dynamics
            raise InputError(f"no exact solutions are known for {grid.height}x{grid.width} grids")

        def length(action: jax.Array) -> jax.Array:
            after = self.dynamics.slide(state.latent, action)
            return jnp.where(after.valid, params.lengths[rank(after.board)], UNREACHABLE)

        return jnp.argmin(jax.vmap(length)(jnp.arange(4))).astype(jnp.int32)

    def greedy_manhattan(self, state: State, params: Params) -> jax.Array:
        """Return the move after which the tiles are nearest to where they belong, i32[].

        Ties are broken at random, by the episode's key and the step. A baseline that sees the board
        and no further than one move.
        """
        after = jax.vmap(lambda action: self.dynamics.slide(state.latent, action))(jnp.arange(4))
        distance = jnp.where(after.valid, after.distance, jnp.iinfo(jnp.int32).max)
        key = named_key(jax.random.fold_in(state.key, POLICY), "puzzle.greedy")
        noise = jax.random.bits(jax.random.fold_in(key, state.latent.t), (4,), jnp.uint32) >> 1
        best = distance == distance.min()
        return jnp.argmax(jnp.where(best, noise.astype(jnp.int32), -1)).astype(jnp.int32)
