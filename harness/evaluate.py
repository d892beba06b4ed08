"""Evaluate a policy: `python -m harness.evaluate`, or `evaluate(policy, pair)` from Python.

Both are this module: run, it is the command; called, it is the function (`harness.run.evaluate`).
"""

from __future__ import annotations

import contextlib
import os
import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """`from harness import evaluate` gives this module, however it was first imported."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from harness.run import evaluate

        return evaluate(*args, **kwargs)


def main() -> None:
    """Run the command line and exit with its code."""
    from harness import cli
    from harness.errors import FAILED, INTERRUPTED

    code = cli.main()
    if code in (FAILED, INTERRUPTED):  # JAX may still compute, and dies when it is torn down then
        with contextlib.suppress(OSError):  # nobody may be reading any more
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
else:
    sys.modules[__name__].__class__ = _CallableModule
