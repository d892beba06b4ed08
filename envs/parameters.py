"""One declaration per parameter: default, range, unit, meaning, and where it matters.

A configuration is a tree of frozen dataclasses whose fields are made by `number`, `integer`,
`flag`, `choice`, `colors`, `names`, `integers`, `assets` or `folder`. Validation, loading, the
digest, the printed reference table and the tests all read those declarations; nothing about a
parameter is written twice.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from envs.errors import InputError, not_among
from envs.palettes import PALETTES

VISUAL, CONTROL, SCREEN = "visual", "control", "screen"
NONZERO = "nonzero"  # a context value: the other parameter differs from 0
EMPTY, NONEMPTY = "empty", "nonempty"  # context values: the other parameter is a pool like that


@dataclass(frozen=True)
class Uniform:
    """A range: one value is drawn uniformly from it in every episode."""

    low: float
    high: float


@dataclass(frozen=True)
class Parameter:
    """What is known about one parameter (it lives in the metadata of its dataclass field)."""

    kind: str  # number, integer, flag, choice, colors, names, integers, assets or folder
    doc: str  # one sentence
    role: str = VISUAL  # visual | control | screen
    static: bool = False  # True: it changes the compiled program; False: a traced number
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()  # for choice and names
    palette: str = ""  # for colors: a key of PALETTES
    optional: bool = False  # for pools: may be empty
    check: Callable[[str, str], str] | None = None  # for assets and folder, see `assets`
    # Where it matters: (path, allowed values, NONZERO, EMPTY or NONEMPTY), all of which must hold.
    # "this|that" as a path means that it may hold for either.
    context: tuple[tuple[str, Any], ...] = ()

    @property
    def contexts(self) -> tuple[tuple[tuple[str, ...], Any], ...]:
        """The context with its alternatives apart: ((paths, allowed), ...)."""
        return tuple((tuple(path.split("|")), allowed) for path, allowed in self.context)


def _field(default: Any, context: Mapping[str, Any] | None, **kwargs: Any) -> Any:
    spec = Parameter(context=tuple((context or {}).items()), **kwargs)
    return dataclasses.field(default=default, metadata={"parameter": spec})


def number(
    default: float, doc: str, *, low=None, high=None, unit="", context=None, **kwargs
) -> Any:
    """Declare a real number; a range `{uniform: [a, b]}` is allowed unless it is static."""
    bounds = {"low": low, "high": high, "unit": unit}
    return _field(float(default), context, kind="number", doc=doc, **bounds, **kwargs)


def integer(default: int, doc: str, *, low=None, high=None, unit="", context=None, **kwargs) -> Any:
    """Declare a whole number."""
    bounds = {"low": low, "high": high, "unit": unit}
    return _field(int(default), context, kind="integer", doc=doc, **bounds, **kwargs)


def flag(default: bool, doc: str, *, context=None, static=True, **kwargs) -> Any:
    """Declare a switch. Most switches turn drawing stages on and off, so they are static."""
    return _field(bool(default), context, kind="flag", doc=doc, static=static, **kwargs)


def choice(default: str, choices: tuple[str, ...], doc: str, *, context=None, **kwargs) -> Any:
    """Declare one name out of a fixed list (static)."""
    return _field(default, context, kind="choice", doc=doc, choices=choices, static=True, **kwargs)


def colors(default: tuple, palette: str, doc: str, *, context=None, **kwargs) -> Any:
    """Declare a pool of colours: names of one palette or RGB triples, one drawn per episode."""
    return _field(default, context, kind="colors", doc=doc, palette=palette, **kwargs)


def names(default: tuple, choices: tuple[str, ...], doc: str, *, context=None, **kwargs) -> Any:
    """Declare a pool of names out of a fixed list, one drawn per episode."""
    return _field(default, context, kind="names", doc=doc, choices=choices, **kwargs)


def integers(default: tuple, doc: str, *, low=None, high=None, unit="", context=None, **kw) -> Any:
    """Declare a list of whole numbers, which may be empty."""
    bounds = {"low": low, "high": high, "unit": unit}
    return _field(default, context, kind="integers", doc=doc, optional=True, **bounds, **kw)


def assets(default: tuple, check: Callable[[str, str], str], doc: str, *, context=None) -> Any:
    """Declare a pool of bundled names or paths of the user's own, which may be empty.

    `check(parameter path, member)` returns a member in its normal form or raises InputError.
    """
    return _field(default, context, kind="assets", doc=doc, check=check, optional=True)


def folder(default: str, check: Callable[[str, str], str], doc: str, *, context=None) -> Any:
    """Declare a folder of pictures: "bundled", or a path. `check` as for `assets`."""
    return _field(default, context, kind="folder", doc=doc, check=check)


def spec_of(field: dataclasses.Field) -> Parameter | None:
    """Return the declaration of a dataclass field, or None for a nested group."""
    return field.metadata.get("parameter")


class Group:
    """Base of configuration classes: normalizes and checks every declared field."""

    _path = ""  # prefix of the group's parameters in messages, such as "background."

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            spec = spec_of(field)
            value = getattr(self, field.name)
            if spec is not None:
                checked = check_value(self._path + field.name, value, spec)
                object.__setattr__(self, field.name, checked)
            elif isinstance(value, Mapping):  # a nested group given as a mapping
                object.__setattr__(self, field.name, group_from(group_class(field), value))
            elif not isinstance(value, group_class(field)):
                raise InputError(f"{self._path}{field.name}: expected a mapping, got {value!r}")


def group_class(field: dataclasses.Field) -> type[Group]:
    """Return the class of a nested group's field (it is the field's default factory)."""
    return field.default_factory  # type: ignore[return-value]


def group_from(cls: type[Group], values: Mapping[str, Any]) -> Any:
    """Build a group from a mapping, refusing keys it does not declare."""
    known = [field.name for field in dataclasses.fields(cls)]
    for key in values:
        if key not in known:
            raise InputError(not_among(f"{cls._path}{key}: there is no such parameter", key, known))
    return cls(**values)


# ------------------------------------------------------------------------------------ validation


def check_value(path: str, value: Any, spec: Parameter) -> Any:
    """Return `value` in its normal form, or raise InputError naming path and valid values."""
    return _CHECKS[spec.kind](path, value, spec)


def _range_text(spec: Parameter) -> str:
    low = "-inf" if spec.low is None else f"{spec.low:g}"
    high = "inf" if spec.high is None else f"{spec.high:g}"
    return f"[{low}, {high}]{' ' + spec.unit if spec.unit else ''}"


def _check_number(path: str, value: Any, spec: Parameter) -> float | int | Uniform:
    if isinstance(value, Uniform):
        value = {"uniform": [value.low, value.high]}
    if isinstance(value, Mapping):
        return _check_range(path, value, spec)
    whole = spec.kind == "integer"
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError(f"{path}: expected a {'whole ' if whole else ''}number, got {value!r}")
    if whole and value != int(value):
        raise InputError(f"{path}: expected a whole number, got {value!r}")
    below = spec.low is not None and value < spec.low
    above = spec.high is not None and value > spec.high
    if below or above:
        raise InputError(f"{path}: {value!r} is outside {_range_text(spec)}")
    return int(value) if whole else float(value)


def _check_range(path: str, value: Mapping, spec: Parameter) -> float | int | Uniform:
    if set(value) != {"uniform"} or not isinstance(value["uniform"], (list, tuple)):
        raise InputError(
            f"{path}: a range is written {{uniform: [low, high]}}, got {dict(value)!r}"
        )
    if spec.static:
        raise InputError(f"{path}: takes one value, not a range (it changes the compiled program)")
    ends = [_check_number(path, end, spec) for end in value["uniform"]]
    if len(ends) != 2 or ends[0] > ends[1]:
        raise InputError(f"{path}: a range needs low <= high, got {list(value['uniform'])!r}")
    return ends[0] if ends[0] == ends[1] else Uniform(*ends)


def _check_flag(path: str, value: Any, spec: Parameter) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{path}: expected true or false, got {value!r}")
    return value


def _check_choice(path: str, value: Any, spec: Parameter) -> str:
    if value not in spec.choices:
        raise InputError(not_among(f"{path}: {value!r} is not valid", value, spec.choices))
    return value


def _is_rgb(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple))
        and len(value) == 3
        and all(isinstance(part, int) and not isinstance(part, bool) for part in value)
    )


def _check_colors(path: str, value: Any, spec: Parameter) -> tuple:
    pool = (value,) if isinstance(value, str) or _is_rgb(value) else value
    if not isinstance(pool, (list, tuple)) or not pool:
        raise InputError(f"{path}: expected colours (names or [r, g, b]), got {value!r}")
    return tuple(_check_color(path, member, spec) for member in pool)


def _check_color(path: str, value: Any, spec: Parameter) -> str | tuple[int, int, int]:
    if _is_rgb(value):
        if any(not 0 <= part <= 255 for part in value):
            raise InputError(f"{path}: {list(value)!r} is outside [0, 255]")
        return tuple(value)
    palette = PALETTES[spec.palette]
    if not isinstance(value, str) or value not in palette:
        raise InputError(not_among(f"{path}: {value!r} is not a colour", value, palette))
    return value


def _check_names(path: str, value: Any, spec: Parameter) -> tuple[str, ...]:
    pool = (value,) if isinstance(value, str) else value
    if not isinstance(pool, (list, tuple)) or not (pool or spec.optional):
        raise InputError(f"{path}: expected one or more names, got {value!r}")
    return tuple(_check_choice(path, member, spec) for member in pool)


def _check_integers(path: str, value: Any, spec: Parameter) -> tuple[int, ...]:
    whole = dataclasses.replace(spec, kind="integer", static=True)
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{path}: expected a list of whole numbers, got {value!r}")
    return tuple(_check_number(path, member, whole) for member in value)


def _check_assets(path: str, value: Any, spec: Parameter) -> tuple[str, ...]:
    pool = (value,) if isinstance(value, str) else value
    if not isinstance(pool, (list, tuple)) or not all(isinstance(member, str) for member in pool):
        raise InputError(f"{path}: expected names or paths, got {value!r}")
    return tuple(spec.check(path, member) for member in pool)


def _check_folder(path: str, value: Any, spec: Parameter) -> str:
    if not isinstance(value, str):
        raise InputError(f"{path}: expected a path, got {value!r}")
    return spec.check(path, value)


_CHECKS = {
    "number": _check_number,
    "integer": _check_number,
    "flag": _check_flag,
    "choice": _check_choice,
    "colors": _check_colors,
    "names": _check_names,
    "integers": _check_integers,
    "assets": _check_assets,
    "folder": _check_folder,
}

# ------------------------------------------------------------------------- walking a configuration


def walk(config: Any, prefix: str = "") -> Iterator[tuple[str, Parameter, Any]]:
    """Yield (path, declaration, value) of every parameter of a configuration, in declared order.

    A configuration class may be given instead; the values are then the defaults.
    """
    if isinstance(config, type):
        config = config()
    for field in dataclasses.fields(config):
        spec, value = spec_of(field), getattr(config, field.name)
        if spec is None:
            yield from walk(value, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, spec, value


def effective(config: Any) -> dict[str, Any]:
    """Return {path: resolved value} of the parameters that matter in this configuration.

    Colours are resolved to RGB, and parameters whose declared context does not hold are left out:
    two configurations with equal results behave alike, whatever names or inert keys they hold.
    """
    values = {path: (spec, value) for path, spec, value in walk(config)}

    def matters(path: str) -> bool:
        return all(
            any(matters(other) and _context_holds(values[other][1], allowed) for other in either)
            for either, allowed in values[path][0].contexts
        )

    return {path: resolve(*values[path]) for path in values if matters(path)}


def _context_holds(value: Any, allowed: Any) -> bool:
    if allowed in (EMPTY, NONEMPTY):
        return (not value) == (allowed == EMPTY)
    if allowed == NONZERO:
        return value != 0
    allowed = allowed if isinstance(allowed, tuple) else (allowed,)
    members = value if isinstance(value, tuple) else (value,)
    return any(member in allowed for member in members)


def resolve(spec: Parameter, value: Any) -> Any:
    """Return a value as plain JSON data, colour names replaced by their RGB triples."""
    if isinstance(value, Uniform):
        return {"uniform": [value.low, value.high]}
    if spec.kind == "colors":
        return [list(rgb(spec.palette, member)) for member in value]
    return list(value) if isinstance(value, tuple) else value


def rgb(palette: str, color: str | tuple[int, int, int]) -> tuple[int, int, int]:
    """Return the RGB triple of a colour that was validated against `palette`."""
    return PALETTES[palette][color] if isinstance(color, str) else color


def digest(data: Any) -> str:
    """Return the sha256 (hex) of JSON data, independent of key order and formatting."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
