"""Folders of images: every file is decoded once, hashed by its pixels, and remembered in a cache.

The cache holds an index per folder and the shrunk pictures that were used. It lives in
$HELDOUT_CACHE, else $XDG_CACHE_HOME/heldout, else ~/.cache/heldout, and may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps
from rich.console import Console
from rich.progress import track

from envs.errors import InputError
from envs.puzzle import pools

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
_PROGRESS_FROM = 100  # files; fewer are decoded before anyone would look


class Entry(NamedTuple):
    """What is known of one file."""

    name: str  # relative to the folder
    size: int  # bytes
    changed_ns: int
    content: str  # hash of the decoded pixels
    thumbnail: np.ndarray  # u8[768]


def open_folder(folder: Path) -> Folder:
    """Return the images of a folder and of the folders in it.

    Raises:
        InputError: there is no such folder, it holds no images, or a file cannot be decoded.
    """
    if not folder.is_dir():
        raise InputError(f"images.path: there is no folder {str(folder)!r}")
    folder = folder.resolve()
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    if not files:
        raise InputError(f"images.path: {str(folder)!r} holds no images ({', '.join(SUFFIXES)})")
    states = [(path, path.stat()) for path in files]
    listing = tuple(
        (path.relative_to(folder).as_posix(), state.st_size, state.st_mtime_ns)
        for path, state in states
    )
    return _open(folder, listing)


@lru_cache(maxsize=8)
def _open(folder: Path, listing: tuple[tuple[str, int, int], ...]) -> Folder:
    return Folder(folder, _index(folder, listing))


class Folder:
    """The universe of a folder: identities are content hashes, so names and order never matter."""

    def __init__(self, folder: Path, entries: list[Entry]) -> None:
        self._files = {entry.content: folder / entry.name for entry in reversed(entries)}
        small = {entry.content: entry.thumbnail for entry in entries}
        order = sorted(small)
        labels = {content: path.name for content, path in self._files.items()}
        stack = np.stack([small[content] for content in order])
        self._halves = pools.halves(order, stack, labels, str(folder))

    def half(self, split: str) -> Sequence[str]:
        return self._halves[split]

    def content(self, image: str) -> str:
        return image

    def picture(self, image: str, rows: int, columns: int) -> np.ndarray:
        name = f"{image}-{rows}x{columns}.npy"
        kept = _load(name)
        if isinstance(kept, np.ndarray) and kept.shape == (rows, columns, 3):
            return kept
        pixels = pools.resize(decode(self._files[image]), rows, columns)
        _save(name, lambda file: np.save(file, pixels))
        return pixels


def decode(path: Path) -> np.ndarray:
    """Return the pixels of an image file, u8[h, w, 3], upright and without transparency."""
    try:
        with Image.open(path) as image:
            return np.array(ImageOps.exif_transpose(image).convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError(f"images.path: cannot decode {str(path)!r}: {error}") from None


def _index(folder: Path, listing: tuple[tuple[str, int, int], ...]) -> list[Entry]:
    """Return what is known of every file, decoding those that are new or changed."""
    name = f"index-{hashlib.sha256(str(folder).encode()).hexdigest()[:32]}.npz"
    known = {entry[:3]: entry for entry in _read_index(name)}
    entries = [known[state] for state in listing if state in known]
    new = [state for state in listing if state not in known]
    shown = track(
        new, f"reading {folder.name}", console=Console(stderr=True), transient=True,
        disable=len(new) < _PROGRESS_FROM,
    )  # fmt: skip
    for state in shown:
        pixels = decode(folder / state[0])
        entries.append(Entry(*state, pools.content_hash(pixels), pools.thumbnail(pixels)))
    if new:
        _save(name, lambda file: _write_index(file, entries))
    return sorted(entries, key=lambda entry: entry.name)


def _write_index(file, entries: list[Entry]) -> None:
    columns = zip(*entries, strict=True)
    names = Entry._fields
    np.savez(file, **{name: np.array(column) for name, column in zip(names, columns, strict=True)})


def _read_index(name: str) -> list[Entry]:
    kept = _load(name)
    if not isinstance(kept, dict) or set(kept) != set(Entry._fields):
        return []
    names, sizes, times, contents, small = (kept[field] for field in Entry._fields)
    return [
        Entry(str(name), int(size), int(time), str(content), thumbnail)
        for name, size, time, content, thumbnail in zip(
            names, sizes, times, contents, small, strict=True
        )
    ]


# ------------------------------------------------------------------------------------------- cache


def cache_folder() -> Path:
    """Return where decoded images are remembered."""
    own = os.environ.get("HELDOUT_CACHE")
    shared = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(own) if own else Path(shared) / "heldout") / "images"


def _load(name: str) -> np.ndarray | dict[str, np.ndarray] | None:
    """Return a cached file's content, or None where it is missing or damaged."""
    try:
        content = np.load(cache_folder() / name, allow_pickle=False)
        return content if isinstance(content, np.ndarray) else dict(content)
    except Exception:
        return None


def _save(name: str, write: Callable) -> None:
    """Write a cached file at once or not at all; without a place to write, nothing is kept."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache_folder(), delete=False) as file:
            write(file)
        os.replace(file.name, cache_folder() / name)
    except OSError:
        return
