"""PPO finds the known answers of probe environments, and its parts equal cases solved by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ppo_probes import (
    ConstantReward,
    DelayedReward,
    NoisyObservation,
    RandomLength,
    TimeLimit,
    TinyNet,
    TwoStepChoice,
)

from envs import InputError, PlatformerConfig
from envs.keys import training_key
from reference_agents import networks, ppo

pytestmark = pytest.mark.slow

QUICK = ppo.PPOConfig(
    steps=6_400, num_envs=16, rollout=16, epochs=4, minibatch=64, learning_rate=1e-2,
    gamma=0.9, reward_scale=1.0,
)  # fmt: skip


NOISY = replace(QUICK, steps=25_600, learning_rate=3e-3)


def learn(env, config=QUICK, seed=0, iterations=None):
    task, root = ppo.Task(env, TinyNet(env.num_actions), config), training_key(seed)
    state = ppo.init(task, root, None)
    for _ in range(iterations or config.iterations):
        state, finished = ppo.train_iteration(task, root, state, None)
    return task, state, finished


def judge(task, state, level):
    obs = jnp.full(task.env.observation_shape, level, jnp.uint8)
    logits, value = task.network.apply(state.weights, obs)
    return jax.nn.softmax(logits), float(value)


def a_rollout(reward, value, ended, cut_value):
    def column(x):
        return jnp.asarray(x, jnp.float32)[:, None]

    nothing = column(np.zeros(len(reward)))
    return ppo.Rollout(
        nothing, nothing, nothing, column(value), column(reward),
        jnp.asarray(ended)[:, None], column(cut_value),
    )  # fmt: skip


def test_constant_reward_is_the_value_of_its_only_observation_times_the_scale():
    task, state, finished = learn(ConstantReward(), replace(QUICK, reward_scale=0.1))
    assert judge(task, state, 0)[1] == pytest.approx(0.1, abs=0.02)
    assert finished.returns / finished.count == 1.0


def test_delayed_reward_is_discounted():
    task, state, _ = learn(DelayedReward())
    assert judge(task, state, 0)[1] == pytest.approx(0.9, abs=0.03)
    assert judge(task, state, 100)[1] == pytest.approx(1.0, abs=0.03)


def test_a_time_limit_is_not_an_end():
    task, state, _ = learn(TimeLimit(), replace(QUICK, gamma=0.5))
    assert judge(task, state, 100)[1] == pytest.approx(2.0, abs=0.05)


def test_a_choice_is_learned_from_what_it_brings_later():
    task, state, finished = learn(TwoStepChoice())
    assert judge(task, state, 0)[0][1] > 0.9
    assert finished.metric / finished.count > 0.9


def test_a_signal_is_found_in_noisy_pictures():
    _, _, finished = learn(NoisyObservation(), NOISY)
    assert finished.metric / finished.count > 0.9


def test_gae_equals_a_case_solved_by_hand():
    # gamma 0.5, lambda 0.5. Step 1 terminates, step 3 is cut by the time limit (V = 8 there),
    # step 4 goes on into an observation worth 10.
    rollout = a_rollout(
        reward=[1, 2, 3, 4, 5], value=[1, 1, 2, 2, 4],
        ended=[False, True, False, True, False], cut_value=[0, 0, 0, 8, 0],
    )  # fmt: skip
    advantage = ppo.gae(rollout, jnp.asarray([10.0]), 0.5, 0.5)[:, 0]
    deltas = [1 + 0.5 - 1, 2 - 1, 3 + 1 - 2, 4 + 4 - 2, 5 + 5 - 4]
    expected = [
        deltas[0] + 0.25 * deltas[1], deltas[1],
        deltas[2] + 0.25 * deltas[3], deltas[3], deltas[4],
    ]  # fmt: skip
    np.testing.assert_allclose(advantage, expected)


def test_gae_with_lambda_one_is_return_minus_value():
    rollout = a_rollout([1, 1, 1], [0.3, -2, 5], [False] * 3, [0] * 3)
    advantage = ppo.gae(rollout, jnp.asarray([4.0]), 0.5, 1.0)[:, 0]
    returns = np.asarray([1 + 0.5 + 0.25 + 0.5, 1 + 0.5 + 1, 1 + 2])
    np.testing.assert_allclose(advantage, returns - np.asarray([0.3, -2, 5]), rtol=1e-6)


class FixedOutputs(NamedTuple):
    """A network whose weights are its outputs."""

    def apply(self, weights, obs, method):
        return weights


def test_loss_equals_a_case_solved_by_hand():
    # Two samples: the first action became 1.5 times as likely, the second half as likely;
    # advantages +3 and +1 normalise to +1 and -1, and both ratios are clipped at 0.2.
    seen = ppo.Rollout(
        obs=jnp.zeros(2), action=jnp.asarray([0, 0]), log_prob=jnp.log(jnp.asarray([0.5, 0.5])),
        value=jnp.asarray([1.0, 2.0]), reward=None, ended=None, cut_value=None,
    )  # fmt: skip
    probabilities = jnp.asarray([[0.75, 0.25], [0.25, 0.75]])
    weights = jnp.log(probabilities), jnp.asarray([5.0, 3.0])
    task = ppo.Task(None, FixedOutputs(), replace(QUICK, clip=0.2, value_weight=0.5))
    policy_loss = -(1.2 * 1 + 0.8 * -1) / 2
    value_loss = 0.5 * ((5 - 4) ** 2 + (3 - 3) ** 2) / 2
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    batch = seen, jnp.asarray([3.0, 1.0])
    found = jax.jit(ppo.loss, static_argnums=1)(weights, task, batch, 0.1)
    assert found == pytest.approx(policy_loss + 0.5 * value_loss - 0.1 * entropy, rel=1e-5)
    # Values may move by 2 at most, from 1 to 3 and from 2 to 3; the worse of both errors counts.
    task = task._replace(config=replace(task.config, value_clip=2.0))
    value_loss = 0.5 * (max(5 - 4, 4 - 3) ** 2 + (3 - 3) ** 2) / 2
    found = jax.jit(ppo.loss, static_argnums=1)(weights, task, batch, 0.1)
    assert found == pytest.approx(policy_loss + 0.5 * value_loss - 0.1 * entropy, rel=1e-5)
    task = task._replace(config=replace(task.config, value_clip=0.5))
    value_loss = 0.5 * ((4 - 1.5) ** 2 + (3 - 2.5) ** 2) / 2
    found = jax.jit(ppo.loss, static_argnums=1)(weights, task, batch, 0.1)
    assert found == pytest.approx(policy_loss + 0.5 * value_loss - 0.1 * entropy, rel=1e-5)


def test_the_learning_rate_falls_to_zero_or_stays():
    gradient = {"w": jnp.ones(3)}
    for anneal, last in ((True, 0.0), (False, QUICK.learning_rate)):
        rule = ppo.optimizer(replace(QUICK, steps=2 * QUICK.batch, anneal=anneal))
        state = rule.init(gradient)
        for _ in range(2 * QUICK.updates_per_iteration + 1):
            change, state = rule.update(gradient, state)
        assert -change["w"][0] == pytest.approx(last, rel=1e-3)


def test_no_floor_leaves_rewards_as_they_are():
    reward = jnp.asarray([-10.0, -0.1, 0.2])
    raw = replace(QUICK, reward_floor=None, reward_scale=1.0)
    np.testing.assert_array_equal(ppo._learned(reward, raw), reward)
    floored = replace(QUICK, reward_floor=-0.5, reward_scale=2.0)
    np.testing.assert_allclose(ppo._learned(reward, floored), [-1.0, -0.2, 0.4], rtol=1e-6)


def test_minibatches_larger_than_a_rollout_are_refused():
    with pytest.raises(InputError, match="512 frames are more than a rollout holds"):
        replace(QUICK, minibatch=512)


def collected(env, config):
    task, root = ppo.Task(env, TinyNet(), config), training_key(3)
    state = ppo.init(task, root, None)
    return jax.jit(ppo.collect, static_argnums=0)(task, root, jax.random.key(0), state, None)


def test_each_lane_starts_anew_exactly_when_its_episode_ends():
    state, rollout, _, finished = collected(RandomLength(), QUICK)
    t, ended = np.asarray(rollout.obs)[..., 0, 0, 0], np.asarray(rollout.ended)
    assert (t[0] == 0).all()
    np.testing.assert_array_equal(t[1:], np.where(ended[:-1], 0, t[:-1] + 1))
    assert len({tuple(lane) for lane in ended.T}) > 8, "lanes must end at different times"
    np.testing.assert_array_equal(state.episodes, 1 + ended.sum(0))
    assert finished.count == ended.sum()
    assert finished.returns == (t + 1)[ended].sum()


def test_no_two_episodes_of_a_run_share_a_key():
    task = ppo.Task(RandomLength(), TinyNet(), QUICK)
    starts = [
        ppo._fresh_episodes(task, training_key(0), jnp.full(16, episode), None).key
        for episode in range(8)
    ]
    raw = np.concatenate([jax.random.key_data(keys) for keys in starts])
    assert len(np.unique(raw, axis=0)) == 8 * 16


def test_only_time_limits_are_bootstrapped():
    _, rollout, _, _ = collected(RandomLength(), QUICK)
    assert not np.asarray(rollout.cut_value).any()
    state, rollout, _, _ = collected(TimeLimit(), QUICK)
    ended, cut = np.asarray(rollout.ended), np.asarray(rollout.cut_value)
    np.testing.assert_array_equal(ended, np.arange(1, 17)[:, None] % 5 == np.zeros((1, 16)))
    value = TinyNet().apply(state.weights, jnp.full((1, 1, 1), 100, jnp.uint8))[1]
    np.testing.assert_allclose(cut, np.where(ended, value, 0.0), rtol=1e-6)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others():
    states = (learn(NoisyObservation(), NOISY, seed, iterations=4)[1] for seed in (0, 0, 1))
    a, b, c = (state.weights["params"]["policy"]["kernel"] for state in states)
    np.testing.assert_array_equal(a, b)
    assert not np.allclose(a, c)


def test_a_short_training_on_the_platformer_improves_over_its_start():
    env, params = PlatformerConfig(episode_length=64).build()
    config = ppo.PPOConfig(steps=20_480, num_envs=32, rollout=64)
    task, root = ppo.Task(env, networks.patch(env.num_actions), config), training_key(0)
    state, returns = ppo.init(task, root, params), []
    for _ in range(config.iterations):
        state, finished = ppo.train_iteration(task, root, state, params)
        returns.append(float(finished.returns / finished.count))
    assert returns[0] < -400, "random actions jump half of the time"
    assert np.mean(returns[-3:]) > returns[0] / 2
