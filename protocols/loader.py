"""Read suites from YAML, strictly: whatever is unknown is an error with the nearest name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from envs import CONFIGS, Config, InputError
from envs.errors import not_among
from protocols.audit import audit
from protocols.pair import KINDS, PREDICTION, Pair, Suite

SUITES = Path(__file__).parent / "suites"
TRAINING = Path(__file__).parent / "training.yaml"

_SUITE_KEYS = ("name", "version", "description", "episodes", "training", "pairs")
_PAIR_KEYS = ("axis", "kind", "train", "heldout", "sides", "metric", "note")
# What only some kinds have: a key elsewhere would be a setting without effect.
_KIND_KEYS = {
    "pair": ("confounded",),
    "sweep": ("doses", "parameter", "cumulative"),
    "widening": ("wide", "prediction"),
}


def suite_names() -> list[str]:
    """Return the names of the bundled suites."""
    return sorted(path.stem for path in SUITES.glob("*.yaml"))


@lru_cache(maxsize=1)
def training_configs() -> dict[str, Config]:
    """Return the bundled training configurations by name."""
    return {name: _config(name, values or {}) for name, values in _read(TRAINING).items()}


def load_train_config(name: str) -> Config:
    """Return one named training configuration.

    Raises:
        InputError: naming the nearest and all valid names.
    """
    return _training(name, training_configs())


def _training(name: str, known: Mapping[str, Config]) -> Config:
    if name not in known:
        raise InputError(not_among(f"no training configuration {name!r}", name, known))
    return known[name]


def load_suite(name: str | Path) -> Suite:
    """Return a bundled suite by name, or one from a YAML file of the user's.

    Raises:
        InputError: no such suite, or its first fault, named with the place where it stands.
    """
    text = str(name)
    if text.endswith((".yaml", ".yml")):
        path = Path(text)
        if not path.is_file():
            raise InputError(f"{text}: there is no such file")
    elif text in suite_names():
        path = SUITES / f"{text}.yaml"
    else:
        raise InputError(not_among(f"no suite {text!r}", text, suite_names()))
    try:
        return _suite(_read(path))
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except yaml.YAMLError as error:
        raise InputError(f"{path.name}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise InputError(f"{path.name}: expected a mapping at the top")
    return data


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML that refuses a key written twice (plain YAML keeps the last silently)."""


def _mapping_without_repeats(loader: _StrictLoader, node: yaml.MappingNode) -> dict:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"{key!r} is written twice")
    return loader.construct_mapping(node, deep=True)


_StrictLoader.add_constructor(
    yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_repeats
)


def _config(where: str, values: Mapping[str, Any]) -> Config:
    values = dict(_mapping(where, values))
    kind = values.pop("environment", "platformer")
    if kind not in CONFIGS:
        raise InputError(not_among(f"{where}: no environment {kind!r}", kind, CONFIGS))
    return CONFIGS[kind].from_dict(values)


def _mapping(where: str, values: Any) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise InputError(f"{where}: expected a mapping, got {values!r}")
    return values


def _known(where: str, values: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in values:
        if key not in keys:
            raise InputError(not_among(f"{where}: no key {key!r}", key, keys))


def _suite(data: Mapping[str, Any]) -> Suite:
    _known("suite", data, _SUITE_KEYS)
    for key in ("name", "version", "pairs"):
        if key not in data:
            raise InputError(f"suite: {key!r} is missing")
    for key in ("version", "episodes"):
        value = data.get(key, 1)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"{key}: expected a whole number of at least 1, got {value!r}")
    known = {**training_configs(), **_own_training(data.get("training", {}))}
    pairs = _mapping("pairs", data["pairs"])
    if not pairs:
        raise InputError("pairs: a suite needs at least one pair")
    return Suite(
        name=str(data["name"]),
        version=data["version"],
        description=str(data.get("description", "")).strip(),
        pairs=tuple(_pair(str(name), values, known) for name, values in pairs.items()),
        episodes=data.get("episodes", 128),
    )


