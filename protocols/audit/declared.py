"""What a pair claims, proved from its declarations when it is loaded; nothing is built or run."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from envs import InputError, PlatformerConfig, PuzzleConfig, parameters
from envs.errors import not_among
from envs.parameters import VISUAL
from protocols.audit.support import contested, held_out, share_inside, unseen_sides
from protocols.axes import AXES, covers
from protocols.differences import declares, difference
from protocols.pair import Pair

Changed = dict[str, tuple[Any, Any]]


def audit(pair: Pair) -> None:
    """Check every held-out side of a pair.

    A user's own environment declares no axes: there the axis is taken at its word, and where a
    configuration declares nothing at all, so is the support (`audit_rollouts` says which).

    Raises:
        InputError: unknown axis; a parameter outside the axis differs (unless the pair is marked
            as confounded), or it is marked and one parameter differs; nothing differs (or something
            does, in a null pair); the held-out side can produce what a training side
            produces (in a sweep: every dose can be produced in training); doses that do not
            increase; a wide training side that does not contain the narrow one.
    """
    where = f"pair {pair.name}"
    if is_bundled(pair.train) and pair.axis not in AXES:
        raise InputError(not_among(f"{where}: no axis {pair.axis!r}", pair.axis, AXES))
    if pair.kind == "split" and len(pair.heldout) < 2:
        raise InputError(f"{where}: a split has two held-out sides or more")
    if pair.kind == "sweep":
        _audit_sweep(pair)
        return
    for side in pair.heldout:
        _audit_side(pair, side, f"{where}, side {side}" if len(pair.heldout) > 1 else where)
    if pair.kind == "widening":
        _audit_widening(pair)


def _audit_side(pair: Pair, side: str, place: str) -> None:
    found = pair.difference(side)
    if pair.kind == "null":
        if found:
            raise InputError(f"{place}: a null pair has equal sides, but {_first(found)}")
        return
    if not found:
        raise InputError(f"{place}: inert, the held-out side behaves like the training side")
    (_check_confounded if pair.confounded else _check_axis)(pair, place, found)
    if not held_out(pair.train, pair.heldout[side]):
        shared = contested(pair.train, pair.heldout[side]) or found
        raise InputError(
            f"{place}: not held out, the training side can produce it too ({_first(shared)})"
        )


def is_bundled(config: Any) -> bool:
    """Return whether a configuration is of a bundled environment, whose axes are known."""
    return isinstance(config, (PlatformerConfig, PuzzleConfig))


def _check_axis(pair: Pair, place: str, found: Changed) -> None:
    for path in found if is_bundled(pair.train) else ():
        if not covers(pair.axis, path):
            raise InputError(f"{place}: {path} differs, which is not on the axis {pair.axis}")


def _check_confounded(pair: Pair, place: str, found: Changed) -> None:
    bundled = is_bundled(pair.train)
    inside = [path for path in found if not bundled or covers(pair.axis, path)]
    if not inside:
        raise InputError(f"{place}: nothing on the axis {pair.axis} differs ({_first(found)})")
    causes = independent(found) or list(found)
    if len(inside) == len(found) and len(causes) < 2:
        raise InputError(f"{place}: marked as confounded, but only {causes[0]} differs")


def independent(found: Changed) -> list[str]:
    """Return the parameters that differ by themselves: one that matters on one side only follows
    from the switch it hangs on."""
    return [path for path, values in found.items() if None not in values]


def _audit_sweep(pair: Pair) -> None:
    doses = list(pair.doses.values())
    if len(pair.heldout) < 2 or list(pair.doses) != list(pair.heldout):
        raise InputError(f"pair {pair.name}: a sweep has two doses or more, one for each side")
    if any(later <= before for before, later in pairwise(doses)):
        raise InputError(f"pair {pair.name}: doses must increase, got {doses}")
    for side in pair.heldout:
        _check_axis(pair, f"pair {pair.name}, dose {side}", pair.difference(side))
    if not unseen_sides(pair):
        raise InputError(
            f"pair {pair.name}: not held out, the training side can produce every dose"
        )


def _audit_widening(pair: Pair) -> None:
    where, widened = f"pair {pair.name}", pair.widened
    if widened is None:
        raise InputError(f"{where}: a widening names its wide training side")
    if not difference(pair.train, pair.wide):
        raise InputError(f"{where}: the wide training side behaves like the narrow one")
    place = f"{where}, wide side {pair.wide_name}"
    _check_axis(pair, place, difference(pair.train, pair.wide))
    for path, (left, right) in contested(pair.train, pair.wide).items():
        if declares(pair.train) and share_inside(right, left) < 1:
            raise InputError(
                f"{where}: the wide training side does not contain the narrow one "
                f"({path} is {left} in the narrow, {right} in the wide side)"
            )
    try:
        audit(widened)
    except InputError as error:
        raise InputError(
            f"{where}: before the wide training side {pair.wide_name}: {error}"
        ) from None


def visual_only(train: Any, heldout: Any) -> bool | None:
    """Return whether all that differs is declared to change pictures only; None: undeclared.

    Along such a difference the same actions must bring the same latent states and rewards.
    """
    if not isinstance(train, parameters.Group):
        return None
    roles: dict[str, set[str]] = {}  # of every parameter, and of every group
    for path, spec, _ in parameters.walk(train):
        roles[path] = {spec.role}
        roles.setdefault(_group(path), set()).add(spec.role)
    # What is no parameter, such as the content of a pool, stands for its group.
    found = difference(train, heldout)
    return all(roles.get(path, roles.get(_group(path))) == {VISUAL} for path in found)


def _group(path: str) -> str:
    return path.rpartition(".")[0] + "."


def _first(found: Changed) -> str:
    path, (left, right) = next(iter(found.items()))
    return f"{path} is {left} in training, {right} held out"
