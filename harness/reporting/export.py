"""A report as strict JSON: numbers, reasons, and every episode's records as columns."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.rollouts import atomic
from protocols.audit import dose_seen

if TYPE_CHECKING:  # the report imports this module when it is exported
    from envs.core import Metric as Declared
    from harness.reporting.result import Cell, Extra, PairResult, Report
    from harness.statistics import GapResult, Interval, NoiseFloor, SuiteResult
    from protocols import Pair

SCHEMA, SCHEMA_VERSION = "heldout-report", 1
FILE = "report.json"


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of what `to_dict` returns."""
    file = Path(__file__).parent / "schema" / f"report-v{SCHEMA_VERSION}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def to_dict(report: Report) -> dict[str, Any]:
    """Return the report as plain JSON data. All but `timing` is equal for equal runs."""
    suite, records = report.suite, report.records
    configs = {
        digest: {"environment": config.environment, **config.to_dict()}
        for pair in suite
        for digest, config in pair.configs.items()
    }
    return plain({
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "exit_code": report.exit_code,
        "suite": {
            "name": suite.name,
            "version": suite.version,
            "description": suite.description,
            "episodes": suite.episodes,
            "digest": suite.digest,
            "pairs": [pair.name for pair in suite],
        },
        "policy": report.policy,
        "settings": report.settings,
        "verdict": report.verdict,
        "on_inconclusive": records.on_inconclusive,
        "gates": report.gates,
        "baseline": report.baseline,
        "checks": {"determinism": records.replay},
        "mean": {name: _mean(result) for name, result in report.mean.items()},
        "axes": {
            name: {axis: _mean(result) for axis, result in axes.items()}
            for name, axes in report.axes.items()
        },
        "worst": report.worst,
        "smallest_detectable_gap": report.detectable,
        "mean_new_seeds": _new_seeds(report.new_seeds, len(report.policy["seeds"])),
        "pairs": [_pair(result) for result in report.pairs],
        **({"not_trained": records.not_trained} if records.not_trained else {}),
        "policy_shift": records.shift,
        "metrics": records.metrics,
        "cells": [_cell(cell, records.metrics) for cell in report.cells],
        "blind_cells": [_cell(cell, records.metrics) for cell in records.blind],
        "configurations": configs,
        "provenance": report.provenance,
        "timing": report.timing,
    })  # fmt: skip


