"""The puzzle's suites: held-out sides are unseen, solvable, and end in the same program."""

import jax
import numpy as np
import pytest

from protocols import load_suite, load_train_config

SIZES = {
    "puzzle": (1, 5, 10, 20, 50, 100),
    "puzzle-hard": (1, 5, 10, 20, 50, 100),
    "puzzle-small": (1, 5),
}
SUITES = {name: load_suite(name) for name in SIZES}


@pytest.mark.parametrize("name", SUITES)
def test_there_is_one_training_side_per_pool_size(name):
    trained = {pair.train_name: pair.train for pair in SUITES[name]}
    sizes = sorted(len(config.effective()["images.content"]) for config in trained.values())
    assert tuple(sizes) == SIZES[name]
    contents = [config.effective()["images.content"] for config in trained.values()]
    for content in contents:
        assert max(contents, key=len)[: len(content)] == content


@pytest.mark.parametrize("name", SUITES)
def test_held_out_pictures_were_never_seen(name):
    for pair in SUITES[name]:
        if pair.axis == "images":
            seen = set(pair.train.effective()["images.content"])
            unseen = pair.heldout["heldout"].effective()["images.content"]
            assert len(unseen) == len(set(unseen)) == 100
            assert not seen & set(unseen)


@pytest.mark.parametrize("name", SUITES)
def test_every_side_of_a_suite_runs_in_one_program_per_kind_of_start(name):
    sides = [side for pair in SUITES[name] for side in (pair.train, *pair.heldout.values())]
    programs = set()
    for side in {side.digest: side for side in sides}.values():
        env, params = side.build()
        programs.add((env, str(jax.tree.map(np.shape, params))))
    assert len(programs) == {"puzzle": 1, "puzzle-hard": 2, "puzzle-small": 1}[name]


@pytest.mark.parametrize(
    ("name", "pair"),
    [("puzzle", "unseen-5"), ("puzzle-hard", "families-5"), ("puzzle-small", "hue-180-5")],
)
def test_the_oracle_solves_the_held_out_side(name, pair):
    env, params = SUITES[name][pair].heldout["heldout"].build()

    def step(states, _):
        actions = jax.vmap(env.oracle, (0, None))(states, params)
        states, outcome = jax.vmap(env.step, (0, 0, None))(states, actions, params)
        return states, outcome.terminated

    def solve(keys):
        states = jax.vmap(env.reset, (0, None))(keys, params)
        return jax.lax.scan(step, states, length=31)[1].any(axis=0)

    assert jax.jit(solve)(jax.random.split(jax.random.key(0), 128)).all()


@pytest.mark.parametrize(
    ("board", "picture"),
    [("puzzle-near-board", "puzzle-near-1"), ("puzzle-2x3-board", "puzzle-2x3-1")],
)
def test_a_board_as_numbers_is_the_task_of_the_pictures(board, picture):
    numbers = load_train_config(board).effective()
    pictures = load_train_config(picture).effective()
    assert numbers.pop("observation") == "onehot"
    assert numbers.items() < pictures.items(), "but for how it is shown"


def test_the_suite_of_boards_is_two_ceilings_and_a_shift_of_the_start():
    suite = load_suite("puzzle-boards")
    assert [pair.kind for pair in suite] == ["null", "null", "pair"]
    assert set(suite["far-start"].difference("heldout")) == {"start.moves"}
