"""Pieces of the filters against plain numpy: powers, means of neighbours, which filters run."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs.platformer import filters, post
from envs.platformer.pixels import STEPS, pack
from envs.platformer.powers import power

LEVELS = np.random.default_rng(0).integers(0, 255 * STEPS + 1, (3, 2, 9, 11))


@pytest.mark.parametrize("exponent", [0.5, 0.8, 1.0, 1.5, 2.0])
def test_powers_are_right_to_five_digits_and_zero_stays_nothing(exponent):
    base = np.geomspace(1e-6, 1e5, 10001).astype(np.float32)
    found = np.asarray(power(jnp.asarray(base), jnp.float32(exponent)), np.float64)
    assert np.abs(found / base.astype(np.float64) ** exponent - 1).max() < 1e-5
    assert 0 <= float(power(jnp.zeros(1), jnp.float32(exponent))[0]) < 1e-18


def test_means_are_of_nine_pixels_with_repeated_borders():
    planes = tuple(jnp.asarray(plane, jnp.float32) / STEPS for plane in LEVELS)
    padded = post._padded(pack(planes, deep=True), jnp.bool_(True))
    middle, means = jax.jit(post._means)(padded)
    around = np.pad(LEVELS / STEPS, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="edge")
    shifted = [around[:, :, y : y + 9, x : x + 11] for y in range(3) for x in range(3)]
    assert np.array_equal(np.asarray(middle), LEVELS / STEPS)
    assert np.abs(np.asarray(means) - np.mean(shifted, axis=0)).max() < 1e-4


@pytest.mark.parametrize(("width", "factor"), [(9, 1), (64, 2), (64, 3), (50, 7)])
def test_squares_show_one_of_their_own_pixels(width, factor):
    words = jnp.arange(2 * width * width, dtype=jnp.uint32).reshape(2, width, width)
    source = post.pixelate_index(width, factor)
    found = np.asarray(post._pixelate(words, jnp.bool_(True), factor))
    assert np.array_equal(found, np.asarray(words)[:, source][:, :, source])
    assert len(np.unique(source)) == width // factor


def test_only_filters_that_do_something_run_and_hue_brings_saturation():
    assert filters.used(filters.NEUTRAL) == ()
    assert filters.used({**filters.NEUTRAL, "gamma": 2.0}) == ("gamma",)
    assert filters.used({**filters.NEUTRAL, "hue_shift": 9.0}) == ("saturation", "hue_shift")
    assert filters.used({**filters.NEUTRAL, "saturation": 0.0}) == ("saturation", "hue_shift")


def test_leaving_out_neutral_filters_changes_nothing():
    draw = np.random.default_rng(1)
    planes = tuple(jnp.asarray(draw.uniform(0, 255, 500), jnp.float32) for _ in range(3))
    every = {**filters.NEUTRAL, "contrast": 1.7, "hue_shift": 50.0}
    every = {name: jnp.float32(value) for name, value in every.items()}
    some = {name: every[name] for name in ("contrast", "saturation", "hue_shift")}
    for one, other in zip(
        filters.pointwise(planes, every), filters.pointwise(planes, some), strict=True
    ):
        assert np.array_equal(one, other)
