"""Play episodes: every requested one exactly once, by identity, in padded blocks of lanes.

JAX policies always see blocks of a fixed number of lanes, so that one program is compiled and
records do not depend on how many blocks are in flight or on which devices. Every lane has its list
of episodes before the first step and begins the next one as soon as one has ended, so short
episodes wait for nobody, and none is chosen by how it went.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from envs.core import Env, Outcome
from envs.keys import POLICY
from harness.errors import RunError
from harness.policy import Policy
from harness.rollouts.host_rollout import Witness, play_on_host
from harness.rollouts.lanes import (
    OWN_COLUMNS,
    Identity,
    Records,
    failure,
    fault_text,
    find_faults,
    is_sound,
    observe_all,
    record_of,
    step_all,
    where_lanes,
)
from harness.rollouts.memory import blocks_that_fit, is_out_of_memory

# Episodes of a lane in one call of the program. Its buffers are this long, however many are played.
ROWS = 16


def lanes_per_block() -> int:
    """Return the number of lanes that JAX policies are always applied to, by kind of device."""
    return 64 if jax.default_backend() == "cpu" else 1024


@dataclass(frozen=True)
class EpisodeBatch:
    """The records of one policy on one side, one entry per episode, in order of identity."""

    columns: dict[str, np.ndarray]  # metric -> f64[E]; "length", "terminated", "truncated" besides
    action_counts: np.ndarray  # i64[num_actions], over all steps
    seconds: tuple[float, float] | None = None  # in a policy that runs in Python, and in all

    @property
    def episodes(self) -> int:
        return len(self.columns["length"])

    @property
    def steps(self) -> int:
        return int(self.columns["length"].sum())


def play(
    env: Env, params: Any, policy: Policy, *, episodes: int, master_seed: int = 0,
    training_seed: int = 0, num_envs: int = 256, progress: Callable[[int], None] = lambda _: None,
    witness: Witness | None = None,
) -> EpisodeBatch:  # fmt: skip
    """Play episodes 0 … episodes-1 of one policy on one side.

    Where memory runs out, half as many are played at once; records of JAX policies stay the same.

    Args:
        env, params: the side, from `Config.build()`.
        policy: any kind; it must fit the environment.
        episodes: how many; every one counts.
        master_seed, training_seed: with the episode's number they make its key.
        num_envs: how many episodes are in flight; records of JAX policies do not depend on it.
        progress: called with the number of episodes finished since the last call.
        witness: for policies that run in Python: told of every batch they decide on.

    Raises:
        RunError: the policy raised, did not answer in time, has logits that are not finite, or
            chose an action that does not exist; a reward or a metric is not finite; or even the
            smallest batch does not fit into memory. The text names policy, episode and step.
    """
    if episodes < 1:
        raise RunError("at least one episode is needed")
    identity = Identity(policy, training_seed, master_seed)
    attempt = partial(play_on_host, witness=witness) if policy.on_host else _play_in_blocks
    at_once = min(num_envs, episodes) if policy.on_host else _calls_at_once(num_envs, episodes)
    while True:
        finished = 0

        def count(number: int) -> None:
            nonlocal finished
            finished += number
            progress(number)

        try:
            played = attempt(env, params, identity, episodes, at_once, count)
        except jax.errors.JaxRuntimeError as error:
            if not is_out_of_memory(error):
                problem = str(error).splitlines()[0]
                raise RunError(f"policy {policy.name} failed in JAX: {problem}") from error
            if at_once == 1:
                lanes = 1 if policy.on_host else lanes_per_block()
                raise RunError(
                    f"out of memory: policy {policy.name} needs more than there is even for "
                    f"{lanes} episodes at once"
                ) from error
            progress(-finished)
            at_once //= 2
        else:
            columns = {name: played.columns[name] for name in sorted(played.columns)}
            return EpisodeBatch(columns, *played[1:])


# ---------------------------------------------------------------------- the parts of a rollout


class Part(NamedTuple):
    """What one block plays in one call: rows of lanes; row r holds the episodes from r * lanes."""

    first: int
    rows: int


def plan_parts(episodes: int, lanes: int, blocks: int) -> list[Part]:
    """Divide episodes among at most `blocks` blocks at a time, in equal parts of up to ROWS."""
    rows = -(-episodes // lanes)
    share = min(ROWS, -(-rows // blocks))
    return [Part(first, min(share, rows - first)) for first in range(0, rows, share)]


def _episodes_of(parts: Sequence[Part], episodes: int, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the episodes of parts, u32[parts, ROWS, lanes], and how many each lane plays of them,
    i32[parts, lanes]; those beyond its quota are padding."""
    first = np.array([part.first for part in parts])[:, None]
    numbers = (first + np.arange(ROWS))[..., None] * lanes + np.arange(lanes)
    rows = np.array([part.rows for part in parts])[:, None, None]
    quota = ((np.arange(ROWS)[:, None] < rows) & (numbers < episodes)).sum(1)
    return np.uint32(numbers), np.int32(quota)


