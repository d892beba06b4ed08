"""The folder of one run: what it measured so far, kept so that the same command goes on after it.

```
<DIR>/manifest.json   what is measured, written before the first episode
<DIR>/cells/*.json    one file per finished cell: a side, or a baseline, of one training seed
<DIR>/report.json     the report, at the end
<DIR>/.lock           held while a run works here; the kernel lets go of it when the process ends
```

Every file is written in one step. A cell carries the digest of its run and a checksum; one that
does not match is played again. Whatever depends on the clock stands in the `timing` of a file, so
that equal runs give equal files without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from envs.errors import InputError
from harness.errors import RunError
from harness.reporting.export import FILE as REPORT
from harness.reporting.export import dump, plain
from harness.rollouts import atomic
from harness.rollouts.manifest import differences

MANIFEST, CELLS, LOCK = "manifest.json", "cells", ".lock"
RUN_SCHEMA, CELL_SCHEMA, VERSION = "heldout-run", "heldout-cell", 1


@contextmanager
def open_run(path: str | os.PathLike) -> Iterator[RunFolder]:
    """Open a run folder, made where it is missing, for this process alone.

    Nothing is left behind unless the run begins (`RunFolder.begin`).

    Raises:
        InputError: it cannot be written, another run is at work there, or it holds other things.
        KeyboardInterrupt: as raised inside, with a text that says what is kept.
    """
    folder = RunFolder(Path(path).expanduser().resolve())
    folder.open()
    try:
        yield folder
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(f"interrupted{folder.kept()}") from stop
    finally:
        folder.close()


class RunFolder:
    """A run folder that is open; see `open_run`.

    notes     what is worth a line: locks that do not work, cells that are damaged
    earlier   timing of the cells that were found, summed
    machines  on which cells were played; records may differ in their last digits between them
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        self.earlier: dict[str, float] = {}
        self.machines: set[str] = set()
        self._made: list[Path] = []  # folders
        self._made_lock = False
        self._lock: int | None = None
        self._manifest: dict[str, Any] | None = None
        self._run = ""  # digest of what is measured
        self._machine = ""  # this one
        self._cells: dict[str, Any] = {}  # file name -> data of a cell
        self._finished = False

    # ------------------------------------------------------------------------- opening, closing

    def open(self) -> None:
        """Make the folder, lock it, and prove that it can be written."""
        try:
            self._made = atomic.make_folder(self.path)
            self._take_lock()
            self._manifest = self._read_manifest()
            self._sweep()
            atomic.prove_writable(self.path)
        except OSError as error:
            self.close()
            raise InputError(f"{self.path} cannot be written: {error.strerror}") from None
        except BaseException:
            self.close()
            raise

    def _take_lock(self) -> None:
        self._made_lock = not (self.path / LOCK).exists()
        try:
            self._lock = atomic.lock(self.path / LOCK)
        except BlockingIOError:
            raise InputError(
                f"another run is at work in {self.path}; wait for it, or choose another folder"
            ) from None
        except OSError as error:
            if error.errno not in atomic.NO_LOCKS:
                raise
            self.notes.append(
                f"{self.path}: no locks on this file system, so two runs there would not notice "
                "each other"
            )

    def _read_manifest(self) -> dict[str, Any] | None:
        """Return the manifest of a run that began here, or None in a folder that is free."""
        file = self.path / MANIFEST
        content = atomic.read(file)
        if content is None:
            taken = [name for name in (REPORT, CELLS) if (self.path / name).exists()]
            if taken:
                raise InputError(
                    f"{self.path} already holds {taken[0]} but no {MANIFEST}, so it is not known "
                    "what was measured; choose another folder"
                )
            return None
        manifest = _parsed(content)
        if manifest is None or manifest.get("schema") != RUN_SCHEMA:
            raise InputError(f"{file} is not that of a run; choose another folder")
        if manifest.get("schema_version") != VERSION:
            raise InputError(
                f"{file}: schema version {manifest.get('schema_version')!r}; this program goes on "
                f"with version {VERSION}"
            )
        if manifest.pop("sha256", None) != _digest(manifest):
            raise InputError(
                f"{file} is damaged, so it is not known what was measured; choose another folder"
            )
        return manifest

    def _sweep(self) -> None:
        """Remove what a killed process was writing."""
        for name in (MANIFEST, REPORT, "probe"):
            atomic.remove(atomic.scratch_of(self.path / name))
        for name in atomic.names_in(self.path / CELLS):
            if name.startswith(".") and name.endswith(".json.tmp"):
                atomic.remove(self.path / CELLS / name)

    def close(self) -> None:
        """Let go of the folder; one in which nothing began is as it was before."""
        if self._lock is not None:
            if self._made_lock and self._manifest is None:
                with suppress(OSError):  # what went wrong before says more
                    atomic.remove(self.path / LOCK)
            atomic.unlock(self._lock)
            self._lock = None
        if self._manifest is None:
            for folder in reversed(self._made):
                atomic.remove_folder(folder)

    # ------------------------------------------------------------------------------ measurements

    def begin(self, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep what is going to be measured, or check that it is what this folder holds.

        Args:
            manifest: JSON data; everything under "measured" decides the numbers, "machine" names
                what it runs on.

        Returns:
            The manifest under which the run began, now or earlier.

        Raises:
            InputError: the folder holds another run (every difference is counted, the first ones
                are shown), or cannot be written.
        """
        wanted = {"schema": RUN_SCHEMA, "schema_version": VERSION, **plain(manifest)}
        if self._manifest is not None:
            found = differences(self._manifest["measured"], wanted["measured"])
            if found:
                raise InputError(f"{self.path} holds another run: {found}; choose another folder")
        self._run, self._machine = _digest(wanted["measured"]), wanted["machine"]
        try:
            if self._manifest is None:
                sealed = {**wanted, "sha256": _digest(wanted)}
                atomic.write(self.path / MANIFEST, dump(sealed).encode())
                self._manifest = wanted
            atomic.make_folder(self.path / CELLS)
            self._read_cells()
        except OSError as error:
            raise InputError(f"{error.filename or self.path}: {error.strerror}") from None
        return self._manifest

    def _read_cells(self) -> None:
        for name in atomic.names_in(self.path / CELLS):
            if not name.endswith(".json"):
                continue
            content = _parsed(atomic.read(self.path / CELLS / name) or b"")
            if content is None or not self._is_sound(content, name):
                self.notes.append(f"{self.path / CELLS / name} is damaged; it is played again")
                continue
            self._cells[name] = content["cell"]
            self.machines.add(content["machine"])
            for what, amount in content["timing"].items():
                self.earlier[what] = self.earlier.get(what, 0) + amount

    def _is_sound(self, content: Mapping[str, Any], name: str) -> bool:
        """Return whether a cell is whole, of this run, and where it belongs."""
        timed = dict(content)
        timing, sealed = timed.pop("timing", None), timed.pop("sha256", None)
        return (
            sealed == _digest(timed)
            and timed.get("schema") == CELL_SCHEMA
            and timed.get("run") == self._run
            and file_name(timed["key"]) == name
            and isinstance(timing, dict)
            and all(isinstance(one, (int, float)) for one in timing.values())
        )

    def has(self, key: Mapping[str, Any]) -> bool:
        """Return whether a cell is finished."""
        return file_name(key) in self._cells

    def find(self, key: Mapping[str, Any]) -> Any:
        """Return what a finished cell holds, or None."""
        return self._cells.get(file_name(key))

    def keep(self, key: Mapping[str, Any], cell: Any, timing: Mapping[str, float]) -> Any:
        """Keep a finished cell.

        Args:
            key: JSON data that says which one it is.
            cell: nested data that a report could hold.
            timing: what it took; numbers that may be summed over cells.

        Returns:
            The cell as a later run would find it: JSON data.

        Raises:
            RunError: it cannot be written.
        """
        cell = plain(cell)
        content = {
            "schema": CELL_SCHEMA,
            "schema_version": VERSION,
            "run": self._run,
            "machine": self._machine,
            "key": key,
            "cell": cell,
        }
        name = file_name(key)
        timing = plain(timing)
        self._write(
            self.path / CELLS / name, {**content, "sha256": _digest(content), "timing": timing}
        )
        self._cells[name] = cell
        self.machines.add(self._machine)
        return cell

    def finish(self, report: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep the report; where the same one is already there, leave it as it is.

        Returns:
            The report that the folder holds: the one given, or the same with its own timing.

        Raises:
            RunError: it cannot be written.
        """
        file = self.path / REPORT
        try:
            there = _parsed(atomic.read(file) or b"")
        except OSError as error:
            raise RunError(f"{file} cannot be read: {error.strerror}") from error
        if there is None or _timeless(there) != _timeless(report):
            self._write(file, report)
            there = report
        self._finished = True
        return there

    def _write(self, file: Path, content: Mapping[str, Any]) -> None:
        try:
            atomic.write(file, dump(content).encode())
        except OSError as error:
            raise RunError(f"{file} cannot be written: {error.strerror}{self.kept()}") from error

    def kept(self) -> str:
        """Return what can be said on stopping now: how much is kept, or nothing."""
        if self._manifest is None or self._finished:
            return ""
        cells = len(self._cells)
        return (
            f"; {cells} finished cell{'' if cells == 1 else 's'} in {self.path}, and the same "
            "command goes on from there"
        )


def file_name(key: Mapping[str, Any]) -> str:
    """Return the file of a cell: readable parts of its key, then a digest of all of it."""
    readable = "-".join(str(part) for part in key.values())
    short = re.sub(r"[^\w.+-]+", "-", re.sub(r"\b[0-9a-f]{64}\b", "", readable)).strip("-.")
    return f"{re.sub('-+', '-', short)[:80]}-{_digest(key)[:12]}.json"


def _digest(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _parsed(content: bytes) -> dict[str, Any] | None:
    """Return a JSON object, or None where the bytes are none."""
    try:
        data = json.loads(content)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _timeless(data: Mapping[str, Any]) -> str:
    return dump({name: value for name, value in data.items() if name != "timing"})
