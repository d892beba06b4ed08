"""The harness: policies in, rollouts, statistics, verdicts, reports.

Importing it is cheap: JAX and the rest are loaded when something is evaluated.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness import evaluate as evaluate
    from harness.errors import RunError as RunError
    from harness.policies.checkpoint import save_policy as save_policy
    from harness.policies.observations import Obs as Obs
    from harness.policies.pytorch import torch_policy as torch_policy
    from harness.policies.remote import connect as connect
    from harness.policies.remote import serve as serve
    from harness.policy import Policy as Policy
    from harness.policy import policy as policy
    from harness.reporting.result import Report as Report
    from harness.reporting.stored import load_report as load_report
    from harness.rollouts.cache import use_cache as use_cache

_PUBLIC = {
    "Obs": "harness.policies.observations",
    "Policy": "harness.policy",
    "Report": "harness.reporting.result",
    "RunError": "harness.errors",
    "connect": "harness.policies.remote",
    "load_report": "harness.reporting.stored",
    "policy": "harness.policy",
    "save_policy": "harness.policies.checkpoint",
    "serve": "harness.policies.remote",
    "torch_policy": "harness.policies.pytorch",
    "use_cache": "harness.rollouts.cache",
}

__all__ = [
    "Obs",
    "Policy",
    "Report",
    "RunError",
    "connect",
    "evaluate",
    "load_report",
    "policy",
    "save_policy",
    "serve",
    "torch_policy",
    "use_cache",
]


class _Siblings:
    """Finds our sibling packages beside this one, whatever else the import path offers.

    People who bring a policy often stand in a folder with an `envs` of their own.
    """

    root = Path(__file__).resolve().parent.parent
    names = ("envs", "protocols", "reference_agents")
    hidden: frozenset[str] = frozenset()  # while a user's file is imported that has its own

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:
        del path, target
        if name not in cls.names or name in cls.hidden:
            return None
        folder = cls.root / name
        return importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


sys.meta_path.insert(0, _Siblings)


def __getattr__(name: str) -> Any:
    if name == "evaluate":
        return importlib.import_module("harness.evaluate")
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'harness' has no attribute {name!r}")
