"""Other people's trainers on our sides: Gymnasium's conventions, and gymnax's."""

import subprocess
import sys
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import envs
from envs.adapters import episodes
from envs.core import Metric, Outcome
from envs.keys import LEVEL, TRAIN, episode_key

pytestmark = pytest.mark.slow


class CountdownState(NamedTuple):
    t: jax.Array
    length: jax.Array
    key: jax.Array


@dataclass(frozen=True)
class Countdown:
    """Lasts 1 … 4 steps by its key, terminates there, or is cut at the horizon. Shows t + 10 times
    its length; reward 1 per step; not square."""

    horizon: int = 3
    num_actions = 2
    observation_shape = (2, 4, 3)
    metrics = (Metric("long", 1.0),)

    def reset(self, key, params):
        length = jax.random.randint(jax.random.fold_in(key, LEVEL), (), 1, 5)
        return CountdownState(jnp.int32(0), length, key)

    def step(self, state, action, params):
        state = state._replace(t=state.t + 1)
        terminated = state.t >= state.length
        truncated = (state.t >= self.horizon) & ~terminated
        metrics = {"long": (state.length > 2).astype(jnp.float32)}
        return state, Outcome(jnp.float32(1), terminated, truncated, metrics)

    def observe(self, state, params):
        return jnp.full(self.observation_shape, state.t + 10 * state.length, jnp.uint8)


def root(seed):
    return jax.random.wrap_key_data(episodes.root_key(seed))


@cache
def lengths_of(lane, count, seed=0):
    """The first episodes of a lane, from the keys it is documented to use."""
    key = jax.random.fold_in(root(seed), lane)
    return drawn_lengths(key)[:count].tolist()


@jax.jit
def drawn_lengths(lane_key):
    keys = jax.vmap(jax.random.fold_in, (None, 0))(lane_key, jnp.arange(12))
    return jax.vmap(lambda key: Countdown().reset(key, None).length)(keys)


def shown(length, t):
    return t + 10 * length


def vector(num_envs=5, seed=0, **values):
    pytest.importorskip("gymnasium")
    return envs.gymnasium(Countdown(), None, num_envs=num_envs, seed=seed, **values)


def act(num_envs=5):
    return np.zeros(num_envs, np.int64)


def expected_trace(lane, same_step):
    """(shown, reward, terminated, truncated) of each step, in one lane, by the convention."""
    rows = []
    for length, after in pairwise(lengths_of(lane, 12)):
        last = min(length, 3)
        for t in range(1, last + 1):
            over = t == last
            picture = shown(after, 0) if over and same_step else shown(length, t)
            rows.append((picture, 1.0, over and length <= 3, over and length > 3))
        if not same_step:
            rows.append((shown(after, 0), 0.0, False, False))
    return rows


@pytest.mark.parametrize("mode", ["next-step", "same-step"])
def test_the_declared_reset_convention_is_the_one_that_is_followed(mode):
    """Lengths 1, 2, 3 and the cap, at least four episodes per lane."""
    env = vector(autoreset=mode)
    assert env.metadata["autoreset_mode"].name == mode.replace("-", "_").upper()
    obs, infos = env.reset()
    assert infos == {}
    assert [int(one[0, 0, 0]) for one in obs] == [shown(lengths_of(i, 1)[0], 0) for i in range(5)]
    traces = [expected_trace(lane, mode == "same-step") for lane in range(5)]
    for t in range(16):
        obs, reward, terminated, truncated, infos = env.step(act())
        for lane in range(5):
            found = (int(obs[lane, 1, 3, 2]), reward[lane], terminated[lane], truncated[lane])
            assert found == traces[lane][t], (lane, t)
        assert bool(infos) == (terminated | truncated).any()


def test_metrics_come_once_per_episode_and_belong_to_it():
    env = vector()
    env.reset()
    found = [[] for _ in range(5)]
    for _ in range(30):
        *_, infos = env.step(act())
        for lane in np.flatnonzero(infos.get("_metrics", [])):
            row = infos["metrics"]
            assert row["_length"][lane]
            assert row["return"][lane] == row["length"][lane]
            assert row["long"][lane] == (row["length"][lane] > 2)
            found[lane].append(int(row["length"][lane]))
    for lane, own in enumerate(found):
        assert own == [min(length, 3) for length in lengths_of(lane, len(own))]
        assert len(own) >= 7


def test_the_last_observation_of_an_episode_is_kept_where_the_same_step_starts_the_next():
    env = vector(autoreset="same-step")
    env.reset()
    seen = 0
    for _ in range(10):
        *_, terminated, truncated, infos = env.step(act())
        for lane in np.flatnonzero(terminated | truncated):
            seen += 1
            length = int(infos["final_info"]["metrics"]["length"][lane])
            assert int(infos["final_obs"][lane][0, 0, 0]) % 10 == length
            assert infos["_final_obs"][lane] and infos["_final_info"][lane]
        assert all(one is None for one in infos.get("final_obs", act())[~(terminated | truncated)])
    assert seen > 10


def test_lanes_do_not_depend_on_how_many_there_are():
    few, many = vector(2), vector(5)
    assert np.array_equal(few.reset()[0], many.reset()[0][:2])
    for _ in range(9):
        assert np.array_equal(few.step(act(2))[0], many.step(act(5))[0][:2])


