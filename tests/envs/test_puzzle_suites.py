"""The puzzle's suites: held-out sides are unseen, solvable, and end in the same program."""

import jax
import numpy as np
import pytest

from protocols import load_suite

SUITES = {name: load_suite(name) for name in ("puzzle", "puzzle-hard")}
SIZES = (1, 5, 10, 20, 50, 100)


@pytest.mark.parametrize("name", SUITES)
def test_there_is_one_training_side_per_pool_size(name):
    trained = {pair.train_name: pair.train for pair in SUITES[name]}
    sizes = sorted(len(config.effective()["images.content"]) for config in trained.values())
    assert tuple(sizes) == SIZES
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
    assert len(programs) == {"puzzle": 1, "puzzle-hard": 2}[name]


@pytest.mark.parametrize(("name", "pair"), [("puzzle", "unseen-5"), ("puzzle-hard", "families-5")])
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
