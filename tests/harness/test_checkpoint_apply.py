"""Weights without a manifest act as the code does that the user names."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from flax import serialization
from harness_probes import probe_pair
from policy_files import chosen, env, expected_action, linear, load, write, write_code

from envs.errors import InputError
from harness import RunError, evaluate
from harness.policies.sources import load_policies
from harness.policies.weights import digest_of

pytestmark = pytest.mark.slow


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A folder with policy files, where the user stands."""
    monkeypatch.chdir(tmp_path)
    return write_code(tmp_path)


# ------------------------------------------------------------------------------------- the forms


@pytest.mark.parametrize("form", ["act", "sampled", "network", "batched", "make", "Network"])
def test_every_form_of_code_gives_the_action_of_the_weights(code, form):
    write(code / "ckpt", linear(3))
    actions = "greedy" if form not in ("act", "sampled") else None
    one, _ = load("ckpt", f"net.py:{form}", actions=actions)
    assert one.origin["checked"] == "verified"
    if form == "sampled":
        assert chosen(one) in (0, 1, 2)
    else:
        assert chosen(one) == expected_action(linear(3))


def test_a_memory_is_carried(code):
    write(code / "ckpt", linear())
    one, _ = load("ckpt", "memory.py:after_two_steps")
    obs, carry = jnp.zeros((2, 2, 3), jnp.uint8), one.carry
    seen = []
    for _ in range(4):
        action, carry = one.apply(one.weights, carry, obs, None)
        seen.append(int(action))
    bias = int(np.argmax(linear()["bias"]))
    assert seen == [1, 1, bias, bias]


def test_code_may_be_given_from_python(code):
    write(code / "ckpt", linear())
    one, _ = load("ckpt", lambda params, obs: jnp.argmax(params["bias"]))
    assert one.origin["checked"] == "leaves unverified"
    assert chosen(one) == int(np.argmax(linear()["bias"]))


@pytest.mark.parametrize(
    ("apply", "problem"),
    [
        ("net.py:four", "a int; expected act"),
        ("net.py:wrong", "returned a int; expected act"),
        ("net.py:after_two_steps", "takes 4 arguments .*no initial_carry"),
        ("net.py:atc", "did you mean 'act'"),
        ("net.py", "expected my_net.py:NAME"),
        ("nett.py:act", "there is no such file"),
    ],
)
def test_what_is_none_of_the_forms_is_refused(code, apply, problem):
    write(code / "ckpt", linear())
    with pytest.raises(InputError, match=problem):
        load("ckpt", apply)


def test_weights_alone_ask_for_their_code(code):
    write(code / "ckpt", linear())
    with pytest.raises(InputError, match=r"without a manifest.*--apply my_net.py:NAME"):
        load_policies("ckpt", env=env())


def test_reading_options_are_refused_where_they_mean_nothing(code):
    for options in ({"apply": "net.py:act"}, {"params_key": "a"}, {"allow_extra": True}):
        with pytest.raises(InputError, match="is for checkpoints"):
            load_policies("net.py:act", env=env(), **options)


def test_training_seeds_share_one_program(code):
    for seed in (0, 1, 2):
        write(code / "runs" / f"seed-{seed}", linear(seed))
    policies = list(load_policies("runs", env=env(), apply="net.py:network"))
    assert [one.seed for one in policies] == [0, 1, 2]
    assert len({one.apply for one in policies}) == 1
    assert len({one.fingerprint for one in policies}) == 3


# ------------------------------------------------------------------------------- files of weights


def save_npz(path, tree):
    np.savez(path, **{f"params/{name}": leaf for name, leaf in tree.items()})


def save_msgpack(path, tree):
    path.write_bytes(serialization.to_bytes({"params": tree, "step": 3}))


def save_safetensors(path, tree):
    files = pytest.importorskip("safetensors.numpy")
    files.save_file({f"params.{name}": np.asarray(leaf) for name, leaf in tree.items()}, path)


@pytest.mark.parametrize(
    ("name", "save"),
    [("w.npz", save_npz), ("w.msgpack", save_msgpack), ("w.safetensors", save_safetensors)],
)
def test_files_of_weights_load_like_folders(code, name, save):
    save(code / name, linear(2))
    one, _ = load(name, "net.py:act")
    assert chosen(one) == expected_action(linear(2))
    assert one.origin["form"] == name.partition(".")[2]


def test_a_file_of_weights_never_runs_code(code):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (code / "ran",))

    np.savez(code / "w.npz", kernel=np.array([Trap()], dtype=object))
    with pytest.raises(InputError, match=r"not an \.npz of plain arrays"):
        load("w.npz", "net.py:act")
    assert not (code / "ran").exists()


@pytest.mark.parametrize("name", ["w.npz", "w.msgpack"])
def test_a_damaged_file_is_a_load_error(code, name):
    (code / name).write_bytes(b"\xc1 nothing")
    with pytest.raises(InputError, match=name):
        load(name, "net.py:act")


# ------------------------------------------------------------------------------------- statistics

