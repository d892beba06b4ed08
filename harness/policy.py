"""What a policy is here, and how a function, a checkpoint or a built-in becomes one.

The contract: `policy(obs, key) -> action` on ONE observation, u8[H, W, C], in JAX; the harness
vmaps it. Policies that JAX cannot trace run in Python, outside compiled code. What a policy sees
instead of the raw observation (layout, dtype, range, frames, statistics) is its `Obs`.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from envs.errors import InputError, not_among
from harness.policies.observations import Obs, Sight
from harness.rollouts.host import TIME_LIMIT

KINDS = ("jax", "jax-batch", "host-batch", "host-single")
ACTIONS = ("own", "sample", "greedy")
BUILTINS = ("ppo", "rad", "random", "noop", "right", "right-jump", "oracle", "greedy-manhattan")
# Built-in policies that see the latent state; environments have them as methods of this name.
SEES_STATE = {"oracle": "oracle", "greedy-manhattan": "greedy_manhattan"}
NOT_FINITE = -(2**31)  # the action of a JAX policy whose logits are not finite
BLIND = ("random", "noop", "right-jump")  # baselines that never look at the picture


@dataclass(frozen=True)
class Policy:
    """One trained policy (one training seed).

    `apply(weights, carry, obs, key) -> (action, carry)`. For kind "jax" all but `weights` belong to
    one lane; for "jax-batch" and "host-batch" they have a leading axis of lanes. Policies that
    share `apply` share compiled programs.
    """

    name: str
    apply: Callable
    kind: str = "jax"
    weights: Any = None
    carry: Any = None  # the memory an episode starts with, for one lane
    actions: str = "own"  # sample | greedy | own: a callable decides for itself
    seed: int | None = None  # training seed; None: its position in the list
    train: Mapping[str, Any] = field(
        default_factory=dict
    )  # training side by name and digest, if known
    steps: int | None = None
    fingerprint: str | None = None  # sha256 of the weights and of what they belong to
    observation_shape: tuple[int, ...] | None = None
    num_actions: int | None = None
    origin: Mapping[str, Any] = field(
        default_factory=dict
    )  # of checkpoints: where the weights came from and how they were checked, plain data
    obs: Obs | None = None  # what it sees; None: what the environment shows
    sight: Sight | None = None  # the same for one environment, once `apply` was bound to it
    declared: bool = False  # its kind was said: a dry run tries no other
    note: str | None = None  # what was found out about it, worth one line
    time_limit: float = TIME_LIMIT  # s per call of a policy that runs in Python

    @property
    def on_host(self) -> bool:
        return self.kind.startswith("host")

    def check_fits(self, env: Any) -> None:
        """Refuse an environment whose observations or actions the policy was not made for."""
        if self.observation_shape not in (None, tuple(env.observation_shape)):
            raise InputError(
                f"policy {self.name} sees {self.observation_shape}, "
                f"the environment shows {tuple(env.observation_shape)}"
            )
        if self.num_actions not in (None, env.num_actions):
            raise InputError(
                f"policy {self.name} has {self.num_actions} actions, "
                f"the environment has {env.num_actions}"
            )


def policy(
    function: Callable, *, kind: str | None = None, carry: Any = None, name: str | None = None,
    seed: int | None = None, actions: str = "own", obs: Obs | None = None,
    time_limit: float = TIME_LIMIT,
) -> Policy:  # fmt: skip
    """Make a policy of a function, saying explicitly what `evaluate` would otherwise find out.

    Args:
        function: `fn(obs)`, `fn(obs, key)`, or with a memory `fn(obs, carry, key) -> (action,
            carry)`.
        kind: "jax" (one observation, traceable; the default), "jax-batch" (u8[N, H, W, C] and N
            keys), "host-batch" (NumPy u8[N, H, W, C]) or "host-single" (NumPy u8[H, W, C]). Host
            functions get an integer seed in the place of the key.
        carry: the memory an episode starts with (of one lane), for functions with a memory.
        name: how reports call it.
        seed: its training seed; its position in the list by default.
        actions: "sample" says that a host function draws numbers of its own, so that playing an
            episode again may go otherwise; "own" (it decides for itself) must repeat itself.
        obs: what the function sees instead of the raw observation (see `harness.Obs`).
        time_limit: how long a call of a host function may take, in seconds.

    Raises:
        InputError: not a function, or a setting that does not exist.
    """
    if isinstance(function, Policy):
        if any(given is not None for given in (kind, carry, name, seed, obs)):
            raise InputError(f"{function.name} is a policy already; settings go to its function")
        return function
    if not callable(function):
        raise InputError(f"a policy is a function of an observation, not {function!r}")
    if kind is not None and kind not in KINDS:
        raise InputError(not_among(f"no kind of policy {kind!r}", kind, KINDS))
    if actions not in ACTIONS:
        raise InputError(not_among(f"no action mode {actions!r}", actions, ACTIONS))
    if not (obs is None or isinstance(obs, Obs)):
        raise InputError(f"obs: expected harness.Obs(...), got {type(obs).__name__}")
    label = name or getattr(function, "__name__", type(function).__name__)
    apply = _with_signature(function, carry is not None)
    return Policy(
        label, apply, kind or "jax", carry=carry, seed=seed, actions=actions, obs=obs,
        declared=kind is not None, time_limit=time_limit,
    )  # fmt: skip


def _with_signature(function: Callable, has_carry: bool) -> Callable:
    """Return (weights, carry, obs, key) -> (action, carry) for any of the accepted signatures.

    The same function gives the same result, so that it is compiled once however often it is used.
    """
    try:
        return _adapted(function, has_carry)
    except TypeError:  # a callable that cannot be hashed
        return _adapted.__wrapped__(function, has_carry)


@lru_cache(maxsize=256)
def _adapted(function: Callable, has_carry: bool) -> Callable:
    takes = _count_positional(function)
    if has_carry:
        if takes is not None and takes < 3:
            raise InputError("a policy with a memory is fn(obs, carry, key) -> (action, carry)")
        return lambda _, carry, obs, key: function(obs, carry, key)
    if takes == 1:
        return lambda _, carry, obs, key: (function(obs), carry)
    if takes is None or takes == 2:
        return lambda _, carry, obs, key: (function(obs, key), carry)
    raise InputError(
        f"a policy is fn(obs), fn(obs, key) or, with harness.policy(fn, carry=...), "
        f"fn(obs, carry, key); this one takes {takes} arguments"
    )


def _count_positional(function: Callable) -> int | None:
    """Return how many arguments must or may come by position, or None where nothing tells."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.kind in positional and p.default is p.empty]
    optional = [p for p in parameters if p.kind in positional and p.default is not p.empty]
    takes_key = any(p.name in ("key", "rng") for p in optional)
    return len(required) + (1 if takes_key and len(required) == 1 else 0)


