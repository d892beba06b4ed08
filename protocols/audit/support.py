"""What two sides can produce in common: by number, by colour and by decoded content, never by name.

A configuration resolves its own names (`Config.effective`): colours are RGB triples, pools of
images and skins are hashes of their pixels. What is compared here are those values.
"""

from __future__ import annotations

from typing import Any

from protocols.differences import changed, effective
from protocols.pair import Pair


def supports(config: Any) -> dict[str, Any]:
    """Return {path: support} of a side: its effective values, limits joined to ranges.

    `npc.min_npc_count: 5` with `npc.max_npc_count: 20` is one range of counts, both ends included:
    two sides whose limits all differ may still show the same.
    """
    values = effective(config)
    for lowest in list(values):
        group, dot, name = lowest.rpartition(".")
        other = "_".join("max" if word == "min" else word for word in name.split("_"))
        highest = group + dot + other
        if other != name and values.get(highest) is not None:
            low, high = _interval(values.pop(lowest))[0], _interval(values.pop(highest))[1]
            values[f"{lowest}..{other}"] = low if low == high else {"uniform": [low, high]}
    return values


def contested(train: Any, heldout: Any) -> dict[str, tuple[Any, Any]]:
    """Return {path: (support, support)} of what the two sides do not have in common."""
    return changed(supports(train), supports(heldout))


def held_out(train: Any, heldout: Any) -> bool:
    """Return whether nothing that one side produces can come from the other."""
    return any(disjoint(*values) for values in contested(train, heldout).values())


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
    if not _ordered(left, right):
        return left != right
    (low, high), (first, last) = _interval(left), _interval(right)
    return high < first or last < low


def unseen_sides(pair: Pair) -> list[str]:
    """Return the held-out sides that training never shows: all of them, except in a sweep."""
    if pair.kind != "sweep":
        return list(pair.heldout)
    return [side for side in pair.heldout if share_seen(pair, side) == 0]


def share_seen(pair: Pair, side: str) -> float:
    """Return which share of a side's support the training side can produce, in [0, 1]."""
    share = 1.0
    for left, right in contested(pair.train, pair.heldout[side]).values():
        share *= share_inside(left, right)
    return share


def dose_seen(pair: Pair, side: str) -> float:
    """Return which share of a dose the training side can produce: the mean over what it pools."""
    shares = [share_seen(pair, one) for one in pair.pooled(side)]
    return sum(shares) / len(shares)


def share_inside(outer: Any, inner: Any) -> float:
    """Return which share of the outcomes of `inner` can also come from `outer`, in [0, 1].

    A parameter that matters on one side only counts as inside: the switch it hangs on decides.
    """
    if outer is None or inner is None:
        return 1.0
    if isinstance(outer, list) and isinstance(inner, list):
        return sum(member in outer for member in inner) / len(inner) if inner else 1.0
    if not _ordered(outer, inner):
        return float(outer == inner)
    (low, high), (first, last) = _interval(outer), _interval(inner)
    if first == last:
        return float(low <= first <= high)
    return max(0.0, min(high, last) - max(low, first)) / (last - first)


def _ordered(left: Any, right: Any) -> bool:
    return all(
        isinstance(value, dict) or (isinstance(value, (int, float)) and not isinstance(value, bool))
        for value in (left, right)
    )


def _interval(value: Any) -> tuple[Any, Any]:
    return tuple(value["uniform"]) if isinstance(value, dict) else (value, value)
