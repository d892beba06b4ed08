"""One training run: its files, its progress, its checkpoints. The learning itself is in `ppo`.

```
<out>/<train-config>/seed-<k>/step-<n>/          checkpoints, the last one at the end of training
<out>/<train-config>/seed-<k>/learning_curve.*   its course, as CSV and (with matplotlib) as PNG
<out>/<train-config>/.seed-<k>-training/         all of it, and the state, until it is finished
```
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from envs.errors import InputError, not_among
from envs.keys import training_key
from harness.policies.checkpoint import read_manifest, save_policy
from protocols import load_train_config
from reference_agents import networks, ppo
from reference_agents.curve import plot_curves, steps_to_success, write_curve
from reference_agents.progress import Progress
from reference_agents.resume import load_state, read_facts, save_state

STATE, CURVE, PLOT = "state.npz", "learning_curve.csv", "learning_curve.png"
CURVE_ITERATIONS = 4  # iterations per row of the learning curve
SAVE_SECONDS = 60.0
NETWORKS = {"platformer": ("patch", "nature"), "puzzle": ("tiles", "nature")}
BOARD_NETWORKS = ("board",)  # for observations that are no pictures
# What differs from the defaults of PPOConfig, which are the platformer's.
RECIPES: dict[str, dict[str, Any]] = {
    "platformer": {},
    # An invalid move costs 1 and is the worst there is, so that nothing is clipped.
    "puzzle": {"reward_floor": -1.0, "learning_rate": 5e-4},
}
GOLDEN = 4  # observations kept with a checkpoint, to recognise its outputs by


@dataclass(frozen=True)
class Training:
    """What is trained and how, for any number of seeds."""

    task: ppo.Task
    params: Any  # of the environment
    side: Mapping[str, Any]  # name and digest of the training configuration, and its frozen split
    network: str = "patch"  # name of the factory in `networks` that made `task.network`
    checkpoints: int = 4  # how many, evenly over the training
    command: str = ""  # how it was started, for the manifest

    @property
    def algorithm(self) -> dict[str, Any]:
        """Everything that must be equal for two seeds to be seeds of one algorithm, JSON data."""
        name = "ppo" if self.task.augment is None else f"ppo, {self.task.augment}"
        return {
            "name": name,
            "factory": f"reference_agents.networks:{self.network}",
            "arguments": networks.arguments(self.task.network),
            "config": dataclasses.asdict(self.task.config),
        }

    @property
    def saved_at(self) -> dict[int, int]:
        """Iteration -> step of every checkpoint."""
        config = self.task.config
        numbers = range(1, self.checkpoints + 1)
        iterations = [round(number * config.iterations / self.checkpoints) for number in numbers]
        return {iteration: iteration * config.batch for iteration in iterations if iteration}

    def identity(self, seed: int) -> dict[str, Any]:
        """Return, as JSON data, everything that decides how the training of a seed goes."""
        side = {name: self.side[name] for name in ("name", "digest")}
        if "split" in self.side:  # a training that has begun cannot be given one afterwards
            side["split"] = self.side["split"]["digest"]
        checkpoints = self.checkpoints
        return {**self.algorithm, "train": side, "seed": seed, "checkpoints": checkpoints}


class Run(NamedTuple):
    """Where the training of one seed stands: what is saved and loaded."""

    state: ppo.TrainState
    rows: list[list[float]]  # of the learning curve, as curve.COLUMNS
    running: list[float]  # episodes, success and return sums since the last row
    seconds: float  # of training so far, over all sittings


def make_training(
    name: str, *, published: bool = False, network: str | None = None, steps: int | None = None,
    augment: str | None = None, **options: Any,
) -> Training:  # fmt: skip
    """Return the training on a named configuration; other names are errors that list the valid.

    `published` takes network and settings of the published baseline in place of our small ones;
    `network` is one of NETWORKS[environment]; `options` are further fields of `Training`.
    """
    config = load_train_config(name)
    env, params = config.build()
    network = network or ("nature" if published else None)
    pictures = len(env.observation_shape) == 3
    known = NETWORKS[config.environment] if pictures else BOARD_NETWORKS
    if network is not None and network not in known:
        raise InputError(not_among(f"no network {network!r} for {name}", network, known))
    network = network or known[0]
    if augment is not None and not pictures:
        raise InputError(f"--augment is for pictures; {name} shows none")
    cells = {"rows": config.height, "columns": config.width} if network == "tiles" else {}
    module = getattr(networks, network)(env.num_actions, **cells)
    recipe = ppo.PUBLISHED if published else ppo.PPOConfig(**RECIPES[config.environment])
    settings = recipe if steps is None else dataclasses.replace(recipe, steps=steps)
    task = ppo.Task(env, module, settings, augment)
    return Training(task, params, {"name": name, "digest": config.digest}, network, **options)


def train_seed(
    training: Training, seed: int, out: Path, *, fresh: bool = False,
    stop: Callable[[int], bool] = lambda _: False,
) -> Path | None:  # fmt: skip
    """Train one seed, or go on with it, and write its checkpoints.

    Args:
        out: they become `<out>/<side name>/seed-<seed>/step-<n>/`.
        fresh: discard an earlier training of this seed.
        stop: asked after every iteration; true saves the state and returns None.

    Raises:
        InputError: what is already there belongs to a training with other settings.
    """
    final = out / training.side["name"] / f"seed-{seed}"
    work = final.with_name(f".{final.name}-training")
    identity = training.identity(seed)
    label = f"{training.side['name']} seed {seed}"
    if fresh:
        shutil.rmtree(work, ignore_errors=True)
    elif final.exists() and not work.exists():
        _check_same(final, _recorded(final), identity)
        print(f"{label}  already trained: {final}", file=sys.stderr)
        return final
    work.mkdir(parents=True, exist_ok=True)
    root = training_key(seed)
    run = _start(training, root, work / STATE, identity)
    run = _train(training, root, run, work, identity, label, stop)
    if run.state.iteration < training.task.config.iterations:
        return None
    plot_curves(work / PLOT, {label: run.rows}, training.algorithm["name"])
    (work / STATE).unlink()
    for unfinished in work.glob(".*"):  # left by a kill while a checkpoint was being written
        shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(final, ignore_errors=True)
    work.rename(final)
    print(f"{label}  done in {run.seconds / 60:.1f} min: {final}", file=sys.stderr)
    return final


def _recorded(final: Path) -> Any:
    manifests = sorted(final.glob("step-*/manifest.json"))
    return read_manifest(manifests[0].parent)["notes"].get("training") if manifests else None


def _check_same(path: Path, found: Any, identity: Mapping[str, Any]) -> None:
    if found == identity:
        return
    old, new = _flat(found if isinstance(found, dict) else {}), _flat(identity)
    absent = "not recorded"
    differing = [name for name in {**new, **old} if new.get(name, absent) != old.get(name, absent)]
    first = differing[0] if differing else "settings"
    raise InputError(
        f"{path}: belongs to a training with other settings ({first}: "
        f"{old.get(first, absent)} there, {new.get(first, absent)} here); "
        "another --out keeps it, --fresh replaces it"
    )


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        inner = isinstance(value, Mapping)
        flat.update(_flat(value, f"{prefix}{name}.") if inner else {f"{prefix}{name}": value})
    return flat


def _start(training: Training, root: jax.Array, file: Path, identity: Mapping) -> Run:
    """Return the saved run, or a new one."""
    task, params = training.task, training.params
    if not file.exists():
        return Run(ppo.init(task, root, params), [], [0.0, 0.0, 0.0], 0.0)
    facts = read_facts(file)
    _check_same(file, facts["identity"], identity)
    like = jax.eval_shape(lambda key: ppo.init(task, key, params), root)
    return Run(load_state(file, like), facts["rows"], facts["running"], facts["seconds"])


def _train(
    training: Training, root: jax.Array, run: Run, work: Path, identity: Mapping, label: str,
    stop: Callable[[int], bool],
) -> Run:  # fmt: skip
    """Iterate to the end (or until `stop`), saving once a minute, at checkpoints, at the end."""
    task, saved_at = training.task, training.saved_at
    iteration = int(run.state.iteration)
    progress = Progress(label, task.config, iteration)
    saved = time.monotonic()
    try:
        while iteration < task.config.iterations:
            began = time.monotonic()
            state, finished = ppo.train_iteration(task, root, run.state, training.params)
            sums = [float(value) for value in jax.device_get(finished)]
            iteration = int(state.iteration)
            seconds = run.seconds + time.monotonic() - began
            run = _record(run._replace(state=state, seconds=seconds), sums, iteration, task.config)
            progress.tell(iteration, sums)
            if iteration in saved_at:
                _save_checkpoint(training, run, work / f"step-{saved_at[iteration]}", identity)
            if stop(iteration):
                break
            if time.monotonic() - saved > SAVE_SECONDS or iteration in saved_at:
                _save(work, run, identity)
                saved = time.monotonic()
    finally:
        # Also on Ctrl-C: the last whole iteration is kept.
        _save(work, run, identity)
    return run


def _save(work: Path, run: Run, identity: Mapping) -> None:
    facts = {
        "identity": dict(identity), "rows": run.rows, "running": run.running,
        "seconds": run.seconds,
    }  # fmt: skip
    save_state(work / STATE, run.state, facts)
    write_curve(work / CURVE, run.rows)


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


def _save_checkpoint(training: Training, run: Run, path: Path, identity: Mapping) -> None:
    """Write the policy as it is now; one that is already there, from before a kill, is replaced."""
    task = training.task
    lanes = jax.tree.map(lambda leaf: leaf[:GOLDEN], run.state.envs)
    last = int(run.state.iteration) == task.config.iterations
    algorithm = training.algorithm
    save_policy(
        path, run.state.weights["params"], algorithm["factory"], algorithm["arguments"],
        observations=np.asarray(ppo.observe(task.env, lanes, training.params)),
        num_actions=task.env.num_actions, actions="sample", train=training.side,
        seed=identity["seed"], steps=int(run.state.iteration) * task.config.batch,
        checkpoint_rule="last" if last else "fixed", algorithm=algorithm,
        notes={"training": dict(identity), "command": training.command,
               "minutes": round(run.seconds / 60, 1), "learned": steps_to_success(run.rows)},
    )  # fmt: skip
