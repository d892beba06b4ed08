"""Ask a policy that runs in Python: private copies for it, checked answers, and a time limit."""

from __future__ import annotations

import copy
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import FAILED

if TYPE_CHECKING:
    from harness.policy import Policy

TIME_LIMIT = 300.0  # s per call; the first one may compile something
GRACE = 10.0  # s for code that is interrupted to come back


class AnswerError(ValueError):
    """What a policy returned is no action for every observation; `lane` says where, if in one."""

    def __init__(self, text: str, lane: int | None = None) -> None:
        super().__init__(text)
        self.lane = lane


class NoAnswer(TimeoutError):
    """A policy did not answer in time."""


def call_on_host(
    candidate: Policy, carry: Any, obs: np.ndarray, seeds: Sequence[int], num_actions: int,
    live: np.ndarray | None = None,
) -> tuple[np.ndarray, Any]:  # fmt: skip
    """Ask a host policy for the actions of N lanes: i32[N], and its new memory.

    It gets private copies, so that writing into its input changes nothing.

    Args:
        carry: a list of N memories for "host-single", else arrays with a leading axis; or None.
        obs: [N, ...]; what the lanes show.
        seeds: one whole number per lane, in the place of a key; a batch gets the first one.
        live: bool[N], the lanes whose actions count; the others' are 0. "host-single" is not
            asked about them.

    Raises:
        AnswerError: the shape or the values are not N whole numbers in [0, num_actions).
    """
    live = np.ones(len(obs), bool) if live is None else live
    if candidate.kind == "host-single":
        actions, carry = _ask_each(candidate, carry, obs, seeds, live, num_actions)
    else:
        seed = int(seeds[0]) if len(seeds) else 0
        actions, carry = candidate.apply(candidate.weights, carry, np.array(obs), seed)
        actions, carry = _array(actions), _as_arrays(carry, candidate.carry)
        if actions.shape not in ((len(obs),), (len(obs), 1)):
            raise AnswerError(_not_actions(actions, len(obs), num_actions))
        actions = actions.reshape(len(obs))
    if not np.issubdtype(actions.dtype, np.integer):
        raise _not_whole(actions, live)
    outside = ((actions < 0) | (actions >= num_actions)) & live
    if outside.any():
        lane = int(np.argmax(outside))
        raise AnswerError(f"chose {actions[lane]}, an action outside [0, {num_actions})", lane)
    return np.where(live, actions, 0).astype(np.int32), carry


def _ask_each(candidate, carry, obs, seeds, live, num_actions) -> tuple[np.ndarray, list[Any]]:
    """Ask about one live lane after the other."""
    memories = list(carry) if carry is not None else [None] * len(obs)
    answers: list[Any] = [0] * len(obs)
    for lane in np.flatnonzero(live):
        try:
            action, memories[lane] = candidate.apply(
                candidate.weights, memories[lane], np.array(obs[lane]), int(seeds[lane])
            )
        except Exception as error:
            error.lane = int(lane)  # so that its episode can be named
            raise
        answer = _array(action)
        if answer.shape not in ((), (1,)):
            raise AnswerError(_not_actions(answer, 1, num_actions), int(lane))
        answers[lane] = answer.reshape(())
    return np.array(answers), memories


def _array(answer: Any) -> np.ndarray:
    """Return an answer as an array; a tensor of PyTorch leaves its graph and its device first."""
    return np.asarray(answer.detach().cpu() if hasattr(answer, "detach") else answer)


def _not_whole(actions: np.ndarray, live: np.ndarray) -> AnswerError:
    odd = ~np.isfinite(actions) & live if actions.dtype.kind == "f" else np.zeros_like(live)
    if odd.any():
        lane = int(np.argmax(odd))
        return AnswerError(f"returned the action {actions[lane]}, expected a whole number", lane)
    return AnswerError(f"returned {actions.dtype}, expected whole numbers")


def _not_actions(answer: np.ndarray, count: int, num_actions: int) -> str:
    """Say what is wrong with the shape of an answer to `count` observations."""
    asked = "one observation, expected one whole number" if count == 1 else (
        f"{count} observations, expected [{count}] whole numbers"
    )  # fmt: skip
    scores = answer.ndim and answer.shape[-1] == num_actions and answer.dtype.kind == "f"
    hint = " (these look like scores: return their argmax(-1))" if scores else ""
    return f"returned {answer.dtype}{list(answer.shape)} for {asked}{hint}"


