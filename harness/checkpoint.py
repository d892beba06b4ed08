"""Checkpoints: an Orbax folder of weights plus a manifest that says what they are.

```
<path>/manifest.json     factory, arguments, observation, training side, seed, steps, versions
<path>/params/           the weights, an Orbax checkpoint
<path>/golden.npz        observations and the network's outputs for them, checked on loading
```

A factory is `module:attr`. Called with the manifest's arguments it returns a network: an object
with `init(key, observation) -> variables` and `apply(variables, observation) -> (logits, value)`,
such as a Flax module. Only factories of this project are called because a checkpoint names them.
"""

from __future__ import annotations

import hashlib
import importlib
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

from envs.errors import InputError

FORMAT = "heldout-policy"
VERSION = 1
ACTIONS = ("sample", "greedy")
TRUSTED = "reference_agents."  # prefix of the modules whose factories a checkpoint may name
GOLDEN_TOLERANCE = 1e-3  # on outputs; another CPU may round differently
_PACKAGES = ("heldout", "jax", "flax", "orbax-checkpoint", "numpy")


@dataclass(frozen=True)
class Checkpoint:
    """One opened checkpoint."""

    path: Path
    manifest: Mapping[str, Any]
    network: Any  # what the factory returned
    variables: Any  # {"params": weights}, NumPy arrays
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
) -> Path:
    """Write a checkpoint folder that `python -m harness.evaluate --policy PATH` understands.

    Args:
        path: the folder to create; an existing checkpoint there is replaced in one step.
        params: the weights, a pytree of arrays (without Flax's outer {"params": ...}).
        factory: "module:attr" of the function that builds the network.
        arguments: keyword arguments of the factory, plain JSON data.
        observations: u8[N, H, W, C], a few observations; the network's outputs for them are stored
            and compared whenever the checkpoint is opened.
        num_actions: how many discrete actions the logits cover.
        actions: how the policy acts by default, "sample" or "greedy".
        train: what it was trained on, such as {"name": "base", "digest": config.digest}.
        seed: the training seed.
        steps: environment steps of training.
        notes: anything else worth keeping (JSON data).

    Returns:
        The absolute path of the folder.
    """
    import jax

    if actions not in ACTIONS:
        raise InputError(f"actions: {actions!r} is not one of {', '.join(ACTIONS)}")
    path = Path(path).expanduser().resolve()
    network = build_network(factory, arguments or {})
    params = jax.tree.map(np.asarray, params)
    logits, value = _outputs(network, params, observations)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "factory": factory,
        "arguments": dict(arguments or {}),
        "observation": {"shape": list(observations.shape[1:]), "dtype": str(observations.dtype)},
        "num_actions": num_actions,
        "actions": actions,
        "train": dict(train or {}),
        "seed": seed,
        "steps": steps,
        "versions": {name: metadata.version(name) for name in _PACKAGES},
        "notes": dict(notes or {}),
    }
    _write(path, manifest, params, {"observations": observations, "logits": logits, "value": value})
    return path


