"""A PyTorch network, trained on `envs.gymnasium` and kept as a state dict.

python torch_network.py net.pt        trains for about a minute, saves, evaluates from disk
"""

import sys

import torch
from torch import nn

import envs
from harness import evaluate, torch_policy
from protocols import load_suite, load_train_config

LANES, ROLLOUT, GAMMA = 64, 16, 0.98


class Net(nn.Module):
    """Pictures f32[N, 3, 128, 128] in 0 … 1 to (logits f32[N, 8], value f32[N])."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 64), nn.ReLU())
        self.logits, self.value = nn.Linear(64, 8), nn.Linear(64, 1)

    def forward(self, seen):
        x = self.body(seen[..., ::4, ::4])
        return self.logits(x), self.value(x)[:, 0]


def seen(obs):
    """What the network sees of the environment's pictures u8[N, 128, 128, 3]."""
    return torch.tensor(obs).permute(0, 3, 1, 2) / 255


def train(out, updates, config, seed=0):
    """Advantage actor-critic; returns the network, and writes its weights to the file `out`."""
    torch.manual_seed(seed)
    games = envs.gymnasium(*config.build(), num_envs=LANES, seed=seed, autoreset="same-step")
    net = Net()
    rule = torch.optim.Adam(net.parameters(), 1e-3)
    obs, _ = games.reset()
    for number in range(updates):
        rows = []
        for _ in range(ROLLOUT):
            logits, value = net(seen(obs))
            chosen = torch.distributions.Categorical(logits=logits)
            action = chosen.sample()
            obs, reward, terminated, truncated, _ = games.step(action.numpy())
            ended = torch.tensor(terminated | truncated)
            rows.append((chosen.log_prob(action), chosen.entropy(), value,
                         torch.tensor(reward) / 10, ended))  # fmt: skip
        with torch.no_grad():
            following = net(seen(obs))[1]
        loss = 0
        for log, entropy, value, reward, ended in reversed(rows):
            following = reward + GAMMA * torch.where(ended, 0, following)
            better = following - value
            loss = loss + (-log * better.detach() + 0.25 * better**2 - 0.01 * entropy).mean()
        rule.zero_grad()
        (loss / ROLLOUT).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        rule.step()
        if number % 100 == 0:
            mean = torch.stack([row[3] for row in rows]).mean() * 10
            print(f"update {number}: reward per step {mean:.2f}", flush=True)
    torch.save(net.state_dict(), out)
    return net


def load(path):
    """Return the policy in a file of weights."""
    net = Net()
    net.load_state_dict(torch.load(path, weights_only=True))
    return torch_policy(net)


if __name__ == "__main__":
    train(sys.argv[1], 300, load_train_config("base"))
    pair = load_suite("smoke")["purple-background"]
    print(evaluate(load(sys.argv[1]), pair, episodes=64))
