"""The picture of a suite: every training side beside its held-out sides, in the same states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from envs import Config, InputError
from protocols.audit.text import differences_text
from protocols.axes import CONTROL
from protocols.pair import Pair, Suite
from protocols.playing import Played, play

STATES, STATES_OF_MANY, MANY = 4, 3, 16  # states per pair; fewer in suites of more than MANY pairs
MOST_STATES = 8
# State i is taken from episode i after the i-th of these steps: early, in the air, at a wall, ...
STEPS = (12, 200, 150, 330, 400, 260, 440, 480)
KEPT = tuple(sorted({*range(8), 10, 14, 20, 24, *STEPS}))  # for episodes that end sooner

PAPER, INK, FAINT, ACCENT = (24, 24, 30), (232, 232, 238), (150, 150, 162), (120, 190, 255)
SMALL, MEDIUM, LARGE = 12, 15, 20  # px; text
GAP = 3  # px; between pictures
LABEL = 88  # px; width of the column of side names
MARGIN = 14  # px
SHAPE = 1.2  # width over height that a sheet aims for


@dataclass(frozen=True)
class Block:
    """One pair: rows of pictures, the training side first, one column per state."""

    axis: str
    title: str
    detail: str  # what differs
    rows: tuple[tuple[str, list[np.ndarray]], ...]  # side name, pictures u8[h, w, 3]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height on the sheet, px."""
        height, width = self.rows[0][1][0].shape[:2]
        count = len(self.rows[0][1])
        return (
            LABEL + count * (width + GAP),
            MEDIUM + SMALL + 12 + len(self.rows) * (height + GAP) + MARGIN,
        )


def suite_sheet(suite: Suite, *, pair: str | None = None, states: int | None = None) -> Image.Image:
    """Return the sheet of a suite, or of one of its pairs.

    Scripts of the environment play the same episodes on all sides; along a visual axis the columns
    are equal latent states, elsewhere the same episode after as many steps.

    Raises:
        InputError: no such pair; observations are not pictures; too many states.
    """
    pairs = [suite[pair]] if pair else list(suite)
    usual = STATES if len(pairs) <= MANY else STATES_OF_MANY
    count = usual if states is None else states
    if not 1 <= count <= MOST_STATES:
        raise InputError(f"--states: expected 1 to {MOST_STATES}, got {count}")
    memory: dict[str, Any] = {}
    order = {axis: place for place, axis in enumerate(dict.fromkeys(one.axis for one in pairs))}
    blocks = [_block(one, count, memory) for one in sorted(pairs, key=lambda p: order[p.axis])]
    many = f"{len(suite)} pair{'' if len(suite) == 1 else 's'}"
    what = many if pair is None else f"pair {pair}"
    title = f"{suite.name} v{suite.version}"
    return _laid_out(blocks, title, f"{what} · digest {suite.digest[:16]}")


def check_target(file: Path) -> None:
    """Refuse a file that `save_sheet` could not write, before anything is drawn.

    Raises:
        InputError: another suffix than .png, or no such folder.
    """
    if file.suffix.lower() != ".png":
        raise InputError(f"--out: expected a .png file, got {str(file)!r}")
    if not file.parent.is_dir():
        raise InputError(f"--out: there is no folder {str(file.parent)!r}")


def save_sheet(sheet: Image.Image, file: Path) -> None:
    """Write a sheet as PNG; raises InputError where it cannot be written."""
    check_target(file)
    try:
        sheet.save(file, optimize=True)
    except OSError as error:
        raise InputError(f"--out: cannot write {file} ({error.strerror or error})") from None


# ------------------------------------------------------------------------------------- pictures


def _block(pair: Pair, count: int, memory: dict[str, Any]) -> Block:
    train = _played(pair.train, count, memory)
    moments = _moments(train, count)
    wide = {pair.wide_name: pair.wide} if pair.wide is not None else {}
    sides = {pair.train_name: pair.train, **wide, **pair.heldout}
    rows = tuple(
        (name, _pictures(_played(side, count, memory), moments)) for name, side in sides.items()
    )
    kind = "" if pair.kind == "pair" else f" ({pair.kind})"
    return Block(
        pair.axis, pair.name + kind + (" (confounded)" * pair.confounded),
        differences_text(pair), rows,
    )  # fmt: skip


def _played(config: Config, count: int, memory: dict[str, Any]) -> Played:
    if config.digest not in memory:
        env, _ = config.build()
        shape, kind = env.observation_shape, np.dtype(getattr(env, "observation_dtype", np.uint8))
        if len(shape) != 3 or shape[2] != 3 or kind != np.uint8:
            raise InputError(f"no sheet: its observations are {kind}{list(shape)}, not pictures")
        memory[config.digest] = play(config, times=KEPT, episodes=count, steps=max(KEPT))
    return memory[config.digest]


