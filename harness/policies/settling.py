"""The dry run: of which kind a policy is, whether it fits, and how to wrap it where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from envs.errors import InputError
from harness.errors import RunError
from harness.policies.observations import Obs, bind
from harness.policy import Policy, observation_dtype
from harness.rollouts.host import AnswerError, NoAnswer, TimeLimit, call_on_host, host_memory

# What networks are usually trained on, tried to tell how a policy that cannot be called could be.
USUAL = (
    Obs("CHW", "float32", (0, 1)), Obs("HWC", "float32", (0, 1)), Obs("CHW"),
)  # fmt: skip
BATCHES = {"host-batch": (2, 3), "host-single": (1,)}


class PolicyRaises(InputError):
    """A policy that raised in every way it was called, and in no usual way could be wrapped."""


def settle(candidate: Policy, env: Any) -> tuple[Policy, str | None]:
    """Return a policy that plays in `env`, and what was found out about it, if anything.

    A policy whose kind was said is tried in that one. Any other is traced on one observation
    ("jax"), then called on NumPy batches of two and three ("host-batch"), then on a single one
    ("host-single"). What it declares to see (`Obs`) is what it is given.

    Raises:
        InputError: it works in none of these ways; the message says what each try gave, and how to
            wrap it where that is known. `PolicyRaises` where its own code failed in all of them.
    """
    candidate.check_fits(env)
    if candidate.kind == "state":
        return candidate, None
    open_ = candidate.kind == "jax" and not candidate.declared
    kinds = ("jax", *BATCHES) if open_ else (candidate.kind,)
    tried, problems = [], []
    for kind in kinds:
        chosen = bind(replace(candidate, kind=kind), env)
        problem = _problem(chosen, env)
        if problem is None:
            in_python = open_ and chosen.on_host
            found = f"policy {candidate.name} runs in Python ({kind})" if in_python else None
            return chosen, candidate.note or found
        tried.append(f"as {'JAX' if kind == 'jax' else kind}: {_one_line(problem)}")
        problems.append(problem)
    shown = f"the environment shows {np.dtype(observation_dtype(env))}"
    shown += f"{list(env.observation_shape)}"
    hint = _hint(candidate, env, problems)
    own_fault = not hint and not any(isinstance(one, AnswerError) for one in problems)
    refuse = PolicyRaises if own_fault else InputError
    raise refuse(f"policy {candidate.name} cannot be called; {'; '.join(tried)}; {shown}{hint}")


def _problem(bound: Policy, env: Any) -> Exception | None:
    """Return None if a policy of one kind answers as it should, else why it does not."""
    try:
        if not bound.on_host:
            return _traced(bound, env)
        for size in BATCHES[bound.kind]:
            obs = np.zeros((size, *env.observation_shape), observation_dtype(env))
            memory = host_memory(bound, size)
            with TimeLimit(bound.time_limit, bound.name) as limit:
                limit.call(call_on_host, bound, memory, obs, np.arange(size), env.num_actions)
    except NoAnswer as error:  # another kind of call would hang as well
        raise RunError(f"policy {bound.name} {error} in the dry run") from None
    except Exception as error:  # whatever foreign code raises is an answer here
        return error
    return None


def _traced(bound: Policy, env: Any) -> Exception | None:
    """Trace a JAX policy on one observation, or a batch of two; nothing is computed."""
    import jax
    import jax.numpy as jnp

    lanes = (2,) if bound.kind == "jax-batch" else ()
    obs = jax.ShapeDtypeStruct((*lanes, *env.observation_shape), observation_dtype(env))
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), lanes))
    memory = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (*lanes, *jnp.shape(leaf))),
                          bound.carry)  # fmt: skip

    def act(*arguments: Any) -> Any:
        action, carry = bound.apply(*arguments)
        return jnp.asarray(action), carry

    action, _ = jax.eval_shape(act, bound.weights, memory, obs, keys)
    whole = jnp.issubdtype(action.dtype, jnp.integer)
    if whole and action.shape in (lanes, (*lanes, 1)):
        return None
    expected = "two whole numbers" if lanes else "one whole number"
    found = f"returned {action.dtype}{list(action.shape)}, expected {expected}"
    scores = action.shape[-1:] == (env.num_actions,) and not whole
    return AnswerError(found + (" (scores? return their argmax(-1))" if scores else ""))


def _hint(candidate: Policy, env: Any, problems: list[Exception]) -> str:
    """Return how to wrap a policy that raised on raw pictures, if one of the usual ways works."""
    raised = all(not isinstance(one, AnswerError) for one in problems)
    if candidate.obs is not None or not raised or len(env.observation_shape) != 3:
        return ""
    for kind in ("host-batch", "host-single"):
        for obs in USUAL:
            found = _problem(bind(replace(candidate, kind=kind, obs=obs), env), env)
            if found is None or isinstance(found, AnswerError):
                declared = f"layout={obs.layout!r}, dtype={obs.dtype!r}"
                declared += ", range=(0, 1)" if obs.range else ""
                wrong = f", but it {found}" if found else ""
                trained = " with the range of its training" if obs.range else ""
                return (
                    f"; it can be called{trained} as harness.policy(..., kind={kind!r}, "
                    f"obs=harness.Obs({declared})){wrong}"
                )
    return ""


def _one_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    first = text[0] if text else ""
    return first if isinstance(error, AnswerError) else f"{type(error).__name__}: {first}"[:160]
