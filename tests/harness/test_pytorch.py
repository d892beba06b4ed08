"""PyTorch modules and functions play like the same network in NumPy.

Not part of CI, which never installs PyTorch: last run with PyTorch 2.14.1.
"""

import numpy as np
import pytest
from seeing_probes import SHAPE, rolled, same_records

from envs.errors import InputError
from harness.policies.observations import Obs
from harness.policy import policy

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

WEIGHTS = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)


def on_numpy(obs):
    return (obs.reshape(len(obs), -1) @ WEIGHTS).argmax(-1)


def module(outputs=1):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(12, 5, bias=False)
            self.layer.weight.data = torch.from_numpy(WEIGHTS.T.copy())

        def forward(self, seen):
            assert seen.shape[1:] == (SHAPE[2], *SHAPE[:2]) and seen.dtype == torch.float32
            assert not self.training
            logits = self.layer(seen.permute(0, 2, 3, 1).reshape(len(seen), -1))
            return logits if outputs == 1 else (logits, logits.sum(-1))

    return Net()


@pytest.fixture(scope="module")
def own_records():
    return rolled(on_numpy, kind="host-batch", obs=Obs(dtype="float32", range=(0, 1)))


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_module_plays_like_the_network_in_numpy(outputs, own_records):
    from harness import torch_policy

    assert same_records(rolled(torch_policy(module(outputs))), own_records)


def test_a_tensor_is_an_action_and_its_input_can_be_written(own_records):
    def act(obs):
        seen = torch.from_numpy(obs)  # warns where the array cannot be written
        actions = (seen.reshape(len(obs), -1) @ torch.from_numpy(WEIGHTS)).argmax(-1)
        seen.zero_()
        return actions

    spec = Obs(dtype="float32", range=(0, 1))
    assert same_records(rolled(act, kind="host-batch", obs=spec), own_records)


def test_sampling_repeats_itself():
    from harness import torch_policy

    one, other = (rolled(torch_policy(module(), actions="sample")) for _ in range(2))
    assert same_records(one, other)
    assert not same_records(one, rolled(torch_policy(module())))


def test_a_module_given_as_it_is_is_told_how_to_be_wrapped():
    net = module().eval()
    with pytest.raises(InputError, match=r"harness\.Obs\(layout='CHW', dtype='float32'"):
        rolled(lambda obs: net(torch.from_numpy(obs)).detach().argmax(-1))


def test_scores_that_still_have_a_graph_are_recognized():
    net = module().eval()
    with pytest.raises(InputError, match=r"these look like scores: return their argmax\(-1\)"):
        rolled(lambda obs: net(torch.from_numpy(obs)))


def test_an_unknown_mode_names_the_nearest():
    from harness import torch_policy

    with pytest.raises(InputError, match="did you mean 'greedy'"):
        torch_policy(module(), actions="gredy")
    with pytest.raises(InputError, match="takes 3 arguments"):
        policy(lambda obs, carry, key: 1)
