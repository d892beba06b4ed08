"""The evaluation itself: policies and a suite in, a report out."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from envs import InputError
from envs.core import Metric
from envs.errors import not_among
from harness.errors import RunError
from harness.policies.settling import PolicyRaises, settle
from harness.policies.sources import PolicySet, load_policies
from harness.policies.training_rules import refuse_missing_seeds
from harness.policy import Policy
from harness.reporting.baseline import against, incompatible, read_baseline
from harness.reporting.blocks import count
from harness.reporting.export import to_dict
from harness.reporting.gate import ON_INCONCLUSIVE, Rule
from harness.reporting.judging import judge_records
from harness.reporting.records import Records
from harness.reporting.result import Report
from harness.reporting.table import not_trained_line
from harness.rollouts.compiling import Compilations
from harness.rollouts.manifest import manifest, provenance, unverified, with_machines
from harness.rollouts.measure import Sides, Watcher
from harness.rollouts.rollout import lanes_per_block
from harness.rollouts.runfolder import REPORT, RunFolder, open_run
from protocols import Pair, Suite, audit, load_suite


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
    out: str | os.PathLike | None = None,
    apply: Any = None,
    params_key: str | None = None,
    allow_extra: bool = False,
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
        out: a folder that keeps every finished cell and at last the report; called again with the
            same folder, it goes on where it was stopped. By default nothing is written.
        apply: for weights without a manifest, the code they belong to: "my_net.py:NAME", or the
            function or network itself (see `harness.policies.applying`).
        params_key: where in a checkpoint its parameters are, "a/b"; "." the whole.
        allow_extra: ignore leaves of a checkpoint that the policy does not expect.

    Raises:
        envs.InputError: something named does not exist or does not fit; `out` cannot be written,
            or holds another run.
        harness.RunError: the policy raised, or chose an action that does not exist; a cell could
            not be written.
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
    policies = load_policies(
        policy, actions=actions, env=env, apply=apply, params_key=params_key,
        allow_extra=allow_extra, sides=suite.training_sides,
    )  # fmt: skip
    return run(policies, suite, settings, out=out)


def as_suite(what: Pair | Suite | str) -> Suite:
    """Return a suite: itself, the bundled one of that name, or one made of a single pair.

    Pairs made in Python are audited like those of a file, which were when it was read.
    """
    if not isinstance(what, (Suite, Pair)):
        return load_suite(what)
    one = isinstance(what, Pair)
    suite = Suite(f"pair {what.name}", 1, "A single pair.", (what,)) if one else what
    for pair in suite:
        audit(pair)
    return suite


@dataclass(frozen=True)
class Plan:
    """What a run plays: everything is loaded and fits, nothing was played yet."""

    sides: Sides
    pairs: list[tuple[Pair, tuple[Policy, ...]]]
    suite: Suite  # the pairs that the policies were trained for
    not_trained: Mapping[str, str]  # the other pairs, with their training configuration
    metrics: tuple[Metric, ...]
    facts: Mapping[str, Any]  # on the policies
    cells: frozenset[tuple[str, str, int]]  # (configuration, training, training seed)


def plan_run(policies: PolicySet, suite: Suite, settings: Settings, watcher: Watcher) -> Plan:
    """Check loaded policies against a suite, and return what would be played.

    Raises:
        InputError: a policy does not fit, or something named does not exist.
    """
    suite, not_trained = policies.covered(suite)
    for line in not_trained_line(not_trained):
        watcher.note(line)
    episodes = settings.episodes or suite.episodes
    sides = Sides(episodes, settings.seed, settings.num_envs, watcher)
    played = [one for pair in suite for one in (pair, pair.widened) if one is not None]
    pairs = [(pair, _policies_for(pair, policies, sides, watcher)) for pair in played]
    fewer = refuse_missing_seeds(
        {pair.train_name: [one.seed for one in some] for pair, some in pairs}
    )
    if fewer:
        watcher.note(fewer)
    for pair, chosen in pairs:
        sides.plan_pair(pair, chosen)
    metrics = sides.build(suite.pairs[0].train)[0].metrics
    _check_metrics(suite, settings, [metric.name for metric in metrics])
    cells = frozenset(
        (config.digest, pair.train_name, one.seed)
        for pair, chosen in pairs
        for config in (pair.train, *pair.heldout.values())
        for one in chosen
    )
    facts = _policy_facts(policies, pairs)
    return Plan(sides, pairs, suite, not_trained, tuple(metrics), facts, cells)


def run(
    policies: PolicySet, suite: Suite, settings: Settings, watcher: Watcher | None = None,
    out: str | os.PathLike | None = None,
) -> Report:  # fmt: skip
    """Evaluate loaded policies on a suite (see `evaluate`)."""
    watcher = watcher or Watcher()
    with open_run(out) if out is not None else nullcontext() as folder:
        with Compilations() as compiled:
            report = _run(policies, suite, settings, watcher, folder)
        report = replace(report, timing=compiled.split(report.timing))
        if folder is not None:
            report = _finished(report, folder)
            watcher.reported(folder.path / REPORT)
        return report


def _finished(report: Report, folder: RunFolder) -> Report:
    """Keep the report in its folder; its times include those of earlier starts."""
    timing = {name: value + folder.earlier.get(name, 0) for name, value in report.timing.items()}
    kept = folder.finish(to_dict(replace(report, timing=timing)))
    return replace(report, timing=kept["timing"])


def _run(
    policies: PolicySet, suite: Suite, settings: Settings, watcher: Watcher,
    folder: RunFolder | None,
) -> Report:  # fmt: skip
    started = time.perf_counter()
    planned = plan_run(policies, suite, settings, watcher)
    plan, sides, suite = planned.pairs, planned.sides, planned.suite
    if planned.not_trained and isinstance(settings.baseline, Report):
        baseline = read_baseline(settings.baseline, suite, narrowed=True)
        settings = replace(settings, baseline=baseline)
    measured = {
        "episodes": sides.episodes,
        "seed": settings.seed,
        "lanes": lanes_per_block(),
        "level": 0.95,
    }
    facts = provenance(settings.command)
    if folder is not None:
        sides.folder = folder
        wanted = manifest(suite, plan, measured, settings.num_envs, facts)
        facts = folder.begin(wanted)["provenance"]
    watcher.planned(planned.facts, len(planned.cells), sides.episodes)
    _note_baseline(suite, settings, watcher)
    if folder is not None:
        _say_what_is_found(folder, wanted, sides)
    sides.play()
    replay = sides.replay(plan[0][0], plan[0][1][0])
    shift = _shift(planned) if settings.policy_shift else {}
    if folder is not None:
        facts = with_machines(facts, folder.machines)
    rolled_out = time.perf_counter()
    records = Records(
        suite=suite,
        metrics=planned.metrics,
        policy=planned.facts,
        settings=measured,
        cells=tuple(sides.cells.values()),
        blind=tuple(sides.blind.values()),
        replay=replay,
        shift=shift,
        not_trained=planned.not_trained,
        rules=settings.rules,
        on_inconclusive=settings.on_inconclusive,
        provenance=facts,
    )
    report = _judged(records, settings)
    finished = time.perf_counter()
    timing = {"rollouts_s": rolled_out - started, "statistics_s": finished - rolled_out}
    return replace(report, timing=timing)


def _shift(planned: Plan) -> dict[str, Any]:
    from harness.rollouts.shift import suite_shift

    return suite_shift(planned.pairs, planned.sides)


def _judged(records: Records, settings: Settings) -> Report:
    report = judge_records(records)
    if settings.baseline is None:
        return report
    outcome = against(report, settings.baseline, settings.max_worsening, settings.on_inconclusive)
    return replace(report, baseline=outcome)


def _say_what_is_found(folder: RunFolder, wanted: Mapping[str, Any], sides: Sides) -> None:
    for text in folder.notes:
        sides.watcher.note(text)
    found = [task for task in sides.tasks.values() if folder.has(task.key)]
    if not found:
        return
    own = sum(task.kind == "policy" for task in found)
    if len(found) == len(sides.tasks):
        text = f"{folder.path} holds every cell; nothing is played again"
    else:
        text = (
            f"{folder.path} holds {count(own, 'finished cell')} and {len(found) - own} of "
            "baselines; they are not played again"
        )
    sides.watcher.note(text)
    sides.watcher.episodes_finished(own * sides.episodes)
    if folder.machines - {wanted["machine"]}:
        before = ", ".join(sorted(folder.machines))
        sides.watcher.note(
            f"begun on {before}, continued on {wanted['machine']}: last digits may differ"
        )
    for name in unverified(wanted["measured"]):
        sides.watcher.note(
            f"{name} has no fingerprint: its code is the same as before, what else it reads is "
            "unverified"
        )


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
        try:
            settled, note = settle(one, env)
        except PolicyRaises as error:  # its code fails, which is no fault of the command
            raise RunError(str(error)) from error
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
                "origin": dict(one.origin),
            }
            for (training, seed), one in chosen.items()
        ],
    }
