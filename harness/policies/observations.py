"""How a policy sees: layout, dtype, range, frame stack and statistics, as part of the policy.

Environments show raw observations (pictures are u8[H, W, C]); what a network was trained on is
usually something else. `Obs` says what, and the harness makes it, the same on both sides.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from envs.errors import InputError, not_among

LAYOUTS = ("HWC", "CHW")
DTYPES = ("uint8", "float32")
FILLS = ("repeat", "zeros")
FULL = (0.0, 255.0)  # the range of raw pictures


@dataclass(frozen=True, eq=False)
class Obs:
    """What a policy sees of an environment's observations.

    In this order: the last `stack` observations, oldest first, along the channels; then `layout`;
    then `dtype` and `range`; then (x - mean) / std, clipped to [-clip, clip].

    Args:
        layout: "HWC" or "CHW"; for pictures.
        dtype: "uint8" (as shown) or "float32".
        range: what 0 and 255 become in float32, such as (0, 1); None leaves 0 … 255.
        stack: how many frames; with C channels each, the policy sees `stack` * C.
        fill: what stands for the frames before an episode's first: "repeat" shows it again,
            "zeros" shows zeros.
        mean, std: statistics in the unit of `range`: a number, one per channel that the policy
            sees, or an array of the shape that it sees. They are copied and never change.
        clip: limit of the normalized values.

    Raises:
        InputError: a setting that does not exist or contradicts another.
    """

    layout: str = "HWC"
    dtype: str = "uint8"
    range: tuple[float, float] | None = None
    stack: int = 1
    fill: str = "repeat"
    mean: Any = None
    std: Any = None
    clip: float | None = None

    def __post_init__(self) -> None:
        for name, choices in (("layout", LAYOUTS), ("dtype", DTYPES), ("fill", FILLS)):
            given = getattr(self, name)
            if given not in choices:
                raise InputError(not_among(f"obs: no {name} {given!r}", given, choices))
        if isinstance(self.stack, bool) or not isinstance(self.stack, int) or self.stack < 1:
            raise InputError(f"obs: stack: expected a whole number of at least 1, got {self.stack}")
        self._set("range", _ends(self.range))
        for name in ("mean", "std"):
            self._set(name, _frozen(name, getattr(self, name)))
        if (self.mean is None) != (self.std is None):
            raise InputError("obs: mean and std belong together, only one of them was given")
        if self.std is not None and not (self.std > 0).all():
            raise InputError("obs: std: expected numbers above zero")
        if self.clip is not None and (self.mean is None or not self.clip > 0):
            raise InputError("obs: clip is a positive limit of normalized values (mean and std)")
        if self.dtype == "uint8" and (self.range not in (None, FULL) or self.mean is not None):
            raise InputError("obs: a range or statistics need dtype='float32'")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def fingerprint(self) -> str:
        """sha256 over every setting and statistic."""
        summary = hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode())
        return summary.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain JSON data."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        for name in ("mean", "std"):
            plain[name] = None if plain[name] is None else plain[name].tolist()
        return {**plain, "range": None if self.range is None else list(self.range)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Obs:
        """Return what `to_dict` described; unknown settings are errors."""
        known = [one.name for one in fields(cls)]
        for name in plain:
            if name not in known:
                raise InputError(not_among(f"obs: no setting {name!r}", name, known))
        return cls(**plain)

    def __str__(self) -> str:
        told = [f"{self.layout} {self.dtype}"]
        if self.range is not None:
            told.append(f"in {self.range[0]:g} … {self.range[1]:g}")
        if self.stack > 1:
            told.append(f"{self.stack} frames, before the first: {self.fill}")
        if self.mean is not None:
            told.append("normalized")
        return ", ".join(told)

    # ---------------------------------------------------------------------------- what is seen

    def shape(self, shown: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of what the policy sees where the environment shows `shown`.

        Raises:
            InputError: a layout for something that is not a picture.
        """
        if len(shown) != 3 and self.layout != "HWC":
            raise InputError(
                f"obs: layout {self.layout} is for pictures, this environment shows {shown}"
            )
        *outer, last = shown
        seen = (*outer, last * self.stack)
        return (seen[2], *seen[:2]) if self.layout == "CHW" else seen

    def statistics(self, shown: tuple[int, ...]) -> dict[str, np.ndarray]:
        """Return mean and std as f32 arrays that broadcast with what is seen; {} without any.

        Raises:
            InputError: their shape fits neither the channels nor the whole.
        """
        if self.mean is None:
            return {}
        seen = self.shape(shown)
        return {name: self._broadcast(name, seen) for name in ("mean", "std")}

    def _broadcast(self, name: str, seen: tuple[int, ...]) -> np.ndarray:
        values: np.ndarray = getattr(self, name)
        channel_first = self.layout == "CHW" and len(seen) == 3
        channels = seen[0] if channel_first else seen[-1]
        if values.shape in ((), seen):
            return values
        if values.shape == (channels,):
            return values[:, None, None] if channel_first else values
        raise InputError(
            f"obs: {name} has shape {values.shape}, expected a number, ({channels},) or {seen}"
        )

    def binding(self, shown: tuple[int, ...], dtype: Any) -> Sight:
        """Return the hashable part of the view of one environment.

        Raises:
            InputError: it does not fit the environment.
        """
        self.shape(shown)
        self.statistics(shown)
        if np.dtype(dtype) != np.uint8 and (self.range is not None or self.dtype == "uint8"):
            raise InputError(
                f"obs: this environment shows {np.dtype(dtype)}, not pictures: say "
                "dtype='float32', and no range"
            )
        return Sight(
            self.layout, self.dtype, self.range, self.stack, self.fill, self.clip, tuple(shown)
        )


