"""What an evaluation measured, before anything is judged: a run makes it, a stored report too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from envs.core import Metric as Declared
from harness.reporting.gate import Rule
from harness.rollouts.rollout import EpisodeBatch
from protocols import Pair, Suite


@dataclass(frozen=True)
class Cell:
    """One side rolled out by the policy of one training seed."""

    digest: str  # of the side's configuration
    name: str  # where it was first met, such as "base" or "hue-180"; of a baseline: its name
    training: str  # training configuration of the policy; empty for a baseline without eyes
    seed: int
    batch: EpisodeBatch

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as plain data; columns as the shortest decimals of their 32 bits."""
        return {
            "side": self.digest,
            "name": self.name,
            "training": self.training,
            "seed": self.seed,
            "action_counts": self.batch.action_counts.tolist(),
            "episodes": {name: _short(column) for name, column in self.batch.columns.items()},
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Cell:
        """Return the cell that `to_dict` described, perhaps by way of JSON (null: not finite)."""
        columns = {name: _column(values) for name, values in facts["episodes"].items()}
        batch = EpisodeBatch(columns, np.asarray(facts["action_counts"], np.int64))
        return cls(facts["side"], facts["name"], facts["training"], facts["seed"], batch)


def _short(column: np.ndarray) -> list[float | int]:
    """Return a column as the shortest decimals that give back its 32-bit values."""
    values = [float(str(value)) for value in column.astype(np.float32)]
    return [int(value) if value.is_integer() else value for value in values]


def _column(values: Sequence[float | None]) -> np.ndarray:
    """Return f64[E] from the shortest decimals of 32-bit numbers."""
    filled = [np.nan if value is None else value for value in values]
    return np.float64(np.asarray(filled, np.float32))


@dataclass(frozen=True)
class Records:
    """Everything that was measured.

    metrics   what the environment declares
    policy    facts on the policies: name, seeds, and one entry each under "policies"
    settings  episodes, seed, lanes, level
    cells     one per side and training seed; blind: one per training side, baseline and seed
    replay    outcome of the determinism self-test, plain data
    shift     pair -> held-out side -> induced policy shift, plain data, where it was asked for
    not_trained  pairs of the suite that nothing was trained for, with their training configuration;
              `suite` holds the others
    """

    suite: Suite
    metrics: tuple[Declared, ...]
    policy: Mapping[str, Any]
    settings: Mapping[str, Any]
    cells: tuple[Cell, ...]
    blind: tuple[Cell, ...] = ()
    replay: Mapping[str, Any] | None = None
    shift: Mapping[str, Any] = field(default_factory=dict)
    not_trained: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    on_inconclusive: str = "exit3"
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, int], EpisodeBatch]:
        return {(cell.digest, cell.training, cell.seed): cell.batch for cell in self.cells}

    @cached_property
    def _blind_by_side(self) -> dict[str, dict[str, dict[int, EpisodeBatch]]]:
        found: dict[str, dict[str, dict[int, EpisodeBatch]]] = {}
        for cell in self.blind:
            found.setdefault(cell.digest, {}).setdefault(cell.name, {})[cell.seed] = cell.batch
        return found

    def policies_for(self, pair: Pair) -> list[Mapping[str, Any]]:
        """Return the facts of the policies that play a pair, one per training seed."""
        return [one for one in self.policy["policies"] if one["training"] == pair.train_name]

    def batches(self, pair: Pair, digest: str, seeds: Sequence[int]) -> list[EpisodeBatch]:
        """Return the records of one side of a pair, one batch per training seed."""
        return [self._by_key[digest, pair.train_name, seed] for seed in seeds]

    def blind_batches(self, digest: str, seeds: Sequence[int]) -> dict[str, list[EpisodeBatch]]:
        """Return baseline -> its records on a training side, one batch per training seed."""
        return {
            name: [runs[seed] for seed in seeds]
            for name, runs in self._blind_by_side.get(digest, {}).items()
        }