def _calls_at_once(num_envs: int, episodes: int) -> int:
    """Return how many calls of a block per device hold `num_envs` episodes, or all there are."""
    lanes = lanes_per_block() * jax.local_device_count()
    return max(1, min(num_envs // lanes, -(-episodes // lanes)))


def _play_in_blocks(
    env: Env, params: Any, identity: Identity, episodes: int, at_once: int, progress
) -> Records:
    """Play a rollout in calls of one block per device, `at_once` of which are under way."""
    policy, lanes, devices = identity.policy, lanes_per_block(), jax.local_devices()
    mesh = Mesh(np.array(devices), ("block",)) if len(devices) > 1 else None
    fixed = (params, policy.weights, policy.carry)
    if mesh is not None:
        fixed = jax.device_put(fixed, NamedSharding(mesh, PartitionSpec()))
    columns: dict[str, np.ndarray] = {}
    counts = np.zeros(env.num_actions, np.int64)
    under_way: deque = deque()

    def collect() -> None:
        numbers, quota, played = under_way.popleft()
        played = jax.tree.map(np.asarray, played)
        _raise_faults(env, played, numbers, identity)
        valid = np.arange(ROWS)[:, None] < quota[:, None, :]
        for name, values in played.columns.items():
            column = columns.setdefault(name, np.full(episodes, np.nan))
            column[numbers[valid]] = values[valid]
        counts[:] += played.action_counts.sum((0, 1), dtype=np.int64)
        progress(int(valid.sum()))

    parts = plan_parts(episodes, lanes, at_once * len(devices))
    for start in range(0, len(parts), len(devices)):
        group = parts[start : start + len(devices)]
        group += [Part(0, 0)] * (len(devices) - len(group))
        numbers, quota = _episodes_of(group, episodes, lanes)
        arguments = (*fixed[:1], identity.keys(numbers), quota, *fixed[1:])
        static = (env, policy.kind, policy.apply, mesh)
        if start == 0 and at_once > 1:
            fitting = blocks_that_fit(play_blocks, static, arguments, devices[0])
            at_once = min(at_once, fitting)
        under_way.append((numbers, quota, play_blocks(*static, *arguments)))
        if len(under_way) >= at_once:
            collect()
    while under_way:
        collect()
    return Records(columns, counts)


def _raise_faults(env: Env, played: Played, numbers: np.ndarray, identity: Identity) -> None:
    """Raise for the faulty episode with the lowest number, if there is one."""
    block, lane = np.nonzero(played.fault)
    if not len(block):
        return
    episodes = numbers[block, played.row[block, lane], lane]
    worst = episodes.argmin()
    block, lane = block[worst], lane[worst]
    metrics = set(played.columns) - set(OWN_COLUMNS)
    text = fault_text(int(played.fault[block, lane]), env, metrics)
    raise failure(text, int(played.step[block, lane]), int(episodes[worst]), identity)


# --------------------------------------------------------------------------- on the device


class Played(NamedTuple):
    """What one block brings back."""

    columns: dict[str, jax.Array]  # name -> [rows, lanes]; defined within each lane's quota
    action_counts: jax.Array  # i32[lanes, num_actions]
    fault: jax.Array  # i32[lanes]; 0, or what ended everything (see `lanes.find_faults`)
    row: jax.Array  # i32[lanes]; which of its episodes a lane was at
    step: jax.Array  # i32[lanes]; and at which step


class Lanes(NamedTuple):
    """Where the lanes of a block stand, between two steps."""

    t: jax.Array  # i32[lanes]; steps taken in the current episode
    states: Any
    memory: Any
    returns: jax.Array  # f32[lanes]
    actions: jax.Array  # i32[lanes]; of the last step
    outcome: Outcome  # of the last step
    counts: jax.Array  # i32[lanes, num_actions]
    eventful: jax.Array  # bool[]; the last step ended an episode, or went wrong


@partial(jax.jit, static_argnames=("env", "kind", "apply", "mesh"))
def play_blocks(env, kind, apply, mesh, params, keys, quota, weights, carry) -> Played:
    """As `play_block`, with a leading axis of blocks: one per device of the mesh, or just one."""

    def one(params, keys, quota, weights, carry):
        played = play_block(env, kind, apply, params, keys[0], quota[0], weights, carry)
        return jax.tree.map(lambda leaf: leaf[None], played)

    if mesh is not None:
        split, whole = PartitionSpec("block"), PartitionSpec()
        one = jax.shard_map(
            one, mesh=mesh, in_specs=(whole, split, split, whole, whole), out_specs=split,
            check_vma=False,
        )  # fmt: skip
    return one(params, keys, quota, weights, carry)


def play_block(env, kind, apply, params, keys, quota, weights, carry) -> Played:
    """Play the episodes of `keys` [rows, lanes]: lane l the first quota[l] of its column.

    The inner loop steps all lanes until something happens in one of them, the outer one records
    what has ended and starts the lanes' next episodes.
    """
    rows, lanes = keys.shape
    lane, initial = jnp.arange(lanes), jax.tree.map(partial(_repeat, lanes), carry)
    start = _before_the_first(env, params, keys[0], initial)
    columns = {
        name: jnp.zeros((rows, lanes), one.dtype)
        for name, one in record_of(start.returns, start.t, start.outcome).items()
    }
    nothing = jnp.zeros(lanes, jnp.int32)

    def unfinished(loop):
        _, _, row, fault, _ = loop
        return jnp.any(row < quota) & ~jnp.any(fault)

    def advance(loop):
        now, columns, row, fault, fresh = loop
        own = keys[jnp.minimum(row, rows - 1), lane]
        now = jax.lax.cond(
            fresh.any(), lambda: _begin(env, params, own, fresh, initial, now), lambda: now
        )
        live = row < quota
        now = _until_something(env, kind, apply, params, weights, own, live, now)
        ended = live & _is_over(env, now)
        fault = jnp.where(live, find_faults(env, now.actions, now.outcome, ended), 0)
        place = jnp.where(ended, row, rows)
        columns = {
            name: columns[name].at[place, lane].set(values, mode="drop")
            for name, values in record_of(now.returns, now.t, now.outcome).items()
        }
        return now, columns, jnp.where(fault > 0, row, row + ended), fault, ended

    loop = (start, columns, nothing, nothing, jnp.ones(lanes, bool))
    now, columns, row, fault, _ = jax.lax.while_loop(unfinished, advance, loop)
    return Played(columns, now.counts, fault, row, now.t - 1)


def _repeat(lanes: int, leaf: Any) -> jax.Array:
    return jnp.broadcast_to(leaf, (lanes, *jnp.shape(leaf)))


def _before_the_first(env: Env, params: Any, keys: jax.Array, memory: Any) -> Lanes:
    """Return lanes of the right shapes in which nothing has begun."""
    lanes = keys.shape[0]
    states = jax.eval_shape(jax.vmap(env.reset, (0, None)), keys, params)
    actions = jax.ShapeDtypeStruct((lanes,), jnp.int32)
    _, outcome = jax.eval_shape(step_all(env), states, actions, params)
    states, outcome = jax.tree.map(lambda one: jnp.zeros(one.shape, one.dtype), (states, outcome))
    zeros = jnp.zeros(lanes, jnp.int32)
    counts = jnp.zeros((lanes, env.num_actions), jnp.int32)
    return Lanes(
        zeros, states, memory, jnp.zeros(lanes), zeros, outcome, counts, jnp.zeros((), bool)
    )


def _begin(env: Env, params: Any, keys: jax.Array, fresh: jax.Array, memory: Any, now: Lanes):
    """Return the lanes with the fresh ones at the start of the episodes of their keys."""
    states = jax.vmap(env.reset, (0, None))(keys, params)
    return now._replace(
        t=jnp.where(fresh, 0, now.t),
        states=where_lanes(fresh, states, now.states),
        memory=where_lanes(fresh, memory, now.memory),
        returns=jnp.where(fresh, 0.0, now.returns),
    )


def _is_over(env: Env, now: Lanes) -> jax.Array:
    return now.outcome.terminated | now.outcome.truncated | (now.t >= env.horizon)


def _until_something(env, kind, apply, params, weights, keys, live, now: Lanes) -> Lanes:
    """Step all lanes until in a live one an episode ends or something goes wrong."""
    lanes = keys.shape[0]
    observe, step, fold = observe_all(env), step_all(env), jax.vmap(jax.random.fold_in)
    policy_keys = fold(keys, jnp.full(lanes, POLICY))

    def act(states, memory, keys):
        if kind == "state":  # a built-in policy that sees the latent state
            return jax.vmap(lambda state: apply(env, state, params))(states), memory
        see = apply if kind == "jax-batch" else jax.vmap(apply, (None, 0, 0, 0))
        return see(weights, memory, observe(states, params), keys)

    def advance(now: Lanes) -> Lanes:
        actions, memory = act(now.states, now.memory, fold(policy_keys, now.t))
        actions = actions.reshape(lanes).astype(jnp.int32)
        states, outcome = step(now.states, actions, params)
        chosen = (actions[:, None] == jnp.arange(env.num_actions)) & live[:, None]
        after = Lanes(
            now.t + 1, states, memory, now.returns + outcome.reward, actions, outcome,
            now.counts + chosen, now.eventful,
        )  # fmt: skip
        events = live & (_is_over(env, after) | ~is_sound(env, actions, outcome))
        return after._replace(eventful=events.any())

    return jax.lax.while_loop(
        lambda now: ~now.eventful, advance, now._replace(eventful=jnp.zeros((), bool))
    )
