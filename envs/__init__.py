"""The bundled environments: latent dynamics, rendering and parameters."""

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
]
