"""Proximal policy optimisation (Schulman et al., 2017) as a handful of functions over `PPOConfig`.

    collect -> gae -> update (epochs of minibatches, each one `loss` and one optimiser step)

All of it is pure JAX and compiled as one `train_iteration`. Environments do not reset themselves,
so `collect` does: an episode that ends is followed by a fresh one in the same lane. Rewards are
scaled here and nowhere else. A time limit is not a fact about the task, so it is bootstrapped with
the value of the last observation instead of being treated as an end.

Every random draw derives from the run's root key (`envs.keys.training_key`) and from counters in
the state, so a run that continues from a saved state equals one that was never interrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from envs.core import Env
from envs.errors import InputError
from envs.keys import named_key
from reference_agents.augment import augment
from reference_agents.networks import apart


@dataclass(frozen=True)
class PPOConfig:
    """How to train; the defaults are what the platformer needs on two CPU cores (see PUBLISHED)."""

    steps: int = 1_200_000  # environment steps in total, rounded up to whole rollouts
    num_envs: int = 64
    rollout: int = 128  # steps per environment and iteration
    epochs: int = 2  # rollouts are cheap here: fresh data beats a third pass over old data
    minibatch: int = 256
    learning_rate: float = 1e-3
    entropy: float = 0.01  # weight of the entropy bonus
    anneal: bool = True  # let learning rate and entropy bonus fall linearly to zero
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_clip: float | None = None  # how far an update may move a value; None: anywhere
    value_weight: float = 0.5
    max_gradient: float = 0.5  # global norm
    # Lower rewards count as this. Where one wrong step costs fifty good ones, going to and fro in
    # front of a wall looks nearly as good as jumping over it, and some seeds never get past that.
    reward_floor: float | None = -0.5
    reward_scale: float = 0.1  # keeps values near one; the environment's rewards stay as they are

    def __post_init__(self) -> None:
        if self.minibatch > self.batch:
            raise InputError(
                f"minibatch: {self.minibatch} frames are more than a rollout holds "
                f"({self.num_envs} environments x {self.rollout} steps)"
            )

    @property
    def batch(self) -> int:
        return self.num_envs * self.rollout

    @property
    def iterations(self) -> int:
        return -(-self.steps // self.batch)

    @property
    def updates_per_iteration(self) -> int:
        return self.epochs * (self.batch // self.minibatch)


# The baseline of the published pairs (arXiv 2601.14232), for a GPU; NatureNet belongs to it. There
# a time limit ends an episode like death; here it is bootstrapped.
PUBLISHED = PPOConfig(
    steps=25_000_000, num_envs=128, rollout=128, epochs=3, minibatch=2_048, learning_rate=5e-4,
    anneal=False, gamma=0.999, value_clip=0.2, reward_floor=None, reward_scale=1.0,
)  # fmt: skip


class Task(NamedTuple):
    """What is fixed while a program runs: hashable, so it can be a static argument."""

    env: Env
    network: nn.Module  # see `networks`
    config: PPOConfig
    augment: str | None = None  # a name in `augment.AUGMENTATIONS`


class TrainState(NamedTuple):
    """Everything a run needs to go on, beside its root key."""

    weights: Any
    optimizer: Any
    envs: Any  # environment states, leading axis N
    episodes: jax.Array  # i32[N]; episodes started in each lane
    returns: jax.Array  # f32[N]; unscaled rewards of the running episodes so far
    iteration: jax.Array  # i32[]


class Rollout(NamedTuple):
    """What `collect` saw, leading axes [T, N]."""

    obs: jax.Array  # u8[T, N, ...]; compact
    action: jax.Array  # i32
    log_prob: jax.Array  # f32
    value: jax.Array  # f32
    reward: jax.Array  # f32; clipped from below and scaled
    ended: jax.Array  # bool; terminated or truncated at this step
    cut_value: jax.Array  # f32; value of the last observation where the time limit cut, else 0


class Finished(NamedTuple):
    """Sums over the training episodes that ended in one iteration."""

    count: jax.Array  # i32[]
    returns: jax.Array  # f32[]
    metric: jax.Array  # f32[]; the environment's primary metric at the end


def optimizer(config: PPOConfig) -> optax.GradientTransformation:
    """Return Adam with clipped gradients; the learning rate falls linearly to zero, or stays."""
    total = config.iterations * config.updates_per_iteration
    last = 0.0 if config.anneal else config.learning_rate
    schedule = optax.linear_schedule(config.learning_rate, last, total)
    return optax.chain(
        optax.clip_by_global_norm(config.max_gradient), optax.adam(schedule, eps=1e-5)
    )


@partial(jax.jit, static_argnums=0)
def init(task: Task, root: jax.Array, params: Any) -> TrainState:
    """Return the state at step 0 of the run with root key `root`."""
    lanes = jnp.zeros(task.config.num_envs, jnp.int32)
    states = _fresh_episodes(task, root, lanes, params)
    weights = task.network.init(named_key(root, "weights"), observe(task.env, states, params)[:1])
    return TrainState(
        weights, optimizer(task.config).init(weights), states, lanes + 1,
        jnp.zeros(task.config.num_envs), jnp.int32(0),
    )  # fmt: skip


@partial(jax.jit, static_argnums=0)
def train_iteration(
    task: Task, root: jax.Array, state: TrainState, params: Any
) -> tuple[TrainState, Finished]:
    """Collect one rollout and learn from it; `root` is the run's root key."""
    key = jax.random.fold_in(named_key(root, "iteration"), state.iteration)
    state, rollout, last_value, finished = collect(task, root, key, state, params)
    advantage = gae(rollout, last_value, task.config.gamma, task.config.gae_lambda)
    weights, optimizer_state = update(task, key, state, rollout, advantage)
    state = state._replace(
        weights=weights, optimizer=optimizer_state, iteration=state.iteration + 1
    )
    return state, finished


