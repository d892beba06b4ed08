"""Background images: the bundled ones by name (`bg-001`), a user's by path."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from envs.errors import InputError, nearest

ASSETS = Path(__file__).parent / "assets"
BUNDLED = "bundled"  # the folder of everything that comes with the package
SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp")


@lru_cache(maxsize=1)
def bundled_images() -> tuple[str, ...]:
    """Return the names of the bundled images, in order."""
    return tuple(sorted(path.stem for path in (ASSETS / "backgrounds").glob("*.png")))


def check_image(path: str, member: str) -> str:
    """Return the normal form of an image's name or path (`bg-1` becomes `bg-001`).

    Raises:
        InputError: neither a bundled name nor an existing file; `path` is the parameter's.
    """
    short = re.fullmatch(r"bg-(\d{1,3})", member)
    name = f"bg-{int(short[1]):03d}" if short else member
    if name in bundled_images():
        return name
    if Path(member).is_file():
        return member
    names = bundled_images()
    close = nearest(name, names)
    hint = f"; did you mean {close!r}?" if close else ""
    bundled = f"a bundled image ({names[0]} .. {names[-1]})"
    raise InputError(f"{path}: {member!r} is neither {bundled} nor a file{hint}")


def check_image_dir(path: str, member: str) -> str:
    """Return the folder, or raise InputError where it holds no image."""
    if member != BUNDLED and not files_in(path, member):
        raise InputError(f"{path}: no image ({', '.join(SUFFIXES)}) in {member!r}")
    return member


def files_in(path: str, folder: str) -> list[Path]:
    """Return the picture files of a folder, sorted by name."""
    if not Path(folder).is_dir():
        raise InputError(f"{path}: {folder!r} is not a folder")
    found = (file for file in Path(folder).iterdir() if file.suffix.lower() in SUFFIXES)
    return sorted(found, key=str)


def image_files(image_dir: str, image_paths: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files of a pool: the named members, or where there are none the whole folder."""
    if not image_paths and image_dir != BUNDLED:
        return tuple(files_in("background.image_dir", image_dir))
    known = set(bundled_images())
    return tuple(
        ASSETS / "backgrounds" / f"{name}.png" if name in known else Path(name)
        for name in image_paths or bundled_images()
    )


def read_pixels(file: Path, mode: str) -> np.ndarray:
    """Return a picture's pixels, u8[h, w, channels of `mode`]; decoded once per version of the
    file.

    Raises:
        InputError: missing or unreadable; names the file.
    """
    try:
        state = file.stat()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
    return _decode(file, mode, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=1024)
def _decode(file: Path, mode: str, version: tuple[int, int]) -> np.ndarray:
    try:
        with Image.open(file) as image:
            pixels = np.array(image.convert(mode))
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{file}: not a readable picture ({error})") from None
    pixels.flags.writeable = False
    return pixels


def content_hash(*pixels: np.ndarray) -> str:
    """Return a hash of pictures that depends on their shapes and pixels only (16 hex digits)."""
    total = hashlib.sha256()
    for image in pixels:
        total.update(f"{image.shape}".encode())
        total.update(np.ascontiguousarray(image).tobytes())
    return total.hexdigest()[:16]


def image_contents(image_dir: str, image_paths: tuple[str, ...]) -> list[str]:
    """Return the content hash of every member of a pool."""
    files = image_files(image_dir, image_paths)
    return [content_hash(read_pixels(file, "RGB")) for file in files]


def load_images(files: tuple[Path, ...], height: int) -> np.ndarray:
    """Return images scaled to one height, u8[n, height, width, 3].

    The first image keeps its aspect ratio and so decides the width; the others are fitted to it.
    """
    first = read_pixels(files[0], "RGB")
    width = max(1, int(height * first.shape[1] / first.shape[0]))
    return np.stack([_fit(read_pixels(file, "RGB"), height, width) for file in files])


def _fit(pixels: np.ndarray, height: int, width: int) -> np.ndarray:
    if pixels.shape[:2] == (height, width):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.LANCZOS))
