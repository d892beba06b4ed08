"""An ONNX file plays like the network it was made of, whatever its input looks like.

Not part of CI, which installs neither package: last run with onnxruntime 1.32.0 and onnx 1.23.2.
"""

import numpy as np
import pytest
from seeing_probes import SHAPE, Stripes, rolled, same_records

from envs.errors import InputError
from harness.policies.observations import Obs
from harness.policies.settling import settle
from harness.policies.sources import load_policies
from harness.policy import policy
from harness.rollouts.rollout import play

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

import onnx
from onnx import TensorProto, helper, numpy_helper

from harness.policies.onnx import METADATA, onnx_policy

WEIGHTS = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)
FLOAT, BYTES = TensorProto.FLOAT, TensorProto.UINT8


def network(obs):
    """The network itself, for [N, H, W, C] in 0 … 1."""
    return (obs.reshape(len(obs), -1) @ WEIGHTS).argmax(-1)


def write(
    path, *, layout="CHW", dtype=FLOAT, batch="N", integer=False, metadata=None, channels=2,
    sizes=None, outputs=("logits",),
):  # fmt: skip
    """Write the network as a file; `batch` None is one without an axis of the batch."""
    seen = SHAPE if layout == "HWC" else (SHAPE[2], *SHAPE[:2])
    seen = sizes or (seen if layout == "HWC" else (channels, *seen[1:]))
    shape = seen if batch is None else (batch, *seen)
    weights = WEIGHTS if dtype == FLOAT else WEIGHTS / np.float32(255)
    nodes = [helper.make_node("Cast", ["obs"], ["floats"], to=FLOAT)]
    if layout == "CHW":
        order = [1, 2, 0] if batch is None else [0, 2, 3, 1]
        nodes.append(helper.make_node("Transpose", ["floats"], ["pixels"], perm=order))
    else:
        nodes.append(helper.make_node("Identity", ["floats"], ["pixels"]))
    rows = np.array([1 if batch is None else -1, 12])
    nodes += [
        helper.make_node("Reshape", ["pixels", "rows"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["scores"]),
        helper.make_node("Identity" if batch is not None else "Squeeze", ["scores"], ["logits"]),
    ]
    last = "logits"
    if integer:
        nodes.append(helper.make_node("ArgMax", ["logits"], ["action"], axis=-1, keepdims=0))
        last, outputs = "action", ("action",)
    if "value" in outputs:
        nodes.append(helper.make_node("ReduceSum", ["scores"], ["value"], keepdims=0))
    kind = TensorProto.INT64 if last == "action" else FLOAT
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("obs", dtype, shape)],
        [helper.make_tensor_value_info(one, kind, None) for one in outputs],
        [numpy_helper.from_array(rows, "rows"), numpy_helper.from_array(weights, "weights")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for name, value in (metadata or {}).items():
        model.metadata_props.add(key=name, value=value)
    onnx.save(model, path)
    return path


def played(one, num_envs=4):
    return play(Stripes(), None, settle(one, Stripes())[0], episodes=6, num_envs=num_envs)


@pytest.fixture(scope="module")
def own_records():
    return rolled(network, 6, kind="host-batch", obs=Obs(dtype="float32", range=(0, 1)))


@pytest.mark.parametrize(
    "form",
    [
        {}, {"layout": "HWC"}, {"dtype": BYTES}, {"layout": "HWC", "dtype": BYTES},
        {"batch": 1}, {"batch": 3}, {"batch": None}, {"integer": True},
        {"integer": True, "batch": None, "layout": "HWC", "dtype": BYTES},
        {"outputs": ("value", "logits")},
    ],
    ids=str,
)  # fmt: skip
def test_every_form_of_the_network_gives_the_same_records(form, own_records, tmp_path):
    made = onnx_policy(write(tmp_path / "net.onnx", **form), Stripes())
    assert len(set(own_records.columns["trace"])) > 3
    assert same_records(played(made), own_records)


def test_a_file_is_a_policy_on_the_command_line(own_records, tmp_path):
    path = write(tmp_path / "net.onnx")
    found = load_policies(str(path), env=Stripes())
    (one,) = found
    assert (found.name, one.seed, one.actions) == ("net.onnx", 0, "greedy")
    assert same_records(played(one), own_records)
    note = settle(one, Stripes())[1]
    assert note == "net.onnx sees CHW float32, in 0 … 1 (found from its input)"


def test_what_the_file_says_about_how_it_sees_is_used(tmp_path):
    import json

    said = Obs("CHW", "float32", (0, 1), mean=[0.1, 0.2], std=[0.5, 0.25])
    path = write(tmp_path / "net.onnx", metadata={METADATA: json.dumps(said.to_dict())})
    own = rolled(lambda obs: network(np.moveaxis(obs, 1, -1)), 6, kind="host-batch", obs=said)
    assert same_records(played(onnx_policy(path, Stripes())), own)


def test_sampling_depends_on_the_seed_of_the_step_alone(tmp_path):
    made = onnx_policy(write(tmp_path / "net.onnx"), Stripes(), actions="sample")
    greedy = onnx_policy(write(tmp_path / "net.onnx"), Stripes())
    assert same_records(played(made), played(made))
    assert not same_records(played(made), played(greedy))
    assert made.fingerprint != greedy.fingerprint


def test_the_fingerprint_is_that_of_the_file_and_of_what_it_sees(tmp_path):
    first = write(tmp_path / "a.onnx")
    same, other = write(tmp_path / "b.onnx"), write(tmp_path / "c.onnx", batch=3)
    prints = [onnx_policy(path, Stripes()).fingerprint for path in (first, same, other)]
    assert prints[0] == prints[1] != prints[2]
    wider = Obs("CHW", "float32", (0, 255))
    assert onnx_policy(first, Stripes(), obs=wider).fingerprint != prints[0]


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"channels": 8}, r"input \['N', 8, 2, 3\] does not fit for observations \[2, 3, 2\]"),
        ({"sizes": ("a", "b", "c")}, "fits channels first and last"),
        ({"dtype": TensorProto.INT32}, r"takes tensor\(int32\), expected float32 or uint8"),
        ({"metadata": {METADATA: '{"layuot": "CHW"}'}}, "did you mean 'layout'"),
        ({"metadata": {METADATA: '{"stack": 2}'}}, "what is declared to be seen is uint8"),
    ],
)
def test_an_input_that_fits_nothing_is_named(form, problem, tmp_path):
    with pytest.raises(InputError, match=problem):
        onnx_policy(write(tmp_path / "net.onnx", **form), Stripes())


def test_what_is_no_network_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        load_policies(str(tmp_path / "none.onnx"), env=Stripes())
    (tmp_path / "text.onnx").write_text("weights")
    with pytest.raises(InputError, match="not a network that onnxruntime runs") as caught:
        onnx_policy(tmp_path / "text.onnx", Stripes())
    assert "\n" not in str(caught.value)


def test_scores_for_too_few_actions_are_seen_in_the_dry_run(tmp_path):
    made = onnx_policy(write(tmp_path / "net.onnx", outputs=("value",)), Stripes())
    with pytest.raises(InputError, match="cannot be called"):
        settle(policy(made), Stripes())
