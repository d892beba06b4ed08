"""How many blocks of episodes fit into a device's memory at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import jax

SHARE = 0.8  # of the free memory; the rest is for what the compiler does not know of
LARGE = 1 << 30
_needs: dict[Sequence[Hashable], int] = {}  # bytes of one call, by the static arguments


def is_out_of_memory(error: Exception) -> bool:
    """Return whether JAX says with this error that memory ran out."""
    return "RESOURCE_EXHAUSTED" in str(error)


def blocks_that_fit(
    program: Any, static: Sequence[Hashable], arguments: Sequence[Any], device: jax.Device
) -> int:
    """Return how many calls of a jitted function fit beside each other, at least 1.

    The program is compiled for it, once: calling it afterwards compiles nothing. Where neither the
    compiler nor the device tells, memory is taken to be large.

    Args:
        program: takes `static`, then `arguments`. device: where it runs.
    """
    free = free_bytes(device)
    if free is None:
        return LARGE
    if static not in _needs:
        facts = program.lower(*static, *arguments).compile().memory_analysis()
        _needs[static] = facts.temp_size_in_bytes + facts.output_size_in_bytes if facts else 0
    return max(1, int(SHARE * free) // _needs[static]) if _needs[static] else LARGE


def free_bytes(device: jax.Device) -> int | None:
    """Return the free memory of a device in bytes, or None where nothing tells."""
    stats = device.memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] - stats["bytes_in_use"]
    if device.platform != "cpu":
        return None
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            found = {name: value for name, _, value in (line.partition(":") for line in lines)}
        return int(found["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):  # not Linux
        return None
