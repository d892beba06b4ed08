"""Say whether this installation works: versions, devices, cache, extras, and a short self-test.

    python -m harness.doctor

Exit code 0: everything needed is there, and episodes with a known outcome have it.
Otherwise 4.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import metadata, util
from pathlib import Path

from harness.cli import Parser, add_jax_options, announce, guarded, start_jax
from harness.errors import COMPLETE, FAILED

CORE = ("jax", "jaxlib", "flax", "optax", "orbax-checkpoint", "numpy", "scipy", "pyyaml",
        "tabulate", "rich", "pillow")  # fmt: skip
# extra -> the modules that it brings
EXTRAS = {
    "cuda12": ("jax_cuda12_plugin",),
    "gym": ("gymnasium",),
    "plots": ("matplotlib",),
    "remote": ("websockets", "msgpack"),
    "torch": ("torch",),
    "onnx": ("onnxruntime",),
}
STEPS, EPISODES, SKY = 40, 8, "purple"  # of the self-test


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = Parser("doctor", __doc__)
    add_jax_options(parser)
    options = parser.parse_args(arguments)
    announce()
    return guarded(lambda: _doctor(options))


def _doctor(options) -> int:
    start_jax(options)
    missing = [name for name in CORE if _version(name) is None]
    for label, text in facts():
        print(f"{label:12} {text}", flush=True)
    started = time.perf_counter()
    try:
        problem = f"missing: {', '.join(missing)}" if missing else self_test()
    except Exception as error:  # whatever is wrong with an installation is the answer here
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
    took = f"{time.perf_counter() - started:.1f} s"
    print(
        f"{'self-test':12} {f'FAILED: {problem}' if problem else f'passed in {took}'}", flush=True
    )
    return FAILED if problem else COMPLETE


def facts() -> Iterator[tuple[str, str]]:
    """Yield (label, text) of what is installed, where, and what it runs on."""
    import jax

    yield "heldout", f"{_version('heldout') or 'not installed'}, in {_root()}"
    yield "python", f"{platform.python_version()}, {sys.executable}"
    yield "packages", ", ".join(f"{name} {_version(name) or 'MISSING'}" for name in CORE)
    devices = [f"{one.platform}:{one.id} ({one.device_kind})" for one in jax.devices()]
    yield "devices", f"{', '.join(devices)}; {os.cpu_count()} cores"
    yield "cache", _cache()
    have = {name: all(map(_present, modules)) for name, modules in EXTRAS.items()}
    absent = [name for name, there in have.items() if not there]
    yield (
        "extras",
        f"{', '.join(name for name in have if have[name]) or 'none'}"
        + (f"; absent: {', '.join(absent)}" if absent else ""),
    )
    yield "envs", _siblings()


def _root() -> Path:
    return Path(__file__).resolve().parent.parent


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _present(module: str) -> bool:
    return util.find_spec(module) is not None


def _cache() -> str:
    import jax

    from harness.rollouts.cache import cache_folder, prepare

    if not jax.config.jax_enable_compilation_cache:
        return "off"
    used = jax.config.jax_compilation_cache_dir
    if used is not None:
        return f"{used}, {_contents(Path(used))}"
    try:
        return f"not used: {prepare(cache_folder()) or 'JAX does not keep programs here'}"
    except RuntimeError as error:
        return f"not used: {error}"


def _contents(folder: Path) -> str:
    try:
        sizes = [entry.stat().st_size for entry in folder.iterdir() if entry.is_file()]
        mode = folder.stat().st_mode & 0o777
    except OSError as error:
        return f"not readable: {error.strerror}"
    writable = "writable" if os.access(folder, os.W_OK) else "not writable"
    return f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB, mode {mode:04o}, {writable}"


def _siblings() -> str:
    """Say where `envs` comes from, and what of that name stands in its way without winning."""
    import envs

    ours = Path(envs.__file__).resolve().parent
    rivals = [
        place / f"envs{ending}"
        for place in dict.fromkeys(Path(entry or ".").resolve() for entry in sys.path)
        for ending in ("", ".py")
        if (place / f"envs{ending}").exists() and (place / f"envs{ending}") != ours
    ]
    told = f"; also there, but not used here: {', '.join(map(str, rivals))}" if rivals else ""
    return f"{ours} {'(ours)' if ours.parent == _root() else '(NOT OURS)'}{told}"


def self_test() -> str | None:
    """Play a policy whose scores are known, and return what came out otherwise, or None.

    It stands still under a black sky and runs to the right under any other, so that in training
    it covers no distance, and on the held-out side some: the gap is negative.
    """
    import jax.numpy as jnp

    from envs import PlatformerConfig
    from harness.policy import policy
    from harness.rollouts.rollout import play
    from harness.statistics import Metric, paired_gap

    def look(obs):
        return jnp.where(obs[0, 0].astype(jnp.int32).sum() == 0, 0, 2)

    short = PlatformerConfig().replace({"episode_length": STEPS})
    distances = []
    for sky in ("black", SKY):
        env, params = short.replace({"background": {"mode": "color", "color_names": sky}}).build()
        played = play(env, params, policy(look), episodes=EPISODES).columns
        distances.append([played["distance"]])
        if (played["length"] != STEPS).any():
            return f"episodes that do not last {STEPS} steps"
    gap = paired_gap(*distances, Metric("distance", scale=490.0))
    if gap.train.mean != 0:
        return f"distance {gap.train.mean:g} of a policy that stands still"
    if not gap.interval.high < 0:
        return f"distance {gap.heldout.mean:g} of a policy that runs to the right"
    return None


if __name__ == "__main__":
    sys.exit(main())
