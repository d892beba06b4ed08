"""A model of Stable-Baselines3, trained on single environments of `envs.gymnasium`.

python sb3_model.py model.zip        trains for about a minute, saves, evaluates from disk
"""

import sys
from functools import partial

from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv

import envs
import harness
from harness import evaluate
from protocols import load_suite, load_train_config

LANES = 8


def train(out, steps, config, seed=0):
    """PPO as it comes; returns the model, and writes it to the file `out`."""
    side = config.build()
    games = DummyVecEnv(  # every one with a seed of its own: they would play the same levels else
        [partial(envs.gymnasium, *side, seed=LANES * seed + lane) for lane in range(LANES)]
    )
    model = PPO(
        "CnnPolicy", games, seed=seed, n_steps=min(128, steps), batch_size=64, n_epochs=2,
        policy_kwargs={"net_arch": [64]}, device="cpu",
    )  # fmt: skip
    model.learn(steps * LANES)
    model.save(out)
    return model


def policy_of(model):
    """Return a model as a policy: it acts on batches of pictures with the channels first."""
    return harness.policy(
        lambda obs: model.predict(obs, deterministic=True)[0],
        kind="host-batch", name="sb3-ppo", obs=harness.Obs("CHW"),
    )  # fmt: skip


def load(path):
    """Return the policy in a saved model."""
    return policy_of(PPO.load(path, device="cpu"))


if __name__ == "__main__":
    train(sys.argv[1], 768, load_train_config("base"))
    pair = load_suite("smoke")["purple-background"]
    print(evaluate(load(sys.argv[1]), pair, episodes=64))
