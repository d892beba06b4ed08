"""Smooth random fields and profiles that repeat every picture width."""

import numpy as np

from envs.platformer.art.canvas import COLS, ROWS, SIZE, span


def sine(turns: np.ndarray | float) -> np.ndarray:
    """The sine of a number of full turns.

    Rounded, so that the last bits, which differ between processors, can never tip a threshold.
    """
    return np.round(np.sin(2 * np.pi * np.asarray(turns, dtype=float)), 9)


def _ease(share: np.ndarray) -> np.ndarray:
    """The smooth step that makes lattice cells meet without a crease."""
    return share * share * (3 - 2 * share)


def noise(rng: np.random.Generator, across: int, down: int) -> np.ndarray:
    """Value noise in [0, 1] on a lattice of `across` by `down` cells; wraps in both directions."""
    lattice = rng.random((down, across))
    y, x = ROWS * (down / SIZE), COLS * (across / SIZE)
    row, col = np.floor(y).astype(int), np.floor(x).astype(int)
    v, u = _ease(y - row), _ease(x - col)
    below, right = (row + 1) % down, (col + 1) % across
    top = lattice[row, col] * (1 - u) + lattice[row, right] * u
    bottom = lattice[below, col] * (1 - u) + lattice[below, right] * u
    return top * (1 - v) + bottom * v


def cloudy(rng: np.random.Generator, across: int, down: int, octaves: int = 4) -> np.ndarray:
    """Fractal noise stretched to fill [0, 1]."""
    total = np.zeros((SIZE, SIZE))
    for octave in range(octaves):
        total += noise(rng, across << octave, down << octave) / (1 << octave)
    return (total - total.min()) / (total.max() - total.min())


def profile(
    rng: np.random.Generator, waves: int, octaves: int = 4, gain: float = 0.5
) -> np.ndarray:
    """A ragged line in [0, 1], one value per column, that repeats every picture width."""
    total = np.zeros(SIZE)
    x = np.arange(SIZE)
    for octave in range(octaves):
        cells = min(waves << octave, SIZE)
        lattice = rng.random(cells)
        place = x * (cells / SIZE)
        left = np.floor(place).astype(int)
        share = _ease(place - left)
        total += gain**octave * (lattice[left] * (1 - share) + lattice[(left + 1) % cells] * share)
    return (total - total.min()) / (total.max() - total.min())


def swell(rng: np.random.Generator, low: int, high: int, count: int = 3) -> np.ndarray:
    """A soft rolling line in [0, 1]: a few sines of whole frequencies between low and high."""
    x = np.arange(SIZE) / SIZE
    total = np.zeros(SIZE)
    for _ in range(count):
        frequency = int(rng.integers(low, high + 1))
        total += sine(x * frequency + rng.random()) * (0.5 + rng.random()) / frequency
    return (total - total.min()) / (total.max() - total.min())


def cells(rng: np.random.Generator, across: int, down: int, squash: float = 1.0):
    """Nearest and second-nearest distances to jittered grid points, and the nearest's number.

    `squash` above one makes the cells wide and flat.
    """
    width, height = SIZE / across, SIZE / down
    distances = []
    for row in range(-1, down + 1):
        for col in range(across):
            x = (col + 0.15 + 0.7 * rng.random()) * width
            y = (row + 0.15 + 0.7 * rng.random()) * height
            distances.append(span(x) ** 2 + ((ROWS - y) * squash) ** 2)
    stack = np.round(np.sqrt(np.stack(distances)), 7)
    order = np.argsort(stack, axis=0, kind="stable")
    first = np.take_along_axis(stack, order[:1], 0)[0]
    second = np.take_along_axis(stack, order[1:2], 0)[0]
    return first, second, order[0]


def scatter(
    rng: np.random.Generator, count: int, gap: float, top: int, bottom: int
) -> list[tuple[int, int]]:
    """Up to `count` random places between two rows, no two closer than `gap`."""
    places: list[tuple[int, int]] = []
    for _ in range(count * 12):
        x, y = int(rng.integers(0, SIZE)), int(rng.integers(top, bottom))
        if all(
            min(abs(x - a), SIZE - abs(x - a)) ** 2 + (y - b) ** 2 >= gap * gap for a, b in places
        ):
            places.append((x, y))
        if len(places) == count:
            break
    return places


def spots(rng: np.random.Generator, count: int, jitter: float = 0.6) -> list[int]:
    """`count` columns spread around the circle, each moved by up to `jitter` of their spacing."""
    step = SIZE / count
    start = rng.random() * SIZE
    return [int(start + step * (k + jitter * (rng.random() - 0.5))) % SIZE for k in range(count)]
