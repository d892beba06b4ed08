"""Which part of a checkpoint the parameters are, and whether they are what the policy expects.

People save bare parameters, Flax's {"params": ...}, or a whole train state; the parameters are the
part whose leaves have the paths, shapes and dtypes that the policy expects. Nothing is cast,
filled in or dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from envs.errors import InputError, not_among
from harness.policies.weights import SEPARATOR, Leaf, is_key, leaves_of, slot_text

WHOLE = "."  # as --params-key: the whole tree
# Copies of the parameters that an optimizer keeps are never what acts.
OPTIMIZER = {"opt_state", "optimizer", "optimizer_state", "optim", "opt", "mu", "nu", "trace"}
DEEPEST = 4  # levels below the top at which parameters are looked for
NNX_LEAF = "value"  # what NNX adds below every leaf

Paths = Mapping[tuple[str, ...], Leaf]


class Misfit(InputError):
    """Weights that are not what the policy expects; every leaf that differs is in the text."""


@dataclass(frozen=True)
class Fitted:
    """Parameters that fit."""

    tree: Any  # in the form the policy expects
    where: str  # the place in the checkpoint, such as "params" or "train/params"; "." the whole
    ignored: tuple[str, ...] = ()  # leaves too many, with dtype and shape


@dataclass(frozen=True)
class _Candidate:
    where: tuple[str, ...]
    there: Paths  # its leaves, by the path below `where`
    wanted: Paths
    expected: Any  # the pytree that `wanted` are the leaves of
    wrap: bool = False  # the policy expects {"params": these}

    def matches(self) -> bool:
        return _slots(self.there) == _slots(self.wanted)

    def contains(self) -> bool:
        return _slots(self.wanted).items() <= _slots(self.there).items()

    def differing(self) -> list[tuple[str, ...]]:
        """Return the paths that differ; whole leaves that are missing or left over come first."""
        there, wanted = _slots(self.there), _slots(self.wanted)
        every = sorted(there.keys() | wanted.keys())
        paths = sorted(every, key=lambda path: path in there and path in wanted)
        return [path for path in paths if there.get(path) != wanted.get(path)]


def fit(
    tree: Any, expected: Any, *, name: str | Path, key: str | None = None, allow_extra: bool = False
) -> Fitted:
    """Return the parameters in the form the policy expects.

    Args:
        tree: what the checkpoint holds, nested dicts and lists of arrays.
        expected: a pytree of arrays or shapes, as `jax.eval_shape` gives it.
        name: what errors call the checkpoint.
        key: where in the tree the parameters are, "a/b", or "." for the whole; found if None.
        allow_extra: ignore leaves that the policy does not expect.

    Raises:
        InputError: leaves are missing, left over or differ (every one is listed with both shapes);
            several parts of the tree fit equally well; there is no such key.
    """
    places = _nodes(tree) if key is None else [_node_at(tree, key, name)]
    candidates = [one for place in places for one in _candidates(*place, expected)]
    fitting = [one for one in candidates if one.matches()]
    if not fitting and allow_extra:
        fitting = [one for one in candidates if one.contains()]
        fewest = min((len(one.there) for one in fitting), default=0)
        fitting = [one for one in fitting if len(one.there) == fewest]
    fitting = _distinct(fitting)
    if len(fitting) > 1:
        found = ", ".join(SEPARATOR.join(one.where) or WHOLE for one in fitting)
        raise InputError(
            f"{name}: several parts have the form the policy expects ({found}); "
            "say which with --params-key"
        )
    if not fitting:
        raise _misfit(_closest(candidates), name, key)
    return _taken(fitting[0])


def whole_or_params(
    tree: Any, *, name: str | Path, key: str | None = None
) -> list[tuple[str, Any]]:
    """Return (place, part) in the order in which they are most likely the parameters, for policies
    that do not say what they expect.

    Raises:
        InputError: several parts are called "params"; there is no such key.
    """
    if key is not None:
        where, node = _node_at(tree, key, name)
        return [(SEPARATOR.join(where) or WHOLE, node)]
    named = [(where, node) for where, node in _nodes(tree) if where and where[-1] == "params"]
    if not named:
        return [(WHOLE, tree)]
    outermost = [one for one in named if len(one[0]) == min(len(where) for where, _ in named)]
    if len(outermost) > 1:
        found = ", ".join(SEPARATOR.join(where) for where, _ in outermost)
        raise InputError(
            f"{name}: several parts are called params ({found}); say which with --params-key, "
            f"or give all of them to the policy with --params-key {WHOLE}"
        )
    (where, node), below = outermost[0], [one for one in named if one is not outermost[0]]
    inside = [one for one in below if one[0][: len(where)] == where]
    above = (where[:-1], _descend(tree, where[:-1]))
    return [(SEPARATOR.join(at) or WHOLE, part) for at, part in ((where, node), *inside, above)]


def part_at(tree: Any, key: str) -> Any:
    """Return the part of a tree at "a/b", or None."""
    try:
        return _descend(tree, [step for step in key.split(SEPARATOR) if step])
    except KeyError:
        return None


# -------------------------------------------------------------------------------------- walking


def _children(node: Any) -> dict[str, Any]:
    if isinstance(node, Mapping):
        return {str(key): child for key, child in node.items()}
    if isinstance(node, (list, tuple)):
        return {str(index): child for index, child in enumerate(node)}
    return {}


def _descend(tree: Any, path: Sequence[str]) -> Any:
    for step in path:
        tree = _children(tree)[step]
    return tree


def _node_at(tree: Any, key: str, name: str | Path) -> tuple[tuple[str, ...], Any]:
    path = () if key == WHOLE else tuple(step for step in key.split(SEPARATOR) if step)
    for depth, step in enumerate(path):
        choices = _children(_descend(tree, path[:depth]))
        if step not in choices:
            at = SEPARATOR.join(path[:depth])
            problem = f"{name}: --params-key {key}: no {step!r}" + (f" in {at}" if at else "")
            raise InputError(not_among(problem, step, choices))
    return path, _descend(tree, path)


def _nodes(tree: Any, where: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (place, part) for every part that may be the parameters, the outer before the inner."""
    yield where, tree
    if len(where) < DEEPEST:
        for key, child in _children(tree).items():
            if key not in OPTIMIZER and _children(child):
                yield from _nodes(child, (*where, key))


