"""The induced policy shift, with policies whose answers are known."""

import jax.numpy as jnp
import numpy as np
import pytest
from harness_probes import agent, agents, always_right, probe_pair, right_in_training

from harness import evaluate, policy
from harness.policy import Policy


def shift_of(policies, pair=None, **options):
    pair = pair or probe_pair()
    report = evaluate(policies, pair, episodes=64, policy_shift=True, **options)
    return report, report.records.shift["grey"]["heldout"]


def test_a_policy_that_ignores_the_picture_is_not_shifted():
    report, found = shift_of([always_right] * 3)
    assert found["share"]["point"] == 0
    assert found["first_divergence"] == {"median_step": None, "never": 1}
    assert found["states"] == 3 * 64 * 3
    assert "policy shift" in str(report)


def test_a_policy_that_always_acts_otherwise_is_shifted_from_the_first_step():
    _, found = shift_of([right_in_training] * 3)
    assert found["share"]["point"] == 1
    assert found["first_divergence"] == {"median_step": 0, "never": 0}


def test_a_known_shift_lies_in_the_interval():
    """With common random numbers the actions differ with probability slope * grey / 255."""
    _, found = shift_of(agents(1, 0.0, 0.3))
    assert found["share"]["low"] < 0.3 * 200 / 255 < found["share"]["high"]
    assert found["total_variation"] is None


def test_the_memory_is_that_of_the_training_side():
    """The policy goes wrong once it has ever seen a bright picture; in training it never has."""

    def act(obs, seen, key):
        seen = seen | (obs[0, 0, 0] >= 100)
        return jnp.where(seen, 0, 1), seen

    report, found = shift_of([policy(act, carry=jnp.bool_(False))])
    assert found["share"]["point"] == 1
    success = report.pairs[0].results["success"]
    assert (success.train.mean, success.heldout.mean) == (1, 0)


def test_logits_give_the_total_variation():
    def logits(weights, obs):
        bright = (obs[..., 0, 0, 0] >= 100)[..., None]
        return jnp.where(bright, jnp.log(jnp.array([0.5, 0.5, 1e-9])),
                         jnp.log(jnp.array([0.1, 0.9, 1e-9])))  # fmt: skip

    def act(weights, carry, obs, key):
        return logits(weights, obs).argmax(-1), carry

    act.logits = logits
    _, found = shift_of([Policy("with logits", act, seed=seed) for seed in range(3)])
    assert found["total_variation"] == pytest.approx(0.4, abs=1e-4)


def test_a_host_policy_says_that_it_is_not_available():
    def act(obs, seed):
        return np.full(len(obs), 1, np.int32)

    report, found = shift_of([policy(act, kind="host-batch")])
    assert found["share"] is None
    assert "runs in Python" in found["reason"]
    assert "not available" in str(report)


def test_nothing_is_measured_unless_asked_for():
    report = evaluate(agent(), probe_pair(), episodes=4)
    assert report.records.shift == {}
    assert "policy shift" not in str(report)
