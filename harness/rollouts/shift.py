"""The induced policy shift: does the policy act differently when it sees the held-out picture?

Episodes are played on the training side. At every step the policy is also shown the held-out
picture of the same latent state, with the memory and the key it has on the training side. A shift
that only changes the picture can act through nothing else, so this says where a gap comes from,
with far less noise than success.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs.keys import POLICY
from harness.policy import Policy
from harness.rollouts.lanes import episode_keys
from harness.rollouts.measure import Sides
from harness.rollouts.rollout import lanes_per_block
from harness.statistics import Metric, arm_interval
from protocols import Pair

SHARE = Metric("share of states", bounds=(0.0, 1.0))
JAX_ONLY = "not available: the policy runs in Python"


def suite_shift(plan: Sequence[tuple[Pair, Sequence[Policy]]], sides: Sides) -> dict[str, Any]:
    """Return pair -> held-out side -> shift, as plain data (see `side_shift`)."""

    def kept(pair: Pair, side: str, chosen: Sequence[Policy]) -> dict[str, Any]:
        key = {"kind": "shift", "pair": pair.name, "train": pair.train.digest, "side": side}
        return sides.kept(key, lambda: side_shift(pair, side, chosen, sides))

    return {
        pair.name: {side: kept(pair, side, chosen) for side in pair.heldout}
        for pair, chosen in plan
    }


def side_shift(pair: Pair, side: str, chosen: Sequence[Policy], sides: Sides) -> dict[str, Any]:
    """Measure one held-out side on one block of episodes per training seed.

    Returns:
        share: of visited states on which the action differs, averaged within episodes first, with
            an interval; total_variation: between the two action distributions, None where the
            policy shows no logits; first_divergence: median step among episodes that diverge, and
            the share that never does; states: how many were compared; per_seed: shares. Where it
            is not available `share` is None and `reason` says why.
    """
    if any(one.on_host or one.kind == "state" for one in chosen):
        return _unavailable(JAX_ONLY)
    env, params = sides.build(pair.train)
    other_env, other_params = sides.build(pair.heldout[side])
    if env.observation_shape != other_env.observation_shape:
        return _unavailable("not available: the sides show pictures of different sizes")
    count = min(sides.episodes, lanes_per_block())
    rows, steps, variations, firsts = [], 0, [], []
    for one in chosen:
        keys = episode_keys(
            sides.master_seed, np.uint32(one.seed), jnp.arange(lanes_per_block(), dtype=jnp.uint32)
        )
        tally = _lockstep(
            env, other_env, one.kind, one.apply, params, other_params, keys, one.weights, one.carry
        )
        tally = {name: np.asarray(value)[:count] for name, value in tally.items()}
        rows.append(tally["differing"] / tally["steps"])
        steps += int(tally["steps"].sum())
        firsts.append(tally["first"])
        if hasattr(one.apply, "logits"):
            variations.append(float((tally["variation"] / tally["steps"]).mean()))
    found = arm_interval(rows, SHARE)
    first = np.concatenate(firsts)
    diverged = first[first >= 0]
    one = found.interval
    open_ends = one is None or one.degenerate  # equal shares in all episodes: no width to show
    ends = {"low": None if open_ends else one.low, "high": None if open_ends else one.high}
    return {
        "share": {"point": float(found.per_seed.mean()), **ends},
        "reason": None,
        "per_seed": found.per_seed.tolist(),
        "total_variation": float(np.mean(variations)) if variations else None,
        "first_divergence": {
            "median_step": int(np.sort(diverged)[(diverged.size - 1) // 2])
            if diverged.size
            else None,
            "never": float((first < 0).mean()),
        },
        "states": steps,
        "episodes": count,
    }


def _unavailable(reason: str) -> dict[str, Any]:
    return {"share": None, "reason": reason}


@partial(jax.jit, static_argnames=("env", "other_env", "kind", "apply"))
def _lockstep(env, other_env, kind, apply, params, other_params, keys, weights, carry):
    """Play one episode per key on both sides with the training side's actions; f32/i32[lanes]."""
    lanes = keys.shape[0]
    act = apply if kind == "jax-batch" else jax.vmap(apply, (None, 0, 0, 0))
    logits = getattr(apply, "logits", None)
    policy_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, POLICY)

    def unfinished(loop):
        t, alive = loop[0], loop[1]
        return (t < env.horizon) & alive.any()

    def advance(loop):
        t, alive, states, others, memory, tally = loop
        step_keys = jax.vmap(jax.random.fold_in, (0, None))(policy_keys, t)
        seen = _observe(env, states, params)
        shown = _observe(other_env, others, other_params)
        chosen, after = act(weights, memory, seen, step_keys)
        otherwise, _ = act(weights, memory, shown, step_keys)
        chosen, otherwise = (one.reshape(lanes).astype(jnp.int32) for one in (chosen, otherwise))
        differs = alive & (chosen != otherwise)
        variation = jnp.zeros(lanes)
        if logits is not None:
            first, second = (
                jax.nn.softmax(logits(weights, one).astype(jnp.float32)) for one in (seen, shown)
            )
            variation = 0.5 * jnp.abs(first - second).sum(-1)
        tally = {
            "steps": tally["steps"] + alive,
            "differing": tally["differing"] + differs,
            "variation": tally["variation"] + jnp.where(alive, variation, 0.0),
            "first": jnp.where(differs & (tally["first"] < 0), t, tally["first"]),
        }
        states, outcome = jax.vmap(env.step, (0, 0, None))(states, chosen, params)
        others, _ = jax.vmap(other_env.step, (0, 0, None))(others, chosen, other_params)
        alive = alive & ~(outcome.terminated | outcome.truncated)
        return t + 1, alive, states, others, after, tally

    memory = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (lanes, *jnp.shape(leaf))), carry)
    start = (
        jnp.int32(0),
        jnp.ones(lanes, bool),
        jax.vmap(env.reset, (0, None))(keys, params),
        jax.vmap(other_env.reset, (0, None))(keys, other_params),
        memory,
        {
            "steps": jnp.zeros(lanes, jnp.int32),
            "differing": jnp.zeros(lanes, jnp.int32),
            "variation": jnp.zeros(lanes),
            "first": jnp.full(lanes, -1, jnp.int32),
        },
    )
    return jax.lax.while_loop(unfinished, advance, start)[5]


def _observe(env, states, params):
    batch = getattr(env, "observe_batch", None)
    return batch(states, params) if batch else jax.vmap(env.observe, (0, None))(states, params)
