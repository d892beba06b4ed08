"""What an evaluation would do, and about how long it would take, from one block on one side."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax

from harness.policies.sources import PolicySet
from harness.progress import gate_notes
from harness.reporting.blocks import count
from harness.reporting.table import filled, policy_line
from harness.rollouts.compiling import Compilations
from harness.rollouts.measure import Watcher
from harness.rollouts.rollout import lanes_per_block, play
from harness.run import Plan, Settings, plan_run
from protocols import Suite


@dataclass(frozen=True)
class Forecast:
    """What would run.

    cells     sides times training seeds; baselines: those of policies without eyes
    episodes  per cell; most_steps: of all cells, if every episode lasts to its horizon
    programs  how many are compiled: one for each distinct (environment, policy function)
    seconds   compiling and playing, forecast from the probe
    """

    suite: Mapping[str, Any]
    policy: Mapping[str, Any]
    cells: int
    baselines: int
    episodes: int
    most_steps: int
    programs: int
    seconds: Mapping[str, float]
    probe: Mapping[str, Any]
    device: str
    notes: tuple[str, ...]


class _Notes(Watcher):
    """Keeps what would have been said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        if text not in self.lines:
            self.lines.append(text)


def plan(policies: PolicySet, suite: Suite, settings: Settings) -> Forecast:
    """Check that everything fits, and play one block to forecast the time of the rest.

    Raises:
        InputError: as `run` would, before its first episode.
        RunError: the policy fails in the probe.
    """
    notes = _Notes()
    planned = plan_run(policies, suite, settings, notes)
    sides = planned.sides
    seeds = len(planned.facts["seeds"])
    programs = _programs(planned)
    most = sum(
        sides.environments[digest].horizon * sides.episodes for digest, _, _ in planned.cells
    )
    probe = _probe(planned, settings)
    blocks = -(-sides.episodes // probe["episodes"])
    # The self-test plays one block again; the baselines draw nothing, which takes no time beside.
    playing = probe["run_s"] * (len(planned.cells) * blocks + 1)
    return Forecast(
        suite={"name": suite.name, "version": suite.version, "digest": suite.digest},
        policy=planned.facts,
        cells=len(planned.cells),
        baselines=sum(task.kind == "baseline" for task in sides.tasks.values()),
        episodes=sides.episodes,
        most_steps=most,
        programs=len(programs),
        seconds={"compile": probe["compile_s"] * len(programs), "run": playing},
        probe=probe,
        device=f"{jax.default_backend()} ({os.cpu_count()} cores)",
        notes=(*notes.lines, *gate_notes(suite, settings, seeds, sides.episodes)),
    )


def _programs(planned: Plan) -> set[tuple[Any, str, Any]]:
    """Build every side, and return what is compiled apart; numbers and weights are traced.

    Raises:
        InputError: a policy does not fit a held-out side.
    """
    found = set()
    for task in planned.sides.tasks.values():
        env, _ = planned.sides.build(task.config)
        task.policy.check_fits(env)
        found.add((env, task.policy.kind, task.policy.apply))
    return found


def _probe(planned: Plan, settings: Settings) -> dict[str, Any]:
    """Play one block of the first cell twice: the first time compiles, the second one is timed."""
    sides, (pair, (one, *_)) = planned.sides, planned.pairs[0]
    env, params = sides.build(pair.train)
    block = min(settings.num_envs, sides.episodes) if one.on_host else lanes_per_block()
    episodes = min(block, sides.episodes)
    took = []
    for _ in range(2):
        with Compilations() as compiled:
            started = time.perf_counter()
            batch = play(
                env, params, one, episodes=episodes, master_seed=sides.master_seed,
                training_seed=one.seed, num_envs=settings.num_envs,
            )  # fmt: skip
            took.append((time.perf_counter() - started, compiled.seconds))
    return {
        "side": pair.train_name,
        "episodes": episodes,
        "steps": batch.steps,
        "compile_s": took[0][1],
        "run_s": took[1][0] - took[1][1],
    }


def render(found: Forecast) -> str:
    """Return the forecast as text, within 100 columns."""
    suite, probe = found.suite, found.probe
    compiling, playing = found.seconds["compile"], found.seconds["run"]
    named = f"suite {suite['name']} v{suite['version']}, digest {suite['digest'][:8]}"
    cells = f"{count(found.cells, 'cell')} of {count(found.episodes, 'episode')}"
    timed = f"{count(probe['episodes'], 'episode')} on {probe['side']}, {probe['steps']:,} steps"
    parts = f"{count(found.programs, 'program')} {duration(compiling)}"
    lines = [policy_line(found.policy), f"{named}: every policy fits every side"]
    lines.append(f"{cells} (each side once per training seed): at most {found.most_steps:,} steps")
    if found.baselines:
        lines[-1] += f"; {count(found.baselines, 'cell')} of baselines, which draw no picture"
    lines.append(f"probe: {timed}: {probe['compile_s']:.1f} s to compile, {probe['run_s']:.1f} s")
    lines.append(
        f"about {duration(compiling + playing)} on {found.device}: compiling {parts}, playing "
        f"{duration(playing)}; sides with more to draw take longer"
    )
    lines += [f"note: {text}" for text in found.notes]
    return "\n".join(map(filled, [*lines, "dry run: nothing was evaluated"]))


def duration(seconds: float) -> str:
    """Return "12 s", "3 min 20 s", "1 h 05 min"."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
