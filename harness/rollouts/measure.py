"""What a run plays: every distinct side once per training seed, baselines, and the self-test."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from envs import Config
from harness.errors import RunError
from harness.interrupt import check
from harness.policies.weights import digest_of
from harness.policy import BLIND, Policy, available_scripts, builtin
from harness.reporting.records import Cell
from harness.rollouts.compiling import Compilations
from harness.rollouts.host_rollout import OtherBatches, Witness
from harness.rollouts.rollout import EpisodeBatch, lanes_per_block, play
from harness.rollouts.runfolder import RunFolder
from harness.statistics import replay_check
from protocols import Pair


class Watcher:
    """Told what happens while an evaluation runs; this one keeps quiet."""

    def planned(self, report_facts: Mapping[str, Any], cells: int, episodes: int) -> None:
        """Called once, before the first episode."""

    def cell_started(self, name: str, seed: int) -> None:
        """Called before each cell."""

    def episodes_finished(self, count: int) -> None:
        """Called as episodes finish."""

    def note(self, text: str) -> None:
        """Called with something worth one line."""

    def reported(self, file: Path) -> None:
        """Called at the end with the report's file, where there is one."""


# Configurations whose parameters are held at a time: with pictures they take up to 20 MB each, and
# building them again takes milliseconds.
KEPT = 4
REPLAY = {"kind": "replay"}  # the key of the self-test in a run folder


def silently(_: int) -> None:
    """The progress of what no bar counts."""


@dataclass(frozen=True)
class Task:
    """One cell that is to be played."""

    config: Config
    name: str  # as in `Cell`
    training: str
    seed: int
    policy: Policy

    @property
    def kind(self) -> str:
        return "policy" if self.training else "baseline"

    @property
    def on(self) -> tuple[str, str, int]:
        """Which of its kind: a policy's by its training, a baseline's by its name."""
        return self.config.digest, self.training or self.name, self.seed

    @property
    def key(self) -> dict[str, Any]:
        """The same as data, with the name first met, for a run folder."""
        return {
            "kind": self.kind, "name": self.name, "training": self.training, "seed": self.seed,
            "side": self.config.digest,
        }  # fmt: skip


