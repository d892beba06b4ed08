"""Bundle finished trainings: `python -m reference_agents.bundle ckpt/ ppo`.

Takes the last checkpoint of every `ckpt/<train-config>/seed-<k>/` and its learning curve to
`checkpoints/ppo/` beside this file. Weights keep BITS significant bits, which makes their files a
quarter smaller and moves the probability of an action by less than 1e-4.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import jax
import numpy as np

from envs.errors import InputError
from harness.policies.checkpoint import fingerprint, load_checkpoint, save_policy
from harness.policies.layout import LAST, choose
from harness.policies.sources import BUNDLED
from harness.policies.trainings import Training, trainings_of
from reference_agents.bundled import CHECKPOINTS
from reference_agents.training import CURVE

BITS = 12  # of 24; half precision has 11
_KEPT = ("factory", "arguments", "num_actions", "actions", "train", "seed", "steps",
         "checkpoint_rule", "algorithm")  # fmt: skip


def rounded(weights: np.ndarray, bits: int = BITS) -> np.ndarray:
    """Return f32 weights with that many significant bits, to the nearest."""
    fraction, exponent = np.frexp(np.asarray(weights, np.float32))
    return np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits).astype(np.float32)


def bundle(training: Training, out: Path) -> Path:
    """Write the last checkpoint of a finished training as `out/<train-config>/seed-<k>/`.

    One that is there already is left as it is: its files would get other names.

    Raises:
        InputError: it is no training of ours, or not its last checkpoint.
    """
    place = choose(training.place, LAST)[0].place
    opened = load_checkpoint(place)
    manifest = opened.manifest
    if manifest.get("checkpoint_rule") != "last":
        raise InputError(f"{place}: not the last checkpoint of a finished training")
    weights = jax.tree.map(rounded, opened.variables["params"])
    path = out / manifest["train"]["name"] / f"seed-{manifest['seed']}"
    if path.exists() and load_checkpoint(path).fingerprint == fingerprint(
        manifest, {"params": weights}
    ):
        return path
    with np.load(place / "golden.npz") as golden:
        observations = golden["observations"]
    save_policy(
        path, weights, observations=observations,
        notes={**manifest["notes"], "significant_bits": BITS},
        **{name: manifest[name] for name in _KEPT},
    )  # fmt: skip
    shutil.copyfile(training.place / CURVE, path / CURVE)
    return path


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m reference_agents.bundle",
        description="Bundle the last checkpoints of finished trainings with the project.",
    )
    parser.add_argument("trainings", help="the --out of reference_agents.train")
    parser.add_argument("agent", choices=BUNDLED, help="which built-in policy they are")
    arguments = parser.parse_args(argv)
    try:
        for training in trainings_of(arguments.trainings):
            print(bundle(training, CHECKPOINTS / arguments.agent))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