def test_a_seed_starts_over_and_no_seed_goes_on():
    env = vector()
    first = env.reset()[0]
    second = env.reset()[0]
    assert [int(one[0, 0, 0]) // 10 for one in second] == [lengths_of(i, 2)[1] for i in range(5)]
    assert np.array_equal(env.reset(seed=0)[0], first)
    assert not np.array_equal(env.reset(seed=4)[0], first)


def test_episodes_of_training_are_none_of_those_that_are_evaluated():
    first, grid = root(0), jnp.arange(8)

    def every(make):
        keys = jax.vmap(lambda a: jax.vmap(lambda b: make(a, b))(grid))(grid)
        return {tuple(row) for row in jax.random.key_data(keys).reshape(-1, 2).tolist()}

    training = every(lambda lane, n: jax.random.fold_in(jax.random.fold_in(first, lane), n))
    evaluated = every(lambda seed, n: episode_key(0, seed, n))
    assert len(training) == len(evaluated) == 64
    assert not training & evaluated


def test_observations_handed_out_stay_as_they_were():
    env = vector()
    first = env.reset()[0]
    copy = first.copy()
    for _ in range(5):
        env.step(act())
    assert np.array_equal(first, copy)


def test_wrong_actions_are_named():
    env = vector(2)
    gym = pytest.importorskip("gymnasium")
    with pytest.raises(gym.error.ResetNeeded, match="reset"):
        env.step(act(2))
    env.reset()
    with pytest.raises(envs.InputError, match=r"expected 2 whole numbers, got float64\[2\]"):
        env.step(np.zeros(2))
    with pytest.raises(envs.InputError, match=r"in \[0, 2\), got \[0, 2\]"):
        env.step(np.array([0, 2]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"num_envs": 0}, "at least 1, got 0"),
        ({"seed": -1}, "seed: expected a whole number"),
        ({"seed": 2**32}, "seed: expected a whole number"),
        ({"autoreset": "nextstep"}, "did you mean 'next-step'"),
    ],
)
def test_settings_out_of_range_are_refused(values, message):
    with pytest.raises(envs.InputError, match=message):
        vector(**values)


def test_the_single_form_plays_lane_zero_and_has_to_be_reset():
    gym = pytest.importorskip("gymnasium")
    env = envs.gymnasium(Countdown(), None, seed=3)
    lengths = []
    for number in range(4):
        obs, info = env.reset()
        assert int(obs[0, 0, 0]) == shown(lengths_of(0, number + 1, seed=3)[-1], 0)
        over = False
        while not over:
            obs, _, terminated, truncated, info = env.step(1)
            over = terminated or truncated
            assert bool(info) == over
        lengths.append(info["metrics"]["length"])
        with pytest.raises(gym.error.ResetNeeded):
            env.step(1)
    assert lengths == [min(one, 3) for one in lengths_of(0, 4, seed=3)]


def test_the_single_form_passes_the_checker_of_gymnasium():
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    single = envs.gymnasium(Countdown(), None, seed=0)
    single.reset()
    assert single.render().shape == (2, 4, 3)
    check_env(single, skip_render_check=True)


def test_importing_envs_loads_no_gymnasium():
    code = "import envs, sys; assert 'gymnasium' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_gymnasium_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "envs.adapters.gymnasium", raising=False)
    with pytest.raises(envs.InputError, match=r"pip install 'heldout\[gym\]'"):
        envs.gymnasium  # noqa: B018


# ------------------------------------------------------------------------------ for JAX trainers


GAME = envs.gymnax(Countdown(), None)


@jax.jit
def run_lanes(keys):
    """Shown value, reward, done and infos of 12 steps of every lane, by vmap and scan."""

    def body(states, key):
        lanes = jax.random.split(key, keys.shape[0])
        actions = jnp.zeros(keys.shape[0], int)
        obs, states, reward, done, infos = jax.vmap(GAME.step)(lanes, states, actions)
        return states, (obs[:, 1, 3, 2], reward, done, infos)

    states = jax.vmap(GAME.reset)(keys)[1]
    return jax.lax.scan(body, states, jax.random.split(jax.random.key(9), 12))[1]


def test_functions_for_jax_trainers_equal_the_plain_definition():
    """One lane after another, with the new episode of a step decided by that step's key."""
    env = Countdown()
    start = jax.jit(lambda key: env.reset(jax.random.fold_in(key, TRAIN), None).length)
    keys = jax.random.split(jax.random.PRNGKey(1), 4)  # raw keys, as many trainers still use
    seen, reward, done, infos = jax.device_get(run_lanes(keys))
    step_keys = jax.vmap(partial(jax.random.split, num=4))(jax.random.split(jax.random.key(9), 12))
    for lane in range(4):
        t, length = 0, int(start(jax.random.wrap_key_data(keys[lane])))
        for step in range(12):
            t += 1
            over = t == min(length, 3)
            assert done[step, lane] == over
            assert reward[step, lane] == 1
            assert infos["length"][step, lane] == infos["return"][step, lane] == t
            assert infos["discount"][step, lane] == 1 - (over and length <= 3)
            if over:
                t, length = 0, int(start(step_keys[step, lane]))
            assert seen[step, lane] == shown(length, t)


def test_functions_can_be_mapped_twice():
    """Several trainings at once, each over several lanes."""
    keys = jax.random.split(jax.random.PRNGKey(1), (3, 4))
    twice = jax.vmap(run_lanes)(keys)
    for i in range(3):
        jax.tree.map(np.testing.assert_array_equal, run_lanes(keys[i]),
                     jax.tree.map(lambda leaf, i=i: leaf[i], twice))  # fmt: skip


def test_spaces_have_what_trainers_ask_for():
    assert GAME.action_space().n == GAME.num_actions == 2
    assert int(GAME.action_space().sample(jax.random.key(0))) in (0, 1)
    space = GAME.observation_space()
    assert (space.shape, space.dtype, space.low, space.high) == ((2, 4, 3), jnp.uint8, 0, 255)
