"""What lies where somebody keeps weights, read from names and markers alone: nothing is opened by
Orbax, nothing is written, nothing is deleted.

```
<root>/<step>/<item>/     a checkpoint manager's folder; step names may have a prefix, ppo_200
<step>/<item>/            one step of it, or a checkpoint by the newer interface
<item>/                   one Orbax tree
<root>/<step>.npz         files of weights: .npz, .msgpack, .safetensors; checkpoint_200 (Flax)
<step>/manifest.json      a policy written by `save_policy`
```

A manager that is pointed at a folder creates it where it does not exist, which is why none is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from envs.errors import InputError, nearest, not_among

STEP_NAME = re.compile(r"(?!.*seed[-_]?\d+$)(?:[\w.-]*[_-])?(\d+)$")  # 200, step-200, my_ppo_200
TEMPORARY = ".orbax-checkpoint-tmp"  # in the names of what Orbax is still writing
COMMITTED = "commit_success.txt"
FILES = (".npz", ".msgpack", ".safetensors")
ITEMS = {"default", "state", "pytree", "params", "model", "train_state"}  # usual names of items
LAST = "last"


@dataclass(frozen=True)
class Step:
    """One checkpoint of one training."""

    place: Path  # its folder, or its file
    form: str  # "policy" (with a manifest), "orbax", or a suffix of FILES
    number: int | None = None
    items: tuple[str, ...] = ()  # Orbax: the trees inside; none: the folder is the tree
    problem: str | None = None  # why it cannot be read


def is_checkpoint(folder: Path) -> bool:
    """Return whether a folder was written by `save_policy`."""
    return (folder / "manifest.json").is_file() and (folder / "params").is_dir()


def step_at(path: Path) -> Step | None:
    """Return the checkpoint that lies at `path` itself, or None."""
    name = STEP_NAME.fullmatch(path.stem if path.suffix in FILES else path.name)
    number = int(name.group(1)) if name else None
    if path.is_file():
        legacy = path.name.startswith("checkpoint_") and name
        form = path.suffix if path.suffix in FILES else ".msgpack" if legacy else None
        return form and Step(path, form, number)
    if not path.is_dir():
        return None
    if is_checkpoint(path):
        return Step(path, "policy", number)
    if _is_tree(path):
        above = STEP_NAME.fullmatch(path.parent.name)
        marked = (path.parent / "_CHECKPOINT_METADATA").is_file() or path.name in ITEMS
        if number is None and above and marked:
            number = int(above.group(1))
        return Step(path, "orbax", number, problem=_uncommitted(path) or _unreadable(path))
    items = tuple(sorted(entry.name for entry in path.iterdir() if _is_tree(entry)))
    marked = (path / "_CHECKPOINT_METADATA").is_file()
    if not marked and not (items and (name or ITEMS & set(items))):
        return None
    return Step(path, "orbax", number, items, _problem_of_step(path, items))


def steps_in(folder: Path) -> list[Step]:
    """Return the checkpoints of one training that lie in a folder, by number; those that are not
    fully there have a `problem`."""
    if not folder.is_dir():
        return []
    entries = [one for one in folder.iterdir() if STEP_NAME.fullmatch(_step_name(one))]
    found = [replace(one, number=_number(one.place)) for one in map(_step_or_none, entries) if one]
    if any((one.place / COMMITTED).is_file() for one in found):
        found = [_with_marker(one) for one in found]
    return sorted(found, key=lambda one: (one.number, one.place.name))


def choose(place: Path, wanted: int | str = LAST) -> tuple[Step, list[Step]]:
    """Return the checkpoint of a training that is asked for, and those passed over.

    Args:
        place: the checkpoint itself, or the folder of a training with several.
        wanted: a step number, or "last": the complete one with the highest number.

    Raises:
        InputError: nothing there, no such step, or not fully there.
    """
    place = place.expanduser().resolve()
    alone = step_at(place)
    if alone is not None and (wanted == LAST or alone.number == wanted):
        if alone.problem:
            raise InputError(f"{place}: incomplete, {alone.problem}")
        return alone, []
    steps = [alone] if alone is not None else steps_in(place)
    if wanted != LAST:
        return _numbered(place, steps, int(wanted)), []
    complete = [one for one in steps if one.problem is None]
    if not complete:
        reasons = "; ".join(f"{one.place.name}: {one.problem}" for one in steps)
        raise InputError(f"{place}: no complete checkpoint ({reasons or 'it holds no step'})")
    return _only(place, complete, complete[-1].number), [one for one in steps if one.problem]


def _numbered(place: Path, steps: Sequence[Step], wanted: int) -> Step:
    there = [one for one in steps if one.number == wanted]
    if not there:
        numbers = [one.number for one in steps if one.number is not None]
        raise InputError(not_among(f"{place} has no step {wanted}", wanted, numbers))
    complete = [one for one in there if one.problem is None]
    if not complete:
        raise InputError(f"{there[0].place}: incomplete, {there[0].problem}")
    return _only(place, complete, wanted)


def _only(place: Path, steps: Sequence[Step], number: int | None) -> Step:
    same = [one for one in steps if one.number == number]
    if len(same) > 1:
        names = ", ".join(one.place.name for one in same)
        raise InputError(f"{place}: several checkpoints of step {number} ({names}); name one")
    return same[0]


def suggestion(path: Path) -> str:
    """Return "; did you mean ...?" for a path that does not exist, or nothing."""
    parent = path.parent
    names = sorted(entry.name for entry in parent.iterdir()) if parent.is_dir() else []
    close = nearest(path.name, names)
    return f"; did you mean {str(path.with_name(close))!r}?" if close else ""


# ----------------------------------------------------------------------------- names and markers


def _step_name(entry: Path) -> str:
    """Return an entry's name without what a file or an unfinished folder adds to it."""
    return entry.stem if entry.suffix in FILES else entry.name.partition(TEMPORARY)[0]


