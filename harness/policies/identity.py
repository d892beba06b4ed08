"""Is this the same Python function as before? What can be told of a policy without a fingerprint.

A checkpoint has a fingerprint; a function has only its code and what it refers to: closure,
defaults, globals, and from there on arrays, containers and objects. All that can be followed is
hashed, so an edited function or other weights are noticed. What a function reads when it is called,
from a file or a clock, is not, so this never counts as verified.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sysconfig
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_OURS = ("envs", "protocols", "harness", "reference_agents")
_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
_DEEPEST = 100  # levels of containers and objects; whatever lies deeper counts by its type
# Whether two of these are one object depends on how Python loaded the code, so it says nothing.
_BY_VALUE = (tuple, frozenset, types.CodeType)


def code_digest(*parts: Any) -> str:
    """Return the sha256 over functions and data, and over what they refer to."""
    walk = _Walk()
    for part in parts:
        walk.add(part)
    return walk.summary.hexdigest()


class _Walk:
    """Feeds everything that can be reached from a value into one hash, each object once."""

    def __init__(self) -> None:
        self.summary = hashlib.sha256()
        self.met: dict[int, tuple[int, Any]] = {}  # id -> place; the object, so that it lives on
        self.depth = 0

    def say(self, text: str) -> None:
        self.summary.update(f"{len(text)}:{text}".encode())

    def add(self, value: Any) -> None:
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self.say(f"{type(value).__name__} {value!r}")
            return
        if not isinstance(value, _BY_VALUE):
            if id(value) in self.met:
                self.say(f"again {self.met[id(value)][0]}")
                return
            self.met[id(value)] = (len(self.met), value)
        self.say(_type_name(value))
        if self.depth >= _DEEPEST:
            return
        self.depth += 1
        try:
            self._inside(value)
        except Exception as error:  # foreign objects may raise at any touch
            self.say(f"unreadable {type(error).__name__}")
        self.depth -= 1

    def _inside(self, value: Any) -> None:
        array = _as_array(value)
        if array is not None:
            self.say(f"{array.dtype} {array.shape}")
            self.summary.update(np.ascontiguousarray(array).tobytes())
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.MethodType):
            self.add(value.__func__)
            self.add(value.__self__)
        elif isinstance(value, functools.partial):
            self._all(value.func, value.args, value.keywords)
        elif isinstance(value, Mapping):
            self._all(*(item for pair in value.items() for item in pair))
        elif isinstance(value, (list, tuple)):
            self._all(*value)
        elif isinstance(value, (set, frozenset)):
            self._all(*sorted(value, key=repr))
        elif isinstance(value, types.ModuleType):
            self._module(value)
        elif isinstance(value, type):
            self._class(value)
        elif callable(getattr(value, "__wrapped__", None)):  # jitted, cached
            self.add(value.__wrapped__)
        else:
            self.add(type(value))
            self._all(*sorted(_attributes(value).items()))

    def _all(self, *values: Any) -> None:
        self.say(str(len(values)))
        for value in values:
            self.add(value)

    def _code(self, code: types.CodeType) -> None:
        self.summary.update(code.co_code)
        self._all(code.co_names, code.co_varnames, code.co_consts)

    def _function(self, function: types.FunctionType) -> None:
        self.say(f"{function.__module__} {function.__qualname__}")
        self._all(function.__defaults__, function.__kwdefaults__)
        self._all(*(_content(cell) for cell in function.__closure__ or ()))
        if _is_installed(function.__globals__.get("__file__"), function.__module__):
            return
        self.add(function.__code__)
        known = function.__globals__
        names = sorted(_names(function.__code__) & known.keys())
        self._all(*((name, known[name]) for name in names))

    def _module(self, module: types.ModuleType) -> None:
        self.say(module.__name__)
        file = getattr(module, "__file__", None)
        if file and not _is_installed(file, module.__name__) and Path(file).is_file():
            self.summary.update(Path(file).read_bytes())

    def _class(self, kind: type) -> None:
        self.say(f"{kind.__module__} {kind.__qualname__}")
        functions = [one for one in vars(kind).values() if isinstance(one, types.FunctionType)]
        self._all(*functions)


def _attributes(value: Any) -> dict[str, Any]:
    """Return what an object holds; of a dataclass its fields, which is what it was made of."""
    held = getattr(value, "__dict__", {})
    if dataclasses.is_dataclass(value):
        held = {one.name: held[one.name] for one in dataclasses.fields(value) if one.name in held}
    return held


def _type_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _as_array(value: Any) -> np.ndarray | None:
    """Return the values of an array of any library, or None."""
    if isinstance(value, type) or not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return None
    try:
        if hasattr(value, "detach"):  # a tensor of PyTorch
            value = value.detach().cpu()
        array = np.asarray(value)
    except Exception:  # such as a key of JAX, which has its words inside
        return None
    return None if array.dtype.hasobject else array


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # still empty
        return None


def _names(code: types.CodeType) -> set[str]:
    """Return the global names in a function's code, and in the functions inside it."""
    inner = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return set(code.co_names).union(*(_names(one) for one in inner))


def _is_installed(file: str | None, module: str | None) -> bool:
    """Return whether code came with a package (whose version is compared) and not from the user."""
    if (module or "").split(".")[0] in _OURS:
        return True
    return file is not None and file.startswith(_INSTALLED)
