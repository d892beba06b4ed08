"""The puzzle as an environment: the contract, honest endings, latents that no picture touches."""

import pickle
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs import PuzzleConfig, check_env
from envs.errors import InputError
from envs.puzzle import observations
from envs.puzzle.dynamics import Dynamics

pytestmark = pytest.mark.slow

CONFIGS = {
    "published": {},
    "large": {"height": 4, "width": 5, "reward": "code", "max_steps": 6, "images": {"pool": 3}},
    "numbers": {
        "height": 2, "width": 3, "circular": True, "observation": "onehot",
        "start": {"mode": "scramble", "moves": {"uniform": [2, 9]}},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_every_kind_of_configuration_keeps_the_contract(name):
    env, params = PuzzleConfig.from_dict(CONFIGS[name]).build()
    check_env(env, params, episodes=2, steps=8)


def raw(**changes):
    return PuzzleConfig.from_dict({"observation": "raw", **changes}).build()


@pytest.fixture(scope="module")
def small():
    env, params = raw(height=2, width=2, max_steps=30)
    return env, params, jax.jit(env.step), jax.jit(env.reset)


def test_an_invalid_first_move_after_a_solved_episode_ends_nothing(small):
    env, params, step, reset = small
    state = env.reset_to(jax.random.key(0), np.array([[1, 2], [0, 3]]), params)
    state, outcome = step(state, jnp.int32(2), params)
    assert bool(outcome.terminated)
    assert float(outcome.metrics["success"]) == 1
    for seed in range(20):  # whatever came before, the next episode starts from nothing
        fresh = reset(jax.random.key(seed), params)
        blank = int(fresh.latent.blank)
        invalid = jnp.int32(0 if blank >= 2 else 1)
        _, outcome = step(fresh, invalid, params)
        assert not bool(outcome.terminated)
        assert float(outcome.reward) == -1
        assert float(outcome.metrics["success"]) == 0


def test_solving_needs_a_valid_move_and_pays_the_win_instead_of_the_rest(small):
    env, params, step, _ = small
    state = env.reset_to(jax.random.key(0), np.array([[1, 2], [0, 3]]), params)
    _, outcome = step(state, jnp.int32(3), params)  # nothing left of the blank
    assert (float(outcome.reward), bool(outcome.terminated)) == (-1.0, False)
    _, outcome = step(state, jnp.int32(2), params)
    assert (float(outcome.reward), bool(outcome.terminated)) == (10.0, True)


@pytest.mark.parametrize("action", [-1, 4, 5, 1000])
def test_actions_that_do_not_exist_count_as_invalid_moves(small, action):
    _, params, step, reset = small
    state = reset(jax.random.key(1), params)
    after, outcome = step(state, jnp.int32(action), params)
    np.testing.assert_array_equal(after.latent.board, state.latent.board)
    assert float(outcome.reward) == -1
    assert int(after.latent.t) == 1
    assert float(outcome.metrics["invalid"]) == 1


def test_the_time_limit_counts_invalid_moves(small):
    _, params, step, reset = small
    state = reset(jax.random.key(1), params)
    for t in range(1, 31):
        state, outcome = step(state, jnp.int32(-1), params)
        assert bool(outcome.truncated) == (t == 30)
        assert not bool(outcome.terminated)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31 - 1), st.lists(st.integers(0, 3), min_size=1, max_size=25))
