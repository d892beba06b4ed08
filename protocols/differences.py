"""What differs between two configurations, whether they declare their parameters or not."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np


def declares(config: Any) -> bool:
    """Return whether a configuration says what its values mean (see `envs.core.Config`)."""
    return callable(getattr(config, "effective", None))


def effective(config: Any) -> dict[str, Any]:
    """Return {path: value} of what decides how a side behaves.

    A configuration without declarations is what it builds: the fields of its environment and the
    leaves of its parameters, arrays by type, shape and content.
    """
    return config.effective() if declares(config) else dict(_leaves(*config.build()))


def difference(left: Any, right: Any) -> dict[str, tuple[Any, Any]]:
    """Return {path: (left value, right value)} of what differs; None where it does not matter."""
    return changed(effective(left), effective(right))


def changed(left: dict[str, Any], right: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return {path: (left value, right value)} of the values that two mappings do not share."""
    return {
        path: (left.get(path), right.get(path))
        for path in sorted(left.keys() | right.keys())
        if left.get(path) != right.get(path)
    }


def _leaves(env: Any, params: Any) -> Iterator[tuple[str, Any]]:
    yield from _fields(env, "env")
    for path, leaf in jax.tree_util.tree_leaves_with_path(params):
        yield f"params{jax.tree_util.keystr(path)}", _content(leaf)


def _fields(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a dataclass, nested ones by their own; anything else by its `repr`.

    An environment is frozen and hashable, so an object that is no dataclass is told by its hash.
    """
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _fields(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, (bool, int, float, str, bytes, tuple, type(None))):
        yield path, value if isinstance(value, (bool, int, float, str)) else repr(value)
    else:
        yield path, f"{type(value).__name__} {hash(value):x}"


def _content(leaf: Any) -> Any:
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    array = np.asarray(leaf)
    if array.ndim == 0 and array.dtype.kind in "biuf":
        return array.item()
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
    return f"{array.dtype}{list(array.shape)} {digest}"
