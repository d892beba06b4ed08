"""A counter-based hash for per-pixel noise, and random numbers made from its bits.

Everything up to the last multiplication is integer arithmetic, so all backends draw the same noise.
Draws made once per episode or once per step use JAX's threefry instead.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

U32 = jnp.uint32


def hash_bits(index: jax.Array, seed: jax.Array, second: jax.Array | None = None) -> jax.Array:
    """Return well-mixed u32 bits of (index, seed), equal on every backend.

    Multiply-xorshift rounds; the seed enters before and between them, so that two seeds do not give
    shifted copies of one another. A `second` seed word widens the seed to 64 bits.
    """
    bits = index * U32(0x9E3779B1) + seed
    bits = (bits ^ (bits >> 16)) * U32(0x7FEB352D)
    late = seed * U32(0x2C1B3C6D) if second is None else second
    bits = (bits ^ (bits >> 15)) + late
    bits = (bits ^ (bits >> 16)) * U32(0x846CA68B)
    return bits ^ (bits >> 16)


def normal(bits: jax.Array) -> jax.Array:
    """Turn u32 bits into f32 numbers of mean 0 and variance 1 that are nearly normal.

    The number of ones among 24 bits is binomial (mean 12, variance 6); the other 8 bits spread it
    over the gaps between whole numbers (mean 255/512, variance 1/12). Largest distance to the
    normal distribution function: 0.004; no value lies beyond 5.1.
    """
    ones = jax.lax.population_count(bits & U32(0xFFFFFF)).astype(jnp.int32)
    spread = (bits >> 24).astype(jnp.int32).astype(jnp.float32) * (1 / 256)
    return (ones + spread - (12 + 255 / 512)) * (1 / (6 + 1 / 12) ** 0.5)


def uniform(bits: jax.Array) -> jax.Array:
    """Turn u32 bits into f32 numbers in (0, 1) with steps of 2^-24."""
    return ((bits >> 8).astype(jnp.int32).astype(jnp.float32) + 0.5) * (1 / 2**24)


FEW = 1.0  # mean up to which counts are drawn by inversion
MOST = 7  # counts that inversion distinguishes; P(more, mean FEW) is 1e-5


def poisson(bits: jax.Array, mean: jax.Array) -> jax.Array:
    """Turn u32 bits into Poisson counts of the given mean, f32 of mean's shape.

    Means up to FEW invert the distribution function (up to MOST). Larger ones round the
    Cornish-Fisher expansion of the Poisson quantile in a normal number (Giles, "Approximation of
    the inverse Poisson cumulative distribution function", 2016, second order); its distribution
    function is off by 0.004 at most.
    """
    few = jnp.minimum(mean, FEW)
    weights = [1 / math.factorial(k) for k in range(MOST + 1)]
    whole = jnp.full_like(few, weights[-1])  # sum of few^k / k!: e^few up to 3e-5
    for weight in reversed(weights[:-1]):
        whole = whole * few + weight
    draw = uniform(bits) * whole
    power, total, count = jnp.ones_like(few), jnp.ones_like(few), jnp.zeros_like(few)
    for weight in weights[1:]:
        count = count + jnp.where(draw > total, 1.0, 0.0)
        power = power * few
        total = total + power * weight
    z, root = normal(bits), jnp.sqrt(jnp.maximum(mean, FEW))
    quantile = root * root + z * root + (z * z / 6 + 1 / 3) - z * (z * z / 72 + 1 / 36) / root
    return jnp.where(mean <= FEW, count, jnp.maximum(jnp.floor(quantile), 0.0))