def described(error: Exception) -> str:
    """Return in one line what a policy did that ended its call with an error."""
    if isinstance(error, AnswerError | NoAnswer):
        return str(error)
    first = (str(error).strip().splitlines() or [""])[0]
    return f"failed: {type(error).__name__}: {first}"[:200]


# ------------------------------------------------------------------------------------ memory


def _as_arrays(memory: Any, initial: Any) -> Any:
    """Return a batch of memories as private NumPy arrays, whatever the policy gave back."""
    if initial is None:
        return memory
    from jax import tree

    if tree.structure(memory) != tree.structure(initial):
        raise AnswerError(
            f"returned a memory of structure {tree.structure(memory)}, "
            f"it began with {tree.structure(initial)}"
        )
    return tree.map(np.array, memory)


def host_memory(candidate: Policy, lanes: int) -> Any:
    """Return the memory with which `lanes` episodes begin, private to each: a list, or arrays."""
    if candidate.carry is None:
        return None
    if candidate.kind == "host-single":
        return [copy.deepcopy(candidate.carry) for _ in range(lanes)]
    from jax import tree

    return tree.map(lambda leaf: np.stack([np.asarray(leaf)] * lanes), candidate.carry)


def restart_memories(candidate: Policy, memory: Any, fresh: np.ndarray) -> Any:
    """Return the memory with the lanes in which an episode begins, bool[lanes], as at its start."""
    if candidate.carry is None or not fresh.any():
        return memory
    initial = host_memory(candidate, len(fresh))
    if candidate.kind == "host-single":
        return [one if new else old for one, old, new in zip(initial, memory, fresh, strict=True)]
    from jax import tree

    def put(old: np.ndarray, new: np.ndarray) -> np.ndarray:
        old[fresh] = new[fresh]
        return old

    return tree.map(put, memory, initial)


# -------------------------------------------------------------------------------- time limit


class _TimeUp(BaseException):
    """Raised inside the policy; no handler for ordinary errors catches it."""


class TimeLimit:
    """Calls foreign functions, and ends one that does not return in time.

    A second thread counts the seconds (a stopped process does not age). When they are over it
    interrupts the main thread, which ends Python code, sleeping and waiting with a NoAnswer.
    Code that goes on all the same, such as a kernel of a library, is ended together with the
    process GRACE seconds later: one line on stderr, exit code 4. A call outside the main thread
    cannot be interrupted, only ended in this way. Nothing here helps against extension code that
    never lets another thread run; `timeout` of the shell does.
    """

    def __init__(self, seconds: float, name: str) -> None:
        self.seconds, self.name = seconds, name
        self._serial = 0  # number of the call that is under way, or was the last one
        self._busy = False
        self._overdue = 0  # the call whose time is over
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._count_seconds, daemon=True)
        self._main: int | None = None

    def __enter__(self) -> TimeLimit:
        if hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread():
            self._main = threading.get_ident()
            self._before = signal.signal(signal.SIGALRM, self._interrupt)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()
        if self._main is not None:
            signal.signal(signal.SIGALRM, self._before)

    def call(self, function: Callable, *arguments: Any) -> Any:
        """Return function(*arguments).

        Raises:
            NoAnswer: it did not return in time.
        """
        try:
            self._serial, self._busy = self._serial + 1, True
            try:
                return function(*arguments)
            finally:
                self._busy = False
        except _TimeUp:
            raise NoAnswer(f"gave no answer within {self.seconds:g} s") from None

    def _interrupt(self, *_: object) -> None:
        if self._busy and self._overdue == self._serial:
            raise _TimeUp

    def _count_seconds(self) -> None:
        tick, serial, age = min(1.0, self.seconds / 4), 0, 0.0
        while not self._closed.wait(tick):
            if not self._busy or serial != self._serial:
                serial, age = self._serial, 0.0
                continue
            age += tick
            if age < self.seconds:
                continue
            self._overdue = serial
            if self._main is None or age > self.seconds + GRACE:
                self._end_process()
            signal.pthread_kill(self._main, signal.SIGALRM)

    def _end_process(self) -> None:
        print(
            f"heldout: policy {self.name} did not answer within {self.seconds:g} s "
            "and cannot be interrupted",
            file=sys.stderr,
            flush=True,
        )
        os._exit(FAILED)
