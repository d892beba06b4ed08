"""Weights as they lie on disk: whatever wrote them, a nested dict of NumPy arrays comes back.

Orbax trees of any release, saved on any devices (nothing that was saved about devices is read);
Flax's own msgpack; `.npz`; `.safetensors`. Values, shapes and dtypes are those of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from envs.errors import InputError
from harness.policies.layout import Step

Leaf = Any  # an array, or what stands for one: it has a shape and a dtype
SEPARATOR = "/"


def read_weights(step: Step) -> Any:
    """Return the tree of a checkpoint, NumPy arrays; items of a step are the top of the tree.

    Raises:
        InputError: it is not fully there, or cannot be read.
    """
    if step.form == "orbax":
        trees = {name: read_orbax(step.place / name) for name in step.items}
        return _unwrapped(trees) if trees else read_orbax(step.place)
    return _READERS[step.form](step.place)


def describe_weights(step: Step) -> Any:
    """Return the tree of a checkpoint with a `Slot` in the place of every array."""
    if step.form == "orbax":
        trees = {name: orbax_slots(step.place / name) for name in step.items}
        return _unwrapped(trees) if trees else orbax_slots(step.place)
    import jax

    return jax.tree.map(lambda leaf: Slot(leaf.shape, leaf.dtype), _READERS[step.form](step.place))


@dataclass(frozen=True)
class Slot:
    """Where an array belongs."""

    shape: tuple[int, ...]
    dtype: Any


def _unwrapped(trees: dict[str, Any]) -> Any:
    """A lone item is the tree itself: nobody chose the name `default`."""
    return next(iter(trees.values())) if len(trees) == 1 else trees


# ----------------------------------------------------------------------------------------- orbax


def read_orbax(tree: Path) -> Any:
    """Return an Orbax tree as NumPy arrays, wherever and on whatever devices it was saved.

    Lists and tuples come back as lists, integer keys as text; texts are left out.

    Raises:
        InputError: it is not there, not fully there, or not an Orbax tree.
    """
    import jax
    import orbax.checkpoint as ocp

    def as_saved(one: Any) -> Any:
        return ocp.RestoreArgs(restore_type=np.ndarray if _is_array(one) else str)

    def read(handler: Any) -> Any:
        wanted = jax.tree.map(as_saved, handler.metadata(tree).tree)
        return handler.restore(tree, args=ocp.args.PyTreeRestore(restore_args=wanted))

    return _arrays_of(_with_handler(tree, read))


def orbax_slots(tree: Path) -> Any:
    """Return an Orbax tree with a `Slot` for every array, without reading one."""
    import jax

    def slot(one: Any) -> Slot | None:
        return Slot(tuple(one.shape), one.dtype) if _is_array(one) else None

    return jax.tree.map(slot, _with_handler(tree, lambda handler: handler.metadata(tree).tree))


def _is_array(one: Any) -> bool:
    """Return whether Orbax's notes on a leaf are of an array or a number, not of a text."""
    return getattr(one, "shape", None) is not None


def _arrays_of(tree: Any) -> Any:
    """Leave texts out, such as a configuration saved along: they are no weights."""
    import jax

    return jax.tree.map(lambda leaf: None if isinstance(leaf, str) else np.asarray(leaf), tree)


def _with_handler(tree: Path, read: Any) -> Any:
    """The handler alone: a checkpointer looks for notes that only whole steps have, and warns."""
    import orbax.checkpoint as ocp

    if not tree.is_dir():
        raise InputError(f"{tree}: there is no such folder of weights")
    handler = ocp.PyTreeCheckpointHandler()
    try:
        return read(handler)
    except Exception as error:  # whatever a damaged folder makes Orbax raise
        first = (str(error).strip().splitlines() or [""])[0].partition(" [tensorstore_spec")[0]
        reason = f"{type(error).__name__}: {first}"[:300]
        raise InputError(f"{tree}: not a complete Orbax checkpoint ({reason})") from error
    finally:
        handler.close()


# ----------------------------------------------------------------------------------------- files


def _read_msgpack(file: Path) -> Any:
    from flax import serialization

    try:
        tree = serialization.msgpack_restore(file.read_bytes())
    except Exception as error:  # whatever a damaged file makes msgpack raise
        raise InputError(f"{file}: not Flax msgpack ({type(error).__name__}: {error})") from None
    return _arrays_of(tree)


def _read_npz(file: Path) -> Any:
    try:
        with np.load(file, allow_pickle=False) as stored:
            return _nested({name: stored[name] for name in stored.files})
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{file}: not an .npz of plain arrays ({error})") from None


def _read_safetensors(file: Path) -> Any:
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise InputError(f"{file}: reading it takes `pip install safetensors`") from None
    try:
        return _nested(load_file(file))
    except (OSError, SafetensorError) as error:
        raise InputError(f"{file}: not a .safetensors file ({error})") from None


_READERS = {".msgpack": _read_msgpack, ".npz": _read_npz, ".safetensors": _read_safetensors}


def _nested(flat: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return the tree that names such as "dense/kernel" (or, without a slash, "dense.kernel")
    stand for."""
    separator = SEPARATOR if any(SEPARATOR in name for name in flat) else "."
    tree: dict[str, Any] = {}
    for name, array in flat.items():
        *path, last = name.split(separator)
        node = tree
        for key in path:
            node = node.setdefault(key, {})
        node[last] = array
    return tree


# --------------------------------------------------------------------------------------- leaves


def leaves_of(tree: Any) -> dict[tuple[str, ...], Leaf]:
    """Return path -> leaf; keys, positions and attribute names alike are text."""
    import jax

    return {
        tuple(_name(entry) for entry in path): leaf
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    }


def _name(entry: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(entry, attribute):
            return str(getattr(entry, attribute))
    return str(entry)


def is_key(leaf: Leaf) -> bool:
    """Return whether a leaf is a random key of JAX, such as a dropout keeps."""
    import jax

    return jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def slot_text(leaf: Leaf) -> str:
    """Return an array's dtype and shape, such as "float32[12, 3]"."""
    return f"{leaf.dtype}{list(leaf.shape)}"


def digest_of(tree: Any) -> str:
    """Return the sha256 over path, dtype, shape and bytes of every leaf."""
    summary = hashlib.sha256()
    add_leaves(summary, tree)
    return summary.hexdigest()


def add_leaves(summary: Any, tree: Any) -> None:
    """Add path, dtype, shape and bytes of every leaf to a running hash."""
    import jax

    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        array = np.ascontiguousarray(jax.random.key_data(leaf) if is_key(leaf) else leaf)
        summary.update(f"{jax.tree_util.keystr(path)}{array.dtype}{array.shape}".encode())
        summary.update(array.tobytes())
