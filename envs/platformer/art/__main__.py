"""Redraw every bundled picture: `python -m envs.platformer.art OUT_DIR`."""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

from envs.platformer.art.backgrounds import backgrounds
from envs.platformer.art.digest import assets_digest
from envs.platformer.art.sprites import sprites


def save(image: np.ndarray, path: Path) -> None:
    """Write one picture as an optimized PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, optimize=True)


def draw_all(folder: Path) -> str:
    """Draw everything into a folder, write its digest beside it, and return the digest."""
    for name, image in backgrounds().items():
        save(image, folder / "backgrounds" / name)
    for name, image in sprites().items():
        save(image, folder / "sprites" / name)
    digest = assets_digest(folder)
    (folder / "digest.txt").write_text(f"{digest}\n", encoding="utf-8")
    return digest


def main() -> None:
    """Draw into the folder named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m envs.platformer.art", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to draw into, such as an assets folder")
    print(draw_all(parser.parse_args().folder))


if __name__ == "__main__":
    main()
