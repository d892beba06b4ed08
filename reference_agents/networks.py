"""Actor-critic networks: pictures (or boards) in, action logits and a value out.

Every network is called on full-resolution observations with any leading batch dimensions,
`__call__(obs u8[..., H, W, C]) -> (logits f32[..., A], value f32[...])`, and is split in two so
that a trainer can store less: `compact` (no weights, u8 to u8) and `judge` (the rest), with
`network(obs) == network.judge(network.compact(obs))`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

HIDDEN_GAIN, POLICY_GAIN, VALUE_GAIN = math.sqrt(2.0), 0.01, 1.0


def patch(
    num_actions: int, *, pool: int = 2, size: int = 4, widths: tuple[int, ...] = (32, 32),
    dense: int = 96,
) -> PatchNet:  # fmt: skip
    """Return the small network that trains in minutes on a CPU (see `PatchNet`)."""
    return PatchNet(num_actions, pool, size, tuple(widths), dense)


def nature(num_actions: int) -> NatureNet:
    """Return the convolutional network of Mnih et al. (2015), see `NatureNet`."""
    return NatureNet(num_actions)


def tiles(
    num_actions: int, *, rows: int = 3, columns: int = 3, pool: int = 4, embed: int = 64,
    dense: int = 128,
) -> TileNet:  # fmt: skip
    """Return the network for pictures of sliding puzzles (see `TileNet`)."""
    return TileNet(num_actions, rows, columns, pool, embed, dense)


def board(num_actions: int, *, widths: tuple[int, ...] = (128, 128)) -> BoardNet:
    """Return the network for boards as numbers (see `BoardNet`)."""
    return BoardNet(num_actions, tuple(widths))


def arguments(network: nn.Module) -> dict[str, Any]:
    """Return the arguments (JSON data) with which its factory makes this network again."""
    fields = {field.name for field in dataclasses.fields(network)} - {"parent", "name"}
    values = {name: getattr(network, name) for name in sorted(fields)}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


class PatchNet(nn.Module):
    """Max-pool, embed patches, merge them two by two, flatten: matrix products only.

    Convolutions are left out on purpose: their gradients inside a compiled loop are five to ten
    times slower on a CPU. Pooling takes the maximum because thin bright walls must survive it, and
    the picture is flattened, not averaged, because it matters where things are.
    """

    num_actions: int
    pool: int = 2
    size: int = 4  # pooled pixels per patch side
    widths: tuple[int, ...] = (32, 32)  # channels of the embedding, then after each merge
    dense: int = 96

    def compact(self, obs: jax.Array) -> jax.Array:
        """Return the pooled picture, u8[..., H / pool, W / pool, C]."""
        return max_pool(obs, self.pool)

    def __call__(self, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        return self.judge(self._apart(self.compact, obs))

    @nn.compact
    def judge(self, pooled: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return (logits f32[..., A], value f32[...]) of pooled pictures."""
        batch, merges = pooled.shape[:-3], len(self.widths) - 1
        pooled = pooled.reshape(-1, *pooled.shape[-3:])
        cut = self._apart(lambda x: patches(x, self.size, merges), pooled)
        x = nn.relu(_layer(self.widths[0], "embed")(cut.astype(jnp.float32) / 255.0))
        for i, width in enumerate(self.widths[1:]):
            x = x.reshape(x.shape[0], -1, 4 * x.shape[-1])
            x = nn.relu(_layer(width, f"merge{i}")(x))
        x = _layer(self.dense, "dense")(x.reshape(x.shape[0], -1))
        # Without it a third of the units die while the value is still far off.
        x = nn.relu(nn.LayerNorm(name="norm")(x))
        return _heads(x, self.num_actions, batch)

    def _apart(self, function: Callable, x: jax.Array) -> jax.Array:
        return function(x) if self.is_initializing() else apart(function, x, self.variables)


