"""What the harness costs beyond the environment and the policy themselves.

    python tests/benchmarks/overhead.py [--pairs 15] [--episodes 512] [--policy builtin:ppo ...]

The same episodes are played by `harness.rollouts.rollout.play` and by the least that can be
written: a scan over environment and policy that keeps nothing but the return and the metrics. Both
are compiled beforehand and measured in turns, by processor time (all threads together), so that
other work on the machine hurts little. Printed are the ratio of the least time of either, which
other work cannot make smaller, and the middle half of the ratios of neighbouring runs. A policy
that never looks at the picture is played without drawing one, in both; what the harness adds is
then large beside it and small in itself, so the difference per step is printed, too. Episodes of
the platformer all have full length: where some ended early, the bare scan would go on to the
horizon all the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs.keys import POLICY, episode_key
from harness.policies.sources import load_policies
from harness.policy import Policy
from harness.rollouts.rollout import lanes_per_block, play
from protocols import load_suite


@partial(jax.jit, static_argnames=("env", "apply"))
def bare(env: Any, apply: Callable, params: Any, keys: jax.Array, weights: Any) -> tuple:
    """Return (return f32[lanes], metrics) of one episode per key, by a plain scan."""
    observe = getattr(env, "observe_batch", jax.vmap(env.observe, (0, None)))
    step = jax.vmap(env.step, (0, 0, None))
    act = jax.vmap(lambda weights, obs, key: apply(weights, None, obs, key)[0], (None, 0, 0))
    keys_at = jax.vmap(jax.random.fold_in, (0, None))
    states = jax.vmap(env.reset, (0, None))(keys, params)
    policy_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, POLICY)

    def body(carry, t):
        states, total, _ = carry
        actions = act(weights, observe(states, params), keys_at(policy_keys, t))
        states, outcome = step(states, actions.astype(jnp.int32), params)
        return (states, total + outcome.reward, outcome.metrics), None

    lanes = keys.shape[0]
    _, outcome = jax.eval_shape(step, states, jax.ShapeDtypeStruct((lanes,), jnp.int32), params)
    metrics = jax.tree.map(lambda one: jnp.zeros(one.shape, one.dtype), outcome.metrics)
    start = (states, jnp.zeros(lanes), metrics)
    _, total, metrics = jax.lax.scan(body, start, jnp.arange(env.horizon))[0]
    return total, metrics


@partial(jax.jit, static_argnames="lanes")
def _keys(first: jax.Array, lanes: int) -> jax.Array:
    return jax.vmap(partial(episode_key, 0, 0))(first + jnp.arange(lanes, dtype=jnp.uint32))


def run_bare(env: Any, params: Any, policy: Policy, episodes: int) -> np.ndarray:
    """Play episodes one block after the other and return their returns."""
    lanes = lanes_per_block()
    blocks = [
        bare(env, policy.apply, params, _keys(jnp.uint32(first), lanes), policy.weights)
        for first in range(0, episodes, lanes)
    ]
    return np.concatenate([np.asarray(total) for total, _ in blocks])[:episodes]


def used(function: Callable[[], Any]) -> float:
    began = time.process_time()
    function()
    return time.process_time() - began


def compare(name: str, env: Any, params: Any, policy: Policy, episodes: int, pairs: int) -> str:
    """Return one line on the overhead of one policy."""
    rollouts: tuple[Callable[[], np.ndarray], ...] = (
        lambda: run_bare(env, params, policy, episodes),
        lambda: play(env, params, policy, episodes=episodes, num_envs=64).columns["return"],
    )
    first, second = (rollout() for rollout in rollouts)
    assert np.array_equal(np.float32(first), np.float32(second)), "both play the same episodes"
    costs = np.array([[used(rollout) for rollout in rollouts] for _ in range(pairs)])
    low, high = np.quantile(costs[:, 1] / costs[:, 0], [0.25, 0.75]) - 1
    least, ours = costs.min(axis=0) / (episodes * env.horizon) * 1e6
    return (
        f"{name:<16} {least:8.3f} us/step bare, {ours - least:+7.3f} us in the harness: "
        f"{ours / least - 1:+6.1%} [{low:+.1%}, {high:+.1%}]"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=15, help="interleaved runs of each")
    parser.add_argument("--episodes", type=int, default=512)
    parser.add_argument("--suite", default="hard")
    parser.add_argument("--policy", nargs="+",
                        default=["builtin:ppo", "builtin:random", "builtin:right"])  # fmt: skip
    options = parser.parse_args()
    config = load_suite(options.suite).pairs[0].train
    env, params = config.build()
    for name in options.policy:
        policy = next(iter(load_policies(name, env=env)))
        print(compare(name, env, params, policy, options.episodes, options.pairs), flush=True)


if __name__ == "__main__":
    main()
