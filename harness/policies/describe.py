"""What lies at a path of weights, and what to type next, for `--describe-policy`.

No code of the user's, nor any that a checkpoint names, is imported or run.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from envs.errors import InputError
from harness.policies.applying import FORMS
from harness.policies.checkpoint import TRUSTED, fingerprint, read_manifest, read_variables
from harness.policies.fitting import WHOLE, whole_or_params
from harness.policies.layout import LAST, Step, choose, step_at, steps_in
from harness.policies.sources import place_of
from harness.policies.trainings import Training, trainings_of
from harness.policies.weights import (
    SEPARATOR,
    describe_weights,
    digest_of,
    leaves_of,
    read_weights,
    slot_text,
)

MOST_LEAVES = 40
FORM = {
    "policy": "a policy with its manifest",
    "orbax": "Orbax",
    ".msgpack": "Flax msgpack",
    ".npz": "NumPy .npz",
    ".safetensors": "safetensors",
}


def describe(text: str, step: int | str = LAST) -> str:
    """Return what lies there: trainings, steps, leaves, manifest, fingerprint, and what to type.

    Raises:
        InputError: nothing there, or no such step.
    """
    trainings = trainings_of(place_of(text))
    if len(trainings) == 1:
        return "\n".join(_training(trainings[0], text, step))
    lines = [f"{text}: {len(trainings)} trainings"]
    lines += [f"  {_short(one, step)}" for one in trainings]
    first = next((one for one in trainings if _chosen(one, step) is not None), None)
    if first is None:
        return "\n".join(lines)
    return "\n".join([*lines, "", "the first of them:", *_training(first, text, step)])


def _short(training: Training, step: int | str) -> str:
    seed = "seed ?" if training.seed is None else f"seed {training.seed}"
    try:
        chosen, _ = choose(training.place, step)
    except InputError as error:
        return f"{training.configuration or '?'}  {seed}  {error}"
    number = "" if chosen.number is None else f"  step {chosen.number}"
    return f"{training.configuration or '?'}  {seed}{number}  {FORM[chosen.form]}"


def _chosen(training: Training, step: int | str) -> Step | None:
    try:
        return choose(training.place, step)[0]
    except InputError:
        return None


def _training(training: Training, text: str, step: int | str) -> list[str]:
    chosen, _ = choose(training.place, step)
    lines = [f"{training.place}", *_steps(training.place)]
    items = f" (items {', '.join(chosen.items)})" if chosen.items else ""
    lines.append(
        _row("read", f"{_below(chosen.place, training.place)}: {FORM[chosen.form]}{items}")
    )
    if chosen.form == "policy":
        return [*lines, *_policy(chosen.place, text)]
    tree = describe_weights(chosen)
    lines += _leaves(tree)
    lines.append(_row("manifest", "none: nothing says what code these weights belong to"))
    lines.append(_row("fingerprint", digest_of(read_weights(chosen))))
    return [*lines, *_next(tree, text)]


def _row(name: str, text: str) -> str:
    return f"  {name:12} {text}"


def _below(place: Path, root: Path) -> str:
    return "itself" if place == root else str(place.relative_to(root))


def _steps(place: Path) -> Iterable[str]:
    if step_at(place) is not None:
        return
    steps = steps_in(place)
    complete = [str(one.number) for one in steps if one.problem is None]
    yield _row("steps", ", ".join(complete) or "none is complete")
    for one in steps:
        if one.problem:
            yield _row("incomplete", f"{one.place.name}: {one.problem}")
    others = sorted({entry.name for entry in place.iterdir()} - {one.place.name for one in steps})
    if others:
        yield _row("no steps", ", ".join(others[:12]) + (", …" if len(others) > 12 else ""))


def _leaves(tree: Any) -> Iterable[str]:
    leaves = leaves_of(tree)
    numbers = sum(int(np.prod(leaf.shape)) for leaf in leaves.values())
    dtypes = ", ".join(sorted({str(leaf.dtype) for leaf in leaves.values()}))
    yield _row("leaves", f"{len(leaves)} with {numbers:,} numbers, {dtypes}")
    names = {SEPARATOR.join(path): slot_text(leaf) for path, leaf in leaves.items()}
    width = max((len(name) for name in list(names)[:MOST_LEAVES]), default=0)
    for name, slot in list(names.items())[:MOST_LEAVES]:
        yield f"    {name:{width}}  {slot}"
    if len(names) > MOST_LEAVES:
        yield f"    … and {len(names) - MOST_LEAVES} more"


def _policy(place: Path, text: str) -> Iterable[str]:
    manifest = read_manifest(place)
    variables = read_variables(place, manifest)
    yield from _leaves(variables)
    yield _row("factory", f"{manifest['factory']} {_facts(manifest['arguments'])}".rstrip())
    for key in ("observation", "num_actions", "actions", "train", "seed", "steps"):
        yield _row(key, _facts(manifest.get(key)))
    for key in ("checkpoint_rule", "algorithm", "versions"):
        if manifest.get(key):
            yield _row(key.replace("_", " ")[:12], _facts(manifest[key]))
    yield _row("fingerprint", fingerprint(manifest, variables))
    ours = str(manifest["factory"]).startswith(TRUSTED)
    yield from _command(text, None if ours else manifest["factory"])
    if not ours:
        yield _row("", "its factory is not one of ours: --apply says that it may run")


def _facts(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_facts(one)}" for key, one in value.items())
    return "unknown" if value is None else str(value)


def _next(tree: Any, text: str) -> Iterable[str]:
    yield from _command(text, "my_net.py:NAME")
    yield _row("", f"NAME: {FORMS}")
    try:
        places = [where for where, _ in whole_or_params(tree, name=text)]
    except InputError as error:
        yield _row("", str(error))
        return
    where = "the whole tree" if places[0] == WHOLE else places[0]
    yield _row("", f"without an init(key, obs) in that file, act gets {where} as its params")


def _command(text: str, apply: str | None) -> Iterable[str]:
    command = ["python", "-m", "harness.evaluate", "--policy", text]
    command += ["--apply", apply] if apply else []
    yield _row("next", shlex.join([*command, "--suite", "hard"]))
