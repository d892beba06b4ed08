"""Which configurations are trained on, and that none of them is there only to be held out."""

from __future__ import annotations

from collections.abc import Sequence

from envs.errors import InputError
from protocols import Suite, load_suite, load_train_config, suite_names

DEFAULT = "base"


def configurations(name: str | None, suite: str | None) -> list[str]:
    """Return the training configurations that are asked for: one by name, or all of a suite.

    Raises:
        InputError: an unknown name, or a configuration that is only ever held out.
    """
    if suite is not None:
        return list(load_suite(suite).training_sides)
    name = name or DEFAULT
    load_train_config(name)  # an unknown name is known at once, before the suites are read
    refuse_held_out(name, [load_suite(one) for one in suite_names()])
    return [name]


def refuse_held_out(name: str, suites: Sequence[Suite]) -> None:
    """Refuse to train on a side that the suites hold out and never train on.

    One pair may hold out what another is trained on: each policy is evaluated on the pairs of its
    own training side only, and those are proved to be disjoint from it.
    """
    digest = load_train_config(name).digest
    if any(digest in suite.training_sides.values() for suite in suites):
        return
    for suite in suites:
        for pair in suite:
            if any(side.digest == digest for side in pair.heldout.values()):
                raise InputError(f"{name} is held out by pair {pair.name} of suite {suite.name}")
