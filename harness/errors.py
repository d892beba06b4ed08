"""Why a run ends early, by exit code. `envs.InputError` (bad input) is exit code 2."""

from __future__ import annotations

COMPLETE, GATE_FAILED, BAD_INPUT, INCONCLUSIVE, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 130


class RunError(RuntimeError):
    """The run or the measurement failed (exit code 4). Its text is one line."""