def collect(
    task: Task, root: jax.Array, key: jax.Array, state: TrainState, params: Any
) -> tuple[TrainState, Rollout, jax.Array, Finished]:
    """Act for one rollout. Returns the new state, what was seen, V of what comes next, f32[N]."""
    env, network, config, _ = task
    keys = jax.random.split(named_key(key, "actions"), config.rollout)

    def look(states, key):
        def draw(states):
            pictures = observe(env, states, params)
            return network.compact(augment(task.augment, named_key(key, "augment"), pictures))

        obs = apart(draw, states, state.weights)
        return obs, *network.apply(state.weights, obs, method="judge")

    def step(carry, key):
        states, episodes, returns = carry
        obs, logits, value = look(states, key)
        action = jax.random.categorical(key, logits)
        states, outcome = jax.vmap(env.step, (0, 0, None))(states, action, params)
        ended = outcome.terminated | outcome.truncated
        returns = returns + outcome.reward
        metric = outcome.metrics[env.metrics[0].name] if env.metrics else returns
        finished = Finished(ended.sum(), (returns * ended).sum(), (metric * ended).sum())

        def start_anew(states):
            value = look(states, named_key(key, "end"))[2]
            cut_value = value * (outcome.truncated & ~outcome.terminated)
            return _where(ended, _fresh_episodes(task, root, episodes, params), states), cut_value

        # Most steps end no episode, and drawing levels and pictures for nothing is not free.
        states, cut_value = jax.lax.cond(
            ended.any(), start_anew, lambda states: (states, jnp.zeros_like(value)), states
        )
        seen = Rollout(
            obs, action, _log_prob(logits, action), value,
            _learned(outcome.reward, config),
            ended, cut_value,
        )  # fmt: skip
        return (states, episodes + ended, returns * ~ended), (seen, finished)

    carry = state.envs, state.episodes, state.returns
    (states, episodes, returns), (rollout, finished) = jax.lax.scan(step, carry, keys)
    state = state._replace(envs=states, episodes=episodes, returns=returns)
    return state, rollout, look(states, key)[2], jax.tree.map(lambda x: x.sum(0), finished)


def _learned(reward: jax.Array, config: PPOConfig) -> jax.Array:
    """Return the reward that is learned from."""
    if config.reward_floor is not None:
        reward = jnp.maximum(reward, config.reward_floor)
    return reward * config.reward_scale


