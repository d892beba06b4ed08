"""Play one recorded episode of a saved run again, and say whether it comes out the same.

    python -m harness.replay RUN PAIR SEED EPISODE [--side NAME] [--png FILE | --gif FILE]

RUN is a run folder or a report.json, SEED a training seed, EPISODE a number from 0. The run says
where its policy is; --policy says where it is now. Pictures show the episode on the training side
and on the held-out one; the policy acts on each side itself. Exit code 4: it came out otherwise.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.cli import (
    Parser,
    add_jax_options,
    announce,
    build_parser,
    guarded,
    load_named,
    start_jax,
)
from harness.errors import COMPLETE, FAILED

if TYPE_CHECKING:
    from envs import Config
    from harness.policies.sources import PolicySet
    from harness.policy import Policy
    from harness.reporting.film import Reel
    from harness.reporting.result import Report
    from protocols import Pair


@dataclass(frozen=True)
class Record:
    """One recorded episode: of one training seed, on one side of a pair."""

    report: Report
    pair: Pair
    side: str  # as the report names it: the training configuration, or a held-out side
    config: Config
    seed: int
    episode: int
    values: Mapping[str, float]  # column -> what was recorded


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = Parser("replay", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run folder, or its report.json")
    parser.add_argument("pair", metavar="PAIR")
    parser.add_argument("seed", metavar="SEED", type=int, help="training seed")
    parser.add_argument("episode", metavar="EPISODE", type=int, help="from 0")
    parser.add_argument("--side", metavar="NAME",
                        help="train, or a held-out side (default: the held-out side)")  # fmt: skip
    parser.add_argument(
        "--policy", help="where the policy is now (default: where the run found it)"
    )
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw a strip of moments")
    parser.add_argument("--gif", type=Path, metavar="FILE", help="draw the whole episode")
    add_jax_options(parser)
    options = parser.parse_args(arguments)
    announce()
    return guarded(lambda: _replay(options))


def _replay(options) -> int:
    start_jax(options)

    from harness.reporting.stored import load_report

    for file in (options.png, options.gif):
        _check_place(file)
    report = load_report(options.run)
    record = find_record(report, options.pair, options.seed, options.episode, options.side)
    source = _source(report, options.policy)
    policy = find_policy(record, source)
    if policy.fingerprint is None:
        print("note: no fingerprint: that it is the same policy is not checked", file=sys.stderr)
    again = play_again(record, policy, source.num_envs)
    print(render(record, again), flush=True)
    if options.png or options.gif:
        _draw(options, record, policy)
    return FAILED if differing(record, again) else COMPLETE


def _check_place(file: Path | None) -> None:
    from envs.errors import InputError

    if file is not None and not file.expanduser().absolute().parent.is_dir():
        raise InputError(f"{file}: there is no such folder")


def find_record(
    report: Report, pair: str, seed: int, episode: int, side: str | None = None
) -> Record:
    """Return one record of a report.

    Args:
        side: "train" or the training configuration's name, or a held-out side; by default the
            held-out side, where there is only one.

    Raises:
        InputError: the report has no such pair, seed, episode or side.
    """
    from envs.errors import InputError, not_among

    found = report.suite[pair]
    seeds = report[pair].seeds
    if seed not in seeds:
        raise InputError(not_among(f"pair {pair} has no training seed {seed}", seed, seeds))
    most = report.settings["episodes"] - 1
    if not 0 <= episode <= most:
        raise InputError(f"no episode {episode}: the run played 0 to {most}")
    if side is None and len(found.heldout) > 1:
        raise InputError(f"--side: which of {', '.join(found.heldout)}, or train?")
    side = side or next(iter(found.heldout))
    sides = {**found.heldout, "train": found.train}
    if side not in (*sides, found.train_name):
        raise InputError(not_among(f"pair {pair} has no side {side!r}", side, sides))
    name = side if side in found.heldout else found.train_name
    config = found.heldout.get(side, found.train)
    (batch,) = report.records.batches(found, config.digest, [seed])
    values = {column: float(numbers[episode]) for column, numbers in batch.columns.items()}
    return Record(report, found, name, config, seed, episode, values)


def _source(report: Report, override: str | None) -> Any:
    """Return the options of the recorded command, with the policy where it is now.

    Raises:
        InputError: nothing says where the policy is.
    """
    from envs.errors import InputError

    command = report.provenance["command"]
    words = shlex.split(command)[3:] if command else []  # python -m harness.evaluate …
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            options = build_parser().parse_args(words)
    except SystemExit:  # written by another version; its other options are lost
        options = build_parser().parse_args([])
    options.policy = override or options.policy
    if options.policy is None:
        raise InputError("the report does not say where its policy is; do: --policy")
    return options


def find_policy(record: Record, source: Any) -> Policy:
    """Load the policy of a record.

    Args:
        source: options of `harness.evaluate`, of which those that choose a policy matter.

    Raises:
        InputError: there is no such policy, or its weights are not the recorded ones.
    """
    from envs.errors import InputError

    facts = next(
        one for one in record.report.records.policies_for(record.pair) if one["seed"] == record.seed
    )
    env, _ = record.config.build()
    recorded = facts["actions"]
    found = policy_for(load_named(source, record.pair, env), record)
    if found.actions != recorded:  # what the checkpoint declares now, or another --actions
        source.actions = recorded
        found = policy_for(load_named(source, record.pair, env), record)
    if facts["fingerprint"] != found.fingerprint:
        steps = f", after {facts['steps']} steps" if facts["steps"] else ""
        raise InputError(
            f"{source.policy}: not the policy of this run: fingerprint "
            f"{_short(found.fingerprint)}, recorded {_short(facts['fingerprint'])}{steps}"
        )
    return found


def _short(fingerprint: str | None) -> str:
    return fingerprint[:12] if fingerprint else "none"


def policy_for(policies: PolicySet, record: Record) -> Policy:
    """Return the policy of a record from a set of loaded ones, ready to play its side."""
    from envs.errors import InputError, not_among
    from harness.policies.settling import settle

    pair = record.pair
    choices = {one.seed: one for one in policies.for_training(pair.train_name, pair.train.digest)}
    if record.seed not in choices:
        problem = f"{policies.name} has no training seed {record.seed}"
        raise InputError(not_among(problem, record.seed, choices))
    env, _ = record.config.build()
    return settle(choices[record.seed], env)[0]


def play_again(record: Record, policy: Policy, num_envs: int = 256) -> dict[str, float]:
    """Play the episode as the run did, in its batch, and return column -> value."""
    from harness.rollouts.rollout import lanes_per_block, play

    settings = record.report.settings
    env, params = record.config.build()
    episodes = settings["episodes"]
    if not policy.on_host:  # later blocks cannot matter
        lanes = lanes_per_block()
        episodes = min(episodes, (record.episode // lanes + 1) * lanes)
    batch = play(
        env, params, policy, episodes=episodes, master_seed=settings["seed"],
        training_seed=record.seed, num_envs=num_envs,
    )  # fmt: skip
    return {name: float(column[record.episode]) for name, column in batch.columns.items()}


def render(record: Record, again: Mapping[str, float]) -> str:
    """Return what was recorded beside what came out, and whether that is the same."""
    from harness.reporting.blocks import Block
    from harness.reporting.table import columns, filled

    declared = [metric.name for metric in record.report.records.metrics]
    names = sorted(record.values, key=lambda name: (name not in declared, name))
    other = differing(record, again)
    rows = [
        [name, _number(record.values[name]), _number(again.get(name)), "differs" * (name in other)]
        for name in names
    ]
    lines = [f"{title(record)} · side {record.side}", ""]
    lines += columns(Block(["", "recorded", "replayed", ""], rows, "lrrl")).splitlines()
    lines += ["", f"NOT EQUAL: {', '.join(other)}" if other else "equal: it came out the same"]
    if other:
        lines += _changed(record.report)
    return "\n".join(map(filled, lines))


def differing(record: Record, again: Mapping[str, float]) -> list[str]:
    """Return the columns that came out otherwise; not finite twice is the same."""
    return [
        name
        for name, value in record.values.items()
        if name not in again or not np.array_equal(value, again[name], equal_nan=True)
    ]


def title(record: Record) -> str:
    """Return one line that names an episode, on whatever side."""
    suite = record.report.suite
    return (
        f"suite {suite.name} v{suite.version} · pair {record.pair.name} · "
        f"training seed {record.seed} · episode {record.episode}"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.8g}"


def _changed(report: Report) -> list[str]:
    """Return what is not as it was when the run was made."""
    from harness.rollouts.manifest import provenance
    from harness.rollouts.rollout import lanes_per_block

    now, then = provenance(None), report.provenance
    pairs = [("device", now["device"], then["device"])]
    pairs += [(f"{name}", now["versions"].get(name), one) for name, one in then["versions"].items()]
    pairs.append(("lanes per block", lanes_per_block(), report.settings["lanes"]))
    return [f"{name}: {new} now, {old} then" for name, new, old in pairs if new != old]


def _draw(options, record: Record, policy: Policy) -> None:
    """Write the pictures that were asked for."""
    from harness.reporting import film

    reels, note = both_sides(record, policy)
    if note:
        print(f"note: {note}", file=sys.stderr)
    for file, save in ((options.png, film.save_strip), (options.gif, film.save_gif)):
        if file is not None:
            save(reels, title(record), file)
            print(f"pictures: {file}", file=sys.stderr)


def both_sides(record: Record, policy: Policy) -> tuple[dict[str, Reel], str]:
    """Play an episode on the training side and on a held-out one, keeping what is seen.

    Returns:
        label -> reel, the training side first; and what is worth saying, or "".
    """
    from harness.reporting import film

    pair = record.pair
    heldout = record.side if record.side in pair.heldout else next(iter(pair.heldout))
    shown = heldout if len(pair.heldout) > 1 else pair.name
    reels, otherwise = {}, []
    for label, side in ((f"training: {pair.train_name}", "train"), (f"held out: {shown}", heldout)):
        one = find_record(record.report, pair.name, record.seed, record.episode, side)
        reels[label] = film.shoot(record.report.settings, one.config, policy, one.seed, one.episode)
        if reels[label].length != one.values["length"]:
            otherwise.append(label)
    note = f"{', '.join(otherwise)}: the pictures show another course than the record (rounding)"
    return reels, note if otherwise else ""


if __name__ == "__main__":
    sys.exit(main())
