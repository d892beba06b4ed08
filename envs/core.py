"""What every environment offers: the `Env` protocol, `Outcome`, `Metric`, and `Config`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import jax

from envs import parameters
from envs.errors import InputError
from envs.parameters import Group


class Outcome(NamedTuple):
    """What one step brought, beside the next state."""

    reward: jax.Array  # f32[]
    terminated: jax.Array  # bool[]; the task ended
    truncated: jax.Array  # bool[]; the time limit was reached
    metrics: dict[str, jax.Array]  # name -> f32[], of the state after the step


@dataclass(frozen=True)
class Metric:
    """One number per episode: what it means and how large a difference in it is."""

    name: str
    scale: float  # a full-sized difference, in the metric's unit; tolerances are shares of it
    bounds: tuple[float, float] | None = None  # hard limits of an episode's value
    binary: bool = False
    unit: str = ""
    doc: str = ""
    direction: str = "higher"  # which way is better: higher | lower


class Env(Protocol):
    """One environment. `jax.vmap` of every method is correct; nothing resets by itself.

    An instance is frozen and hashable: it holds what changes the compiled program (sizes, horizon,
    which drawing stages are on). Everything else travels in `params`, so configurations that differ
    only in numbers, colours or pools share one program.
    """

    num_actions: int
    horizon: int
    observation_shape: tuple[int, ...]  # [H, W, C] for pictures
    observation_dtype: Any  # uint8 where an environment does not say
    metrics: tuple[Metric, ...]  # what an episode is judged by, the primary one first

    def reset(self, key: jax.Array, params: Any) -> Any:
        """Start the episode of `key`."""

    def step(self, state: Any, action: jax.Array, params: Any) -> tuple[Any, Outcome]:
        """Advance one step; `action` is i32[]. All randomness comes from the state's key."""

    def observe(self, state: Any, params: Any) -> jax.Array:
        """Return what the policy sees (a picture is u8[H, W, C]). Pure: a function of the state."""


class Config(Group):
    """One side of a pair, on the host: validated values, a digest, and `build()`."""

    environment: ClassVar[str] = ""
    version: ClassVar[int] = 1  # raised when a default or the meaning of a parameter changes

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """Build from nested plain data; whatever is absent keeps its default."""
        return parameters.group_from(cls, values)

    def replace(self, changes: Mapping[str, Any]) -> Config:
        """Return a copy with nested `changes` merged in: {"filters": {"hue_shift": 180}}."""
        return type(self).from_dict(_merge(self.to_dict(), changes))

    def to_dict(self) -> dict[str, Any]:
        """Return every parameter as nested plain data (what YAML holds)."""
        nested: dict[str, Any] = {}
        for path, _, value in parameters.walk(self):
            *groups, name = path.split(".")
            place = nested
            for group in groups:
                place = place.setdefault(group, {})
            place[name] = _plain(value)
        return nested

    def effective(self) -> dict[str, Any]:
        """Return {path: resolved value} of the parameters that matter here (see `parameters`)."""
        return parameters.effective(self)

    @property
    def digest(self) -> str:
        """sha256 over what effectively differs from the defaults: equal digests, equal behaviour.

        Leaving the defaults out keeps digests when a parameter is added; `version` guards the rest.
        (A parameter without effect needs no mention: the switch it hangs on differs.)
        """
        usual = type(self)().effective()
        own = {path: value for path, value in self.effective().items() if usual.get(path) != value}
        named = {"environment": self.environment, "version": self.version}
        return parameters.digest({**named, "values": own})

    def build(self) -> tuple[Env, Any]:
        """Return (Env, Params): the static part, and the traced numbers and tables."""
        raise NotImplementedError


def _plain(value: Any) -> Any:
    if isinstance(value, parameters.Uniform):
        return {"uniform": [value.low, value.high]}
    if isinstance(value, tuple):
        return [list(member) if isinstance(member, tuple) else member for member in value]
    return value


def _merge(base: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = copy.deepcopy(base)
    for key, value in changes.items():
        inside = merged.get(key)
        group = isinstance(inside, dict) and set(inside) != {"uniform"}
        if group and not isinstance(value, Mapping):
            raise InputError(f"{key}: expected a mapping of parameters, got {value!r}")
        merged[key] = _merge(inside, value) if group else value
    return merged
