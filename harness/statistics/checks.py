"""Refusals in one line: each names the input and the valid choices."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

SCOPES = ("algorithm", "checkpoint")
METHODS = ("bootstrap-t-scaled", "percentile", "t")
DEFAULT_METHOD = "bootstrap-t-scaled"


def choose(name: str, value: object, choices: Sequence[str]) -> str:
    """Return the value if it is one of the choices, otherwise raise ValueError."""
    if isinstance(value, str) and value in choices:
        return value
    near = get_close_matches(str(value), choices, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    raise ValueError(f"{name}: {value!r} is unknown{hint} ({', '.join(choices)})")


def check_level(level: float) -> float:
    """Return a confidence level, which must lie strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level: {level!r} is not a confidence level; give one such as 0.95")
    return float(level)


def check_seeds(seeds: int, least: int, what: str) -> None:
    """Raise ValueError where there are too few seeds for what is asked."""
    if seeds < least:
        raise ValueError(f"{what}: needs at least {least} training seeds, got {seeds}")
