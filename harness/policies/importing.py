"""Importing what a user names: "module:attr" or "file.py:attr".

While that happens the user's own folder comes first, and packages in it that share a name with ours
(`envs` is a common one) are the ones it sees; afterwards ours are back in their place.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from envs.errors import InputError, not_among
from harness import _Siblings as siblings


def attribute(text: str) -> Any:
    """Return what "module:attr" or "file.py:attr" names.

    Raises:
        InputError: there is no such file, module or attribute, or importing it failed.
    """
    return _named(module_of(text), text)


def own_attribute(text: str) -> Any:
    """Return what "module:attr" names in this project, whatever lies where the user stands.

    Raises:
        InputError: there is no such module or attribute.
    """
    try:
        module = importlib.import_module(text.rpartition(":")[0])
    except ImportError as error:
        raise InputError(f"nothing of ours is called {text!r} ({error})") from None
    return _named(module, text)


def _named(module: ModuleType, text: str) -> Any:
    place, _, name = text.rpartition(":")
    found = getattr(module, name, None)
    if found is None:
        public = [entry for entry in vars(module) if not entry.startswith("_")]
        raise InputError(not_among(f"{place} has no {name!r}", name, public))
    return found


def module_of(text: str) -> ModuleType:
    """Return the module of "module:attr" or "file.py:attr"; a file is run once."""
    place = text.rpartition(":")[0]
    if not place.endswith(".py"):
        return _module(place)
    path = Path(place).expanduser().resolve()
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    changed = path.stat().st_mtime_ns
    name = f"policy_file_{path.stem}_{zlib.crc32(str((path, changed)).encode()):08x}"
    return sys.modules.get(name) or _module_from_file(path, name)


def _module(name: str) -> ModuleType:
    try:
        with _own_packages_first([Path.cwd()]):  # as `python -m` has it
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.split(".")[0] and error.name != name:
            raise InputError(f"importing {name} failed: {error}") from error
        raise InputError(f"no module {name!r} can be imported from here") from None
    except Exception as error:
        raise InputError(f"importing {name} failed: {_described(error)}") from error


def _module_from_file(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses, and so Flax modules, look themselves up there
    try:
        with _own_packages_first([path.parent, Path.cwd()]):
            spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"importing {path} failed: {_described(error)}") from error
    return module


@contextlib.contextmanager
def _own_packages_first(folders: Sequence[Path]) -> Iterator[None]:
    """Put folders at the head of the import path, and let their packages win over ours."""
    shadowed = {
        name
        for name in (*siblings.names, "harness")
        for folder in folders
        if folder != siblings.root and _holds(folder, name)
    }
    ours = _taken_out(shadowed)
    sys.path[:0] = [str(folder) for folder in folders]
    siblings.hidden = siblings.hidden | shadowed
    try:
        yield
    finally:
        siblings.hidden = siblings.hidden - shadowed
        for folder in folders:
            with contextlib.suppress(ValueError):  # the user's code changed the path
                sys.path.remove(str(folder))
        _taken_out(shadowed)
        sys.modules.update(ours)


def _holds(folder: Path, name: str) -> bool:
    return (folder / f"{name}.py").is_file() or any((folder / name).glob("*.py"))


def _taken_out(names: set[str]) -> dict[str, ModuleType]:
    """Remove packages and their modules from the imported ones and return them."""
    found = [name for name in sys.modules if name.partition(".")[0] in names]
    return {name: sys.modules.pop(name) for name in found}


def _described(error: Exception) -> str:
    first = str(error).splitlines()[0] if str(error) else ""
    return f"{type(error).__name__}: {first}"
