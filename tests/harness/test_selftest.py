"""The determinism self-test, and the extras that every report carries."""

import re
from dataclasses import replace

import numpy as np
import pytest
from harness_probes import ProbeConfig, agents, probe_pair, probe_suite

from harness import evaluate, policy
from harness.policies.sources import load_policies
from harness.reporting.export import to_dict
from harness.rollouts.measure import KEPT, Sides, Watcher
from harness.run import Settings, as_suite, run


def restless(rng):
    """A host policy that draws its own numbers, so that no episode repeats itself."""

    def act(obs, seed):
        return rng.integers(0, 3, len(obs)).astype(np.int32)

    return act


@pytest.fixture(scope="module")
def report():
    return evaluate(agents(5), probe_suite(60, 100, 150, 255), episodes=64)


def test_a_jax_policy_repeats_itself():
    checks = evaluate(agents(1), probe_pair(), episodes=16).records.replay
    assert checks["status"] == "repeats"
    assert (checks["episodes"], checks["differing"]) == (16, 0)


def test_a_policy_that_does_not_repeat_itself_makes_the_run_invalid():
    one = policy(restless(np.random.default_rng(0)), kind="host-batch")
    report = evaluate(one, probe_pair(), episodes=32)
    assert report.pairs[0].verdict.name == "invalid"
    assert "does not repeat itself" in report.pairs[0].verdict.reason
    assert 'actions="sample"' in report.pairs[0].verdict.reason
    assert report.exit_code == 4


def test_a_host_policy_that_says_it_samples_is_flagged_instead():
    act = restless(np.random.default_rng(0))
    one = policy(act, kind="host-batch", actions="sample")
    report = evaluate(one, probe_pair(), episodes=32)
    assert report.records.replay["status"] == "stochastic_policy"
    assert report.pairs[0].verdict.name != "invalid"
    assert "draws its own numbers" in str(report)


def rounding(obs):
    """A network that goes wrong in large batches, as a matter of rounding might."""
    return np.full(len(obs), 1 if len(obs) < 20 else 0, np.int32)


def test_actions_that_differ_in_smaller_batches_are_counted():
    report = evaluate(policy(rounding, kind="host-batch"), probe_pair(), episodes=40, num_envs=32)
    checks = report.records.replay
    assert checks["status"] == "repeats"
    assert checks["smaller_batches"] == {
        "size": 16, "states": 32 * 3, "differing_actions": 32 * 3, "problem": ""
    }  # fmt: skip
    assert "The policy depends on its batch: 96 of 96 actions differ in batches of 16" in str(
        report
    )


def test_a_memory_is_kept_apart_where_smaller_batches_are_asked_about():
    def act(obs, count, seed):
        return (count % 3).astype(np.int32), count + 1

    one = policy(act, kind="host-batch", carry=np.int64(0))
    checks = evaluate(one, probe_pair(), episodes=30, num_envs=8).records.replay
    assert checks["smaller_batches"]["differing_actions"] == 0
    assert checks["smaller_batches"]["states"] == 8 * 3


def test_a_policy_that_takes_no_smaller_batches_is_evaluated_all_the_same():
    def act(obs):
        if len(obs) == 4:
            raise ValueError("batches of four are not for me")
        return np.ones(len(obs), np.int32)

    report = evaluate(policy(act, kind="host-batch"), probe_pair(), episodes=8)
    assert report.pairs[0].verdict.name != "invalid"
    assert "In batches of 4 the policy failed: ValueError: batches of four" in str(report)


def test_how_much_of_the_time_a_policy_in_python_takes_is_said_once():
    said = []
    watcher = Watcher()
    watcher.note = said.append
    suite = as_suite(probe_pair())
    act = policy(rounding, kind="host-batch", name="slow")
    run(load_policies(act, env=None), suite, Settings(episodes=8), watcher)
    assert len([text for text in said if "policy slow runs in Python" in text]) == 1
    assert any(re.search(r"\d+% of the \d+\.\d s of its rollouts", text) for text in said)