class NatureNet(nn.Module):
    """Three convolutions and a dense layer of 512, orthogonal weights (about 4.8 M of them)."""

    num_actions: int

    def compact(self, obs: jax.Array) -> jax.Array:
        """Return the picture as it is: this network needs every pixel."""
        return obs

    def __call__(self, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        return self.judge(self.compact(obs))

    @nn.compact
    def judge(self, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return (logits f32[..., A], value f32[...]) of pictures."""
        batch = obs.shape[:-3]
        x = obs.reshape(-1, *obs.shape[-3:]).astype(jnp.float32) / 255.0
        for i, (width, window, stride) in enumerate(((32, 8, 4), (64, 4, 2), (64, 3, 1))):
            convolution = nn.Conv(
                width, (window, window), (stride, stride), padding="VALID",
                kernel_init=nn.initializers.orthogonal(HIDDEN_GAIN), name=f"conv{i}",
            )  # fmt: skip
            x = nn.relu(convolution(x))
        x = nn.relu(_layer(512, "dense")(x.reshape(x.shape[0], -1)))
        return _heads(x, self.num_actions, batch)


class TileNet(nn.Module):
    """Embed what lies in each cell of a grid with the same weights, then judge the cells together.

    A tile's content is recognised wherever it lies, which a puzzle's picture asks for.
    """

    num_actions: int
    rows: int = 3
    columns: int = 3
    pool: int = 4  # pixels per side that become one
    embed: int = 64
    dense: int = 128

    def compact(self, obs: jax.Array) -> jax.Array:
        """Return the cells, shrunk by averaging, u8[..., rows * columns, height * width * C]."""
        batch, (height, width, channels) = obs.shape[:-3], obs.shape[-3:]
        # The environment's own cells: where the picture cannot be divided, the last ones are short.
        tall, broad = -(-height // self.rows), -(-width // self.columns)
        missing = (0, self.rows * tall - height), (0, self.columns * broad - width)
        obs = jnp.pad(obs.reshape(-1, height, width, channels), ((0, 0), *missing, (0, 0)))
        cells = obs.reshape(-1, self.rows, tall, self.columns, broad, channels)
        high, wide = tall // self.pool, broad // self.pool
        cells = cells[:, :, : high * self.pool, :, : wide * self.pool]
        shape = (-1, self.rows, high, self.pool, self.columns, wide, self.pool, channels)
        means = cells.reshape(shape).astype(jnp.float32).mean((3, 6)).astype(jnp.uint8)
        means = means.transpose(0, 1, 3, 2, 4, 5)
        return means.reshape(*batch, self.rows * self.columns, high * wide * channels)

    def __call__(self, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        return self.judge(self.compact(obs))

    @nn.compact
    def judge(self, cells: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return (logits f32[..., A], value f32[...]) of the cells of pictures."""
        batch = cells.shape[:-2]
        x = cells.reshape(-1, *cells.shape[-2:]).astype(jnp.float32) / 255.0
        x = nn.relu(_layer(self.embed, "embed")(x))
        x = nn.relu(_layer(self.embed, "content")(x))
        x = _layer(self.dense, "dense")(x.reshape(x.shape[0], -1))
        return _heads(nn.relu(nn.LayerNorm(name="norm")(x)), self.num_actions, batch)


class BoardNet(nn.Module):
    """Dense layers on a board as numbers: the ceiling for what pictures can show."""

    num_actions: int
    widths: tuple[int, ...] = (128, 128)

    def compact(self, obs: jax.Array) -> jax.Array:
        """Return the board as it is."""
        return obs

    def __call__(self, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        return self.judge(obs)

    @nn.compact
    def judge(self, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return (logits f32[..., A], value f32[...]) of boards f32[..., N]."""
        x = obs
        for i, width in enumerate(self.widths):
            x = nn.relu(_layer(width, f"dense{i}")(x))
        return _heads(x, self.num_actions, obs.shape[:-1])


def max_pool(obs: jax.Array, factor: int) -> jax.Array:
    """Return the maximum over `factor` x `factor` pixels, [..., H / factor, W / factor, C].

    Rows first, by strided slices: a CPU does this twenty times faster than one windowed reduction.
    """
    height, width = obs.shape[-3] // factor * factor, obs.shape[-2] // factor * factor
    obs = obs[..., :height, :width, :]
    for axis in (-3, -2):
        strided = [
            jax.lax.slice_in_dim(obs, start, None, factor, axis=obs.ndim + axis)
            for start in range(factor)
        ]
        obs = strided[0]
        for other in strided[1:]:
            obs = jnp.maximum(obs, other)
    return obs


def apart(function: Callable, x: Any, weights: Any) -> Any:
    """Return `function(x)`, computed on its own and not inside the operation that reads it.

    Fused into the gather of patches, drawing and pooling a picture costs a CPU two thirds of a
    step. Its compiler drops barriers before it fuses, but keeps a branch whose condition it cannot
    know; a weight is always below infinity.
    """
    true = jax.tree.leaves(weights)[0].ravel()[0] < jnp.inf
    shapes = jax.eval_shape(function, x)
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    return jax.lax.cond(true, function, lambda _: nothing, x)


def patches(x: jax.Array, size: int, merges: int = 0) -> jax.Array:
    """Cut [B, H, W, C] into patches, [B, patches, size * size * C]; drops what is left over.

    Patches that are merged two by two, `merges` times, follow each other, so that merging them is a
    reshape: all moving of pixels happens once, here, on bytes.
    """
    batch, height, width, channels = x.shape
    whole = size << merges
    rows, columns = height // whole, width // whole
    x = x[:, : rows * whole, : columns * whole]
    halves = (2,) * merges
    x = x.reshape(batch, rows, *halves, size, columns, *halves, size * channels)
    first, second = 1, 3 + merges  # axes of the row and the column of the largest square
    inside = [axis + i for i in range(1, merges + 1) for axis in (first, second)]
    last = [2 + merges, second + merges + 1]  # rows of pixels in a patch, and a row's bytes
    x = x.transpose(0, first, second, *inside, *last)
    return x.reshape(batch, -1, size * size * channels)


def _layer(width: int, name: str, gain: float = HIDDEN_GAIN) -> nn.Dense:
    return nn.Dense(width, kernel_init=nn.initializers.orthogonal(gain), name=name)


def _heads(x: jax.Array, num_actions: int, batch: tuple[int, ...]) -> tuple[jax.Array, jax.Array]:
    logits = _layer(num_actions, "policy", POLICY_GAIN)(x)
    value = _layer(1, "value", VALUE_GAIN)(x)
    return logits.reshape(*batch, num_actions), value.reshape(batch)
