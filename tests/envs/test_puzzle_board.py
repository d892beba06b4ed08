"""Starts: exactly the boards that can be solved, drawn as promised."""

import itertools
import math
from functools import cache, partial

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from envs import PuzzleConfig
from envs.errors import InputError
from envs.puzzle import board as boards
from envs.puzzle.solver import UNREACHABLE, optimal_lengths, rank

solvable = jax.jit(jax.vmap(boards.is_solvable))
ranks = jax.jit(jax.vmap(rank))


@partial(jax.jit, static_argnums=(1, 2, 3))
def draw_all(keys, height, width, circular):
    return jax.vmap(lambda key: boards.draw_uniform(key, height, width, circular))(keys)


@partial(jax.jit, static_argnums=(2, 3))
def scramble_all(keys, moves, height, width):
    return jax.vmap(lambda key, n: boards.scramble(key, n, height, width, False))(keys, moves)


@cache
def draw(height, width, circular=False):
    """Return 40,000 starts, u8[40000, H, W]."""
    keys = jax.random.split(jax.random.key(0), 40_000)
    return np.asarray(draw_all(keys, height, width, circular))


def scrambled(moves, height, width):
    """Return 4,000 scrambles of `moves` moves (one number, or one for each)."""
    keys = jax.random.split(jax.random.key(0), 4000)
    moves = np.broadcast_to(np.asarray(moves, np.int32), 4000)
    return np.asarray(scramble_all(keys, moves, height, width))


@pytest.mark.parametrize("grid", [(2, 2), (2, 3), (3, 2), (2, 4)])
def test_parity_agrees_with_search_on_every_arrangement(grid):
    height, width = grid
    every = np.array(list(itertools.permutations(range(height * width))), np.uint8)
    reached = optimal_lengths(height, width) != UNREACHABLE  # in the same lexical order
    np.testing.assert_array_equal(solvable(every.reshape(-1, height, width)), reached)
    assert reached.sum() == math.factorial(height * width) // 2


@pytest.mark.parametrize("grid", [(3, 3), (3, 4), (4, 4), (5, 5)])
def test_every_start_can_be_solved_and_none_is(grid):
    drawn = draw(*grid)
    assert solvable(drawn).all()
    cells = drawn.reshape(len(drawn), -1)
    assert (np.sort(cells, axis=1) == np.arange(grid[0] * grid[1])).all()
    assert not (drawn == boards.goal(*grid)).all(axis=(1, 2)).any()


@pytest.mark.parametrize(("grid", "circular"), [((2, 2), False), ((2, 3), False), ((2, 3), True)])
def test_starts_are_uniform_over_the_unsolved_boards(grid, circular):
    height, width = grid
    drawn = draw(height, width, circular)
    drawn = drawn.reshape(len(drawn), -1)
    _, seen = np.unique(drawn, axis=0, return_counts=True)
    reachable = math.factorial(height * width) // (1 if circular else 2) - 1
    assert len(seen) == reachable
    assert stats.chisquare(seen).pvalue > 1e-3


@pytest.mark.parametrize("grid", [(3, 3), (4, 4)])
def test_the_blank_starts_on_every_cell_equally_often(grid):
    drawn = draw(*grid).reshape(40_000, -1)
    seen = np.bincount((drawn == 0).argmax(axis=1), minlength=drawn.shape[1])
    assert stats.chisquare(seen).pvalue > 1e-3


@pytest.mark.parametrize("circular", [False, True])
@pytest.mark.parametrize("grid", [(2, 2), (2, 3), (2, 4), (3, 3)])
def test_reachability_under_circular_moves_is_as_documented(grid, circular):
    height, width = grid
    reached = int((optimal_lengths(height, width, circular) != UNREACHABLE).sum())
    everything = math.factorial(height * width)
    full = boards.reaches_everything(height, width, circular)
    assert reached == (everything if full else everything // 2)
    assert full == (circular and (height % 2 == 1 or width % 2 == 1))


def test_scrambles_never_undo_a_move_and_never_end_solved():
    lengths = optimal_lengths(3, 3)
    for moves in (1, 2, 3):  # too short for a detour: without an undo the distance is the length
        assert (lengths[ranks(scrambled(moves, 3, 3))] == moves).all()
    solved = boards.goal(2, 2)
    for moves in (11, 12, 13, 24):  # on 2x2 twelve moves lead once around, back to the solved board
        drawn = scrambled(moves, 2, 2)
        assert not (drawn == solved).all(axis=(1, 2)).any()


def test_scrambles_of_n_moves_are_within_n_moves():
    moves = np.random.default_rng(0).integers(1, 30, 4000)
    drawn = scrambled(moves, 3, 3)
    lengths = optimal_lengths(3, 3)[np.asarray(ranks(drawn))]
    assert (lengths <= moves).all()
    assert ((lengths % 2) == (moves % 2)).all()
    assert solvable(drawn).all()


def test_scramble_lengths_given_as_a_range_are_drawn_from_all_of_it():
    env, params = PuzzleConfig.from_dict(
        {"observation": "raw", "start": {"mode": "scramble", "moves": {"uniform": [1, 3]}}}
    ).build()
    keys = jax.random.split(jax.random.key(3), 3000)
    latent = jax.jit(jax.vmap(env.reset, (0, None)))(keys, params).latent
    assert not latent.t.any()  # a scramble takes no time
    seen = np.bincount(latent.optimum, minlength=4)[1:]
    assert stats.chisquare(seen).pvalue > 1e-3


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(2, 4), st.randoms(use_true_random=False))
def test_boards_given_by_hand_are_checked(height, width, random):
    cells = list(range(height * width))
    random.shuffle(cells)
    board = np.array(cells).reshape(height, width)
    possible = bool(boards.is_solvable(board)) and (board != boards.goal(height, width)).any()
    if possible:
        checked = boards.check_board(np.where(board == 0, -1, board), height, width, False)
        np.testing.assert_array_equal(checked, board)
    else:
        with pytest.raises(InputError, match=r"parity|solved already"):
            boards.check_board(board, height, width, False)


@pytest.mark.parametrize(
    ("board", "problem"),
    [
        ([[1, 2], [3, 0]], "solved already"),
        ([[1, 2, 3], [4, 5, 0]], "shape"),
        ([[1, 1], [3, 0]], "each once"),
        ([[1.0, 2.0], [0.0, 3.0]], "whole numbers"),
        ([[2, 1], [3, 0]], "parity"),
    ],
)
def test_impossible_boards_are_refused_with_the_reason(board, problem):
    with pytest.raises(InputError, match=problem):
        boards.check_board(np.array(board), 2, 2, False)


def test_mean_distance_of_starts_is_the_declared_scale():
    for grid in ((2, 3), (3, 3), (4, 4)):
        drawn = draw(*grid).reshape(40_000, -1)
        away = boards.taxicab(*grid)
        seen = np.where(drawn > 0, away[drawn, np.arange(drawn.shape[1])], 0).sum(axis=1)
        error = seen.std() / math.sqrt(len(seen))
        assert abs(seen.mean() - boards.mean_manhattan(*grid)) < 4 * error


def test_strips_are_refused_with_the_reason():
    with pytest.raises(InputError, match="order of its tiles"):
        PuzzleConfig.from_dict({"height": 1, "width": 5})