def test_metrics_keep_their_identities(small, seed, actions):
    env, params, step, reset = small
    state = reset(jax.random.key(seed), params)
    first = int(state.latent.distance)
    for action in actions:
        state, outcome = step(state, jnp.int32(action), params)
        latent, metrics = state.latent, {k: float(v) for k, v in outcome.metrics.items()}
        board = np.asarray(latent.board)
        away = [abs((v - 1) // 2 - y) + abs((v - 1) % 2 - x) for (y, x), v in cells(board) if v]
        assert int(latent.distance) == sum(away)
        assert board.reshape(-1)[int(latent.blank)] == 0
        assert metrics["distance"] == pytest.approx(first * metrics["progress"], abs=1e-5)
        assert (metrics["progress"] == 1) == (metrics["success"] == 1) == bool(outcome.terminated)
        assert metrics["best_progress"] >= metrics["progress"] - 1e-6
        assert metrics["tiles"] == pytest.approx(away.count(0) / 3)
        assert 0 <= metrics["efficiency"] <= 1
        if bool(outcome.terminated):
            assert metrics["length"] <= env.horizon
            break


def cells(board):
    return [(place, int(tile)) for place, tile in np.ndenumerate(board)]


def test_directions_of_metrics_are_declared():
    env, _ = raw()
    lower = {metric.name for metric in env.metrics if metric.direction == "lower"}
    assert lower == {"length", "invalid"}
    assert env.metrics[0].name == "success"
    scale = {metric.name: metric.scale for metric in env.metrics}
    assert scale["distance"] == pytest.approx(14, abs=1e-3)
    assert scale["return"] == 10


def test_boards_and_rewards_do_not_depend_on_what_is_seen():
    """Same keys and actions: bit-equal latents, rewards and endings, whatever is seen."""
    variants = (
        {"observation": "onehot"},
        {"images": {"pool": 7, "family": ["sea", "quilt"]}, "blank_color": ["red", "blue"]},
        {"images": {"split": "heldout"}, "filters": {"hue_shift": {"uniform": [0, 90]}}},
    )
    keys = jax.random.split(jax.random.key(7), 8)
    actions = jax.random.randint(jax.random.key(8), (30, 8), 0, 4)
    runs = []
    for changes in variants:
        env, params = PuzzleConfig.from_dict(changes).build()

        def step(states, chosen, env=env, params=params):
            states, outcome = jax.vmap(env.step, (0, 0, None))(states, chosen, params)
            return states, (states.latent, outcome)

        def run(env=env, params=params, step=step):
            states = jax.vmap(env.reset, (0, None))(keys, params)
            return jax.lax.scan(step, states, actions)[1]

        runs.append(jax.jit(run)())
    for other in runs[1:]:
        jax.tree.map(np.testing.assert_array_equal, runs[0], other)


def test_observations_of_every_kind_show_the_same_board():
    board = jnp.array([[4, 0, 2], [1, 5, 3]], jnp.uint8)
    seen = {kind: np.asarray(observations.vector(kind, board)) for kind in observations.KINDS[1:]}
    expected = np.asarray(board).astype(int)
    np.testing.assert_array_equal(seen["raw"], np.where(expected == 0, -1, expected))
    numbers = np.rint(seen["normalized"] * 5)
    np.testing.assert_array_equal(np.where(seen["normalized"] < 0, 0, numbers), expected)
    np.testing.assert_array_equal(seen["onehot"].reshape(6, 6).argmax(1), expected.reshape(-1))
    places = np.rint(seen["coordinates"].reshape(6, 2) * 2).astype(int)
    np.testing.assert_array_equal((places[:, 0] * 3 + places[:, 1] + 1) % 6, expected.reshape(-1))


def test_a_solved_board_has_coordinates_in_reading_order():
    solved = jnp.array([[1, 2, 3], [4, 5, 6], [7, 8, 0]], jnp.uint8)
    places = observations.vector("coordinates", solved).reshape(9, 2) * 2
    np.testing.assert_array_equal(places, [divmod(cell, 3) for cell in range(9)])


@pytest.mark.parametrize("kind", observations.KINDS)
def test_observations_have_the_declared_shape_and_type(kind):
    env, params = PuzzleConfig.from_dict(
        {"height": 2, "width": 4, "observation": kind, "image_size": 30}
    ).build()
    shape = jax.eval_shape(
        lambda key: env.observe(env.reset(key, params), params), jax.random.key(0)
    )
    assert shape.shape == env.observation_shape
    assert shape.dtype == env.observation_dtype


def test_no_global_random_state_is_touched_or_read():
    before = pickle.dumps((random.getstate(), np.random.get_state()))
    env, params = PuzzleConfig.from_dict({"images": {"pool": 2}}).build()
    reset, boards = jax.jit(env.reset), []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)
        kept = pickle.dumps((random.getstate(), np.random.get_state()))
        boards.append(reset(jax.random.key(0), params))
        assert pickle.dumps((random.getstate(), np.random.get_state())) == kept
    jax.tree.map(np.testing.assert_array_equal, boards[0].latent, boards[1].latent)
    random_state, numpy_state = pickle.loads(before)
    random.setstate(random_state)
    np.random.set_state(numpy_state)


def test_nothing_is_compiled_again_from_episode_to_episode(small):
    _, params, step, reset = small
    for seed in range(3):
        state = reset(jax.random.key(seed), params)
        for action in (0, 1):
            state, _ = step(state, jnp.int32(action), params)
    assert step._cache_size() == 1
    assert reset._cache_size() == 1


def test_configurations_that_differ_in_numbers_only_share_a_program():
    one, other = raw(), raw(win_reward=1.0)
    assert one[0] == other[0]
    assert hash(one[0]) == hash(other[0])


def test_boards_are_shown_as_text():
    env, params = raw(height=2, width=3)
    state = env.reset_to(jax.random.key(0), np.array([[1, 2, 3], [0, 4, 5]]), params)
    assert env.render_text(state) == "1   2   3\n--- 4   5"
    assert env.render_text(state, "abcdefghijkl") == "ab  cd  ef\n--- gh  ij"
    sentence = "one two three four five six seven"
    assert env.render_text(state, sentence) == "one   two   three\n---   four  five"
    assert observations.render_text(state.latent.board, list("uvwxyz")) == "u   v   w\n--- x   y"
    with pytest.raises(InputError, match="too short"):
        env.render_text(state, "abc")
    with pytest.raises(InputError, match="expected 6 pieces, got 2"):
        observations.render_text(state.latent.board, ["a", "b"])


@pytest.mark.parametrize(
    ("grid", "code", "paper"),
    [((2, 2), 8, 6), ((2, 3), 16, 13), ((2, 4), 28, 24), ((3, 3), 30, 26), ((3, 4), 50, 45),
     ((4, 4), 80, 74), ((5, 5), 160, 152)],
)  # fmt: skip
def test_dense_rewards_are_normalized_as_published(grid, code, paper):
    assert Dynamics(*grid, horizon=9, reward="code").normalizer == code
    assert Dynamics(*grid, horizon=9, reward="paper").normalizer == paper


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"height": 13}, r"height: 13 is outside \[2, 12\] cells"),
        ({"rewards": "paper"}, "did you mean 'reward'"),
        ({"reward": "papers"}, "did you mean 'paper'"),
        ({"images": {"family": "landscapes"}}, "did you mean 'landscape'"),
        ({"start": {"moves": 0}}, "start.moves: 0 is outside"),
        ({"win_reward": {"uniform": [1, 2]}}, "win_reward: takes one value"),
        ({"invalid_reward": 0}, "invalid_reward"),
        ({"images": {"pool": {"uniform": [1, 2]}}}, "takes one value"),
    ],
)
def test_bad_values_are_refused_with_the_place_and_the_choices(changes, problem):
    with pytest.raises(InputError, match=problem) as caught:
        PuzzleConfig.from_dict(changes)
    assert "\n" not in str(caught.value)
