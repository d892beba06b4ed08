"""Split manifests: what will be held out, written down and hashed before anything is trained.

A frozen split is a JSON file. Its digest goes into the manifest of every checkpoint that is trained
for it; an evaluation says whether it plays what was frozen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from envs import InputError, parameters
from protocols.differences import effective
from protocols.pair import Suite

FORMAT, VERSION = "heldout-split", 1
# What makes two splits the same: freezing a suite again on another day changes nothing.
_IDENTITY = ("suite", "pairs", "configurations", "prediction")


def freeze(suite: Suite, prediction: str = "") -> dict[str, Any]:
    """Return the split manifest of a suite, plain JSON data.

    It holds the suite's name, version and digest; per pair (both of a widening) its digest, axis
    and sides; every side's resolved values by its digest; the prediction, today's date (UTC), the
    version that wrote it, and the sha256 of all that.
    """
    every = [one for pair in suite for one in (pair, pair.widened) if one is not None]
    sides = {digest: side for pair in every for digest, side in pair.configs.items()}
    data = {
        "format": FORMAT,
        "version": VERSION,
        "suite": {"name": suite.name, "version": suite.version, "digest": suite.digest},
        "pairs": {
            pair.name: {
                "digest": pair.digest,
                "axis": pair.axis,
                "kind": pair.kind,
                "train": {"name": pair.train_name, "digest": pair.train.digest},
                "heldout": {name: side.digest for name, side in pair.heldout.items()},
                "prediction": pair.prediction,
            }
            for pair in every
        },
        "configurations": {digest: effective(side) for digest, side in sides.items()},
        "prediction": prediction.strip(),
        "date": datetime.now(UTC).date().isoformat(),
        "written_by": f"heldout {metadata.version('heldout')}",
    }
    return {**data, "digest": _digest(data)}


def write_split(data: Mapping[str, Any], path: str | os.PathLike) -> bool:
    """Write a split manifest; returns False where the same split is already there.

    Raises:
        InputError: another split is there, or the file cannot be written. What was frozen is not
            edited: a changed split is another split, with a file of its own.
    """
    file = Path(path).expanduser()
    if file.exists():
        found = read_split(file)
        if all(found[name] == data[name] for name in _IDENTITY):
            return False
        name, day = found["suite"]["name"], found["date"]
        raise InputError(
            f"{file}: holds another split (suite {name}, frozen {day}); an edited split is a new "
            "one, so give it a new file: --out"
        )
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(_text(data, 2) + "\n")
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror})") from None
    return True


def read_split(path: str | os.PathLike) -> dict[str, Any]:
    """Return the split manifest in a file.

    Raises:
        InputError: there is none, or it was edited after it had been frozen.
    """
    file = Path(path).expanduser()
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{file}: there is no such file (write one: python -m protocols freeze SUITE)"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: unreadable ({error})") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{file}: not a split manifest (python -m protocols freeze writes them)")
    if data.get("version") != VERSION:
        found = data.get("version")
        raise InputError(f"{file}: version {found!r}; this program reads version {VERSION}")
    if data.get("digest") != _digest(data):
        raise InputError(f"{file}: was edited after it had been frozen (its digest does not match)")
    return data


def _text(value: Any, levels: int, indent: str = "") -> str:
    """Return JSON text with a line for each entry of the outer `levels` of mappings."""
    if not (levels and isinstance(value, Mapping)):
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    inner = indent + "  "
    lines = [f"{inner}{json.dumps(key)}: {_text(value[key], levels - 1, inner)}" for key in value]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _digest(data: Mapping[str, Any]) -> str:
    return parameters.digest({name: value for name, value in data.items() if name != "digest"})
