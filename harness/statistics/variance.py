"""How far episode noise alone moves the mean of one training seed.

Proportions are smoothed by pseudo-observations, so that a seed with no failure in 16 episodes is
not taken for a seed that cannot fail. Centres stay where they were measured.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def paired_variance(difference: F64, *, binary: bool) -> float | None:
    """Variance of the mean of paired differences f64[E]; None where one episode says nothing.

    Binary differences lie in {-1, 0, 1} and get one pseudo-pair each way: Bonett & Price (2012),
    Statistics in Medicine 31, 1107-1116. Others use the sample variance over E.
    """
    if binary:
        return smoothed_variance(difference, (1.0, -1.0))
    return sample_variance(difference)


def smoothed_variance(values: F64, pseudo: tuple[float, float]) -> float:
    """Variance of the mean after adding two pseudo-observations; never 0 when they differ."""
    size = values.size + 2.0
    total = float(np.sort(values).sum()) + sum(pseudo)
    squares = float(np.sort(values**2).sum()) + sum(item**2 for item in pseudo)
    return (squares / size - (total / size) ** 2) / size


def sample_variance(values: F64) -> float | None:
    """var(ddof=1) / E of f64[E]; exactly 0 for a constant row, None for a single episode."""
    if values.size < 2:
        return None
    ranked = np.sort(values)
    if ranked[0] == ranked[-1]:
        return 0.0
    return float(ranked.var(ddof=1)) / values.size


def arm_variance(scores: F64, *, binary: bool) -> float | None:
    """Variance of the mean of one arm f64[E].

    Binary scores use p~ = (k + 1) / (E + 2) and p~ (1 - p~) / E (Agresti & Coull, 1998, in
    spirit); others the sample variance over E.
    """
    if not binary:
        return sample_variance(scores)
    share = (float(scores.sum()) + 1.0) / (scores.size + 2.0)
    return share * (1.0 - share) / scores.size


def unpaired_variance(first: F64, second: F64, *, binary: bool) -> float | None:
    """Variance of the difference of two independent arm means."""
    parts = arm_variance(first, binary=binary), arm_variance(second, binary=binary)
    if parts[0] is None or parts[1] is None:
        return None
    return parts[0] + parts[1]


def all_or_none(variances: list[float | None]) -> F64 | None:
    """f64[S] when every seed has a variance, otherwise None."""
    known = [value for value in variances if value is not None]
    return np.array(known, dtype=np.float64) if len(known) == len(variances) else None
