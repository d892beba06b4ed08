"""Calibration from end to end: do whole reports say the truth about policies with known answers?

    python tests/benchmarks/end_to_end.py --sims 300 --out results/calibration

Policies whose chance of success on either side is known play the probe environment of the tests.
All episodes of all simulated runs are lanes of one compiled program; each run is then judged as any
other: cells, paired gaps, intervals, noise floor, verdicts and gates. Beside `coverage.py`, which
tests the intervals alone, this covers keys, pairing, and everything between episodes and verdict.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from simulated_runs import simulated

from harness.reporting.gate import Rule

SEEDS = (1, 3, 5)
GAP_VERDICTS = ("seed-dependent", "consistent-gap", "gap-within-spread", "checkpoint-gap")
PAIRS = 34


@dataclass(frozen=True)
class Case:
    """A population of policies: mean success on both sides and its SD over training seeds."""

    name: str
    train: float
    heldout: float
    spread: tuple[float, float] = (0.0, 0.0)
    shared: bool = True  # sampled actions are common to both sides, as the harness has it

    @property
    def truth(self) -> float:
        return self.train - self.heldout


CASES = (
    Case("ignores the picture", 0.8, 0.8),
    Case("no gap, own draws on each side", 0.8, 0.8, shared=False),
    Case("small gap", 0.93, 0.88, (0.02, 0.04)),
    Case("moderate gap", 0.93, 0.56, (0.03, 0.15)),
    Case("severe gap", 0.93, 0.08, (0.03, 0.08)),
)


def rates(rng, mean: float, sd: float, shape: tuple[int, int]) -> np.ndarray:
    """Success rates with this mean: Beta distributed over seeds, or constant."""
    if sd == 0:
        return np.full(shape, mean)
    weight = mean * (1 - mean) / sd**2 - 1
    return rng.beta(mean * weight, (1 - mean) * weight, shape)


def case_cell(case: Case, seeds: int, episodes: int, sims: int) -> dict:
    rng = np.random.default_rng([len(case.name), seeds, episodes])
    # One checkpoint is judged as it is: its own rates are the truth, so they do not vary.
    sds = (0.0, 0.0) if seeds == 1 else case.spread
    train, heldout = (
        rates(rng, mean, sd, (sims, seeds))
        for mean, sd in zip((case.train, case.heldout), sds, strict=True)
    )
    rules = [Rule("success", 0.1, "suite")]
    reports = simulated(train, heldout[:, :, None], episodes, rules=rules, shared=case.shared)
    low, high, point, verdicts, gates = [], [], [], Counter(), Counter()
    for report in reports:
        interval = report.pairs[0].gap["success"]
        low.append(interval.low)
        high.append(interval.high)
        point.append(interval.point)
        verdicts[report.pairs[0].verdict.name] += 1
        gates[report.gates[0].status] += 1
    low, high, point = (np.array(one) for one in (low, high, point))
    return {
        "case": case.name,
        "seeds": seeds,
        "episodes": episodes,
        "truth": round(case.truth, 6),
        "coverage": float(((low <= case.truth) & (case.truth <= high)).mean()),
        "zero_width": float((high <= low).mean()),
        "mean_width": round(float((high - low).mean()), 4),
        "exactly_zero": float((point == 0).mean()),
        "positive": float((point > 0).mean()),
        "verdicts": dict(verdicts),
        "gate_at_0.1": dict(gates),
    }


def null_suite(runs: int, seeds: int, episodes: int) -> dict:
    """34 pairs without a shift, a gate at no loss at all: how many runs have any false alarm?"""
    rules = [Rule("success", 0.0, "pairs"), Rule("success", 0.0, "suite")]
    level = np.full((runs, seeds), 0.7)
    sides = np.full((runs, seeds, PAIRS), 0.7)
    pairs = suites = alarms = 0
    for report in simulated(level, sides, episodes, rules=rules, shared=False):
        pairs += report.gates[0].status == "fail"
        suites += report.gates[1].status == "fail"
        alarms += any(one.verdict.name in GAP_VERDICTS for one in report.pairs)
    return {
        "runs": runs, "pairs": PAIRS, "seeds": seeds, "episodes": episodes,
        "runs_failing_on_any_pair": pairs, "runs_failing_on_the_mean": suites,
        "runs_with_any_gap_verdict": alarms,
    }  # fmt: skip


def markdown(result: dict) -> str:
    headers = ["policies", "S, E", "true gap", "coverage", "zero width", "mean width"]
    headers += ["gap verdicts", "gate at 0.1: pass / fail / open"]
    rows = [f"| {' | '.join(headers)} |", "|---" * len(headers) + "|"]
    for cell in result["cells"]:
        total = sum(cell["verdicts"].values())
        alarms = sum(cell["verdicts"].get(name, 0) for name in GAP_VERDICTS) / total
        shares = (cell["gate_at_0.1"].get(n, 0) / total for n in ("pass", "fail", "inconclusive"))
        gate = " / ".join(f"{share:.2f}" for share in shares)
        rows.append(
            f"| {cell['case']} | {cell['seeds']}, {cell['episodes']} | {cell['truth']:.2f} | "
            f"{cell['coverage']:.3f} | {cell['zero_width']:.0%} | {cell['mean_width']:.3f} | "
            f"{alarms:.2f} | {gate} |"
        )
    error = np.sqrt(0.95 * 0.05 / result["sims"])
    return f"""# Calibration from end to end

