"""The platformer environment."""

from envs.platformer.config import PlatformerConfig
from envs.platformer.dynamics import JUMP, LEFT, RIGHT
from envs.platformer.env import Params, Platformer, State

__all__ = ["JUMP", "LEFT", "RIGHT", "Params", "Platformer", "PlatformerConfig", "State"]
