"""One training run: its files, its progress, its checkpoint. The learning itself is in `ppo`."""

from __future__ import annotations

import csv
import dataclasses
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from envs.core import Config
from envs.errors import InputError
from envs.keys import training_key
from harness.checkpoint import read_manifest, save_policy
from harness.layout import is_checkpoint
from protocols import load_train_config
from reference_agents import networks, ppo
from reference_agents.resume import load_state, read_facts, save_state

STATE, CURVE = "state.npz", "learning_curve.csv"
COLUMNS = ("steps", "seconds", "episodes", "success", "return")
CURVE_ITERATIONS = 16  # iterations per row of the learning curve
SAVE_SECONDS, PROGRESS_SECONDS = 60.0, 10.0
GOLDEN = 4  # observations kept with a checkpoint, to recognise its outputs by


class Run(NamedTuple):
    """Where a training stands: what is saved and loaded."""

    state: ppo.TrainState
    rows: list[list[float]]  # of the learning curve, as COLUMNS
    running: list[float]  # episodes, success and return sums since the last row
    seconds: float  # of training so far, over all sittings


def training_config(name: str) -> Config:
    """Return a training configuration by name; other names are errors that list the valid ones."""
    return load_train_config(name)


def training_task(
    name: str, network: str = "patch", steps: int | None = None
) -> tuple[ppo.Task, Any, dict[str, str]]:
    """Return (task, environment parameters, {"name", "digest"} of the training side)."""
    config = training_config(name)
    env, params = config.build()
    module = getattr(networks, network)(env.num_actions)
    settings = ppo.PPOConfig() if steps is None else ppo.PPOConfig(steps=steps)
    return ppo.Task(env, module, settings), params, {"name": name, "digest": config.digest}


def train_seed(
    task: ppo.Task,
    params: Any,
    side: Mapping[str, str],
    seed: int,
    out: Path,
    *,
    network: str = "patch",
    fresh: bool = False,
    command: str = "",
    stop: Callable[[int], bool] = lambda _: False,
) -> Path | None:
    """Train one seed, or go on with it, and write its checkpoint.

    Args:
        side: name and digest of the training configuration, for the manifest.
        out: the checkpoint becomes `<out>/<side name>/seed-<seed>/`.
        network: name of the factory in `networks` that made `task.network`.
        fresh: discard an earlier training of this seed.
        command: how the run was started, for the manifest.
        stop: asked after every iteration; true saves the state and returns None.

    Raises:
        InputError: what is already there belongs to a training with other settings.
    """
    final = out / side["name"] / f"seed-{seed}"
    work = final.with_name(f".{final.name}-training")
    identity = _identity(task, side, seed, network)
    label = f"{side['name']} seed {seed}"
    if fresh:
        shutil.rmtree(work, ignore_errors=True)
    elif is_checkpoint(final) and not (work / STATE).exists():
        _check_same(final, read_manifest(final)["notes"].get("training"), identity)
        print(f"{label}  already trained: {final}", file=sys.stderr)
        return final
    work.mkdir(parents=True, exist_ok=True)
    root = training_key(seed)
    run = _start(task, root, params, work / STATE, identity)
    run = _train(task, root, params, run, work / STATE, identity, label, stop)
    if run.state.iteration < task.config.iterations:
        return None
    _finish(task, params, run, work, final, identity, command)
    print(f"{label}  done in {run.seconds / 60:.1f} min: {final}", file=sys.stderr)
    return final


def _identity(task: ppo.Task, side: Mapping[str, str], seed: int, network: str) -> dict[str, Any]:
    """Return, as JSON data, everything that decides how a training goes."""
    return {
        "algorithm": "ppo",
        "train": dict(side),
        "seed": seed,
        "factory": f"reference_agents.networks:{network}",
        "arguments": networks.arguments(task.network),
        "config": dataclasses.asdict(task.config),
    }


def _check_same(path: Path, found: Any, identity: Mapping[str, Any]) -> None:
    if found == identity:
        return
    old, new = _flat(found if isinstance(found, dict) else {}), _flat(identity)
    differing = [name for name in new if new[name] != old.get(name, "not recorded")]
    first = differing[0] if differing else "settings"
    raise InputError(
        f"{path}: belongs to a training with other settings ({first}: "
        f"{old.get(first, 'not recorded')} there, {new.get(first)} here); "
        "another --out keeps it, --fresh replaces it"
    )


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        inner = isinstance(value, Mapping)
        flat.update(_flat(value, f"{prefix}{name}.") if inner else {f"{prefix}{name}": value})
    return flat


def _start(task: ppo.Task, root: jax.Array, params: Any, file: Path, identity: Mapping) -> Run:
    """Return the saved run, or a new one."""
    if not file.exists():
        return Run(ppo.init(task, root, params), [], [0.0, 0.0, 0.0], 0.0)
    facts = read_facts(file)
    _check_same(file, facts["identity"], identity)
    like = jax.eval_shape(lambda key: ppo.init(task, key, params), root)
    return Run(load_state(file, like), facts["rows"], facts["running"], facts["seconds"])


