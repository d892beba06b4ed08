"""Pictures: golden frames, layers, images, skins and NPCs."""

from __future__ import annotations

import dataclasses
import json
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from platformer_helpers import (
    BASE,
    GOLDEN,
    IMAGE,
    SKIN,
    built,
    config,
    observe,
    play,
    running,
    start,
)

from envs import check_env, parameters
from envs.palettes import SHAPE
from envs.platformer import PlatformerConfig, images, npc, scene, sprites
from envs.platformer.scene import FIRST_DISTRACTOR

pytestmark = pytest.mark.slow

FRAMES = dict(np.load(GOLDEN / "platformer_frames.npz"))
OTHER_SENSE = ("triangle", "polygon", "star")  # turned the other way than all other shapes there


def _golden_config(index: int) -> PlatformerConfig:
    """Return the configuration of a golden frame, with resolved colours in place of draws."""
    given = json.loads(str(FRAMES["config_json"][index]))
    known = {path for path, _, _ in parameters.walk(PlatformerConfig)}
    skipped = ("image_dir", "sprite_dir", "sticky_sprite_dir")
    values = {
        group: {
            name: value
            for name, value in content.items()
            if f"{group}.{name}" in known and name not in skipped
        }
        for group, content in given.items()
        if isinstance(content, dict)
    }
    values["layout"]["layout_colors"] = FRAMES["layout_rgb"][index].tolist()
    values["filters"]["blur_sigma"] = min(2.5, values["filters"]["blur_sigma"])
    if values["background"]["mode"] == "color":
        values["background"]["color_names"] = FRAMES["bg_rgb"][index].tolist()
    return PlatformerConfig.from_dict(values)


def _golden_distractors(index: int, made: PlatformerConfig, drawing: scene.Scene) -> scene.Scene:
    """Put the golden distractors in; angles there are radians, of two opposite senses."""
    env, params = built(made)
    some, most = made.distractors, env.look.distractor_count
    count = some.count if some.enabled else 0
    if not count:
        return drawing
    shapes = [some.shape_types[i] for i in FRAMES["dist_shape_idx"][index][:count]]
    colors = [SHAPE[some.shape_colors[i]] for i in FRAMES["dist_color_idx"][index][:count]]
    sense = np.array([1 if shape in OTHER_SENSE else -1 for shape in shapes])
    angles = sense * np.rad2deg(FRAMES["dist_angle"][index][:count].astype(np.float64)) % 360

    def padded(values, dtype):
        values = np.asarray(values, dtype)
        fill = [(0, most - count)] + [(0, 0)] * (values.ndim - 1)
        return jnp.asarray(np.pad(values, fill))

    places = np.stack([FRAMES[name][index][:count] for name in ("dist_x", "dist_y")], axis=-1)
    values = {name: ends[0] for name, ends in params.visual.items()}
    words = scene.filtered_words(
        env.look, jnp.asarray(colors, jnp.float32), drawing.preset, params, values
    )
    return drawing._replace(
        colors=drawing.colors.at[FIRST_DISTRACTOR : FIRST_DISTRACTOR + count].set(words),
        distractors=drawing.distractors._replace(
            place=padded(places, np.float32),
            angle=padded(angles, np.float32),
            size=padded(FRAMES["dist_size"][index][:count], np.uint8),
            shape=padded([env.look.distractor_shapes.index(s) for s in shapes], np.uint8),
        ),
    )


@cache
def _observe_one(env):
    return jax.jit(env.observe)


@cache
def _reset_to(env):
    return jax.jit(env.reset_to)


@pytest.mark.parametrize("index", range(len(FRAMES["name"])), ids=[str(n) for n in FRAMES["name"]])
def test_golden_frames_differ_by_one_grey_level_at_most(index):
    made = _golden_config(index)
    env, params = built(made)
    tops = jnp.asarray(FRAMES["ground_top_segments"][index])
    state = _reset_to(env)(jax.random.key(0), tops, params)
    drawing = _golden_distractors(index, made, state.scene)
    drawing = drawing._replace(camera=jnp.int32(np.rint(FRAMES["camera_x"][index])))
    if env.look.light_count:
        lights = FRAMES["light_positions"][index][: env.look.light_count]
        drawing = drawing._replace(lights=jnp.asarray(lights))
    latent = state.latent._replace(x=jnp.int32(FRAMES["x"][index]), y=jnp.int32(FRAMES["y"][index]))
    picture = np.asarray(_observe_one(env)(state._replace(latent=latent, scene=drawing), params))
    assert np.abs(picture.astype(int) - FRAMES["image"][index]).max() <= 1


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {**SKIN, **IMAGE, "npc": {"enabled": True, "sticky_enabled": True}},
        {"distractors": {"enabled": True}, "filters": {"gaussian_noise_std": 9.0}},
    ],
)
def test_the_contract_of_environments_holds(changes):
    env, params = built(config(changes))
    check_env(env, params, episodes=3, steps=6)


