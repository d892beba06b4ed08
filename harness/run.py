"""The evaluation itself: policies and a suite in, a report out."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from envs import Config, InputError
from envs.errors import not_among
from harness.gate import ON_INCONCLUSIVE, Rule, judge_rule
from harness.judging import blind_scores, judge_pair, suite_results
from harness.policy import BLIND, Policy, available_scripts, builtin, settle
from harness.result import Cell, PairResult, Report
from harness.rollout import EpisodeBatch, lanes_per_block, play
from harness.sources import PolicySet, load_policies
from protocols import Pair, Suite, load_suite

_PACKAGES = ("heldout", "jax", "jaxlib", "flax", "numpy", "scipy")


@dataclass(frozen=True)
class Settings:
    """How a suite is evaluated."""

    episodes: int | None = None  # per side and training seed; None: the suite's own number
    seed: int = 0  # master seed of the episodes
    num_envs: int = 256  # episodes in flight
    actions: str | None = None  # "sample" | "greedy"; None: what the checkpoint declares
    rules: tuple[Rule, ...] = ()
    on_inconclusive: str = "exit3"
    command: str | None = None

    def __post_init__(self) -> None:
        for name, least in (("episodes", 1), ("num_envs", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < least):
                raise InputError(
                    f"{name}: expected a whole number of at least {least}, got {value}"
                )
        if self.on_inconclusive not in ON_INCONCLUSIVE:
            raise InputError(f"on_inconclusive: one of {', '.join(ON_INCONCLUSIVE)}")


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


@dataclass
class _Sides:
    """Builds each distinct configuration once and rolls out each (side, policy) once."""

    settings: Settings
    episodes: int
    watcher: Watcher
    built: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    cells: dict[tuple[str, str, int], Cell] = field(default_factory=dict)
    blind_cells: dict[tuple[str, str, int], EpisodeBatch] = field(default_factory=dict)

    def build(self, config: Config) -> tuple[Any, Any]:
        if config.digest not in self.built:
            self.built[config.digest] = config.build()
        return self.built[config.digest]

    def roll_out(self, config: Config, name: str, training: str, one: Policy) -> EpisodeBatch:
        key = (config.digest, training, one.seed)
        if key not in self.cells:
            self.watcher.cell_started(name, one.seed)
            batch = self._play(config, one, one.seed, self.watcher.episodes_finished)
            self.cells[key] = Cell(config.digest, name, training, one.seed, batch)
        return self.cells[key].batch

    def blind(self, config: Config, seeds: Sequence[int]) -> dict[str, list[EpisodeBatch]]:
        """Play the policies without eyes on the very levels of a training side."""
        env, _ = self.build(config)
        names = [name for name in BLIND if name in available_scripts(env)]
        for name in names:
            for seed in seeds:
                key = (config.digest, name, seed)
                if key not in self.blind_cells:
                    batch = self._play(config, builtin(name, env), seed, lambda _: None)
                    self.blind_cells[key] = batch
        return {
            name: [self.blind_cells[config.digest, name, seed] for seed in seeds] for name in names
        }

    def _play(self, config: Config, one: Policy, seed: int, progress) -> EpisodeBatch:
        env, params = self.build(config)
        return play(
            env, params, one, episodes=self.episodes, master_seed=self.settings.seed,
            training_seed=seed, num_envs=self.settings.num_envs, progress=progress,
        )  # fmt: skip


def evaluate(
    policy: Any,
    what: Pair | Suite | str,
    *,
    episodes: int | None = None,
    seed: int = 0,
    num_envs: int = 256,
    actions: str | None = None,
    max_gap: Mapping[str, float] | None = None,
    max_pair_gap: Mapping[str, float] | None = None,
    on_inconclusive: str = "exit3",
) -> Report:
    """Evaluate a policy on a pair or a suite and return the report.

    Args:
        policy: a function `policy(obs, key) -> action` on one observation u8[H, W, C]; a list of
            them, which are then the training seeds; a `harness.Policy`; or whatever `--policy`
            takes, as text.
        what: a `Pair`, a `Suite`, or the name of a bundled suite.
        episodes: per side and training seed; the suite's own number (128) by default.
        seed: master seed; with training seed and episode number it decides every level.
        num_envs: episodes in flight (no influence on the records of JAX policies).
        actions: "sample" or "greedy", for checkpoints; by default what they declare.
        max_gap: metric -> largest allowed gap of the suite mean.
        max_pair_gap: metric -> largest allowed gap of every pair.
        on_inconclusive: what an inconclusive gate means for `report.exit_code`: "exit3", "pass",
            "fail".

    Raises:
        envs.InputError: something named does not exist or does not fit.
        harness.RunError: the policy raised, or chose an action that does not exist.
    """
    suite = as_suite(what)
    rules = [Rule(name, value, "suite") for name, value in (max_gap or {}).items()]
    rules += [Rule(name, value, "pairs") for name, value in (max_pair_gap or {}).items()]
    settings = Settings(episodes, seed, num_envs, actions, tuple(rules), on_inconclusive)
    env, _ = suite.pairs[0].train.build()
    return run(load_policies(policy, actions=actions, env=env), suite, settings)


def as_suite(what: Pair | Suite | str) -> Suite:
    """Return a suite: itself, the bundled one of that name, or one made of a single pair."""
    if isinstance(what, Suite):
        return what
    if isinstance(what, Pair):
        return Suite(f"pair {what.name}", 1, "A single pair.", (what,))
    return load_suite(what)


def run(
    policies: PolicySet, suite: Suite, settings: Settings, watcher: Watcher | None = None
) -> Report:
    """Evaluate loaded policies on a suite (see `evaluate`)."""
    started = time.perf_counter()
    watcher = watcher or Watcher()
    sides = _Sides(settings, settings.episodes or suite.episodes, watcher)
    plan = [(pair, _policies_for(pair, policies, sides, watcher)) for pair in suite]
    metrics = sides.build(suite.pairs[0].train)[0].metrics
    _check_metrics(suite, settings, [metric.name for metric in metrics])
    facts = _policy_facts(policies, plan)
    cells = {
        (config.digest, pair.train_name, one.seed)
        for pair, chosen in plan
        for config in (pair.train, *pair.heldout.values())
        for one in chosen
    }
    watcher.planned(facts, len(cells), sides.episodes)
    results = [_pair_result(pair, chosen, metrics, sides) for pair, chosen in plan]
    rolled_out = time.perf_counter()
    whole = suite_results(results, [metric.name for metric in metrics])
    gaps = {
        metric.name: {result.name: result.results[metric.name] for result in results}
        for metric in metrics
    }
    verdicts = [result.verdict.name for result in results]
    gates = tuple(
        judge_rule(rule, whole["mean"], gaps, verdicts, settings.on_inconclusive)
        for rule in settings.rules
    )
    finished = time.perf_counter()
    return Report(
        suite=suite,
        policy=facts,
        settings={
            "episodes": sides.episodes,
            "seed": settings.seed,
            "lanes": lanes_per_block(),
            "level": 0.95,
        },
        pairs=tuple(results),
        cells=tuple(sides.cells.values()),
        provenance=_provenance(settings),
        timing={"rollouts_s": rolled_out - started, "statistics_s": finished - rolled_out},
        gates=gates,
        **whole,
    )


def _policies_for(
    pair: Pair, policies: PolicySet, sides: _Sides, watcher: Watcher
) -> tuple[Policy, ...]:
    """Return the pair's policies, checked against (or settled for) its environment."""
    env, _ = sides.build(pair.train)
    chosen = []
    for one in policies.for_training(pair.train_name, pair.train.digest):
        settled, note = settle(one, env)
        if note:
            watcher.note(note)
        chosen.append(settled)
    return tuple(chosen)


