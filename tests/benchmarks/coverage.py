"""Calibration tables: does a 95 % interval hold the truth in 95 % of simulated evaluations?

    python tests/benchmarks/coverage.py --sims 2000 --out results/calibration

Policies are simulated whose true gap is known, many evaluations each, and every interval is made by
the same functions that the harness uses. Beside them stands the flat percentile bootstrap over
seeds, the common practice, on the same data. A second table counts false alarms of a gate over 34
pairs. Success counts are drawn from their exact distribution, so no single episode is needed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
from scipy import special, stats

from harness.statistics import seed_bounds
from harness.statistics.bootstrap import drawn_resamples, exact_resamples
from harness.statistics.gate import exceedance_p

SEEDS = (3, 5, 10)
EPISODES = (16, 32, 128)
METHODS = ("pooled episodes", "percentile", "t", "bootstrap-t-scaled")
RECOMMENDED = "bootstrap-t-scaled"
TEN_SEED_DRAWS = 3000  # instead of all 92,378 multisets, to keep the script short
CORRELATION = 0.6  # latent correlation of the two sides on shared levels
LEAST_COVERAGE = 0.89
LEAST_GAIN = 0.03
PAIRS, THRESHOLD, BAD_PAIRS, BAD_GAP = 34, 0.1, 4, 0.30


@dataclass(frozen=True)
class Sample:
    """Per-seed gaps f64[..., S] and their variances from episode noise."""

    means: np.ndarray
    variances: np.ndarray
    bounds: tuple[float, float] | None


@dataclass(frozen=True)
class Model:
    """A population of policies with a known mean gap; `gains` marks cells with a required gain."""

    name: str
    truth: float
    draw: Callable[[np.random.Generator, int, int, int], Sample]
    about: str
    gains: bool = False


def rates(rng: np.random.Generator, mean: float, sd: float, shape: tuple[int, ...]) -> np.ndarray:
    """Success rates with this exact mean; Beta distributed over seeds, or constant."""
    if sd == 0:
        return np.full(shape, mean)
    weight = mean * (1 - mean) / sd**2 - 1
    return rng.beta(mean * weight, (1 - mean) * weight, shape)


def both_succeed(train: np.ndarray, heldout: np.ndarray) -> np.ndarray:
    """P(success on both sides of one level) under a Gaussian copula; one-factor quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(25)
    weights = weights / weights.sum()
    first, second = (special.ndtri(np.clip(p, 1e-12, 1 - 1e-12)) for p in (train, heldout))
    total = np.zeros(np.broadcast_shapes(first.shape, second.shape))
    own = np.sqrt(1 - CORRELATION)
    for node, weight in zip(nodes, weights, strict=True):
        shift = np.sqrt(CORRELATION) * node
        total += weight * special.ndtr((first - shift) / own) * special.ndtr((second - shift) / own)
    return np.clip(total, np.maximum(0, train + heldout - 1), np.minimum(train, heldout))


def success_sample(
    rng: np.random.Generator, train: np.ndarray, heldout: np.ndarray, episodes: int
) -> Sample:
    """Paired success differences, by the numbers of levels won on one side only."""
    both = both_succeed(train, heldout)
    lost = rng.binomial(episodes, np.clip(train - both, 0, 1))
    rest = np.clip((heldout - both) / np.maximum(1 - (train - both), 1e-12), 0, 1)
    won = rng.binomial(episodes - lost, rest)
    total, squares = lost - won, lost + won
    size = episodes + 2
    variances = ((squares + 2) / size - (total / size) ** 2) / size
    return Sample(total / episodes, variances, (-1.0, 1.0))


def success_model(
    name: str, train: float, heldout: float, sd: tuple[float, float], *, gains: bool = False
) -> Model:
    def draw(rng: np.random.Generator, sims: int, seeds: int, episodes: int) -> Sample:
        sides = (rates(rng, m, s, (sims, seeds)) for m, s in zip((train, heldout), sd, strict=True))
        return success_sample(rng, *sides, episodes)

    about = f"success {train:g} against {heldout:g}, SD over seeds {sd[0]:g} and {sd[1]:g}"
    return Model(name, train - heldout, draw, about, gains)


def return_model(name: str, truth: float, about: str, seed_gaps: Callable) -> Model:
    """Returns with normal episode noise (SD 450 of the difference) around each seed's own gap."""

    def draw(rng: np.random.Generator, sims: int, seeds: int, episodes: int) -> Sample:
        own = seed_gaps(rng, (sims, seeds))
        means = own + rng.normal(0, 450 / np.sqrt(episodes), own.shape)
        spread = rng.chisquare(episodes - 1, own.shape) / (episodes - 1)
        return Sample(means, 450**2 * spread / episodes, None)

    return Model(name, truth, draw, about)


