"""What can be told of a function without a fingerprint: its code and the data it refers to."""

import os
import re
import subprocess
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from harness.policies.identity import code_digest

SCALE = np.arange(3.0)


def scaled(obs, by=2):
    return SCALE * by


class Agent:
    def __init__(self, weight):
        self.weight, self.lock = weight, iter([])

    def act(self, obs):
        return self.weight @ obs


def renamed(function):
    """The same code under the same name, but with other globals."""
    known = {**function.__globals__, "SCALE": np.arange(3.0) + 1}
    return type(function)(function.__code__, known, function.__name__, function.__defaults__)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (scaled, renamed(scaled)),
        (scaled, partial(scaled, by=3)),
        (partial(scaled, by=2), partial(scaled, by=3)),
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x: [x for _ in "a"], lambda x: [x for _ in "b"]),
        (lambda x, y=1: x, lambda x, y=2: x),
        (lambda x: x.real, lambda x: x.imag),
        (Agent(np.eye(2)).act, Agent(2 * np.eye(2)).act),
        (Agent(np.float32(1)), Agent(np.float64(1))),
        (jax.jit(lambda x: x + 1), jax.jit(lambda x: x - 1)),
        ({"w": jnp.ones(2)}, {"w": jnp.zeros(2)}),
        ([1, [2]], [[1], 2]),
    ],
)
def test_another_code_or_other_data_have_another_digest(one, other):
    assert code_digest(one) == code_digest(one)
    assert code_digest(one) != code_digest(other)


def test_what_cannot_be_followed_does_not_stop_an_evaluation():
    class Odd:
        @property
        def shape(self):
            raise RuntimeError

        def __getattr__(self, name):
            raise RuntimeError

    loop = []
    loop.append(loop)
    deep = []
    for _ in range(5000):
        deep = [deep]
    for value in (Odd(), loop, deep, object(), print, jax.random.key(0), lambda: later):
        assert re.fullmatch("[0-9a-f]{64}", code_digest(value))
    later = 1


def test_a_function_has_the_same_digest_in_every_process(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np, functools, flax.linen as nn\n"
        "NET, WEIGHTS = nn.Dense(3), {'w': np.arange(4.0)}\n"
        "KNOWN = {'a', 'b', 'c'}\n"
        "@functools.lru_cache\n"
        "def helper(x):\n    return x in KNOWN or (lambda: x in {'d', 'e', 'f'})()\n"
        "def act(obs, key):\n    return helper(NET.apply(WEIGHTS, obs))\n"
    )
    code = (
        "from harness.policies.identity import code_digest; import mine; "
        "print(code_digest(mine.act))"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
            check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in "12"  # the second time it is loaded as bytecode
    }  # fmt: skip
    assert len(digests) == 1
