"""The picture: every cell of the board shows the piece of the image that its tile carries.

An image is cut into H x W equal tiles of whole pixels, never rescaled: where the side of the frame
is no multiple, the picture is the largest one that is, in the middle of a black border.

A frame is a handful of contiguous copies. XLA's CPU backend copies a slab of rows quickly when a
row has at least ROW_BYTES bytes (shorter rows are unrolled into single bytes), so stored rows are
padded to that length and each tile overwrites the surplus of the one before it. Accelerators gather
instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from envs.platformer.filters import pointwise

ROW_BYTES = 80
POOL_LENGTH = 128  # pools are padded to multiples of this, so that their size changes no program
BLANKS = 8  # likewise for the colours of the blank


class Pictures(NamedTuple):
    """A pool of images cut into tiles, and the blank's colours."""

    tiles: jax.Array  # u8[P*H*W + B, rows, bytes]; tile v of image i at i*H*W + v-1, then B blanks
    count: jax.Array  # i32[]; images in the pool, at most P
    blank_colors: jax.Array  # u8[B, 3]
    blank_count: jax.Array  # i32[]; colours in the pool, at most B


@dataclass(frozen=True)
class Look:
    """The static part of the picture: the grid and the side of the square frame."""

    height: int
    width: int
    side: int  # px
    ranged: tuple[str, ...] = ()  # filters given as ranges: they act on every frame

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of one tile, px."""
        return self.side // self.height, self.side // self.width

    @property
    def picture(self) -> tuple[int, int]:
        """Rows and columns of the picture inside the frame, px."""
        rows, columns = self.tile
        return rows * self.height, columns * self.width

    @property
    def corner(self) -> tuple[int, int]:
        """Where the picture starts in the frame, px."""
        rows, columns = self.picture
        return (self.side - rows) // 2, (self.side - columns) // 2

    @property
    def border(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Black rows above and below the picture, and columns on its left and right, px."""
        (rows, columns), (top, left) = self.picture, self.corner
        return (top, self.side - rows - top), (left, self.side - columns - left)


def cut(look: Look, images: np.ndarray, blanks: np.ndarray) -> Pictures:
    """Return the tiles of `images`, u8[n, *look.picture, 3], and of the blank colours, u8[b, 3]."""
    rows, columns = look.tile
    count, cells = len(images), look.height * look.width
    length = -(-count // POOL_LENGTH) * POOL_LENGTH
    pieces = images.reshape(count, look.height, rows, look.width, columns * 3)
    pieces = pieces.transpose(0, 1, 3, 2, 4).reshape(count * cells, rows, columns * 3)
    padded = np.resize(blanks, (-(-len(blanks) // BLANKS) * BLANKS, 3)).astype(np.uint8)
    tiles = np.zeros(
        (length * cells + len(padded), rows, max(ROW_BYTES, columns * 3)), dtype=np.uint8
    )
    tiles[: count * cells, :, : columns * 3] = pieces
    plain = np.repeat(np.repeat(padded[:, None, None], rows, 1), columns, 2)
    tiles[length * cells :, :, : columns * 3] = plain.reshape(len(padded), rows, columns * 3)
    return Pictures(
        jnp.asarray(tiles), jnp.int32(count), jnp.asarray(padded), jnp.int32(len(blanks))
    )


def render(
    look: Look, board: jax.Array, image: jax.Array, blank: jax.Array, pictures: Pictures,
    settings: dict[str, jax.Array],
) -> jax.Array:  # fmt: skip
    """Return the frames of N states.

    Args:
        board: u8[N, H, W].
        image: i32[N], an image of the pool.
        blank: i32[N], a colour of the blank.
        settings: f32[N] per colour filter; used where `look.ranged` names any.

    Returns:
        u8[N, side, side, 3].
    """
    cells = look.height * look.width
    first_blank = pictures.tiles.shape[0] - pictures.blank_colors.shape[0]
    tile = board.reshape(-1, cells).astype(jnp.int32)
    index = image[:, None] * cells + tile - 1
    index = jnp.where(tile == 0, first_blank + blank[:, None], index)
    frame = jax.lax.platform_dependent(
        pictures.tiles, index,
        cpu=lambda *parts: _copy_tiles(look, *parts),
        default=lambda *parts: gather_tiles(look, *parts),
    )  # fmt: skip
    return _filter(look, frame, tile, settings) if look.ranged else frame


def _copy_tiles(look: Look, tiles: jax.Array, index: jax.Array) -> jax.Array:
    """Copy one tile after the other into black frames, u8[N, side, side, 3].

    A tile's surplus is overwritten by its right neighbour; in the last column it is black as well.
    """
    count, cells = index.shape
    rows, row_bytes = tiles.shape[1:]
    tile_bytes = look.tile[1] * 3
    top, left = look.corner

    def copy(n: jax.Array, frames: jax.Array) -> jax.Array:
        lane, cell = n // cells, n % cells
        piece = jax.lax.dynamic_slice(tiles, (index[lane, cell], 0, 0), (1, rows, row_bytes))
        row = top + cell // look.width * rows
        column = left * 3 + cell % look.width * tile_bytes
        return jax.lax.dynamic_update_slice(frames, piece, (lane, row, column))

    line = look.side * 3
    frames = jnp.zeros((count, look.side, line + row_bytes - tile_bytes), jnp.uint8)
    frames = jax.lax.fori_loop(0, count * cells, copy, frames)[:, :, :line]
    return frames.reshape(count, look.side, look.side, 3)


def gather_tiles(look: Look, tiles: jax.Array, index: jax.Array) -> jax.Array:
    """As `_copy_tiles`, in one gather: the form that accelerators like."""
    count = index.shape[0]
    rows, columns = look.tile
    pieces = tiles[:, :, : columns * 3][index]
    pieces = pieces.reshape(count, look.height, look.width, rows, columns, 3)
    picture = pieces.transpose(0, 1, 3, 2, 4, 5).reshape(count, *look.picture, 3)
    return jnp.pad(picture, ((0, 0), *look.border, (0, 0)))


def _filter(look: Look, frame: jax.Array, tile: jax.Array, settings: dict) -> jax.Array:
    """Apply colour filters to the picture, leaving blank and border alone."""
    rows, columns = look.tile
    shown = (tile != 0).reshape(-1, look.height, look.width)
    shown = jnp.repeat(jnp.repeat(shown, rows, axis=1), columns, axis=2)
    shown = jnp.pad(shown, ((0, 0), *look.border))
    planes = tuple(frame[..., channel].astype(jnp.float32) for channel in range(3))
    spread = {name: value[:, None, None] for name, value in settings.items()}
    changed = jnp.stack(pointwise(planes, spread), axis=-1).astype(jnp.uint8)
    return jnp.where(shown[..., None], changed, frame)