def _number(place: Path) -> int:
    return int(STEP_NAME.fullmatch(_step_name(place)).group(1))


def _step_or_none(entry: Path) -> Step | None:
    """Return a step, also one that is still being written, of which anything may be missing."""
    if TEMPORARY in entry.name:
        return Step(entry, "orbax", problem="it was still being written (a temporary name)")
    return step_at(entry)


def _with_marker(step: Step) -> Step:
    """Where the other steps carry a marker that they were committed, a step without it was not."""
    if step.problem or step.form != "orbax" or (step.place / COMMITTED).is_file():
        return step
    return replace(step, problem=f"no {COMMITTED}, which its neighbours have")


def _is_tree(folder: Path) -> bool:
    """Return whether a folder holds an Orbax tree, complete or not."""
    if not folder.is_dir():
        return False
    names = {entry.name for entry in folder.iterdir()}
    if names & {"_METADATA", "manifest.ocdbt"} or any(
        n.startswith("ocdbt.process_") for n in names
    ):
        return True
    return (folder / "checkpoint").is_file()


def _unreadable(tree: Path) -> str | None:
    """Return why a tree cannot be read, judged by what it holds."""
    names = {entry.name for entry in tree.iterdir()}
    if not names & {"_METADATA", "checkpoint"}:
        return "no _METADATA"
    parts = any(name.startswith("ocdbt.process_") for name in names)
    if parts and "manifest.ocdbt" not in names:
        return "no manifest.ocdbt: its parts were never merged"
    return None


def _uncommitted(folder: Path) -> str | None:
    """Return whether Orbax's own notes say that writing began and never ended."""
    if TEMPORARY in folder.name:
        return "it was still being written (a temporary name)"
    file = folder / "_CHECKPOINT_METADATA"
    if not file.is_file():
        return None  # older releases, items of a step, and copies that left it out
    try:
        notes = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "_CHECKPOINT_METADATA is unreadable"
    begun = isinstance(notes, dict) and notes.get("init_timestamp_nsecs")
    return "it was never committed" if begun and not notes.get("commit_timestamp_nsecs") else None


def _problem_of_step(folder: Path, items: Sequence[str]) -> str | None:
    unfinished = [entry.name for entry in folder.iterdir() if TEMPORARY in entry.name]
    if unfinished:
        return f"{unfinished[0]} was still being written"
    reasons = [(name, _unreadable(folder / name)) for name in items]
    broken = [f"{name}: {reason}" for name, reason in reasons if reason]
    return _uncommitted(folder) or (broken[0] if broken else None if items else "it holds no tree")
