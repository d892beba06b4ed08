"""The result of an evaluation: one type that feeds the table, the JSON file and the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.policies.splits import NONE
from harness.reporting.gate import Gate
from harness.reporting.records import Cell, Records
from harness.statistics import (
    DoseResponse,
    GapResult,
    Interval,
    NoiseFloor,
    RatioGap,
    Spread,
    SuiteResult,
    Verdict,
    Widening,
    WorstPairs,
)
from protocols import Pair, Suite

__all__ = ["Cell", "Extra", "PairResult", "Records", "Report"]


@dataclass(frozen=True)
class Extra:
    """What stands beside the gap of one metric.

    relative    gap as a share of the training score, or why there is none
    normalized  gap as a share of what the policy gained over the best blind baseline
    baseline    that baseline's name, None where no script plays this environment
    detectable  smallest true gap that a run like this one finds with 80 % power, or None
    labels      per training seed: within, borderline or clear, against the range of training
                scores; None where these do not differ
    new_seeds   the interval of the gap for new training seeds: of two seeds too wide for a verdict,
                of one there is none
    """

    relative: RatioGap
    normalized: RatioGap | None
    baseline: str | None
    detectable: float | None
    labels: tuple[str, ...] | None
    new_seeds: Interval | None


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
    extras: Mapping[str, Extra] = field(default_factory=dict)  # metric -> what stands beside it
    collapse: Mapping[str, Any] = field(default_factory=dict)  # collapsed, seeds, rate_up_to
    doses: Mapping[str, DoseResponse] = field(default_factory=dict)  # of a sweep, by metric
    wide: PairResult | None = None  # of a widening: the same held-out sides after wide training
    widenings: Mapping[str, Widening] = field(default_factory=dict)  # of a widening, by metric
    rules: Mapping[str, str] = field(default_factory=dict)  # rule of measurement -> its outcome
    split: str = NONE  # same split | another split | no split frozen (before the training)

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

    records: Records
    pairs: tuple[PairResult, ...]
    mean: Mapping[str, SuiteResult]  # metric -> mean over all pairs
    axes: Mapping[str, Mapping[str, SuiteResult]]  # metric -> axis -> mean over its pairs
    verdict: Verdict  # on the suite mean of the primary metric
    worst: tuple[WorstPairs, ...] = ()  # the worst pair, and the mean of the worst three
    detectable: float | None = None  # smallest gap of the suite mean that such a run finds
    new_seeds: Interval | None = None  # of the suite mean, as in `Extra`
    timing: Mapping[str, float] = field(default_factory=dict)  # seconds
    gates: tuple[Gate, ...] = ()
    baseline: Mapping[str, Any] | None = None  # against a saved run, plain data

    @property
    def suite(self) -> Suite:
        return self.records.suite

    @property
    def policy(self) -> Mapping[str, Any]:
        """Name, seeds, actions; per policy what it was trained on, and its fingerprint."""
        return self.records.policy

    @property
    def settings(self) -> Mapping[str, Any]:
        """Episodes, master seed, lanes, level."""
        return self.records.settings

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.records.cells

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Versions, device, command."""
        return self.records.provenance

    def __getitem__(self, name: str) -> PairResult:
        for result in self.pairs:
            if result.name == name:
                return result
        raise KeyError(name)

    def __str__(self) -> str:
        from harness.reporting.table import render

        return render(self)

    def to_markdown(self) -> str:
        """Return the report as Markdown, with the details the table leaves out."""
        from harness.reporting.markdown import render

        return render(self)

    @property
    def exit_code(self) -> int:
        """0 complete and passed, 1 gate failed, 3 gate inconclusive, 4 invalid measurement."""
        from harness.reporting.gate import exit_code

        return exit_code(self.gates, [result.verdict.name for result in self.pairs], self.baseline)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data (strict: no NaN), as `--out` writes it."""
        from harness.reporting.export import to_dict

        return to_dict(self)
