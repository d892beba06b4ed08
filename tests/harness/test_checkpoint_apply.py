"""Weights without a manifest act as the code does that the user names."""

import dataclasses
import shutil
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
import pytest
from flax import nnx, serialization
from harness_probes import ProbeConfig, probe_pair

from envs.errors import InputError
from harness import RunError, evaluate
from harness.checkpoint import load_checkpoint, save_policy
from harness.sources import load_policies
from harness.weights import digest_of

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parent / "fixtures" / "orbax"
LINEAR = """
import jax, jax.numpy as jnp

def init(key, obs):
    return {"bias": jnp.zeros(3), "kernel": jnp.zeros((obs.size, 3))}

def logits(params, obs):
    return obs.reshape(-1) / 255 @ params["kernel"] + params["bias"]

def act(params, obs):
    return jnp.argmax(logits(params, obs))

def sampled(params, obs, key):
    return jax.random.categorical(key, logits(params, obs))

def after_two_steps(params, obs, carry, key):
    return jnp.where(carry < 2, 1, act(params, obs)), carry + 1

def initial_carry():
    return jnp.int32(0)

def of_numpy(params, obs):
    import numpy as np
    return np.asarray(obs).reshape(len(obs), -1).astype(float).dot(params["kernel"]).argmax(1)

class Network:
    def init(self, key, obs):
        return {"params": init(key, obs)}
    def apply(self, variables, obs):
        return logits(variables["params"], obs), 0.0

class InBatches(Network):
    def init(self, key, obs):
        return {"params": init(key, obs[0])}
    def apply(self, variables, obs):
        return jax.vmap(lambda one: logits(variables["params"], one))(obs)

network, batched, four = Network(), InBatches(), 4

def make():
    return network

def wrong():
    return 3
"""
MEMORYLESS = LINEAR.replace("def initial_carry():", "def unused():")


def env():
    return ProbeConfig().build()[0]


def linear(seed=0):
    kernel, bias = jax.random.split(jax.random.key(seed))
    return {"kernel": jax.random.normal(kernel, (12, 3)), "bias": jax.random.normal(bias, (3,))}


def write(path, tree):
    with ocp.PyTreeCheckpointer() as writer:
        writer.save(path, tree)
    return path


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A folder with a policy file, where the user stands."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(MEMORYLESS)
    (tmp_path / "memory.py").write_text(LINEAR)
    return tmp_path


def load(path, apply, **options):
    notes = []
    found = load_policies(str(path), env=env(), apply=apply, note=notes.append, **options)
    (one,) = found
    return one, notes


def chosen(one):
    """Its action on a bright picture."""
    obs = np.full((2, 2, 3), 200, np.uint8)
    return int(one.apply(one.weights, one.carry, obs, jax.random.key(0))[0])


def expected_action(params):
    obs = np.full(12, 200 / 255, np.float32)
    return int(np.argmax(obs @ np.asarray(params["kernel"]) + np.asarray(params["bias"])))


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


# -------------------------------------------------------------------------- where the params are


