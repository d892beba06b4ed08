"""From a validated configuration to the static environment and its traced parameters."""

from __future__ import annotations

import math

import jax.numpy as jnp

from envs import parameters
from envs.parameters import CONTROL, Uniform
from envs.platformer import filters
from envs.platformer.config import ROTATING, SHAPES, PlatformerConfig
from envs.platformer.dynamics import SPAWN_X, Dynamics
from envs.platformer.env import Params, Platformer, pad_pool
from envs.platformer.npc import HALF_WIDTH
from envs.platformer.scene import Look, Pool
from envs.platformer.shapes import TWO_SPANS, upright_rows
from envs.platformer.tables import Folding, image_table, skin_table

POOL_LENGTH = 16  # pools are padded to multiples of this, so that their size changes no program
COUNT_STEP = 8  # likewise numbers of objects
# Static maxima, of which the drawing also needs the number itself.
COUNTS = ("distractors.count", "npc.max_npc_count", "npc.max_sticky_count")


def build(config: PlatformerConfig) -> tuple[Platformer, Params]:
    """Return (Env, Params) of one configuration."""
    tables: dict[str, dict] = {"control": {}, "visual": {}}
    ranged: dict[str, list[str]] = {"control": [], "visual": []}
    whole = []
    for path, spec, value in parameters.walk(config):
        traced = spec.kind in ("number", "integer", "flag") and not spec.static
        if not traced and path not in COUNTS:
            continue
        side = "control" if spec.role == CONTROL else "visual"
        ends = (value.low, value.high) if isinstance(value, Uniform) else (value, value)
        tables[side][path] = jnp.asarray(ends, jnp.float32)
        if isinstance(value, Uniform):
            ranged[side].append(path)
            whole += [path] if spec.kind == "integer" else []
    folding = Folding.of(config)
    look = _look(config, folding)
    pools = _pools(config)
    images = image_table(config, look, folding, pools)
    skins = skin_table(config, look, folding, pools)
    env = Platformer(
        dynamics=_dynamics(config),
        look=look,
        ranged_control=tuple(ranged["control"]),
        ranged_visual=tuple(ranged["visual"]),
        whole=tuple(whole),
    )
    upright, kinds = not (look.sprite or look.agent_shapes), _kinds(config.character.shape_types)
    params = Params(
        control=tables["control"],
        visual=tables["visual"],
        pools=pools,
        light_colors=_lights(config),
        presets=filters.preset_table(),
        agent_rows=upright_rows(kinds, look.body, look.height) if upright else None,
        images=images,
        skins=skins,
    )
    return env, params


def _dynamics(config: PlatformerConfig) -> Dynamics:
    return Dynamics(
        horizon=config.episode_length,
        screen_height=config.H,
        length=config.layout.length,
        run_width=config.layout.run_width,
        body_width=config.character.width,
        body_height=config.character.height,
        max_columns=math.ceil(_most(config.physics.move_speed)),
    )


def _most(value: float | Uniform) -> float:
    return value.high if isinstance(value, Uniform) else value


def _look(config: PlatformerConfig, folding: Folding) -> Look:
    some, effects, fil, npc = config.distractors, config.effects, config.filters, config.npc
    agent, pool = _kinds(config.character.shape_types), fil.pop_filter_list
    others = _kinds(some.shape_types) if some.enabled else ()
    lights = effects.point_light_count if effects.point_light_enabled else 0
    rotates = config.character.shape_rotate and _turns(agent) and config.character.use_shape
    margins = _most(config.camera.right_margin)
    return Look(
        height=config.H,
        width=config.W,
        length=config.layout.length,
        run_width=config.layout.run_width,
        body=(config.character.width, config.character.height),
        reach=SPAWN_X + math.ceil(config.episode_length * _most(config.physics.move_speed))
        + int(margins) - 1 + HALF_WIDTH,
        mode="color" if config.background.mode == "black" else config.background.mode,
        switches=config.background.mode != "black" and config.background.switch_frequency != 0,
        sprite=config.character.use_sprites,
        agent_spans=2 if any(shape in TWO_SPANS for shape in agent) else 1,
        agent_shapes=agent if rotates else (),
        distractor_shapes=others,
        distractor_count=_padded(some.count, COUNT_STEP) if some.enabled else 0,
        distractors_rotate=_turns(others),
        standing_count=_padded(npc.max_npc_count, COUNT_STEP) if npc.enabled else 0,
        sticky_count=_padded(npc.max_sticky_count, COUNT_STEP) if npc.sticky_enabled else 0,
        translucent=folding.translucent,
        light_count=lights,
        light_exponent=2 if lights and effects.point_light_falloff in (2.0, 4.0) else None,
        preset=folding.preset,
        preset_darkens=filters.any_preset(pool, "vignette"),
        preset_darkens_late=filters.any_preset(pool, "late_vignette"),
        preset_sharpens=filters.any_preset(pool, "sharpen"),
        pointwise=folding.pointwise,
        pointwise_used=filters.used(vars(fil)) if folding.pointwise == "pixels" else (),
        tone=any(
            getattr(fil, name) != 0
            for name in ("color_jitter_std", "vignette_strength", "radial_light_strength")
        ),
        blur=fil.blur_sigma != 0,
        sharpen=fil.sharpen_amount != 0,
        pixelate=fil.pixelate_factor,
        gaussian=fil.gaussian_noise_std != 0,
        poisson=fil.poisson_noise_scale != 0,
    )  # fmt: skip


def _kinds(pool: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shapes of a pool in a fixed order, each once."""
    return tuple(shape for shape in SHAPES if shape in pool)


def _turns(shapes: tuple[str, ...]) -> bool:
    return any(shape in ROTATING for shape in shapes)


def _pools(config: PlatformerConfig) -> dict[str, Pool]:
    """Return the pools of colours, shapes and presets; `tables` adds images and skins."""
    black, some = config.background.mode == "black", config.distractors
    presets = config.filters.pop_filter_list or ("none",)
    offsets = config.npc.sticky_x_offsets
    return {
        "background.color_names": _colors(
            "background", ((0, 0, 0),) if black else config.background.color_names
        ),
        "layout.layout_colors": _colors("ground", config.layout.layout_colors),
        "character.shape_colors": _colors("shape", config.character.shape_colors),
        "character.shape_types": _shapes(config.character.shape_types),
        "distractors.shape_colors": _colors("shape", some.shape_colors),
        "distractors.shape_types": _shapes(some.shape_types),
        "filters.radial_light_color": _colors("light", config.filters.radial_light_color),
        "filters.pop_filter_list": _indices(
            [tuple(filters.PRESETS).index(name) for name in presets]
        ),
        "npc.sticky_x_offsets": _indices(list(offsets) or [0])._replace(
            count=jnp.int32(len(offsets))
        ),
    }


def _padded(size: int, step: int = POOL_LENGTH) -> int:
    return -(-size // step) * step


def _indices(members: list[int]) -> Pool:
    return pad_pool(members, _padded(len(members)), jnp.int32)


def _colors(palette: str, pool: tuple) -> Pool:
    members = [parameters.rgb(palette, color) for color in pool]
    return pad_pool(members, _padded(len(pool)), jnp.float32)


def _shapes(pool: tuple[str, ...]) -> Pool:
    kinds = _kinds(pool)
    return _indices([kinds.index(shape) for shape in pool])


def _lights(config: PlatformerConfig) -> jnp.ndarray:
    names = config.effects.point_light_color_names
    colors = [parameters.rgb("light", names[index % len(names)]) for index in range(5)]
    return jnp.asarray(colors, jnp.float32)
