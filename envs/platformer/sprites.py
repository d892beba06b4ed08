"""Animated skins: the bundled ones by name (`skeleton`), a user's as folders of frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from envs.errors import InputError, not_among
from envs.platformer.images import ASSETS, BUNDLED, content_hash, files_in, read_pixels

LARGEST = 64  # px; of either side of a frame


@lru_cache(maxsize=1)
def bundled_skins() -> tuple[str, ...]:
    """Return the names of the bundled skins, in order."""
    return tuple(sorted(path.name for path in (ASSETS / "sprites").iterdir() if path.is_dir()))


def check_skin(path: str, member: str) -> str:
    """Return a skin's name or path: bundled, a folder of frames, or one picture.

    Raises:
        InputError: none of them; `path` is the parameter's.
    """
    if member in bundled_skins() or Path(member).is_file():
        return member
    if not Path(member).is_dir():
        problem = f"{path}: {member!r} is neither a bundled skin nor a folder or file"
        raise InputError(not_among(problem, member, bundled_skins()))
    if not files_in(path, member):
        raise InputError(f"{path}: no frames in the folder {member!r}")
    return member


def check_skin_dir(path: str, member: str) -> str:
    """Return a folder of skins (one sub-folder each), or raise InputError where it has none."""
    if member != BUNDLED and not _skins_in(path, member):
        raise InputError(f"{path}: no folder with frames in {member!r}")
    return member


def _skins_in(path: str, folder: str) -> tuple[str, ...]:
    if not Path(folder).is_dir():
        raise InputError(f"{path}: {folder!r} is not a folder")
    inside = sorted(str(each) for each in Path(folder).iterdir() if each.is_dir())
    return tuple(each for each in inside if files_in(path, each))


def skin_pool(path: str, sprite_dir: str, sprite_paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the skins of a pool: the named members, or where there are none the whole folder."""
    if sprite_paths:
        return sprite_paths
    return bundled_skins() if sprite_dir == BUNDLED else _skins_in(path, sprite_dir)


def skin_frames(skin: str) -> list[np.ndarray]:
    """Return the frames of a skin in the order of their names, u8[h, w, 4] each (RGBA).

    Raises:
        InputError: a frame is missing, unreadable or too large; names the file.
    """
    place = Path(ASSETS / "sprites" / skin) if skin in bundled_skins() else Path(skin)
    files = [place] if place.is_file() else files_in("sprites", str(place))
    frames = [read_pixels(file, "RGBA") for file in files]
    for file, frame in zip(files, frames, strict=True):
        if max(frame.shape[:2]) > LARGEST:
            size = f"{frame.shape[1]}x{frame.shape[0]}"
            raise InputError(f"{file}: a frame of {size} px is larger than {LARGEST}x{LARGEST}")
    return frames


def skin_contents(skins: tuple[str, ...]) -> list[str]:
    """Return the content hash of every skin."""
    return [content_hash(*skin_frames(skin)) for skin in skins]


@dataclass(frozen=True)
class Sheet:
    """The frames of several skins on patches of one size, S skins of F frames.

    A frame's middle column is the patch's, and its lowest row the patch's.
    """

    pixels: np.ndarray  # u8[S, F, height, width, 4]; RGBA, transparent around the frame
    counts: np.ndarray  # i32[S]; frames of each skin

    @property
    def translucent(self) -> bool:
        """Whether any pixel is neither opaque nor transparent."""
        alpha = self.pixels[..., 3]
        return bool(((alpha > 0) & (alpha < 255)).any())


SMALLEST_PATCH = (24, 16)  # px; height, width: what holds every bundled frame
SKINS_STEP, FRAMES_STEP, PATCH_STEP = 32, 4, 8  # sizes are padded to multiples of these


def make_sheet(skins: tuple[str, ...]) -> Sheet:
    """Lay the frames of `skins` out; sizes are padded so that few of them differ."""
    frames = [skin_frames(skin) for skin in skins]
    largest = [max(frame.shape[side] for skin in frames for frame in skin) for side in (0, 1)]
    height, width = (
        _padded(max(side, least), PATCH_STEP)
        for side, least in zip(largest, SMALLEST_PATCH, strict=True)
    )
    count, most = len(skins), max(len(skin) for skin in frames)
    shape = (_padded(count, SKINS_STEP), _padded(most, FRAMES_STEP), height, width, 4)
    pixels, counts = np.zeros(shape, np.uint8), np.ones(shape[0], np.int32)
    for index, skin in enumerate(frames):
        counts[index] = len(skin)
        for place, frame in enumerate(skin):
            tall, wide = frame.shape[:2]
            left = width // 2 - wide // 2
            pixels[index, place, height - tall :, left : left + wide] = frame
    return Sheet(pixels, counts)


def _padded(size: int, step: int) -> int:
    return -(-size // step) * step
