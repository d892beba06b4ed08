"""The parameters are found where they lie, and are what the policy expects, leaf by leaf."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from policy_files import (
    FIXTURES,
    MEMORYLESS,
    chosen,
    expected_action,
    linear,
    load,
    write,
    write_code,
)  # fmt: skip

from envs.errors import InputError
from harness import cli

pytestmark = pytest.mark.slow


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A folder with policy files, where the user stands."""
    monkeypatch.chdir(tmp_path)
    return write_code(tmp_path)


# -------------------------------------------------------------------------- where the params are


TREES = {
    "bare": lambda p: p,
    "linen": lambda p: {"params": p},
    "nested once": lambda p: {"params": {"params": p}},
    "nested twice": lambda p: {"train": {"state": {"params": p}}, "time": np.ones(2)},
    "train state": lambda p: {"params": p, "opt_state": [p, {"mu": p}], "step": np.int64(3)},
    "with its configuration": lambda p: {
        "model": p,
        "config": {"name": "ppo", "rate": 1, "no": None},
    },
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


def test_a_type_that_npz_cannot_keep_is_explained(code):
    np.savez(code / "w.npz", **jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), linear()))
    with pytest.raises(InputError, match=r"\.npz keeps no type for bfloat16"):
        load("w.npz", "net.py:act")


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


def test_the_command_stops_before_any_episode_and_lists_what_differs(code, capsys):
    write(code / "ckpt", {"params": linear(), "target": {"kernel": np.ones((2, 2))}})
    command = ["--policy", "ckpt", "--suite", "smoke", "--apply", "net.py:act"]
    assert cli.main(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        f"heldout: {code / 'ckpt'} (its part params) does not fit the policy: 1 leaf differs",
        "  kernel is float32[12, 3] in the file, float32[49152, 3] in the network",
    ]
    assert cli.main([*command, "--params-key", "targte"]) == 2
    assert "did you mean 'target'? (params, target)" in capsys.readouterr().err


def test_incomplete_steps_are_passed_over_with_a_note(code):
    for step in (2, 10):
        write(code / "ckpt" / str(step), linear(step))
    (code / "ckpt" / "10" / "_METADATA").unlink()
    one, notes = load("ckpt", "net.py:act")
    assert one.steps == 2
    assert len(notes) == 1
    assert "ckpt/10: skipped, no _METADATA" in notes[0]
