"""Exact solutions, and the policies that know the board."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs import PuzzleConfig
from envs.errors import InputError
from envs.puzzle.solver import UNREACHABLE, optimal_lengths

# (grid, circular, longest, mean over all boards that can be solved), as published or derived
KNOWN = (
    ((2, 2), False, 6, 3.0),
    ((2, 3), False, 21, 12.62),
    ((2, 4), False, 36, 22.68),
    ((3, 3), False, 31, 21.97),
    ((2, 2), True, 6, None),
    ((2, 3), True, 13, None),
    ((3, 3), True, 19, 12.68),
)


@pytest.mark.parametrize(("grid", "circular", "longest", "mean"), KNOWN)
def test_optimal_lengths_have_the_known_maximum_and_mean(grid, circular, longest, mean):
    lengths = optimal_lengths(*grid, circular)
    lengths = lengths[lengths != UNREACHABLE]
    assert lengths.max() == longest
    assert mean is None or lengths.mean() == pytest.approx(mean, abs=0.006)


def test_larger_grids_have_no_table():
    with pytest.raises(ValueError, match="4x4"):
        optimal_lengths(4, 4)
    env, params = PuzzleConfig.from_dict({"height": 4, "width": 4, "observation": "raw"}).build()
    with pytest.raises(InputError, match="4x4"):
        env.oracle(env.reset(jax.random.key(0), params), params)
    assert "efficiency" not in {metric.name for metric in env.metrics}


def play(env, params, choose, episodes, seed=0):
    """Return the metrics of the last step of each episode, {name: f32[episodes]}."""

    def run(keys):
        states = jax.vmap(env.reset, (0, None))(keys, params)
        first = jax.vmap(env.step, (0, None, None))(states, 0, params)[1].metrics

        def step(carry, t):
            states, done, record = carry
            actions = choose(states, t)
            states, outcome = jax.vmap(env.step, (0, 0, None))(states, actions, params)
            new = {**outcome.metrics, "return": record["return"] + outcome.reward}
            record = {name: jnp.where(done, record[name], new[name]) for name in record}
            return (states, done | outcome.terminated | outcome.truncated, record), None

        record = {name: jnp.zeros(episodes) for name in (*first, "return")}
        start = (states, jnp.zeros(episodes, bool), record)
        (_, done, record), _ = jax.lax.scan(step, start, jnp.arange(env.horizon))
        return done, record

    done, record = jax.jit(run)(jax.random.split(jax.random.key(seed), episodes))
    assert done.all()
    return {name: np.asarray(value) for name, value in record.items()}


def built(**changes):
    return PuzzleConfig.from_dict({"observation": "raw", **changes}).build()


@pytest.mark.parametrize(
    "changes", [{}, {"circular": True}, {"height": 2, "width": 3}, {"height": 2, "width": 2}]
)
def test_the_oracle_solves_every_board_in_the_fewest_moves(changes):
    env, params = built(max_steps=40, **changes)
    record = play(env, params, lambda s, t: jax.vmap(env.oracle, (0, None))(s, params), 512)
    assert record["success"].all()
    assert (record["efficiency"] == 1).all()
    assert (record["progress"] == 1).all()
    assert (record["tiles"] == 1).all()


def test_greedy_lies_between_random_and_the_oracle():
    env, params = built(max_steps=100, start={"mode": "scramble", "moves": {"uniform": [4, 12]}})
    greedy = jax.vmap(env.greedy_manhattan, (0, None))
    record = play(env, params, lambda s, t: greedy(s, params), 512)
    blind = play(env, params, random_actions(512), 512)
    assert blind["success"].mean() < 0.1 < 0.5 < record["success"].mean() < 0.95
    assert record["invalid"].max() == 0


def random_actions(count):
    def choose(_, t):
        return jax.random.randint(jax.random.fold_in(jax.random.key(99), t), (count,), 0, 4)

    return choose


# Uniform random actions, 1000 steps: episodes of the reference run, its success, length, invalid
# share, return and progress at the end, best progress and tiles in place.
RANDOM = {
    (2, 2): (2000, 1.0, 51.8, 0.499, -31.8, 1.0, 1.0, 1.0),
    (3, 3): (2000, 0.0005, 1000.0, 0.3335, -694.4, -0.057, 0.449, 0.114),
    (4, 4): (500, 0.0, 1000.0, 0.250, -626.8, -0.019, 0.239, 0.060),
    (5, 5): (300, 0.0, 1000.0, 0.200, -598.0, -0.002, 0.143, 0.041),
}


@pytest.mark.parametrize("grid", RANDOM)
def test_random_actions_score_as_published_measurements_say(grid):
    episodes, *expected = RANDOM[grid]
    env, params = built(height=grid[0], width=grid[1])
    record = play(env, params, random_actions(1000), 1000)
    names = ("success", "length", "invalid", "return", "progress", "best_progress", "tiles")
    steps = record["length"] / record["length"].mean()
    record["invalid"] = record["invalid"] * steps  # the reference counts steps, not episodes
    for name, value in zip(names, expected, strict=True):
        spread = record[name].std() * np.sqrt(1 / 1000 + 1 / episodes)
        assert abs(record[name].mean() - value) < 4.5 * spread + 1.5e-3 * max(1, abs(value)), name
    solved = record["success"] == 1
    np.testing.assert_array_equal(solved, record["progress"] == 1)
    assert (record["length"][solved] <= env.horizon).all()
