"""Throughput of the sliding puzzle, side by side with the `sliding-puzzles` package in one run.

    python -m venv peer && peer/bin/pip install sliding-puzzles
    python tests/benchmarks/puzzle_throughput.py --peer peer/bin/python

Both sides play uniformly random actions, reset every episode that ends, and read all of every
observation (its maximum). Our lanes start at random times of an episode, so that resets are spread
as they are in training. Rounds alternate between the two; the best of each counts. The peer's best
setting is the fastest of one environment in a loop and of gymnasium's vector environments.

CPU time per step (all threads and child processes) is the fair figure on a machine that does other
work; wall time is printed beside it. Without --peer only our own figures are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GRIDS = (3, 4, 5)
SETTINGS = ("single", "sync-16", "async-4")
LANES = (64, 256)


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the children it has waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


# ---------------------------------------------------------------------------------------- the peer


def peer_steps(kind: str, grid: int, setting: str, seconds: float, images: str) -> dict:
    """Step the peer for about `seconds`; return its CPU and wall microseconds per step."""
    import gymnasium
    import numpy as np
    import sliding_puzzles

    def make():
        shown = {"image_folder": images, "image_size": (84, 84)} if kind == "image" else {}
        return sliding_puzzles.make(w=grid, h=grid, variation=kind, win_reward=10, **shown)

    shape, _, count = setting.partition("-")
    count = int(count or 1)
    vector = {"sync": gymnasium.vector.SyncVectorEnv, "async": gymnasium.vector.AsyncVectorEnv}
    env = make() if shape == "single" else vector[shape]([make] * count)
    actions = np.random.default_rng(0).integers(0, 4, (4096, count))
    obs, _ = env.reset(seed=1)
    steps, start, cpu = 0, time.perf_counter(), cpu_seconds()
    while time.perf_counter() - start < seconds:
        for row in actions if shape != "single" else actions[:, 0].tolist():
            obs, _, ended, late, _ = env.step(row)
            if shape == "single" and (ended or late):
                obs, _ = env.reset()
            obs.max()
            steps += count
            if steps % 512 == 0 and time.perf_counter() - start > seconds:
                break
    wall = time.perf_counter() - start
    env.close()  # waits for the children, whose CPU time then counts
    return {"cpu": (cpu_seconds() - cpu) / steps * 1e6, "wall": wall / steps * 1e6}


def ask_peer(python: str, *request: object) -> dict:
    """Run `peer_steps` under the interpreter that has the peer installed."""
    command = [python, str(Path(__file__).resolve()), "--as-peer", json.dumps(request)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the peer failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


# ------------------------------------------------------------------------------------------- ours


def our_program(kind: str, grid: int, lanes: int, steps: int):
    """Return a compiled function that plays `steps` steps in each lane, and its arguments."""
    import jax
    import jax.numpy as jnp

    from envs import PuzzleConfig

    config = PuzzleConfig.from_dict(
        {"height": grid, "width": grid, "observation": kind, "images": {"pool": 5}}
    )
    env, params = config.build()
    reset = jax.vmap(env.reset, (0, None))

    def start_again(states, ended, key):
        fresh = reset(jax.random.split(key, lanes), params)

        def pick(new, old):
            return jnp.where(ended.reshape(-1, *(1,) * (old.ndim - 1)), new, old)

        return jax.tree.map(pick, fresh, states)

    def step(carry, t):
        states, words, obs, total, key, params = carry
        seen = obs.max(axis=tuple(range(1, obs.ndim)))  # reads every number of every observation
        words = words * jnp.uint32(1664525) + jnp.uint32(1013904223) + seen.astype(jnp.uint32)
        actions = (words >> 30).astype(jnp.int32)  # what was seen decides, so it is read first
        states, outcome = jax.vmap(env.step, (0, 0, None))(states, actions, params)
        ended = outcome.terminated | outcome.truncated
        states = jax.lax.cond(
            ended.any(),
            lambda: start_again(states, ended, jax.random.fold_in(key, t)),
            lambda: states,
        )
        total = total + outcome.reward + seen.astype(jnp.float32)
        return (states, words, env.observe_batch(states, params), total, key, params), None

    @jax.jit
    def play(carry):
        return jax.lax.scan(step, carry, jnp.arange(steps))[0]

    @jax.jit
    def begin(key, params):
        states = reset(jax.random.split(key, lanes), params)
        late = jax.random.randint(key, (lanes,), 0, env.horizon)
        states = states._replace(latent=states.latent._replace(t=late))
        words = jax.random.bits(key, (lanes,))
        return states, words, env.observe_batch(states, params), jnp.zeros(lanes), key, params

    return play, begin(jax.random.key(0), params)


def our_steps(program, lanes: int, steps: int) -> dict:
    """Run a compiled program once more; return CPU and wall microseconds per step."""
    import jax

    play, carry = program
    start, cpu = time.perf_counter(), time.process_time()
    jax.block_until_ready(play(carry))
    count = lanes * steps
    return {
        "cpu": (time.process_time() - cpu) / count * 1e6,
        "wall": (time.perf_counter() - start) / count * 1e6,
    }


def best(samples: list[dict]) -> dict:
    """Return the smallest CPU and the smallest wall time of several rounds."""
    return {key: min(sample[key] for sample in samples) for key in ("cpu", "wall")}


# ------------------------------------------------------------------------------------- the table


def write_images(folder: str) -> None:
    """Save five bundled pictures for the peer."""
    from PIL import Image

    from envs.puzzle import art

    for member in range(5):
        Image.fromarray(art.draw("landscape", member, 84, 84)).save(f"{folder}/{member}.png")


def measure(kind: str, grid: int, arguments: argparse.Namespace, images: str) -> dict:
    """Return the best figures of both sides for one kind of observation and one grid."""
    steps = 4000 if kind == "raw" else 400
    programs = {lanes: our_program(kind, grid, lanes, steps) for lanes in LANES}
    ours: dict[int, list[dict]] = {lanes: [] for lanes in LANES}
    theirs: dict[str, list[dict]] = {setting: [] for setting in SETTINGS}
    for lanes in LANES:
        our_steps(programs[lanes], lanes, steps)  # compiles
    for _ in range(arguments.rounds):
        for lanes in LANES:
            ours[lanes] += [our_steps(programs[lanes], lanes, steps) for _ in range(3)]
        for setting in SETTINGS if arguments.peer else ():
            request = (kind, grid, setting, arguments.seconds, images)
            theirs[setting].append(ask_peer(arguments.peer, *request))
    return {
        "ours": {str(lanes): best(samples) for lanes, samples in ours.items()},
        "peer": {setting: best(samples) for setting, samples in theirs.items() if samples},
    }


def report(kind: str, grid: int, result: dict) -> str:
    """Return one line: our best, the peer's best, and the ratios by CPU and by wall time."""
    ours, peer = best([*result["ours"].values()]), result["peer"]
    line = (
        f"{kind:<6}{grid}x{grid}   ours {ours['cpu']:7.3f} us CPU {ours['wall']:7.3f} us wall"
        f" ({1 / ours['wall']:6.2f} M/s)"
    )
    if not peer:
        return line
    fastest = {key: min(peer, key=lambda setting: peer[setting][key]) for key in ("cpu", "wall")}
    theirs = best([*peer.values()])
    return line + (
        f"   peer {theirs['cpu']:6.2f} CPU ({fastest['cpu']}) {theirs['wall']:6.2f} wall "
        f"({fastest['wall']})   ratio {theirs['cpu'] / ours['cpu']:5.1f} CPU "
        f"{theirs['wall'] / ours['wall']:5.1f} wall"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="a Python interpreter that has `sliding-puzzles`")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="per peer setting and round")
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--as-peer", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.as_peer:
        print(json.dumps(peer_steps(*json.loads(arguments.as_peer))))
        return
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    results = {}
    with tempfile.TemporaryDirectory() as images:
        write_images(images)
        for kind in ("raw", "image"):
            for grid in GRIDS:
                results[f"{kind}-{grid}"] = result = measure(kind, grid, arguments, images)
                print(report(kind, grid, result), flush=True)
    if arguments.json:
        figures = {"load": os.getloadavg(), "cpus": os.cpu_count(), "results": results}
        Path(arguments.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
