"""The file that lets a killed training go on: every array of its state, and what they belong to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs.errors import InputError

VERSION = 1


def save_state(path: Path, state: Any, facts: Mapping[str, Any]) -> None:
    """Write a pytree of arrays and some JSON data, all or nothing even if killed half-way."""
    leaves = [np.asarray(_raw(leaf)) for leaf in jax.tree.leaves(state)]
    text = json.dumps({"version": VERSION, **facts})
    beside = path.with_name(f".{path.name}.partial")
    with beside.open("wb") as file:
        np.savez(file, facts=np.array(text), **{f"leaf{i}": leaf for i, leaf in enumerate(leaves)})
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def read_facts(path: Path) -> dict[str, Any]:
    """Return the JSON data of a state file.

    Raises:
        InputError: the file is not one that this version wrote.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            facts = json.loads(str(stored["facts"]))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: not a training state ({error}); --fresh starts over") from None
    if facts.get("version") != VERSION:
        raise InputError(f"{path}: written by another version; --fresh starts over")
    return facts


def load_state(path: Path, like: Any) -> Any:
    """Return the pytree that was saved.

    Args:
        path: a file of `save_state`.
        like: a pytree of the same structure; its shapes and dtypes must be those in the file
            (arrays, or what `jax.eval_shape` returns).

    Raises:
        InputError: the file holds something else.
    """
    wanted, structure = jax.tree.flatten(like)
    with np.load(path, allow_pickle=False) as stored:
        found = [stored[name] for name in sorted(stored.files, key=_position) if name != "facts"]
    if len(found) != len(wanted):
        raise InputError(
            f"{path}: holds {len(found)} arrays, not {len(wanted)}; --fresh starts over"
        )
    return jax.tree.unflatten(structure, map(_restored, found, wanted, [path] * len(found)))


def _position(name: str) -> int:
    return int(name.removeprefix("leaf")) if name.startswith("leaf") else -1


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _raw(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _restored(array: np.ndarray, like: Any, path: Path) -> jax.Array:
    if _is_key(like):
        found: Any = jax.random.wrap_key_data(jnp.asarray(array), impl="threefry2x32")
    else:
        found = jnp.asarray(array)
    if found.shape != like.shape or found.dtype != like.dtype:
        raise InputError(
            f"{path}: has {found.dtype}{list(found.shape)} where this training has "
            f"{like.dtype}{list(like.shape)}; --fresh starts over"
        )
    return found
