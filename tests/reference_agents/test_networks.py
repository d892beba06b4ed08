"""Networks: shapes, batching, pooling, and what a manifest needs to build them again."""

from __future__ import annotations

import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from reference_agents import networks


def pictures(*shape):
    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


def started(network, obs):
    """Compiled whole: operation by operation the same takes seconds."""
    return jax.jit(network.init)(jax.random.key(0), obs)


def outputs(network, weights, obs, method=None):
    return jax.jit(partial(network.apply, method=method))(weights, obs)


def small():
    return networks.patch(5, pool=2, size=4, widths=(4, 6), dense=8)


def test_pooling_in_the_network_equals_pooling_when_stored():
    network, obs = small(), pictures(3, 64, 64, 3)
    weights = started(network, obs)
    stored = np.asarray(network.compact(obs))
    assert stored.dtype == np.uint8
    assert stored.shape == (3, 32, 32, 3)
    whole, inner = outputs(network, weights, obs), outputs(network, weights, stored, "judge")
    for a, b in zip(whole, inner, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_max_pool_keeps_the_maximum_of_every_window(factor):
    obs = pictures(2, 12, 18, 3)
    windows = obs.reshape(2, 12 // factor, factor, 18 // factor, factor, 3)
    np.testing.assert_array_equal(networks.max_pool(obs, factor), windows.max((2, 4)))


def test_a_wall_of_one_pixel_survives_pooling():
    obs = np.zeros((128, 128, 3), np.uint8)
    obs[:, 77] = 255
    assert (np.asarray(networks.max_pool(obs, 2))[:, 38] == 255).all()


def test_patches_are_cut_where_they_lie():
    x = np.arange(2 * 9 * 8 * 3).reshape(2, 9, 8, 3)
    cut = np.asarray(networks.patches(jnp.asarray(x), 4))
    assert cut.shape == (2, 4, 48)
    np.testing.assert_array_equal(cut[1, 2], x[1, 4:8, 0:4].reshape(-1))


def test_patches_that_will_be_merged_follow_each_other():
    x = np.arange(2 * 17 * 40 * 3).reshape(2, 17, 40, 3)
    cut = np.asarray(networks.patches(jnp.asarray(x), 2, merges=2))
    assert cut.shape == (2, 2 * 5 * 16, 12)
    # Patch 16 starts the second square of eight pixels. In it, the bits of a patch's number are row
    # and column of its half, then row and column of its quarter.
    square = x[1, 0:8, 8:16]
    np.testing.assert_array_equal(cut[1, 16 + 0b0110], square[2:4, 4:6].reshape(-1))
    np.testing.assert_array_equal(cut[1, 16 + 0b1101], square[4:6, 6:8].reshape(-1))


def test_tiles_are_averaged_in_the_cells_where_they_lie():
    network = networks.tiles(4, rows=2, columns=3, pool=2)
    obs = np.zeros((8, 12, 3), np.uint8)
    obs[4:8, 8:12] = 100  # the last cell
    obs[4:6, 8:10, 1] = [[0, 50], [50, 100]]
    cells = np.asarray(network.compact(obs)).reshape(6, 2, 2, 3)
    assert (cells[:5] == 0).all()
    np.testing.assert_array_equal(cells[5, 0, 0], [100, 50, 100])
    assert (cells[5, 1] == 100).all()


def test_a_picture_that_cannot_be_divided_has_short_last_cells():
    network = networks.tiles(4, rows=5, columns=5, pool=1)
    cells = np.asarray(network.compact(np.full((84, 84, 3), 9, np.uint8))).reshape(25, 17, 17, 3)
    assert (cells[:, :16, :16] == 9).all()
    assert (cells[4, :, 16] == 0).all()


def test_tiles_are_recognised_wherever_they_lie():
    """Exchanging two cells exchanges their embeddings, which nothing else enters."""
    network, obs = networks.tiles(4), pictures(84, 84, 3)
    weights = started(network, obs)
    swapped = np.array(obs)
    swapped[:28, :28], swapped[56:, 28:56] = obs[56:, 28:56], obs[:28, :28]
    embedded = []
    for one in (obs, swapped):
        _, state = network.apply(weights, one, capture_intermediates=True)
        embedded.append(np.asarray(state["intermediates"]["content"]["__call__"][0])[0])
    order = [7, 1, 2, 3, 4, 5, 6, 0, 8]
    np.testing.assert_allclose(embedded[1], embedded[0][order], atol=1e-5)


def test_boards_as_numbers_have_any_leading_dimensions():
    network, obs = networks.board(4, widths=(8,)), np.random.default_rng(0).random((2, 3, 81))
    weights = started(network, obs[0, 0])
    logits, value = outputs(network, weights, obs)
    assert (logits.shape, value.shape) == ((2, 3, 4), (2, 3))


@pytest.mark.parametrize("make", [small, lambda: networks.nature(5), lambda: networks.tiles(5)])
def test_any_leading_dimensions_give_the_same_outputs(make):
    network, obs = make(), pictures(2, 3, 64, 64, 3)
    weights = started(network, obs[0, 0])
    logits, value = outputs(network, weights, obs)
    assert logits.shape == (2, 3, 5)
    assert value.shape == (2, 3)
    alone = outputs(network, weights, obs[1, 2])
    np.testing.assert_allclose(logits[1, 2], alone[0], atol=1e-5)
    np.testing.assert_allclose(value[1, 2], alone[1], atol=1e-5)


def test_nature_is_the_network_of_the_paper():
    network = networks.nature(8)
    weights = jax.eval_shape(network.init, jax.random.key(0), pictures(128, 128, 3))["params"]
    shapes = {name: leaves["kernel"].shape for name, leaves in weights.items()}
    assert shapes == {
        "conv0": (8, 8, 3, 32), "conv1": (4, 4, 32, 64), "conv2": (3, 3, 64, 64),
        "dense": (9216, 512), "policy": (512, 8), "value": (512, 1),
    }  # fmt: skip


def test_weights_start_orthogonal_and_the_policy_nearly_uniform():
    network, obs = networks.patch(8), pictures(4, 128, 128, 3)
    weights = started(network, obs)
    embed = np.asarray(weights["params"]["embed"]["kernel"])
    np.testing.assert_allclose(embed.T @ embed, 2 * np.eye(embed.shape[1]), atol=1e-4)
    logits, _ = outputs(network, weights, obs)
    assert np.abs(logits).max() < 0.2


@pytest.mark.parametrize("name", ["patch", "nature", "tiles", "board"])
def test_recorded_arguments_build_the_same_network(name):
    network = getattr(networks, name)(7)
    recorded = json.loads(json.dumps(networks.arguments(network)))
    assert getattr(networks, name)(**recorded) == network


def test_the_default_network_is_under_one_megabyte():
    network = networks.patch(8)
    weights = jax.eval_shape(network.init, jax.random.key(0), pictures(128, 128, 3))
    assert sum(leaf.size * 4 for leaf in jax.tree.leaves(weights)) < 1_000_000
