"""Boards: where tiles belong, which arrangements can be solved, and how starts are drawn.

A board of H rows and W columns holds the tiles 1 … HW-1 and one blank, stored as 0. Cells are
counted row by row, c = y*W + x. Tile v belongs to cell v-1, the blank to the last cell.

Moves are named by what the tile does: UP slides the tile below the blank, DOWN the one above it,
LEFT the one right of it and RIGHT the one left of it. With circular moves a tile may leave over one
border and come back over the opposite one, so that no move is invalid.

Which arrangements can be reached: without circular moves, and with them where H and W are both
even, exactly half of all arrangements (a parity decides). With circular moves and an odd side,
every one.
"""

from __future__ import annotations

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from envs.errors import InputError

UP, DOWN, LEFT, RIGHT = 0, 1, 2, 3
ACTIONS = ("up", "down", "left", "right")
_SOURCE = ((1, 0), (-1, 0), (0, 1), (0, -1))  # (dy, dx) from the blank to the tile that slides
NO_CELL = -1


@lru_cache(maxsize=64)
def goal(height: int, width: int) -> np.ndarray:
    """Return the solved board, u8[H, W]."""
    return np.roll(np.arange(height * width, dtype=np.uint8), -1).reshape(height, width)


@lru_cache(maxsize=64)
def source_cells(height: int, width: int, circular: bool) -> np.ndarray:
    """Return the cell whose tile slides, i32[HW, 4], by blank and move; NO_CELL where invalid."""
    y, x = np.divmod(np.arange(height * width), width)
    steps = np.array(_SOURCE)
    to_y, to_x = y[:, None] + steps[:, 0], x[:, None] + steps[:, 1]
    cells = (to_y % height) * width + to_x % width
    inside = (to_y >= 0) & (to_y < height) & (to_x >= 0) & (to_x < width)
    return np.where(inside | circular, cells, NO_CELL).astype(np.int32)


@lru_cache(maxsize=64)
def taxicab(height: int, width: int) -> np.ndarray:
    """Return the rows plus columns between a cell and where its content belongs, i32[HW, HW].

    Row v is tile v, row 0 the blank (whose place is the last cell); columns are cells.
    """
    cells = height * width
    y, x = np.divmod(np.arange(cells), width)
    home = (np.arange(cells) - 1) % cells
    return (abs(y[home][:, None] - y) + abs(x[home][:, None] - x)).astype(np.int32)


def manhattan(board: jax.Array) -> jax.Array:
    """Return the sum of the tiles' distances to where they belong (blank left out), i32[]."""
    height, width = board.shape
    table = jnp.asarray(taxicab(height, width)).at[0].set(0)
    flat = board.reshape(-1).astype(jnp.int32)
    return table[flat, jnp.arange(height * width)].sum()


def mean_manhattan(height: int, width: int) -> float:
    """Return the mean of `manhattan` over all unsolved boards that can be solved.

    Among the boards that can be solved every tile is on every cell equally often, so the mean over
    all of them is the mean over cells, summed over tiles. The solved board adds nothing to the sum:
    leaving it out divides by S-1 instead of S, S = (HW)!/2.
    """
    total = float(taxicab(height, width)[1:].mean(axis=1).sum())
    solvable = np.prod(np.arange(3.0, height * width + 1))
    return total * solvable / (solvable - 1)


