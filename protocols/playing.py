"""Play a side with policies that need no training: for audits, and for pictures of a suite."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs import Config, Env, InputError
from envs.keys import episode_key, policy_key

SEES_STATE = ("oracle", "greedy_manhattan")  # methods by which an environment plays itself
RANDOM, NOOP = "random", "noop"
MOST_STEPS = 1000  # an episode that is longer is played in part
EPISODES = 64  # per script


@dataclass(frozen=True)
class Solved:
    """How many episodes the best script ends with success."""

    script: str
    count: int
    episodes: int

    @property
    def share(self) -> float:
        return self.count / self.episodes

    def __str__(self) -> str:
        return f"{self.count}/{self.episodes} by {self.script if self.count else 'any script'}"


@dataclass(frozen=True, eq=False)
class Played:
    """What several scripts did on one side; every script plays the same episodes."""

    env: Env
    params: Any
    scripts: tuple[str, ...]
    episodes: int
    traces: dict[str, list[bytes]]  # script -> digest of latents and outcomes, from the reset on
    has_latent: bool  # whether the traces hold latent states, or outcomes only
    success: dict[str, np.ndarray] | None  # script -> bool[episodes]; None: nothing counts success
    lengths: dict[str, np.ndarray]  # script -> i64[episodes]; steps until an episode ends
    times: tuple[int, ...]
    kept: Any  # states after `times` steps, [times, lanes]; lanes are scripts x episodes

    @property
    def deliberate(self) -> tuple[str, ...]:
        """The scripts that try something; where there are none, random play."""
        return tuple(name for name in self.scripts if name not in (RANDOM, NOOP)) or (RANDOM,)

    @property
    def best(self) -> Solved | None:
        """The script that solves most episodes."""
        if self.success is None:
            return None
        counts = {name: int(wins.sum()) for name, wins in self.success.items()}
        return Solved(name := max(counts, key=counts.__getitem__), counts[name], self.episodes)

    def states(self, moments: Sequence[tuple[int, str, int]]) -> Any:
        """Return states with a leading axis, one per (time, script, episode)."""
        at = np.array([self.times.index(time) for time, _, _ in moments])
        lane = np.array([self.scripts.index(s) * self.episodes + e for _, s, e in moments])
        return jax.tree.map(lambda leaf: leaf[at, lane], self.kept)

    def pictures(self, states: Any) -> np.ndarray:
        """Return what a policy sees of states with a leading axis, [N, ...]."""
        return np.asarray(_observe(self.env, states, self.params))


def play(
    config: Config, *, metric: str = "success", times: Sequence[int] = (),
    episodes: int = EPISODES, steps: int = MOST_STEPS, seed: int = 0,
) -> Played:  # fmt: skip
    """Play whole episodes (at most `steps` steps) with every script an environment offers.

    The scripts are its `scripts`, the methods in SEES_STATE it has, and random play. Episodes have
    the keys of an evaluation with master seed `seed`, so that all sides start alike.

    Args:
        metric: name of the metric that is 1 where an episode succeeds.
        times: numbers of steps after which states are kept; later ones than the last are left out.
    """
    env, params = config.build()
    steps = min(env.horizon, steps)
    times = tuple(sorted({time for time in times if time <= steps}))
    keys = jax.vmap(partial(episode_key, seed, 0))(jnp.arange(episodes))
    methods = _methods(env, params)
    fixed = dict(getattr(env, "scripts", ()))
    scripts = (*fixed, RANDOM, *methods)
    states = _reset(env, jnp.tile(keys, len(scripts)), params)
    drawn = _random_actions(env, keys, jnp.arange(steps))
    constant = jnp.array([*fixed.values()], jnp.int32)
    actions = jnp.concatenate(
        [jnp.broadcast_to(jnp.repeat(constant, episodes), (steps, len(fixed) * episodes)), drawn], 1
    )
    wanted = jnp.array([*times, -1], jnp.int32)
    kept, latents, outcomes = _play(env, methods, states, actions, wanted, params)
    lanes = {name: slice(i * episodes, (i + 1) * episodes) for i, name in enumerate(scripts)}
    first = getattr(states, "latent", ())
    ended = np.asarray(outcomes.terminated) | np.asarray(outcomes.truncated)
    last = np.where(ended.any(0), ended.argmax(0), len(ended) - 1)  # the step that ends each
    return Played(
        env=env,
        params=params,
        scripts=scripts,
        episodes=episodes,
        traces=_traces(first, latents, outcomes, lanes),
        has_latent=hasattr(states, "latent"),
        success=_success(env, metric, outcomes, last, lanes),
        lengths={name: last[own] + 1 for name, own in lanes.items()},
        times=times,
        kept=kept,
    )


def differs_from(left: Played, right: Played, scripts: Sequence[str]) -> int | None:
    """Return the first step after which two sides differ in latents or outcomes, None if never.

    0 is the reset. Sides that offer different scripts differ there.
    """
    if left.scripts != right.scripts:
        return 0
    steps = []
    for name in scripts:
        own, other = left.traces[name], right.traces[name]
        differing = (t for t, pair in enumerate(zip(own, other, strict=False)) if len({*pair}) > 1)
        shorter = min(len(own), len(other)) if len(own) != len(other) else None
        steps += [step for step in (next(differing, shorter),) if step is not None]
    return min(steps, default=None)


def _methods(env: Env, params: Any) -> tuple[str, ...]:
    """Return the methods by which this environment plays itself (an oracle may know no answer)."""
    found = []
    for name in SEES_STATE:
        if hasattr(env, name):
            state = jax.eval_shape(env.reset, jax.random.key(0), params)
            try:
                jax.eval_shape(getattr(env, name), state, params)
            except InputError:
                continue
            found.append(name)
    return tuple(found)


@partial(jax.jit, static_argnums=0)
def _reset(env: Env, keys: jax.Array, params: Any) -> Any:
    return jax.vmap(env.reset, (0, None))(keys, params)


@partial(jax.jit, static_argnums=0)
def _random_actions(env: Env, keys: jax.Array, times: jax.Array) -> jax.Array:
    def draw(key, t):
        return jax.random.randint(policy_key(key, t), (), 0, env.num_actions)

    return jax.vmap(jax.vmap(draw, (0, None)), (None, 0))(keys, times)


@partial(jax.jit, static_argnums=0)
def _observe(env: Env, states: Any, params: Any) -> jax.Array:
    together = getattr(env, "observe_batch", jax.vmap(env.observe, (0, None)))
    return together(states, params)


@partial(jax.jit, static_argnums=(0, 1))
def _play(env, methods, states, actions, wanted, params):
    """Return (states kept [K, lanes], latents [T, lanes], outcomes [T, lanes]).

    `actions` are those of the first lanes; one group of lanes per method follows. `wanted` holds
    the K steps to keep, and one more for all the others.
    """
    lanes = jax.tree.leaves(states)[0].shape[0]
    each = (lanes - actions.shape[1]) // max(len(methods), 1)
    spare = len(wanted) - 1

    def step(carry, now):
        states, kept = carry
        t, chosen = now
        for place, name in enumerate(methods):
            first = actions.shape[1] + place * each
            group = jax.tree.map(lambda leaf, at=first: leaf[at : at + each], states)
            own = jax.vmap(getattr(env, name), (0, None))(group, params)
            chosen = jnp.concatenate([chosen, own.astype(jnp.int32)])
        states, outcome = jax.vmap(env.step, (0, 0, None))(states, chosen, params)
        slot = jnp.where(jnp.any(wanted == t), jnp.argmax(wanted == t), spare)
        kept = jax.tree.map(lambda old, new: old.at[slot].set(new), kept, states)
        return (states, kept), (getattr(states, "latent", ()), outcome)

    kept = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (spare + 1, *leaf.shape)), states)
    times = jnp.arange(1, actions.shape[0] + 1)
    (_, kept), (latents, outcomes) = jax.lax.scan(step, (states, kept), (times, actions))
    return jax.tree.map(lambda leaf: leaf[:spare], kept), latents, outcomes


def _plain(leaf: jax.Array) -> np.ndarray:
    is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(leaf) if is_key else leaf)


def _traces(first: Any, latents: Any, outcomes: Any, lanes: dict) -> dict[str, list[bytes]]:
    """Return one digest per step, the reset's first, so that sides can be compared bit for bit."""
    start = [_plain(leaf) for leaf in jax.tree.leaves(first)]
    later = [_plain(leaf) for leaf in jax.tree.leaves((latents, outcomes))]

    def digest(parts):
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest()

    return {
        name: [
            digest(leaf[own] for leaf in start),
            *(digest(leaf[t, own] for leaf in later) for t in range(len(later[0]))),
        ]
        for name, own in lanes.items()
    }


def _success(env, metric, outcomes, last, lanes) -> dict[str, np.ndarray] | None:
    """Return which episodes of each script end with success."""
    counted = [one.name for one in env.metrics if one.binary]
    name = metric if metric in counted else next(iter(counted), None)
    if name is None:
        return None
    wins = np.asarray(outcomes.metrics[name])[last, np.arange(len(last))] > 0
    return {script: wins[own] for script, own in lanes.items()}
