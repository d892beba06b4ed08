"""The 128 backgrounds: sixteen kinds of eight members each, in a shuffled but fixed order."""

from collections.abc import Callable

import numpy as np

from envs.platformer.art.canvas import Canvas
from envs.platformer.art.scenes import (
    castle,
    cave,
    circuit,
    city,
    clouds,
    desert,
    factory,
    forest,
    hills,
    night,
    snow,
    space,
    sunset,
    tiles,
    underwater,
    waves,
)

SCENES: dict[str, Callable[[np.random.Generator, int], Canvas]] = {
    "castle": castle.draw,
    "cave": cave.draw,
    "circuit": circuit.draw,
    "city": city.draw,
    "clouds": clouds.draw,
    "desert": desert.draw,
    "factory": factory.draw,
    "forest": forest.draw,
    "hills": hills.draw,
    "night": night.draw,
    "snow": snow.draw,
    "space": space.draw,
    "sunset": sunset.draw,
    "tiles": tiles.draw,
    "underwater": underwater.draw,
    "waves": waves.draw,
}
MEMBERS = 8
COUNT = MEMBERS * len(SCENES)
ORDER_SEED = 4542


def order() -> list[tuple[str, int]]:
    """Kind and member of every background, first to last.

    Each run of sixteen holds every kind once, and no kind follows itself, so that neighbours in
    number never look alike and any short list of backgrounds is varied.
    """
    rng = np.random.default_rng(ORDER_SEED)
    kinds = sorted(SCENES)
    members = {kind: rng.permutation(MEMBERS).tolist() for kind in kinds}
    places: list[tuple[str, int]] = []
    for block in range(MEMBERS):
        shuffled = rng.permutation(kinds).tolist()
        if places and shuffled[0] == places[-1][0]:
            shuffled = [*shuffled[1:], shuffled[0]]
        places += [(kind, members[kind][block]) for kind in shuffled]
    return places


def name(number: int) -> str:
    """The file name of a background, numbered from one."""
    return f"bg-{number:03d}.png"


def background(number: int) -> np.ndarray:
    """Draw one background, numbered from one: 128 by 128 by 3 bytes, tileable in x."""
    if not 1 <= number <= COUNT:
        raise ValueError(f"backgrounds run from 1 to {COUNT}, got {number}")
    kind, member = order()[number - 1]
    # The number alone seeds the picture, so any one can be redrawn without the others.
    return SCENES[kind](np.random.default_rng(number), member).pixels


def backgrounds() -> dict[str, np.ndarray]:
    """All backgrounds by file name."""
    return {name(number): background(number) for number in range(1, COUNT + 1)}
