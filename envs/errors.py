"""Errors that a user can cause, and the one-line messages they deserve."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Bad input. Its text is one line that names the input, the choices and the nearest match."""


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """Return the choice a misspelt `name` most likely meant, or None."""
    found = difflib.get_close_matches(str(name), list(choices), n=1, cutoff=0.5)
    return found[0] if found else None


def not_among(problem: str, name: object, choices: Iterable[str], *, most: int = 40) -> str:
    """Finish a message: `problem`, the nearest match, then the valid choices.

    Example:
        >>> not_among("no suite 'hrad'", "hrad", ["smoke", "hard"])
        "no suite 'hrad'; did you mean 'hard'? (smoke, hard)"
    """
    choices = [str(choice) for choice in choices]
    close = nearest(str(name), choices)
    hint = f"; did you mean {close!r}?" if close else "; choose one of"
    shown = ", ".join(choices[:most]) + (", …" if len(choices) > most else "")
    return f"{problem}{hint} ({shown})"
