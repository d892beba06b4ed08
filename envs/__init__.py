"""The bundled environments: latent dynamics, rendering and parameters."""

from envs.contract import check_env
from envs.core import Config, Env, Metric, Outcome
from envs.errors import InputError
from envs.platformer import PlatformerConfig

CONFIGS: dict[str, type[Config]] = {"platformer": PlatformerConfig}

__all__ = [
    "CONFIGS",
    "Config",
    "Env",
    "InputError",
    "Metric",
    "Outcome",
    "PlatformerConfig",
    "check_env",
]
