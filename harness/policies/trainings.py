"""Which trainings lie under what a user names: one, a folder of seeds, a tree of them, a pattern.

```
<place>                              one training: a checkpoint, or a folder of its steps
<place>/seed-<k>/                    its seeds, also seed_3, seed3, ppo-seed-3
<place>/<train-config>/seed-<k>/     one folder of seeds for each training configuration
'runs/*/seed-*'                      whatever matches
```

Where the steps lie one folder further down (`seed-3/checkpoints/200`), they are found there.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from envs.errors import InputError
from harness.policies.layout import FILES, step_at, steps_in, suggestion

_SEED = re.compile(r"(?:.*[-_])?seed[-_]?(\d+)")


@dataclass(frozen=True)
class Training:
    """One training seed of one training configuration, by its place."""

    place: Path
    configuration: str | None = None  # by the folder's name, where there is one
    seed: int | None = None  # by the folder's name


def trainings_of(text: str) -> list[Training]:
    """Return the trainings that a path or a pattern names, seeds in order.

    Raises:
        InputError: nothing there; a seed's folder without a checkpoint.
    """
    path = Path(text).expanduser()
    if path.exists():
        return _trainings_in(_absolute(path))
    if not is_pattern(text):
        raise InputError(f"no such file or folder {text!r}{suggestion(path)}")
    matches = sorted(_absolute(Path(one)) for one in glob.glob(str(path), recursive=True))
    found = [one for match in matches for one in _trainings_in(match, alone=False)]
    if not found:
        what = "match it, none of them a checkpoint" if matches else "match it"
        raise InputError(f"{text!r}: {len(matches)} files or folders {what}")
    return sorted(set(found), key=_order)


def _absolute(path: Path) -> Path:
    """Links stay: `seed-3` may be one, and its name says what it is."""
    return Path(os.path.abspath(path))


def is_pattern(text: str) -> bool:
    """Return whether a text is a pattern and not a path."""
    return glob.has_magic(text)


def _order(one: Training) -> tuple:
    return one.configuration or "", -1 if one.seed is None else one.seed, str(one.place)


def _trainings_in(root: Path, alone: bool = True) -> list[Training]:
    if is_training(root):
        return [_named(root)]
    if root.is_file():
        if not alone:
            return []
        hint = f"; name what in it acts, {root.name}:NAME" if root.suffix == ".py" else ""
        raise InputError(f"{root}: not a file of weights ({', '.join(FILES)}){hint}")
    seeds = _seeds_in(root, root.name)
    if seeds:
        return seeds
    inside = sorted(entry for entry in root.iterdir() if entry.is_dir())
    groups = [one for group in inside for one in _seeds_in(group, group.name)]
    if groups:
        return groups
    below = [entry for entry in inside if is_training(entry)]
    if below or not alone:
        named = [_named(entry) for entry in below]
        return [
            Training(one.place, one.configuration or (one.place.name if alone else None), one.seed)
            for one in named
        ]
    raise InputError(
        f"{root} holds no checkpoint: expected manifest.json and params/, or seed-<k> folders, "
        "an Orbax checkpoint or a folder of its steps, .npz, .msgpack or .safetensors"
    )


def is_training(place: Path) -> bool:
    """Return whether a place is a checkpoint, or holds the checkpoints of one training by step."""
    return step_at(place) is not None or bool(steps_in(place))


def _seeds_in(folder: Path, configuration: str) -> list[Training]:
    """Return the seeds in a folder; one without a checkpoint crashed, and is never left out."""
    matches = [(_SEED.fullmatch(entry.name), entry) for entry in folder.iterdir() if entry.is_dir()]
    seeds = sorted((int(match.group(1)), entry) for match, entry in matches if match)
    return [Training(_steps_below(entry, seeds), configuration, seed) for seed, entry in seeds]


def _steps_below(seed: Path, neighbours: Sequence[tuple[int, Path]]) -> Path:
    if is_training(seed):
        return seed
    below = [entry for entry in sorted(seed.iterdir()) if entry.is_dir() and is_training(entry)]
    if len(below) > 1:
        names = ", ".join(entry.name for entry in below)
        raise InputError(
            f"{seed}: several folders of checkpoints ({names}); name one with a pattern"
        )
    if below:
        return below[0]
    others = [str(entry) for _, entry in neighbours if entry != seed]
    hint = f"; to do without it, name the others, such as {others[0]!r}" if others else ""
    raise InputError(f"{seed}: no checkpoint, and a seed is never left out silently{hint}")


def _named(place: Path) -> Training:
    """Name a training by the nearest folder above it that is called after a seed."""
    for folder in (place, place.parent, place.parent.parent):
        match = _SEED.fullmatch(folder.stem if folder.is_file() else folder.name)
        if match:
            return Training(place, folder.parent.name or None, int(match.group(1)))
    return Training(place)
