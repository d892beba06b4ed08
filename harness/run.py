"""The evaluation itself: policies and a suite in, a report out."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Any

from envs import InputError
from envs.errors import not_among
from harness.baseline import against, incompatible, read_baseline
from harness.gate import ON_INCONCLUSIVE, Rule
from harness.judging import judge_records
from harness.measure import Sides, Watcher
from harness.policy import Policy, settle
from harness.records import Records
from harness.result import Report
from harness.rollout import lanes_per_block
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
    baseline: Report | str | None = None  # a saved run, or why it cannot be compared
    max_worsening: Mapping[str, float] = field(default_factory=dict)  # metric -> allowed change
    policy_shift: bool = False

    def __post_init__(self) -> None:
        for name, least in (("episodes", 1), ("num_envs", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < least):
                raise InputError(
                    f"{name}: expected a whole number of at least {least}, got {value}"
                )
        if self.on_inconclusive not in ON_INCONCLUSIVE:
            raise InputError(f"on_inconclusive: one of {', '.join(ON_INCONCLUSIVE)}")
        if self.max_worsening and self.baseline is None:
            raise InputError(
                "--max-worsening is the change against a saved run; name it: --baseline"
            )


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
    baseline: str | os.PathLike | Report | None = None,
    max_worsening: Mapping[str, float] | None = None,
    policy_shift: bool = False,
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
        baseline: a saved report (its file or folder) to gate against.
        max_worsening: metric -> how much its gap may grow against the baseline; by default the
            primary metric by its tolerance.
        policy_shift: also measure on which share of states the policy acts differently when it
            sees the held-out picture.

    Raises:
        envs.InputError: something named does not exist or does not fit.
        harness.RunError: the policy raised, or chose an action that does not exist.
    """
    suite = as_suite(what)
    rules = [Rule(name, value, "suite") for name, value in (max_gap or {}).items()]
    rules += [Rule(name, value, "pairs") for name, value in (max_pair_gap or {}).items()]
    saved = read_baseline(baseline, suite, narrowed=isinstance(what, Pair))
    settings = Settings(
        episodes, seed, num_envs, actions, tuple(rules), on_inconclusive, baseline=saved,
        max_worsening=max_worsening or {}, policy_shift=policy_shift,
    )  # fmt: skip
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
    episodes = settings.episodes or suite.episodes
    sides = Sides(episodes, settings.seed, settings.num_envs, watcher)
    played = [one for pair in suite for one in (pair, pair.widened) if one is not None]
    plan = [(pair, _policies_for(pair, policies, sides, watcher)) for pair in played]
    metrics = sides.build(suite.pairs[0].train)[0].metrics
    _check_metrics(suite, settings, [metric.name for metric in metrics])
    facts = _policy_facts(policies, plan)
    cells = {
        (config.digest, pair.train_name, one.seed)
        for pair, chosen in plan
        for config in (pair.train, *pair.heldout.values())
        for one in chosen
    }
    watcher.planned(facts, len(cells), episodes)
    _note_baseline(suite, settings, watcher)
    for pair, chosen in plan:
        sides.play_pair(pair, chosen)
    replay = sides.replay(plan[0][0], plan[0][1][0])
    shift = {}
    if settings.policy_shift:
        from harness.shift import suite_shift

        shift = suite_shift(plan, sides)
    rolled_out = time.perf_counter()
    records = Records(
        suite=suite,
        metrics=tuple(metrics),
        policy=facts,
        settings={
            "episodes": episodes,
            "seed": settings.seed,
            "lanes": lanes_per_block(),
            "level": 0.95,
        },
        cells=tuple(sides.cells.values()),
        blind=tuple(sides.blind.values()),
        replay=replay,
        shift=shift,
        rules=settings.rules,
        on_inconclusive=settings.on_inconclusive,
        provenance=_provenance(settings),
    )
    report = judge_records(records)
    if settings.baseline is not None:
        outcome = against(
            report, settings.baseline, settings.max_worsening, settings.on_inconclusive
        )
        report = replace(report, baseline=outcome)
    finished = time.perf_counter()
    timing = {"rollouts_s": rolled_out - started, "statistics_s": finished - rolled_out}
    return replace(report, timing=timing)


def _note_baseline(suite: Suite, settings: Settings, watcher: Watcher) -> None:
    """Say before the start that the comparison can only fail."""
    if settings.baseline is None:
        return
    reason = incompatible(suite, settings.baseline)
    if reason:
        watcher.note(f"the baseline is incompatible: {reason}; the exit code will be 4")


def _policies_for(
    pair: Pair, policies: PolicySet, sides: Sides, watcher: Watcher
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
    for name in (*(rule.metric for rule in settings.rules), *settings.max_worsening):
        if name not in known:
            raise InputError(not_among(f"no metric {name!r}", name, known))


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
