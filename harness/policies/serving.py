"""The server's side of `harness.policies.remote`: what answers one connection."""

from __future__ import annotations

import threading
import traceback
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed

from envs.errors import InputError
from harness.policies import wire
from harness.policies.settling import BATCHES, settle
from harness.policy import Policy, policy
from harness.rollouts.host import call_on_host

ANY_ACTION = 2**31 - 1  # which actions exist is for the client to say
BATCH = ("episodes", "reset")  # what marks a message as one of ours
KEPT = 8  # batches of memories; who asks does not say which episodes have ended


class Service:
    """One policy, for any number of connections, one question at a time."""

    def __init__(self, function: Any, key: str) -> None:
        self.policy = policy(function)
        if not self.policy.on_host and self.policy.declared:
            raise InputError(
                f"policy {self.policy.name} is one of JAX; serve a function of NumPy batches: "
                "lambda obs: numpy.asarray(jax.jit(jax.vmap(act))(obs))"
            )
        self.key = key
        self.lock = threading.Lock()  # policies need not be safe to call from several threads
        self.settled: dict[Any, Policy] = {}  # by shape and dtype of an observation

    def attend(self, connection: Any) -> None:
        """Answer one connection until it ends; an error is answered too, and ends it."""
        from harness.policies.remote import VERSION

        ours = {"version": VERSION, "actions": self.policy.actions}
        memory: dict[int, Any] = {}  # episode -> what the policy remembers; the latest used last
        try:
            connection.send(wire.pack({"name": self.policy.name, "heldout": ours}))
            for data in connection:
                try:
                    answer = self.answer(wire.unpack(data), memory)
                except Exception as error:  # whatever foreign code raises is an answer here
                    traceback.print_exc()
                    text = str(error).splitlines()
                    connection.send(f"{type(error).__name__}: {text[0] if text else ''}")
                    return
                connection.send(answer)
        except ConnectionClosed:
            return

    def answer(self, message: dict[str, Any], memory: dict[int, Any]) -> bytes:
        """Return the packed answer to one message (see `harness.policies.remote`)."""
        if self.key not in message:
            raise ValueError(f"no {self.key!r} in the message, only {sorted(map(str, message))}")
        obs = np.asarray(message[self.key])
        batch = all(name in message for name in BATCH)
        obs = obs if batch else obs[None]
        numbers = np.asarray(message["episodes"]) if batch else np.zeros(1, np.int32)
        reset = np.asarray(message["reset"]) if batch else np.zeros(1, bool)
        if not numbers.shape == reset.shape == (len(obs),):
            shapes = f"{numbers.shape} episodes, {reset.shape} resets"
            raise ValueError(f"{len(obs)} observations, {shapes}")
        for number in numbers[reset].tolist():
            memory.pop(number, None)
        with self.lock:
            actions = self._act(obs, numbers.tolist(), int(message.get("seed", 0)), memory)
        return wire.pack({"actions": actions if batch else actions[0]})

    def _act(
        self, obs: np.ndarray, numbers: list[int], seed: int, memory: dict[int, Any]
    ) -> np.ndarray:
        one = self._for(obs.shape[1:], obs.dtype)
        seeds = seed + np.arange(len(obs))
        if one.carry is None:
            return call_on_host(one, None, obs, seeds, ANY_ACTION)[0]
        known = [memory.pop(number, one.carry) for number in numbers]
        carry = known if one.kind == "host-single" else _stacked(known)
        actions, carry = call_on_host(one, carry, obs, seeds, ANY_ACTION)
        for place, number in enumerate(numbers):
            memory[number] = _of_lane(one, carry, place)
        for number in list(memory)[: max(0, len(memory) - KEPT * len(obs))]:
            del memory[number]
        return actions

    def _for(self, shape: tuple[int, ...], dtype: np.dtype) -> Policy:
        """Return the policy settled for observations of a shape; JAX has no part in it."""
        if (shape, dtype) not in self.settled:
            shown = SimpleNamespace(
                observation_shape=shape, observation_dtype=dtype, num_actions=ANY_ACTION
            )
            self.settled[shape, dtype] = _on_host(self.policy, shown)
        return self.settled[shape, dtype]


def _on_host(candidate: Policy, shown: Any) -> Policy:
    if candidate.on_host:
        return settle(candidate, shown)[0]
    problems = []
    for kind in BATCHES:
        try:
            return settle(replace(candidate, kind=kind, declared=True), shown)[0]
        except InputError as error:
            problems.append(str(error))
    raise InputError(problems[0])


def _stacked(carries: list[Any]) -> Any:
    import jax

    return jax.tree.map(lambda *leaves: np.stack(leaves), *carries)


def _of_lane(one: Policy, carry: Any, place: int) -> Any:
    import jax

    if one.kind == "host-single":
        return carry[place]
    return jax.tree.map(lambda leaf: np.array(leaf[place]), carry)
