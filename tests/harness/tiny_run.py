"""A run of a few made-up cells, which does to its folder what an evaluation does to its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.rollouts.runfolder import file_name, open_run

MANIFEST = {
    "measured": {"suite": {"digest": "a" * 64}, "settings": {"episodes": 3, "seed": 0}},
    "machine": "this one",
    "provenance": {"command": "tiny"},
}
KEYS = tuple(
    {"kind": "policy", "name": name, "training": "base", "seed": seed, "side": name * 64}
    for name in "ab"
    for seed in (0, 1)
)


def cell(key: dict[str, Any]) -> dict[str, Any]:
    """Return what is measured in a cell: the same whenever it is played."""
    first = 10 * key["seed"] + ord(key["name"])
    return {"episodes": {"success": [first, None, first / 4]}}


def names() -> list[str]:
    return [file_name(key) for key in KEYS]


def tiny_run(path: str | Path, seconds: float = 1.0) -> list[str]:
    """Begin or continue the run and finish it; return the files of the cells that were played."""
    played = []
    with open_run(path) as folder:
        folder.begin(MANIFEST)
        for key in KEYS:
            if not folder.has(key):
                folder.keep(key, cell(key), {"rollouts_s": seconds})
                played.append(file_name(key))
        cells = [folder.find(key) for key in KEYS]
        total = seconds * len(played) + folder.earlier.get("rollouts_s", 0)
        folder.finish({"cells": cells, "timing": {"rollouts_s": total}})
    return played


def first_start(path: Path) -> None:
    """Nothing is there; the folder above is missing, too."""


def resumed(path: Path) -> None:
    """One cell is there, one is damaged, and files were being written."""
    with open_run(path) as folder:
        folder.begin(MANIFEST)
        for key in KEYS[:2]:
            folder.keep(key, cell(key), {"rollouts_s": 1.0})
    damaged = path / "cells" / names()[1]
    damaged.write_bytes(damaged.read_bytes().replace(b"success", b"succes5"))
    for stray in (".manifest.json", ".report.json", ".probe", *(f"cells/.{n}" for n in names())):
        (path / f"{stray}.tmp").write_text('{"half')


def complete(path: Path) -> None:
    """The run is finished."""
    tiny_run(path)


STARTS = (first_start, resumed, complete)  # how a run may find its folder


def contents(path: Path) -> dict[str, bytes]:
    """Return every file of a folder but the lock, by name, without what depends on the clock."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != ".lock")
    return {str(file.relative_to(path)): timeless(file.read_bytes()) for file in files}


def timeless(content: bytes) -> bytes:
    """Return a file without its block of times, which stands last on a line of its own."""
    before, found, _ = content.rpartition(b',\n"timing": ')
    return before + b"\n}\n" if found else content
