"""Whether an evaluation plays the split that was frozen before its policies were trained.

`python -m protocols freeze SUITE` writes a split; a checkpoint that was trained for it carries a
stamp: the split's digest and date, and the digest of each of its pairs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from envs.errors import InputError
from protocols import Pair
from protocols.freeze import read_split

if TYPE_CHECKING:  # the report's renderers import this module
    from harness.reporting.result import Report

SAME, OTHER, NONE = "same split", "another split", "no split frozen"


def trained_for(
    train: Mapping[str, Any] | None, split: Mapping[str, Any] | str | os.PathLike | None
) -> dict[str, Any]:
    """Return what a checkpoint was trained on, {"name", "digest"}, with the stamp of its split.

    Args:
        train: the training side, as in `save_policy`.
        split: a split manifest or its file; None leaves `train` as it is.

    Raises:
        InputError: not a split manifest, or one without a pair for this training side.
    """
    side = dict(train or {})
    if split is None:
        return side
    data = split if isinstance(split, Mapping) else read_split(split)
    sides = {pair["train"]["digest"]: pair["train"]["name"] for pair in data["pairs"].values()}
    if "digest" not in side:
        raise InputError("split: say what was trained on as well: train={'name': …, 'digest': …}")
    if side["digest"] not in sides:
        raise InputError(
            f"the split of suite {data['suite']['name']} has no pair that is trained on "
            f"{side.get('name')!r}, only on {', '.join(sorted(set(sides.values())))}"
        )
    stamp = {
        "digest": data["digest"],
        "date": data["date"],
        "suite": data["suite"],
        "pairs": {name: pair["digest"] for name, pair in data["pairs"].items()},
    }
    return {**side, "split": stamp}


def split_check(suite: str, pair: Pair, policies: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return SAME, OTHER or NONE for a pair, and for OTHER the reason that makes it invalid.

    A pair that was frozen is the same split in whatever suite it is played. One that was not, in a
    suite of the name that was frozen, comes from an edit made after the freeze.
    """
    found = SAME
    for one in policies:
        stamp = one["train"].get("split")
        frozen = (stamp or {"pairs": {}})["pairs"].get(pair.name)
        if frozen == pair.digest:
            continue
        if stamp is None or stamp["suite"]["name"] != suite:
            found = NONE
            continue
        what = "another pair of this name" if frozen else "no pair of this name"
        return OTHER, (
            f"seed {one['seed']} was trained for suite {suite} as frozen on {stamp['date']}, which "
            f"has {what}; an edited split is a new one and needs a new name"
        )
    return found, ""


def header_line(report: Report) -> list[str]:
    """Return one line on the frozen split, or none where no policy was trained for one."""
    stamps = {
        stamp["digest"]: f"suite {stamp['suite']['name']} v{stamp['suite']['version']} frozen "
        f"{stamp['date']} ({stamp['digest'][:8]})"
        for stamp in (one["train"].get("split") for one in report.policy["policies"])
        if stamp is not None
    }
    if not stamps:
        return []
    counts = dict.fromkeys((SAME, OTHER, NONE), 0)
    for result in report.pairs:
        counts[result.split] += 1
    told = [f"{state} ({count})" for state, count in counts.items() if count]
    states = told[0].rpartition(" ")[0] if len(told) == 1 else ", ".join(told)
    return [f"split: {'; '.join(sorted(stamps.values()))} · evaluated: {states}"]
