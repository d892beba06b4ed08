"""The result of an evaluation: one type that feeds the table, the JSON file and the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.gate import Gate
from harness.rollout import EpisodeBatch
from harness.statistics import GapResult, Interval, NoiseFloor, Spread, SuiteResult, Verdict
from protocols import Pair, Suite


@dataclass(frozen=True)
class Cell:
    """One side rolled out by the policy of one training seed."""

    digest: str  # of the side's configuration
    name: str  # where it was first met, such as "base" or "hue-180"
    training: str  # training configuration of the policy
    seed: int
    batch: EpisodeBatch


@dataclass(frozen=True)
class PairResult:
    """What the policies do on the two sides of one pair."""

    pair: Pair
    seeds: tuple[int, ...]  # training seeds
    results: Mapping[str, GapResult]  # metric -> gap with both sides
    floors: Mapping[str, NoiseFloor]
    spreads: Mapping[str, Spread | None]
    verdicts: Mapping[str, Verdict]
    training: str  # verified | unverified | the reason why the pair is invalid
    blind: Mapping[str, Mapping[str, float]]  # blind policy -> metric -> mean on the training side

    @property
    def name(self) -> str:
        return self.pair.name

    @property
    def verdict(self) -> Verdict:
        """The verdict on the pair's primary metric."""
        return self.verdicts[self.pair.metric]

    @property
    def gap(self) -> dict[str, Interval | None]:
        """Gap per metric: `gap["success"].low`. Positive is a loss on the held-out side."""
        return {name: result.interval for name, result in self.results.items()}


@dataclass(frozen=True)
class Report:
    """Everything an evaluation found. `print(report)` shows the table."""

    suite: Suite
    policy: Mapping[str, Any]  # name, seeds, actions, training per configuration, fingerprints
    settings: Mapping[str, Any]  # episodes, seed, level, lanes
    pairs: tuple[PairResult, ...]
    mean: Mapping[str, SuiteResult]  # metric -> mean over all pairs
    axes: Mapping[str, Mapping[str, SuiteResult]]  # metric -> axis -> mean over its pairs
    verdict: Verdict  # on the suite mean of the primary metric
    cells: tuple[Cell, ...]
    provenance: Mapping[str, Any]  # versions, device, command
    timing: Mapping[str, float] = field(default_factory=dict)  # seconds
    gates: tuple[Gate, ...] = ()

    def __getitem__(self, name: str) -> PairResult:
        for result in self.pairs:
            if result.name == name:
                return result
        raise KeyError(name)

    def __str__(self) -> str:
        from harness.table import render

        return render(self)

    @property
    def exit_code(self) -> int:
        """0 complete and passed, 1 gate failed, 3 gate inconclusive, 4 invalid measurement."""
        from harness.gate import exit_code

        return exit_code(self.gates, [result.verdict.name for result in self.pairs])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data (strict: no NaN), as `--out` writes it."""
        from harness.export import to_dict

        return to_dict(self)
