"""Checkpoints that several Orbax releases wrote load to the numbers that were saved.

`fixtures/orbax/write.py` says what every release wrote.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
import pytest

from envs.errors import InputError
from harness.policies.layout import choose, step_at
from harness.policies.weights import describe_weights, digest_of, leaves_of, read_weights, slot_text

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parent / "fixtures" / "orbax"
RELEASES = ["0.5.3", "0.6.4", "0.11.5", "0.12.8"]
TRAIN_STATES = [
    *(f"{release}/manager" for release in RELEASES),
    *(f"{release}/flax" for release in RELEASES),
    "0.12.8/v1", "0.12.8/v1root",
]  # fmt: skip


def numbers(*shape, dtype=np.float32, offset=0):
    return ((np.arange(np.prod(shape)).reshape(shape) + offset) / 64).astype(dtype)


def parameters(step):
    return {
        "dense": {
            "bias": numbers(3, dtype=ml_dtypes.bfloat16),
            "kernel": numbers(12, 3, offset=step),
        },
        "layers": {"0": numbers(2, offset=step), "1": numbers(2)},
    }


def read(name, wanted="last"):
    return read_weights(choose(FIXTURES / name, wanted)[0])


def assert_same(tree, expected):
    there, wanted = leaves_of(tree), leaves_of(expected)
    assert there.keys() == wanted.keys()
    for path, leaf in wanted.items():
        assert isinstance(there[path], np.ndarray)
        assert there[path].dtype == leaf.dtype
        np.testing.assert_array_equal(there[path], leaf)


def listing(root):
    return sorted((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in root.rglob("*"))


@pytest.mark.parametrize("name", TRAIN_STATES)
def test_a_whole_train_state_comes_back_bit_for_bit_from_every_release(name):
    tree = read(name)
    assert_same(tree["params"], parameters(10))
    np.testing.assert_array_equal(tree["obs_rms"]["var"], numbers(3, offset=64))
    assert tree["step"] == 10
    optimizer = {path[2] for path in leaves_of(tree) if path[0] == "opt_state"}
    assert optimizer == {"count", "mu", "nu"}


@pytest.mark.parametrize("release", RELEASES)
def test_the_step_that_is_asked_for_is_read(release):
    assert_same(read(f"{release}/manager", 2)["params"], parameters(2))


@pytest.mark.parametrize("release", RELEASES[1:])
def test_a_prefix_with_an_underscore_hides_no_step(release):
    step, _ = choose(FIXTURES / release / "prefixed")
    assert (step.place.name, step.number) == ("ppo_networks_10", 10)
    assert_same(read_weights(step), parameters(10))


@pytest.mark.parametrize("release", RELEASES)
def test_what_eight_devices_saved_opens_on_one(release):
    expected = {"bias": numbers(3), "kernel": numbers(16, 3)}
    assert_same(read(f"{release}/sharded"), expected)
    assert jax.device_count() == 1


@pytest.mark.parametrize("release", RELEASES[1:])
def test_the_state_of_an_nnx_model_opens(release):
    dense = read(f"{release}/nnx")["dense"]
    expected = {"bias": {"value": numbers(3)}, "kernel": {"value": numbers(12, 3)}}
    assert_same(dense, expected)


@pytest.mark.parametrize("release", RELEASES)
def test_leaves_are_described_without_reading_them(release):
    step, _ = choose(FIXTURES / release / "manager")
    slots = {path: slot_text(leaf) for path, leaf in leaves_of(describe_weights(step)).items()}
    assert slots == {path: slot_text(leaf) for path, leaf in leaves_of(read_weights(step)).items()}


def test_all_releases_give_equal_fingerprints():
    digests = {digest_of(read(f"{release}/manager")) for release in RELEASES}
    assert len(digests) == 1


# ---------------------------------------------------------------------------------- every path


@pytest.mark.parametrize(
    "spelling",
    [
        "manager", "manager/", "./manager", "manager/10", "manager/10/", "manager/10/default",
        "linked", "linked/10", "v1root", "v1root/10/state", "../ckpt/manager",
    ],
)  # fmt: skip
def test_every_spelling_of_a_path_is_the_same_policy(tmp_path, monkeypatch, spelling):
    home = tmp_path / "ckpt"
    shutil.copytree(FIXTURES / "0.12.8" / "manager", home / "manager")
    shutil.copytree(FIXTURES / "0.12.8" / "v1root", home / "v1root")
    (home / "linked").symlink_to(home / "manager")
    monkeypatch.chdir(home)
    before = listing(tmp_path)
    monkeypatch.setenv("HOME", str(home))
    for path in (Path(spelling), home / spelling, Path("~") / spelling):
        step, passed_over = choose(path)
        assert (step.number, passed_over) == (10, [])
        assert_same(read_weights(step)["params"], parameters(10))
    assert listing(tmp_path) == before


def test_a_copy_without_orbaxs_notes_on_the_step_is_still_complete(tmp_path):
    shutil.copytree(FIXTURES / "0.11.5" / "manager", tmp_path / "m")
    for step in ("2", "10"):
        (tmp_path / "m" / step / "_CHECKPOINT_METADATA").unlink()
    assert choose(tmp_path / "m")[0].number == 10


# --------------------------------------------------------------------------------- incomplete


def without_metadata(step):
    (step / "default" / "_METADATA").unlink()


def without_index(step):
    (step / "default" / "manifest.ocdbt").unlink()


def without_commit(step):
    (step / "_CHECKPOINT_METADATA").write_text(
        '{"init_timestamp_nsecs": 1, "commit_timestamp_nsecs": null}'
    )


def without_marker(step):
    (step / "commit_success.txt").unlink()


def with_temporary_name(step):
    step.rename(step.with_name(f"{step.name}.orbax-checkpoint-tmp-17"))


def with_temporary_item(step):
    (step / "default").rename(step / "default.orbax-checkpoint-tmp-17")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (without_metadata, "no _METADATA"),
        (without_index, "no manifest.ocdbt"),
        (without_commit, "never committed"),
        (without_marker, "no commit_success.txt"),
        (with_temporary_name, "still being written"),
        (with_temporary_item, "still being written"),
    ],
)
def test_a_step_that_is_not_fully_there_is_passed_over_and_named(tmp_path, damage, reason):
    root = tmp_path / "manager"
    shutil.copytree(FIXTURES / "0.12.8" / "manager", root)
    damage(root / "10")
    before = listing(root)
    step, passed_over = choose(root)
    assert step.number == 2
    assert [one.number for one in passed_over] == [10]
    assert reason in passed_over[0].problem
    with pytest.raises(InputError, match=f"incomplete, .*{reason}"):
        choose(root, 10)
    assert listing(root) == before


def test_a_folder_with_no_complete_step_says_why(tmp_path):
    shutil.copytree(FIXTURES / "0.12.8" / "manager" / "10", tmp_path / "m" / "10")
    without_metadata(tmp_path / "m" / "10")
    with pytest.raises(InputError, match=r"no complete checkpoint .*10: default: no _METADATA"):
        choose(tmp_path / "m")
    with pytest.raises(InputError, match="incomplete, default: no _METADATA"):
        choose(tmp_path / "m" / "10")


def test_a_step_that_does_not_exist_lists_those_that_do():
    with pytest.raises(InputError, match=r"has no step 3.*\(2, 10\)"):
        choose(FIXTURES / "0.12.8" / "manager", 3)


def test_two_checkpoints_of_one_step_are_ambiguous(tmp_path):
    for name in ("ema_10", "raw_10"):
        shutil.copytree(FIXTURES / "0.12.8" / "sharded", tmp_path / name)
    with pytest.raises(InputError, match=r"several checkpoints of step 10 \(ema_10, raw_10\)"):
        choose(tmp_path)


def test_strange_names_are_no_steps(tmp_path):
    for name in ("best", "12-old", "metrics"):
        shutil.copytree(FIXTURES / "0.12.8" / "sharded", tmp_path / name)
    shutil.copytree(FIXTURES / "0.12.8" / "sharded", tmp_path / "3")
    (tmp_path / "events_99").write_text("a log")
    assert choose(tmp_path)[0].number == 3


def test_damaged_arrays_are_a_load_error(tmp_path):
    shutil.copytree(FIXTURES / "0.12.8" / "sharded", tmp_path / "s")
    for file in [*(tmp_path / "s" / "d").iterdir(), *tmp_path.glob("s/ocdbt.process_0/d/*")]:
        file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(InputError, match="not a complete Orbax checkpoint"):
        read_weights(step_at(tmp_path / "s"))


def test_reading_works_inside_a_running_event_loop():
    async def inside():
        return read("0.12.8/sharded")

    assert set(asyncio.run(inside())) == {"bias", "kernel"}


def test_reading_says_nothing_on_any_stream():
    code = (
        "from pathlib import Path\n"
        "from harness.policies.layout import choose\n"
        "from harness.policies.weights import describe_weights, read_weights\n"
        f"for path in sorted(Path({str(FIXTURES)!r}).glob('*/*')):\n"
        "    step, _ = choose(path)\n"
        "    read_weights(step), describe_weights(step)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
