"""Where the trained reference agents lie that come with the project.

Each folder holds `<training configuration>/seed-<k>/`, the last checkpoint of every training;
`bundle` puts them there.
"""

from __future__ import annotations

from pathlib import Path

CHECKPOINTS = Path(__file__).parent / "checkpoints"


def ppo() -> Path:
    """Return the folder of the bundled PPO."""
    return CHECKPOINTS / "ppo"


def rad() -> Path:
    """Return the folder of PPO with random cutout-color, "reinforcement learning with augmented
    data" (Laskin et al., 2020)."""
    return CHECKPOINTS / "rad"
