"""Roll out a policy that runs in Python: the environment is compiled, the policy asked in between.

Episodes are dealt to lanes as on the device. The batch that the policy sees has one lane per
episode in flight and keeps its size to the end; what lanes show that have nothing left to play
does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

from envs.core import Env
from harness.rollouts.host import TimeLimit, call_on_host, described, host_memory, restart_memories
from harness.rollouts.lanes import (
    Identity,
    Records,
    failure,
    fault_text,
    find_faults,
    observe_all,
    record_of,
    step_all,
    where_lanes,
)

# Told of every batch that was decided on: the lanes, what they show (u8[lanes, ...]), the actions.
Witness = Callable[["HostLanes", np.ndarray, np.ndarray], None]


def play_on_host(
    env: Env, params: Any, identity: Identity, episodes: int, at_once: int,
    progress: Callable[[int], None], witness: Witness | None = None,
) -> Records:  # fmt: skip
    """Play episodes 0 … episodes-1, `at_once` of them at a time (see `rollout.play`)."""
    began, policy = time.perf_counter(), identity.policy
    lanes = HostLanes(identity, episodes, at_once)
    columns: dict[str, np.ndarray] = {}
    counts = np.zeros(env.num_actions, np.int64)
    states = obs = None
    with TimeLimit(policy.time_limit, policy.name) as limit:
        while lanes.live.any():
            if lanes.fresh.any():
                states = _reset(env, params, *lanes.begin(), states)
                obs = _observe(env, params, states)
            seen = np.asarray(obs)
            actions = lanes.ask(limit, seen, env.num_actions)
            if witness is not None:
                witness(lanes, seen, actions)
            states, obs, *after = _advance(env, params, states, actions, lanes.steps)
            outcome, over, faults = jax.tree.map(np.asarray, after)
            for lane in np.flatnonzero(lanes.live & (faults > 0)):
                raise lanes.failure(fault_text(int(faults[lane]), env, outcome.metrics), lane)
            counts += np.bincount(actions[lanes.live], minlength=env.num_actions)
            lanes.count(outcome.reward)
            ended = lanes.live & over
            if ended.any():
                for name, values in record_of(lanes.returns, lanes.steps, outcome).items():
                    column = columns.setdefault(name, np.full(episodes, np.nan))
                    column[lanes.numbers[ended]] = values[ended]
                lanes.finish(ended)
                progress(int(ended.sum()))
    return Records(columns, counts, (lanes.seconds, time.perf_counter() - began))


class HostLanes:
    """Where the lanes of a rollout stand, and what the policy remembers in them."""

    def __init__(self, identity: Identity, episodes: int, lanes: int) -> None:
        self.identity, self.episodes = identity, episodes
        self.numbers = np.arange(lanes)  # the episode of every lane; padding from `episodes` on
        self.steps = np.zeros(lanes, np.int64)
        self.returns = np.zeros(lanes, np.float32)
        self.fresh = np.ones(lanes, bool)  # lanes whose episode has not begun
        self.memory = host_memory(identity.policy, lanes)
        self.seconds = 0.0  # spent in the policy
        self._words = np.zeros(lanes, np.int64)  # a part of every lane's key
        self._first = np.int64(0)  # the first lane's, in its first episode
        self._asked = 0  # times

    @property
    def live(self) -> np.ndarray:
        return self.numbers < self.episodes

    def begin(self) -> tuple[jax.Array, np.ndarray]:
        """Begin the episodes of the fresh lanes; return the keys of all, and which were fresh."""
        keys = self.identity.keys(self.numbers)
        self._words = np.asarray(jax.random.key_data(keys))[:, 0].astype(np.int64)
        self._first = self._words[0] if self._asked == 0 else self._first
        self.memory = restart_memories(self.identity.policy, self.memory, self.fresh)
        self.steps[self.fresh], self.returns[self.fresh] = 0, 0
        fresh, self.fresh = self.fresh, np.zeros_like(self.fresh)
        return keys, fresh

    def ask(self, limit: TimeLimit, obs: np.ndarray, num_actions: int) -> np.ndarray:
        """Return the policy's actions, i32[lanes].

        Raises:
            RunError: it raised, took too long, or answered with something that is no action.
        """
        policy, live = self.identity.policy, self.live
        began = time.perf_counter()
        try:
            actions, self.memory = limit.call(
                call_on_host, policy, self.memory, obs, self.seeds(), num_actions, live
            )
        except Exception as error:  # whatever foreign code raises
            lane = getattr(error, "lane", None)
            first = int(np.argmax(live)) if lane is None else lane
            problem = described(error)
            if lane is None and live.sum() > 1:
                problem += f" (asked about {live.sum()} episodes, this being the first)"
            raise self.failure(problem, first) from error
        self.seconds += time.perf_counter() - began
        return actions

    def seeds(self) -> np.ndarray:
        """Return what a policy may draw its numbers by, i64[lanes].

        A batch has one seed: that of its first episode plus the number of the call. So it does not
        depend on how many episodes follow in the lanes, and the self-test can repeat the first.
        """
        if self.identity.policy.kind == "host-single":
            return self._words + self.steps
        return np.full(len(self.steps), self._first + self._asked)

    def count(self, rewards: np.ndarray) -> None:
        """Count one step, f32[lanes]."""
        self.steps += 1
        self._asked += 1
        self.returns += rewards

    def finish(self, ended: np.ndarray) -> None:
        """Give the lanes that have ended their next episode."""
        self.fresh = ended
        self.numbers = self.numbers + len(self.numbers) * ended

    def failure(self, problem: str, lane: int) -> Exception:
        return failure(problem, int(self.steps[lane]), int(self.numbers[lane]), self.identity)


class OtherBatches:
    """A witness that asks the policy about the same states in smaller batches, and counts.

    Networks may round differently in batches of another size, and sampled actions may be drawn
    otherwise; so the records of a policy in Python belong to a number of episodes in flight.
    """

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions
        self.size = 0  # of the smaller batches
        self.states = 0  # compared
        self.differing = 0  # actions
        self.problem = ""  # why smaller batches cannot be asked about
        self._memories: list[Any] = []  # of every batch

    def __call__(self, lanes: HostLanes, obs: np.ndarray, actions: np.ndarray) -> None:
        if self.problem:
            return
        try:
            self._compare(lanes, obs, actions)
        except Exception as error:  # whatever foreign code raises
            self.problem = described(error)

    def to_dict(self) -> dict[str, Any]:
        return {
            "size": self.size, "states": self.states, "differing_actions": self.differing,
            "problem": self.problem,
        }  # fmt: skip

    def _compare(self, lanes: HostLanes, obs: np.ndarray, actions: np.ndarray) -> None:
        policy, count = lanes.identity.policy, len(obs)
        self.size = self.size or max(1, count // 2)
        parts = [slice(first, first + self.size) for first in range(0, count, self.size)]
        self._memories = self._memories or [host_memory(policy, len(obs[part])) for part in parts]
        seeds, begins, live = lanes.seeds(), lanes.steps == 0, lanes.live
        for place, part in enumerate(parts):
            memory = restart_memories(policy, self._memories[place], begins[part])
            chosen, self._memories[place] = call_on_host(
                policy, memory, obs[part], seeds[part], self.num_actions, live[part]
            )
            self.differing += int(((chosen != actions[part]) & live[part]).sum())
        self.states += int(live.sum())


@partial(jax.jit, static_argnames="env")
def _reset(env, params, keys, fresh, states):
    new = jax.vmap(env.reset, (0, None))(keys, params)
    return new if states is None else where_lanes(fresh, new, states)


@partial(jax.jit, static_argnames="env")
def _observe(env, params, states):
    return observe_all(env)(states, params)


@partial(jax.jit, static_argnames="env")
def _advance(env, params, states, actions, steps):
    """Return the lanes after a step: states, what they show, outcome, which are over, faults."""
    states, outcome = step_all(env)(states, actions, params)
    over = outcome.terminated | outcome.truncated | (steps + 1 >= env.horizon)
    faults = find_faults(env, actions, outcome, over)
    return states, observe_all(env)(states, params), outcome, over, faults