NORMALIZED = """
import jax.numpy as jnp
statistics = {"mean": "obs_rms/mean", "var": "obs_rms/var"}
def act(params, obs, key, statistics):
    shown = (obs[0, 0] - statistics["mean"]) / jnp.sqrt(statistics["var"])
    return jnp.argmax(shown * params["scale"])
def greedy_numpy(params, obs, statistics):
    import numpy as np
    statistics["mean"] += 1
    return np.zeros(len(np.asarray(obs)), int)
def swapping(params, obs, statistics):
    import numpy as np
    count = len(np.asarray(obs))
    statistics["mean"] = statistics["mean"] + 1
    return np.zeros(count, int)
"""


def normalized(var=(4.0, 1.0, 9.0)):
    rms = {"mean": np.zeros(3, np.float32), "var": np.array(var, np.float32), "count": np.ones(())}
    return {"params": {"scale": np.ones(3, np.float32)}, "obs_rms": rms, "opt_state": [np.ones(2)]}


def test_statistics_travel_with_the_weights(code):
    (code / "net.py").write_text(NORMALIZED)
    write(code / "ckpt", normalized())
    one, _ = load("ckpt", "net.py:act")
    assert chosen(one) == 1  # the smallest variance
    other, _ = load(write(code / "other", normalized((4.0, 9.0, 1.0))), "net.py:act")
    assert chosen(other) == 2
    assert one.fingerprint != other.fingerprint
    assert one.origin["statistics"] != other.origin["statistics"]


def test_missing_statistics_are_a_load_error_that_names_them(code):
    (code / "net.py").write_text(NORMALIZED)
    tree = normalized()
    del tree["obs_rms"]["var"]
    write(code / "ckpt", tree)
    with pytest.raises(InputError, match=r"does not hold: obs_rms/var \(there: obs_rms, opt_state"):
        load("ckpt", "net.py:act")


def test_statistics_that_are_declared_are_taken_and_the_other_way_round(code):
    (code / "net.py").write_text(NORMALIZED.replace("statistics = {", "unused = {", 1))
    write(code / "ckpt", normalized())
    with pytest.raises(InputError, match="the file does not say where they are"):
        load("ckpt", "net.py:act")


@pytest.mark.parametrize("name", ["greedy_numpy", "swapping"])
def test_statistics_stay_frozen_whatever_the_policy_does(code, name):
    """Writing into them raises; replacing them is found out when the run ends."""
    (code / "net.py").write_text(NORMALIZED)
    write(code / "ckpt", normalized())
    with pytest.raises(
        (InputError, RunError), match=r"read-only|changed its weights or statistics"
    ):
        evaluate("ckpt", probe_pair(), episodes=2, apply=f"net.py:{name}")


def listing(root):
    return sorted((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in root.rglob("*"))


def test_a_run_reports_what_was_read_and_leaves_it_as_it_was(code):
    (code / "net.py").write_text(NORMALIZED)
    write(code / "ckpt" / "10", normalized((4.0, 9.0, 1.0)))
    before = listing(code / "ckpt")
    report = evaluate("ckpt", probe_pair(), episodes=2, apply="net.py:act")
    assert listing(code / "ckpt") == before
    (facts,) = report.policy["policies"]
    assert facts["origin"]["dtypes"] == ["float32"]
    assert (facts["origin"]["step"], facts["origin"]["leaves"]) == (10, 3)
    assert facts["origin"]["statistics"] == digest_of(
        {"mean": np.zeros(3, np.float32), "var": np.float32([4, 9, 1])}
    )
    assert "weights: step 10, 3 leaves (float32) from params, leaves unverified" in str(report)
    assert report["grey"].rules["checkpoint rule"] == "unverified"


def test_weights_from_disk_score_as_the_policy_in_memory(code):
    (code / "net.py").write_text(NORMALIZED)
    write(code / "ckpt", tree := normalized((4.0, 9.0, 1.0)))

    def in_memory(obs, key):
        shown = (obs[0, 0] - tree["obs_rms"]["mean"]) / jnp.sqrt(tree["obs_rms"]["var"])
        return jnp.where(obs[0, 0, 0] == 0, 1, jnp.argmax(shown * tree["params"]["scale"]))

    def guarded(params, obs, key, statistics):
        shown = (obs[0, 0] - statistics["mean"]) / jnp.sqrt(statistics["var"])
        return jnp.where(obs[0, 0, 0] == 0, 1, jnp.argmax(shown * params["scale"]))

    guarded.statistics = {"mean": "obs_rms/mean", "var": "obs_rms/var"}
    stored = evaluate("ckpt", probe_pair(), episodes=4, apply=guarded)
    own = evaluate(in_memory, probe_pair(), episodes=4)
    for one, other in zip(stored.cells, own.cells, strict=True):
        for name, column in one.batch.columns.items():
            np.testing.assert_array_equal(column, other.batch.columns[name])
    assert stored["grey"].gap["success"].point == 1  # the bright picture misleads it
