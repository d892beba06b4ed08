"""What a run plays: every distinct side once per training seed, baselines, and the self-test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from envs import Config
from harness.policy import BLIND, Policy, available_scripts, builtin
from harness.records import Cell
from harness.rollout import EpisodeBatch, lanes_per_block, play
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


def silently(_: int) -> None:
    """The progress of what no bar counts."""


@dataclass
class Sides:
    """Builds each distinct configuration once and rolls out each (side, policy) once."""

    episodes: int  # per side and training seed
    master_seed: int
    num_envs: int
    watcher: Watcher
    built: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    cells: dict[tuple[str, str, int], Cell] = field(default_factory=dict)
    blind: dict[tuple[str, str, int], Cell] = field(default_factory=dict)

    def build(self, config: Config) -> tuple[Any, Any]:
        """Return (env, params) of a configuration."""
        if config.digest not in self.built:
            self.built[config.digest] = config.build()
        return self.built[config.digest]

    def play_pair(self, pair: Pair, chosen: Sequence[Policy]) -> None:
        """Roll out both sides of a pair for every policy, and the baselines on its levels."""
        self._roll_out(pair.train, pair.train_name, pair.train_name, chosen)
        for side, config in pair.heldout.items():
            name = pair.name if len(pair.heldout) == 1 else f"{pair.name}/{side}"
            self._roll_out(config, name, pair.train_name, chosen)
        self._play_blind(pair.train, [one.seed for one in chosen])

    def _roll_out(self, config: Config, name: str, training: str, chosen: Sequence[Policy]) -> None:
        for one in chosen:
            key = (config.digest, training, one.seed)
            if key not in self.cells:
                self.watcher.cell_started(name, one.seed)
                batch = self._play(config, one, one.seed, self.watcher.episodes_finished)
                self.cells[key] = Cell(config.digest, name, training, one.seed, batch)

    def _play_blind(self, config: Config, seeds: Sequence[int]) -> None:
        """Play the policies without eyes on the very levels of a training side."""
        env, _ = self.build(config)
        for name in (name for name in BLIND if name in available_scripts(env)):
            for seed in seeds:
                key = (config.digest, name, seed)
                if key not in self.blind:
                    batch = self._play(config, builtin(name, env), seed, silently)
                    self.blind[key] = Cell(config.digest, name, "", seed, batch)

    def replay(self, pair: Pair, one: Policy) -> dict[str, Any]:
        """Play the first block of a training cell again, with the very same keys.

        A policy of JAX, or one that does not say it samples, must repeat itself exactly: whatever
        differs would otherwise count as a gap.
        """
        first = self.cells[pair.train.digest, pair.train_name, one.seed].batch
        # Batches as before: some networks round differently in batches of another size.
        block = self.num_envs if one.on_host else lanes_per_block()
        count = min(self.episodes, block)
        again = self._play(pair.train, one, one.seed, silently, count)
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
        }

    def _play(
        self, config: Config, one: Policy, seed: int, progress: Callable[[int], None],
        episodes: int | None = None,
    ) -> EpisodeBatch:  # fmt: skip
        env, params = self.build(config)
        return play(
            env, params, one, episodes=episodes or self.episodes, master_seed=self.master_seed,
            training_seed=seed, num_envs=self.num_envs, progress=progress,
        )  # fmt: skip