def gae(rollout: Rollout, last_value: jax.Array, gamma: float, gae_lambda: float) -> jax.Array:
    """Return generalised advantage estimates (Schulman et al., 2016, eq. 16), f32[T, N].

    `last_value` is the value of the observation after the rollout. What follows a step that ended
    an episode is its `cut_value`: nothing where the task terminated, else the bootstrap.
    """
    following = jnp.concatenate([rollout.value[1:], last_value[None]])
    following = jnp.where(rollout.ended, rollout.cut_value, following)
    delta = rollout.reward + gamma * following - rollout.value

    def back(advantage, step):
        delta, ended = step
        advantage = delta + gamma * gae_lambda * jnp.where(ended, 0.0, advantage)
        return advantage, advantage

    return jax.lax.scan(back, jnp.zeros_like(last_value), (delta, rollout.ended), reverse=True)[1]


def loss(
    weights: Any, task: Task, batch: tuple[Rollout, jax.Array], entropy_weight: jax.Array
) -> jax.Array:
    """Return clipped surrogate plus value error minus entropy bonus (eq. 9 of the paper), f32[]."""
    config, (seen, advantage) = task.config, batch
    logits, value = task.network.apply(weights, seen.obs, method="judge")
    ratio = jnp.exp(_log_prob(logits, seen.action) - seen.log_prob)
    clipped = jnp.clip(ratio, 1.0 - config.clip, 1.0 + config.clip)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    policy_loss = -jnp.minimum(ratio * scaled, clipped * scaled).mean()
    target = seen.value + advantage
    error = jnp.square(value - target)
    if config.value_clip is not None:
        moved = jnp.clip(value - seen.value, -config.value_clip, config.value_clip)
        error = jnp.maximum(error, jnp.square(seen.value + moved - target))
    value_loss = 0.5 * error.mean()
    log_probs = jax.nn.log_softmax(logits)
    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
    return policy_loss + config.value_weight * value_loss - entropy_weight * entropy


def update(
    task: Task, key: jax.Array, state: TrainState, rollout: Rollout, advantage: jax.Array
) -> tuple[Any, Any]:
    """Return (weights, optimizer state) after `epochs` passes over the shuffled rollout."""
    config = task.config
    flat = jax.tree.map(lambda x: x.reshape(config.batch, *x.shape[2:]), (rollout, advantage))
    remaining = 1.0 - state.iteration / config.iterations if config.anneal else 1.0
    rule = optimizer(config)

    def minibatch(carry, chosen):
        weights, optimizer_state = carry
        batch = apart(lambda i: jax.tree.map(lambda x: x[i], flat), chosen, weights)
        gradient = jax.grad(loss)(weights, task, batch, config.entropy * remaining)
        change, optimizer_state = rule.update(gradient, optimizer_state, weights)
        return (optax.apply_updates(weights, change), optimizer_state), None

    def epoch(carry, key):
        order = jax.random.permutation(key, config.batch)
        whole = config.batch // config.minibatch * config.minibatch
        return jax.lax.scan(minibatch, carry, order[:whole].reshape(-1, config.minibatch))

    keys = jax.random.split(named_key(key, "shuffle"), config.epochs)
    return jax.lax.scan(epoch, (state.weights, state.optimizer), keys)[0]


def observe(env: Env, states: Any, params: Any) -> jax.Array:
    """Return the pictures of N states, by the environment's own batched code where it has some."""
    if hasattr(env, "observe_batch"):
        return env.observe_batch(states, params)
    return jax.vmap(env.observe, (0, None))(states, params)


def _fresh_episodes(task: Task, root: jax.Array, episodes: jax.Array, params: Any) -> Any:
    """Start episode `episodes[i]` of lane i: no two episodes of a run share a key."""

    def start(lane, episode):
        key = jax.random.fold_in(named_key(root, "episodes"), lane)
        return task.env.reset(jax.random.fold_in(key, episode), params)

    return jax.vmap(start)(jnp.arange(task.config.num_envs), episodes)


def _where(chosen: jax.Array, new: Any, old: Any) -> Any:
    """Take the lanes of `new` where `chosen`, bool[N]; leaves have any shape behind that axis."""

    def pick(a, b):
        return jnp.where(chosen.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, new, old)


def _log_prob(logits: jax.Array, action: jax.Array) -> jax.Array:
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], -1)[..., 0]
