"""How a skin is put together: an upper body, legs per frame, arms per frame, and an outline.

All figures look to the right. A pixel map is text: one letter a pixel, a dot for a clear one. The
letters of the shared legs and arms are the same in every skin and take that skin's colours:
`p`/`P` near and far trouser leg, `b`/`B` near and far boot, `a` sleeve, `s` hand.
"""

from dataclasses import dataclass

import numpy as np

from envs.platformer.art.palette import rgb

Rows = tuple[str, ...]

STAND = ("..ppppPP", "..ppp.PP", "..ppp.PP", "..ppp.PP", "..bbb.BBB")
STRIDE = ("..ppppPP", "..PPpppp", ".PPP.ppp", "BBB..bbbb")
RETURN = ("..ppppPP", "..ppppPP", ".ppp.PPP", "bbb..BBBB")
WALK = (STAND, STRIDE, RETURN)
STEP = (STAND, STRIDE)

ARM_DOWN = ("aa", "aa", "aa", "ss")
ARM_FORE = ("aa..", "aaa.", ".aass")
ARM_BACK = ("...aa", "..aa", ".aa", "ss")
SWING = (ARM_DOWN, ARM_BACK, ARM_FORE)


@dataclass(frozen=True)
class Skin:
    """One character: colours, an upper body, and what moves in each frame.

    `top` is one pixel map for all frames, or one per frame separated by a line of dashes. `legs`
    has one pixel map per frame, hung under the body `legs_at` columns in. `arms`, if any, are laid
    over the body at `arm_at`; their first column is two left of it, so that an arm may swing back.
    """

    colours: str
    top: str
    legs: tuple[Rows, ...]
    legs_at: int = 2
    arms: tuple[Rows, ...] = ()
    arm_at: tuple[int, int] = (0, 0)
    outline: str = "16121f"


def _lay(rows: list[str], patch: Rows, x: int, y: int) -> list[str]:
    """The rows with a patch over them; dots in the patch leave what is below."""
    result = list(rows)
    for down, line in enumerate(patch):
        base = list(result[y + down].ljust(x + len(line), "."))
        for across, letter in enumerate(line):
            if letter != ".":
                base[x + across] = letter
        result[y + down] = "".join(base)
    return result


def frame_rows(skin: Skin, frame: int) -> list[str]:
    """The finished pixel map of one frame, before its outline."""
    tops = [part.strip("\n").split("\n") for part in skin.top.split("---\n")]
    rows = list(tops[frame % len(tops)])
    body = len(rows)
    indent = "." * skin.legs_at
    rows += [indent + line for line in skin.legs[frame]]
    if skin.arms:
        patch = skin.arms[frame]
        # An arm that swings back starts further left than one that hangs.
        shift = -3 if patch is ARM_BACK else 0
        rows = _lay(rows, patch, skin.arm_at[0] + shift, min(skin.arm_at[1], body))
    return rows


def picture(skin: Skin, frame: int) -> np.ndarray:
    """One frame as RGBA bytes, with a dark outline at the sides and on top but not underfoot.

    All frames of a skin share one size, the largest any of them needs; shorter frames stand on the
    same bottom row, which is what makes the body dip as the legs part.
    """
    drawn = [frame_rows(skin, k) for k in range(len(skin.legs))]
    height = max(len(rows) for rows in drawn)
    cells = [
        (k, c)
        for k, rows in enumerate(drawn)
        for row in rows
        for c, x in enumerate(row)
        if x != "."
    ]
    left, right = min(c for _, c in cells), max(c for _, c in cells)
    rows = drawn[frame]
    image = np.zeros((height + 1, right - left + 3, 4), dtype=np.uint8)
    colours = dict(word.split("=") for word in skin.colours.split())
    offset = height + 1 - len(rows)
    for down, line in enumerate(rows):
        for across, letter in enumerate(line):
            if letter != ".":
                pixel = image[offset + down, across - left + 1]
                pixel[:3] = rgb(colours[letter])
                pixel[3] = 255
    solid = image[..., 3] > 0
    edge = np.zeros_like(solid)
    edge[:, 1:] |= solid[:, :-1]
    edge[:, :-1] |= solid[:, 1:]
    edge[:-1] |= solid[1:]
    edge[1:] |= solid[:-1]
    edge &= ~solid
    image[edge, :3] = rgb(skin.outline)
    image[edge, 3] = 255
    return image
