"""Observations other than the picture: the board as numbers, and as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np

from envs.errors import InputError

KINDS = ("image", "raw", "onehot", "normalized", "coordinates")
BLANK = -1.0  # how "raw" and "normalized" show the blank
BLANK_TEXT = "---"


def shape_of(kind: str, height: int, width: int) -> tuple[int, ...]:
    """Return the shape of a vector observation."""
    cells = height * width
    grid = (height, width)
    return {"onehot": (cells * cells,), "coordinates": (2 * cells,)}.get(kind, grid)


def vector(kind: str, board: jax.Array) -> jax.Array:
    """Return a board, u8[H, W], as numbers (f32).

    raw: [H, W], the tiles' numbers, the blank -1. normalized: the same over HW-1, the blank -1.
    onehot: [(HW)^2], for each cell which of blank, 1, 2, … it holds. coordinates: [2HW], for each
    cell the row and column where its content belongs, over max(H, W) - 1.
    """
    height, width = board.shape
    cells = height * width
    tile = board.astype(jnp.float32)
    if kind == "raw":
        return jnp.where(board == 0, BLANK, tile)
    if kind == "normalized":
        return jnp.where(board == 0, BLANK, tile / (cells - 1))
    flat = board.reshape(-1).astype(jnp.int32)
    if kind == "onehot":
        return (flat[:, None] == jnp.arange(cells)).astype(jnp.float32).reshape(-1)
    home = jnp.where(flat == 0, cells, flat) - 1
    places = jnp.stack([home // width, home % width], axis=1).astype(jnp.float32)
    return (places / (max(height, width) - 1)).reshape(-1)


def render_text(board: np.ndarray, text: str | Sequence[str] | None = None) -> str:
    """Return a board as lines of text, each tile replaced by the piece of `text` it carries.

    Args:
        board: int[H, W], blank below 1.
        text: the pieces in the order of the solved board; or text that is divided into HW pieces
            (by words where there are enough, else by letters); None: the tiles' numbers. The last
            piece is the blank's and never shown.

    Raises:
        InputError: text too short, or a wrong number of pieces.
    """
    board = np.asarray(board)
    cells = board.size
    if text is None:
        text = [str(tile) for tile in range(1, cells + 1)]
    pieces = _divide(text, cells) if isinstance(text, str) else list(text)
    if len(pieces) != cells:
        raise InputError(f"text: expected {cells} pieces, got {len(pieces)}")
    shown = [[pieces[tile - 1] if tile > 0 else BLANK_TEXT for tile in row] for row in board]
    wide = max(len(piece) for row in shown for piece in row)
    return "\n".join(" ".join(piece.ljust(wide) for piece in row).rstrip() for row in shown)


def _divide(text: str, count: int) -> list[str]:
    """Divide text evenly into `count` pieces, between words where there are enough of them."""
    words = text.split()
    units, joint = (words, " ") if len(words) >= count else (list(text.strip()), "")
    if len(units) < count:
        raise InputError(f"text: {text!r} is too short for {count} pieces")
    cuts = [len(units) * piece // count for piece in range(count + 1)]
    return [joint.join(units[a:b]) for a, b in pairwise(cuts)]
