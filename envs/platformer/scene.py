"""What only shows: colours, shapes, lights, objects and the camera. It never touches a reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from envs.keys import named_key
from envs.platformer import filters, npc
from envs.platformer.npc import Standing, Sticky
from envs.platformer.pixels import pack

BORDER = 15  # px; distractors bounce this far from the screen's borders
LIGHT_MARGIN = 0.15  # share of the screen that lights keep from its borders
WALKING = 0.1  # px/step; faster than this the agent's frames change

# Rows of `Scene.colors`; one row per distractor follows.
BACKGROUND, GROUND, AGENT, FIRST_DISTRACTOR = 0, 1, 2, 3


class Distractors(NamedTuple):
    """Shapes floating over the screen; D of them, of which the first `distractors.count` show."""

    place: jax.Array  # f32[D, 2]; (x, y) on the screen, px
    velocity: jax.Array  # f32[D, 2]; px/step
    angle: jax.Array  # f32[D]; degrees
    spin: jax.Array  # f32[D]; degrees/step
    size: jax.Array  # u8[D]; px
    shape: jax.Array  # u8[D]; index into the pool's shapes


class Scene(NamedTuple):
    """Everything that only shows: None where its drawing stage is off.

    Drawn once per episode, except for the camera, what moves, and a background that is switched.
    """

    colors: jax.Array  # u32[3 + D]; packed, after the filters on colours; see the row names above
    noise_seed: jax.Array  # u32[]
    shape: jax.Array  # i32[]; the agent's, index into the pool's shapes
    camera: jax.Array  # i32[]; world column of the screen's left border
    distractors: Distractors
    lights: jax.Array  # f32[L, 2]; (x, y) as shares of the screen
    drawn: dict[str, jax.Array]  # visual parameters given as ranges: this episode's values, f32[]
    image: jax.Array | None = None  # i32[]; index into the images
    preset: jax.Array | None = None  # i32[]; index into the presets
    radial_color: jax.Array | None = None  # f32[3]
    skin: jax.Array | None = None  # i32[]; the agent's, index into the skins
    walked: jax.Array | None = None  # i32[]; steps that the agent has been moving
    standing: Standing | None = None
    sticky: Sticky | None = None


class Pool(NamedTuple):
    """A pool of values, padded to a common length; draws are uniform over the first `count`."""

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
    reach: int  # px; columns of the world that an episode can show
    mode: str  # of the background: color, noise or image
    switches: bool  # the background changes now and then
    sprite: bool  # the agent is a skin
    agent_spans: int  # spans per row of the agent's shape
    agent_shapes: tuple[str, ...]  # the shapes it can have, where they turn; else empty
    distractor_shapes: tuple[str, ...]  # empty: no distractors
    distractor_count: int
    distractors_rotate: bool
    standing_count: int  # most NPCs in the world
    sticky_count: int  # most NPCs that follow the agent
    translucent: bool  # skins have pixels that are neither opaque nor transparent
    light_count: int
    light_exponent: int | None  # 2: falloffs of 2 and 4 (cheap powers), else None
    preset: str  # where presets act: "" (none), "colors" or "pixels"
    preset_darkens: bool  # some preset has a vignette before its contrast
    preset_darkens_late: bool  # or after it
    preset_sharpens: bool
    pointwise: str  # where the pointwise filters act: "colors" or "pixels"
    pointwise_used: tuple[str, ...]  # those that act on pixels
    tone: bool  # colour jitter, vignette or radial light
    blur: bool
    sharpen: bool
    pixelate: int
    gaussian: bool
    poisson: bool

    @property
    def deep(self) -> bool:
        """Whether filters follow that need more than 8 bits per channel."""
        return (
            self.preset == "pixels" or self.preset_spatial or self.pointwise == "pixels"
            or self.tone or self.blur or self.sharpen or self.gaussian or self.poisson
        )  # fmt: skip

    @property
    def preset_spatial(self) -> bool:
        """Whether some preset depends on a pixel's place or neighbours."""
        return self.preset_darkens or self.preset_darkens_late or self.preset_sharpens


Values = dict[str, jax.Array]