def _write(path: Path, manifest: Mapping[str, Any], params: Any, golden: Mapping[str, Any]) -> None:
    """Write a checkpoint folder beside its place, then move it there in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        _write_weights(made / "params", params)
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
    params = _read_weights(path / "params")
    spec = manifest["observation"]
    _check_fit(path, network, params, np.zeros(spec["shape"], spec["dtype"]))
    _check_golden(path, network, params)
    fingerprint = _fingerprint(manifest, params)
    return Checkpoint(path, manifest, network, {"params": params}, fingerprint)


def is_checkpoint(path: Path) -> bool:
    """Return whether `path` is a folder written by `save_policy`."""
    return (path / "manifest.json").is_file() and (path / "params").is_dir()


def build_network(factory: str, arguments: Mapping[str, Any]) -> Any:
    """Return the network that a factory makes. Equal arguments give the same object, so that all
    seeds of a policy share one compiled program."""
    return _cached_network(factory, json.dumps(dict(arguments), sort_keys=True))


@lru_cache(maxsize=64)
def _cached_network(factory: str, arguments: str) -> Any:
    module, _, attribute = factory.partition(":")
    try:
        function = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"no policy factory {factory!r} ({error})") from None
    return function(**json.loads(arguments))


def _check_trusted(path: Path, factory: str) -> None:
    if not str(factory).startswith(TRUSTED):
        raise InputError(
            f"{path}: its manifest names the factory {factory!r}, which is not one of ours; "
            "say that it may run: --apply module:attr"
        )


def _outputs(network: Any, params: Any, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    logits, value = _compiled(network)({"params": params}, observations)
    return np.asarray(logits, np.float32), np.asarray(value, np.float32)


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


def _read_weights(path: Path) -> Any:
    """Return the weights as NumPy arrays, wherever and on whatever devices they were saved."""
    import jax
    import orbax.checkpoint as ocp

    if not path.is_dir():
        raise InputError(f"{path}: there is no such folder of weights")
    try:
        with ocp.PyTreeCheckpointer() as reader:
            tree = reader.metadata(path).item_metadata.tree
            plain = jax.tree.map(lambda _: ocp.RestoreArgs(restore_type=np.ndarray), tree)
            return reader.restore(path, restore_args=plain)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: not a complete Orbax checkpoint ({first})") from None


def _leaves(tree: Any) -> dict[str, str]:
    """Return {path: "dtype[shape]"} of every leaf."""
    import jax

    def name(entry: Any) -> str:
        return str(getattr(entry, "key", getattr(entry, "idx", getattr(entry, "name", entry))))

    return {
        "/".join(name(entry) for entry in path): f"{leaf.dtype}{list(leaf.shape)}"
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    }


def _check_fit(path: Path, network: Any, params: Any, observation: np.ndarray) -> None:
    import jax

    expected = jax.eval_shape(network.init, jax.random.key(0), observation)["params"]
    there, wanted = _leaves(params), _leaves(expected)
    # Whole layers that are missing or left over say more than the shapes that follow from them.
    every = sorted(there.keys() | wanted.keys())
    leaves = sorted(every, key=lambda leaf: leaf in there and leaf in wanted)
    differing = [
        f"{leaf} is {there.get(leaf, 'missing')} in the file, "
        f"{wanted.get(leaf, 'missing')} in the network"
        for leaf in leaves
        if there.get(leaf) != wanted.get(leaf)
    ]
    if differing:
        more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
        raise InputError(f"{path}: the checkpoint does not fit the policy: {differing[0]}{more}")


def _check_golden(path: Path, network: Any, params: Any) -> None:
    file = path / "golden.npz"
    if not file.is_file():
        raise InputError(
            f"{file}: missing, so the weights cannot be checked against what was saved"
        )
    with np.load(file) as stored:
        logits, value = _outputs(network, params, stored["observations"])
        worst = max(
            float(np.max(np.abs(logits - stored["logits"]))),
            float(np.max(np.abs(value - stored["value"]) / (1 + np.abs(stored["value"])))),
        )
    if not worst <= GOLDEN_TOLERANCE:
        stored_by = "the network's outputs differ from those stored with the weights"
        raise InputError(f"{path}: {stored_by} by {worst:.3g}")


def _fingerprint(manifest: Mapping[str, Any], params: Any) -> str:
    import jax

    summary = hashlib.sha256()
    named = {key: manifest[key] for key in ("factory", "arguments", "actions")}
    summary.update(json.dumps(named, sort_keys=True).encode())
    for path, leaf in jax.tree_util.tree_leaves_with_path(params):
        array = np.ascontiguousarray(leaf)
        summary.update(f"{jax.tree_util.keystr(path)}{array.dtype}{array.shape}".encode())
        summary.update(array.tobytes())
    return summary.hexdigest()
