"""Recorded transitions, rewards and pictures of the Sliding Puzzles Gym are reproduced exactly."""

from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs import PuzzleConfig
from envs.puzzle.dynamics import Dynamics
from envs.puzzle.observations import vector
from envs.puzzle.pools import resize

GOLDEN = np.load(Path(__file__).parent / "golden" / "puzzle.npz")
GRIDS = ((2, 2), (3, 3), (3, 4), (4, 4), (5, 5))
CONTROL = {
    "win_reward": jnp.float32(10),
    "move_reward": jnp.float32(-0.1),
    "invalid_reward": jnp.float32(-1),
}


def golden(name):
    return GOLDEN[name]


@partial(jax.jit, static_argnums=0)
def step_all(dynamics, boards, actions):
    def one(board, action):
        return dynamics.transition(dynamics.begin(board), action, CONTROL)

    return jax.vmap(one)(boards, actions)


def blank_as_zero(boards):
    return np.maximum(boards, 0).astype(np.uint8)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("reward", ["paper", "code", "percent_solved", "sparse"])
def test_recorded_transitions_are_exact(grid, reward):
    name = f"g{grid[0]}x{grid[1]}_"
    boards = blank_as_zero(golden(name + "board")).reshape(-1, *grid)
    after, outcome = step_all(
        Dynamics(*grid, horizon=50, reward=reward), boards, golden(name + "action").reshape(-1)
    )
    expected = blank_as_zero(golden(name + "next_board")).reshape(-1, *grid)
    np.testing.assert_array_equal(after.board, expected)
    np.testing.assert_array_equal(after.invalid == 0, golden(name + "valid").reshape(-1))
    np.testing.assert_array_equal(outcome.terminated, golden(name + "terminated").reshape(-1))
    distance = golden(name + "manhattan_excl_blank").reshape(-1)
    np.testing.assert_array_equal(after.distance, distance)
    rewards = golden(name + f"reward_{reward}").reshape(-1)
    np.testing.assert_allclose(outcome.reward, rewards, atol=1e-6, rtol=0)


def play(env, params, state, actions):
    def step(state, action):
        return env.step(state, action, params)

    return jax.jit(lambda state: jax.lax.scan(step, state, jnp.asarray(actions)))(state)


def test_recorded_episodes_are_truncated_exactly_at_the_limit():
    config = PuzzleConfig.from_dict({"max_steps": 50, "observation": "raw"})
    env, params = config.build()
    firsts, truncated = golden("g3x3_is_first"), golden("g3x3_truncated")
    boards, actions = golden("g3x3_board"), golden("g3x3_action")
    slot = int(truncated.any(axis=1).argmax())
    last = int(truncated[slot].argmax())
    first = int(np.flatnonzero(firsts[slot, : last + 1])[-1])
    state = env.reset_to(jax.random.key(0), boards[slot, first], params)
    _, outcomes = play(env, params, state, actions[slot, first : last + 1])
    np.testing.assert_array_equal(outcomes.truncated, truncated[slot, first : last + 1])


def test_solving_on_the_last_step_sets_both_flags():
    config = PuzzleConfig.from_dict({"max_steps": 50, "observation": "raw", "reward": "code"})
    env, params = config.build()
    board = np.array([[1, 2, 3], [4, 5, 6], [7, -1, 8]])
    state = env.reset_to(jax.random.key(0), board, params)
    _, outcomes = play(env, params, state, golden("edge_actions"))
    np.testing.assert_array_equal(outcomes.terminated, golden("edge_terminated"))
    np.testing.assert_array_equal(outcomes.truncated, golden("edge_truncated"))
    np.testing.assert_allclose(outcomes.reward, golden("edge_reward_code"), atol=1e-6, rtol=0)
    assert bool(outcomes.terminated[-1]) and bool(outcomes.truncated[-1])


@pytest.mark.parametrize("grid", [(3, 3), (3, 4)])
def test_recorded_circular_moves_are_exact(grid):
    name = f"circ{grid[0]}x{grid[1]}_"
    dynamics = Dynamics(*grid, horizon=1000, reward="code", circular=True)
    boards = blank_as_zero(golden(name + "board"))
    after, outcome = step_all(dynamics, boards, golden(name + "action"))
    np.testing.assert_array_equal(after.board, blank_as_zero(golden(name + "next_board")))
    assert not after.invalid.any()
    np.testing.assert_allclose(outcome.reward, golden(name + "reward_code"), atol=1e-6, rtol=0)
    np.testing.assert_array_equal(outcome.terminated, golden(name + "terminated"))


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("kind", ["onehot", "normalized"])
def test_recorded_vector_observations_are_exact(grid, kind):
    name = f"g{grid[0]}x{grid[1]}_obs_"
    boards = blank_as_zero(golden(name + "board"))
    seen = jax.vmap(partial(vector, kind))(jnp.asarray(boards))
    np.testing.assert_allclose(seen, golden(name + kind), atol=1e-7, rtol=0)


def frames_of(grid, source, boards):
    height, width = grid
    env, params = PuzzleConfig.from_dict({"height": height, "width": width}).build(source[None])
    state = env.reset(jax.random.key(0), params)
    latents = jax.vmap(env.dynamics.begin)(jnp.asarray(blank_as_zero(boards)))
    scenes = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(boards)), state.scene)
    keys = jax.random.split(state.key, len(boards))
    return jax.jit(env.observe_batch)(type(state)(latents, scenes, keys), params)


@pytest.mark.parametrize("grid", [(3, 3), (4, 4), (3, 4)])
def test_recorded_pictures_are_exact(grid):
    name = f"img{grid[0]}x{grid[1]}_"
    frames = frames_of(grid, golden("img_source"), golden(name + "board"))
    np.testing.assert_array_equal(frames, golden(name + "obs"))


def test_pictures_of_another_size_are_shrunk_as_recorded():
    source, shrunk = golden("img_source_100x60"), golden("img_source_100x60_resized84")
    difference = np.abs(resize(source, 84, 84).astype(int) - shrunk)
    assert difference.max() <= 1  # the filter's rounding belongs to the imaging library