def draw_scene(look: Look, key: jax.Array, params: Any, values: Values, latent: Any) -> Scene:
    """Draw the scene of one episode; every attribute has a key of its own.

    Args:
        key: the episode's scene key.
        params: the environment's `Params` (pools).
        values: visual parameters resolved for this episode, f32[] each.
        latent: the first latent state.
    """

    def pick(name: str, purpose: str, shape: tuple[int, ...] = ()) -> jax.Array:
        return draw_member(params.pools[name], named_key(key, purpose), shape)

    count = look.distractor_count
    raw = jnp.concatenate([
        pick("background.color_names", "background.color")[None],
        pick("layout.layout_colors", "layout.color")[None],
        pick("character.shape_colors", "character.color")[None],
        pick("distractors.shape_colors", "distractors.color", (count,)),
    ])  # fmt: skip
    preset = pick("filters.pop_filter_list", "filters.preset") if look.preset else None
    world = {"tops": latent.tops, "run_width": look.run_width, "length": look.length}
    return Scene(
        colors=filtered_words(look, raw, preset, params, values),
        noise_seed=jax.random.bits(named_key(key, "background.noise"), (), jnp.uint32),
        shape=pick("character.shape_types", "character.shape"),
        camera=jnp.clip(latent.spawn_x - look.width // 2, 0, look.length - look.width),
        distractors=_draw_distractors(look, key, values, pick),
        lights=jax.random.uniform(
            named_key(key, "effects.lights"), (look.light_count, 2),
            minval=LIGHT_MARGIN, maxval=1 - LIGHT_MARGIN,
        ),
        drawn={},
        image=pick("background.images", "background.image") if look.mode == "image" else None,
        preset=preset,
        radial_color=pick("filters.radial_light_color", "filters.radial") if look.tone else None,
        skin=pick("character.skins", "character.skin") if look.sprite else None,
        walked=jnp.int32(0) if look.sprite else None,
        standing=npc.draw_standing(look, key, values, pick, world) if look.standing_count else None,
        sticky=npc.draw_sticky(look, key, values, params, pick) if look.sticky_count else None,
    )  # fmt: skip


def draw_member(pool: Pool, key: jax.Array, shape: tuple[int, ...] = ()) -> jax.Array:
    """Draw members of a pool uniformly, `shape` of them."""
    return pool.values[jax.random.randint(key, shape, 0, pool.count)]


def filtered_words(look: Look, raw, preset, params: Any, values: Values) -> jax.Array:
    """Return colours f32[..., 3] after the filters that act on colours, packed, u32[...]."""
    planes = (raw[..., 0], raw[..., 1], raw[..., 2])
    if look.preset == "colors":
        settings = preset_settings(params, preset)
        planes = filters.preset_colors(planes, settings)
        if not look.preset_darkens:
            planes = filters.contrasted(planes, settings["contrast"])
        if not look.preset_spatial:  # else the pixels are truncated, later
            planes = tuple(jnp.floor(plane) for plane in planes)
    if look.pointwise == "colors":
        settings = {name: values[f"filters.{name}"] for name in filters.NAMES}
        planes = filters.pointwise(planes, settings)
    return pack(planes, deep=look.deep)


def preset_settings(params: Any, preset: jax.Array) -> Values:
    """Return what the drawn presets set, name of a filter -> f32 of the shape of `preset`."""
    return {name: column[preset] for name, column in params.presets.items()}


def _draw_distractors(look: Look, key, values: Values, pick) -> Distractors:
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
        size=sizes.astype(jnp.uint8),
        shape=pick("distractors.shape_types", "distractors.shape", (count,)).astype(jnp.uint8),
    )


def advance(look: Look, scene: Scene, key: jax.Array, latent: Any, params: Any, values) -> Scene:
    """Return the scene one step later.

    Args:
        key: the episode's scene key; draws fold in the step.
        latent: the new latent state.
        values: visual parameters resolved for this episode, f32[] each.
    """
    left = values["camera.left_margin"].astype(jnp.int32)
    right = look.width - values["camera.right_margin"].astype(jnp.int32)
    on_screen = latent.x - scene.camera
    pull = jnp.where(on_screen < left, on_screen - left, 0)
    pull = jnp.where(on_screen > right, on_screen - right, pull)
    camera = jnp.clip(scene.camera + pull, 0, look.length - look.width)
    scene = scene._replace(camera=camera, distractors=_drift(look, scene.distractors))
    if look.sprite:
        walked = jnp.where(jnp.abs(latent.vx) > WALKING, scene.walked + 1, 0)
        scene = scene._replace(walked=walked)
    if look.sticky_count:
        jump_key = jax.random.fold_in(named_key(key, "npc.sticky_jump"), latent.t)
        scene = scene._replace(sticky=npc.bounce(scene.sticky, jump_key, values))
    return _switch(look, scene, key, latent.t, params, values) if look.switches else scene


def _drift(look: Look, some: Distractors) -> Distractors:
    room = jnp.array([look.width - BORDER, look.height - BORDER], jnp.float32)
    place = some.place + some.velocity
    bounced = (place <= BORDER) | (place >= room)
    return some._replace(
        place=jnp.clip(place, BORDER, room),
        velocity=jnp.where(bounced, -some.velocity, some.velocity),
        angle=jnp.mod(some.angle + some.spin, 360.0),
    )


def _switch(look: Look, scene: Scene, key, t: jax.Array, params: Any, values: Values) -> Scene:
    """Draw another background with the chance `background.switch_frequency`."""

    def fresh(name: str) -> jax.Array:
        return jax.random.fold_in(named_key(key, name), t)

    switched = jax.random.bernoulli(
        fresh("background.switch"), values["background.switch_frequency"]
    )
    if look.mode == "noise":
        other = jax.random.bits(fresh("background.switch_noise"), (), jnp.uint32)
        return scene._replace(noise_seed=jnp.where(switched, other, scene.noise_seed))
    member = fresh("background.switch_member")
    if look.mode == "image":
        other = draw_member(params.pools["background.images"], member)
        return scene._replace(image=jnp.where(switched, other, scene.image))
    raw = draw_member(params.pools["background.color_names"], member)
    word = filtered_words(look, raw, scene.preset, params, values)
    word = jnp.where(switched, word, scene.colors[BACKGROUND])
    return scene._replace(colors=scene.colors.at[BACKGROUND].set(word))