def _own_training(data: Any) -> dict[str, Config]:
    """Return the training configurations that a suite file brings itself."""
    bundled = training_configs()
    own = {str(name): values for name, values in _mapping("training", data).items()}
    for name in own:
        if name in bundled:
            raise InputError(f"training: {name!r} is the name of a bundled configuration")
    return {name: _config(f"training {name}", values or {}) for name, values in own.items()}


def _pair(name: str, data: Any, known: Mapping[str, Config]) -> Pair:
    where = f"pair {name}"
    data = _mapping(where, data)
    kind = data.get("kind", "pair")
    if kind not in KINDS:
        raise InputError(not_among(f"{where}: no kind {kind!r}", kind, KINDS))
    _known(where, data, _PAIR_KEYS + _KIND_KEYS.get(kind, ()))
    for key in ("axis", "train", *(["wide"] if kind == "widening" else [])):
        if key not in data:
            raise InputError(f"{where}: {key!r} is missing")
    for key in ("confounded", "cumulative"):
        if not isinstance(data.get(key, True), bool):
            raise InputError(f"{where}: {key}: expected true or false, got {data[key]!r}")
    train = _training(data["train"], known)
    changes, doses = _sides(where, kind, data)
    more: dict[str, Any] = {"doses": doses, "parameter": str(data.get("parameter", ""))}
    if kind == "widening":
        more["wide_name"], more["wide"] = data["wide"], _training(data["wide"], known)
        more["prediction"] = str(data.get("prediction", PREDICTION)).strip()
    pair = Pair(
        name=name,
        axis=data["axis"],
        train_name=data["train"],
        train=train,
        heldout={side: train.replace(one or {}) for side, one in changes.items()},
        kind=kind,
        metric=data.get("metric", "success"),
        note=str(data.get("note", "")).strip(),
        confounded=data.get("confounded", False),
        cumulative=data.get("cumulative", False),
        **more,
    )
    audit(pair)
    return pair


def _sides(where: str, kind: str, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict]:
    """Return the changes of every held-out side, and the doses of a sweep."""
    if "parameter" in data:
        return _dosed_parameter(where, data)
    if ("heldout" in data) == ("sides" in data):
        raise InputError(f"{where}: give either 'heldout' (one side) or 'sides' (several)")
    if "heldout" in data:
        return {"heldout": data["heldout"]}, {}
    sides = {str(side): one for side, one in _mapping(f"{where}, sides", data["sides"]).items()}
    if kind != "sweep":
        return sides, {}
    doses = _doses(where, data.get("doses", list(range(1, len(sides) + 1))))
    if len(doses) != len(sides):
        raise InputError(f"{where}: {len(doses)} doses for {len(sides)} sides; give one for each")
    return sides, dict(zip(sides, doses, strict=True))


def _dosed_parameter(where: str, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict]:
    """Return one side per dose: `heldout`, where given, with the parameter set to the dose."""
    if "sides" in data or "doses" not in data:
        raise InputError(f"{where}: with 'parameter' give 'doses', its values, and no 'sides'")
    if data.get("cumulative"):
        raise InputError(f"{where}: 'cumulative' pools 'sides', not doses of a 'parameter'")
    sides, doses = {}, {}
    for value, dose in zip(data["doses"], _doses(where, data["doses"]), strict=True):
        name = f"{dose:g}"
        sides[name] = _with(data.get("heldout") or {}, data["parameter"], value)
        doses[name] = dose
    return sides, doses


def _doses(where: str, values: Any) -> list[float]:
    numbers = isinstance(values, list) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in values
    )
    if not numbers:
        raise InputError(f"{where}: doses: expected a list of numbers, got {values!r}")
    return [float(value) for value in values]


def _with(changes: Mapping[str, Any], path: Any, value: Any) -> dict[str, Any]:
    """Return nested `changes` with the parameter at a dotted path set to `value`."""
    first, dot, rest = str(path).partition(".")
    inside = changes.get(first)
    inner = _with(inside if isinstance(inside, Mapping) else {}, rest, value) if dot else value
    return {**changes, first: inner}
