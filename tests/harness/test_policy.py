"""A function becomes a policy by its signature and a dry run."""

import jax.numpy as jnp
import numpy as np
import pytest
from harness_probes import ProbeConfig, always_right

from envs.errors import InputError
from harness.policies.settling import settle
from harness.policy import builtin, policy


def env():
    return ProbeConfig().build()[0]


def settled_kind(function):
    return settle(policy(function), env())[0].kind


def test_a_traceable_function_stays_in_jax():
    assert settled_kind(always_right) == "jax"
    assert settled_kind(lambda obs: 1) == "jax"
    assert settled_kind(lambda obs: jnp.ones((1,), jnp.int32)) == "jax"


def test_a_numpy_batch_function_runs_on_the_host():
    def act(obs):
        return np.asarray(obs).reshape(len(obs), -1).astype(np.float64).sum(1).astype(np.int64)

    assert settled_kind(act) == "host-batch"


def test_a_function_of_a_single_numpy_observation_runs_on_the_host():
    def act(obs):
        assert np.asarray(obs).shape == (2, 2, 3)
        return int(np.asarray(obs).max())

    assert settled_kind(act) == "host-single"


def test_what_was_tried_is_in_the_message_when_nothing_works():
    def act(obs):
        raise KeyError("pixels")

    with pytest.raises(InputError, match=r"as JAX: KeyError.*as host-batch.*as host-single"):
        settle(policy(act), env())


def test_logits_instead_of_an_action_are_refused():
    with pytest.raises(InputError, match=r"float32\[3\], expected one whole number"):
        settle(policy(lambda obs: jnp.zeros(3)), env())


@pytest.mark.parametrize(
    "function",
    [lambda obs: 1, lambda obs, key: 1, lambda obs, key=None: 1, lambda *args: 1],
)
def test_accepted_signatures(function):
    assert policy(function).apply(None, None, "obs", "key") == (1, None)


def test_a_signature_with_too_many_arguments_is_refused():
    with pytest.raises(InputError, match="takes 4 arguments"):
        policy(lambda a, b, c, d: 1)


def test_an_unknown_kind_names_the_nearest():
    with pytest.raises(InputError, match="did you mean 'host-batch'"):
        policy(always_right, kind="hostbatch")


def test_the_same_function_gives_the_same_apply_and_so_one_program():
    assert policy(always_right).apply is policy(always_right).apply


def test_the_function_stays_callable_after_its_module_was_imported():
    import harness

    assert harness.policy(always_right, kind="jax").kind == "jax"


def test_an_unknown_action_mode_names_the_nearest():
    with pytest.raises(InputError, match="did you mean 'sample'"):
        policy(always_right, actions="sampled")


def test_settings_for_what_is_a_policy_already_are_refused():
    made = policy(always_right)
    assert policy(made) is made
    with pytest.raises(InputError, match="always_right is a policy already"):
        policy(made, kind="jax-batch")


def test_a_number_is_not_a_policy():
    with pytest.raises(InputError, match="not 3"):
        policy(3)


def test_scripts_belong_to_their_environment():
    with pytest.raises(InputError, match="has no script 'right-jump'"):
        builtin("right-jump", env())


def test_a_policy_for_another_observation_is_refused():
    from dataclasses import replace

    with pytest.raises(InputError, match=r"sees \(128, 128, 3\)"):
        settle(replace(policy(always_right), observation_shape=(128, 128, 3)), env())


def test_without_pytorch_the_message_says_what_to_install(monkeypatch):
    import sys

    from harness import torch_policy

    class Module:
        def eval(self):
            return self

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"pip install 'heldout\[torch\]'"):
        torch_policy(Module())


@pytest.mark.parametrize(
    ("module", "missing", "extra"),
    [
        ("harness.policies.remote", "websockets.sync", "remote"),
        ("harness.policies.wire", "msgpack", "remote"),
        ("harness.policies.onnx", "onnxruntime", "onnx"),
    ],
)
def test_a_missing_extra_is_named(monkeypatch, module, missing, extra):
    import importlib
    import sys

    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InputError, match=rf"pip install 'heldout\[{extra}\]'"):
        importlib.import_module(module)
