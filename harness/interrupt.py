"""Ctrl-C and SIGTERM, by which schedulers and `kill` stop a run, end it in the same way.

The exception that a signal raises is lost when it happens to be raised inside a callback of a
library (JAX has one in garbage collection); then it is raised again at the next `check`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

_asked = threading.Event()


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM, unless these are ignored, in this context."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.getsignal(one) for one in signals}
    for one, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(one, _interrupt)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler or signal.SIG_DFL)
        _asked.clear()


def _interrupt(*_: object) -> NoReturn:
    _asked.set()
    raise KeyboardInterrupt


def check() -> None:
    """Raise KeyboardInterrupt if a signal asked for it."""
    if _asked.is_set():
        raise KeyboardInterrupt
