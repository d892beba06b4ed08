"""Images and skins as the tables that drawing reads, filtered beforehand where that is possible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envs.platformer import filters, images, sprites
from envs.platformer.blit import Atlas
from envs.platformer.config import PlatformerConfig
from envs.platformer.env import pad_pool
from envs.platformer.pixels import OPAQUE, STEPS
from envs.platformer.scene import Look, Pool

IMAGES_STEP = 128  # numbers of images are padded to multiples of this


@dataclass(frozen=True)
class Folding:
    """Where presets and pointwise filters act: on whole pictures, or on what they are made of.

    Scenes of flat colours fold them into the colours. So do images and skins, provided that all
    episodes use the same settings and that no skin blends with what is behind it. Where blur or
    sharpening follow, pointwise filters act on pixels, because sharpening would enlarge the
    rounding of folded colours.
    """

    preset: str  # "" (none), "colors" or "pixels"
    pointwise: str  # "colors" or "pixels"
    translucent: bool
    settings: tuple[tuple[str, float], ...]  # of the pointwise filters, where folded
    preset_settings: tuple[tuple[str, float], ...] | None  # of the preset, where folded
    spatial: bool  # a preset goes on with what depends on a pixel's place or neighbours

    @property
    def changes(self) -> bool:
        """Whether anything is folded into images and skins."""
        neutral = all(value == filters.NEUTRAL[name] for name, value in self.settings)
        return not neutral or self.preset_settings is not None

    @classmethod
    def of(cls, config: PlatformerConfig) -> Folding:
        """Decide it for one configuration."""
        fil = config.filters
        values = {name: getattr(fil, name) for name in filters.NAMES}
        active = any(values[name] != filters.NEUTRAL[name] for name in filters.NAMES)
        fixed = all(isinstance(value, float) for value in values.values())
        distinct = set(fil.pop_filter_list)
        preset_on = bool(distinct - {"none"})
        spatial = any(
            filters.any_preset(fil.pop_filter_list, name)
            for name in ("vignette", "late_vignette", "sharpen")
        )
        skins = used_skins(config)
        translucent = bool(skins) and sprites.make_sheet(skins).translucent
        textured = config.background.mode in ("image", "noise") or bool(skins)
        blocked = config.background.mode == "noise" or translucent
        folds = not textured or (not blocked and fixed and len(distinct) <= 1)
        preset = ("colors" if folds else "pixels") if preset_on else ""
        later = preset_on and (spatial or not folds)
        later = later or fil.blur_sigma != 0 or fil.sharpen_amount != 0
        pointwise = "pixels" if active and (later or not folds) else "colors"
        folded = {**filters.NEUTRAL, **(values if fixed and pointwise == "colors" else {})}
        single = next(iter(distinct)) if preset == "colors" and len(distinct) == 1 else None
        return cls(
            preset=preset,
            pointwise=pointwise,
            translucent=translucent,
            settings=tuple((name, folded[name]) for name in filters.NAMES),
            preset_settings=None if single is None else tuple(filters.PRESETS[single].items()),
            spatial=spatial,
        )

    def apply(self, pixels: np.ndarray) -> np.ndarray:
        """Return pictures u8[..., 3] after what is folded into them, f32[..., 3]."""
        if not self.changes:
            return pixels.astype(np.float32)
        preset = None if self.preset_settings is None else dict(self.preset_settings)
        return filters.filtered_pixels(pixels, preset, dict(self.settings), spatial=self.spatial)


def used_skins(config: PlatformerConfig) -> tuple[str, ...]:
    """Return every skin that can appear, each once."""
    return tuple(dict.fromkeys(skin for pool in _skin_pools(config).values() for skin in pool))


def _skin_pools(config: PlatformerConfig) -> dict[str, tuple[str, ...]]:
    agent, npc = config.character, config.npc
    pools = {}
    if agent.use_sprites:
        pools["character.skins"] = sprites.skin_pool(
            "character.sprite_dir", agent.sprite_dir, agent.sprite_paths
        )
    if npc.enabled:
        pools["npc.skins"] = sprites.skin_pool("npc.sprite_dir", npc.sprite_dir, npc.sprite_paths)
    if npc.sticky_enabled:
        pools["npc.sticky_skins"] = sprites.skin_pool(
            "npc.sticky_sprite_dir", npc.sticky_sprite_dir, npc.sticky_sprite_paths
        )
    return pools


def packed(pixels: np.ndarray, *, deep: bool) -> np.ndarray:
    """Return f32[..., 3] colours in [0, 255] as u32[...] words (`pixels.pack` on the host)."""
    levels = np.floor(pixels * STEPS + 0.5) if deep else np.floor(pixels)
    words = levels.astype(np.uint32)
    width = 10 if deep else 8
    return words[..., 0] | (words[..., 1] << width) | (words[..., 2] << (2 * width))


def image_table(config: PlatformerConfig, look: Look, folding: Folding, pools: dict) -> Any:
    """Return the images u32[images, H, width + W], or None; adds the pool "background.images"."""
    background = config.background
    if background.mode != "image":
        return None
    files = images.image_files(background.image_dir, background.image_paths)
    bundled = images.image_files(images.BUNDLED, ())
    # Every pool out of the bundled images shares one table of all of them, unless it is filtered.
    shared = set(files) <= set(bundled) and not folding.changes
    table = bundled if shared else tuple(dict.fromkeys(files))
    pools["background.images"] = _index_pool([table.index(file) for file in files], IMAGES_STEP)
    return _images(table, look, background.tile_horizontal, folding)


def _index_pool(members: list[int], step: int) -> Pool:
    return pad_pool(members, -(-len(members) // step) * step, jnp.int32)


def _images(files: tuple[Path, ...], look: Look, tiled: bool, folding: Folding) -> jax.Array:
    size = (look.height, look.width)
    return _image_words(files, size, tiled, folding if folding.changes else None, look.deep)


@lru_cache(maxsize=3)
def _image_words(files, size, tiled: bool, folding: Folding | None, deep: bool) -> jax.Array:
    height, width = size
    pixels = images.load_images(files, height)
    colors = folding.apply(pixels) if folding else pixels.astype(np.float32)
    words = packed(colors, deep=deep)
    count, _, across = words.shape
    padded = np.zeros((-(-count // IMAGES_STEP) * IMAGES_STEP, height, across + width), np.uint32)
    column = np.arange(across + width)
    column = column % across if tiled else np.minimum(column, across - 1)
    padded[:count] = words[:, :, column]
    return jnp.asarray(padded)


def skin_table(config: PlatformerConfig, look: Look, folding: Folding, pools: dict) -> Any:
    """Return the skins' atlas, or None; adds the pools of skins."""
    skins = used_skins(config)
    if not skins:
        return None
    for name, pool in _skin_pools(config).items():
        pools[name] = _index_pool([skins.index(skin) for skin in pool], sprites.SKINS_STEP)
    sheet = sprites.make_sheet(skins)
    alpha = sheet.pixels[..., 3]
    words = packed(folding.apply(sheet.pixels[..., :3]), deep=look.deep)
    words = np.where(alpha > 0, words | np.uint32(OPAQUE), np.uint32(0))
    height, width = alpha.shape[2:]
    border = ((0, 0), (0, 0), (height, height), (width, width))
    share = np.pad(alpha / np.float32(255), border)
    return Atlas(
        words=jnp.asarray(np.pad(words, border)),
        alpha=jnp.asarray(share) if sheet.translucent else None,
        frames=jnp.asarray(sheet.counts),
    )