TREES = {
    "bare": lambda p: p,
    "linen": lambda p: {"params": p},
    "nested once": lambda p: {"params": {"params": p}},
    "nested twice": lambda p: {"train": {"state": {"params": p}}, "time": np.ones(2)},
    "train state": lambda p: {"params": p, "opt_state": [p, {"mu": p}], "step": np.int64(3)},
    "in a list": lambda p: [{"mean": np.ones(3)}, {"params": p}, {"value": np.ones((12, 1))}],
    "actor and critic": lambda p: {"actor": {"params": p}, "critic": {"kernel": np.ones((12, 1))}},
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("form", ["act", "network"])
def test_the_parameters_are_found_by_what_the_policy_expects(code, name, form):
    write(code / "ckpt", TREES[name](linear(1)))
    one, _ = load("ckpt", f"net.py:{form}", actions="greedy" if form == "network" else None)
    assert chosen(one) == expected_action(linear(1))
    assert one.origin["leaves"] == 2


@pytest.mark.parametrize("name", ["bare", "linen", "nested once", "nested twice", "train state"])
def test_without_a_declared_expectation_the_dry_run_finds_them(code, name):
    (code / "net.py").write_text(MEMORYLESS.replace("def init(", "def unused_init("))
    write(code / "ckpt", TREES[name](linear(1)))
    one, _ = load("ckpt", "net.py:act")
    assert one.origin["checked"] == "leaves unverified"
    assert chosen(one) == expected_action(linear(1))


def test_two_parts_that_fit_are_ambiguous_until_one_is_named(code):
    write(code / "ckpt", {"params": linear(1), "target_params": linear(2)})
    with pytest.raises(InputError, match=r"\(params, target_params\); say which with --params-key"):
        load("ckpt", "net.py:act")
    one, _ = load("ckpt", "net.py:act", params_key="target_params")
    assert chosen(one) == expected_action(linear(2))
    with pytest.raises(InputError, match=r"no 'parms'; did you mean 'params'"):
        load("ckpt", "net.py:act", params_key="parms")


def test_two_parts_called_params_are_ambiguous_for_a_function_alone(code):
    write(code / "ckpt", {"actor": {"params": linear(1)}, "critic": {"params": linear(2)}})
    with pytest.raises(InputError, match=r"\(actor/params, critic/params\)"):
        load("ckpt", lambda params, obs: jnp.argmax(params["bias"]))

    def act(tree, obs):
        return jnp.argmax(tree["actor"]["params"]["bias"])

    one, _ = load("ckpt", act, params_key=".")
    assert chosen(one) == int(np.argmax(linear(1)["bias"]))


def test_integer_keys_and_bfloat16_come_back_as_the_policy_has_them(code):
    (code / "net.py").write_text(
        "import jax.numpy as jnp\n"
        "def init(key, obs):\n"
        "    dense = {'kernel': jnp.zeros((12, 3)), 'bias': jnp.zeros(3, jnp.bfloat16)}\n"
        "    return {'dense': dense, 'layers': {0: jnp.zeros(2), 1: jnp.zeros(2)}}\n"
        "def act(params, obs):\n"
        "    assert params['dense']['bias'].dtype == jnp.bfloat16\n"
        "    return jnp.argmax(params['layers'][0])\n"
    )
    for release in ("0.5.3", "0.6.4", "0.11.5", "0.12.8"):
        for layout in ("manager", "flax"):
            one, _ = load(FIXTURES / release / layout, "net.py:act")
            assert (one.origin["taken_from"], one.steps, chosen(one)) == ("params", 10, 1)


def test_the_state_of_an_nnx_model_acts(tmp_path):
    class Net(nnx.Module):
        def __init__(self, rngs):
            self.dense = nnx.Linear(12, 3, rngs=rngs)
            self.dropout = nnx.Dropout(0.5, deterministic=True, rngs=rngs)

    graph, _ = nnx.split(Net(nnx.Rngs(0)))

    def act(state, obs):
        model = nnx.merge(graph, state)
        return jnp.argmax(model.dropout(model.dense(obs.reshape(-1) / 255)))

    act.init = lambda key, obs: nnx.state(Net(nnx.Rngs(key)))
    one, _ = load(FIXTURES / "0.12.8" / "nnx", act)
    assert one.origin["checked"] == "verified"
    assert chosen(one) == 2  # every row of the kernel rises


# ----------------------------------------------------------------------------------- what differs


def differences(error):
    head, *leaves = str(error.value).splitlines()
    return head, [line.strip() for line in leaves]


def test_every_leaf_that_differs_is_listed_with_both_shapes(code):
    write(code / "ckpt", {"params": {"kernel": np.ones((8, 3)), "bias": np.ones(2, np.float32)}})
    with pytest.raises(InputError, match="2 leaves differ") as refused:
        load("ckpt", "net.py:act")
    assert differences(refused)[1] == [
        "bias is float32[2] in the file, float32[3] in the network",
        "kernel is float64[8, 3] in the file, float32[12, 3] in the network",
    ]


def test_a_missing_leaf_is_never_filled_in(code):
    write(code / "ckpt", {"params": {"kernel": linear()["kernel"]}})
    for allow_extra in (False, True):
        with pytest.raises(InputError, match="bias is missing in the file"):
            load("ckpt", "net.py:act", allow_extra=allow_extra)


def test_leaves_too_many_are_ignored_only_on_demand_and_named(code):
    write(code / "ckpt", {"params": {**linear(2), "more": np.ones((2, 2), np.int8)}})
    with pytest.raises(InputError, match="--allow-extra ignores"):
        load("ckpt", "net.py:act")
    one, notes = load("ckpt", "net.py:act", allow_extra=True)
    assert one.origin["ignored"] == ["more int8[2, 2]"]
    assert "more int8[2, 2]" in notes[0]
    assert chosen(one) == expected_action(linear(2))


def test_nothing_is_cast(code):
    write(code / "ckpt", jax.tree.map(lambda leaf: np.asarray(leaf, np.float16), linear()))
    with pytest.raises(InputError, match="the shapes agree, the dtypes do not"):
        load("ckpt", "net.py:act")


def test_copies_for_every_device_are_recognised(code):
    write(code / "ckpt", jax.tree.map(lambda leaf: np.stack([leaf] * 8), linear()))
    with pytest.raises(InputError, match="a leading axis of 8"):
        load("ckpt", "net.py:act")


def test_a_network_with_other_logits_is_refused(code):
    text = MEMORYLESS.replace(
        'logits(variables["params"], obs), 0.0', 'variables["params"]["kernel"]'
    )
    (code / "net.py").write_text(text)
    write(code / "ckpt", linear())
    with pytest.raises(InputError, match=r"its logits for one observation are \(12, 3\), expected"):
        load("ckpt", "net.py:network")


def test_incomplete_steps_are_passed_over_with_a_note(code):
    for step in (2, 10):
        write(code / "ckpt" / str(step), linear(step))
    (code / "ckpt" / "10" / "_METADATA").unlink()
    one, notes = load("ckpt", "net.py:act")
    assert one.steps == 2
    assert len(notes) == 1
    assert "ckpt/10: skipped, no _METADATA" in notes[0]


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


def test_a_run_reports_what_was_read_and_leaves_it_as_it_was(code):
    (code / "net.py").write_text(NORMALIZED)
    before = digest_of(normalized())
    write(code / "ckpt" / "10", normalized())
    report = evaluate("ckpt", probe_pair(), episodes=2, apply="net.py:act")
    (facts,) = report.policy["policies"]
    assert facts["origin"]["dtypes"] == ["float32"]
    assert (facts["origin"]["step"], facts["origin"]["leaves"]) == (10, 3)
    assert "weights: step 10, 3 leaves (float32) from params, leaves unverified" in str(report)
    assert report["grey"].rules["checkpoint rule"] == "unverified"
    assert before == digest_of(normalized())


# ----------------------------------------------------------------- manifests with a user's factory


def save_own(code, **options):
    shown = np.zeros((2, 2, 2, 3), np.uint8)
    (code / "mine.py").write_text(
        "import flax.linen as nn\n"
        "class Net(nn.Module):\n"
        "    width: int\n"
        "    @nn.compact\n"
        "    def __call__(self, obs):\n"
        "        x = obs.reshape(*obs.shape[:-3], -1) / 255\n"
        "        mean = self.variable('statistics', 'mean', lambda: x[..., 0] * 0).value\n"
        "        return nn.Dense(3)(nn.relu(nn.Dense(self.width)(x))) + mean.sum()\n"
        "def factory(width):\n"
        "    return Net(width)\n"
    )
    from harness.checkpoint import build_network

    network = build_network("mine.py:factory", {"width": 5})
    variables = network.init(jax.random.key(0), shown[0])
    save_policy(
        "ckpt", variables["params"], "mine.py:factory", {"width": 5}, observations=shown,
        num_actions=3, seed=4, collections={"statistics": {"mean": np.float32(0)}}, **options,
    )  # fmt: skip


def test_a_users_factory_is_saved_in_three_lines_and_runs_only_when_the_user_says_so(code):
    save_own(code)
    with pytest.raises(InputError, match=r"not one of ours; .*--apply mine.py:factory"):
        load_policies("ckpt", env=env())
    with pytest.raises(InputError, match="not one of ours"):
        load_checkpoint("ckpt")
    one, _ = load("ckpt", "mine.py:factory")
    assert (one.seed, one.actions, one.origin["checked"]) == (4, "sample", "verified")
    assert one.origin["leaves"] == 5


def test_other_collections_are_saved_and_a_missing_one_is_named(code):
    save_own(code)
    shutil.rmtree(code / "ckpt" / "collections")
    with pytest.raises(InputError, match="collections"):
        load("ckpt", "mine.py:factory")


def test_the_stored_outputs_are_compared_for_a_users_factory_too(code):
    save_own(code)
    text = (code / "mine.py").read_text()
    (code / "mine.py").write_text(text.replace("mean.sum()", "1"))
    with pytest.raises(InputError, match="outputs differ from those stored"):
        load("ckpt", "mine.py:factory")


def test_a_factory_that_makes_no_network_is_refused(code):
    (code / "mine.py").write_text("def factory():\n    return 3\n")
    shown = np.zeros((1, 2, 2, 3), np.uint8)
    with pytest.raises(InputError, match="returned a int, not a network"):
        save_policy("ckpt", {}, "mine.py:factory", observations=shown, num_actions=3)


def test_an_unknown_checkpoint_rule_names_the_nearest(code):
    with pytest.raises(InputError, match="did you mean 'best-on-train'"):
        save_own(code, checkpoint_rule="best-on-trian")


def test_a_file_with_postponed_annotations_may_define_networks(code):
    (code / "late.py").write_text(
        "from __future__ import annotations\n"
        "import flax.linen as nn\n"
        "class Net(nn.Module):\n"
        "    width: int = 3\n"
        "    @nn.compact\n"
        "    def __call__(self, obs):\n"
        "        return nn.Dense(self.width)(obs.reshape(-1) / 255)\n"
        "net = Net()\n"
    )
    write(code / "ckpt", {"params": {"Dense_0": linear(5)}})
    one, _ = load("ckpt", "late.py:net", actions="greedy")
    assert chosen(one) == expected_action(linear(5))
    assert dataclasses.is_dataclass(one)
