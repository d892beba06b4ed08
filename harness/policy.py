"""What a policy is here, and how a function, a checkpoint or a built-in becomes one.

The contract: `policy(obs, key) -> action` on ONE observation, u8[H, W, C], in JAX; the harness
vmaps it. Policies that JAX cannot trace run in Python, outside compiled code.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from envs.errors import InputError, not_among

KINDS = ("jax", "jax-batch", "host-batch", "host-single")
ACTIONS = ("own", "sample", "greedy")
BUILTINS = ("ppo", "random", "noop", "right", "right-jump", "oracle", "greedy-manhattan")
# Built-in policies that see the latent state; environments have them as methods of this name.
SEES_STATE = {"oracle": "oracle", "greedy-manhattan": "greedy_manhattan"}
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
    seed: int | None = None, actions: str = "own",
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
    """
    if isinstance(function, Policy):
        return function
    if not callable(function):
        raise InputError(f"a policy is a function of an observation, not {function!r}")
    if kind is not None and kind not in KINDS:
        raise InputError(not_among(f"no kind of policy {kind!r}", kind, KINDS))
    if actions not in ACTIONS:
        raise InputError(not_among(f"no action mode {actions!r}", actions, ACTIONS))
    label = name or getattr(function, "__name__", type(function).__name__)
    apply = _with_signature(function, carry is not None)
    return Policy(label, apply, kind or "jax", carry=carry, seed=seed, actions=actions)


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
    manifest = checkpoint.manifest
    mode = actions or manifest["actions"]
    return Policy(
        name=name,
        apply=_network_policy(checkpoint.network, mode),
        weights=checkpoint.variables,
        actions=mode,
        seed=int(manifest["seed"]),
        train=manifest["train"],
        steps=manifest.get("steps"),
        fingerprint=checkpoint.fingerprint,
        observation_shape=tuple(manifest["observation"]["shape"]),
        num_actions=manifest["num_actions"],
    )


@lru_cache(maxsize=64)
def _network_policy(network: Any, mode: str) -> Callable:
    import jax

    def act(weights, carry, obs, key):
        logits, _ = network.apply(weights, obs)
        if mode == "greedy":
            return logits.argmax(-1), carry
        return jax.random.categorical(key, logits), carry

    act.logits = lambda weights, obs: network.apply(weights, obs)[0]  # for the policy shift
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
    if name == "random":
        return Policy(name=name, apply=_random_policy(env.num_actions), actions="sample", seed=0)
    if name in SEES_STATE:
        return Policy(name=name, apply=_sees_state(SEES_STATE[name]), kind="state", seed=0)
    action = np.int32(dict(env.scripts)[name])
    return Policy(name=name, apply=_repeat, weights=action, actions="greedy", seed=0)


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


# ----------------------------------------------------------------------------------- dry run


def settle(candidate: Policy, env: Any) -> tuple[Policy, str | None]:
    """Return a policy of the right kind for `env`, found out by a dry run, and what was chosen.

    A traceable function of one observation stays "jax". Anything else is tried on NumPy batches of
    two and three observations ("host-batch"), then on a single one ("host-single").

    Raises:
        InputError: it works in none of these ways; the message says what each try gave.
    """
    candidate.check_fits(env)
    if candidate.kind != "jax":
        return candidate, None
    problem = _try_tracing(candidate, env)
    if problem is None:
        return candidate, None
    tried = [f"as JAX: {problem}"]
    for kind, sizes in (("host-batch", (2, 3)), ("host-single", (1,))):
        chosen = replace(candidate, kind=kind)
        problem = _try_on_host(chosen, env, sizes)
        if problem is None:
            return chosen, f"policy {candidate.name} runs in Python ({kind})"
        tried.append(f"as {kind}: {problem}")
    raise InputError(f"policy {candidate.name} cannot be called; " + "; ".join(tried))


def observation_dtype(env: Any) -> Any:
    """Return the dtype of an environment's observations; pictures, u8, unless it says otherwise."""
    return getattr(env, "observation_dtype", np.uint8)


def _one_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:160]


def _try_tracing(candidate: Policy, env: Any) -> str | None:
    """Return None if the policy traces to one whole-numbered action, else the problem."""
    import jax
    import jax.numpy as jnp

    obs = jax.ShapeDtypeStruct(tuple(env.observation_shape), observation_dtype(env))
    key = jax.eval_shape(jax.random.key, 0)

    def act(*arguments):
        action, carry = candidate.apply(*arguments)
        return jnp.asarray(action), carry

    try:
        action, _ = jax.eval_shape(act, candidate.weights, candidate.carry, obs, key)
    except Exception as error:  # whatever foreign code raises is an answer here
        return _one_line(error)
    if action.shape not in ((), (1,)) or not jnp.issubdtype(action.dtype, jnp.integer):
        return f"returned {action.dtype}{list(action.shape)}, expected one whole number"
    return None


def _try_on_host(candidate: Policy, env: Any, sizes: tuple[int, ...]) -> str | None:
    for size in sizes:
        obs = np.zeros((size, *env.observation_shape), observation_dtype(env))
        try:
            call_on_host(candidate, None, obs, np.arange(size), env.num_actions)
        except Exception as error:  # whatever foreign code raises is an answer here
            return _one_line(error)
    return None


def call_on_host(
    candidate: Policy, carry: Any, obs: np.ndarray, seeds: np.ndarray, num_actions: int
) -> tuple[np.ndarray, Any]:
    """Ask a host policy for N actions: i32[N], and its new carry.

    It gets private copies, so that writing into its input changes nothing.

    Raises:
        ValueError: the shape or the values are not N whole numbers in [0, num_actions).
    """
    if candidate.kind == "host-single":
        carries = carry if carry is not None else [None] * len(obs)
        answers = [
            candidate.apply(candidate.weights, memory, one.copy(), int(seed))
            for one, memory, seed in zip(obs, carries, seeds, strict=True)
        ]
        actions = [np.asarray(action).reshape(-1) for action, _ in answers]
        if any(action.shape != (1,) for action in actions):
            raise ValueError("expected one action per observation")
        actions, carry = np.concatenate(actions), [memory for _, memory in answers]
    else:
        seed = int(seeds[0]) if len(seeds) else 0
        actions, carry = candidate.apply(candidate.weights, carry, obs.copy(), seed)
        actions = np.asarray(actions)
    if actions.shape not in ((len(obs),), (len(obs), 1)):
        raise ValueError(f"returned shape {actions.shape}, expected ({len(obs)},)")
    actions = actions.reshape(len(obs))
    if not np.issubdtype(actions.dtype, np.integer):
        raise ValueError(f"returned {actions.dtype}, expected whole numbers")
    if actions.min(initial=0) < 0 or actions.max(initial=0) >= num_actions:
        raise ValueError(f"returned actions outside [0, {num_actions})")
    return actions.astype(np.int32), carry


class _CallableModule(ModuleType):
    """`harness.policy` names this module once it was imported; called, it is the function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Policy:
        return policy(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
