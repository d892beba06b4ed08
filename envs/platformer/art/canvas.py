"""A square picture whose right edge continues into its left edge.

Every drawing call measures columns around the circle, so whatever crosses the right edge comes back
on the left and the finished picture tiles without a seam. Rows do not wrap.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from envs.platformer.art.palette import Colour, rgb

SIZE = 128
ROWS, COLS = np.mgrid[0:SIZE, 0:SIZE]
LINE = np.arange(SIZE)


def _bayer(order: int) -> np.ndarray:
    """The ordered-dither matrix of side 2**order, as thresholds strictly inside (0, 1)."""
    cells = np.zeros((1, 1))
    for _ in range(order):
        cells = np.block([[4 * cells, 4 * cells + 2], [4 * cells + 3, 4 * cells + 1]])
    return (cells + 0.5) / cells.size


THRESHOLDS = np.tile(_bayer(2), (SIZE // 4, SIZE // 4))


def dither(values: np.ndarray, levels: int, strength: float = 1.0) -> np.ndarray:
    """The ramp index of each value in [0, 1]; strength 0 gives plain bands, 1 a full dither."""
    offset = 0.5 + strength * (THRESHOLDS - 0.5)
    # Rounding first keeps a last-bit difference between machines from moving a pixel.
    index = np.floor(np.round(values * (levels - 1) + offset, 7))
    return np.clip(index, 0, levels - 1).astype(int)


class Canvas:
    """RGB pixels with drawing calls that wrap in x and clip in y."""

    def __init__(self, colour: Colour = "000000") -> None:
        """A canvas filled with one colour."""
        self.pixels = np.empty((SIZE, SIZE, 3), dtype=np.uint8)
        self.pixels[:] = rgb(colour)

    def paint(self, mask: np.ndarray, colour: Colour) -> None:
        """Set the pixels of a mask to one colour."""
        self.pixels[mask] = rgb(colour)

    def shade(
        self,
        values: np.ndarray,
        colours: Sequence[Colour],
        mask: np.ndarray | None = None,
        strength: float = 1.0,
    ) -> None:
        """Colour a field of values in [0, 1] by a dithered ramp, inside the mask where given."""
        table = np.array([rgb(colour) for colour in colours], dtype=np.uint8)
        field = np.broadcast_to(values, (SIZE, SIZE))
        picture = table[dither(field, len(table), strength)]
        where = np.ones((SIZE, SIZE), dtype=bool) if mask is None else mask
        self.pixels[where] = picture[where]

    def gradient(
        self, colours: Sequence[Colour], top: int = 0, bottom: int = SIZE, strength: float = 1.0
    ) -> None:
        """A vertical ramp from row `top` down to row `bottom`."""
        values = (ROWS - top) / max(bottom - top - 1, 1)
        self.shade(np.clip(values, 0, 1), colours, (top <= ROWS) & (bottom > ROWS), strength)

    def dot(self, x: int, y: int, colour: Colour) -> None:
        """One pixel."""
        if 0 <= y < SIZE:
            self.pixels[int(y), int(x) % SIZE] = rgb(colour)

    def rect(self, x: int, y: int, width: int, height: int, colour: Colour) -> None:
        """A filled box whose top left pixel is (x, y)."""
        # Most drawing is small boxes: reach only their own pixels, not a mask of the whole picture.
        down = LINE[(y <= LINE) & (y + height > LINE)]
        across = LINE[(LINE - x) % SIZE < width]
        self.pixels[down[:, None], across] = rgb(colour)

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """A filled circle."""
        self.paint(disc(x, y, radius), colour)

    def ellipse(self, x: float, y: float, half_w: float, half_h: float, colour: Colour) -> None:
        """A filled ellipse."""
        self.paint(ellipse(x, y, half_w, half_h), colour)

    def convex(self, points: Sequence[tuple[float, float]], colour: Colour) -> None:
        """A filled convex polygon."""
        self.paint(convex(points), colour)

    def line(
        self, x0: float, y0: float, x1: float, y1: float, colour: Colour, width: int = 1
    ) -> None:
        """A straight line of square pixels; the far end may lie beyond the edge."""
        count = int(max(abs(x1 - x0), abs(y1 - y0))) + 1
        for k in range(count):
            share = k / max(count - 1, 1)
            x, y = round(x0 + (x1 - x0) * share, 6), round(y0 + (y1 - y0) * share, 6)
            left, top = int(np.floor(x + 0.5)), int(np.floor(y + 0.5))
            for across in range(width):
                for down in range(width):
                    self.dot(left + across, top + down, colour)

    def stamp(
        self,
        x: int,
        y: int,
        rows: Sequence[str],
        colours: Mapping[str, Colour],
        flip: bool = False,
    ) -> None:
        """A pixel map with its top left at (x, y); characters without a colour are clear."""
        for down, row in enumerate(rows):
            for across, letter in enumerate(reversed(row) if flip else row):
                if letter in colours:
                    self.dot(x + across, y + down, colours[letter])


def _reach(x: float) -> np.ndarray:
    """Signed columns from `x` along one row, the short way around the circle."""
    return (LINE - x + SIZE / 2) % SIZE - SIZE / 2


def span(x: float) -> np.ndarray:
    """Signed columns from `x` for every pixel, the short way around the circle."""
    return np.tile(_reach(x), (SIZE, 1))


def box(x: int, y: int, width: int, height: int) -> np.ndarray:
    """The mask of a box whose top left pixel is (x, y)."""
    across, down = (LINE - x) % SIZE < width, (y <= LINE) & (y + height > LINE)
    return down[:, None] & across


def disc(x: float, y: float, radius: float) -> np.ndarray:
    """The mask of a circle; the small surplus rounds off the lone pixels at its four tips."""
    across, down = _reach(x) ** 2, (LINE - y) ** 2
    return across + down[:, None] <= radius * radius + 0.6 * radius


def ellipse(x: float, y: float, half_w: float, half_h: float) -> np.ndarray:
    """The mask of an ellipse."""
    across, down = (_reach(x) / (half_w + 0.3)) ** 2, ((LINE - y) / (half_h + 0.3)) ** 2
    return np.round(across + down[:, None], 7) <= 1


def convex(points: Sequence[tuple[float, float]]) -> np.ndarray:
    """The mask of a convex polygon, corners in either turning sense."""
    middle = sum(x for x, _ in points) / len(points)
    across, down = span(middle), ROWS
    inside_left = np.ones((SIZE, SIZE), dtype=bool)
    inside_right = inside_left.copy()
    for (x0, y0), (x1, y1) in zip(points, [*points[1:], points[0]], strict=True):
        side = (x1 - x0) * (down - y0) - (y1 - y0) * (across - (x0 - middle))
        inside_left &= np.round(side, 6) >= 0
        inside_right &= np.round(side, 6) <= 0
    return inside_left | inside_right
