"""How many programs JAX compiled, and how long that took, as JAX itself reports it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_COMPILE = "/jax/core/compile/backend_compile_duration"
_PHASES = (
    "/jax/core/compile/jaxpr_trace_duration",
    "/jax/core/compile/jaxpr_to_mlir_module_duration",
    _COMPILE,
)
_CACHED = "/jax/compilation_cache/cache_hits"


class Compilations:
    """Counts what JAX compiles, or takes from its cache, while this context is open.

    programs  name of the compiled function -> how many programs, those from the cache included
    cached    how many of them came from the cache
    """

    def __init__(self) -> None:
        self.programs: Counter[str] = Counter()
        self.cached = 0
        self._spans: list[tuple[float, float]] = []

    @property
    def seconds(self) -> float:
        """Wall time of tracing, lowering and compiling; phases inside others count once."""
        return _covered(self._spans)

    def split(self, timing: Mapping[str, float]) -> dict[str, float]:
        """Return the timing of a run with its compilation taken out of its rollouts."""
        return {
            "compile_s": self.seconds,
            **timing,
            "rollouts_s": max(0.0, timing["rollouts_s"] - self.seconds),
            "programs": self.programs.total(),
            "programs_from_cache": self.cached,
        }

    def __enter__(self) -> Compilations:
        from jax import monitoring

        monitoring.register_event_time_span_listener(self._span)
        monitoring.register_event_listener(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        from jax import monitoring

        monitoring.unregister_event_time_span_listener(self._span)
        monitoring.unregister_event_listener(self._event)

    def _span(self, event: str, start: float, end: float, **facts: Any) -> None:
        if event in _PHASES:
            self._spans.append((start, end))
        if event == _COMPILE:
            name = str(facts.get("fun_name", ""))
            self.programs[name.removeprefix("jit(").removesuffix(")")] += 1

    def _event(self, event: str, **_: Any) -> None:
        self.cached += event == _CACHED


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """Return the length of the union of intervals."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def timing_line(timing: Mapping[str, float]) -> str:
    """Return one line on where the time of a run went."""
    return (
        f"compiled {timing['programs']} programs ({timing['programs_from_cache']} from the cache) "
        f"in {timing['compile_s']:.1f} s; rollouts {timing['rollouts_s']:.1f} s, "
        f"statistics {timing['statistics_s']:.1f} s"
    )
