"""What both kinds of rollout share: keys of episodes, lanes that start anew, and faults.

A lane plays its own list of episodes, one after the other. Lane l of `lanes` plays the episodes
l, l + lanes, l + 2 lanes, ...: an episode is always played in the same lane, whatever else is
asked for, because some networks round differently in other places of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from envs.core import Env, Outcome
from envs.keys import episode_key
from harness.errors import RunError
from harness.policy import NOT_FINITE, Policy

OWN_COLUMNS = ("return", "length", "terminated", "truncated")  # beside the metrics


class Identity(NamedTuple):
    """What decides the episodes of one rollout, beside their numbers."""

    policy: Policy
    training_seed: int
    master_seed: int

    def keys(self, episodes: np.ndarray) -> jax.Array:
        """Return the keys of episodes, u32[...]."""
        return episode_keys(self.master_seed, np.uint32(self.training_seed), np.uint32(episodes))


class Records(NamedTuple):
    """What a rollout brings back."""

    columns: dict[str, np.ndarray]  # name -> f64[E], see `record_of`
    action_counts: np.ndarray  # i64[num_actions]
    seconds: tuple[float, float] | None = None  # in a policy that runs in Python, and in all


@partial(jax.jit, static_argnames="master_seed")
def episode_keys(master_seed: int, training_seed: jax.Array, episodes: jax.Array) -> jax.Array:
    """Return the keys of episodes u32[...]; compiled once per run, not once per cell."""
    one = partial(episode_key, master_seed, training_seed)
    return jax.vmap(one)(episodes.reshape(-1)).reshape(episodes.shape)


def observe_all(env: Env) -> Callable:
    """Return observe(states, params) over a leading axis, by the fast path where there is one."""
    return getattr(env, "observe_batch", jax.vmap(env.observe, (0, None)))


def step_all(env: Env) -> Callable:
    """Return step(states, actions, params) over a leading axis, by the fast path likewise."""
    return getattr(env, "step_batch", jax.vmap(env.step, (0, 0, None)))


def where_lanes(chosen: jax.Array, new: Any, old: Any) -> Any:
    """Return `new` in the lanes that are chosen, bool[lanes], and `old` in the others."""

    def pick(one: jax.Array, other: jax.Array) -> jax.Array:
        return jnp.where(chosen.reshape(-1, *[1] * (other.ndim - 1)), one, other)

    return jax.tree.map(pick, new, old)


def record_of(returns: Any, length: Any, outcome: Outcome) -> dict[str, Any]:
    """Return what is kept of an episode after its last step, [lanes] each: the last outcome's
    metrics, and OWN_COLUMNS."""
    own = (returns, length, outcome.terminated, outcome.truncated)
    return {**outcome.metrics, **dict(zip(OWN_COLUMNS, own, strict=True))}


# ------------------------------------------------------------------------------------- faults


def is_sound(env: Env, actions: jax.Array, outcome: Outcome) -> jax.Array:
    """Return bool[lanes]: the action exists and the reward is finite."""
    return (actions >= 0) & (actions < env.num_actions) & jnp.isfinite(outcome.reward)


def find_faults(env: Env, actions: jax.Array, outcome: Outcome, ended: jax.Array) -> jax.Array:
    """Return what is wrong with a step in every lane, i32[lanes]; 0 is nothing (see `fault_text`).

    Metrics count where the episode has ended, bool[lanes], because that is when they are recorded.
    """
    outside = (actions < 0) | (actions >= env.num_actions)
    metrics = [outcome.metrics[name] for name in sorted(outcome.metrics)]
    wrong = [actions == NOT_FINITE, outside, ~jnp.isfinite(outcome.reward)]
    wrong = jnp.stack([*wrong, *(ended & ~jnp.isfinite(metric) for metric in metrics)])
    return jnp.where(wrong.any(0), wrong.argmax(0) + 1, 0)


def fault_text(fault: int, env: Env, metrics: Collection[str]) -> str:
    """Return what a fault of `find_faults` means, to be said of a policy."""
    texts = [
        "has logits that are not finite",
        f"chose an action outside [0, {env.num_actions})",
        "got a reward that is not finite",
        *(f"got a {name!r} that is not finite" for name in sorted(metrics)),
    ]
    return texts[fault - 1]


def failure(problem: str, step: int, episode: int, identity: Identity) -> RunError:
    """Return the error that names what went wrong with the policy, and where."""
    return RunError(
        f"policy {identity.policy.name} {problem} at step {step} of episode {episode} "
        f"(training seed {identity.training_seed}, master seed {identity.master_seed})"
    )
