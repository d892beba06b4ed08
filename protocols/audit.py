"""What a pair claims, proved when it is loaded: one axis, and a held-out side that is held out."""

from __future__ import annotations

from typing import Any

from envs import InputError
from envs.errors import not_among
from protocols.axes import AXES, covers
from protocols.pair import Pair


def audit(pair: Pair) -> None:
    """Check every held-out side of a pair.

    Raises:
        InputError: unknown axis; a parameter outside the axis differs; nothing differs (or
            something does, in a null pair); the held-out side can produce what the training side
            produces.
    """
    if pair.axis not in AXES:
        raise InputError(not_among(f"pair {pair.name}: no axis {pair.axis!r}", pair.axis, AXES))
    for side in pair.heldout:
        where = f"pair {pair.name}" + (f", side {side}" if len(pair.heldout) > 1 else "")
        changed = pair.difference(side)
        if pair.kind == "null":
            if changed:
                raise InputError(f"{where}: a null pair has equal sides, but {_first(changed)}")
            continue
        if not changed:
            raise InputError(f"{where}: the held-out side behaves like the training side")
        for path in changed:
            if not covers(pair.axis, path):
                raise InputError(f"{where}: {path} differs, which is not on the axis {pair.axis}")
        if not any(disjoint(*values) for values in changed.values()):
            raise InputError(
                f"{where}: not held out, the training side can produce it too ({_first(changed)})"
            )


def _first(changed: dict[str, tuple[Any, Any]]) -> str:
    path, (left, right) = next(iter(changed.items()))
    return f"{path} is {left} in training, {right} held out"


def disjoint(left: Any, right: Any) -> bool:
    """Return whether two resolved values have no outcome in common.

    Numbers and ranges are closed intervals; pools are compared by content; a parameter that matters
    on one side only (None on the other) differs through the switch it hangs on, which is judged
    itself.
    """
    if left is None or right is None:
        return False
    if isinstance(left, list) and isinstance(right, list):
        return not any(member in right for member in left)
    low_left, high_left = _interval(left)
    low_right, high_right = _interval(right)
    return (
        high_left < low_right or high_right < low_left if _ordered(left, right) else left != right
    )


def _ordered(left: Any, right: Any) -> bool:
    return all(
        isinstance(value, dict) or (isinstance(value, (int, float)) and not isinstance(value, bool))
        for value in (left, right)
    )


def _interval(value: Any) -> tuple[Any, Any]:
    return tuple(value["uniform"]) if isinstance(value, dict) else (value, value)
