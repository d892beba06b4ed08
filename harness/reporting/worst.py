"""The episodes that lose most on the held-out side, as pictures beside the training side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path

import numpy as np

from harness.policies.sources import PolicySet
from harness.replay import Record, both_sides, find_record, policy_for, title
from harness.reporting import film
from harness.reporting.result import PairResult, Report

FOLDER = "worst"


def save_worst(report: Report, policies: PolicySet, most: int, folder: Path) -> list[Path]:
    """Write a strip of each of the worst episodes, and return the files.

    Args:
        report: of a finished run. policies: what played it.
        most: how many episodes. folder: the run's; they go into `worst/` inside it.
    """
    files = []
    for place, record in enumerate(worst_episodes(report, most), start=1):
        reels, _ = both_sides(record, policy_for(policies, record))
        where = record.pair.name if len(record.pair.heldout) == 1 else (
            f"{record.pair.name}-{record.side}"
        )  # fmt: skip
        name = f"{place:02}-{where}-seed-{record.seed}-episode-{record.episode}.png"
        files.append(folder / FOLDER / name)
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        film.save_strip(reels, title(record), files[-1])
    return files


def worst_episodes(report: Report, most: int) -> list[Record]:
    """Return the episodes that lose most, one per pair in turn, the pair of the largest gap first.

    Within a pair they are ordered by what they lose in its primary metric, then in return.
    """
    pairs = sorted(report.pairs, key=_gap, reverse=True)
    in_turn = chain.from_iterable(zip_longest(*(_losses(report, one) for one in pairs)))
    return list(islice((one for one in in_turn if one is not None), most))


def _gap(result: PairResult) -> float:
    interval = result.gap[result.pair.metric]
    return -np.inf if interval is None else interval.point


def _losses(report: Report, result: PairResult) -> Iterator[Record]:
    """Yield the episodes of a pair that lose anything, the worst first."""
    pair, found = result.pair, []
    sign = result.results[pair.metric].metric.sign
    for seed in result.seeds:
        (train,) = report.records.batches(pair, pair.train.digest, [seed])
        for side, config in pair.heldout.items():
            (heldout,) = report.records.batches(pair, config.digest, [seed])
            loss = sign * (train.columns[pair.metric] - heldout.columns[pair.metric])
            also = train.columns["return"] - heldout.columns["return"]
            found += [
                (loss[episode], also[episode], seed, side, episode)
                for episode in np.flatnonzero(loss > 0)
            ]
    for _, _, seed, side, episode in sorted(found, key=lambda one: one[:2], reverse=True):
        yield find_record(report, pair.name, seed, int(episode), side)