# -------------------------------------------------------------------------------- image backgrounds


def _expected_background(made, camera: int) -> np.ndarray:
    background = made.background
    (file,) = images.image_files(background.image_dir, background.image_paths)
    pixels = images.read_pixels(file, "RGB")
    column = np.arange(made.W) + int(np.rint(camera * background.parallax_factor))
    width = pixels.shape[1]
    column = column % width if background.tile_horizontal else np.clip(column, 0, width - 1)
    return pixels[:, column]


@pytest.mark.parametrize("tiled", [True, False])
def test_images_scroll_with_the_camera_and_repeat_or_stop(tiled):
    made = config(IMAGE, {"background": {"parallax_factor": 0.7, "tile_horizontal": tiled}})
    states = start(made, count=2)
    for camera in (0, 3, 151, 700):
        moved = states._replace(scene=states.scene._replace(camera=jnp.full(2, camera)))
        sky = observe(made, moved)[0, :28]  # above everything
        assert np.array_equal(sky, _expected_background(made, camera)[:28])


def test_backgrounds_switch_with_the_declared_chance_and_stay_otherwise():
    made = config({"background": {"mode": "noise", "switch_frequency": 0.25}})
    env, params = built(made)
    states = start(made, count=64)

    @jax.jit
    def seeds(states):
        def body(states, _):
            states, _ = jax.vmap(env.step, (0, None, None))(states, jnp.int32(0), params)
            return states, states.scene.noise_seed

        return jax.lax.scan(body, states, None, length=64)[1]

    drawn = np.asarray(seeds(states))
    assert abs((drawn[1:] != drawn[:-1]).mean() - 0.25) < 0.03


# ---------------------------------------------------------------------------------- skins and NPCs


def _pasted(picture: np.ndarray, frame: np.ndarray, middle: int, bottom: int) -> np.ndarray:
    """Paste a sprite (RGBA, opaque or clear) with its foot row above `bottom`."""
    result, (tall, wide) = picture.copy(), frame.shape[:2]
    for row in range(tall):
        for column in range(wide):
            y, x = bottom - tall + row, middle - wide // 2 + column
            if frame[row, column, 3] and 0 <= y < 128 and 0 <= x < 128:
                result[y, x] = frame[row, column, :3]
    return result


