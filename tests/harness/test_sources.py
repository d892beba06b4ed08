"""Several training seeds: found wherever they lie, never mixed up, never left out silently."""

import json
import shutil
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from harness_probes import ProbeConfig, agents, probe_pair, probe_widening

from envs.errors import InputError
from harness import evaluate
from harness.policies.checkpoint import build_network, save_policy
from harness.policies.sources import load_policies
from harness.policies.training_rules import broken_rules, refuse_missing_seeds, rules_of
from harness.policies.trainings import trainings_of

FACTORY, ARGUMENTS = (
    "reference_agents.networks:patch",
    {"num_actions": 3, "widths": [4], "dense": 4},
)
SHOWN = np.zeros((1, 32, 32, 3), np.uint8)


def act(params, obs):
    return jnp.argmax(params["w"])


def env():
    return ProbeConfig().build()[0]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    init = jax.jit(build_network(FACTORY, ARGUMENTS).init)
    params = init(jax.random.key(0), SHOWN[0])["params"]
    place = tmp_path_factory.mktemp("original") / "ckpt"
    return save_policy(place, params, FACTORY, ARGUMENTS, observations=SHOWN, num_actions=3)


@pytest.fixture
def save(original):
    """Copies a checkpoint with another manifest."""

    def copy(path, **changes):
        shutil.copytree(original, path)
        manifest = json.loads((path / "manifest.json").read_text())
        (path / "manifest.json").write_text(json.dumps({**manifest, **changes}))

    return copy


def weights(path, value=0.0):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, w=np.float32([value, 1, 0]))


def seeds(found):
    return {group: [one.seed for one in policies] for group, policies in found.by_training.items()}


def load(source, **options):
    return load_policies(str(source), env=env(), apply=act, **options)


# ---------------------------------------------------------------------------------- where they lie


@pytest.mark.parametrize("name", ["seed-{}", "seed_{}", "seed{}", "ppo-seed-{}"])
def test_a_folder_of_seeds_is_one_policy_set(tmp_path, name):
    for seed in (10, 0, 2):
        weights(tmp_path / "base" / name.format(seed) / "step_5.npz")
    assert seeds(load(tmp_path / "base")) == {"base": [0, 2, 10]}


def test_a_tree_of_training_configurations_has_their_names(tmp_path):
    for training in ("base", "wide"):
        for seed in (0, 1):
            weights(tmp_path / training / f"seed-{seed}" / "checkpoints" / "200.npz")
    assert seeds(load(tmp_path)) == {"base": [0, 1], "wide": [0, 1]}


def test_a_pattern_names_what_matches_it(tmp_path, monkeypatch):
    for training in ("base", "wide", "other"):
        for seed in (0, 1, 2):
            weights(tmp_path / "runs" / training / f"seed-{seed}" / "5.npz")
    monkeypatch.chdir(tmp_path)
    assert seeds(load("runs/*/seed-*")) == {name: [0, 1, 2] for name in ("base", "other", "wide")}
    assert seeds(load("runs/base/seed-[01]")) == {"base": [0, 1]}
    assert seeds(load("runs/**/seed-2")) == {"base": [2], "other": [2], "wide": [2]}
    with pytest.raises(InputError, match="0 files or folders match it"):
        load("runs/*/sed-*")


def test_matches_without_a_seed_in_their_name_are_seeds_by_position(tmp_path):
    for run in ("a", "b", "c"):
        weights(tmp_path / run / "model.npz")
    assert seeds(load(tmp_path / "*" / "model.npz")) == {None: [0, 1, 2]}


def test_a_link_is_a_seed_by_its_own_name(tmp_path):
    weights(tmp_path / "store" / "5.npz")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "seed-3").symlink_to(tmp_path / "store")
    assert seeds(load(tmp_path / "base" / "seed-3")) == {"base": [3]}


def test_every_seed_is_read_at_the_step_that_is_asked_for(tmp_path):
    for seed in (0, 1):
        for step in (2, 10):
            weights(tmp_path / f"seed-{seed}" / f"ppo_{step}.npz", step)
    assert [one.steps for one in load(tmp_path)] == [10, 10]
    assert [one.steps for one in load(tmp_path, step=2)] == [2, 2]


def test_a_seed_that_crashed_is_named_and_never_left_out(tmp_path):
    weights(tmp_path / "seed-0" / "5.npz")
    (tmp_path / "seed-1").mkdir()
    with pytest.raises(InputError, match=r"seed-1: no checkpoint, .*never left out.*seed-0'"):
        load(tmp_path)


def test_a_step_that_one_seed_lacks_is_an_error(tmp_path):
    weights(tmp_path / "seed-0" / "5.npz")
    weights(tmp_path / "seed-1" / "6.npz")
    with pytest.raises(InputError, match=r"seed-1 has no step 5.*\(6\)"):
        load(tmp_path, step=5)


def test_a_manifest_wins_over_the_folders_name(tmp_path, save):
    train = {"name": "base", "digest": "abc"}
    for seed in (0, 1):
        save(tmp_path / "old-name" / f"seed-{seed + 5}", seed=seed, train=train)
    found = load_policies(str(tmp_path), env=env())
    assert seeds(found) == {"base": [0, 1]}
    assert [one.seed for one in found.for_training("anything", "abc")] == [0, 1]


