"""The sliding puzzle environment."""

from envs.puzzle.board import DOWN, LEFT, RIGHT, UP
from envs.puzzle.config import PuzzleConfig
from envs.puzzle.env import Params, Puzzle, State

__all__ = ["DOWN", "LEFT", "RIGHT", "UP", "Params", "Puzzle", "PuzzleConfig", "State"]
