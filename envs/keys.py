"""Random keys by purpose, so that no two draws share a key and batching never changes an episode.

Episode key = fold_in(fold_in(fold_in(key(master), EVAL), training seed), episode). From it
`fold_in(key, LEVEL)` decides what the latent state is made of, `fold_in(key, SCENE)` what only
shows, and `fold_in(fold_in(key, POLICY), t)` the actions a sampling policy draws at step t.
"""

from __future__ import annotations

import zlib

import jax

LEVEL, SCENE, POLICY = 1, 2, 3
EVAL, TRAIN = 101, 102


def episode_key(master: int, training_seed: int, episode: jax.Array | int) -> jax.Array:
    """Return the key of one evaluation episode (a typed threefry key, shape ())."""
    key = jax.random.fold_in(jax.random.key(master, impl="threefry2x32"), EVAL)
    return jax.random.fold_in(jax.random.fold_in(key, training_seed), episode)


def training_key(seed: int) -> jax.Array:
    """Return the root key of a training run; no evaluation key can be derived from it."""
    return jax.random.fold_in(jax.random.key(seed, impl="threefry2x32"), TRAIN)


def policy_key(episode: jax.Array, t: jax.Array) -> jax.Array:
    """Return the key a policy may use at step t of an episode."""
    return jax.random.fold_in(jax.random.fold_in(episode, POLICY), t)


def named_key(key: jax.Array, name: str) -> jax.Array:
    """Return the key of the draw called `name`: a new draw never shifts the others."""
    return jax.random.fold_in(key, zlib.crc32(name.encode()))
