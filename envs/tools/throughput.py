"""Steps per second with every pixel consumed, for any configuration.

The frame is a scan carry that is forced to row-major u8[N, H, W, 3] and read at the next step by a
maximum per environment, so that pixels are really written and really read. Compile time is apart.
The best of several short repeats counts. A flat scene is measured in the same run, interleaved,
for the ratio; and a copy of as many bytes, for the share of what memory could do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Layout, with_layout_constraint

from envs import Config, Env
from envs.core import Outcome


@dataclass(frozen=True)
class Speed:
    """What one configuration reached at one number of environments."""

    name: str
    num_envs: int
    steps_per_second: float
    cpu_us: float  # processor time per environment step, all threads together
    compile_s: float
    state_bytes: float  # per environment
    of_copy: float  # share of the frames per second that a plain copy of them reaches
    of_flat: float  # ratio to the flat scene of the same run


def program(env: Env, num_envs: int, steps: int, *, pixels: bool) -> Callable:
    """Return a function of (states, frames, params) that plays `steps` random actions."""
    step = jax.vmap(env.step, (0, 0, None))
    observe = getattr(env, "observe_batch", jax.vmap(env.observe, (0, None)))
    actions = jax.random.randint(jax.random.key(1), (steps, num_envs), 0, env.num_actions)

    def body(carry: tuple, action: jax.Array, params: Any) -> tuple:
        states, frames = carry
        if pixels:  # the next action waits for the frame
            action = action ^ (frames.max(axis=(1, 2, 3)).astype(jnp.int32) & 0)
        states, outcome = step(states, action, params)
        if pixels:
            frames = with_layout_constraint(observe(states, params), Layout((0, 1, 2, 3)))
        return (states, frames), _sum(outcome)

    @jax.jit
    def play(states: Any, frames: jax.Array, params: Any) -> tuple:
        carry, rewards = jax.lax.scan(
            lambda carry, action: body(carry, action, params), (states, frames), actions
        )
        return carry, rewards.sum()

    return play


def _sum(outcome: Outcome) -> jax.Array:
    return outcome.reward.sum()


def start(env: Env, params: Any, num_envs: int) -> tuple[Any, jax.Array]:
    """Return first states and empty frames."""
    keys = jax.random.split(jax.random.key(0), num_envs)
    states = jax.jit(jax.vmap(env.reset, (0, None)))(keys, params)
    return states, jnp.zeros((num_envs, *env.observation_shape), jnp.uint8)


def measure(
    configs: dict[str, Config], num_envs: int, *, steps: int = 64, repeats: int = 5,
    pixels: bool = True,
) -> list[Speed]:  # fmt: skip
    """Measure configurations interleaved; the first one is the flat scene of the ratio."""
    runs = {}
    for name, config in configs.items():
        env, params = config.build()
        states, frames = start(env, params, num_envs)
        began = time.perf_counter()
        compiled = program(env, num_envs, steps, pixels=pixels).lower(states, frames, params)
        compiled = compiled.compile()
        runs[name] = (compiled, (states, frames, params), time.perf_counter() - began)
    wall, cpu = dict.fromkeys(runs, np.inf), dict.fromkeys(runs, np.inf)
    for _ in range(repeats):
        for name, (compiled, arguments, _) in runs.items():
            began, used = time.perf_counter(), time.process_time()
            jax.block_until_ready(compiled(*arguments))
            wall[name] = min(wall[name], time.perf_counter() - began)
            cpu[name] = min(cpu[name], time.process_time() - used)
    flat, total = next(iter(wall.values())), num_envs * steps
    shape = next(iter(runs.values()))[1][1].shape
    copying = copy_rate(shape) if pixels else float("nan")
    return [
        Speed(
            name=name,
            num_envs=num_envs,
            steps_per_second=total / wall[name],
            cpu_us=cpu[name] / total * 1e6,
            compile_s=compile_s,
            state_bytes=state_bytes(arguments[0]) / num_envs,
            of_copy=total / wall[name] / copying,
            of_flat=flat / wall[name],
        )
        for name, (_, arguments, compile_s) in runs.items()
    ]


def copy_rate(shape: tuple[int, ...], repeats: int = 20) -> float:
    """Return how many frames per second a plain copy of a batch of frames reaches."""
    source, target = np.ones(shape, np.uint8), np.empty(shape, np.uint8)
    best = np.inf
    for _ in range(repeats):
        began = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - began)
    return shape[0] / best


def state_bytes(states: Any) -> int:
    """Return the size of a pytree of arrays and keys."""
    plain = (
        jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf
        for leaf in jax.tree.leaves(states)
    )
    return sum(leaf.nbytes for leaf in plain)


def table(speeds: list[Speed]) -> str:
    """Return the measurements for a terminal."""
    head = "configuration          envs     steps/s  cpu us  compile s  state B  of copy  of flat"
    lines = [
        f"{speed.name:<20} {speed.num_envs:>6} {speed.steps_per_second:>11,.0f} "
        f"{speed.cpu_us:>7.2f} {speed.compile_s:>10.2f} {speed.state_bytes:>8.0f} "
        f"{speed.of_copy:>8.3f} {speed.of_flat:>8.3f}"
        for speed in speeds
    ]
    return "\n".join([head, *lines])
