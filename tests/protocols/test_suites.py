"""A suite is data that proves itself when it is loaded."""

from functools import partial

import jax
import numpy as np
import pytest

from envs.errors import InputError
from protocols import load_suite, load_train_config, suite_names
from protocols.audit import disjoint
from protocols.axes import CONTROL


def visual_pairs():
    """Return (suite, pair) of every visual change, each training and held-out side once."""
    found = {}
    for suite in suite_names():
        for pair in load_suite(suite):
            if pair.axis not in CONTROL:
                sides = (pair.train.digest, *(side.digest for side in pair.heldout.values()))
                found.setdefault(sides, (suite, pair.name))
    return list(found.values())


GOOD = """
name: mine
version: 1
pairs:
  purple:
    axis: background
    train: base
    heldout: {background: {mode: color, color_names: purple}}
"""


def load(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    return load_suite(path)


def refusal(tmp_path, old, new):
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        load(tmp_path, GOOD.replace(old, new))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_every_bundled_suite_loads_and_names_its_training_side():
    for name in suite_names():
        suite = load_suite(name)
        assert suite.name == name
        for pair in suite:
            assert pair.train.digest == load_train_config(pair.train_name).digest


def test_hard_is_eight_shifts_of_one_training_side():
    suite = load_suite("hard")
    assert len(suite) == 8
    assert {pair.train.digest for pair in suite} == {load_train_config("base").digest}


def test_a_users_own_file_loads(tmp_path):
    suite = load(tmp_path, GOOD)
    assert suite["purple"].difference("heldout") == {
        "background.color_names": ([[0, 0, 0]], [[138, 43, 226]])
    }


def test_a_misspelt_suite_names_the_nearest():
    with pytest.raises(InputError, match=r"no suite 'hrad'; did you mean 'hard'\?"):
        load_suite("hrad")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("version: 1\n", "", "'version' is missing"),
        ("version: 1", "versoin: 1", "no key 'versoin'; did you mean 'version'"),
        ("version: 1", "version: true", "whole number"),
        ("version: 1", "version: 1\nversion: 2", "written twice"),
        ("axis: background", "axes: background", "no key 'axes'; did you mean 'axis'"),
        ("axis: background", "axis: backgruond", "did you mean 'background'"),
        ("axis: background", "axis: filters", "background.color_names differs, which is not on"),
        ("train: base", "train: bsae", "no training configuration 'bsae'; did you mean 'base'"),
        ("color_names: purple", "colour: purple", "background.colour: there is no such parameter"),
        ("color_names: purple", "color_names: purpel", "not a colour; did you mean 'purple'"),
        ("mode: color, ", "", "behaves like the training side"),
        ("color_names: purple", "color_names: black", "behaves like the training side"),
        ("color_names: purple", "color_names: [purple, black]", "the training side can produce it"),
        ("color_names: purple", "color_names: [[0, 0, 0], purple]", "can produce it too"),
        ("heldout: {", "kind: 'null'\n    heldout: {", "a null pair has equal sides"),
        ("heldout: {background", "heldout: [background", "not valid YAML"),
    ],
)
def test_faults_are_refused_in_one_line(tmp_path, old, new, expected):
    assert expected in refusal(tmp_path, old, new)


def test_a_name_without_effect_changes_no_digest():
    base = load_train_config("base")
    renamed = base.replace({"background": {"color_names": ["lime"]}})  # inert: the mode is black
    assert renamed.digest == base.digest
    violet = base.replace({"character": {"shape_colors": "violet"}})
    assert violet.digest == base.replace({"character": {"shape_colors": "purple"}}).digest
    assert violet.digest != base.digest


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (0.8, 0.8, False),
        (0.8, 0.9, True),
        ({"uniform": [0.8, 1.0]}, 0.85, False),
        ({"uniform": [0.8, 1.0]}, 0.8, False),
        ({"uniform": [0.8, 1.0]}, 0.79, True),
        ({"uniform": [0.8, 1.0]}, {"uniform": [1.0, 1.2]}, False),
        ({"uniform": [0.8, 1.0]}, {"uniform": [1.1, 1.2]}, True),
        ([[1, 2, 3]], [[1, 2, 3], [4, 5, 6]], False),
        (["circle"], ["line"], True),
        (True, False, True),
        (None, 3, False),
    ],
)
def test_supports_are_compared_by_what_they_can_produce(left, right, expected):
    assert disjoint(left, right) is expected
    assert disjoint(right, left) is expected


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "name"), visual_pairs())
def test_the_same_actions_give_bit_equal_latents_and_rewards_on_all_sides(suite, name):
    pair = load_suite(suite)[name]
    reference = _played(pair.train.digest, pair.train)
    sides = list(pair.heldout.values())
    for side in sides[-1:] if pair.kind == "sweep" else sides:  # doses differ in numbers only
        for own, other in zip(reference, _played(side.digest, side), strict=True):
            assert np.array_equal(own, other)


PLAYED = {}


def _played(digest, config):
    """Return latents and outcomes of four episodes as a list of arrays; each side plays once."""
    if digest not in PLAYED:
        keys = jax.random.split(jax.random.key(3), 4)
        actions = jax.random.choice(jax.random.key(4), jax.numpy.array([2, 6, 6, 3]), (100, 4))
        PLAYED[digest] = jax.tree.map(np.asarray, _trajectory(*config.build(), keys, actions))
    return jax.tree.leaves(PLAYED[digest])


@partial(jax.jit, static_argnums=0)
def _trajectory(env, params, keys, actions):
    states = jax.vmap(env.reset, (0, None))(keys, params)

    def step(states, action):
        states, outcome = jax.vmap(env.step, (0, 0, None))(states, action, params)
        return states, (states.latent, outcome)

    return jax.lax.scan(step, states, actions)[1]
