"""Reading per-episode scores: one row per training seed, one column per episode.

Rows may differ in length. An episode that is not finite in any arm is dropped from all arms, so
that pairing survives, and it is counted. Nothing is ever imputed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

F64 = NDArray[np.float64]
Scores = ArrayLike | Sequence[ArrayLike]

DROP_LIMIT = 0.01  # more dropped episodes than this share make a measurement invalid


@dataclass(frozen=True, eq=False)
class ArmSamples:
    """Finite scores of several arms over the same training seeds.

    arms     name -> one f64[E_s] per kept seed
    index    one i64[E_s] per kept seed: the episode index of each score (of the first arm)
    seeds    positions of the kept seeds in the input
    missing  positions of seeds with no episode left in some arm
    dropped  episodes dropped; total: episodes read
    """

    arms: Mapping[str, tuple[F64, ...]]
    index: tuple[NDArray[np.int64], ...]
    seeds: tuple[int, ...]
    missing: tuple[int, ...]
    dropped: int
    total: int
    paired: bool = True

    @property
    def problems(self) -> tuple[str, ...]:
        """Reasons why a measurement on these samples cannot be trusted; empty when it can."""
        found = []
        if self.missing:
            found.append(f"no valid episode for training seed {_listed(self.missing)}")
        if self.total and self.dropped > DROP_LIMIT * self.total:
            found.append(f"{self.dropped} of {self.total} episodes are not finite")
        return tuple(found)


def read_rows(scores: Scores, name: str) -> list[F64]:
    """Turn scores into one f64[E_s] per seed.

    Accepts an array [S, E] or a sequence of one-dimensional arrays. ValueError for anything else;
    a single policy is one row, `scores[None, :]`.
    """
    if hasattr(scores, "shape"):  # one transfer for device arrays instead of one per row
        scores = np.atleast_1d(np.asarray(scores, dtype=np.float64))
    rows = [np.asarray(row, dtype=np.float64) for row in scores]  # type: ignore[union-attr]
    if not rows:
        raise ValueError(f"{name}: no training seeds; give scores of shape [seeds, episodes]")
    bad = next((row.ndim for row in rows if row.ndim != 1), None)
    if bad is not None:
        raise ValueError(
            f"{name}: needs shape [seeds, episodes], got {bad + 1} dimension(s); "
            "one policy is one row, scores[None, :]"
        )
    return rows


def read_arms(arms: Mapping[str, Scores], *, paired: bool = True) -> ArmSamples:
    """Read several arms with the same seeds and drop what is not finite.

    With `paired` the arms share episodes by index and an episode is dropped from all of them.
    ValueError where seeds differ in number or paired rows differ in length.
    """
    rows = {name: read_rows(scores, name) for name, scores in arms.items()}
    _check_same_seeds(rows)
    if paired:
        _check_same_episodes(rows)
    first = next(iter(rows))
    kept: dict[str, list[F64]] = {name: [] for name in rows}
    index, seeds, missing, dropped, total = [], [], [], 0, 0
    for seed in range(len(rows[first])):
        one = {name: arm[seed] for name, arm in rows.items()}
        masks = _finite(one, paired)
        counted = list(masks.values())[:1] if paired else list(masks.values())
        total += sum(mask.size for mask in counted)
        dropped += sum(int((~mask).sum()) for mask in counted)
        if not all(mask.any() for mask in masks.values()):
            missing.append(seed)
            continue
        seeds.append(seed)
        index.append(np.flatnonzero(masks[first]))
        for name, values in one.items():
            kept[name].append(values[masks[name]])
    frozen = {name: tuple(values) for name, values in kept.items()}
    return ArmSamples(frozen, tuple(index), tuple(seeds), tuple(missing), dropped, total, paired)


def row_mean(values: F64) -> float:
    """Mean of a row; exact for constant rows, and the same for every order of the episodes."""
    ranked = np.sort(values)
    return float(ranked[0]) if ranked[0] == ranked[-1] else float(ranked.mean())


def row_means(rows: Sequence[F64]) -> F64:
    """f64[S] means of S rows."""
    return np.array([row_mean(row) for row in rows], dtype=np.float64)


def _finite(one: Mapping[str, F64], paired: bool) -> dict[str, NDArray[np.bool_]]:
    masks = {name: np.isfinite(values) for name, values in one.items()}
    if not paired:
        return masks
    joint = np.logical_and.reduce(list(masks.values()))
    return dict.fromkeys(one, joint)


def _check_same_seeds(rows: Mapping[str, list[F64]]) -> None:
    counts = {name: len(arm) for name, arm in rows.items()}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ValueError(f"training seeds differ between arms: {told}; a missing seed is a NaN row")


def _check_same_episodes(rows: Mapping[str, list[F64]]) -> None:
    for seed, group in enumerate(zip(*rows.values(), strict=True)):
        if len({row.size for row in group}) > 1:
            told = ", ".join(f"{n} {row.size}" for n, row in zip(rows, group, strict=True))
            raise ValueError(
                f"episodes differ between arms for seed {seed}: {told}; pairs need the same "
                "episodes (give paired=False for arms with their own)"
            )


def _listed(items: Sequence[object]) -> str:
    return ", ".join(str(item) for item in items)
