"""What only shows: colours, shapes, lights, distractors and the camera. It never touches a reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from envs.keys import named_key
from envs.platformer import filters

BORDER = 15  # px; distractors bounce this far from the screen's borders
LIGHT_MARGIN = 0.15  # share of the screen that lights keep from its borders

# Rows of `Scene.colors`; one row per distractor follows.
BACKGROUND, GROUND, AGENT, FIRST_DISTRACTOR = 0, 1, 2, 3


class Distractors(NamedTuple):
    """Shapes floating over the screen; D of them."""

    place: jax.Array  # f32[D, 2]; (x, y) on the screen, px
    velocity: jax.Array  # f32[D, 2]; px/step
    angle: jax.Array  # f32[D]; degrees
    spin: jax.Array  # f32[D]; degrees/step
    size: jax.Array  # i32[D]; px
    shape: jax.Array  # i32[D]; index into the pool's shapes


class Scene(NamedTuple):
    """Everything that only shows. Drawn once per episode, except camera, distractors and angles."""

    colors: jax.Array  # f32[3 + D, 3]; after the filters, see the row names above
    noise_seed: jax.Array  # u32[]
    shape: jax.Array  # i32[]; the agent's, index into the pool's shapes
    camera: jax.Array  # i32[]; world column of the screen's left border
    distractors: Distractors
    lights: jax.Array  # f32[L, 2]; (x, y) as shares of the screen
    drawn: dict[str, jax.Array]  # visual parameters given as ranges: this episode's values, f32[]


class Pool(NamedTuple):
    """A pool of values, padded to a common length; members are drawn uniformly from the first `count`."""

    values: jax.Array  # [P, ...]
    count: jax.Array  # i32[]


@dataclass(frozen=True)
class Look:
    """The static part of the picture: which drawing stages run, and for how many objects."""

    height: int
    width: int
    length: int  # px; of the world
    run_width: int  # px
    body: tuple[int, int]  # px; width and height of the agent
    noise: bool  # background noise instead of one colour
    noise_filtered: bool  # the noise goes through the colour filters
    agent_shapes: tuple[str, ...]
    agent_rotates: bool
    distractor_shapes: tuple[str, ...]  # empty: no distractors
    distractor_count: int
    distractors_rotate: bool
    light_count: int
    light_exponent: int | None  # falloff when it is 2 or 4 (cheap powers), else None


def draw_scene(
    look: Look, key: jax.Array, params: Any, values: dict[str, jax.Array], spawn_x: jax.Array
) -> Scene:
    """Draw the scene of one episode; every attribute has a key of its own.

    Args:
        key: the episode's scene key.
        params: the environment's `Params` (pools).
        values: visual parameters resolved for this episode, f32[] each.
        spawn_x: i32[], where the camera starts.
    """

    def pick(pool: Pool, name: str, shape: tuple[int, ...] = ()) -> jax.Array:
        return pool.values[jax.random.randint(named_key(key, name), shape, 0, pool.count)]

    pools, count = params.pools, look.distractor_count
    raw = jnp.concatenate([
        pick(pools["background.color_names"], "background.color")[None],
        pick(pools["layout.layout_colors"], "layout.color")[None],
        pick(pools["character.shape_colors"], "character.color")[None],
        pick(pools["distractors.shape_colors"], "distractors.color", (count,)),
    ])  # fmt: skip
    settings = {name: values[f"filters.{name}"] for name in filters.NAMES}
    planes = (raw[:, 0], raw[:, 1], raw[:, 2])
    return Scene(
        colors=jnp.stack(filters.pointwise(planes, settings), axis=-1),
        noise_seed=jax.random.bits(named_key(key, "background.noise"), (), jnp.uint32),
        shape=pick(pools["character.shape_types"], "character.shape"),
        camera=jnp.clip(spawn_x - look.width // 2, 0, look.length - look.width),
        distractors=_draw_distractors(look, key, pools, values, pick),
        lights=jax.random.uniform(
            named_key(key, "effects.lights"), (look.light_count, 2),
            minval=LIGHT_MARGIN, maxval=1 - LIGHT_MARGIN,
        ),
        drawn={},
    )  # fmt: skip


def _draw_distractors(look: Look, key, pools, values, pick) -> Distractors:
    count = look.distractor_count
    setting = {name.removeprefix("distractors."): values[name] for name in values}

    def uniform(name: str, shape: tuple[int, ...], low, high) -> jax.Array:
        key_of_draw = named_key(key, f"distractors.{name}")
        return jax.random.uniform(key_of_draw, shape, minval=low, maxval=high)

    room = jnp.array([look.width - BORDER, look.height - BORDER], jnp.float32)
    speed = uniform("speed", (count, 2), setting["min_speed"], setting["max_speed"])
    forward = jax.random.bernoulli(named_key(key, "distractors.direction"), 0.5, (count, 2))
    sizes = jax.random.randint(
        named_key(key, "distractors.size"), (count,),
        setting["min_size"].astype(int), setting["max_size"].astype(int) + 1,
    )  # fmt: skip
    spin = uniform("spin", (count,), setting["min_rotation_speed"], setting["max_rotation_speed"])
    return Distractors(
        place=uniform("place", (count, 2), jnp.float32(BORDER), room),
        velocity=jnp.where(forward, speed, -speed) * setting["can_move"],
        angle=uniform("angle", (count,), 0.0, 360.0),
        spin=spin * setting["can_rotate"],
        size=sizes,
        shape=pick(pools["distractors.shape_types"], "distractors.shape", (count,)),
    )


def advance(look: Look, scene: Scene, x: jax.Array, margins: tuple[jax.Array, jax.Array]) -> Scene:
    """Return the scene one step later; x is the agent's new column, i32[]."""
    left, right = (margin.astype(jnp.int32) for margin in margins)
    on_screen = x - scene.camera
    pull = jnp.where(on_screen < left, on_screen - left, 0)
    pull = jnp.where(on_screen > look.width - right, on_screen - (look.width - right), pull)
    camera = jnp.clip(scene.camera + pull, 0, look.length - look.width)
    return scene._replace(camera=camera, distractors=_drift(look, scene.distractors))


def _drift(look: Look, some: Distractors) -> Distractors:
    room = jnp.array([look.width - BORDER, look.height - BORDER], jnp.float32)
    place = some.place + some.velocity
    bounced = (place <= BORDER) | (place >= room)
    return some._replace(
        place=jnp.clip(place, BORDER, room),
        velocity=jnp.where(bounced, -some.velocity, some.velocity),
        angle=jnp.mod(some.angle + some.spin, 360.0),
    )
