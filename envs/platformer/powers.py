"""Powers of many numbers, by short polynomials that vectorize."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from envs.platformer.pixels import U32, WHOLE

# Coefficients of least maximal error, lowest power first: of log2(1 + f) / f for 1 + f within
# [sqrt(1/2), sqrt(2)], and of (2^f - 1) / f for f within [-1/2, 1/2].
LOGARITHM = (1.442712, -0.7211395, 0.4793791, -0.3673726, 0.3219327, -0.2068469)
EXPONENTIAL = (0.6931224, 0.2402203, 0.05591531, 0.00968165)
ROOT_HALF = np.float32(0.5**0.5).view(np.int32)


def power(base: jax.Array, exponent: jax.Array) -> jax.Array:
    """Return base ** exponent, f32, within a share of 1e-5.

    For bases from 0 on and results below 2^126; results below 2^-126 are that, which is also what
    powers of 0 are like: below 2^-63 for exponents from 0.5 on.
    """
    bits = jax.lax.bitcast_convert_type(base, jnp.int32)
    octave = (bits - ROOT_HALF) >> 23
    rest = jax.lax.bitcast_convert_type(bits - (octave << 23), jnp.float32) - 1
    logarithm = octave.astype(jnp.float32) + rest * _polynomial(LOGARITHM, rest)
    scaled = exponent * logarithm
    scaled = jnp.where(scaled > -126, scaled, -126.0)
    whole = jnp.floor(scaled + 0.5)
    rest = scaled - whole
    scale = jax.lax.bitcast_convert_type(whole + (WHOLE + 127), U32) << 23
    factor = 1 + rest * _polynomial(EXPONENTIAL, rest)
    return jax.lax.bitcast_convert_type(scale, jnp.float32) * factor


def _polynomial(coefficients: Sequence[float], x: jax.Array) -> jax.Array:
    result = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result