@dataclass
class Sides:
    """Builds each distinct configuration once and rolls out each (side, policy) once."""

    episodes: int  # per side and training seed
    master_seed: int
    num_envs: int
    watcher: Watcher
    folder: RunFolder | None = None  # keeps what is finished, and holds what was before
    built: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # the last KEPT
    environments: dict[str, Any] = field(default_factory=dict)  # of all that were built
    tasks: dict[tuple[str, tuple[str, str, int]], Task] = field(default_factory=dict)
    cells: dict[tuple[str, str, int], Cell] = field(default_factory=dict)
    blind: dict[tuple[str, str, int], Cell] = field(default_factory=dict)
    # Policy that runs in Python -> seconds spent in it, and in its rollouts altogether.
    python_s: dict[str, tuple[float, float]] = field(default_factory=dict)

    def build(self, config: Config) -> tuple[Any, Any]:
        """Return (env, params) of a configuration."""
        found = self.built.pop(config.digest, None) or config.build()
        self.built[config.digest] = found  # the latest last
        self.environments[config.digest] = found[0]
        while len(self.built) > KEPT:
            del self.built[next(iter(self.built))]
        return found

    def plan_pair(self, pair: Pair, chosen: Sequence[Policy]) -> None:
        """Add both sides of a pair for every policy, and the baselines on its levels."""
        self._add(pair.train, pair.train_name, pair.train_name, chosen)
        for side, config in pair.heldout.items():
            name = pair.name if len(pair.heldout) == 1 else f"{pair.name}/{side}"
            self._add(config, name, pair.train_name, chosen)
        env, _ = self.build(pair.train)
        for script in (name for name in BLIND if name in available_scripts(env)):
            blind = [replace(builtin(script, env), seed=one.seed) for one in chosen]
            self._add(pair.train, script, "", blind)

    def _add(self, config: Config, name: str, training: str, chosen: Sequence[Policy]) -> None:
        for one in chosen:
            task = Task(config, name, training, one.seed, one)
            self.tasks.setdefault((task.kind, task.on), task)

    def play(self) -> None:
        """Play every cell that was planned, and that the run folder does not hold already."""
        for task in self.tasks.values():
            check()
            cells = self.cells if task.training else self.blind
            if self.folder is None:
                cells[task.on] = self._played(task)
            else:
                cell = self.kept(task.key, lambda task=task: self._played(task).to_dict())
                cells[task.on] = Cell.from_dict(cell)
        for name, (inside, total) in self.python_s.items():
            self.watcher.note(
                f"policy {name} runs in Python: {inside / total:.0%} of the {total:.1f} s of its "
                "rollouts were spent in it"
            )

    def _played(self, task: Task) -> Cell:
        progress = silently
        if task.training:
            self.watcher.cell_started(task.name, task.seed)
            progress = self.watcher.episodes_finished
        before = self._weights_of(task)
        batch = self._play(task.config, task.policy, task.seed, progress)
        if self._weights_of(task) != before:
            raise RunError(
                f"policy {task.policy.name} changed its weights or statistics while it was "
                "evaluated"
            )
        return Cell(task.config.digest, task.name, task.training, task.seed, batch)

    @staticmethod
    def _weights_of(task: Task) -> str:
        """Return the hash of a checkpoint's weights and statistics, which nothing may change."""
        return digest_of(task.policy.weights) if task.policy.origin else ""

    def kept(self, key: Mapping[str, Any], make: Callable[[], Any]) -> Any:
        """Return what the run folder holds under a key; else make it, and keep it there."""
        if self.folder is None:
            return make()
        found = self.folder.find(key)
        if found is None:
            started = time.perf_counter()
            with Compilations() as compiled:
                made = make()
            timing = {"rollouts_s": time.perf_counter() - started}
            found = self.folder.keep(key, made, compiled.split(timing))
        return found

    def replay(self, pair: Pair, one: Policy) -> dict[str, Any]:
        """Return the outcome of the determinism self-test, on a training cell that was played."""
        return self.kept(REPLAY, lambda: self._replay(pair, one))

    def _replay(self, pair: Pair, one: Policy) -> dict[str, Any]:
        """Play the first block of a training cell again, with the very same keys.

        A policy of JAX, or one that does not say it samples, must repeat itself exactly: whatever
        differs would otherwise count as a gap.
        """
        first = self.cells[pair.train.digest, pair.train_name, one.seed].batch
        # Batches as before: some networks round differently in batches of another size.
        block = self.num_envs if one.on_host else lanes_per_block()
        count = min(self.episodes, block)
        env, _ = self.build(pair.train)
        smaller = OtherBatches(env.num_actions) if one.kind == "host-batch" and count > 1 else None
        again = self._play(pair.train, one, one.seed, silently, count, smaller)
        names = sorted(first.columns)
        one_run, other = (
            np.stack([batch.columns[name][:count] for name in names]) for batch in (first, again)
        )
        stochastic = one.on_host and one.actions == "sample"
        status = replay_check(one_run, other, stochastic=stochastic) or "repeats"
        same = (one_run == other) | (np.isnan(one_run) & np.isnan(other))
        differing = int((~same.all(axis=0)).sum())
        reason = ""
        if differing:
            reason = (
                f"the policy does not repeat itself: {differing} of {count} episodes came out "
                "otherwise when they were played again"
            )
            if one.on_host and not stochastic:
                reason += (
                    '; if it draws its own numbers, say so: harness.policy(fn, actions="sample")'
                )
        return {
            "status": status,
            "reason": reason,
            "training": pair.train_name,
            "seed": one.seed,
            "episodes": count,
            "differing": differing,
            **({"smaller_batches": smaller.to_dict()} if smaller else {}),
        }

    def _play(
        self, config: Config, one: Policy, seed: int, progress: Callable[[int], None],
        episodes: int | None = None, witness: Witness | None = None,
    ) -> EpisodeBatch:  # fmt: skip
        def finished(count: int) -> None:
            progress(count)
            check()

        env, params = self.build(config)
        batch = play(
            env, params, one, episodes=episodes or self.episodes, master_seed=self.master_seed,
            training_seed=seed, num_envs=self.num_envs, progress=finished, witness=witness,
        )  # fmt: skip
        if batch.seconds is not None:
            inside, total = self.python_s.get(one.name, (0.0, 0.0))
            self.python_s[one.name] = (inside + batch.seconds[0], total + batch.seconds[1])
        return batch
