"""What a training says while it runs."""

from __future__ import annotations

import sys
import time

import numpy as np

from reference_agents.ppo import PPOConfig

EVERY_SECONDS = 10.0
RECENT = 16  # iterations whose episodes make up the scores


class Progress:
    """One line on stderr every ten seconds or so: speed, recent training episodes, time left."""

    def __init__(self, label: str, config: PPOConfig, iteration: int) -> None:
        self.label, self.config, self.last = label, config, iteration
        self.told: float | None = None
        self.recent: list[list[float]] = []

    def tell(self, iteration: int, sums: list[float]) -> None:
        """Note one iteration; print when it is time."""
        self.recent = [*self.recent, sums][-RECENT:]
        if self.told is None:  # the first one compiled the program, which says nothing about speed
            self.told, self.last = time.monotonic(), iteration
            return
        elapsed = max(time.monotonic() - self.told, 1e-9)
        over = iteration == self.config.iterations
        if elapsed < EVERY_SECONDS and not over:
            return
        speed = (iteration - self.last) * self.config.batch / elapsed
        left = (self.config.iterations - iteration) * self.config.batch / speed
        count, returns, metric = np.sum(self.recent, axis=0)
        scores = (
            f"success {metric / count:.3f}  return {returns / count:8.1f}"
            if count
            else "no episode has ended yet"
        )
        done, total = iteration * self.config.batch / 1e6, self.config.steps / 1e6
        print(
            f"{self.label}  {done:5.2f} of {total:.2f} M steps  {speed:6,.0f}/s  {scores}  "
            f"{left / 60:.0f} min left",
            file=sys.stderr, flush=True,
        )  # fmt: skip
        self.told, self.last = time.monotonic(), iteration
