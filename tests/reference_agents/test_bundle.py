"""What comes with the project: last checkpoints, rounded, small, and all of them usable."""

from __future__ import annotations

import shutil
from collections import Counter

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.errors import InputError
from harness.policies.checkpoint import load_checkpoint, read_manifest
from harness.policies.sources import BUNDLED
from harness.policies.trainings import trainings_of
from protocols import load_train_config
from reference_agents import bundle
from reference_agents.bundled import CHECKPOINTS
from reference_agents.training import CURVE

finite = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6)
PLACES = [one.place for agent in BUNDLED for one in trainings_of(str(CHECKPOINTS / agent))]


@given(finite, st.integers(2, 23))
def test_rounding_keeps_that_many_bits_and_is_the_nearest(value, bits):
    found = bundle.rounded(np.float32(value), bits)
    assert found.dtype == np.float32
    assert abs(found - np.float32(value)) <= 2.0**-bits * abs(value) + 1e-44
    assert bundle.rounded(found, bits) == found
    fraction, _ = np.frexp(found)
    assert (fraction * 2**bits).is_integer()


def test_a_bundled_training_is_its_last_checkpoint_with_rounded_weights(tmp_path):
    bundled = CHECKPOINTS / "ppo" / "base" / "seed-0"
    shutil.copytree(bundled, tmp_path / "base" / "seed-0" / "step-9")
    shutil.copy(bundled / CURVE, tmp_path / "base" / "seed-0")
    (training,) = trainings_of(str(tmp_path))
    path = bundle.bundle(training, tmp_path / "out")
    old, new = load_checkpoint(bundled), load_checkpoint(path)
    assert path == tmp_path / "out" / "base" / "seed-0"
    assert new.fingerprint == old.fingerprint, "it was rounded before"
    assert {**new.manifest, "versions": None} == {**old.manifest, "versions": None}
    assert (path / CURVE).read_bytes() == (bundled / CURVE).read_bytes()
    before = sorted((file, file.stat().st_mtime_ns) for file in path.rglob("*"))
    bundle.bundle(training, tmp_path / "out")
    assert sorted((file, file.stat().st_mtime_ns) for file in path.rglob("*")) == before


def test_an_unfinished_training_is_not_bundled(tmp_path):
    shutil.copytree(CHECKPOINTS / "ppo" / "base" / "seed-0", tmp_path / "seed-0")
    manifest = tmp_path / "seed-0" / "manifest.json"
    manifest.write_text(
        manifest.read_text().replace('"checkpoint_rule": "last"', '"checkpoint_rule": "fixed"')
    )
    (training,) = trainings_of(str(tmp_path))
    with pytest.raises(InputError, match="not the last checkpoint"):
        bundle.bundle(training, tmp_path / "out")


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "/".join(place.parts[-3:]))
def test_every_bundled_checkpoint_says_what_it_is(place):
    manifest = read_manifest(place)
    assert manifest["train"]["name"] == place.parent.name
    assert manifest["train"]["digest"] == load_train_config(place.parent.name).digest
    assert f"seed-{manifest['seed']}" == place.name
    assert manifest["checkpoint_rule"] == "last"
    assert manifest["notes"]["learned"].keys() == {"success", "steps", "censored_at"}
    assert "/" not in manifest["notes"]["command"].replace("ckpt/", "")
    for leaf in jax.tree.leaves(load_checkpoint(place).variables):
        np.testing.assert_array_equal(leaf, bundle.rounded(leaf))


def test_every_training_has_three_seeds_of_one_algorithm():
    by_training = {}
    for place in PLACES:
        by_training.setdefault(place.parent, []).append(read_manifest(place)["algorithm"])
    assert {parent.parts[-2] for parent in by_training} == set(BUNDLED)
    for parent, algorithms in by_training.items():
        assert len(algorithms) >= 3, parent
        assert all(one == algorithms[0] for one in algorithms), parent


def test_the_checkpoints_are_small():
    sizes = Counter()
    for file in CHECKPOINTS.rglob("*"):
        if file.is_file():
            sizes[next(place for place in PLACES if place in file.parents)] += file.stat().st_size
    assert max(sizes.values()) < 1_000_000
    assert sum(sizes.values()) < 25_000_000
