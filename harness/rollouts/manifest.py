"""What a run measures, as data that a later run is compared with, and where it was run."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any

from harness.policies.identity import code_digest
from harness.policy import Policy
from protocols import Pair, Suite

_PACKAGES = ("heldout", "jax", "jaxlib", "flax", "numpy", "scipy")
_SHOWN = 3  # differences in one line


def manifest(
    suite: Suite,
    plan: Iterable[tuple[Pair, Sequence[Policy]]],
    settings: Mapping[str, Any],
    num_envs: int,
    provenance: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the manifest of a run folder, as JSON data.

    Args:
        suite: what is evaluated.
        plan: every pair with its policies.
        settings: of the report: episodes, master seed, lanes, level.
        num_envs: episodes in flight. It decides the batches that Python policies get, and no number
            of a policy that JAX compiles.
        provenance: versions, device, command.
    """
    policies = {
        f"{pair.train_name} seed {one.seed}": _policy(one) for pair, some in plan for one in some
    }
    decisive = dict(settings)
    if any(one["kind"].startswith("host") for one in policies.values()):
        decisive["num_envs"] = num_envs
    device = provenance["device"]
    return {
        "measured": {
            "suite": {"name": suite.name, "version": suite.version, "digest": suite.digest},
            "settings": decisive,
            "policies": policies,
            "versions": provenance["versions"],
            "device": {name: device[name] for name in ("platform", "kind")},
        },
        "machine": device["cpu" if device["platform"] == "cpu" else "kind"],
        "pairs": [pair.name for pair in suite],
        "num_envs": num_envs,
        "provenance": provenance,
    }


def _policy(one: Policy) -> dict[str, Any]:
    """What decides the numbers of a policy; of a function there is only its code to go by."""
    facts = {"kind": one.kind, "actions": one.actions}
    if one.fingerprint is not None:
        return {**facts, "fingerprint": one.fingerprint}
    code = code_digest(one.apply, one.weights, one.carry, one.obs)
    return {**facts, "name": one.name, "fingerprint": None, "unverified_code": code}


def unverified(measured: Mapping[str, Any]) -> list[str]:
    """Return the names of the policies of which only the code is known."""
    names = (one.get("name") for one in measured["policies"].values())
    return sorted({name for name in names if name is not None})


def provenance(command: str | None) -> dict[str, Any]:
    """Return versions, device and command of this process."""
    import jax

    device = jax.devices()[0]
    return {
        "versions": {name: metadata.version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "device": {"platform": device.platform, "kind": device.device_kind, "cpu": _cpu_model()},
        "cores": os.cpu_count(),
        "command": command,
    }


def with_machines(facts: Mapping[str, Any], machines: Iterable[str]) -> dict[str, Any]:
    """Return a provenance that names every machine on which cells were played."""
    device = facts["device"]
    name = "cpu" if device["platform"] == "cpu" else "kind"
    return {**facts, "device": {**device, name: ", ".join(sorted(machines))}}


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            named = (line.partition(":")[2].strip() for line in lines if "model name" in line)
            return next(named, platform.processor())
    except OSError:
        return platform.processor()


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Return in one line how what two runs measure differs; empty where it does not.

    Example:
        >>> differences({"settings": {"episodes": 128}}, {"settings": {"episodes": 64}})
        'settings.episodes is 128 there, 64 here'
    """
    found = [f"{path} is {old} there, {new} here" for path, old, new in _differing(there, here)]
    more = f" (and {len(found) - _SHOWN} more)" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more


def _differing(there: Any, here: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        for name in dict.fromkeys((*there, *here)):
            inside = f"{path}.{name}" if path else str(name)
            yield from _differing(there.get(name, _MISSING), here.get(name, _MISSING), inside)
    elif there != here:
        yield path, _shown(there), _shown(here)


_MISSING = object()


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "missing"
    if isinstance(value, Mapping):
        return "present"
    text = str(value)
    return text[:12] if len(text) == 64 else text  # a digest
