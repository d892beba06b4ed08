"""The bootstrap distribution over seeds, checked against brute force."""

from itertools import product

import numpy as np
import pytest

from harness.statistics.bootstrap import exact_resamples, quantiles, resamples, scale_factor


@pytest.mark.parametrize(("seeds", "patterns"), [(2, 3), (3, 10), (5, 126), (8, 6435), (10, 92378)])
def test_every_multiset_of_seeds_is_listed_once(seeds, patterns):
    table = exact_resamples(seeds)
    assert table.weights.shape == (patterns, seeds)
    assert len(np.unique(np.round(table.weights * seeds), axis=0)) == patterns
    assert table.probability.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(table.weights.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("seeds", [1, 2, 3, 4, 5])
def test_exact_distribution_equals_brute_force(seeds):
    values = np.random.default_rng(seeds).normal(size=seeds)
    table = exact_resamples(seeds)
    brute = np.array([np.mean(draw) for draw in product(values, repeat=seeds)])
    means = table.weights @ values
    for point in np.linspace(values.min() - 0.1, values.max() + 0.1, 23):
        share = table.probability[means <= point].sum()
        assert share == pytest.approx(np.mean(brute <= point), abs=1e-12)


@pytest.mark.parametrize(
    ("seeds", "factor"),
    [(3, 2.688647), (4, 1.874918), (5, 1.583784), (6, 1.436726), (8, 1.289763), (10, 1.216616)],
)
def test_scale_factor_has_its_known_values(seeds, factor):
    assert scale_factor(seeds) == pytest.approx(factor, abs=5e-7)


def test_quantiles_need_no_interpolation():
    values = np.array([4.0, 1.0, 2.0, 3.0])
    low, high = quantiles(values, np.array([0.1, 0.2, 0.3, 0.4]), level=0.6)
    # Sorted 1, 2, 3, 4 with cumulative .2, .5, .9, 1: tails at .2 (reached exactly) and .8.
    assert (low, high) == (1.0, 3.0)


def test_quantiles_work_on_many_columns_at_once():
    rng = np.random.default_rng(0)
    values, chance = rng.normal(size=(126, 7)), exact_resamples(5).probability
    low, high = quantiles(values, chance, 0.95)
    for column in range(7):
        one = quantiles(values[:, column], chance, 0.95)
        assert (low[column], high[column]) == one


def test_above_ten_seeds_the_draws_follow_the_given_seed():
    first, again, other = resamples(11, 3), resamples(11, 3), resamples(11, 4)
    assert not first.exact
    assert first.weights.shape == (10_000, 11)
    assert np.array_equal(first.weights, again.weights)
    assert not np.array_equal(first.weights, other.weights)


def test_cached_tables_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        exact_resamples(3).weights[0, 0] = 1.0
