"""Where the trained reference agents lie that come with the project."""

from __future__ import annotations

from pathlib import Path

CHECKPOINTS = Path(__file__).parent / "checkpoints"


def ppo() -> Path:
    """Return the folder of the bundled PPO: `<training configuration>/seed-<k>/` checkpoints."""
    return CHECKPOINTS / "ppo"