# ------------------------------------------------------------------------------------- comparing


def _slots(paths: Paths) -> dict[tuple[str, ...], str]:
    return {path: slot_text(_stored(leaf)) for path, leaf in paths.items()}


def _as_key(numbers: Leaf, wanted: Leaf) -> Any:
    """Return the random key that numbers on disk stand for, of the kind that is expected."""
    import jax

    kinds = ("threefry2x32", "rbg", "unsafe_rbg")
    keys = {kind: jax.eval_shape(lambda kind=kind: jax.random.key(0, impl=kind)) for kind in kinds}
    kind = next(kind for kind, key in keys.items() if key.dtype == wanted.dtype)
    return jax.random.wrap_key_data(numbers, impl=kind)


def _stored(leaf: Leaf) -> Leaf:
    """Return what a leaf is on disk: random keys are stored as numbers."""
    import jax

    return jax.eval_shape(jax.random.key_data, leaf) if is_key(leaf) else leaf


def _candidates(where: tuple[str, ...], node: Any, expected: Any) -> Iterator[_Candidate]:
    """Yield the ways in which one part of a checkpoint may be what is expected.

    A network's variables are collections ({"params": ..., "batch_stats": ...}); whatever else lies
    beside them, such as the optimizer, is not theirs.
    """
    there, wanted = _alike(leaves_of(node), leaves_of(expected))
    yield _Candidate(where, there, wanted, expected)
    if not isinstance(expected, Mapping) or "params" not in expected:
        return
    children = _children(node)
    if "params" in children and children.keys() - expected.keys():
        kept = {key: child for key, child in children.items() if key in expected}
        there, wanted = _alike(leaves_of(kept), leaves_of(expected))
        yield _Candidate(where, there, wanted, expected)
    if set(expected) == {"params"}:
        there, wanted = _alike(leaves_of(node), leaves_of(expected["params"]))
        yield _Candidate(where, there, wanted, expected["params"], wrap=True)


