"""A counter-based hash for per-pixel noise, and random numbers made from its bits.

Everything up to the last multiplication is integer arithmetic, so all backends draw the same noise.
Draws made once per episode or once per step use JAX's threefry instead.
"""

from __future__ import annotations

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


def three_hashes(index: jax.Array, seed: jax.Array, second: jax.Array) -> list[jax.Array]:
    """Return three arrays of u32 bits of (index, seed, second) that are independent of one another.

    The first rounds of `hash_bits` are shared; the last one has its own shift and factor for each.
    """
    bits = index * U32(0x9E3779B1) + seed
    bits = (bits ^ (bits >> 16)) * U32(0x7FEB352D)
    bits = (bits ^ (bits >> 15)) + second
    rounds = ((16, 0x846CA68B), (13, 0xB4A9F11D), (18, 0xD35A2D97))
    mixed = ((bits ^ (bits >> shift)) * U32(factor) for shift, factor in rounds)
    return [word ^ (word >> 16) for word in mixed]


def normal(bits: jax.Array) -> jax.Array:
    """Turn u32 bits into f32 numbers of mean 0 and variance 1 that are nearly normal.

    The number of ones among 24 bits is binomial (mean 12, variance 6); the other 8 bits spread it
    over the gaps between whole numbers (mean 255/512, variance 1/12). Largest distance to the
    normal distribution function: 0.004; no value lies beyond 5.1.
    """
    ones = jax.lax.population_count(bits & U32(0xFFFFFF)).astype(jnp.int32)
    spread = (bits >> 24).astype(jnp.int32).astype(jnp.float32) * (1 / 256)
    return (ones + spread - (12 + 255 / 512)) * (1 / (6 + 1 / 12) ** 0.5)


FEW = 0.4  # mean up to which counts are drawn by inversion
# Correction of the Cornish-Fisher expansion: coefficients of powers of the normal number, over the
# root of the mean; fitted to the thresholds between counts at means of 0.1 to 60.
CORRECTION = (-0.0214, -0.0246, 0.0215, -0.0143)


def poisson(bits: jax.Array, mean: jax.Array) -> jax.Array:
    """Turn u32 bits into Poisson counts of the given mean, f32 of mean's shape.

    Means up to FEW invert the distribution function, where 3 also stands for more and keeps the
    mean. Larger ones round the first terms of the Cornish-Fisher expansion of the Poisson quantile
    in a normal number (Giles, "Approximation of the inverse Poisson cumulative distribution
    function", 2016) and a fitted one. The distribution function is off by 0.0045 at most.
    """
    few = jnp.where(mean < FEW, mean, FEW)
    none = 1 - few * (1 - few * (1 / 2 - few * (1 / 6 - few * (1 / 24))))  # e^-few
    some = 1 - none
    two = some - few * none
    three = few - some - two
    draw = (bits >> 8).astype(jnp.int32).astype(jnp.float32) * (1 / 2**24)
    count = jnp.where(draw < two, jnp.where(draw < three, 3.0, 2.0), 1.0)
    count = jnp.where(draw < some, count, 0.0)

    many = jnp.where(mean > FEW, mean, FEW)
    inverse, z, (c0, c1, c2, c3) = _inverse_root(many), normal(bits), CORRECTION
    slope = (many + c1) * inverse + z * ((1 / 6 + c2 * inverse) + z * (c3 * inverse))
    quantile = (many + 1 / 3) + c0 * inverse + z * slope
    quantile = jnp.where(quantile > 0, jnp.floor(quantile), 0.0)
    return jnp.where(mean <= FEW, count, quantile)


def _inverse_root(x: jax.Array) -> jax.Array:
    """Return 1 / sqrt(x) within 0.001 of it: a guess from the bits and one step of Newton."""
    guess = U32(0x5F376800) - (jax.lax.bitcast_convert_type(x, U32) >> 1)
    guess = jax.lax.bitcast_convert_type(guess, jnp.float32)
    return guess * (1.5008 - 0.5 * x * guess * guess)
