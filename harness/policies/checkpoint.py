"""Checkpoints: an Orbax folder of weights plus a manifest that says what they are.

```
<path>/manifest.json     factory, arguments, observation, training side, seed, steps, versions
<path>/params/           the weights, an Orbax checkpoint
<path>/collections/      what else the network needs, such as observation statistics, where it does
<path>/golden.npz        observations and the network's outputs for them, checked on loading
```

A factory is `module:attr` or `file.py:attr`. Called with the manifest's arguments it returns a
network: an object with `init(key, observation) -> variables` and
`apply(variables, observation) -> logits` or `(logits, value)`, such as a Flax module. Only
factories of this project are called because a checkpoint names them; any other is called where the
user says so.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from envs.errors import InputError, not_among
from harness.policies.fitting import WHOLE, fit
from harness.policies.importing import attribute, own_attribute
from harness.policies.splits import trained_for
from harness.policies.weights import add_leaves, leaves_of, read_orbax

FORMAT = "heldout-policy"
VERSION = 1
ACTIONS = ("sample", "greedy")
# How the checkpoint of a training was chosen; the last one is an upper bound, and no evidence.
CHECKPOINT_RULES = ("last", "best-on-train", "fixed", "best-on-heldout")
TRUSTED = "reference_agents."  # prefix of the modules whose factories a checkpoint may name
GOLDEN_TOLERANCE = 1e-3  # on outputs; another CPU may round differently
_PACKAGES = ("heldout", "jax", "flax", "orbax-checkpoint", "numpy")


@dataclass(frozen=True)
class Checkpoint:
    """One opened checkpoint."""

    path: Path
    manifest: Mapping[str, Any]
    network: Any  # what the factory returned
    variables: Any  # {"params": weights} and other collections, NumPy arrays
    fingerprint: str  # sha256 over factory, arguments and every leaf


def save_policy(
    path: str | os.PathLike,
    params: Any,
    factory: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    observations: np.ndarray,
    num_actions: int,
    actions: str = "sample",
    train: Mapping[str, Any] | None = None,
    seed: int = 0,
    steps: int | None = None,
    notes: Mapping[str, Any] | None = None,
    split: Mapping[str, Any] | str | os.PathLike | None = None,
    collections: Mapping[str, Any] | None = None,
    checkpoint_rule: str | None = None,
    algorithm: Mapping[str, Any] | None = None,
) -> Path:
    """Write a checkpoint folder that `python -m harness.evaluate --policy PATH` understands.

    Args:
        path: the folder to create; an existing checkpoint there is replaced in one step.
        params: the weights, a pytree of arrays (without Flax's outer {"params": ...}).
        factory: "module:attr" or "file.py:attr" of the function that builds the network. Whoever
            opens a checkpoint with a factory of your own names it again: --apply file.py:attr.
        arguments: keyword arguments of the factory, plain JSON data.
        observations: u8[N, H, W, C], a few observations; the network's outputs for them are stored
            and compared whenever the checkpoint is opened.
        num_actions: how many discrete actions the logits cover.
        actions: how the policy acts by default, "sample" or "greedy".
        train: what it was trained on, such as {"name": "base", "digest": config.digest}.
        seed: the training seed.
        steps: environment steps of training.
        notes: anything else worth keeping (JSON data).
        split: the split that was frozen before the training (`python -m protocols freeze`), a file
            or its content; evaluations say whether they play it.
        collections: the network's other variables, such as {"batch_stats": ...} or observation
            statistics; frozen from here on.
        checkpoint_rule: how this checkpoint was chosen among those of its training: "last",
            "best-on-train", "fixed" (a step fixed beforehand) or "best-on-heldout" (never
            evidence). Training seeds are comparable only under one rule.
        algorithm: the configuration of the training apart from its seed (JSON data); trainings that
            differ in it are no seeds of one algorithm.

    Returns:
        The absolute path of the folder.

    Raises:
        InputError: an unknown choice, or a factory that returns no network.
    """
    import jax

    _check_choices(actions, checkpoint_rule)
    path = Path(path).expanduser().resolve()
    network = build_network(factory, arguments or {})
    variables = jax.tree.map(np.asarray, {"params": params, **(collections or {})})
    outputs = _outputs(network, variables, observations)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "factory": _without_folder(factory),
        "arguments": dict(arguments or {}),
        "observation": {"shape": list(observations.shape[1:]), "dtype": str(observations.dtype)},
        "num_actions": num_actions,
        "actions": actions,
        "train": trained_for(train, split),
        "seed": seed,
        "steps": steps,
        "versions": {name: metadata.version(name) for name in _PACKAGES},
        "notes": dict(notes or {}),
        "collections": sorted(collections or {}),
        "checkpoint_rule": checkpoint_rule,
        "algorithm": dict(algorithm) if algorithm is not None else None,
    }
    _write(path, manifest, variables, {"observations": observations, **outputs})
    return path


def _check_choices(actions: str, checkpoint_rule: str | None) -> None:
    if actions not in ACTIONS:
        raise InputError(f"actions: {actions!r} is not one of {', '.join(ACTIONS)}")
    if checkpoint_rule not in (None, *CHECKPOINT_RULES):
        problem = f"no checkpoint rule {checkpoint_rule!r}"
        raise InputError(not_among(problem, checkpoint_rule, CHECKPOINT_RULES))


def _without_folder(factory: str) -> str:
    """A file is known by its name: where it lay on the machine that trained says nothing here."""
    place, _, name = factory.rpartition(":")
    return f"{Path(place).name}:{name}" if place.endswith(".py") else factory


def _write(
    path: Path, manifest: Mapping[str, Any], variables: Mapping[str, Any], golden: Mapping[str, Any]
) -> None:
    """Write a checkpoint folder beside its place, then move it there in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        _write_weights(made / "params", variables["params"])
        collections = {name: tree for name, tree in variables.items() if name != "params"}
        if collections:
            _write_weights(made / "collections", collections)
        np.savez_compressed(made / "golden.npz", **golden)
        text = json.dumps(manifest, indent=2, sort_keys=True, allow_nan=False)
        (made / "manifest.json").write_text(text + "\n", encoding="utf-8")
        if path.exists():
            os.rename(path, Path(scratch) / "replaced")
        os.rename(made, path)


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a checkpoint folder.

    Raises:
        InputError: it is missing, unreadable, or of another format.
    """
    file = path / "manifest.json"
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path}: no manifest.json, so nothing says what these weights are"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: unreadable ({error})") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{file}: not a manifest of a policy checkpoint")
    if manifest.get("version") != VERSION:
        found = manifest.get("version")
        raise InputError(f"{file}: version {found!r}; this program reads version {VERSION}")
    return manifest


def load_checkpoint(path: str | os.PathLike) -> Checkpoint:
    """Open a checkpoint folder, read-only.

    Raises:
        InputError: a part is missing; the weights do not fit the network (every differing leaf is
            counted, the first is named); the network's outputs differ from those stored.
    """
    path = Path(path).expanduser().resolve()
    manifest = read_manifest(path)
    _check_trusted(path, manifest["factory"])
    network = build_network(manifest["factory"], manifest["arguments"])
    stored = read_variables(path, manifest)
    variables = _fitted(path, network, stored, manifest["observation"])
    check_golden(path, network, variables)
    return Checkpoint(path, manifest, network, variables, fingerprint(manifest, stored))


def read_variables(path: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return {"params": weights} and the network's other collections, as they were saved.

    Raises:
        InputError: a part that the manifest declares is missing.
    """
    variables = {"params": read_orbax(path / "params")}
    declared = manifest.get("collections") or []
    if declared:
        variables |= read_orbax(path / "collections")
    missing = [name for name in declared if name not in variables]
    if missing:
        raise InputError(f"{path}: its manifest declares {', '.join(missing)}, which is missing")
    return variables


def build_network(factory: str, arguments: Mapping[str, Any]) -> Any:
    """Return the network that a factory makes. Equal arguments give the same object, so that all
    seeds of a policy share one compiled program."""
    return _cached_network(factory, json.dumps(dict(arguments), sort_keys=True))


@lru_cache(maxsize=64)
def _cached_network(factory: str, arguments: str) -> Any:
    function = own_attribute(factory) if factory.startswith(TRUSTED) else attribute(factory)
    try:
        network = function(**json.loads(arguments))
    except TypeError as error:
        raise InputError(f"policy factory {factory!r} cannot be called so: {error}") from error
    if not (hasattr(network, "init") and hasattr(network, "apply")):
        made = type(network).__name__
        raise InputError(f"policy factory {factory!r} returned a {made}, not a network")
    return network


def _check_trusted(path: Path, factory: str) -> None:
    if not str(factory).startswith(TRUSTED):
        raise InputError(
            f"{path}: its manifest names the factory {factory!r}, which is not one of ours; "
            f"say that it may run: --apply {factory if ':' in str(factory) else 'module:attr'}"
        )


def _outputs(network: Any, variables: Any, observations: np.ndarray) -> dict[str, np.ndarray]:
    """Return the logits of observations and, where the network gives them, their values."""
    given = _compiled(network)(variables, observations)
    logits, *rest = given if isinstance(given, (tuple, list)) else [given]
    named = {"logits": logits, "value": rest[0]} if rest else {"logits": logits}
    return {name: np.asarray(output, np.float32) for name, output in named.items()}


@lru_cache(maxsize=64)
def _compiled(network: Any) -> Any:
    """Return the jitted network: the seeds of one policy share it."""
    import jax

    return jax.jit(network.apply)


def _write_weights(path: Path, params: Any) -> None:
    import orbax.checkpoint as ocp

    with ocp.PyTreeCheckpointer() as writer:
        writer.save(path, params)
    marker = path / "commit_success.txt"
    if (
        marker.is_file()
    ):  # Orbax writes the folder's absolute path into it; only its presence counts
        marker.write_text("complete\n")


def _fitted(path: Path, network: Any, variables: Any, observation: Mapping[str, Any]) -> Any:
    import jax

    seen = np.zeros(observation["shape"], observation["dtype"])
    expected = jax.eval_shape(network.init, jax.random.key(0), seen)
    return fit(variables, expected, name=path, key=WHOLE).tree


def check_golden(path: Path, network: Any, variables: Any) -> None:
    """Compare the network's outputs with those that were stored with the weights.

    Raises:
        InputError: they differ, or none were stored.
    """
    file = path / "golden.npz"
    if not file.is_file():
        raise InputError(
            f"{file}: missing, so the weights cannot be checked against what was saved"
        )
    with np.load(file) as stored:
        given = _outputs(network, variables, stored["observations"])
        worst = float(np.max(np.abs(given["logits"] - stored["logits"])))
        if "value" in stored and "value" in given:
            error = np.abs(given["value"] - stored["value"]) / (1 + np.abs(stored["value"]))
            worst = max(worst, float(np.max(error)))
    if not worst <= GOLDEN_TOLERANCE:
        stored_by = "the network's outputs differ from those stored with the weights"
        raise InputError(f"{path}: {stored_by} by {worst:.3g}")


def origin_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return what a report says of where the weights came from; plain data."""
    leaves = leaves_of(checkpoint.variables).values()
    return {
        "form": "policy",
        "step": checkpoint.manifest.get("steps"),
        "taken_from": "params",
        "leaves": len(leaves),
        "numbers": sum(int(np.size(leaf)) for leaf in leaves),
        "dtypes": sorted({str(leaf.dtype) for leaf in leaves}),
        "checked": "verified",
        "ignored": [],
        **rules_of(checkpoint.manifest),
    }


def rules_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a checkpoint was chosen and trained, as far as its manifest says it."""
    trained = manifest.get("notes", {}).get("training") or {}
    known = {key: value for key, value in trained.items() if key not in ("seed", "train")}
    algorithm = manifest.get("algorithm") or known or None
    return {"checkpoint_rule": manifest.get("checkpoint_rule"), "algorithm": algorithm}


def fingerprint(manifest: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
    """Return the sha256 over what a checkpoint's weights belong to and every leaf."""
    summary = hashlib.sha256()
    named = {key: manifest[key] for key in ("factory", "arguments", "actions")}
    summary.update(json.dumps(named, sort_keys=True).encode())
    for name in ("params", *sorted(variables.keys() - {"params"})):
        add_leaves(summary, variables[name])
    return summary.hexdigest()
