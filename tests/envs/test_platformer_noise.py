"""Noise made from a hash, and the stochastic filters that use it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from platformer_helpers import config, observe, play, start
from scipy import stats

from envs.platformer import hashing

PIXELS = 1 << 20


@pytest.fixture(scope="module")
def normals() -> np.ndarray:
    """f32[8, PIXELS]: eight frames of hash noise."""

    @jax.jit
    def frames(seeds):
        index = jnp.arange(PIXELS, dtype=jnp.uint32)
        return jax.vmap(lambda pair: hashing.normal(hashing.hash_bits(index, pair[0], pair[1])))(
            seeds
        )

    seeds = jax.random.bits(jax.random.key(3), (8, 2), jnp.uint32)
    return np.asarray(frames(seeds))


def test_hash_noise_is_standard_normal_in_mean_spread_and_shape(normals):
    values = normals.ravel().astype(np.float64)
    error = 1 / np.sqrt(values.size)
    assert abs(values.mean()) < 5 * error
    assert abs(values.var() - 1) < 5 * error * np.sqrt(2)
    assert abs(stats.skew(values)) < 0.01
    assert abs(stats.kurtosis(values) + 0.08) < 0.03
    assert stats.kstest(values[:PIXELS], "norm").statistic < 0.006
    assert abs((np.abs(values) > 3).mean() - 0.0024) < 0.0006


def test_hash_noise_is_uncorrelated_between_pixels_channels_and_frames(normals):
    limit = 5 / np.sqrt(PIXELS)
    frame = normals[0]
    for lag in (1, 2, 3, 128 * 3, 127 * 3):  # channels, neighbours, rows
        assert abs(np.corrcoef(frame[:-lag], frame[lag:])[0, 1]) < limit, lag
    between = np.corrcoef(normals)
    assert np.abs(between - np.eye(8)).max() < limit


def test_neighbouring_seeds_give_unrelated_noise():
    index = jnp.arange(PIXELS, dtype=jnp.uint32)
    first, second = (
        np.asarray(hashing.normal(hashing.hash_bits(index, jnp.uint32(seed)))) for seed in (7, 8)
    )
    for shift in range(4):
        pair = np.corrcoef(first[: PIXELS - shift], second[shift:])
        assert abs(pair[0, 1]) < 5 / np.sqrt(PIXELS)


def test_the_hashes_of_three_channels_are_unrelated():
    index = jnp.arange(PIXELS, dtype=jnp.uint32)
    words = hashing.three_hashes(index, jnp.uint32(5), jnp.uint32(6))
    red, green, blue = (np.asarray(hashing.normal(word), np.float64) for word in words)
    limit = 5 / np.sqrt(PIXELS)
    for one, other in ((red, green), (green, blue), (red, blue)):
        for lag in (0, 1, 128):
            pair = one[lag:], other[: PIXELS - lag]
            assert abs(np.corrcoef(*pair)[0, 1]) < limit
            assert abs(np.corrcoef(pair[0] ** 2, pair[1] ** 2)[0, 1]) < limit


@pytest.mark.parametrize("mean", [0.0, 0.1, 0.4, 0.41, 0.7, 1.1, 2.0, 5.0, 20.0, 255.0])
def test_counts_follow_the_poisson_distribution(mean):
    index = jnp.arange(PIXELS, dtype=jnp.uint32)
    bits = hashing.hash_bits(index, jnp.uint32(11), jnp.uint32(12))
    counts = np.asarray(hashing.poisson(bits, jnp.full(PIXELS, mean, jnp.float32))).astype(int)
    values = np.arange(counts.max() + 2)
    share = np.bincount(counts, minlength=len(values)) / PIXELS
    assert np.abs(np.cumsum(share) - stats.poisson.cdf(values, mean)).max() < 0.01
    assert abs(counts.mean() - mean) < 0.02 * max(mean, 0.2)
    assert abs(counts.var() - mean) < 0.03 * max(mean, 0.2)


def test_stochastic_filters_are_fresh_each_step_and_independent_of_one_another():
    plain = {"layout": {"layout_colors": [[128, 128, 128]]}}
    grey = {"background": {"mode": "color", "color_names": [[128, 128, 128]]}}
    made = config(grey, plain, {"filters": {"gaussian_noise_std": 20.0}})
    states = start(made, count=2)
    first = observe(made, states).astype(float)
    assert np.array_equal(observe(made, states), first), "one state, one picture"
    later, _ = play(made, states, np.zeros((1, 2)))
    second = observe(made, later).astype(float)
    quiet = slice(0, 28)  # rows with nothing but background
    one, other = (frame[0, quiet].ravel() - 128 for frame in (first, second))
    assert abs(one.std() - 20) < 0.5
    for left, right in ((one, other), (one, first[1, quiet].ravel() - 128)):
        assert abs(np.corrcoef(left, right)[0, 1]) < 5 / np.sqrt(len(one))
    both = config(
        grey, plain, {"filters": {"gaussian_noise_std": 20.0, "poisson_noise_scale": 0.5}}
    )
    mixed = observe(both, start(both, count=2)).astype(float)[0, quiet].ravel()
    shot = mixed - first[0, quiet].ravel()  # what the second filter added
    assert abs(np.corrcoef(shot, one)[0, 1]) < 0.1
    assert abs(shot.var() - 256) < 40, "a mean of m has the variance m / scale"


def test_colour_jitter_mixes_with_a_new_matrix_every_step():
    made = config(
        {"background": {"mode": "color", "color_names": [[200, 100, 50]]}},
        {"filters": {"color_jitter_std": 0.2}},
    )
    states, seen = start(made, count=8), []
    for _ in range(4):
        seen.append(observe(made, states)[:, 0, 0].astype(int))
        states, _ = play(made, states, np.zeros((1, 8)))
    colors = np.array(seen).reshape(-1, 3)
    assert len(np.unique(colors, axis=0)) == len(colors)
    assert colors.max() <= 200, "rows have an absolute sum of one"
