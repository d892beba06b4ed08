"""Reports from files: the records are read back and judged again, so nothing is kept twice."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from envs import CONFIGS, Config, InputError
from envs.core import Metric as Declared
from envs.errors import nearest, not_among
from harness.reporting.export import FILE, SCHEMA, SCHEMA_VERSION
from harness.reporting.gate import Rule
from harness.reporting.judging import judge_records
from harness.reporting.records import Cell, Records
from harness.reporting.result import Report
from protocols import Pair, Suite


class Incompatible(InputError):
    """A report whose configurations mean something else to this version of the program."""


def load_report(path: str | os.PathLike) -> Report:
    """Return the report of a run folder or of a report.json, judged again from its episodes.

    Raises:
        InputError: there is no such file, or it is no report, or not one of this version; as
            `Incompatible` where the file is sound but its configurations have changed meaning.
    """
    file, data = read_report(path)
    try:
        return _rebuilt(data)
    except InputError as error:
        raise Incompatible(f"{file}: written by another version: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(f"{file}: a damaged report ({type(error).__name__}: {error})") from None


def read_report(path: str | os.PathLike) -> tuple[Path, dict[str, Any]]:
    """Return (file, its data) of a run folder or a report.json, after a look at the schema."""
    place = Path(path).expanduser()
    file = place / FILE if place.is_dir() else place
    if not file.is_file():
        raise InputError(_nothing_there(place, file))
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise InputError(f"{file}: not readable as JSON ({first})") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise InputError(f"{file}: not a report of this harness (expected schema {SCHEMA!r})")
    found = data.get("schema_version")
    if found != SCHEMA_VERSION:
        newer = isinstance(found, int) and found > SCHEMA_VERSION
        told = "; it was written by a newer heldout" if newer else ""
        raise InputError(
            f"{file}: report version {found!r}, this program reads {SCHEMA_VERSION}{told}"
        )
    return file, data


def _nothing_there(place: Path, file: Path) -> str:
    if (place / "cells").is_dir():
        return f"{place}: no {FILE}: the run is not finished; its command goes on from there"
    if place.is_dir():
        return f"{place}: no {FILE} in this folder; the run did not finish, or it is another folder"
    parent = file.parent
    names = sorted(entry.name for entry in parent.iterdir()) if parent.is_dir() else []
    close = nearest(file.name, names)
    hint = f"; did you mean {str(file.with_name(close))!r}?" if close else ""
    return f"no report {str(place)!r}{hint} (give a run folder or its {FILE})"


def _rebuilt(data: Mapping[str, Any]) -> Report:
    records = Records(
        suite=_suite(data),
        metrics=tuple(_metric(one) for one in data["metrics"]),
        policy=data["policy"],
        settings=data["settings"],
        cells=tuple(Cell.from_dict(one) for one in data["cells"]),
        blind=tuple(Cell.from_dict(one) for one in data["blind_cells"]),
        replay=data["checks"]["determinism"],
        shift=data["policy_shift"],
        not_trained=data.get("not_trained", {}),
        rules=tuple(Rule(**gate["rule"]) for gate in data["gates"]),
        on_inconclusive=data["on_inconclusive"],
        provenance=data["provenance"],
    )
    return replace(judge_records(records), baseline=data["baseline"], timing=data["timing"])


def _suite(data: Mapping[str, Any]) -> Suite:
    configs = {digest: _config(digest, values) for digest, values in data["configurations"].items()}
    facts = data["suite"]
    suite = Suite(
        facts["name"], facts["version"], facts["description"],
        tuple(_pair(one, configs) for one in data["pairs"]), facts["episodes"],
    )  # fmt: skip
    if suite.digest != facts["digest"]:
        raise InputError(f"suite {suite.name} has another digest now")
    return suite


def _config(digest: str, values: Mapping[str, Any]) -> Config:
    values = dict(values)
    kind = values.pop("environment")
    if kind not in CONFIGS:
        raise InputError(not_among(f"no environment {kind!r}", kind, CONFIGS))
    config = CONFIGS[kind].from_dict(values)
    if config.digest != digest:
        raise InputError(f"configuration {digest[:8]} means something else now")
    return config


def _pair(facts: Mapping[str, Any], configs: Mapping[str, Config]) -> Pair:
    wide = facts.get("wide") or {}
    doses = {
        side: one["dose"] for side, one in facts["heldout"].items() if one.get("dose") is not None
    }
    return Pair(
        name=facts["name"],
        axis=facts["axis"],
        train_name=facts["train"]["name"],
        train=configs[facts["train"]["digest"]],
        heldout={side: configs[one["digest"]] for side, one in facts["heldout"].items()},
        kind=facts["kind"],
        metric=facts["metric"],
        note=facts["note"],
        doses=doses,
        parameter=facts.get("parameter", ""),
        wide_name=wide.get("name", ""),
        wide=configs[wide["digest"]] if wide else None,
        prediction=facts.get("prediction", ""),
        confounded=facts.get("confounded", False),
        cumulative=facts.get("cumulative", False),
    )


def _metric(facts: Mapping[str, Any]) -> Declared:
    bounds = facts["bounds"]
    return Declared(**{**facts, "bounds": tuple(bounds) if bounds is not None else None})
