"""Every requested episode counts exactly once, whatever the batching."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from harness_probes import ProbeConfig, always_right

from envs.keys import LEVEL, episode_key
from harness.errors import RunError
from harness.policy import policy
from harness.rollout import lanes_per_block, play

pytestmark = pytest.mark.slow

LANES = lanes_per_block()


def build(**values):
    return ProbeConfig(**values).build()


def roll(env_and_params, function=always_right, **kwargs):
    kind = kwargs.pop("kind", None)
    carry = kwargs.pop("carry", None)
    return play(*env_and_params, policy(function, kind=kind, carry=carry), **kwargs)


@pytest.mark.parametrize("episodes", [1, 3, LANES, LANES + 1, 3 * LANES - 5])
def test_every_requested_episode_counts_once(episodes):
    batch = roll(build(), episodes=episodes)
    assert batch.episodes == episodes
    assert batch.columns["length"].tolist() == [3] * episodes
    assert batch.columns["return"].tolist() == [3] * episodes
    assert batch.columns["terminated"].all()
    assert not batch.columns["truncated"].any()
    assert batch.action_counts.tolist() == [0, 3 * episodes, 0]


def test_episodes_keep_their_identity_when_more_are_asked_for():
    few = roll(build(lengths="one or hundred"), episodes=10)
    many = roll(build(lengths="one or hundred"), episodes=100)
    for name, column in few.columns.items():
        assert np.array_equal(column, many.columns[name][:10]), name


@pytest.mark.parametrize("num_envs", [1, 64, 256, 1000])
def test_records_do_not_depend_on_num_envs(num_envs):
    sampled = policy(lambda obs, key: jax.random.randint(key, (), 0, 3))
    setting = {"episodes": 150, "training_seed": 4}
    one = play(*build(lengths="one or hundred"), sampled, num_envs=64, **setting)
    other = play(*build(lengths="one or hundred"), sampled, num_envs=num_envs, **setting)
    for name, column in one.columns.items():
        assert np.array_equal(column, other.columns[name]), name
    assert np.array_equal(one.action_counts, other.action_counts)


def test_short_episodes_are_not_counted_more_often_than_long_ones():
    """Half of the episodes last 1 step, half 100: each lasts what its own key says."""
    batch = roll(build(lengths="one or hundred"), episodes=200)
    keys = [episode_key(0, 0, episode) for episode in range(200)]
    long = [bool(jax.random.bernoulli(jax.random.fold_in(key, LEVEL))) for key in keys]
    assert batch.columns["length"].tolist() == [100 if one else 1 for one in long]
    assert batch.columns["return"].tolist() == batch.columns["length"].tolist()
    assert 0.35 < np.mean(long) < 0.65


def test_metrics_are_taken_at_the_end_of_the_episode_not_later():
    batch = roll(build(lengths="one or hundred"), episodes=70)
    assert np.array_equal(batch.columns["t"], batch.columns["length"])


def test_the_time_limit_truncates():
    batch = roll(build(lengths="endless", horizon=7), episodes=5)
    assert batch.columns["length"].tolist() == [7] * 5
    assert batch.columns["truncated"].all()
    assert not batch.columns["terminated"].any()


def test_training_seeds_and_master_seeds_get_their_own_episodes():
    lengths = [
        roll(
            build(lengths="one or hundred"), episodes=40, master_seed=master, training_seed=seed
        ).columns["length"]
        for master, seed in [(0, 0), (0, 1), (1, 0)]
    ]
    assert not np.array_equal(lengths[0], lengths[1])
    assert not np.array_equal(lengths[0], lengths[2])
    assert not np.array_equal(lengths[1], lengths[2])


@pytest.mark.parametrize("num_envs", [1, 8, 64])
def test_memory_starts_anew_in_every_episode(num_envs):
    """A step counter as memory: action = count; success (always 1) only where the count stays 1."""

    def counting(obs, count, key):
        return count % 3, count + 1

    batch = roll(build(), counting, carry=jnp.int32(0), episodes=9, num_envs=num_envs)
    assert batch.action_counts.tolist() == [9, 9, 9]  # 0, 1, 2 in each of nine episodes


@pytest.mark.parametrize("kind", ["host-batch", "host-single", "jax-batch"])
def test_all_kinds_of_policies_give_the_same_records(kind):
    def act(obs, key):
        shape = np.shape(obs)[:-3]
        return np.full(shape, 1, np.int32) if kind.startswith("host") else jnp.full(shape, 1)

    for setting in ({"lengths": "one or hundred"}, {"lengths": "endless", "horizon": 5}):
        other = roll(build(**setting), act, kind=kind, episodes=9, num_envs=4)
        own = roll(build(**setting), episodes=9)
        for name, column in own.columns.items():
            assert np.array_equal(column, other.columns[name]), name
        assert np.array_equal(own.action_counts, other.action_counts)


def test_a_host_policy_that_writes_into_its_input_changes_nothing():
    def vandal(obs, seed):
        action = np.full(len(obs), int(obs[0, 0, 0, 0] < 100), np.int32)
        obs *= 0
        obs += 255
        return action

    batch = roll(build(grey=7.0), vandal, kind="host-batch", episodes=3)
    assert batch.columns["success"].tolist() == [1, 1, 1]


def test_an_action_that_does_not_exist_stops_the_run_and_is_named():
    def wrong_later(obs, count, key):
        return jnp.where(count == 2, 9, 1), count + 1

    with pytest.raises(RunError, match=r"outside \[0, 3\) at step 2 of episode 0"):
        roll(build(), wrong_later, carry=jnp.int32(0), episodes=4)


def test_a_host_policy_that_raises_is_named_with_its_step():
    def failing(obs, seed):
        raise ZeroDivisionError("no luck")

    with pytest.raises(RunError, match="failing failed at step 0: ZeroDivisionError: no luck"):
        roll(build(), failing, kind="host-batch", episodes=4)
