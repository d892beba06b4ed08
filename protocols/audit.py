"""What a pair claims, proved when it is loaded: one axis, and a held-out side that is held out."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from envs import InputError
from envs.errors import not_among
from protocols.axes import AXES, covers
from protocols.pair import Pair


def audit(pair: Pair) -> None:
    """Check every held-out side of a pair.

    Raises:
        InputError: unknown axis; a parameter outside the axis differs; nothing differs (or
            something does, in a null pair); the held-out side can produce what a training side
            produces (in a sweep: every dose can be produced in training); doses that do not
            increase; a wide training side that does not contain the narrow one.
    """
    where = f"pair {pair.name}"
    if pair.axis not in AXES:
        raise InputError(not_among(f"{where}: no axis {pair.axis!r}", pair.axis, AXES))
    if pair.kind == "split" and len(pair.heldout) < 2:
        raise InputError(f"{where}: a split has two held-out sides or more")
    if pair.kind == "sweep":
        _audit_sweep(pair)
        return
    for side in pair.heldout:
        place = f"{where}, side {side}" if len(pair.heldout) > 1 else where
        changed = pair.difference(side)
        if pair.kind == "null":
            if changed:
                raise InputError(f"{place}: a null pair has equal sides, but {_first(changed)}")
            continue
        if not changed:
            raise InputError(f"{place}: the held-out side behaves like the training side")
        _check_axis(pair, place, changed)
        if not any(disjoint(*values) for values in changed.values()):
            raise InputError(
                f"{place}: not held out, the training side can produce it too ({_first(changed)})"
            )
    if pair.kind == "widening":
        _audit_widening(pair)


def _check_axis(pair: Pair, place: str, changed: dict[str, tuple[Any, Any]]) -> None:
    for path in changed:
        if not covers(pair.axis, path):
            raise InputError(f"{place}: {path} differs, which is not on the axis {pair.axis}")


def _audit_sweep(pair: Pair) -> None:
    doses = list(pair.doses.values())
    if len(pair.heldout) < 2 or list(pair.doses) != list(pair.heldout):
        raise InputError(f"pair {pair.name}: a sweep has two doses or more, one for each side")
    if any(later <= before for before, later in pairwise(doses)):
        raise InputError(f"pair {pair.name}: doses must increase, got {doses}")
    for side in pair.heldout:
        _check_axis(pair, f"pair {pair.name}, dose {side}", pair.difference(side))
    if not unseen_sides(pair):
        raise InputError(
            f"pair {pair.name}: not held out, the training side can produce every dose"
        )


def _audit_widening(pair: Pair) -> None:
    where, widened = f"pair {pair.name}", pair.widened
    if widened is None:
        raise InputError(f"{where}: a widening names its wide training side")
    narrow, wide = pair.train.effective(), pair.wide.effective()
    paths = sorted(narrow.keys() | wide.keys())
    changed = {
        path: (narrow.get(path), wide.get(path))
        for path in paths
        if narrow.get(path) != wide.get(path)
    }
    if not changed:
        raise InputError(f"{where}: the wide training side behaves like the narrow one")
    _check_axis(pair, f"{where}, wide side {pair.wide_name}", changed)
    for path, (left, right) in changed.items():
        if share_inside(right, left) < 1:
            raise InputError(
                f"{where}: the wide training side does not contain the narrow one "
                f"({path} is {left} in the narrow, {right} in the wide side)"
            )
    try:
        audit(widened)
    except InputError as error:
        raise InputError(
            f"{where}: before the wide training side {pair.wide_name}: {error}"
        ) from None


def unseen_sides(pair: Pair) -> list[str]:
    """Return the held-out sides that training never shows: all of them, except in a sweep."""
    if pair.kind != "sweep":
        return list(pair.heldout)
    return [side for side in pair.heldout if share_seen(pair, side) == 0]


def share_seen(pair: Pair, side: str) -> float:
    """Return which share of a side's support the training side can produce, in [0, 1]."""
    share = 1.0
    for left, right in pair.difference(side).values():
        share *= share_inside(left, right)
    return share


def share_inside(outer: Any, inner: Any) -> float:
    """Return which share of the outcomes of `inner` can also come from `outer`, in [0, 1].

    A parameter that matters on one side only counts as inside: the switch it hangs on decides.
    """
    if outer is None or inner is None:
        return 1.0
    if isinstance(outer, list) and isinstance(inner, list):
        return sum(member in outer for member in inner) / len(inner)
    if not _ordered(outer, inner):
        return float(outer == inner)
    (low, high), (first, last) = _interval(outer), _interval(inner)
    if first == last:
        return float(low <= first <= high)
    return max(0.0, min(high, last) - max(low, first)) / (last - first)


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
