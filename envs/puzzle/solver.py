"""Exact solutions of small boards: breadth-first tables of optimal lengths.

Boards of up to nine cells have at most 9! = 362,880 arrangements, so the fewest moves from every
one fit in a table that is computed in under a second and indexed by the board's rank.
"""

from __future__ import annotations

import math
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from envs.puzzle import board as boards

MOST_CELLS = 9
UNREACHABLE = 255


def _weights(cells: int) -> np.ndarray:
    return np.array([math.factorial(cells - 1 - place) for place in range(cells)], np.int32)


def rank(board: jax.Array) -> jax.Array:
    """Return the place of a board among all arrangements in lexical order, i32[]."""
    flat = board.reshape(-1)
    cells = flat.shape[0]
    later = jnp.arange(cells)[:, None] < jnp.arange(cells)
    smaller = (later & (flat < flat[:, None])).sum(axis=1)
    return (smaller * jnp.asarray(_weights(cells))).sum().astype(jnp.int32)


def _ranks(flat: np.ndarray) -> np.ndarray:
    """As `rank`, for many boards on the host: u8[N, cells] -> i32[N]."""
    cells = flat.shape[1]
    ranks = np.zeros(len(flat), np.int32)
    for place, weight in enumerate(_weights(cells)):
        ranks += (flat[:, place + 1 :] < flat[:, place, None]).sum(axis=1, dtype=np.int32) * weight
    return ranks


@lru_cache(maxsize=16)
def optimal_lengths(height: int, width: int, circular: bool = False) -> np.ndarray:
    """Return the fewest moves that solve each board, u8[(HW)!] by `rank`, else UNREACHABLE."""
    cells = height * width
    if cells > MOST_CELLS:
        raise ValueError(f"no table for {height}x{width}: {math.factorial(cells):,} arrangements")
    sources = boards.source_cells(height, width, circular)
    lengths = np.full(math.factorial(cells), UNREACHABLE, np.uint8)
    frontier = boards.goal(height, width).reshape(1, -1)
    lengths[_ranks(frontier)] = 0
    depth = 0
    while len(frontier):
        depth += 1
        found = np.concatenate([_slide_all(frontier, sources[:, move]) for move in range(4)])
        ranks = _ranks(found)
        ranks, chosen = np.unique(ranks, return_index=True)
        new = lengths[ranks] == UNREACHABLE
        lengths[ranks[new]] = depth
        frontier = found[chosen[new]]
    return lengths


def _slide_all(flat: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Return the boards after one move, those where it is invalid left out; u8[N, cells]."""
    blank = (flat == 0).argmax(axis=1)
    valid = source[blank] != boards.NO_CELL
    flat, blank = flat[valid].copy(), blank[valid]
    rows = np.arange(len(flat))
    flat[rows, blank] = flat[rows, source[blank]]
    flat[rows, source[blank]] = 0
    return flat
