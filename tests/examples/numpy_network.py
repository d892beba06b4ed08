"""A network in plain NumPy, trained on `envs.gymnasium` and kept as an npz file.

python numpy_network.py net.npz        trains for about a minute, saves, evaluates from disk
"""

import sys

import numpy as np

import envs
import harness
from harness import evaluate
from protocols import load_suite, load_train_config

LANES, ROLLOUT, GAMMA, RATE = 64, 16, 0.98, 1e-3
SEES = harness.Obs(dtype="float32", range=(0, 1))


def features(seen):
    """Every fourth pixel of f32[N, 128, 128, 3], and a one: f32[N, 3073]."""
    flat = seen[:, ::4, ::4].reshape(len(seen), -1)
    return np.concatenate([flat, np.ones((len(seen), 1), np.float32)], 1)


def probabilities(x, weights):
    scores = x @ weights
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return scores / scores.sum(-1, keepdims=True)


def policy_of(weights):
    """Return a linear network as a policy: the likeliest action."""
    return harness.policy(
        lambda seen: (features(seen) @ weights).argmax(-1), kind="host-batch", name="linear",
        obs=SEES,
    )  # fmt: skip


def train(out, updates, config, seed=0):
    """Policy gradient against the mean of all lanes; writes the weights to the file `out`."""
    rng = np.random.default_rng(seed)
    games = envs.gymnasium(*config.build(), num_envs=LANES, seed=seed, autoreset="same-step")
    obs, _ = games.reset()
    weights = np.zeros((3 * 32 * 32 + 1, 8), np.float32)
    for number in range(updates):
        rows = []
        for _ in range(ROLLOUT):
            x = features(obs.astype(np.float32) / 255)
            chances = probabilities(x, weights)
            action = (rng.random((LANES, 1)) > chances.cumsum(1)[:, :-1]).sum(1)
            obs, reward, terminated, truncated, _ = games.step(action)
            rows.append((x, chances, action, reward / 10, terminated | truncated))
        following, gradient = np.zeros(LANES, np.float32), 0
        for x, chances, action, reward, ended in reversed(rows):
            following = reward + GAMMA * np.where(ended, 0, following)
            better = (following - following.mean()) / (following.std() + 1e-3)
            gradient = gradient + x.T @ ((np.eye(8)[action] - chances) * better[:, None])
        weights += (RATE * gradient / LANES).astype(np.float32)
        if number % 100 == 0:
            mean = np.mean([row[3] for row in rows]) * 10
            print(f"update {number}: reward per step {mean:.2f}", flush=True)
    np.savez(out, weights=weights)
    return weights


def load(path):
    """Return the policy in a file of weights."""
    with np.load(path) as saved:
        return policy_of(saved["weights"])


if __name__ == "__main__":
    train(sys.argv[1], 600, load_train_config("base"))
    pair = load_suite("smoke")["purple-background"]
    print(evaluate(load(sys.argv[1]), pair, episodes=64))
