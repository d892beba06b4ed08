"""Ground profiles: a random walk of flat segments, one small integer per segment.

The ground of column x is a shell: a band `[g, g + thickness)` below its top row g, and, where the
neighbouring column to the left is higher or lower, a one-column wall that connects the two.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from envs.keys import named_key


def segments(length: int, run_width: int) -> int:
    """Return how many flat segments a world of `length` columns has."""
    return -(-length // run_width)


def generate(key: jax.Array, control: dict[str, jax.Array], count: int) -> jax.Array:
    """Draw the top row of each of `count` segments, i16[count]; rows grow downward.

    The height starts midway between `min_height` and `max_height`. Each next segment changes it
    with probability `p_change` by a whole number of units drawn from [min_step_height,
    max_step_height], up with probability `p_up_given_change`, clipped to the allowed heights.
    """
    layout = {name.removeprefix("layout."): control[name] for name in control}
    event = jax.random.uniform(named_key(key, "level.events"), (count - 1,))
    low, high = layout["min_step_height"], layout["max_step_height"]
    size = jax.random.randint(
        named_key(key, "level.sizes"), (count - 1,), low.astype(int), high.astype(int) + 1
    )
    stays = 1.0 - layout["p_change"]
    goes_up = event < stays + layout["p_change"] * layout["p_up_given_change"]
    change = jnp.where(event < stays, 0, jnp.where(goes_up, size, -size))

    least, most = layout["min_height"].astype(int), layout["max_height"].astype(int)

    def climb(height, step):
        height = jnp.clip(height + step, least, most)
        return height, height

    first = (least + most) // 2
    _, rest = jax.lax.scan(climb, first, change)
    heights = jnp.concatenate([first[None], rest])
    top = layout["base_ground_y"] - layout["pix_per_unit"] * heights
    return jnp.rint(top).astype(jnp.int16)


def column_top(tops: jax.Array, x: jax.Array, run_width: int, length: int) -> jax.Array:
    """Return the top row of the ground at columns `x` (clipped to the world), i32 of x's shape."""
    segment = jnp.clip(x, 0, length - 1) // run_width
    return tops[segment].astype(jnp.int32)


def solid_rows(
    tops: jax.Array, x: jax.Array, thickness: jax.Array, run_width: int, length: int
) -> tuple[jax.Array, jax.Array]:
    """Return (first, end): column x is solid in rows first <= row < end, band and wall in one.

    Both are i32 of x's shape. Columns outside the world repeat its border.
    """
    x = jnp.clip(x, 0, length - 1)
    here = column_top(tops, x, run_width, length)
    left = column_top(tops, x - 1, run_width, length)
    return jnp.minimum(left, here), jnp.maximum(left, here + thickness.astype(jnp.int32))