def _check_metrics(suite: Suite, settings: Settings, known: Sequence[str]) -> None:
    for pair in suite:
        if pair.metric not in known:
            problem = f"pair {pair.name}: no metric {pair.metric!r}"
            raise InputError(not_among(problem, pair.metric, known))
    for rule in settings.rules:
        if rule.metric not in known:
            raise InputError(not_among(f"no metric {rule.metric!r}", rule.metric, known))


def _pair_result(pair: Pair, chosen: Sequence[Policy], metrics, sides: _Sides) -> PairResult:
    name = pair.train_name
    train = [sides.roll_out(pair.train, name, name, one) for one in chosen]
    heldout = {
        side: [
            sides.roll_out(config, pair.name if len(pair.heldout) == 1 else f"{pair.name}/{side}",
                           name, one)
            for one in chosen
        ]
        for side, config in pair.heldout.items()
    }  # fmt: skip
    blind = blind_scores(sides.blind(pair.train, [one.seed for one in chosen]), metrics)
    return judge_pair(pair, chosen, metrics, train, heldout, blind)


def _policy_facts(policies: PolicySet, plan) -> dict[str, Any]:
    chosen = {(pair.train_name, one.seed): one for pair, some in plan for one in some}
    return {
        "name": policies.name,
        "seeds": sorted({seed for _, seed in chosen}),
        "actions": sorted({one.actions for one in chosen.values()}),
        "kinds": sorted({one.kind for one in chosen.values()}),
        "policies": [
            {
                "training": training,
                "seed": seed,
                "actions": one.actions,
                "steps": one.steps,
                "train": dict(one.train),
                "fingerprint": one.fingerprint,
            }
            for (training, seed), one in chosen.items()
        ],
    }


def _provenance(settings: Settings) -> dict[str, Any]:
    import jax

    device = jax.devices()[0]
    return {
        "versions": {name: metadata.version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "device": {"platform": device.platform, "kind": device.device_kind, "cpu": _cpu_model()},
        "cores": os.cpu_count(),
        "command": settings.command,
    }


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            named = (line.partition(":")[2].strip() for line in lines if "model name" in line)
            return next(named, platform.processor())
    except OSError:
        return platform.processor()
