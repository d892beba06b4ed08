"""From what a user names to policies: checkpoints, folders of seeds, functions, built-ins."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from envs.errors import InputError, nearest, not_among
from harness.checkpoint import is_checkpoint, load_checkpoint, read_manifest
from harness.policy import BUILTINS, Policy, builtin, from_checkpoint, policy

# Trained policies that come with the project, as module:attr of a function that returns their
# folder.
BUNDLED = {"ppo": "reference_agents.bundled:ppo"}
_SEED_FOLDER = re.compile(r"seed-(\d+)$")
_STEP_FOLDER = re.compile(r"(?:(?!seed-)\w+[_-])?(\d+)$")  # 2000, step-2000, ppo_2000
LAST = "last"


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

    def __iter__(self) -> Iterator[Policy]:
        return (one for policies in self.by_training.values() for one in policies)


def load_policies(
    source: Any, *, actions: str | None = None, env: Any, step: int | str = LAST
) -> PolicySet:
    """Return the policies that `source` names.

    Args:
        source: a checkpoint folder; a folder of `seed-<k>` checkpoints; a folder of such folders,
            one per training configuration; "module:attr"; "file.py:attr"; "builtin:NAME"; a
            function; a `Policy`; or a list of functions and policies, which are then the training
            seeds.
        actions: "sample" or "greedy", overriding what a checkpoint declares.
        env: the environment, for the built-in scripts.
        step: which checkpoint of a training, where its folder holds several: a number or "last".

    Raises:
        InputError: nothing there, or not what it claims to be.
    """
    if isinstance(source, PolicySet):
        return source
    if isinstance(source, (str, Path)):
        found = _from_text(str(source), actions, env, step)
    else:
        found = _from_objects(source)
    for policies in found.by_training.values():
        _refuse_repeated_seeds(found.name, policies)
    return found


def _from_text(text: str, actions: str | None, env: Any, step: int | str) -> PolicySet:
    prefix, colon, rest = text.rpartition(":")
    if prefix == "builtin":
        if rest in BUNDLED:
            return _from_folder(rest, _attribute(BUNDLED[rest])(), actions, step)
        if rest not in BUILTINS:
            raise InputError(not_among(f"no built-in policy {rest!r}", rest, BUILTINS))
        return PolicySet(rest, {None: (builtin(rest, env),)})
    path = Path(text).expanduser()
    if path.is_dir():
        return _from_folder(path.resolve().name, path.resolve(), actions, step)
    if colon and rest.isidentifier():
        if actions is not None:
            raise InputError("--actions is for checkpoints; a function decides for itself")
        found = _from_objects(_attribute(text))
        return PolicySet(text, found.by_training)
    raise InputError(_nothing_there(path))


def _nothing_there(path: Path) -> str:
    parent = path.parent if path.parent.is_dir() else None
    neighbours = (
        sorted(entry.name for entry in parent.iterdir() if entry.is_dir()) if parent else []
    )
    close = nearest(path.name, neighbours)
    hint = f"; did you mean {str(path.with_name(close))!r}?" if close else ""
    return (
        f"no policy {str(path)!r}{hint} (give a checkpoint folder, module:attr, file.py:attr, "
        f"or builtin:{'|'.join(BUILTINS)})"
    )


# ------------------------------------------------------------------------------------- folders


def _from_folder(name: str, root: Path, actions: str | None, step: int | str) -> PolicySet:
    groups: dict[str | None, list[Policy]] = {}
    for folder, training in _checkpoint_folders(root):
        checkpoint = load_checkpoint(_at_step(folder, step))
        one = from_checkpoint(checkpoint, name, actions)
        groups.setdefault(one.train.get("name") or training, []).append(one)
    if not groups:
        raise InputError(
            f"{root} holds no checkpoint: expected manifest.json and params/, or seed-<k> folders"
        )
    ordered = {
        training: tuple(sorted(policies, key=lambda one: one.seed))
        for training, policies in groups.items()
    }
    return PolicySet(name, ordered)


def _checkpoint_folders(root: Path) -> list[tuple[Path, str | None]]:
    """Return (folder, training configuration by folder name) of every training under `root`."""
    if _is_training(root):
        training = root.parent.name if _SEED_FOLDER.search(root.name) else None
        return [(root, training)]
    seeds = [(folder, root.name) for folder in _seed_folders(root)]
    if seeds:
        return seeds
    inside = sorted(entry for entry in root.iterdir() if entry.is_dir())
    return [(folder, group.name) for group in inside for folder in _seed_folders(group)]


def _seed_folders(folder: Path) -> list[Path]:
    matches = [entry for entry in folder.iterdir() if _SEED_FOLDER.fullmatch(entry.name)]
    return [entry for entry in matches if _is_training(entry)]


def _is_training(folder: Path) -> bool:
    """Return whether a folder is a checkpoint, or holds the checkpoints of one training by step."""
    return is_checkpoint(folder) or bool(_steps_in(folder))


def _steps_in(folder: Path) -> dict[int, Path]:
    named = ((_STEP_FOLDER.fullmatch(entry.name), entry) for entry in folder.iterdir())
    return {int(match.group(1)): entry for match, entry in named if match and is_checkpoint(entry)}


def _steps_of(folder: Path) -> dict[int | None, Path]:
    """Return step -> checkpoint of one training; a lone checkpoint has what its manifest says."""
    if is_checkpoint(folder):
        return {read_manifest(folder).get("steps"): folder}
    return _steps_in(folder)


def _at_step(folder: Path, step: int | str) -> Path:
    if step == LAST and is_checkpoint(folder):
        return folder
    steps = _steps_of(folder)
    if step == LAST:
        return steps[max(steps)]
    if step not in steps:
        raise InputError(not_among(f"{folder} has no step {step}", step, sorted(steps, key=str)))
    return steps[step]


def checkpoint_steps(source: str) -> list[int]:
    """Return the steps at which every training in a folder (or "builtin:ppo") has a checkpoint.

    Raises:
        InputError: not a folder of checkpoints, or no step that all of them have.
    """
    prefix, _, name = source.rpartition(":")
    bundled = prefix == "builtin" and name in BUNDLED
    root = _attribute(BUNDLED[name])() if bundled else Path(source).expanduser().resolve()
    if not root.is_dir():
        raise InputError(_nothing_there(Path(source)))
    trainings = [set(_steps_of(folder)) - {None} for folder, _ in _checkpoint_folders(root)]
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
    made = [policy(one) for one in many]
    placed = [
        one if one.seed is not None else replace(one, seed=position)
        for position, one in enumerate(made)
    ]
    names = {one.train.get("name") for one in placed}
    label = placed[0].name
    if names == {None}:
        return PolicySet(label, {None: tuple(placed)})
    groups = {
        name: tuple(one for one in placed if one.train.get("name") == name)
        for name in sorted(names, key=str)
    }
    return PolicySet(label, groups)


def _attribute(text: str) -> Any:
    """Return what "module:attr" or "file.py:attr" names."""
    place, _, name = text.rpartition(":")
    module = _module_from_file(Path(place)) if place.endswith(".py") else _module(place)
    found: Any = getattr(module, name, None)
    if found is None:
        public = [entry for entry in vars(module) if not entry.startswith("_")]
        raise InputError(not_among(f"{place} has no {name!r}", name, public))
    return found


def _module(name: str) -> ModuleType:
    sys.path.insert(0, "")  # the working directory, as `python -m` has it
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.split(".")[0] and error.name != name:
            raise InputError(f"importing {name} failed: {error}") from error
        raise InputError(f"no module {name!r} can be imported from here") from None
    except Exception as error:
        raise InputError(f"importing {name} failed: {_described(error)}") from error
    finally:
        sys.path.remove("")


def _module_from_file(path: Path) -> ModuleType:
    path = path.expanduser().resolve()
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    spec = importlib.util.spec_from_file_location(f"policy_file_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"importing {path} failed: {_described(error)}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def _described(error: Exception) -> str:
    first = str(error).splitlines()[0] if str(error) else ""
    return f"{type(error).__name__}: {first}"