def _moments(played: Played, count: int) -> list[tuple[int, str, int]]:
    """Return (step, script, episode) of the states to draw, the scripts taking turns.

    An episode that ends before its step is shown before it ends, later in later columns.
    """
    scripts = played.deliberate[::-1]
    moments = []
    for index in range(count):
        script = scripts[index % len(scripts)]
        last = int(played.lengths[script][index]) - 1
        wanted = STEPS[index] if STEPS[index] <= last else last * (index + 1) // (count + 1)
        moments.append((max(t for t in played.times if t <= max(wanted, 0)), script, index))
    return moments


def _pictures(played: Played, moments: Sequence[tuple[int, str, int]]) -> list[np.ndarray]:
    known = [
        (max(t for t in played.times if t <= time), script, episode)
        for time, script, episode in moments
    ]
    return list(played.pictures(played.states(known)))


# --------------------------------------------------------------------------------------- layout


def _laid_out(blocks: list[Block], title: str, facts: str) -> Image.Image:
    """Flow blocks into columns under a heading; an axis is named where it begins."""
    width = max(block.size[0] for block in blocks) + MARGIN
    heights = [block.size[1] + (LARGE if _begins(blocks, i) else 0) for i, block in
               enumerate(blocks)]  # fmt: skip
    columns = max(1, round((SHAPE * sum(heights) / width) ** 0.5))
    columns = min(columns, len(blocks))
    places, bottom = _flow(heights, columns)
    top = MARGIN + LARGE + SMALL + 2 * MARGIN
    used = max(column for column, _ in places) + 1
    sheet = Image.new("RGB", (used * width + MARGIN, top + bottom), PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, MARGIN), title, fill=INK, font=_font(LARGE))
    left = MARGIN + _font(LARGE).getlength(title) + 12
    pen.text((left, MARGIN + LARGE - SMALL - 1), facts, fill=FAINT, font=_font(SMALL))
    alike = not any(block.axis in CONTROL for block in blocks)
    shown = "one state" if alike else "one episode after as many steps"
    legend = f"Training side above, held-out sides below; a column is {shown}."
    pen.text((MARGIN, MARGIN + LARGE + 8), legend, fill=FAINT, font=_font(SMALL))
    for index, (block, (column, down)) in enumerate(zip(blocks, places, strict=True)):
        x, y = MARGIN + column * width, top + down
        if _begins(blocks, index):
            pen.text((x, y), block.axis, fill=ACCENT, font=_font(MEDIUM))
            _draw_block(sheet, pen, block, x, y + LARGE)
        else:
            _draw_block(sheet, pen, block, x, y)
    return sheet


def _begins(blocks: list[Block], index: int) -> bool:
    return index == 0 or blocks[index - 1].axis != blocks[index].axis


def _flow(heights: list[int], columns: int) -> tuple[list[tuple[int, int]], int]:
    """Return (column, y) of every block, in order, and the height of the highest column.

    The height is the lowest at which the blocks fit.
    """
    for limit in range(max(heights), sum(heights) + 8, 8):
        places, column, y = [], 0, 0
        for height in heights:
            if y + height > limit:
                column, y = column + 1, 0
            places.append((column, y))
            y += height
        if column < columns:
            break
    return places, max(y + height for (_, y), height in zip(places, heights, strict=True))


def _draw_block(sheet: Image.Image, pen: ImageDraw.ImageDraw, block: Block, x: int, y: int) -> None:
    width = block.size[0]
    pen.text((x, y), _fitted(block.title, MEDIUM, width), fill=INK, font=_font(MEDIUM))
    y += MEDIUM + 4
    pen.text((x, y), _fitted(block.detail, SMALL, width), fill=FAINT, font=_font(SMALL))
    y += SMALL + 8
    for row, (name, pictures) in enumerate(block.rows):
        height, across = pictures[0].shape[:2]
        pen.text((x, y), _wrapped(name), fill=FAINT if row == 0 else INK, font=_font(SMALL))
        for index, pixels in enumerate(pictures):
            place = (x + LABEL + index * (across + GAP), y)
            sheet.paste(Image.fromarray(pixels), place)
        y += height + GAP


def _font(size: int) -> Any:
    return ImageFont.load_default(size)


def _fitted(text: str, size: int, width: int) -> str:
    """Return text cut to a width, px."""
    font = _font(size)
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text + "…"


def _wrapped(name: str) -> str:
    """Return a side's name on lines that fit its column, broken at hyphens where there are some."""
    lines = [""]
    for part in name.replace("-", "-\n").replace(" ", " \n").split("\n"):
        if lines[-1] and _font(SMALL).getlength(lines[-1] + part) > LABEL - 6:
            lines.append("")
        lines[-1] += part
    return "\n".join(_fitted(line, SMALL, LABEL - 6) for line in lines)