def plain(value: Any) -> Any:
    """Return any nested result as JSON data; what is not finite becomes null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(inside) for key, inside in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(inside) for inside in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, bool, int)):
        return value
    raise TypeError(f"{type(value).__name__} has no place in a report")


def _mean(result: SuiteResult) -> dict[str, Any]:
    return {
        "pairs": len(result.pairs),
        "interval": result.interval,
        "per_seed": result.per_seed,
        "reason": result.reason,
    }


def _gap(result: GapResult) -> dict[str, Any]:
    arms = {"train": result.train, "heldout": result.heldout}
    return {
        **{
            name: {"mean": arm.mean, "interval": arm.interval, "per_seed": arm.per_seed}
            for name, arm in arms.items()
        },
        "gap": result.interval,
        "gap_per_seed": result.per_seed,
        "gap_per_seed_intervals": result.per_seed_intervals,
        "dropped_episodes": result.dropped,
        "problems": result.problems,
        "reason": result.reason,
        "sides": {name: side.interval for name, side in result.sides.items()},
    }


def _pair(result: PairResult) -> dict[str, Any]:
    pair = result.pair
    data = {
        "name": pair.name,
        "axis": pair.axis,
        "kind": pair.kind,
        "metric": pair.metric,
        "note": pair.note,
        "digest": pair.digest,
        "train": {"name": pair.train_name, "digest": pair.train.digest},
        "heldout": {name: _side(pair, name) for name in pair.heldout},
        **_measured(result),
    }
    if pair.confounded:
        data["confounded"] = True
    if pair.kind == "sweep":
        data["parameter"] = pair.parameter
        data["cumulative"] = pair.cumulative
        data["dose_response"] = result.doses
    if result.wide is not None:
        data["prediction"] = pair.prediction
        data["wide"] = {
            "name": pair.wide_name, "digest": pair.wide.digest, **_measured(result.wide)
        }  # fmt: skip
        data["widening"] = result.widenings
    return data


def _side(pair: Pair, name: str) -> dict[str, Any]:
    side = {"digest": pair.heldout[name].digest, "difference": pair.difference(name)}
    if pair.kind == "sweep":
        side |= {"dose": pair.doses[name], "share_seen_in_training": dose_seen(pair, name)}
    return side


def _measured(result: PairResult) -> dict[str, Any]:
    return {
        "training": result.training,
        "rules": result.rules,
        "split": result.split,
        "seeds": result.seeds,
        "verdict": result.verdict,
        "collapse": result.collapse,
        "blind": result.blind,
        "metrics": {
            name: {
                **_gap(gap),
                "relative_gap": result.extras[name].relative,
                "normalized_gap": _normalized(result.extras[name]),
                "gap_new_seeds": _new_seeds(result.extras[name].new_seeds, len(result.seeds)),
                "floor": _floor(result.floors[name]),
                "spread": result.spreads[name],
                "seed_labels": result.extras[name].labels,
                "smallest_detectable_gap": result.extras[name].detectable,
                "verdict": result.verdicts[name].name,
            }
            for name, gap in result.results.items()
        },
    }  # fmt: skip


def _floor(floor: NoiseFloor) -> dict[str, Any]:
    return {**plain(floor), "aa_exceeded": floor.aa_exceeded}


def _new_seeds(interval: Interval | None, seeds: int) -> dict[str, Any]:
    """What can be said of new training seeds, or why nothing can."""
    reason = None
    if seeds == 1:
        reason = "one training seed says nothing about another"
    elif seeds == 2:
        reason = "two training seeds: shown for completeness, no verdict is drawn from it"
    return {"interval": interval, "reason": reason}


def _normalized(extra: Extra) -> dict[str, Any]:
    if extra.normalized is None:
        return {"interval": None, "reason": "no blind baseline", "baseline": None}
    return {**plain(extra.normalized), "baseline": extra.baseline}


def _cell(cell: Cell, metrics: Sequence[Declared]) -> dict[str, Any]:
    return {
        **cell.to_dict(),
        "flags": _limits(cell, metrics),
        "dominant_action": dominant_action(cell),
    }


def dominant_action(cell: Cell, share: float = 0.95) -> dict[str, Any] | None:
    """Return the action that makes up over 95 % of a cell's steps, with its share, or None."""
    counts = cell.batch.action_counts
    most = int(counts.argmax())
    part = float(counts[most] / max(1, counts.sum()))
    return {"action": most, "share": part} if part > share else None


def _limits(cell: Cell, metrics: Sequence[Declared], share: float = 0.05) -> dict[str, str]:
    """Return metric -> "floor" or "ceiling" where the mean lies within 5 % of a hard limit."""
    found = {}
    for metric in metrics:
        if metric.bounds is None:
            continue
        low, high = metric.bounds
        place = (cell.batch.columns[metric.name].mean() - low) / (high - low)
        if place <= share or place >= 1 - share:
            found[metric.name] = "floor" if place <= share else "ceiling"
    return found


def dump(data: Any) -> str:
    """Return strict JSON text, one line per entry of the top level."""
    lines = (
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
        for key, value in data.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_report(report: Report, folder: Path) -> Path:
    """Write the report into a folder, made where it is missing, and return the file's path.

    Raises:
        OSError: it cannot be written; a report that was there is still there.
    """
    atomic.make_folder(folder)
    atomic.write(folder / FILE, dump(to_dict(report)).encode())
    return folder / FILE
