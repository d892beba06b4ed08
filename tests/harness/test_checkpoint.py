"""What is evaluated is exactly what was saved, or nothing."""

import functools
import json
import shutil

import jax
import numpy as np
import pytest

from envs.errors import InputError
from harness.policies.checkpoint import build_network, load_checkpoint, save_policy
from harness.policies.sources import checkpoint_steps, load_policies

FACTORY = "reference_agents.networks:patch"
ARGUMENTS = {"num_actions": 3, "widths": [4, 4], "dense": 8}
OBSERVATIONS = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), np.uint8)


@functools.cache
def initialised():
    """Compiled once: every test needs weights."""
    return jax.jit(build_network(FACTORY, ARGUMENTS).init)


def weights(seed=0):
    return initialised()(jax.random.key(seed), OBSERVATIONS[0])["params"]


def save(path, *, seed=0, **kwargs):
    options = {"train": {"name": "probe", "digest": "abc"}, **kwargs}
    return save_policy(
        path, weights(seed), FACTORY, ARGUMENTS, observations=OBSERVATIONS, num_actions=3,
        seed=seed, **options,
    )  # fmt: skip


def edit_manifest(path, **changes):
    file = path / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def test_weights_come_back_bit_for_bit(tmp_path):
    loaded = load_checkpoint(save(tmp_path / "ckpt", steps=7))
    same = jax.tree.map(np.array_equal, loaded.variables["params"], weights())
    assert all(jax.tree.leaves(same))
    assert loaded.manifest["steps"] == 7
    assert loaded.manifest["train"] == {"name": "probe", "digest": "abc"}


def test_seeds_of_one_policy_share_their_program(tmp_path):
    one = load_policies(str(save(tmp_path / "a", seed=0)), env=None)
    two = load_policies(str(save(tmp_path / "b", seed=1)), env=None)
    assert next(iter(one)).apply is next(iter(two)).apply
    assert next(iter(one)).fingerprint != next(iter(two)).fingerprint


def test_a_wider_network_is_refused_with_both_shapes(tmp_path):
    path = save(tmp_path / "ckpt")
    edit_manifest(path, arguments={**ARGUMENTS, "dense": 16})
    with pytest.raises(InputError, match=r"dense/bias is float32\[8\] in the file, float32\[16\]"):
        load_checkpoint(path)


def test_a_missing_and_an_extra_layer_are_refused(tmp_path):
    path = save(tmp_path / "ckpt")
    edit_manifest(path, arguments={**ARGUMENTS, "widths": [4]})
    with pytest.raises(InputError, match="3 leaves differ") as refused:
        load_checkpoint(path)
    assert str(refused.value).splitlines()[1:] == [
        "  params/merge0/bias is float32[4] in the file, missing in the network",
        "  params/merge0/kernel is float32[16, 4] in the file, missing in the network",
        "  params/dense/kernel is float32[16, 8] in the file, float32[64, 8] in the network",
    ]
    edit_manifest(path, arguments={**ARGUMENTS, "widths": [4, 4, 4]})
    with pytest.raises(InputError, match="merge1/bias is missing in the file"):
        load_checkpoint(path)


def test_changed_weights_are_noticed(tmp_path):
    """Another seed's weights have the right shapes; only the stored outputs tell them apart."""
    path, other = save(tmp_path / "ckpt"), save(tmp_path / "other", seed=5)
    shutil.rmtree(path / "params")
    shutil.copytree(other / "params", path / "params")
    with pytest.raises(InputError, match="outputs differ from those stored"):
        load_checkpoint(path)


def test_a_checkpoint_cannot_name_code_of_its_own(tmp_path):
    path = save(tmp_path / "ckpt")
    edit_manifest(path, factory="os:system", arguments={"command": "true"})
    with pytest.raises(InputError, match="'os:system', which is not one of ours"):
        load_checkpoint(path)


@pytest.mark.parametrize("part", ["manifest.json", "golden.npz", "params"])
def test_a_missing_part_is_named(tmp_path, part):
    path = save(tmp_path / "ckpt")
    target = path / part
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    with pytest.raises(InputError, match=part):
        load_checkpoint(path)


def test_half_written_weights_are_refused(tmp_path):
    path = save(tmp_path / "ckpt")
    (path / "params" / "_METADATA").unlink()
    with pytest.raises(InputError, match="params"):
        load_checkpoint(path)


def test_loading_leaves_the_folder_as_it_was(tmp_path):
    path = save(tmp_path / "ckpt")

    def listing():
        return sorted((str(p), p.stat().st_mtime_ns) for p in path.rglob("*"))

    before = listing()
    load_checkpoint(path)
    assert listing() == before