# ------------------------------------------------------------------------------- from networks


def from_checkpoint(checkpoint: Any, name: str, actions: str | None = None) -> Policy:
    """Return the policy of an opened checkpoint; `actions` overrides what its manifest declares."""
    from harness.policies.checkpoint import origin_of

    manifest = checkpoint.manifest
    mode = actions or manifest["actions"]
    return Policy(
        name=name,
        apply=network_policy(checkpoint.network, mode),
        weights=checkpoint.variables,
        actions=mode,
        seed=int(manifest["seed"]),
        train=manifest["train"],
        steps=manifest.get("steps"),
        fingerprint=checkpoint.fingerprint,
        observation_shape=tuple(manifest["observation"]["shape"]),
        num_actions=manifest["num_actions"],
        origin=origin_of(checkpoint),
    )


def logits_of(output: Any) -> Any:
    """Return the logits among a network's outputs: its output, or the first of several."""
    return output[0] if isinstance(output, (tuple, list)) else output


@lru_cache(maxsize=64)
def network_policy(network: Any, mode: str) -> Callable:
    """Return (weights, carry, obs, key) -> (action, carry) of a network; mode: sample | greedy."""
    import jax
    import jax.numpy as jnp

    def act(weights, carry, obs, key):
        logits = logits_of(network.apply(weights, obs))
        greedy = mode == "greedy"
        action = logits.argmax(-1) if greedy else jax.random.categorical(key, logits)
        # The maximum is not finite where one is NaN or +inf; -inf only rules an action out.
        return jnp.where(jnp.isfinite(logits.max(-1)), action, NOT_FINITE), carry

    act.logits = lambda weights, obs: logits_of(network.apply(weights, obs))  # the policy shift
    return act


def available_scripts(env: Any) -> tuple[str, ...]:
    """Return the built-in policies that exist for an environment; all but "random" are its own."""
    scripts = tuple(name for name, _ in getattr(env, "scripts", ()))
    return ("random", *scripts, *(name for name in SEES_STATE if hasattr(env, SEES_STATE[name])))


def builtin(name: str, env: Any) -> Policy:
    """Return a built-in policy that needs no training and never looks at the picture."""
    if name not in available_scripts(env):
        choices = available_scripts(env)
        raise InputError(not_among(f"this environment has no script {name!r}", name, choices))
    facts = {"name": name, "seed": 0}
    facts["fingerprint"] = hashlib.sha256(f"builtin:{name}".encode()).hexdigest()
    if name == "random":
        return Policy(apply=_random_policy(env.num_actions), actions="sample", **facts)
    if name in SEES_STATE:
        return Policy(apply=_sees_state(SEES_STATE[name]), kind="state", **facts)
    action = np.int32(dict(env.scripts)[name])
    return Policy(apply=_repeat, weights=action, actions="greedy", **facts)


@lru_cache(maxsize=8)
def _sees_state(method: str) -> Callable:
    return lambda env, state, params: getattr(env, method)(state, params)


@lru_cache(maxsize=8)
def _random_policy(num_actions: int) -> Callable:
    import jax

    return lambda _, carry, obs, key: (jax.random.randint(key, (), 0, num_actions), carry)


def _repeat(action, carry, obs, key):
    """A script: its "weights" are its action, so that all scripts share one program."""
    return action, carry


def observation_dtype(env: Any) -> Any:
    """Return the dtype of an environment's observations; pictures, u8, unless it says otherwise."""
    return getattr(env, "observation_dtype", np.uint8)


class _CallableModule(ModuleType):
    """`harness.policy` names this module once it was imported; called, it is the function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Policy:
        return policy(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
