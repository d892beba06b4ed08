"""Pictures of one episode: what the policy saw on each side, as a strip of moments or a GIF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image, ImageDraw, ImageFont, ImageOps

from envs import Config, InputError
from envs.keys import POLICY
from harness.policy import Policy
from harness.rollouts.host import call_on_host
from harness.rollouts.lanes import episode_keys
from harness.rollouts.rollout import lanes_per_block

MOMENTS = 8
MOST_FRAMES = 250  # of a GIF; longer episodes skip steps
SLOWEST, FASTEST, WHOLE = 400, 40, 5000  # milliseconds between two of them, and of all
SIDE = 128  # pictures are enlarged to at least this many pixels
MARGIN, LINE = 6, 16
INK, PAPER = (20, 20, 20), (255, 255, 255)


@dataclass(frozen=True)
class Reel:
    """One episode on one side."""

    frames: np.ndarray  # u8[T + 1, H, W, 3]; what is seen before each step, and at the end
    actions: np.ndarray  # i32[T]
    metrics: Mapping[str, float]  # at the end
    reward: float  # sum over the episode

    @property
    def length(self) -> int:
        return len(self.actions)


def shoot(
    settings: Mapping[str, Any], config: Config, policy: Policy, seed: int, episode: int
) -> Reel:
    """Play one episode step by step and keep what the policy sees.

    Args:
        settings: of a report: the master seed.
        config: the side. policy: settled for it. seed, episode: which episode.

    Raises:
        InputError: what the policy sees is no picture.
    """
    env, params = config.build()
    shape = tuple(env.observation_shape)
    if len(shape) != 3 or shape[-1] not in (1, 3):
        raise InputError(f"what the policy sees here is no picture: its shape is {shape}")
    # The whole block is played: some networks round differently in batches of another size.
    lanes = 1 if policy.on_host else lanes_per_block()
    lane = episode % lanes
    numbers = episode - lane + jnp.arange(lanes, dtype=jnp.uint32)
    keys = episode_keys(settings["seed"], np.uint32(seed), numbers)
    states = _reset(env, params, keys)
    memory = _first_memory(policy, lanes)
    frames, actions, total = [], [], 0.0
    for t in range(env.horizon):
        obs = _observe(env, params, states)
        frames.append(np.asarray(obs[lane]))
        chosen, memory = _act(env, params, policy, states, memory, obs, keys, t)
        states, outcome = _step(env, params, states, chosen)
        actions.append(int(chosen[lane]))
        total += float(outcome.reward[lane])
        if bool(outcome.terminated[lane] | outcome.truncated[lane]):
            break
    frames.append(np.asarray(_observe(env, params, states)[lane]))
    metrics = {name: float(values[lane]) for name, values in outcome.metrics.items()}
    pictures = np.broadcast_to(np.stack(frames), (len(frames), *shape[:2], 3))
    return Reel(pictures, np.array(actions, np.int32), metrics, total)


@partial(jax.jit, static_argnames="env")
def _reset(env, params, keys):
    return jax.vmap(env.reset, (0, None))(keys, params)


@partial(jax.jit, static_argnames="env")
def _observe(env, params, states):
    together = getattr(env, "observe_batch", None)
    return (
        together(states, params) if together else jax.vmap(env.observe, (0, None))(states, params)
    )


@partial(jax.jit, static_argnames="env")
def _step(env, params, states, actions):
    return jax.vmap(env.step, (0, 0, None))(states, actions, params)


def _first_memory(policy: Policy, lanes: int) -> Any:
    if policy.carry is None or policy.kind == "host-single":
        return None if policy.carry is None else [policy.carry]
    return jax.tree.map(lambda leaf: np.stack([np.asarray(leaf)] * lanes), policy.carry)


def _act(env, params, policy: Policy, states, memory, obs, keys, t: int):
    """Ask a policy of any kind for the actions of step t: i32[lanes], and its memory."""
    if policy.on_host:
        seeds = np.asarray(jax.random.key_data(keys))[:, 0].astype(np.int64) + t
        return call_on_host(policy, memory, np.asarray(obs), seeds, env.num_actions)
    return _act_in_jax(
        env, policy.kind, policy.apply, params, states, policy.weights, memory, obs, keys, t
    )


@partial(jax.jit, static_argnames=("env", "kind", "apply"))
def _act_in_jax(env, kind, apply, params, states, weights, memory, obs, keys, t):
    lanes = keys.shape[0]
    if kind == "state":
        chosen = jax.vmap(lambda state: apply(env, state, params))(states)
    else:
        own = jax.vmap(lambda key: jax.random.fold_in(jax.random.fold_in(key, POLICY), t))(keys)
        see = apply if kind == "jax-batch" else jax.vmap(apply, (None, 0, 0, 0))
        chosen, memory = see(weights, memory, obs, own)
    return chosen.reshape(lanes).astype(jnp.int32), memory


# ------------------------------------------------------------------------------------ pictures


def save_strip(reels: Mapping[str, Reel], heading: str, file: Path) -> None:
    """Write moments of an episode, evenly spread over its length, one row per side, as PNG."""
    rows = [_row(label, reel) for label, reel in reels.items()]
    _write(_framed(_stacked([_text(heading), *rows])), file, format="PNG")


def save_gif(reels: Mapping[str, Reel], heading: str, file: Path) -> None:
    """Write an episode as GIF, the sides next to each other; who ends first waits."""
    longest = max(reel.length for reel in reels.values())
    stride = -(-(longest + 1) // MOST_FRAMES)
    steps = [*range(0, longest, stride), longest]
    pictures = [_stacked([_text(heading), _pair_at(reels, t)]) for t in steps]
    first, *others = (
        _framed(one).quantize(128, dither=Image.Dither.NONE) for one in _padded(pictures)
    )
    pause = [min(SLOWEST, max(FASTEST, WHOLE // len(steps)))] * len(others) + [1500]
    _write(first, file, format="GIF", save_all=True, append_images=others, duration=pause, loop=0)


def _write(image: Image.Image, file: Path, **how: Any) -> None:
    try:
        image.save(file.expanduser(), **how)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror or error}") from None


def _row(label: str, reel: Reel) -> Image.Image:
    moments = sorted({round(reel.length * at / (MOMENTS - 1)) for at in range(MOMENTS)})
    shown = [_stacked([_enlarged(reel.frames[t]), _text(f"step {t}")]) for t in moments]
    return _stacked([_text(f"{label}   {_outcome(reel)}"), _beside(shown)])


def _pair_at(reels: Mapping[str, Reel], t: int) -> Image.Image:
    shown = []
    for label, reel in reels.items():
        step = min(t, reel.length)
        done = "  (end)" if step == reel.length else ""
        picture = _enlarged(reel.frames[step], 2 * SIDE)
        shown.append(_stacked([_text(label), picture, _text(f"step {step}{done}")]))
    return _beside(shown)


def _outcome(reel: Reel) -> str:
    told = [f"{name} {value:.4g}" for name, value in reel.metrics.items() if name == "success"]
    return ", ".join([*told, f"return {reel.reward:.4g}", f"{reel.length} steps"])


def _enlarged(frame: np.ndarray, side: int = SIDE) -> Image.Image:
    height, width = frame.shape[:2]
    times = max(1, round(side / max(height, width)))
    image = Image.fromarray(np.ascontiguousarray(frame, np.uint8))
    return image.resize((width * times, height * times), Image.Resampling.NEAREST)


def _text(words: str) -> Image.Image:
    font = ImageFont.load_default(12)
    width = int(font.getlength(words)) + 2
    image = Image.new("RGB", (width, LINE), PAPER)
    ImageDraw.Draw(image).text((0, 0), words, INK, font)
    return image


def _beside(images: list[Image.Image]) -> Image.Image:
    width = sum(one.width for one in images) + MARGIN * (len(images) - 1)
    sheet = Image.new("RGB", (width, max(one.height for one in images)), PAPER)
    left = 0
    for one in images:
        sheet.paste(one, (left, 0))
        left += one.width + MARGIN
    return sheet


def _stacked(images: list[Image.Image]) -> Image.Image:
    height = sum(one.height for one in images) + MARGIN * (len(images) - 1)
    sheet = Image.new("RGB", (max(one.width for one in images), height), PAPER)
    top = 0
    for one in images:
        sheet.paste(one, (0, top))
        top += one.height + MARGIN
    return sheet


def _framed(image: Image.Image) -> Image.Image:
    return ImageOps.expand(image, MARGIN, PAPER)


def _padded(images: list[Image.Image]) -> list[Image.Image]:
    """Bring images to one size; a GIF has only one."""
    size = (max(one.width for one in images), max(one.height for one in images))
    sheets = []
    for one in images:
        sheet = Image.new("RGB", size, PAPER)
        sheet.paste(one, (0, 0))
        sheets.append(sheet)
    return sheets
