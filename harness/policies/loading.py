"""From one checkpoint to one policy: its weights, the code they belong to, and that both fit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from envs.errors import InputError
from harness.policies.applying import (
    FORMS,
    Acting,
    Application,
    OneByOne,
    as_apply,
    count_arguments,
    resolve,
)
from harness.policies.checkpoint import (
    check_golden,
    load_checkpoint,
    read_manifest,
    read_variables,
    rules_of,
)
from harness.policies.fitting import Misfit, fit, part_at, whole_or_params
from harness.policies.layout import LAST, Step, choose, step_at
from harness.policies.settling import settle
from harness.policies.trainings import Training
from harness.policies.weights import add_leaves, digest_of, leaves_of, read_weights
from harness.policy import (
    Policy,
    from_checkpoint,
    logits_of,
    network_policy,
    observation_dtype,
)

VERIFIED, UNVERIFIED = "verified", "leaves unverified"


@dataclass(frozen=True)
class Request:
    """What the user said about how checkpoints are to be read."""

    env: Any
    note: Callable[[str], None]
    actions: str | None = None
    step: int | str = LAST
    apply: Application | None = None
    params_key: str | None = None
    allow_extra: bool = False
    sides: Mapping[str, str] | None = None  # training configurations, name -> digest; None: all


@dataclass(frozen=True)
class _Made:
    """A policy's code and weights."""

    apply: Callable
    weights: Any
    carry: Any = None
    actions: str = "own"
    taken_from: str = ""
    checked: str = VERIFIED
    ignored: tuple[str, ...] = ()


def load_policy(training: Training, request: Request, name: str) -> Policy:
    """Open one training's checkpoint, read-only, and make a policy of it.

    Raises:
        InputError: nothing complete is there; nothing says what code the weights belong to; they do
            not fit it.
    """
    step, passed_over = choose(training.place, _wanted(training.place, request.step))
    for one in passed_over:
        request.note(f"{one.place}: skipped, {one.problem}")
    if step.form == "policy" and request.apply is None:
        _refuse_unused(request, "a checkpoint with a manifest says where its parameters are")
        return from_checkpoint(load_checkpoint(step.place), name, request.actions)
    if request.apply is None:
        raise InputError(
            f"{step.place}: weights without a manifest; say what code they belong to, "
            f"--apply my_net.py:NAME ({FORMS}); --describe-policy shows what is there"
        )
    one = _applied(step, request.apply, request, name)
    return one if one.seed is not None else replace(one, seed=training.seed)


def _wanted(place: Path, number: int | str) -> int | str:
    """A lone checkpoint that is named after no step is the one that its manifest says."""
    alone = step_at(place)
    named = alone is None or alone.form != "policy" or alone.number is not None
    return number if named or read_manifest(place).get("steps") != number else LAST


def trained_on(training: Training) -> Mapping[str, Any]:
    """Return what the manifest of the last checkpoint says it was trained on, if it has one."""
    step, _ = choose(training.place, LAST)
    return read_manifest(step.place).get("train", {}) if step.form == "policy" else {}


def _refuse_unused(request: Request, why: str) -> None:
    options = {"--params-key": request.params_key, "--allow-extra": request.allow_extra}
    for option, given in options.items():
        if given:
            raise InputError(f"{option} goes with --apply: {why}")


def _applied(step: Step, application: Application, request: Request, name: str) -> Policy:
    manifest = read_manifest(step.place) if step.form == "policy" else {}
    tree = read_variables(step.place, manifest) if manifest else read_weights(step)
    code = resolve(application, manifest.get("arguments", {}))
    _freeze(tree)
    if isinstance(code, Acting):
        if request.actions is not None:
            raise InputError("--actions is for networks; a function decides for itself")
        made = _from_function(step, tree, code, application, request)
    else:
        made = _from_network(step, tree, code, request, manifest.get("actions"))
    if made.ignored:
        leaves = ", ".join(made.ignored)
        request.note(f"{step.place}: ignored, as --allow-extra says: {leaves}")
    return Policy(
        name=name,
        apply=made.apply,
        weights=made.weights,
        carry=made.carry,
        actions=made.actions,
        seed=manifest.get("seed"),
        train=manifest.get("train", {}),
        steps=manifest.get("steps", step.number),
        fingerprint=_fingerprint(application, made),
        observation_shape=tuple(manifest["observation"]["shape"]) if manifest else None,
        num_actions=manifest.get("num_actions"),
        origin={**_origin(step, made), **rules_of(manifest)},
    )


def _origin(step: Step, made: _Made) -> dict[str, Any]:
    """Return what a report says of where the weights came from; plain data."""
    leaves = leaves_of(made.weights)
    facts = {
        "form": step.form.lstrip("."),
        "step": step.number,
        "taken_from": made.taken_from,
        "leaves": len(leaves),
        "numbers": int(sum(np.size(leaf) for leaf in leaves.values())),
        "dtypes": sorted({str(leaf.dtype) for leaf in leaves.values()}),
        "checked": made.checked,
        "ignored": list(made.ignored),
    }
    if isinstance(made.weights, Mapping) and "statistics" in made.weights:
        facts["statistics"] = digest_of(made.weights["statistics"])
    return facts


