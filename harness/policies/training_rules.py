"""Rules of measurement that depend on how the policies were trained, as far as manifests say it.

```
one algorithm    trainings differ in their seed and in nothing else, those on a widened side too
seeds            how many: under three there is no verdict, under ten the noise floor is rough
all cells        every seed is played on every side; a seed that is missing is refused
episodes         per side and seed: at least twenty
checkpoint rule  the checkpoint of every seed was chosen in the same way, and not on held-out scores
training side    the policies were trained on the training side, and on nothing else
```

A rule reads "verified", "unverified" where no manifest tells, or what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from envs.errors import InputError

VERIFIED, UNVERIFIED = "verified", "unverified"
FEWEST_SEEDS, ENOUGH_SEEDS, ENOUGH_EPISODES = 3, 10, 20
ON_HELDOUT = "best-on-heldout"

Facts = Mapping[str, Any]  # of one policy, as a report keeps them


def rules_of(
    policies: Sequence[Facts], training: str, episodes: int, widened: Sequence[Facts] = ()
) -> dict[str, str]:
    """Return rule -> "verified", "unverified" or what is wrong, for the policies of one pair.

    Args:
        policies: their facts, one per training seed.
        training: the outcome of the check of their training side.
        episodes: per side and training seed.
        widened: facts of the policies that were trained on the pair's widened side, if it has one.
    """
    return {
        "one algorithm": _one_algorithm([*policies, *widened]),
        "seeds": _seeds(len(policies)),
        "all cells": VERIFIED,
        "episodes": VERIFIED if episodes >= ENOUGH_EPISODES else f"only {episodes}",
        "checkpoint rule": _checkpoint_rule(policies),
        "training side": training,
    }


def broken_rules(rules: Mapping[str, str]) -> list[str]:
    """Return what makes a pair's numbers unreadable; too few seeds or episodes only limit them."""
    decisive = ("one algorithm", "checkpoint rule", "training side")
    return [rules[name] for name in decisive if rules[name] not in (VERIFIED, UNVERIFIED)]


def _seeds(count: int) -> str:
    if count < FEWEST_SEEDS:
        return f"insufficient: {count}"
    return VERIFIED if count >= ENOUGH_SEEDS else f"rough noise floor: {count}"


def _one_algorithm(policies: Sequence[Facts]) -> str:
    known = [_origin(one).get("algorithm") for one in policies]
    if any(algorithm is None for algorithm in known):
        return UNVERIFIED
    first, settings = policies[0], dict(_flat(known[0]))
    for one, algorithm in zip(policies[1:], known[1:], strict=True):
        other = dict(_flat(algorithm))
        differing = sorted(key for key in settings | other if settings.get(key) != other.get(key))
        if differing:
            key = differing[0]
            more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
            return (
                f"{_label(first)} and {_label(one)} were not trained alike: {key} is "
                f"{settings.get(key)} and {other.get(key)}{more}"
            )
    return VERIFIED


def _label(one: Facts) -> str:
    training = one.get("training")
    return f"seed {one['seed']}" + (f" of {training}" if training else "")


def _checkpoint_rule(policies: Sequence[Facts]) -> str:
    chosen: dict[str | None, list[int]] = {}
    for one in policies:
        chosen.setdefault(_origin(one).get("checkpoint_rule"), []).append(one["seed"])
    if ON_HELDOUT in chosen:
        return f"seed {chosen[ON_HELDOUT][0]} was chosen by its held-out scores: an upper bound"
    named = {rule: seeds for rule, seeds in chosen.items() if rule is not None}
    if len(named) > 1:
        listed = "; ".join(f"{rule}: seeds {_listed(seeds)}" for rule, seeds in named.items())
        return f"the checkpoints were chosen by different rules ({listed})"
    steps = {one["steps"] for one in policies}
    if "fixed" in named and len(steps) > 1:
        return f"the step was fixed, yet the checkpoints are of steps {_listed(sorted(steps))}"
    return UNVERIFIED if None in chosen else VERIFIED


def _origin(one: Facts) -> Mapping[str, Any]:
    return one.get("origin") or {}


def _flat(value: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield path, value
        return
    for key, inner in value.items():
        yield from _flat(inner, f"{path}.{key}" if path else str(key))


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


def refuse_missing_seeds(trainings: Mapping[str, Iterable[int]]) -> str | None:
    """Refuse trainings with a hole in their seeds: a seed that is missing would be dropped.

    A training may have fewer seeds than another, as long as they are the first of them.

    Args:
        trainings: training configuration -> its seeds.

    Returns:
        One line on trainings that have fewer seeds, or None.

    Raises:
        InputError: naming who has which.
    """
    seeds = {name: set(some) for name, some in trainings.items()}
    every = sorted(set().union(*seeds.values()))
    holes = {
        name: [one for one in every if one not in some and one < max(some)]
        for name, some in seeds.items()
    }
    if any(holes.values()):
        listed = "; ".join(
            f"{name} has no seed {_listed(some)}" for name, some in holes.items() if some
        )
        raise InputError(
            f"the trainings do not have the same seeds: {listed} (in all: {_listed(every)})"
        )
    fewer = {name: len(some) for name, some in seeds.items() if len(some) < len(every)}
    listed = ", ".join(f"{name} ({number})" for name, number in fewer.items())
    return (
        f"fewer training seeds than the other trainings ({len(every)}): {listed}" if fewer else None
    )
