"""From what a user names to policies: checkpoints, folders of seeds, functions, built-ins."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from envs.errors import InputError, not_among
from harness.policies.applying import application
from harness.policies.checkpoint import read_manifest
from harness.policies.importing import attribute, own_attribute
from harness.policies.layout import LAST, step_at, steps_in, suggestion
from harness.policies.loading import Request, load_policy, trained_on
from harness.policies.training_rules import ON_HELDOUT
from harness.policies.trainings import Training, is_pattern, trainings_of
from harness.policy import BUILTINS, Policy, builtin, policy
from protocols import Suite

# Trained policies that come with the project, as module:attr of a function that returns their
# folder.
BUNDLED = {"ppo": "reference_agents.bundled:ppo", "rad": "reference_agents.bundled:rad"}


@dataclass(frozen=True)
class PolicySet:
    """The policies of one evaluation: per training configuration, one for each training seed.

    Functions and built-in scripts have no training configuration; they stand under the name None
    and serve every pair.
    """

    name: str
    by_training: Mapping[str | None, tuple[Policy, ...]]

    def for_training(self, name: str, digest: str) -> tuple[Policy, ...]:
        """Return the policies for a training side; its digest wins over its name."""
        if None in self.by_training:
            return self.by_training[None]
        for policies in self.by_training.values():
            if all(one.train.get("digest") == digest for one in policies):
                return policies
        if name in self.by_training:
            return self.by_training[name]
        if len(self.by_training) == 1:
            return next(iter(self.by_training.values()))
        raise InputError(
            not_among(f"{self.name} holds no policy trained on {name!r}", name, self.by_training)
        )

    def covered(self, suite: Suite) -> tuple[Suite, dict[str, str]]:
        """Return the pairs that these policies were trained for, and the training side of the rest.

        Where they were trained for none of them, all are kept: their verdict is `invalid`.
        """
        left_out = {}
        for pair in suite:
            sides = pair.training_sides.items()
            missing = [name for name, digest in sides if not self._trained_on(name, digest)]
            if missing:
                left_out[pair.name] = missing[0]
        if not left_out or len(left_out) == len(suite):
            return suite, {}
        kept = tuple(pair for pair in suite if pair.name not in left_out)
        return replace(suite, pairs=kept), left_out

    def _trained_on(self, name: str, digest: str) -> bool:
        """Return whether some policies were trained on a side, or do not say on which."""
        digests = [one.train.get("digest") for one in self]
        return digest in digests or None in digests or name in self.by_training

    def __iter__(self) -> Iterator[Policy]:
        return (one for policies in self.by_training.values() for one in policies)


def load_policies(
    source: Any,
    *,
    actions: str | None = None,
    env: Any,
    step: int | str = LAST,
    apply: Any = None,
    params_key: str | None = None,
    allow_extra: bool = False,
    sides: Mapping[str, str] | None = None,
    note: Callable[[str], None] = warnings.warn,
) -> PolicySet:
    """Return the policies that `source` names.

    Args:
        source: a checkpoint (a folder or file of weights, or a folder of its steps); a folder of
            `seed-<k>` checkpoints; a folder of such folders, one per training configuration; a
            pattern; an ONNX file; "ws://HOST:PORT"; "module:attr"; "file.py:attr"; "builtin:NAME";
            a function; a `Policy`; or a list of functions and policies, which are then the
            training seeds.
        actions: "sample" or "greedy", overriding what a checkpoint declares.
        env: the environment, for the built-in scripts and for weights without a manifest.
        step: which checkpoint of a training, where its folder holds several: a number or "last".
        apply: the code that weights belong to (see `harness.policies.applying`).
        params_key: where in a checkpoint the parameters are, "a/b"; "." the whole.
        allow_extra: ignore leaves that the policy does not expect.
        sides: the training configurations that policies are needed for, name -> digest. In a folder
            with checkpoints for some of them, the others are not opened.
        note: told what is passed over.

    Raises:
        InputError: nothing there, or not what it claims to be.
    """
    if isinstance(source, PolicySet):
        return source
    named = application(apply) if apply is not None else None
    request = Request(env, note, actions, step, named, params_key, allow_extra, sides)
    if isinstance(source, (str, Path)):
        found = _from_text(str(source), request)
    else:
        _refuse_options(request)
        found = _from_objects(source)
    for policies in found.by_training.values():
        _refuse_repeated_seeds(found.name, policies)
    return found


def _from_text(text: str, request: Request) -> PolicySet:
    prefix, colon, rest = text.rpartition(":")
    if prefix == "builtin":
        if rest in BUNDLED:
            return _from_places(rest, trainings_of(place_of(text)), request)
        if rest not in BUILTINS:
            raise InputError(not_among(f"no built-in policy {rest!r}", rest, BUILTINS))
        _refuse_options(request)
        return PolicySet(rest, {None: (builtin(rest, request.env),)})
    if text.startswith(("ws://", "wss://")):
        from harness.policies.remote import connect

        _refuse_options(request)
        return PolicySet(text, _from_objects(connect(text, actions=request.actions)).by_training)
    path = Path(text).expanduser()
    if path.suffix == ".onnx":
        from harness.policies.onnx import onnx_policy

        _refuse_options(request)
        net = onnx_policy(path, request.env, actions=request.actions or "greedy")
        return PolicySet(path.name, _from_objects(net).by_training)
    if path.exists():
        return _from_places(path.resolve().name, trainings_of(text), request)
    if colon and rest.isidentifier():
        if request.actions is not None:
            raise InputError("--actions is for checkpoints; a function decides for itself")
        _refuse_options(request)
        return PolicySet(text, _from_objects(attribute(text)).by_training)
    if is_pattern(text):
        return _from_places(text, trainings_of(text), request)
    raise InputError(_nothing_there(path))


def _refuse_options(request: Request) -> None:
    """What is said about reading checkpoints has no meaning for functions and scripts."""
    options = {
        "--apply": request.apply,
        "--params-key": request.params_key,
        "--allow-extra": request.allow_extra,
    }
    for option, given in options.items():
        if given:
            raise InputError(f"{option} is for checkpoints; this policy is none")


def _nothing_there(path: Path) -> str:
    return (
        f"no policy {str(path)!r}{suggestion(path)} (give a checkpoint, a pattern, net.onnx, "
        f"ws://HOST:PORT, module:attr, file.py:attr, or builtin:{'|'.join(BUILTINS)})"
    )


# ------------------------------------------------------------------------------------- folders


def _from_places(name: str, trainings: Sequence[Training], request: Request) -> PolicySet:
    groups: dict[str | None, list[Policy]] = {}
    for training in _needed(trainings, request.sides):
        one = load_policy(training, request, name)
        if one.origin.get("checkpoint_rule") == ON_HELDOUT:
            raise InputError(
                f"{training.place}: chosen by its held-out scores, says its manifest "
                f"({ON_HELDOUT}): an upper bound, never evidence of generalization"
            )
        groups.setdefault(one.train.get("name") or training.configuration, []).append(one)
    ordered = {
        group: tuple(sorted(_numbered(policies), key=lambda one: one.seed))
        for group, policies in groups.items()
    }
    return PolicySet(name, ordered)


def _needed(
    trainings: Sequence[Training], sides: Mapping[str, str] | None
) -> Sequence[Training]:  # fmt: skip
    """Leave out, unopened, what was trained for none of the sides; nothing, if that were all."""
    if sides is None:
        return trainings
    names, digests = set(sides), {None, *sides.values()}
    needed = []
    for training in trainings:
        train = trained_on(training)
        name = train.get("name") or training.configuration
        if name in names or train.get("digest") in digests:
            needed.append(training)
    return needed or trainings


def _numbered(policies: Sequence[Policy]) -> list[Policy]:
    """Give policies whose seed nothing tells their position."""
    return [
        one if one.seed is not None else replace(one, seed=position)
        for position, one in enumerate(policies)
    ]


def _steps_of(place: Path) -> set[int | None]:
    """Return the steps of one training; a lone checkpoint has what its manifest says."""
    alone = step_at(place)
    if alone is None:
        return {one.number for one in steps_in(place) if one.problem is None}
    return {read_manifest(place).get("steps") if alone.form == "policy" else alone.number}


def place_of(text: str) -> str:
    """Return where the checkpoints lie that a text names: itself, or the folder of a built-in."""
    prefix, _, name = text.rpartition(":")
    bundled = prefix == "builtin" and name in BUNDLED
    return str(own_attribute(BUNDLED[name])()) if bundled else text


def checkpoint_steps(source: str, sides: Mapping[str, str] | None = None) -> list[int]:
    """Return the steps at which every training in a folder (or "builtin:ppo") has a checkpoint.

    `sides` as for `load_policies`: what is not needed for them does not count.

    Raises:
        InputError: not a folder of checkpoints, or no step that all of them have.
    """
    root = place_of(source)
    if not Path(root).expanduser().exists() and not is_pattern(root):
        raise InputError(_nothing_there(Path(source)))
    needed = _needed(trainings_of(root), sides)
    trainings = [_steps_of(training.place) - {None} for training in needed]
    shared = sorted(set.intersection(*trainings)) if trainings else []
    if not shared:
        raise InputError(f"{source}: no step at which every training has a checkpoint")
    return shared


def _refuse_repeated_seeds(name: str, policies: Sequence[Policy]) -> None:
    seeds = [one.seed for one in policies]
    repeated = next((seed for seed in seeds if seeds.count(seed) > 1), None)
    if repeated is not None:
        raise InputError(f"{name}: two policies have the training seed {repeated}")


# ------------------------------------------------------------------------------------- objects


def _from_objects(source: Any) -> PolicySet:
    many = source if isinstance(source, (list, tuple)) else [source]
    if not many:
        raise InputError("an empty list holds no policy")
    placed = _numbered([policy(one) for one in many])
    names = {one.train.get("name") for one in placed}
    label = placed[0].name
    if names == {None}:
        return PolicySet(label, {None: tuple(placed)})
    groups = {
        name: tuple(one for one in placed if one.train.get("name") == name)
        for name in sorted(names, key=str)
    }
    return PolicySet(label, groups)