def _fingerprint(application: Application, made: _Made) -> str:
    summary = hashlib.sha256()
    named = {"apply": application.name, "code": application.code, "actions": made.actions}
    summary.update(json.dumps(named, sort_keys=True).encode())
    add_leaves(summary, made.weights)
    return summary.hexdigest()


def _freeze(tree: Any) -> None:
    """What was saved stays as it is, whatever foreign code does with it."""
    for leaf in leaves_of(tree).values():
        leaf.setflags(write=False)


# ------------------------------------------------------------------------------------- networks


def _from_network(
    step: Step, tree: Any, network: Any, request: Request, declared: str | None
) -> _Made:
    """Fit a network, as it is or, where it insists on a batch, with one of size one."""
    problems = []
    for form in (network, OneByOne(network)):
        try:
            fitted = _fitted_network(step, tree, form, request)
        except InputError as error:
            problems.append(error)
            continue
        if step.form == "policy":
            check_golden(step.place, network, fitted.tree)
        mode = request.actions or declared or "sample"
        apply = network_policy(form, mode)
        return _Made(
            apply, fitted.tree, actions=mode, taken_from=fitted.where, ignored=fitted.ignored
        )
    misfits = [one for one in problems if isinstance(one, Misfit)]
    raise (misfits or problems)[0]


def _fitted_network(step: Step, tree: Any, network: Any, request: Request) -> Any:
    import jax

    key, obs = _key_and_observation(request.env)
    try:
        expected = jax.eval_shape(network.init, key, obs)
        logits = logits_of(jax.eval_shape(network.apply, expected, obs))
    except Exception as error:  # whatever the user's network raises
        raise InputError(_failed("a network", request, error)) from error
    wanted = (request.env.num_actions,)
    if getattr(logits, "shape", None) != wanted:
        raise InputError(
            f"--apply {request.apply.name}: its logits for one observation are "
            f"{getattr(logits, 'shape', type(logits).__name__)}, expected {wanted}"
        )
    return fit(
        tree, expected, name=step.place, key=request.params_key, allow_extra=request.allow_extra
    )


def _key_and_observation(env: Any) -> tuple[Any, Any]:
    import jax

    obs = jax.ShapeDtypeStruct(tuple(env.observation_shape), observation_dtype(env))
    return jax.eval_shape(jax.random.key, 0), obs


def _failed(what: str, request: Request, error: Exception) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"--apply {request.apply.name}: as {what} it fails, {type(error).__name__}: {first}"


# ------------------------------------------------------------------------------------ functions


def _from_function(
    step: Step, tree: Any, acting: Acting, application: Application, request: Request
) -> _Made:
    takes = count_arguments(acting, application.name)
    has_carry, has_statistics = acting.carry is not None, bool(acting.statistics)
    apply = as_apply(acting.function, takes, has_carry, has_statistics)
    statistics = _statistics(step, tree, acting.statistics)

    def made(part: Any, **facts: Any) -> _Made:
        weights = {"params": part, "statistics": statistics} if has_statistics else part
        return _Made(apply, weights, acting.carry, **facts)

    if acting.init is None:
        parts = whole_or_params(tree, name=step.place, key=request.params_key)
        tries = [made(part, taken_from=where, checked=UNVERIFIED) for where, part in parts]
        return _first_that_runs(tries, step, request)
    import jax

    try:
        expected = jax.eval_shape(acting.init, *_key_and_observation(request.env))
    except Exception as error:  # whatever the user's code raises
        raise InputError(_failed("init(key, obs)", request, error)) from error
    fitted = fit(
        tree, expected, name=step.place, key=request.params_key, allow_extra=request.allow_extra
    )
    return made(fitted.tree, taken_from=fitted.where, ignored=fitted.ignored)


def _statistics(step: Step, tree: Any, places: Mapping[str, str]) -> dict[str, Any]:
    found = {name: part_at(tree, place) for name, place in places.items()}
    missing = [places[name] for name, part in found.items() if part is None]
    if missing:
        there = ", ".join(tree) if isinstance(tree, Mapping) else "no such names"
        raise InputError(
            f"{step.place}: the policy needs statistics that the checkpoint does not hold: "
            f"{', '.join(missing)} (there: {there})"
        )
    return found


def _first_that_runs(tries: list[_Made], step: Step, request: Request) -> _Made:
    """Without a declared expectation a dry run is the check of which part the parameters are."""
    problems = []
    for one in tries:
        candidate = Policy(request.apply.name, one.apply, weights=one.weights, carry=one.carry)
        try:
            settle(candidate, request.env)
        except InputError as error:
            problems.append(f"{one.taken_from}: {error}")
        else:
            return one
    raise InputError(f"{step.place}: no part of it can be the parameters; " + "; ".join(problems))