def test_the_parameters_of_sides_that_were_played_are_released():
    """So memory does not grow with the number of pairs; what changes the program is kept."""
    sides = Sides(1, 0, 1, Watcher())
    configs = [ProbeConfig(grey=float(grey)) for grey in range(KEPT + 3)]
    for config in [*configs, configs[-KEPT]]:
        sides.build(config)
    assert sorted(sides.built) == sorted(config.digest for config in configs[-KEPT:])
    assert set(sides.environments) == {config.digest for config in configs}


def test_every_metric_carries_its_shares_floor_labels_and_what_it_can_detect(report):
    data = to_dict(report)
    success = data["pairs"][0]["metrics"]["success"]
    assert success["relative_gap"]["interval"]["point"] > 0
    assert success["normalized_gap"]["baseline"] == "random"
    assert success["normalized_gap"]["interval"]["point"] > 0
    assert success["floor"]["measured"] is not None
    assert success["floor"]["aa_exceeded"] in (True, False)
    assert len(success["seed_labels"]) == 5
    assert success["smallest_detectable_gap"] > 0.05
    assert data["pairs"][0]["collapse"]["seeds"] == 5


def test_a_share_of_a_return_is_null_with_its_reason(report):
    ret = to_dict(report)["pairs"][0]["metrics"]["return"]
    assert ret["relative_gap"] == {"interval": None, "reason": "sign"}
    assert ret["normalized_gap"]["reason"] == "denominator"  # every policy earns 1 per step


def test_the_worst_pairs_are_named(report):
    worst = to_dict(report)["worst"]
    assert worst[0]["pairs"] == ["grey-255"]
    assert worst[1]["pairs"] == ["grey-255", "grey-150", "grey-100"]
    assert "worst: grey-255" in str(report)


def test_cells_at_the_floor_or_the_ceiling_are_flagged():
    data = to_dict(evaluate(agents(1, 0.0, 1.0), probe_pair(grey=255.0), episodes=32))
    flags = {cell["name"]: cell["flags"] for cell in data["cells"]}
    assert flags == {"probe": {"success": "ceiling"}, "grey": {"success": "floor"}}


def test_one_seed_has_no_interval_for_new_seeds_and_says_why():
    data = to_dict(evaluate(agents(1), probe_pair(), episodes=16))
    fresh = data["pairs"][0]["metrics"]["success"]["gap_new_seeds"]
    assert fresh == {"interval": None, "reason": "one training seed says nothing about another"}


@pytest.mark.parametrize("seeds", [1, 2, 3, 5])
def test_no_success_interval_has_zero_width_and_the_method_is_named(seeds):
    """Even where every episode of every seed comes out the same on both sides."""
    report = evaluate(agents(seeds, 0.0, 0.0), probe_suite(60, 150), episodes=16)
    success = to_dict(report)["pairs"][0]["metrics"]["success"]
    shown = [success["gap"], success["train"]["interval"], success["heldout"]["interval"]]
    if seeds > 1:
        shown.append(success["gap_new_seeds"]["interval"])
    for one in shown:
        assert one["low"] < one["high"]
        assert one["method"]
    text = " ".join(str(report).split())
    assert ("t over paired episodes" in text) is (seeds < 3)
    assert ("t-scaled bootstrap" in text) is (seeds >= 3)
    assert "only" in text if seeds < 3 else "below ten seeds" in text


def test_training_seeds_are_named_by_their_own_numbers():
    slopes = {7: 0.0, 3: 0.9, 11: 0.0}
    some = [replace(agents(1, 0.0, slope)[0], seed=seed) for seed, slope in slopes.items()]
    report = evaluate(some, probe_pair(grey=255.0), episodes=64)
    assert report.pairs[0].verdict.details["dropped_seeds"] == [3]
    assert report.pairs[0].verdict.details["held_seeds"] == [7, 11]
