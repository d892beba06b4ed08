"""How weights without a manifest act: the user names the code once, `--apply my_net.py:NAME`.

NAME is one of

```
act       a function of the parameters: act(params, obs) -> action, act(params, obs, key), or with
          a memory act(params, obs, carry, key) -> (action, carry)
module    a network: module.init(key, obs) -> variables and module.apply(variables, obs) -> logits,
          or (logits, ...); a Flax module is one. --actions says how it acts (default: sample)
make      a function (or class) that returns one of these two; called with the arguments of the
          checkpoint's manifest, or with none
```

`obs` is ONE observation; networks that insist on a batch get one of size one. Beside `act` the file
may define

```
init(key, obs) -> params            what the parameters look like: every leaf is then compared
initial_carry                       the memory an episode starts with, or a function returning it
statistics = {"mean": "obs_rms/mean", "var": "obs_rms/var"}
                                    where in the checkpoint its normalization statistics are;
                                    act then takes them as its argument `statistics`
```
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from envs.errors import InputError
from harness.policies.importing import attribute, module_of

FORMS = "act(params, obs[, key]), a network with .init and .apply, or a factory of either"


@dataclass(frozen=True)
class Application:
    """What the user said the weights belong to."""

    name: str  # as reports call it
    target: Any  # the function, network or factory
    module: ModuleType | None = None  # where its companions are; without one, its own attributes
    code: str = ""  # sha256 of the file, where it is one

    def companion(self, name: str) -> Any:
        """Return what stands beside the function under a name, or None."""
        own = getattr(self.target, name, None)
        return own if own is not None else getattr(self.module, name, None)


@dataclass(frozen=True)
class Acting:
    """A function of the parameters, with what it needs."""

    function: Callable
    init: Callable | None = None
    carry: Any = None
    statistics: Mapping[str, str] = field(default_factory=dict)


def application(what: Any) -> Application:
    """Return what "module:attr", "file.py:attr", or a function or network itself stands for.

    Raises:
        InputError: there is no such thing.
    """
    if not isinstance(what, str):
        return Application(getattr(what, "__name__", type(what).__name__), what)
    place, colon, name = what.rpartition(":")
    if not colon or not name.isidentifier():
        raise InputError(f"--apply {what!r}: expected my_net.py:NAME or module:NAME ({FORMS})")
    file = Path(place).expanduser()
    code = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    return Application(f"{file.name}:{name}", attribute(what), module_of(what), code)


def resolve(one: Application, arguments: Mapping[str, Any]) -> Any:
    """Return the network, or `Acting`; a factory is called with a manifest's arguments.

    Raises:
        InputError: it is none of the accepted forms, or the factory raised.
    """
    target = one.target
    if is_network(target):
        return target
    if not callable(target):
        raise InputError(f"--apply {one.name}: a {type(target).__name__}; expected {FORMS}")
    if not _called_with(target, arguments):
        return _acting(one)
    made = _made(one, json.dumps(dict(arguments), sort_keys=True))
    if is_network(made):
        return made
    if not callable(made) or _called_with(made, {}):
        raise InputError(
            f"--apply {one.name}: its factory returned a {type(made).__name__}; expected {FORMS}"
        )
    return _acting(Application(one.name, made, one.module))


def is_network(one: Any) -> bool:
    """Return whether something is a network as a Flax module is: an object, not its class."""
    return not isinstance(one, type) and all(
        callable(getattr(one, name, None)) for name in ("init", "apply")
    )


@lru_cache(maxsize=64)
def _made(one: Application, arguments: str) -> Any:
    """Equal arguments give the same network, so that all seeds share one compiled program."""
    try:
        return one.target(**json.loads(arguments))
    except Exception as error:  # whatever the user's code raises
        raise InputError(f"--apply {one.name} failed: {type(error).__name__}: {error}") from error


def _called_with(function: Callable, arguments: Mapping[str, Any]) -> bool:
    """Return whether a function can be called with these keywords, as a factory is."""
    try:
        inspect.signature(function).bind(**arguments)
    except (TypeError, ValueError):
        return False
    return True


def _acting(one: Application) -> Acting:
    carry = one.companion("initial_carry")
    statistics = one.companion("statistics") or {}
    if not isinstance(statistics, Mapping):
        raise InputError(f"--apply {one.name}: statistics is not a mapping of name to place")
    takes_them = "statistics" in inspect.signature(one.target).parameters
    if takes_them != bool(statistics):
        missing = "the file does not say where they are" if takes_them else "it does not take them"
        raise InputError(
            f"--apply {one.name}: statistics: {missing}; "
            'beside act(..., statistics) stands statistics = {"mean": "obs_rms/mean", ...}'
        )
    made = carry() if callable(carry) else carry
    return Acting(one.target, one.companion("init"), made, dict(statistics))


# ---------------------------------------------------------------------------------- as a policy


@dataclass(frozen=True)
class OneByOne:
    """A network that insists on a batch, as a network of one observation."""

    network: Any

    def init(self, key: Any, obs: Any) -> Any:
        return self.network.init(key, obs[None])

    def apply(self, variables: Any, obs: Any) -> Any:
        import jax

        def only(leaf: Any) -> Any:
            if leaf.shape[:1] != (1,):
                raise ValueError(f"expected a batch of one, got {leaf.shape}")
            return leaf[0]

        return jax.tree.map(only, self.network.apply(variables, obs[None]))


@lru_cache(maxsize=64)
def as_apply(acting: Callable, takes: int, has_carry: bool, has_statistics: bool) -> Callable:
    """Return (weights, carry, obs, key) -> (action, carry) of a function of the parameters.

    The same function gives the same result, so that its training seeds share compiled programs.
    """

    def call(weights: Any, *arguments: Any) -> Any:
        if has_statistics:
            params, statistics = weights["params"], weights["statistics"]
            return acting(params, *arguments, statistics=statistics)
        return acting(weights, *arguments)

    if has_carry:
        return lambda weights, carry, obs, key: call(weights, obs, carry, key)
    if takes == 2:
        return lambda weights, carry, obs, key: (call(weights, obs), carry)
    return lambda weights, carry, obs, key: (call(weights, obs, key), carry)


def count_arguments(acting: Acting, name: str) -> int:
    """Return how many arguments `act` takes by position; `statistics` comes by its name.

    Raises:
        InputError: they are not those of one of the accepted forms.
    """
    parameters = [
        one
        for one in inspect.signature(acting.function).parameters.values()
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.name != "statistics"
    ]
    takes = sum(one.default is one.empty for one in parameters)
    takes += takes == 2 and any(one.name in ("key", "rng") for one in parameters[2:])
    wanted = (4,) if acting.carry is not None else (2, 3)
    if takes not in wanted:
        hint = " (the file defines no initial_carry)" if takes == 4 else ""
        raise InputError(f"--apply {name} takes {takes} arguments{hint}; expected {FORMS}")
    return takes
