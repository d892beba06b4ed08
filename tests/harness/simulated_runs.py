"""Many evaluations at once: known policies, played in one compiled block, judged one by one.

Each simulated run has its own master seed and its own policies. All episodes of all runs are lanes
of a single block; the records are then cut into cells and judged as those of any run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from harness_probes import ProbeConfig

from envs.keys import episode_key
from harness.reporting.gate import Rule
from harness.reporting.judging import judge_records
from harness.reporting.records import Cell, Records
from harness.reporting.result import Report
from harness.rollouts.rollout import EpisodeBatch, play_block
from protocols import Pair, Suite

STEPS = 3  # of an episode: success is all of them going right
FIRST_GREY, GREY_STEP = 100.0, 4.0


def slip(rate: np.ndarray | float) -> np.ndarray:
    """Return the chance of a wrong step that gives this success rate."""
    return 1.0 - np.asarray(rate) ** (1.0 / STEPS)


def acting(weights, carry, obs, keys):
    """Each lane slips with its own chance, by keys that also depend on the picture it sees.

    So the outcomes of two sides of one episode are independent, unless `shared` says otherwise.
    """
    seen = obs[:, 0, 0, 0].astype(jnp.uint32)
    own = jax.vmap(jax.random.fold_in)(keys, seen)
    drawn = jax.vmap(jax.random.uniform)(own)
    common = jax.vmap(jax.random.uniform)(keys)
    wrong = jnp.where(weights["shared"], common, drawn) < weights["slip"]
    return jnp.where(wrong, 0, 1), carry


def simulated(
    train: np.ndarray, heldout: np.ndarray, episodes: int, *, rules: Sequence[Rule] = (),
    shared: bool = True,
) -> Iterator[Report]:  # fmt: skip
    """Yield the report of every simulated run.

    Args:
        train: f64[N, S], success rate of each run's training seeds on the training side.
        heldout: f64[N, S, K], on each of K held-out sides (pairs of one suite).
        episodes: per side and training seed.
        shared: sampled actions are the same on both sides of an episode, as the harness has it.
    """
    rates = np.concatenate([train[:, :, None], heldout], axis=2)
    runs, seeds, count = rates.shape
    sides = [0.0, *(FIRST_GREY + GREY_STEP * at for at in range(count - 1))]
    env, _ = ProbeConfig().build()
    keys = _keys(jnp.arange(runs), jnp.arange(seeds), jnp.arange(episodes))
    quota = np.ones(len(keys), np.int32)  # each lane plays one episode
    records = []
    for at, grey in enumerate(sides):
        chance = np.repeat(slip(rates[:, :, at]).reshape(-1), episodes)
        weights = {"slip": jnp.float32(chance), "shared": jnp.bool_(shared)}
        params = {"grey": jnp.float32(grey)}
        played = block(env, "jax-batch", acting, params, keys[None], quota, weights, None)
        tally = {name: np.asarray(column[0]) for name, column in played.columns.items()}
        actions = np.asarray(played.action_counts)
        shape = (runs, seeds, episodes)
        records.append({
            name: np.float64(tally[name]).reshape(shape) for name in ("success", "return", "length")
        } | {"action_counts": actions.reshape(*shape, -1)})  # fmt: skip
    configs = [ProbeConfig(grey=grey) for grey in sides]
    for run in range(runs):
        yield judge_records(_records(run, seeds, episodes, configs, records, rules))


block = partial(jax.jit, static_argnames=("env", "kind", "apply"))(play_block)


@jax.jit
def _keys(runs, seeds, episodes):
    by_episode = jax.vmap(episode_key, (None, None, 0))
    by_seed = jax.vmap(by_episode, (None, 0, None))
    return jax.vmap(by_seed, (0, None, None))(runs, seeds, episodes).reshape(-1)


def _records(run, seeds, episodes, configs, records, rules) -> Records:
    names = ["probe", *(f"pair-{at}" for at in range(1, len(configs)))]
    pairs = tuple(
        Pair(name, "background", "probe", configs[0], {"heldout": config})
        for name, config in zip(names[1:], configs[1:], strict=True)
    )
    cells = tuple(
        Cell(
            config.digest, name, "probe", seed,
            EpisodeBatch(
                {key: value[run, seed] for key, value in record.items() if key != "action_counts"},
                record["action_counts"][run, seed].sum(0),
            ),
        )
        for name, config, record in zip(names, configs, records, strict=True)
        for seed in range(seeds)
    )  # fmt: skip
    facts = {
        "name": "simulated", "seeds": list(range(seeds)), "actions": ["own"], "kinds": ["jax"],
        "policies": [
            {"training": "probe", "seed": seed, "train": {}, "fingerprint": None, "actions": "own",
             "steps": None}
            for seed in range(seeds)
        ],
    }  # fmt: skip
    return Records(
        Suite("simulated", 1, "", pairs), configs[0].build()[0].metrics, facts,
        {"episodes": episodes, "seed": run, "lanes": 64, "level": 0.95}, cells, rules=tuple(rules),
    )  # fmt: skip