def lognormal_gaps(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return 900 * np.exp(rng.normal(-0.125, 0.5, shape))


MODELS = (
    success_model("moderate gap", 0.93, 0.56, (0.03, 0.15), gains=True),
    success_model("severe gap", 0.93, 0.08, (0.03, 0.08), gains=True),
    success_model("small gap", 0.93, 0.88, (0.02, 0.04)),
    success_model("no gap", 0.93, 0.93, (0.0, 0.0)),
    success_model("no gap, seeds vary", 0.93, 0.93, (0.05, 0.05)),
    success_model("ceiling", 0.995, 0.995, (0.0, 0.0)),
    success_model("99 % against 1 %", 0.99, 0.01, (0.0, 0.0)),
    return_model(
        "return gap", 900.0, "return gap 900, SD over seeds 300",
        lambda rng, shape: rng.normal(900, 300, shape),
    ),
    return_model(
        "return, no gap", 0.0, "return gap 0 for every seed", lambda rng, shape: np.zeros(shape)
    ),
    return_model(
        "return, long tail", 900.0, "lognormal return gaps over seeds, mean 900", lognormal_gaps
    ),
)  # fmt: skip


def table_of(seeds: int):
    return exact_resamples(seeds) if seeds < 10 else drawn_resamples(seeds, 0, TEN_SEED_DRAWS)


def ends(sample: Sample, episodes: int, method: str) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of many simulated evaluations; resampled in blocks to bound memory."""
    seeds = sample.means.shape[-1]
    if method == "pooled episodes":
        return pooled_ends(sample, episodes)
    parts = []
    for at in range(0, len(sample.means), 500):
        block = slice(at, at + 500)
        _, low, high, _ = seed_bounds(
            sample.means[block], sample.variances[block], seeds * (episodes - 1.0),
            method=method, resampled=table_of(seeds),
        )  # fmt: skip
        parts.append((low, high))
    low, high = (np.concatenate(end) for end in zip(*parts, strict=True))
    if sample.bounds:
        low, high = np.maximum(low, sample.bounds[0]), np.minimum(high, sample.bounds[1])
    return low, high


def pooled_ends(sample: Sample, episodes: int) -> tuple[np.ndarray, np.ndarray]:
    """What treating all episodes as independent would give; the harness does not offer it."""
    point = sample.means.mean(axis=-1)
    variance = sample.variances.mean(axis=-1) * episodes + sample.means.var(axis=-1)
    half = 1.96 * np.sqrt(variance / (sample.means.shape[-1] * episodes))
    return point - half, point + half


def coverage_cell(model: Model, seeds: int, episodes: int, sims: int, seed: int) -> dict:
    # One stream per cell, so that a cell can be repeated alone.
    rng = np.random.default_rng([seed, MODELS.index(model), seeds, episodes])
    sample = model.draw(rng, sims, seeds, episodes)
    cell: dict = {"model": model.name, "seeds": seeds, "episodes": episodes}
    for method in METHODS:
        low, high = ends(sample, episodes, method)
        hit = (low <= model.truth + 1e-9) & (model.truth <= high + 1e-9)
        cell[method] = {
            "coverage": round(float(hit.mean()), 5),
            "width": round(float((high - low).mean()), 5),
            "zero_width": round(float((high <= low).mean()), 5),
        }
    cell["accepted"] = accepted(model, cell)
    return cell


def accepted(model: Model, cell: dict) -> bool:
    ours, plain = cell[RECOMMENDED], cell["percentile"]
    gain = ours["coverage"] - plain["coverage"] >= LEAST_GAIN or not model.gains
    return ours["coverage"] >= LEAST_COVERAGE and ours["zero_width"] == 0 and gain


def gate_cell(gaps: np.ndarray, seeds: int, sims: int, spread: float, seed: int) -> dict:
    """Share of simulated gates with any failed pair among `gaps` <= tau, and power on the rest."""
    episodes = 128
    rng = np.random.default_rng([seed, 99, seeds, round(gaps.sum() * 1000)])
    shape = (sims, gaps.size, seeds)
    train = np.full(shape, 0.93)
    heldout = np.clip(0.93 - gaps[:, None] + rng.normal(0, spread, shape), 0, 1)
    sample = success_sample(rng, train, heldout, episodes)
    flat = Sample(
        sample.means.reshape(-1, seeds), sample.variances.reshape(-1, seeds), sample.bounds
    )
    low = ends(flat, episodes, RECOMMENDED)[0].reshape(sims, gaps.size)
    point = sample.means.mean(axis=-1)
    error = sample.means.std(axis=-1, ddof=1) / np.sqrt(seeds)
    noise = np.sqrt(sample.variances.sum(axis=-1)) / seeds
    p = exceedance_p(point, error, seeds - 1, noise, seeds * (episodes - 1.0), THRESHOLD)
    above = low > THRESHOLD
    rules = {
        "point estimate": point > THRESHOLD,
        "interval": above,
        "interval and Benjamini-Hochberg": above
        & (stats.false_discovery_control(p, axis=1) <= 0.05),
        "Holm": holm(p, 0.025),
    }
    good, bad = gaps <= THRESHOLD, gaps > THRESHOLD
    return {
        name: {
            "any_false_fail": float(fails[:, good].any(axis=1).mean()),
            "power": float(fails[:, bad].mean()) if bad.any() else None,
        }
        for name, fails in rules.items()
    }


def holm(p: np.ndarray, level: float) -> np.ndarray:
    """Holm's step-down rejections along the last axis."""
    count = p.shape[-1]
    order = np.argsort(p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    passed = np.logical_and.accumulate(ranked <= level / (count - np.arange(count)), axis=-1)
    result = np.zeros_like(passed)
    np.put_along_axis(result, order, passed, axis=-1)
    return result


def gate_table(sims: int, seed: int) -> dict:
    at_threshold = np.full(PAIRS, THRESHOLD)
    mixed = np.r_[np.full(PAIRS - BAD_PAIRS, 0.05), np.full(BAD_PAIRS, BAD_GAP)]
    cases = {
        f"{PAIRS} pairs exactly at the threshold": at_threshold,
        f"{PAIRS - BAD_PAIRS} pairs at 0.05, {BAD_PAIRS} at {BAD_GAP:.2f}": mixed,
    }
    return {
        name: {str(s): gate_cell(gaps, s, sims, 0.05, seed) for s in SEEDS}
        for name, gaps in cases.items()
    }


def coverage_markdown(cells: list[dict]) -> str:
    rows = ["| S, E | " + " | ".join(model.name for model in MODELS) + " |"]
    rows.append("|---" * (len(MODELS) + 1) + "|")
    for seeds in SEEDS:
        for episodes in EPISODES:
            line = [c for c in cells if (c["seeds"], c["episodes"]) == (seeds, episodes)]
            shown = [
                f"{c['percentile']['coverage']:.3f} → {c[RECOMMENDED]['coverage']:.3f}"
                for c in line
            ]
            rows.append(f"| {seeds}, {episodes} | " + " | ".join(shown) + " |")
    return "\n".join(rows)


def summary_markdown(cells: list[dict]) -> str:
    rows = [
        "| method | S | mean coverage | least | largest share of zero width |",
        "|---" * 5 + "|",
    ]
    for method in METHODS:
        for seeds in SEEDS:
            part = [c[method] for c in cells if c["seeds"] == seeds]
            mean = np.mean([c["coverage"] for c in part])
            least = min(c["coverage"] for c in part)
            closed = max(c["zero_width"] for c in part)
            rows.append(f"| {method} | {seeds} | {mean:.3f} | {least:.3f} | {closed:.1%} |")
    return "\n".join(rows)


def gate_markdown(table: dict) -> str:
    rows = ["| pairs | rule | " + " | ".join(f"S = {s}" for s in SEEDS) + " |", "|---" * 5 + "|"]
    for case, by_seeds in table.items():
        for rule in next(iter(by_seeds.values())):
            cells = [by_seeds[str(s)][rule] for s in SEEDS]
            shown = " | ".join(f"{c['any_false_fail']:.3f}" for c in cells)
            rows.append(f"| {case} | {rule}: any false fail | {shown} |")
            if cells[0]["power"] is not None:
                shown = " | ".join(f"{c['power']:.3f}" for c in cells)
                rows.append(f"| {case} | {rule}: power per bad pair | {shown} |")
    return "\n".join(rows)


def markdown(result: dict) -> str:
    models = "\n".join(f"- {model.name}: {model.about}" for model in MODELS)
    refused = [c for c in result["coverage"] if not c["accepted"]]
    verdict = "every cell accepted" if not refused else f"{len(refused)} cells refused"
    return f"""# Calibration

Made by `{result["command"]}`; {result["sims"]} simulated evaluations per cell, nominal 95 %.
Standard error of a coverage near 0.95: {np.sqrt(0.95 * 0.05 / result["sims"]):.3f}.

## Coverage: flat percentile over seeds → recommended

S training seeds, E paired episodes each. Accepted: recommended at least {LEAST_COVERAGE} in every
cell, at least {LEAST_GAIN} above the percentile for moderate and severe gaps, no interval of zero
width. Result: **{verdict}**.

{coverage_markdown(result["coverage"])}

{summary_markdown(result["coverage"])}

Models:

{models}

## False alarms of a gate over {PAIRS} pairs

Threshold {THRESHOLD}, 128 episodes, gaps vary by 0.05 between seeds.

{gate_markdown(result["gate"])}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sims", type=int, default=2000, help="simulated evaluations per cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/calibration"))
    options = parser.parse_args()
    started = time.perf_counter()
    cells = [
        coverage_cell(model, seeds, episodes, options.sims, options.seed)
        for seeds in SEEDS
        for episodes in EPISODES
        for model in MODELS
    ]
    result = {
        "command": " ".join(["python tests/benchmarks/coverage.py", *sys.argv[1:]]),
        "sims": options.sims,
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
        "coverage": cells,
        "gate": gate_table(max(200, options.sims // 4), options.seed),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "coverage.json").write_text(json.dumps(result, indent=1) + "\n")
    (options.out / "coverage.md").write_text(markdown(result))
    print(markdown(result))
    print(f"{time.perf_counter() - started:.0f} s, written to {options.out}")


if __name__ == "__main__":
    main()
