"""Calibration on simulated runs: does a 95 % interval contain the truth about 95 % of the time?"""

import numpy as np
import pytest

from harness.statistics import SUCCESS, paired_gap, seed_bounds
from harness.statistics.intervals import guard_half_width

SIMS = 2000


def beta(rng, mean, concentration, shape):
    return rng.beta(mean * concentration, (1 - mean) * concentration, shape)


def simulate(train, held, concentration, seeds, episodes, sims=SIMS, seed=0):
    """Success arms [sims, seeds, episodes] of policies whose rates vary over training seeds."""
    rng = np.random.default_rng(seed)
    rates = [beta(rng, mean, concentration, (sims, seeds, 1)) for mean in (train, held)]
    common = rng.random((sims, seeds, episodes), dtype=np.float32)
    other = rng.random((sims, seeds, episodes), dtype=np.float32)
    shared = rng.random((sims, seeds, episodes), dtype=np.float32) < 0.6
    return common < rates[0], np.where(shared, common, other) < rates[1]


def summaries(train, held):
    difference = train.astype(np.int8) - held.astype(np.int8)
    episodes = difference.shape[-1]
    total = difference.sum(axis=-1, dtype=np.int64)
    squares = (difference != 0).sum(axis=-1)
    smooth = (squares + 2) / (episodes + 2) - (total / (episodes + 2)) ** 2
    return total / episodes, smooth / (episodes + 2)


def coverage(train, held, truth, method):
    means, variances = summaries(train, held)
    dof = means.shape[-1] * (train.shape[-1] - 1)
    _, low, high, _ = seed_bounds(means, variances, dof, method=method)
    low, high = np.maximum(low, -1), np.minimum(high, 1)
    hit = (low - 1e-12 <= truth) & (truth <= high + 1e-12)
    return float(hit.mean()), float((high <= low).mean())


@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize("episodes", [16, 128])
@pytest.mark.parametrize(("train", "held", "concentration"), [(0.93, 0.56, 8), (0.93, 0.08, 8)])
def test_real_gaps_are_covered_where_the_plain_percentile_fails(
    seeds, episodes, train, held, concentration
):
    arms = simulate(train, held, concentration, seeds, episodes)
    recommended, closed = coverage(*arms, train - held, "bootstrap-t-scaled")
    percentile, _ = coverage(*arms, train - held, "percentile")
    assert recommended >= 0.89
    assert recommended >= percentile + 0.03
    assert closed == 0


@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize(("train", "held"), [(0.995, 0.995), (0.99, 0.01), (0.93, 0.93)])
def test_ceiling_and_null_are_covered_with_open_intervals(seeds, train, held):
    arms = simulate(train, held, 1e6, seeds, 32)
    covered, closed = coverage(*arms, train - held, "bootstrap-t-scaled")
    assert covered >= 0.89
    assert closed == 0


@pytest.mark.parametrize("episodes", [16, 128])
@pytest.mark.parametrize(("train", "held"), [(0.9, 0.4), (0.98, 0.02), (0.95, 0.95)])
def test_one_checkpoint_is_covered_over_its_episodes(train, held, episodes):
    arms = simulate(train, held, 1e9, 1, episodes)
    means, variances = summaries(*arms)
    half = guard_half_width(variances, episodes - 1, 0.95)
    covered = np.abs(means[:, 0] - (train - held)) <= half + 1e-12
    assert covered.mean() >= 0.93


def test_pooling_episodes_as_if_independent_would_not_do():
    means, _ = summaries(*simulate(0.93, 0.56, 8, 5, 128))
    pooled = 1.96 * np.sqrt(0.3 / (5 * 128))
    assert np.mean(np.abs(means.mean(axis=1) - 0.37) <= pooled) < 0.5


def test_the_simulated_intervals_are_those_of_the_library():
    train, held = simulate(0.93, 0.56, 8, 5, 32, sims=10)
    means, variances = summaries(train, held)
    point, low, high, _ = seed_bounds(means, variances, 155.0)
    for i in range(10):
        gap = paired_gap(train[i], held[i], SUCCESS)
        assert gap.within_variance == pytest.approx(variances[i])
        assert gap.interval.point == pytest.approx(point[i])
        assert gap.interval.low == pytest.approx(max(low[i], -1))
        assert gap.interval.high == pytest.approx(min(high[i], 1))
