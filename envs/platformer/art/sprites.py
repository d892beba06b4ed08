"""The 27 character skins, each with its walking frames as RGBA bytes."""

import numpy as np

from envs.platformer.art.skins import folk, heroes, monsters
from envs.platformer.art.skins.parts import Skin, picture

SKINS: dict[str, Skin] = dict(sorted({**folk.SKINS, **heroes.SKINS, **monsters.SKINS}.items()))
COUNT = 27
WIDTHS = (10, 16)
HEIGHTS = (15, 24)


def frames(skin: str) -> list[np.ndarray]:
    """The frames of one skin; the first is also the figure standing still."""
    return [picture(SKINS[skin], frame) for frame in range(len(SKINS[skin].legs))]


def sprites() -> dict[str, np.ndarray]:
    """All frames by file name, such as `knight/0.png`."""
    pictures = {}
    for skin in SKINS:
        for frame, image in enumerate(frames(skin)):
            height, width = image.shape[:2]
            if not (WIDTHS[0] <= width <= WIDTHS[1] and HEIGHTS[0] <= height <= HEIGHTS[1]):
                raise ValueError(f"{skin} is {width} by {height}, outside {WIDTHS} by {HEIGHTS}")
            pictures[f"{skin}/{frame}.png"] = image
    return pictures
