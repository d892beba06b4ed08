"""Image pools: which pictures a side may show, chosen by content so that held out means never seen.

A *universe* of images is divided into a training half and a held-out half, whatever the seed:
bundled families by member number, files and arrays by the order of their content hashes.
`pool_seed` permutes each half, and a pool is a slice of that order. So pools of one seed are nested
over their size, and no training pool of any size or seed shares an image with any held-out pool.

Near duplicates (pictures that differ by less than NEAR grey levels once shrunk to 16x16) of files
and
arrays never enter: one of them represents all, and a warning names the others.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from PIL import Image

from envs.errors import InputError
from envs.puzzle import art

SPLITS = ("train", "heldout")
# Grey levels, root mean square. Rescaled, recompressed (JPEG quality 30) or slightly brightened
# copies measure up to 5.4, the nearest two of the 5,000 bundled pictures 13.7.
NEAR = 6.0
_SMALL = 16  # px; side of the pictures that are compared
_HASHED = 84  # px; side at which bundled pictures are hashed


class Universe(Protocol):
    """All images of one source."""

    def half(self, split: str) -> Sequence[str]:
        """Return the identities of one half, in an order that depends on content only."""

    def content(self, image: str) -> str:
        """Return the hash of an image's decoded pixels."""

    def picture(self, image: str, rows: int, columns: int) -> np.ndarray:
        """Return an image, u8[rows, columns, 3]."""


def choose(
    universe: Universe, *, split: str, size: int, seed: int = 0, skip: int = 0
) -> tuple[str, ...]:
    """Return the identities of a pool: `size` images of one half, after `skip`, in the seed's
    order.

    Raises:
        InputError: the half has fewer images.
    """
    half = universe.half(split)
    if skip + size > len(half):
        raise InputError(
            f"images.pool: {size} images after the first {skip} were asked for, "
            f"the {split} half has {len(half)}"
        )

    def place(image: str) -> str:
        return hashlib.sha256(f"{seed}:{image}".encode()).hexdigest()

    return tuple(sorted(half, key=place)[skip : skip + size])


def content_hash(pixels: np.ndarray) -> str:
    """Return the sha256 (hex) of decoded pixels, u8[h, w, 3], and their shape."""
    head = f"{pixels.shape[0]}x{pixels.shape[1]}:".encode()
    return hashlib.sha256(head + np.ascontiguousarray(pixels).tobytes()).hexdigest()


def thumbnail(pixels: np.ndarray) -> np.ndarray:
    """Return what near duplicates are found by: the picture shrunk to u8[768]."""
    small = Image.fromarray(pixels).resize((_SMALL, _SMALL), Image.Resampling.BILINEAR)
    return np.asarray(small).reshape(-1)


def resize(pixels: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Return a picture at a size, u8[rows, columns, 3] (bicubic; the aspect ratio is not kept)."""
    if pixels.shape[:2] == (rows, columns):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize((columns, rows), Image.Resampling.BICUBIC))


def near_duplicates(thumbnails: np.ndarray, block: int = 1024) -> dict[int, int]:
    """Return {image: earlier image it is a near duplicate of}; the earlier one is none itself.

    Args:
        thumbnails: u8[n, 768], see `thumbnail`.
    """
    flat = thumbnails.astype(np.float32)
    lengths = (flat * flat).sum(axis=1)
    limit = NEAR * NEAR * flat.shape[1]
    refused: dict[int, int] = {}
    for start in range(0, len(flat), block):
        rows = slice(start, start + block)
        squares = lengths[rows, None] + lengths[None, : start + block]
        squares -= 2.0 * flat[rows] @ flat[: start + block].T
        for row, other in np.argwhere(squares < limit):
            image = start + int(row)
            if other < image and image not in refused and int(other) not in refused:
                refused[image] = int(other)
    return refused


class Bundled:
    """The procedural families: the first half of every family's members trains."""

    def __init__(self, families: tuple[str, ...]) -> None:
        self.families = tuple(sorted(set(families)))

    def half(self, split: str) -> Sequence[str]:
        middle = art.MEMBERS // 2
        members = range(middle) if split == "train" else range(middle, art.MEMBERS)
        return [f"{family}/{member}" for family in self.families for member in members]

    def content(self, image: str) -> str:
        return _bundled_hash(image)

    def picture(self, image: str, rows: int, columns: int) -> np.ndarray:
        family, member = image.split("/")
        return art.draw(family, int(member), rows, columns)


@cache
def _bundled_hash(image: str) -> str:
    family, member = image.split("/")
    return content_hash(art.draw(family, int(member), _HASHED, _HASHED))


class Arrays:
    """Images given as one array, u8[n, h, w, 3]."""

    def __init__(self, images: np.ndarray, name: str = "images") -> None:
        images = np.asarray(images)
        if images.ndim != 4 or images.shape[-1] != 3 or images.dtype != np.uint8 or not len(images):
            raise InputError(
                f"{name}: expected u8[n, h, w, 3], n >= 1, got {images.dtype}{list(images.shape)}"
            )
        hashes = [content_hash(image) for image in images]
        self._images = dict(zip(hashes, images, strict=True))
        order = sorted(self._images)
        small = np.stack([thumbnail(self._images[image]) for image in order])
        self._halves = halves(order, small, {h: f"image {i}" for i, h in enumerate(hashes)}, name)

    def half(self, split: str) -> Sequence[str]:
        return self._halves[split]

    def content(self, image: str) -> str:
        return image

    def picture(self, image: str, rows: int, columns: int) -> np.ndarray:
        return resize(self._images[image], rows, columns)


def halves(
    order: list[str], thumbnails: np.ndarray, labels: dict[str, str], source: str
) -> dict[str, list[str]]:
    """Divide content hashes in ascending order into a training and a held-out half.

    Near duplicates are left out of both, with a warning that names them by their `labels`.
    """
    refused = near_duplicates(thumbnails)
    if refused:
        pairs = [f"{labels[order[a]]} ~ {labels[order[b]]}" for a, b in list(refused.items())[:3]]
        more = ", …" if len(refused) > 3 else ""
        warnings.warn(
            f"{source}: {len(refused)} near duplicates are left out ({', '.join(pairs)}{more})",
            stacklevel=2,
        )
    kept = [image for place, image in enumerate(order) if place not in refused]
    middle = (len(kept) + 1) // 2
    return {"train": kept[:middle], "heldout": kept[middle:]}


@lru_cache(maxsize=8)
def _array_file(path: str, changed_ns: int) -> Arrays:
    try:
        images = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"images.path: cannot read {path}: {error}") from None
    return Arrays(images, path)


def universe_of(source: str, families: tuple[str, ...], path: str) -> Universe:
    """Return the universe that a configuration names: bundled families, a folder or a .npy file.

    Raises:
        InputError: there is no such folder or file, or it holds no images.
    """
    if source == "procedural":
        return Bundled(families)
    place = Path(path).expanduser()
    if source == "folder":
        from envs.puzzle.folder import open_folder

        return open_folder(place)
    if not path or not place.is_file():
        raise InputError(
            f"images.path: expected a .npy file with u8[n, h, w, 3], there is none at {path!r} "
            "(arrays that live in memory go to build(images=...))"
        )
    return _array_file(str(place.resolve()), place.stat().st_mtime_ns)
