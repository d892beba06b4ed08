"""A fingerprint of a folder of pictures that depends on what they show, not on how they are packed.

Files are decoded before they are hashed, so another PNG encoder may write other bytes and the
fingerprint stays the same, whereas one changed pixel, name or size changes it.
"""

import hashlib
from pathlib import Path

import numpy as np
from PIL import Image


def pixels(path: Path) -> np.ndarray:
    """A picture file as RGB bytes, or RGBA bytes where it has transparency."""
    with Image.open(path) as image:
        clear = "A" in image.getbands() or "transparency" in image.info
        return np.asarray(image.convert("RGBA" if clear else "RGB"))


def assets_digest(folder: Path | str) -> str:
    """The sha256 over name, shape and pixels of every PNG below a folder, in sorted order."""
    root = Path(folder)
    total = hashlib.sha256()
    for name in sorted(path.relative_to(root).as_posix() for path in root.rglob("*.png")):
        image = pixels(root / name)
        total.update(f"{name}\n{'x'.join(map(str, image.shape))}\n".encode())
        total.update(np.ascontiguousarray(image).tobytes())
    return total.hexdigest()
