"""Which configurations are trained on, and that none of them is there only to be held out."""

from __future__ import annotations

from collections.abc import Iterable

from envs.errors import InputError
from protocols import Suite, load_suite, load_train_config, suite_names

DEFAULT = "base"


def configurations(name: str | None, suite: str | None) -> list[str]:
    """Return the training configurations that are asked for: one by name, or all of a suite.

    Raises:
        InputError: an unknown name, or a configuration that is only ever held out.
    """
    if suite is not None:
        return list(_trained_on([load_suite(suite)]))
    name = name or DEFAULT
    load_train_config(name)  # an unknown name is known at once, before the suites are read
    refuse_held_out(name, [load_suite(one) for one in suite_names()])
    return [name]


def refuse_held_out(name: str, suites: Iterable[Suite]) -> None:
    """Refuse to train on a side that the suites hold out and never train on.

    One pair may hold out what another is trained on: each policy is evaluated on the pairs of its
    own training side only, and those are proved to be disjoint from it.
    """
    digest = load_train_config(name).digest
    if digest in _trained_on(suites).values():
        return
    for suite in suites:
        for pair in suite:
            if any(side.digest == digest for side in pair.heldout.values()):
                raise InputError(f"{name} is held out by pair {pair.name} of suite {suite.name}")


def _trained_on(suites: Iterable[Suite]) -> dict[str, str]:
    """Return training configuration -> digest, in the order of the pairs."""
    sides = {}
    for pair in (pair for suite in suites for pair in suite):
        sides.setdefault(pair.train_name, pair.train.digest)
        if pair.wide is not None:
            sides.setdefault(pair.wide_name, pair.wide.digest)
    return sides