def is_solvable(board: jax.Array) -> jax.Array:
    """Return whether moves inside the borders can solve a board, bool[].

    The parity of the whole permutation (blank as the largest label) must be the parity of the
    blank's
    distance to its corner: every move is one transposition and moves the blank by one cell.
    """
    height, width = board.shape
    cells = height * width
    flat = board.reshape(-1).astype(jnp.int32)
    labels = jnp.where(flat == 0, cells, flat)
    later = jnp.arange(cells)[:, None] < jnp.arange(cells)
    inversions = (later & (labels[:, None] > labels)).sum()
    blank = jnp.argmin(flat)
    away = (height - 1 - blank // width) + (width - 1 - blank % width)
    return (inversions + away) % 2 == 0


def reaches_everything(height: int, width: int, circular: bool) -> bool:
    """Return whether every arrangement can be solved (circular moves and an odd side)."""
    return circular and bool(height % 2 or width % 2)


def check_board(board: np.ndarray, height: int, width: int, circular: bool) -> np.ndarray:
    """Return a start given by hand as u8[H, W] (its blank may be any number below 1).

    Raises:
        InputError: wrong shape, not a permutation, not solvable, or already solved.
    """
    board = np.asarray(board)
    if board.shape != (height, width):
        raise InputError(f"board: expected shape ({height}, {width}), got {board.shape}")
    if not np.issubdtype(board.dtype, np.integer):
        raise InputError(f"board: expected whole numbers, got {board.dtype}")
    board = np.where(board < 1, 0, board)
    if sorted(board.reshape(-1).tolist()) != list(range(height * width)):
        raise InputError(
            f"board: expected the tiles 1 to {height * width - 1} and one blank (0), each once, "
            f"got {board.tolist()}"
        )
    board = board.astype(np.uint8)
    if np.array_equal(board, goal(height, width)):
        raise InputError("board: it is solved already; an episode starts from an unsolved board")
    if not reaches_everything(height, width, circular) and not bool(is_solvable(board)):
        raise InputError(f"board: no moves can solve {board.tolist()} (its parity is odd)")
    return board


# ------------------------------------------------------------------------------------------ starts


def _permutation(key: jax.Array, count: int) -> jax.Array:
    """Return a uniform permutation of 0 … count-1, i32[count]: the ranks of random words."""
    words = jax.random.bits(key, (count,), jnp.uint32)
    order = jnp.arange(count)
    below = (words < words[:, None]) | ((words == words[:, None]) & (order < order[:, None]))
    return below.sum(axis=1).astype(jnp.int32)


def draw_uniform(key: jax.Array, height: int, width: int, circular: bool) -> jax.Array:
    """Draw a board uniformly from the unsolved ones that can be solved, u8[H, W].

    A uniform arrangement of the wrong parity has its tiles 1 and 2 exchanged, which maps the wrong
    half one to one onto the right half; a solved board is drawn again.
    """
    solved = jnp.asarray(goal(height, width))
    everything = reaches_everything(height, width, circular)

    def draw(attempt: jax.Array) -> jax.Array:
        board = _permutation(jax.random.fold_in(key, attempt), height * width)
        board = board.astype(jnp.uint8).reshape(height, width)
        exchanged = jnp.where((board == 1) | (board == 2), 3 - board, board)
        return board if everything else jnp.where(is_solvable(board), board, exchanged)

    def again(loop):
        return jnp.all(loop[1] == solved)

    def redraw(loop):
        return loop[0] + 1, draw(loop[0] + 1)

    return jax.lax.while_loop(again, redraw, (jnp.int32(0), draw(jnp.int32(0))))[1]


def scramble(
    key: jax.Array, moves: jax.Array, height: int, width: int, circular: bool
) -> jax.Array:
    """Return the board after `moves` random moves from the solved one, u8[H, W].

    Each move is drawn uniformly from the valid ones that do not undo the move before; while the
    board happens to be solved after the last one, moving goes on. `moves` is i32[], at least 1.
    """
    solved = jnp.asarray(goal(height, width)).reshape(-1)
    sources = jnp.asarray(source_cells(height, width, circular))

    def unfinished(loop):
        t, board, _, _ = loop
        return (t < moves) | jnp.all(board == solved)

    def move(loop):
        t, board, blank, last = loop
        undo = jnp.where(last < 0, -1, last ^ 1)
        allowed = (sources[blank] != NO_CELL) & (jnp.arange(4) != undo)
        score = jax.random.bits(jax.random.fold_in(key, t), (4,), jnp.uint32) >> 1
        action = jnp.argmax(jnp.where(allowed, score.astype(jnp.int32), -1)).astype(jnp.int32)
        source = sources[blank, action]
        board = board.at[blank].set(board[source]).at[source].set(0)
        return t + 1, board, source, action

    start = (jnp.int32(0), solved, jnp.int32(height * width - 1), jnp.int32(-1))
    return jax.lax.while_loop(unfinished, move, start)[1].reshape(height, width)
