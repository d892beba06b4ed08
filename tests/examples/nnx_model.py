"""A Flax NNX model, trained on `envs.gymnax` and kept as a plain Orbax checkpoint.

python nnx_model.py OUT        trains for about a minute, saves, evaluates from disk
python -m harness.evaluate --policy OUT --apply nnx_model.py:act --suite smoke
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp
from flax import nnx

import envs
from harness import evaluate
from harness.policies.sources import load_policies
from protocols import load_suite, load_train_config

LANES, ROLLOUT, GAMMA = 64, 16, 0.98


class Net(nnx.Module):
    """Every fourth pixel of pictures, u8[..., 32, 32, 3], to logits f32[..., 8]."""

    def __init__(self, rngs):
        self.body = nnx.Linear(3 * 32 * 32, 64, rngs=rngs)
        self.logits = nnx.Linear(64, 8, rngs=rngs)

    def __call__(self, seen):
        x = seen.reshape(*seen.shape[:-3], -1).astype(jnp.float32) / 255
        return self.logits(nnx.relu(self.body(x)))


def act(params, obs):
    """How the weights act on one picture: what --apply names."""
    graph, weights = nnx.split(nnx.eval_shape(lambda: Net(nnx.Rngs(0))))
    nnx.replace_by_pure_dict(weights, params)
    return nnx.merge(graph, weights)(obs[::4, ::4]).argmax(-1)


def train(out, updates, config, seed=0):
    """Policy gradient against the mean of all lanes; returns the weights, and writes them."""
    game = envs.gymnax(*config.build())
    model = Net(nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    @nnx.jit
    def update(model, optimizer, lanes, key):
        def play(lanes, key):
            obs, states = lanes
            chosen, following = jax.random.split(key)
            action = jax.random.categorical(chosen, model(obs[:, ::4, ::4]))
            keys = jax.random.split(following, LANES)
            after, states, reward, done, _ = jax.vmap(game.step)(keys, states, action)
            return (after, states), (obs[:, ::4, ::4], action, reward / 10, done)

        def back(following, now):
            following = now[0] + GAMMA * jnp.where(now[1], 0, following)
            return following, (following - following.mean()) / (following.std() + 1e-3)

        def loss(model):
            chosen = jax.nn.log_softmax(model(seen)) * jax.nn.one_hot(action, 8)
            return -(chosen.sum(-1) * better).mean()

        keys = jax.random.split(key, ROLLOUT)
        lanes, (seen, action, reward, done) = jax.lax.scan(play, lanes, keys)
        better = jax.lax.scan(back, jnp.zeros(LANES), (reward, done), reverse=True)[1]
        optimizer.update(model, nnx.grad(loss)(model))
        return lanes, reward.mean() * 10

    start, *keys = jax.random.split(jax.random.key(seed), updates + 1)
    lanes = jax.jit(jax.vmap(game.reset))(jax.random.split(start, LANES))
    for number, key in enumerate(keys):
        lanes, reward = update(model, optimizer, lanes, key)
        if number % 100 == 0:
            print(f"update {number}: reward per step {float(reward):.2f}", flush=True)
    weights = nnx.to_pure_dict(nnx.state(model, nnx.Param))
    with ocp.StandardCheckpointer() as keeper:
        keeper.save(Path(out).absolute(), weights)
    return weights


if __name__ == "__main__":
    config = load_train_config("base")
    train(sys.argv[1], 1000, config)
    policies = load_policies(sys.argv[1], apply=f"{__file__}:act", env=config.build()[0])
    print(evaluate(policies, load_suite("smoke")["purple-background"], episodes=64))
