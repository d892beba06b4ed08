"""Several devices share the blocks of a rollout, and nothing else changes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lane_probes import Tell, sampled

from harness.policy import policy
from harness.rollouts.rollout import play

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SCRIPT = """
import sys

import jax
import numpy as np
from lane_probes import Tell, sampled

from harness.rollouts import rollout
from harness.policy import policy

assert len(jax.devices()) == 4
used = set()
program = rollout.play_blocks


def watched(*arguments):
    played = program(*arguments)
    for device in played.fault.devices():
        mine = [one.data for one in played.row.addressable_shards if one.device == device]
        if np.any(mine[0]):  # a lane there has finished an episode
            used.add(device)
    return played


rollout.play_blocks = watched
episodes = int(sys.argv[2])
batch = rollout.play(Tell(), None, policy(sampled), episodes=episodes, num_envs=64)
np.savez(sys.argv[1], devices=len(used), counts=batch.action_counts, **batch.columns)
"""


@pytest.mark.parametrize(("episodes", "devices"), [(5, 1), (300, 3)])
def test_records_are_those_of_one_device(tmp_path, episodes, devices):
    """300 episodes are five rows of 64 lanes, two of them for each device but the last."""
    file = tmp_path / "records.npz"
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    paths = os.pathsep.join([str(HERE), str(HERE.parent.parent)])
    subprocess.run(
        [sys.executable, "-c", SCRIPT, str(file), str(episodes)], check=True, timeout=300,
        env={**os.environ, **flags, "PYTHONPATH": paths},
    )  # fmt: skip
    found = dict(np.load(file))
    one = play(Tell(), None, policy(sampled), episodes=episodes)
    assert found.pop("devices") == devices
    assert np.array_equal(found.pop("counts"), one.action_counts)
    assert set(found) == set(one.columns)
    for name, column in one.columns.items():
        assert found[name].tobytes() == column.tobytes(), name
