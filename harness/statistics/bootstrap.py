"""The bootstrap over training seeds, exact for up to ten of them.

With S seeds a resample is a multiset of size S, and there are only C(2S-1, S) of them: 126 for
five seeds, 92,378 for ten. Weighing each by its multinomial probability gives the bootstrap
distribution itself, so nothing depends on a random generator. Above ten seeds resamples are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness.statistics.checks import check_seeds

F64 = NDArray[np.float64]

EXACT_SEEDS = 10
DRAWN_RESAMPLES = 10_000
CDF_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Resamples:
    """Resamples of S seeds: weights f64[R, S], each row summing to one, probability f64[R]."""

    weights: F64
    probability: F64
    exact: bool


def multisets(seeds: int) -> NDArray[np.int64]:
    """All ways to draw `seeds` seeds with replacement, as counts i64[C(2S-1, S), S]."""
    slots = 2 * seeds - 1
    rows = comb(slots, seeds)
    bars = np.fromiter(chain.from_iterable(combinations(range(slots), seeds - 1)), dtype=np.int64)
    edges = np.empty((rows, seeds + 1), dtype=np.int64)
    edges[:, 0], edges[:, -1] = -1, slots
    edges[:, 1:-1] = bars.reshape(rows, seeds - 1)
    return np.diff(edges, axis=1) - 1


@lru_cache(maxsize=16)
def exact_resamples(seeds: int) -> Resamples:
    """Every multiset of seeds with its multinomial probability S! / prod(c!) / S^S."""
    counts = multisets(seeds)
    factorial = special.factorial(np.arange(seeds + 1))
    probability = factorial[seeds] / factorial[counts].prod(axis=1) / float(seeds) ** seeds
    return _frozen(counts / seeds, probability, exact=True)


@lru_cache(maxsize=16)
def drawn_resamples(seeds: int, seed: int, draws: int = DRAWN_RESAMPLES) -> Resamples:
    """`draws` equally likely resamples from numpy's PCG64 generator at `seed`."""
    rng = np.random.Generator(np.random.PCG64(seed))
    counts = rng.multinomial(seeds, np.full(seeds, 1.0 / seeds), size=draws)
    return _frozen(counts / seeds, np.full(draws, 1.0 / draws), exact=False)


def resamples(seeds: int, seed: int = 0) -> Resamples:
    """Exact resamples up to ten seeds, drawn ones above."""
    check_seeds(seeds, 1, "bootstrap")
    return exact_resamples(seeds) if seeds <= EXACT_SEEDS else drawn_resamples(seeds, seed)


def resampled_means(weights: F64, values: F64) -> F64:
    """Averages of each resample. weights f64[R, S], values f64[S] or f64[S, N].

    Not a matrix product: those differ in the last bit between linear-algebra libraries and thread
    counts, and on thin matrices they are slower.
    """
    if values.ndim == 1:
        return np.einsum("rs,s->r", weights, values)
    return np.einsum("rs,sn->rn", weights, values)


def quantiles(values: F64, probability: F64, level: float) -> tuple[F64, F64]:
    """Inverse-CDF quantiles of a weighted sample at both tails of `level`.

    values f64[R] or f64[R, N], probability f64[R]. Each is the smallest value whose cumulative
    probability reaches the tail, so ties and discrete distributions need no interpolation.
    """
    tail = (1.0 - level) / 2.0
    order = np.argsort(values, axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    cumulative = np.cumsum(probability[order], axis=0)
    last = len(probability) - 1

    def at(share: float) -> F64:
        below = (cumulative < share - CDF_TOLERANCE).sum(axis=0)
        index = np.expand_dims(np.minimum(below, last), 0)
        return np.take_along_axis(ranked, index, axis=0)[0]

    return at(tail), at(1.0 - tail)


def t_quantile(probability: float, dof: float) -> float:
    return float(special.stdtrit(dof, probability))


def z_quantile(probability: float) -> float:
    return float(special.ndtri(probability))


def scale_factor(seeds: int, level: float = 0.95) -> float:
    """k_S = sqrt(S / (S - 1)) * t / z, both quantiles at the upper tail of `level`.

    Stretches percentile distances from the point estimate, which repairs the two small-sample
    defects of the percentile bootstrap (divisor n, normal instead of t quantile) and keeps its
    asymmetry. Hesterberg (2015), The American Statistician 69, 371-386.
    """
    check_seeds(seeds, 2, "scale factor")
    upper = 1.0 - (1.0 - level) / 2.0
    stretch = t_quantile(upper, seeds - 1) / z_quantile(upper)
    return float(np.sqrt(seeds / (seeds - 1.0)) * stretch)


def _frozen(weights: F64, probability: F64, *, exact: bool) -> Resamples:
    # Cached and shared between calls, so nobody may write into them.
    weights.setflags(write=False)
    probability.setflags(write=False)
    return Resamples(weights, probability, exact)
