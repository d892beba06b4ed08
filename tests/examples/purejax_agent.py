"""An agent in the manner of PureJaxRL: vmap and scan over `envs.gymnax`, saved with a manifest.

python purejax_agent.py OUT        trains for about a minute, saves, evaluates from disk
python -m harness.evaluate --policy OUT --apply purejax_agent.py:Net --suite smoke
"""

import sys
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

import envs
from harness import evaluate, save_policy
from harness.policies.sources import load_policies
from protocols import load_suite, load_train_config

LANES, ROLLOUT, GAMMA = 64, 16, 0.98


class Net(nn.Module):
    """Pictures u8[..., 128, 128, 3] to (logits f32[..., 8], value f32[...])."""

    def __call__(self, obs):
        return self.judge(obs[..., ::4, ::4, :])

    @nn.compact
    def judge(self, seen):  # of what a rollout keeps: every fourth pixel
        x = seen.reshape(*seen.shape[:-3], -1).astype(jnp.float32) / 255
        x = nn.relu(nn.Dense(64)(x))
        return nn.Dense(8)(x), nn.Dense(1)(x)[..., 0]


def train(out, updates, config, seed=0):
    """Advantage actor-critic; returns the weights, and writes them to the folder `out`."""
    game, judge = envs.gymnax(*config.build()), partial(Net().apply, method="judge")
    rule = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3))

    @jax.jit
    def update(weights, optimizer, lanes, key):
        def play(lanes, key):
            seen, states = lanes[0][:, ::4, ::4], lanes[1]
            chosen, following = jax.random.split(key)
            action = jax.random.categorical(chosen, judge(weights, seen)[0])
            keys = jax.random.split(following, LANES)
            obs, states, reward, done, _ = jax.vmap(game.step)(keys, states, action)
            return (obs, states), (seen, action, reward / 10, done)

        def back(following, now):
            following = now[0] + GAMMA * jnp.where(now[1], 0, following)
            return following, following

        def loss(weights):
            logits, values = judge(weights, seen)
            log, better = jax.nn.log_softmax(logits), returns - values
            taken = jnp.take_along_axis(log, action[..., None], -1)[..., 0]
            entropy = -(jnp.exp(log) * log).sum(-1)
            push = taken * jax.lax.stop_gradient(better)
            return (0.25 * better**2 - push - 0.01 * entropy).mean()

        keys = jax.random.split(key, ROLLOUT)
        lanes, (seen, action, reward, done) = jax.lax.scan(play, lanes, keys)
        last = Net().apply(weights, lanes[0])[1]
        returns = jax.lax.scan(back, last, (reward, done), reverse=True)[1]
        change, optimizer = rule.update(jax.grad(loss)(weights), optimizer)
        return optax.apply_updates(weights, change), optimizer, lanes, reward.mean() * 10

    first, start, *keys = jax.random.split(jax.random.key(seed), updates + 2)
    lanes = jax.jit(jax.vmap(game.reset))(jax.random.split(start, LANES))
    weights = Net().init(first, lanes[0])
    optimizer = rule.init(weights)
    for number, key in enumerate(keys):
        weights, optimizer, lanes, reward = update(weights, optimizer, lanes, key)
        if number % 100 == 0:
            print(f"update {number}: reward per step {float(reward):.2f}", flush=True)
    save_policy(
        out, weights["params"], f"{__file__}:Net", observations=np.asarray(lanes[0][:2]),
        num_actions=8, seed=seed, train={"name": "base", "digest": config.digest},
    )  # fmt: skip
    return weights


if __name__ == "__main__":
    config = load_train_config("base")
    train(sys.argv[1], 1000, config)
    policies = load_policies(sys.argv[1], apply=f"{__file__}:Net", env=config.build()[0])
    print(evaluate(policies, load_suite("smoke")["purple-background"], episodes=64))