def test_saving_again_replaces_the_checkpoint_and_leaves_nothing_behind(tmp_path):
    save(tmp_path / "ckpt", seed=1)
    path = save(tmp_path / "ckpt", seed=2)
    assert load_checkpoint(path).manifest["seed"] == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["ckpt"]


def test_a_tree_of_training_configurations_and_seeds_is_one_policy_set(tmp_path):
    for name in ("base", "other"):
        for seed in (2, 0, 10):
            save(tmp_path / name / f"seed-{seed}", seed=seed, train={"name": name, "digest": name})
    found = load_policies(str(tmp_path), env=None)
    assert set(found.by_training) == {"base", "other"}
    assert [one.seed for one in found.for_training("base", "base")] == [0, 2, 10]
    one_side = load_policies(str(tmp_path / "other"), env=None)
    assert [one.seed for one in one_side.for_training("base", "base")] == [0, 2, 10]


def test_only_what_the_sides_need_is_opened(tmp_path):
    for name in ("base", "other"):
        for seed in (0, 1):
            path = tmp_path / name / f"seed-{seed}"
            save(path, seed=seed, train={"name": name, "digest": f"{name}-digest"})
    for path in tmp_path.glob("other/seed-*/golden.npz"):
        path.unlink()  # whoever opens these fails

    def found(**sides):
        return set(load_policies(str(tmp_path), env=None, sides=sides).by_training)

    assert found(base="base-digest") == found(renamed="base-digest") == {"base"}
    # A configuration of that name that has changed since is judged invalid, not passed over.
    assert found(base="another-digest") == {"base"}
    for sides in ({"other": "other-digest"}, {"neither": "0"}):
        with pytest.raises(InputError, match="golden"):
            found(**sides)


def test_a_step_is_asked_only_of_what_is_needed(tmp_path):
    for name, steps in (("base", 10), ("longer", 20)):
        path = tmp_path / name / "seed-0"
        save(path, train={"name": name, "digest": name}, steps=steps)
    with pytest.raises(InputError, match="no step at which every training"):
        checkpoint_steps(str(tmp_path))
    sides = {"base": "base"}
    assert checkpoint_steps(str(tmp_path), sides) == [10]
    (one,) = load_policies(str(tmp_path), env=None, sides=sides, step=10)
    assert one.steps == 10


def test_two_policies_with_one_training_seed_are_refused(tmp_path):
    for folder in ("seed-1", "seed-2"):
        save(tmp_path / folder, seed=1)
    with pytest.raises(InputError, match="two policies have the training seed 1"):
        load_policies(str(tmp_path), env=None)


def test_a_mistyped_folder_names_its_neighbour(tmp_path):
    save(tmp_path / "checkpoint")
    with pytest.raises(InputError, match=r"did you mean .*checkpoint'"):
        load_policies(str(tmp_path / "chekpoint"), env=None)
    assert [entry.name for entry in tmp_path.iterdir()] == ["checkpoint"]


def test_a_folder_without_checkpoints_says_what_was_expected(tmp_path):
    with pytest.raises(InputError, match=r"expected manifest.json and params/, or seed-<k>"):
        load_policies(str(tmp_path), env=None)


def test_the_stated_action_mode_can_be_overridden(tmp_path):
    path = save(tmp_path / "ckpt", actions="sample")
    assert next(iter(load_policies(str(path), env=None))).actions == "sample"
    assert next(iter(load_policies(str(path), actions="greedy", env=None))).actions == "greedy"


def test_a_training_with_several_checkpoints_gives_the_step_that_is_asked_for(tmp_path):
    for seed in (0, 1):
        for step in (2, 10):
            save(tmp_path / f"seed-{seed}" / f"ppo_{step}", seed=seed, steps=step)
    assert checkpoint_steps(str(tmp_path)) == [2, 10]
    assert [one.steps for one in load_policies(str(tmp_path), env=None)] == [10, 10]
    assert [one.steps for one in load_policies(str(tmp_path), env=None, step=2)] == [2, 2]
    lone = load_policies(str(tmp_path / "seed-1" / "ppo_2"), env=None)
    assert [one.seed for one in lone] == [1]
    with pytest.raises(InputError, match=r"has no step 3.*\(10, 2\)|has no step 3.*\(2, 10\)"):
        load_policies(str(tmp_path), env=None, step=3)


def test_steps_that_only_some_trainings_have_are_not_compared(tmp_path):
    save(tmp_path / "seed-0" / "2", seed=0, steps=2)
    save(tmp_path / "seed-1" / "5", seed=1, steps=5)
    with pytest.raises(InputError, match="no step at which every training has a checkpoint"):
        checkpoint_steps(str(tmp_path))