def _alike(there: Paths, wanted: Paths) -> tuple[Paths, Paths]:
    """Take NNX's wrapper off where only one of the two has it."""
    wrapped = [all(path and path[-1] == NNX_LEAF for path in paths) for paths in (there, wanted)]
    if wrapped[0] == wrapped[1]:
        return there, wanted
    bare = there if wrapped[0] else wanted
    bare = {path[:-1]: leaf for path, leaf in bare.items()}
    return (bare, wanted) if wrapped[0] else (there, bare)


def _distinct(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Keep one of the candidates that are the very same arrays, the one most precisely placed."""
    return list({frozenset(map(id, one.there.values())): one for one in candidates}.values())


def _closest(candidates: Sequence[_Candidate]) -> _Candidate:
    """Return what was most likely meant: what shares most leaves, then what is called params."""

    def likeness(one: _Candidate) -> tuple:
        there, wanted = _slots(one.there), _slots(one.wanted)
        same_paths = len(there.keys() & wanted.keys())
        extra = len(there.keys() - wanted.keys())
        return same_paths, -extra, one.where[-1:] == ("params",), -len(one.where)

    return max(candidates, key=likeness)


def _misfit(one: _Candidate, name: str | Path, key: str | None) -> Misfit:
    there, wanted = _slots(one.there), _slots(one.wanted)
    differing = one.differing()
    where = SEPARATOR.join(one.where)
    at = f" (its part {where})" if where and key is None else ""
    leaves = "1 leaf differs" if len(differing) == 1 else f"{len(differing)} leaves differ"
    lines = [
        f"  {SEPARATOR.join(path)} is {there.get(path, 'missing')} in the file, "
        f"{wanted.get(path, 'missing')} in the network"
        for path in differing
    ]
    head = f"{name}{at} does not fit the policy: {leaves}{_hint(one, differing)}"
    return Misfit("\n".join([head, *lines]))


def _hint(one: _Candidate, differing: Sequence[tuple[str, ...]]) -> str:
    """Say what the differences have in common, where they do."""
    if all(path not in one.wanted for path in differing):
        return "; --allow-extra ignores leaves too many"
    if one.there.keys() == one.wanted.keys():
        shapes = [
            (tuple(one.there[path].shape), tuple(one.wanted[path].shape)) for path in one.there
        ]
        if all(there[1:] == wanted and len(there) > len(wanted) for there, wanted in shapes):
            return (
                f"; every leaf has a leading axis of {shapes[0][0][0]}, as one copy per device or "
                "per seed: save one of them, jax.tree.map(lambda leaf: leaf[0], params)"
            )
        if any(getattr(leaf.dtype, "type", None) is np.void for leaf in one.there.values()):
            return (
                "; .npz keeps no type for bfloat16 and its like: save .safetensors, or with Orbax"
            )
        if all(there == wanted for there, wanted in shapes):
            return "; the shapes agree, the dtypes do not, and nothing is cast here"
    return ""


def _taken(one: _Candidate) -> Fitted:
    """Put a candidate's arrays into the form that is expected."""
    import jax

    treedef = jax.tree.structure(one.expected)
    leaves = [
        _as_key(one.there[path], wanted) if is_key(wanted) else one.there[path]
        for path, wanted in one.wanted.items()
    ]
    tree = jax.tree.unflatten(treedef, leaves)
    extra = [path for path in one.there if path not in one.wanted]
    ignored = tuple(f"{SEPARATOR.join(path)} {slot_text(one.there[path])}" for path in extra)
    return Fitted(
        {"params": tree} if one.wrap else tree, SEPARATOR.join(one.where) or WHOLE, ignored
    )