def test_a_skin_is_pasted_pixel_by_pixel_and_runs_through_all_of_its_frames():
    for skin in ("skeleton", next(s for s in sprites.bundled_skins() if _count(s) == 2)):
        made = config(SKIN, {"character": {"sprite_paths": [skin], "animation_fps": 12.0}})
        frames, count = sprites.skin_frames(skin), 1
        states, walked, shown = start(made, count=1), 0, set()
        for _ in range(40):
            states, _ = play(made, states, np.full((1, count), 2))
            walked = walked + 1 if abs(float(states.latent.vx[0])) > 0.1 else 0
            frame = frames[walked // 5 % len(frames)]
            x, y = int(states.latent.x[0]), int(states.latent.y[0])
            bare = states._replace(latent=states.latent._replace(y=jnp.full(1, 500)))
            middle = x - int(states.scene.camera[0])
            expected = _pasted(observe(made, bare)[0], frame, middle, y + 13)
            assert np.array_equal(observe(made, states)[0], expected)
            shown.add(walked // 5 % len(frames))
        assert shown == set(range(len(frames)))


def _count(skin: str) -> int:
    return len(sprites.skin_frames(skin))


def test_npcs_stand_on_the_ground_within_reach_and_are_clipped_at_the_borders():
    made = config({"npc": {"enabled": True, "min_npc_count": 20}})
    plain = config()
    states, bare = start(made, count=3), start(plain, count=3)
    some = jax.tree.map(np.asarray, states.scene.standing)
    assert (some.count == 20).all()
    assert some.x.min() >= npc.FIRST_COLUMN
    assert some.x.max() <= 611, "the last column that an episode can show"
    skins = sprites.bundled_skins()
    tops = np.asarray(states.latent.tops)
    for camera in (150, 200, 222, 390):
        shown, empty = (
            observe(one, s._replace(scene=s.scene._replace(camera=jnp.full(3, camera))))
            for one, s in ((made, states), (plain, bare))
        )
        for lane in range(3):
            expected = empty[lane]
            for index in range(20):
                frames = sprites.skin_frames(skins[some.skin[lane, index]])
                frame = frames[some.phase[lane, index] % len(frames)]
                column = int(some.x[lane, index])
                top = int(tops[lane, column // 25])
                expected = _pasted(expected, frame, column - camera, top)
            agent = np.any(empty[lane] == (0, 128, 128), axis=-1)
            same = (shown[lane] == expected).all(-1)
            assert same[~agent].all()


def test_followers_keep_their_offset_jump_and_land():
    made = config(
        {"npc": {"sticky_enabled": True, "sticky_x_offsets": [-20, 20], "min_sticky_count": 5}},
        {"npc": {"sticky_jump_probability": 0.2}},
    )
    env, params = built(made)
    states = start(made, count=16)

    @jax.jit
    def rows(states):
        def body(states, _):
            states, _ = jax.vmap(env.step, (0, None, None))(states, jnp.int32(2), params)
            return states, states.scene.sticky.y

        return jax.lax.scan(body, states, None, length=200)[1]

    height = np.asarray(states.scene.sticky.home)[None] - np.asarray(rows(states))
    assert height.min() == 0
    assert height.max() == 37, "the peak of a jump"
    assert 0.5 < (height > 0).mean() < 0.95
    offsets = np.asarray(states.scene.sticky.offset)
    assert (offsets == np.resize([-20, 20], offsets.shape[1])).all()


def test_users_may_bring_their_own_pictures_of_any_size(tmp_path):
    from PIL import Image

    draw = np.random.default_rng(0)
    Image.fromarray(draw.integers(0, 255, (64, 96, 3), np.uint8)).save(tmp_path / "wide.png")
    skin = tmp_path / "blob"
    skin.mkdir()
    pixels = draw.integers(0, 255, (30, 20, 4), np.uint8)  # translucent
    Image.fromarray(pixels).save(skin / "0.png")
    made = config(
        {"background": {"mode": "image", "image_dir": str(tmp_path)}},
        {"character": {"use_sprites": True, "use_shape": False, "sprite_paths": [str(skin)]}},
    )
    states, _ = play(made, start(made, count=1), np.full((3, 1), 0))
    picture = observe(made, states)[0].astype(int)
    bare = states._replace(latent=states.latent._replace(y=jnp.full(1, 500)))
    under = observe(made, bare)[0].astype(float)
    x, bottom = int(states.latent.x[0]), int(states.latent.y[0]) + 13
    rows, columns = slice(bottom - 30, bottom), slice(x - 10, x + 10)
    share = pixels[..., 3:] / 255
    expected = share * pixels[..., :3] + (1 - share) * under[rows, columns]
    assert np.abs(picture[rows, columns] - np.floor(expected)).max() <= 1


def test_filters_on_skins_and_images_equal_filters_on_pixels():
    """Folded into the atlas, or applied to pixels where a range needs it: the same picture."""
    scenery = {**SKIN, **IMAGE}
    settings = {"hue_shift": 60.0, "brightness": 0.1}
    folded = config(scenery, {"filters": settings})
    spread = config(scenery, {"filters": {**settings, "brightness": {"uniform": [0.1, 0.1000001]}}})
    looks = [built(made)[0].look.pointwise for made in (folded, spread)]
    assert looks == ["colors", "pixels"]
    one, other = (observe(made, start(made, count=2)).astype(int) for made in (folded, spread))
    assert np.abs(one - other).max() <= 1


def test_only_the_declared_fields_of_the_base_scene_are_kept():
    drawing = start(BASE, count=1).scene
    unused = ("image", "preset", "radial_color", "skin", "walked", "standing", "sticky")
    assert all(getattr(drawing, name) is None for name in unused)
    assert dataclasses.is_dataclass(built(BASE)[0].look)


def test_running_changes_the_picture():
    states = start(BASE, count=2)
    later, _ = play(BASE, states, running(40, 2))
    assert (observe(BASE, states) != observe(BASE, later)).any()