Made by `{result["command"]}`;
{result["sims"]} simulated runs per row, nominal 95 % (standard error of a coverage near 0.95:
{error:.3f}). Every run is played on the probe environment of the tests, with a master seed of its
own, and judged as a whole. One training seed is judged as it is, without variation between seeds.

{chr(10).join(rows)}

A policy that ignores the picture has a gap of exactly 0 in {result["zero"]:.0%} of the runs,
because both sides share levels and sampled actions. With draws of its own on each side it loses and
wins about equally often (share of positive gaps at S = 1, 3, 5: {result["positive"]}; some are 0).

{null_text(result["null_suite"])}
"""


def null_text(null: dict) -> str:
    return (
        f"{null['pairs']} pairs without a shift, {null['runs']} runs of {null['seeds']} seeds and "
        f"{null['episodes']} episodes, gates at a loss of 0:\n"
        f"{null['runs_failing_on_any_pair']} runs fail on some pair, "
        f"{null['runs_failing_on_the_mean']} on the suite mean, "
        f"{null['runs_with_any_gap_verdict']} show any verdict that speaks of a gap."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sims", type=int, default=300, help="simulated runs per row")
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--out", type=Path, default=Path("results/calibration"))
    options = parser.parse_args()
    started = time.perf_counter()
    cells = []
    for case in CASES:
        for seeds in SEEDS:
            cells.append(case_cell(case, seeds, options.episodes, options.sims))
            print(f"{time.perf_counter() - started:5.0f} s  {cells[-1]}", file=sys.stderr)
    own = [cell for cell in cells if cell["case"] == CASES[1].name]
    result = {
        "command": " ".join(["python tests/benchmarks/end_to_end.py", *sys.argv[1:]]),
        "sims": options.sims,
        "versions": {
            "python": platform.python_version(), "numpy": np.__version__, "jax": jax.__version__
        },
        "cells": cells,
        "zero": float(np.mean([cell["exactly_zero"] for cell in cells[: len(SEEDS)]])),
        "positive": ", ".join(f"{cell['positive']:.2f}" for cell in own),
        "null_suite": null_suite(20, 3, options.episodes),
    }  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "end_to_end.json").write_text(json.dumps(result, indent=1) + "\n")
    (options.out / "end_to_end.md").write_text(markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    main()