def _train(
    task: ppo.Task, root: jax.Array, params: Any, run: Run, file: Path, identity: Mapping,
    label: str, stop: Callable[[int], bool],
) -> Run:  # fmt: skip
    """Iterate to the end (or until `stop`), saving once a minute and at the end."""
    progress = Progress(label, task.config, int(run.state.iteration))
    saved = time.monotonic()
    iteration = int(run.state.iteration)
    try:
        while iteration < task.config.iterations:
            began = time.monotonic()
            state, finished = ppo.train_iteration(task, root, run.state, params)
            sums = [float(value) for value in jax.device_get(finished)]
            iteration = int(state.iteration)
            seconds = run.seconds + time.monotonic() - began
            run = _record(run._replace(state=state, seconds=seconds), sums, iteration, task.config)
            progress.tell(iteration, sums)
            if stop(iteration):
                break
            if time.monotonic() - saved > SAVE_SECONDS:
                _save(file, run, identity)
                saved = time.monotonic()
    finally:
        # Also on Ctrl-C: the last whole iteration is kept.
        _save(file, run, identity)
    return run


def _save(file: Path, run: Run, identity: Mapping) -> None:
    facts = {
        "identity": dict(identity), "rows": run.rows, "running": run.running,
        "seconds": run.seconds,
    }  # fmt: skip
    save_state(file, run.state, facts)
    _write_curve(file.with_name(CURVE), run.rows)


def _record(run: Run, sums: list[float], iteration: int, config: ppo.PPOConfig) -> Run:
    """Add an iteration's finished episodes; every CURVE_ITERATIONS they become a row."""
    count, returns, metric = (a + b for a, b in zip(run.running, sums, strict=True))
    whole = iteration % CURVE_ITERATIONS == 0 or iteration == config.iterations
    if not whole or not count:
        return run._replace(running=[count, returns, metric])
    row = [
        iteration * config.batch, round(run.seconds, 1), int(count),
        round(metric / count, 4), round(returns / count, 2),
    ]  # fmt: skip
    return run._replace(rows=[*run.rows, row], running=[0.0, 0.0, 0.0])


def _write_curve(path: Path, rows: list[list[float]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def _finish(
    task: ppo.Task, params: Any, run: Run, work: Path, final: Path, identity: Mapping,
    command: str,
) -> None:  # fmt: skip
    """Write the checkpoint, then remove the working files; repeated whole if it is interrupted."""
    lanes = jax.tree.map(lambda leaf: leaf[:GOLDEN], run.state.envs)
    save_policy(
        final, run.state.weights["params"], identity["factory"], identity["arguments"],
        observations=np.asarray(ppo.observe(task.env, lanes, params)),
        num_actions=task.env.num_actions, actions="sample", train=identity["train"],
        seed=identity["seed"], steps=int(run.state.iteration) * task.config.batch,
        notes={"training": dict(identity), "command": command,
               "minutes": round(run.seconds / 60, 1)},
    )  # fmt: skip
    shutil.copyfile(work / CURVE, final / CURVE)
    shutil.rmtree(work)


class Progress:
    """One line on stderr every ten seconds or so: speed, recent training episodes, time left."""

    def __init__(self, label: str, config: ppo.PPOConfig, iteration: int) -> None:
        self.label, self.config, self.last = label, config, iteration
        self.told: float | None = None
        self.recent: list[list[float]] = []

    def tell(self, iteration: int, sums: list[float]) -> None:
        """Note one iteration; print when it is time."""
        self.recent = [*self.recent, sums][-CURVE_ITERATIONS:]
        if self.told is None:  # the first one compiled the program, which says nothing about speed
            self.told, self.last = time.monotonic(), iteration
            return
        elapsed = max(time.monotonic() - self.told, 1e-9)
        over = iteration == self.config.iterations
        if elapsed < PROGRESS_SECONDS and not over:
            return
        speed = (iteration - self.last) * self.config.batch / elapsed
        left = (self.config.iterations - iteration) * self.config.batch / speed
        count, returns, metric = np.sum(self.recent, axis=0)
        scores = (
            f"success {metric / count:.3f}  return {returns / count:8.1f}"
            if count
            else "no episode has ended yet"
        )
        done, total = iteration * self.config.batch / 1e6, self.config.steps / 1e6
        print(
            f"{self.label}  {done:5.2f} of {total:.2f} M steps  {speed:6,.0f}/s  {scores}  "
            f"{left / 60:.0f} min left",
            file=sys.stderr, flush=True,
        )  # fmt: skip
        self.told, self.last = time.monotonic(), iteration
