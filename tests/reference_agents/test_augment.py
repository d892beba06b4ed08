"""Augmentations: what they change, what they leave, and that every picture draws its own."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from reference_agents.augment import AUGMENTATIONS, augment


def pictures(count, height=40, width=60):
    rows, columns = np.mgrid[0:height, 0:width]
    one = np.stack([rows, columns, np.full_like(rows, 77)], -1).astype(np.uint8)
    return jnp.asarray(np.broadcast_to(one, (count, height, width, 3)))


def augmented(name, count=200, seed=0):
    before = pictures(count)
    after = jax.jit(augment, static_argnums=0)(name, jax.random.key(seed), before)
    assert after.dtype == jnp.uint8
    return np.asarray(before), np.asarray(after)


def test_cutout_paints_one_rectangle_in_one_colour_and_nothing_else():
    before, after = augmented("cutout-color")
    for one, other in zip(before, after, strict=True):
        changed = (one != other).any(-1)
        rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
        inside = other[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        assert (inside == inside[0, 0]).all()
        for cells, size in ((rows, 40), (columns, 60)):
            assert round(0.11 * size) <= cells[-1] - cells[0] + 1 <= round(0.34 * size)


def test_cutout_reaches_every_row_and_column_with_colours_of_every_shade():
    before, after = augmented("cutout-color", count=2_000)
    changed = (before != after).any(-1)
    assert changed.any((0, 1)).all()
    assert changed.any((0, 2)).all()
    for channel in range(3):
        assert len(np.unique(after[changed][:, channel])) > 250


def test_crops_keep_order_and_cover_at_least_four_fifths():
    _, after = augmented("crop-resize")
    rows, columns = after[:, :, 0, 0].astype(int), after[:, 0, :, 1].astype(int)
    for values, size in ((rows, 40), (columns, 60)):
        assert (np.diff(values, axis=1) >= 0).all()
        covered = values[:, -1] - values[:, 0] + 1
        assert (covered >= 0.8 * size - 1).all()
        assert covered.min() < 0.85 * size
    assert (after[..., 2] == 77).all()


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_pictures_and_keys_draw_independently(name):
    _, after = augmented(name, count=50)
    assert len(np.unique(after.reshape(50, -1), axis=0)) >= 49
    _, again = augmented(name, count=50)
    np.testing.assert_array_equal(after, again)
    _, other = augmented(name, count=50, seed=1)
    assert (after != other).any()


def test_no_augmentation_is_the_picture_itself():
    before, after = augmented(None)
    np.testing.assert_array_equal(before, after)
