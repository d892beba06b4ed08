"""The bundled environments: latent dynamics, rendering and parameters.

`envs.gymnasium(env, params, ...)` and `envs.gymnax(env, params)` hand a side to other trainers.
"""

import importlib
from typing import Any

from envs.contract import check_env
from envs.core import Config, Env, Metric, Outcome
from envs.errors import InputError
from envs.platformer import PlatformerConfig
from envs.puzzle import PuzzleConfig

CONFIGS: dict[str, type[Config]] = {"platformer": PlatformerConfig, "puzzle": PuzzleConfig}

__all__ = [
    "CONFIGS",
    "Config",
    "Env",
    "InputError",
    "Metric",
    "Outcome",
    "PlatformerConfig",
    "PuzzleConfig",
    "check_env",
    "gymnasium",
    "gymnax",
]


def __getattr__(name: str) -> Any:
    """Load an adapter when it is asked for: Gymnasium need not be installed."""
    if name in ("gymnasium", "gymnax"):
        return importlib.import_module(f"envs.adapters.{name}").make
    raise AttributeError(f"module 'envs' has no attribute {name!r}")