def test_equal_seeds_are_refused_across_a_pattern(tmp_path, save):
    for run in ("a", "b"):
        save(tmp_path / run, seed=3, train={"name": "base", "digest": "abc"})
    with pytest.raises(InputError, match="two policies have the training seed 3"):
        load_policies(str(tmp_path / "*"), env=env())


def test_finding_trainings_changes_nothing_on_disk(tmp_path):
    weights(tmp_path / "base" / "seed-0" / "5.npz")
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with pytest.raises(InputError, match=r"did you mean '.*base'"):
        trainings_of(str(tmp_path / "bsae"))
    assert len(trainings_of(str(tmp_path))) == 1
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


# ------------------------------------------------------------------------- rules of measurement


def facts(seed, **origin):
    return {"seed": seed, "steps": origin.pop("steps", 7), "train": {}, "origin": origin}


def rules(*policies, training="verified", episodes=128):
    return rules_of(policies, training, episodes)


ADAM = {"name": "ppo", "config": {"rate": 0.001, "clip": 0.2}}


def test_without_manifests_the_rules_read_unverified():
    found = rules(*({"seed": seed, "steps": None, "train": {}} for seed in range(3)))
    assert (found["one algorithm"], found["checkpoint rule"]) == ("unverified", "unverified")
    assert broken_rules(found) == []


def test_equal_algorithms_and_rules_are_verified():
    known = [facts(s, algorithm=ADAM, checkpoint_rule="last", steps=s) for s in range(10)]
    assert set(rules(*known).values()) == {"verified"}


def test_another_algorithm_names_the_setting_that_differs():
    other = {"name": "ppo", "config": {"rate": 0.002, "clip": 0.1}}
    broken = broken_rules(rules(facts(0, algorithm=ADAM), facts(4, algorithm=other)))
    assert broken == [
        "seed 0 and seed 4 were not trained alike: config.clip is 0.2 and 0.1 (and 1 more)"
    ]
    wide = {**facts(0, algorithm=other), "training": "wide"}
    found = rules_of([facts(0, algorithm=ADAM)], "verified", 128, [wide])
    assert "seed 0 and seed 0 of wide were not trained alike" in found["one algorithm"]


def test_mixed_checkpoint_rules_break_the_measurement():
    mixed = [facts(0, checkpoint_rule="last"), facts(1, checkpoint_rule="best-on-train")]
    assert broken_rules(rules(*mixed)) == [
        "the checkpoints were chosen by different rules (last: seeds 0; best-on-train: seeds 1)"
    ]


def test_a_fixed_step_is_the_same_for_all():
    fixed = [facts(seed, checkpoint_rule="fixed", steps=seed) for seed in (1, 2)]
    assert "the step was fixed" in broken_rules(rules(*fixed))[0]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, "insufficient: 1"), (2, "insufficient: 2"), (3, "rough noise floor: 3"), (10, "verified")],
)
def test_the_number_of_seeds_is_said(count, expected):
    found = rules(*(facts(seed) for seed in range(count)), episodes=19)
    assert (found["seeds"], found["episodes"]) == (expected, "only 19")
    assert broken_rules(found) == []


def test_a_checkpoint_chosen_by_held_out_scores_is_refused(tmp_path, save):
    save(tmp_path / "ckpt", checkpoint_rule="best-on-heldout")
    with pytest.raises(InputError, match="an upper bound, never evidence"):
        load_policies(str(tmp_path / "ckpt"), env=env())


@pytest.mark.slow
def test_mixed_rules_make_a_pair_invalid_with_the_reason():
    policies = agents(3)
    mixed = [
        replace(one, origin={"checkpoint_rule": rule})
        for one, rule in zip(policies, ("last", "last", "best-on-train"), strict=True)
    ]
    report = evaluate(mixed, probe_pair(), episodes=4)
    assert report["grey"].verdict.name == "invalid"
    assert report.exit_code == 4
    assert "chosen by different rules" in str(report)


def test_a_training_with_a_hole_in_its_seeds_is_refused_before_the_run():
    pair = probe_widening()
    narrow, wide = ({"name": name, "digest": config.digest} for name, config in
                    (("narrow", pair.train), ("wide", pair.wide)))  # fmt: skip
    crashed = [one for one in agents(3, train=wide) if one.seed != 1]
    with pytest.raises(InputError, match=r"wide has no seed 1 \(in all: 0, 1, 2\)"):
        evaluate([*agents(3, train=narrow), *crashed], pair, episodes=2)


def test_a_training_may_have_fewer_seeds_and_that_is_said():
    assert refuse_missing_seeds({"base": [0, 1, 2], "wide": [2, 1, 0]}) is None
    said = refuse_missing_seeds({"base": range(5), "wide": range(3), "colors": range(5)})
    assert said == "fewer training seeds than the other trainings (5): wide (3)"
    with pytest.raises(InputError, match="wide has no seed 0"):
        refuse_missing_seeds({"base": [0, 1], "wide": [1]})
