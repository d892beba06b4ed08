"""Train the reference agents: `python -m reference_agents.train --train-config base --seeds 0 1 2`.

Writes `<out>/<train-config>/seed-<k>/`: several checkpoints that the evaluation harness
understands, with the learning curve beside them. Until a seed is finished its files live in
`.seed-<k>-training/`; a run that was killed goes on from there when the same command is given.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path

NETWORKS = ("patch", "nature", "tiles", "board")
AUGMENTATIONS = ("cutout-color", "crop-resize")
DONE, BAD_INPUT, INTERRUPTED = 0, 2, 130


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = _parser().parse_args(argv)
    # JAX takes a second to import: --help and misspelt options must not wait for it.
    from envs.errors import InputError

    command = shlex.join(["python", "-m", "reference_agents.train", *(argv or sys.argv[1:])])
    try:
        _train(arguments, command)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return INTERRUPTED
    return DONE


def _train(arguments: argparse.Namespace, command: str) -> None:
    from harness.policies.splits import trained_for
    from reference_agents.sides import configurations
    from reference_agents.training import make_training, train_seed

    names = configurations(arguments.train_config, arguments.suite)
    for name in names:
        training = make_training(
            name, published=arguments.published, network=arguments.network,
            steps=arguments.steps, augment=arguments.augment,
            checkpoints=arguments.checkpoints, command=command,
        )  # fmt: skip
        side = trained_for(training.side, arguments.split)
        for seed in dict.fromkeys(arguments.seeds):
            train_seed(replace(training, side=side), seed, arguments.out, fresh=arguments.fresh)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reference_agents.train",
        description="Train PPO on a training configuration, some checkpoints per seed.",
    )
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--train-config", metavar="NAME", help="what to train on (default: base)")
    what.add_argument("--suite", metavar="NAME", help="all training configurations of a suite")
    add("--seeds", type=seed_number, nargs="+", default=[0], metavar="K", help="training seeds (0)")
    add("--out", type=Path, default=Path("ckpt"), metavar="DIR", help="where to (%(default)s/)")
    add(
        "--published",
        action="store_true",
        help="network, steps (25 million) and settings of the published baseline, for a GPU",
    )
    add("--steps", type=positive_number, metavar="N",
        help="environment steps per seed (1.2 million)")  # fmt: skip
    add("--network", choices=NETWORKS,
        help="default: patch for the platformer, tiles for puzzles, board for numbers")  # fmt: skip
    add("--augment", choices=AUGMENTATIONS, help="augment the training pictures (default: no)")
    add("--checkpoints", type=positive_number, default=4, metavar="N",
        help="how many, evenly over the training (%(default)s)")  # fmt: skip
    add("--split", type=Path, metavar="FILE",
        help="the split frozen for this training (python -m protocols freeze)")  # fmt: skip
    add("--fresh", action="store_true", help="start over instead of going on where a run stopped")
    return parser


def seed_number(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**31:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2147483647")
    return value


def positive_number(text: str) -> int:
    value = int(float(text))  # 2_000_000 and 2e6 are both fine
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


if __name__ == "__main__":
    sys.exit(main())