@dataclass(frozen=True)
class Sight:
    """An `Obs` for one shape of observations, without its statistics: what decides a program."""

    layout: str
    dtype: str
    range: tuple[float, float] | None
    stack: int
    fill: str
    clip: float | None
    shown: tuple[int, ...]

    def frames(self, dtype: Any) -> dict[str, np.ndarray] | None:
        """Return the memory of earlier frames with which an episode starts, for one lane."""
        if self.stack == 1:
            return None
        past = np.zeros((self.stack - 1, *self.shown), dtype)
        return {"past": past, "begun": np.zeros((), bool)}

    def see(self, numpy: Any, obs: Any, frames: Any, statistics: Mapping) -> tuple[Any, Any]:
        """Return (what the policy sees, the memory of frames after it).

        Args:
            numpy: the array module, NumPy or JAX's.
            obs: [..., *shown] with any leading axes.
            frames: what `frames` returned, with the same leading axes, or what came after.
            statistics: what `Obs.statistics` returned.
        """
        if self.stack > 1:
            obs, frames = self._stacked(numpy, obs, frames)
        if self.layout == "CHW":
            obs = numpy.moveaxis(obs, -1, -3)
        if self.dtype == "float32":
            obs = obs.astype(numpy.float32)
            if self.range not in (None, FULL):
                low, high = (np.float32(end) for end in self.range)
                obs = obs / np.float32(255.0)
                obs = obs if (low, high) == (0, 1) else obs * (high - low) + low
        if statistics:
            obs = (obs - statistics["mean"]) / statistics["std"]
            if self.clip is not None:
                obs = numpy.clip(obs, -np.float32(self.clip), np.float32(self.clip))
        return obs, frames

    def _stacked(self, numpy: Any, obs: Any, frames: Any) -> tuple[Any, dict[str, Any]]:
        axis = -len(self.shown) - 1
        now = numpy.expand_dims(obs, axis)
        past, begun = frames["past"], frames["begun"]
        if self.fill == "repeat":
            open_axes = (...,) + (None,) * (len(self.shown) + 1)
            past = numpy.where(numpy.asarray(begun)[open_axes], past, now)
        every = numpy.concatenate([past, now], axis)
        # A copy: a policy that writes into what it sees must not change what it will remember.
        newest = (..., slice(1, None), *(slice(None),) * len(self.shown))
        after = {"past": numpy.array(every[newest]), "begun": numpy.ones_like(begun)}
        joined = numpy.moveaxis(every, axis, -2)
        return joined.reshape(*joined.shape[:-2], joined.shape[-2] * joined.shape[-1]), after


def bind(candidate: Any, env: Any) -> Any:
    """Return a policy whose `apply` takes what `env` shows, where it declares how it sees.

    Statistics become part of its weights and earlier frames part of its memory, so that policies
    which differ only in those share one program, and both start anew with every episode.

    Raises:
        InputError: the declaration does not fit the environment.
    """
    spec: Obs | None = candidate.obs
    if spec is None or candidate.sight is not None:
        return candidate
    dtype = getattr(env, "observation_dtype", np.uint8)
    sight = spec.binding(tuple(env.observation_shape), dtype)
    return replace(
        candidate,
        apply=_seeing(candidate.apply, sight, candidate.on_host),
        weights=(candidate.weights, spec.statistics(sight.shown)),
        carry=candidate.carry if sight.stack == 1 else (sight.frames(dtype), candidate.carry),
        sight=sight,
    )


@lru_cache(maxsize=64)
def _seeing(apply: Callable, sight: Sight, on_host: bool) -> Callable:
    if on_host:
        numpy = np
    else:
        import jax.numpy as numpy

    def act(weights: Any, carry: Any, obs: Any, key: Any) -> tuple[Any, Any]:
        weights, statistics = weights
        frames, memory = (None, carry) if sight.stack == 1 else carry
        seen, frames = sight.see(numpy, obs, frames, statistics)
        if on_host:  # a transposed view computes with other roundings than what was trained on
            seen = np.ascontiguousarray(seen)
        action, memory = apply(weights, memory, seen, key)
        return action, memory if sight.stack == 1 else (frames, memory)

    return act


def _ends(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        raise InputError(f"obs: range: expected two numbers such as (0, 1), got {given}") from None
    if not low < high or not np.isfinite([low, high]).all():
        raise InputError(f"obs: range: expected the lower end first, got {given}")
    return low, high


def _frozen(name: str, given: Any) -> np.ndarray | None:
    """Return a private copy of a statistic, f32, that nobody can write into."""
    if given is None:
        return None
    try:
        values = np.array(given, np.float32)
    except (TypeError, ValueError):
        raise InputError(f"obs: {name}: expected numbers, got {type(given).__name__}") from None
    if not np.isfinite(values).all():
        raise InputError(f"obs: {name}: expected finite numbers")
    values.flags.writeable = False
    return values
