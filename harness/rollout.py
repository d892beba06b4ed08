"""Play episodes: every requested one exactly once, by identity, in padded blocks of lanes.

JAX policies always see blocks of a fixed number of lanes, so that one program is compiled and
records do not depend on how many blocks are in flight. An episode's key depends on (master seed,
training seed, episode) only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs.core import Env
from envs.keys import POLICY, episode_key
from harness.errors import RunError
from harness.policy import Policy, call_on_host


def lanes_per_block() -> int:
    """Return the number of lanes that JAX policies are always applied to, by kind of device."""
    return 64 if jax.default_backend() == "cpu" else 1024


@dataclass(frozen=True)
class EpisodeBatch:
    """The records of one policy on one side, one entry per episode, in order of identity."""

    columns: dict[str, np.ndarray]  # metric -> f64[E]; "length", "terminated", "truncated" besides
    action_counts: np.ndarray  # i64[num_actions], over all steps

    @property
    def episodes(self) -> int:
        return len(self.columns["length"])

    @property
    def steps(self) -> int:
        return int(self.columns["length"].sum())


def play(
    env: Env, params: Any, policy: Policy, *, episodes: int, master_seed: int = 0,
    training_seed: int = 0, num_envs: int = 256, progress: Callable[[int], None] = lambda _: None,
) -> EpisodeBatch:  # fmt: skip
    """Play episodes 0 … episodes-1 of one policy on one side.

    Args:
        env, params: the side, from `Config.build()`.
        policy: any kind; it must fit the environment.
        episodes: how many; every one counts.
        master_seed, training_seed: with the episode's number they make its key.
        num_envs: how many episodes are in flight; records of JAX policies do not depend on it.
        progress: called with the number of episodes finished since the last call.

    Raises:
        RunError: the policy chose an action that does not exist, or raised.
    """
    if episodes < 1:
        raise RunError("at least one episode is needed")
    lanes = min(num_envs, episodes) if policy.on_host else lanes_per_block()
    in_flight = 1 if policy.on_host else max(1, num_envs // lanes)
    pending: deque = deque()
    done: list[dict[str, np.ndarray]] = []

    def collect() -> None:
        count, tally = pending.popleft()
        record = jax.tree.map(lambda leaf: np.asarray(leaf)[:count], tally)
        _check_actions(record, env, policy, len(done) * lanes)
        done.append(record)
        progress(count)

    for start in range(0, episodes, lanes):
        episode_numbers = start + jnp.arange(lanes, dtype=jnp.uint32)
        keys = block_keys(master_seed, np.uint32(training_seed), episode_numbers)
        count = min(lanes, episodes - start)
        pending.append((count, _play_keys(env, params, policy, keys, count)))
        if len(pending) >= in_flight:
            collect()
    while pending:
        collect()
    merged = {name: np.concatenate([block[name] for block in done]) for name in done[0]}
    counts = merged.pop("action_counts").astype(np.int64).sum(0)
    merged.pop("bad_step")
    return EpisodeBatch({name: np.float64(column) for name, column in merged.items()}, counts)


@partial(jax.jit, static_argnames="master_seed")
def block_keys(master_seed: int, training_seed: jax.Array, episodes: jax.Array) -> jax.Array:
    """Return the keys of episodes u32[lanes]; compiled once per run, not once per cell."""
    return jax.vmap(partial(episode_key, master_seed, training_seed))(episodes)


def _play_keys(env, params, policy: Policy, keys: jax.Array, count: int) -> dict[str, jax.Array]:
    """Play one episode per key; lanes from `count` on are padding."""
    if policy.on_host:
        return _play_on_host(env, params, keys, policy, count)
    return play_block(env, policy.kind, policy.apply, params, keys, policy.weights, policy.carry)


def _check_actions(record: dict[str, np.ndarray], env: Env, policy: Policy, first: int) -> None:
    bad = np.flatnonzero(record["bad_step"] < env.horizon)
    if len(bad):
        step = int(record["bad_step"][bad[0]])
        raise RunError(
            f"policy {policy.name} chose an action outside [0, {env.num_actions}) "
            f"at step {step} of episode {first + int(bad[0])}"
        )


def _observe_all(env: Env) -> Callable:
    return getattr(env, "observe_batch", jax.vmap(env.observe, (0, None)))


def _new_tally(env: Env, metrics: dict, lanes: int) -> dict[str, jax.Array]:
    """Return the per-lane accumulators of a block before its first step."""
    zeros = jnp.zeros(lanes, jnp.float32)
    return {
        **dict.fromkeys(metrics, zeros),
        "return": zeros,
        "length": jnp.zeros(lanes, jnp.int32),
        "terminated": jnp.zeros(lanes, bool),
        "truncated": jnp.zeros(lanes, bool),
        "bad_step": jnp.full(lanes, env.horizon, jnp.int32),
        "action_counts": jnp.zeros((lanes, env.num_actions), jnp.int32),
    }


def _count_step(env: Env, tally: dict, t, actions, outcome) -> dict[str, jax.Array]:
    """Return the tally after step t; lanes whose episode has ended keep theirs."""
    alive = ~(tally["terminated"] | tally["truncated"])
    valid = (actions >= 0) & (actions < env.num_actions)
    chosen = (actions[:, None] == jnp.arange(env.num_actions)) & alive[:, None]
    after = {
        **{name: jnp.where(alive, value, tally[name]) for name, value in outcome.metrics.items()},
        "return": tally["return"] + jnp.where(alive, outcome.reward, 0.0),
        "length": tally["length"] + alive,
        "terminated": tally["terminated"] | (alive & outcome.terminated),
        "truncated": tally["truncated"] | (alive & outcome.truncated),
        "bad_step": jnp.where(alive & ~valid, jnp.minimum(tally["bad_step"], t), tally["bad_step"]),
        "action_counts": tally["action_counts"] + chosen,
    }
    return after


def _metric_names(env: Env, params: Any, keys: jax.Array) -> dict:
    """Return the metrics of one outcome as shapes (nothing is computed)."""
    state = jax.eval_shape(env.reset, keys[0], params)
    return jax.eval_shape(env.step, state, jnp.int32(0), params)[1].metrics


@partial(jax.jit, static_argnames=("env", "kind", "apply"))
def play_block(env, kind, apply, params, keys, weights, carry) -> dict[str, jax.Array]:
    """Play one episode per key (all lanes together) and return their tally."""
    lanes = keys.shape[0]
    observe, step = _observe_all(env), jax.vmap(env.step, (0, 0, None))

    def act(states, memory, keys):
        if kind == "state":  # a built-in policy that sees the latent state
            return jax.vmap(lambda state: apply(env, state, params))(states), memory
        see = apply if kind == "jax-batch" else jax.vmap(apply, (None, 0, 0, 0))
        return see(weights, memory, observe(states, params), keys)

    policy_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, POLICY)

    def unfinished(loop):
        t, _, _, tally = loop
        return (t < env.horizon) & ~jnp.all(tally["terminated"] | tally["truncated"])

    def advance(loop):
        t, states, memory, tally = loop
        step_keys = jax.vmap(jax.random.fold_in, (0, None))(policy_keys, t)
        actions, memory = act(states, memory, step_keys)
        actions = actions.reshape(lanes).astype(jnp.int32)
        states, outcome = step(states, actions, params)
        return t + 1, states, memory, _count_step(env, tally, t, actions, outcome)

    states = jax.vmap(env.reset, (0, None))(keys, params)
    memory = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (lanes, *jnp.shape(leaf))), carry)
    start = (jnp.int32(0), states, memory, _new_tally(env, _metric_names(env, params, keys), lanes))
    return jax.lax.while_loop(unfinished, advance, start)[3]


@partial(jax.jit, static_argnames="env")
def _host_reset(env, params, keys):
    states = jax.vmap(env.reset, (0, None))(keys, params)
    names = _metric_names(env, params, keys)
    return states, _observe_all(env)(states, params), _new_tally(env, names, keys.shape[0])


@partial(jax.jit, static_argnames="env")
def _host_step(env, params, states, tally, t, actions):
    states, outcome = jax.vmap(env.step, (0, 0, None))(states, actions, params)
    return states, _observe_all(env)(states, params), _count_step(env, tally, t, actions, outcome)


def _play_on_host(env, params, keys, policy: Policy, count: int) -> dict[str, jax.Array]:
    """As `play_block`, asking the policy in Python for the first `count` lanes."""
    states, obs, tally = _host_reset(env, params, keys)
    memory = None
    if policy.carry is not None:
        copies = [policy.carry] * count
        batch = jax.tree.map(lambda *leaves: np.stack(leaves), *copies)
        memory = copies if policy.kind == "host-single" else batch
    first_words = np.asarray(jax.random.key_data(keys))[:count, 0].astype(np.int64)
    for t in range(env.horizon):
        try:
            chosen, memory = call_on_host(
                policy, memory, np.asarray(obs)[:count], first_words + t, env.num_actions
            )
        except Exception as error:
            problem = f"{type(error).__name__}: {error}".splitlines()[0]
            raise RunError(f"policy {policy.name} failed at step {t}: {problem}") from error
        actions = np.zeros(keys.shape[0], np.int32)
        actions[:count] = chosen
        states, obs, tally = _host_step(env, params, states, tally, t, actions)
        if np.all((np.asarray(tally["terminated"]) | np.asarray(tally["truncated"]))[:count]):
            break
    return tally
