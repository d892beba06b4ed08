"""Declarations, configurations, pools, programs and state: every parameter does what it says."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from platformer_helpers import BASE, built, config, start

from envs import InputError, parameters
from envs.__main__ import main
from envs.parameters import CONTROL, EMPTY, NONEMPTY, NONZERO
from envs.platformer import PlatformerConfig
from envs.platformer.sprites import bundled_skins
from envs.tools import describe, throughput

pytestmark = pytest.mark.slow

DECLARED = {path: (spec, value) for path, spec, value in parameters.walk(PlatformerConfig)}
# Values for parameters whose other end or switch would not show anything.
MOVED = {
    "background.mode": "noise",
    "background.image_paths": ["bg-002"],
    "background.switch_frequency": 1.0,
    "background.color_names": ["lime"],
    "character.sprite_paths": ["clown"],
    "character.shape_types": ["star"],
    "character.shape_colors": ["gold"],
    "npc.sprite_paths": ["clown"],
    "npc.sticky_sprite_paths": ["clown"],
    "npc.sticky_x_offsets": [3],
    "npc.min_npc_count": 20,
    "npc.max_npc_count": 64,
    "npc.min_sticky_count": 5,
    "npc.sticky_y_min_offset": -60,
    "npc.sticky_x_min": 50,
    "npc.max_sticky_count": 16,
    "distractors.shape_types": ["square"],
    "distractors.shape_colors": ["gold"],
    "distractors.max_size": 40,
    "distractors.min_size": 11,
    "character.height": 40,
    "distractors.max_rotation_speed": 90.0,
    "distractors.min_rotation_speed": -90.0,
    "distractors.min_speed": 1.0,
    "effects.point_light_color_names": ["green"],
    "filters.radial_light_color": [[255, 0, 0]],
    "filters.pop_filter_list": ["noir"],
    "filters.pixelate_factor": 4,
    "filters.contrast": 0.5,
    "filters.saturation": 0.5,
    "layout.layout_colors": ["red"],
    "layout.min_height": 9,
    "layout.max_height": 12,
    "layout.length": 640,
    "layout.max_step_height": 5,
    "layout.base_ground_y": 110,
    "physics.jump_force": -4.0,
    "physics.max_fall_speed": 1.0,
    "physics.move_speed": 2.0,
    "physics.coyote_time": 0,
    "camera.left_margin": 80,
    "camera.right_margin": 80,
    "dist_to_success": 20.0,
    "episode_length": 10,
    "H": 96,
    "W": 96,
    "layout.height_px": 96,
}
# What has to come along for a configuration to be valid.
COMPANIONS = {
    "H": {"layout": {"height_px": 96, "base_ground_y": 90}},
    "layout.height_px": {"H": 96, "layout": {"base_ground_y": 90}},
    "character.use_sprites": {"character": {"use_shape": False}},
    "character.use_shape": {"character": {"use_sprites": True}},
    "background.mode": {},
}
# What has to hold besides the declared context for a difference to be seen at all.
SCENERY = {
    "layout.min_step_height": {"layout": {"max_step_height": 60}},
    "physics.coyote_time": {"layout": {"run_width": 6, "p_change": 1.0}},
    "layout.length": {
        "physics": {"move_speed": 8, "ground_accel": 8, "air_accel": 8},
        "layout": {"p_change": 0.0},
    },
    "npc.sticky_jump_probability": {"npc": {"min_sticky_count": 5}},
    "npc.sticky_can_jump": {"npc": {"sticky_jump_probability": 1.0}},
    "background.switch_frequency": {"background": {"color_names": ["purple", "lime", "gray"]}},
}


def _nested(path: str, value) -> dict:
    *groups, name = path.split(".")
    return {groups[0]: {name: value}} if groups else {name: value}


def _held(path: str) -> dict:
    """Return changes under which the declared context of a parameter holds."""
    changes: dict = {}
    for paths, allowed in DECLARED[path][0].contexts:
        other = paths[0]
        value = allowed[0] if isinstance(allowed, tuple) else allowed
        if allowed in (EMPTY, NONEMPTY):
            continue
        value = 0.5 if allowed == NONZERO else value
        kind = DECLARED[other][0].kind
        value = ["star"] if kind == "names" else value
        for each in (_held(other), _nested(other, value), COMPANIONS.get(other, {})):
            changes = _merged(changes, each)
        if other == "character.use_sprites" and value is False:
            changes["character"].pop("use_shape", None)
    return changes


def _merged(left: dict, right: dict) -> dict:
    result = dict(left)
    for key, value in right.items():
        inside = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = _merged(result[key], value) if inside else value
    return result


def _moved(path: str):
    spec, default = DECLARED[path]
    if path in MOVED:
        return MOVED[path]
    if spec.kind == "flag":
        return not default
    high = default + 1 if spec.high is None else spec.high
    return high if default != high else spec.low


@cache
def _episode(env):
    def episode(key, params):
        states = jax.vmap(env.reset, (0, None))(jax.random.split(key, 3), params)
        time = jnp.arange(180)  # far enough for the first NPCs, with some walking back
        actions = jnp.where((time > 140) & (time < 160), 1, jnp.where(time % 10 < 3, 2, 6))

        def body(states, action):
            states, outcome = jax.vmap(env.step, (0, None, None))(states, action, params)
            picture = env.observe_batch(states, params)
            return states, (outcome, picture[:, ::3, ::3])

        return jax.lax.scan(body, states, actions)[1]

    return jax.jit(episode)


@cache
def _seen(made: PlatformerConfig):
    env, params = built(made)
    return jax.tree.map(np.asarray, _episode(env)(jax.random.key(1), params))


@pytest.fixture(scope="module")
def own_pictures(tmp_path_factory) -> str:
    """A folder with one image and one skin, as a user's own."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("pictures")
    (folder / "blob").mkdir()
    draw = np.random.default_rng(0)
    Image.fromarray(draw.integers(0, 255, (128, 128, 3), np.uint8)).save(folder / "own.png")
    frame = np.full((20, 12, 4), 255, np.uint8)
    Image.fromarray(frame).save(folder / "blob" / "0.png")
    return str(folder)


FOLDERS = [path for path, (spec, _) in DECLARED.items() if spec.kind == "folder"]


@pytest.mark.parametrize("path", DECLARED)
def test_every_parameter_does_something_where_it_says_so(path, own_pictures):
    value = own_pictures if path in FOLDERS else _moved(path)
    around = _merged(_held(path), SCENERY.get(path, {}))
    usual = config(around)
    moved = config(around, _merged(_nested(path, value), COMPANIONS.get(path, {})))
    before, after = jax.tree.leaves(_seen(usual)), jax.tree.leaves(_seen(moved))
    assert any(
        one.shape != other.shape or not np.array_equal(one, other)
        for one, other in zip(before, after, strict=True)
    )
    if DECLARED[path][0].role == "visual":
        for one, other in zip(
            jax.tree.leaves(_seen(usual)[0]), jax.tree.leaves(_seen(moved)[0]), strict=True
        ):
            assert np.array_equal(one, other), "a visual parameter changed what happens"


# -------------------------------------------------------------------------------- visual is visual

VISUAL = st.fixed_dictionaries(
    {
        "background": st.fixed_dictionaries(
            {
                "mode": st.just("color"),
                "color_names": st.lists(st.sampled_from(["red", "lime", "teal"]), min_size=1),
                "switch_frequency": st.floats(0, 1),
            }
        ),
        "filters": st.fixed_dictionaries(
            {
                "brightness": st.floats(-1, 1),
                "hue_shift": st.floats(-180, 180),
                "gaussian_noise_std": st.floats(1, 50),
                "vignette_strength": st.floats(0.1, 3),
            }
        ),
        "npc": st.fixed_dictionaries(
            {
                "enabled": st.just(True),
                "sticky_enabled": st.just(True),
                "sticky_jump_probability": st.floats(0, 1),
                "spawn_y_offset": st.integers(-10, 40),
            }
        ),
        "distractors": st.fixed_dictionaries(
            {"enabled": st.just(True), "max_speed": st.floats(0, 9), "max_size": st.integers(4, 60)}
        ),
        "camera": st.fixed_dictionaries({"left_margin": st.integers(0, 60)}),
    }
)


@settings(max_examples=8, deadline=None)
@given(changes=VISUAL, seed=st.integers(0, 1000))
def test_visual_parameters_never_change_a_latent_or_a_reward(changes, seed):
    actions = np.random.default_rng(seed).integers(0, 8, (40, 2))
    changes["background"]["switch_frequency"] = max(0.01, changes["background"]["switch_frequency"])
    paths = []
    for made in (BASE, config(changes)):
        env, params = built(made)
        states = start(made, count=2, seed=seed)
        paths.append(_play_all(env)(states, jnp.asarray(actions), params))
    for one, other in zip(*map(jax.tree.leaves, paths), strict=True):
        assert np.array_equal(one, other)


@cache
def _play_all(env):
    def play(states, actions, params):
        def body(states, action):
            states, outcome = jax.vmap(env.step, (0, 0, None))(states, action, params)
            return states, (states.latent, outcome)

        return jax.lax.scan(body, states, actions)[1]

    return jax.jit(play)


# -------------------------------------------------------------------------------------------- pools


def test_every_member_of_every_pool_appears_uniformly_and_independently():
    colors = ["red", "green", "blue", "gold"]
    skins = list(bundled_skins()[:4])
    made = config(
        {"background": {"mode": "image", "image_paths": ["bg-1", "bg-2", "bg-3", "bg-4"]}},
        {"character": {"use_sprites": True, "use_shape": False, "sprite_paths": skins}},
        {"character": {"shape_types": ["circle", "line", "square", "diamond"]}},
        {"character": {"shape_colors": colors}, "layout": {"layout_colors": colors}},
        {"npc": {"enabled": True, "sprite_paths": skins}},
        {"distractors": {"enabled": True, "count": 1, "shape_types": ["circle", "line", "square"]}},
        {"filters": {"pop_filter_list": ["retro", "noir", "none", "horror"]}},
    )
    count = 4096
    drawing = start(made, count=count).scene
    pools = {
        "image": drawing.image, "skin": drawing.skin, "shape": drawing.shape,
        "preset": drawing.preset, "npc": drawing.standing.skin[:, 0],
        "distractor": drawing.distractors.shape[:, 0],
    }  # fmt: skip
    members = {
        name: np.unique(np.asarray(values), return_inverse=True)[1].ravel()
        for name, values in pools.items()
    }
    for name, values in members.items():
        size = 3 if name == "distractor" else 4
        share = np.bincount(values, minlength=size) / count
        assert len(share) == size, name
        assert np.abs(share - 1 / size).max() < 5 * np.sqrt(0.25 / count), name
    names = list(members)
    for position, one in enumerate(names):
        for other in names[position + 1 :]:
            together = np.histogram2d(members[one], members[other], bins=(4, 4))[0] / count
            apart = np.outer(together.sum(1), together.sum(0))
            assert np.abs(together - apart).max() < 0.02, (one, other)


def test_whole_ranges_reach_both_ends_and_stay_whole():
    made = config({"layout": {"ground_thickness": {"uniform": [2, 4]}}})
    drawn = np.asarray(start(made, count=256).latent.drawn["layout.ground_thickness"])
    assert set(np.unique(drawn)) == {2.0, 3.0, 4.0}


# ----------------------------------------------------------------------------- declared and printed


def test_the_declarations_cover_the_reference_table():
    roles = [spec.role for spec, _ in DECLARED.values()]
    assert len(DECLARED) >= 93
    assert roles.count(CONTROL) >= 24
    for spec, _ in DECLARED.values():
        assert spec.doc.endswith(".")
        for paths, _ in spec.contexts:
            assert set(paths) <= set(DECLARED)


def test_the_base_configuration_keeps_its_digest():
    digest = "e313f33d6b38e226221be414d21751ab1316aa1db4a3658307c3ace520ffb5cf"
    assert BASE.digest == digest


def test_the_committed_reference_table_is_up_to_date():
    readme = Path(describe.__file__).parents[1] / "README.md"
    assert describe.markdown("platformer") in readme.read_text(encoding="utf-8")


def test_one_parameter_can_be_described():
    assert "degrees" in describe.text("platformer", "filters.hue_shift")
    with pytest.raises(InputError, match="hue_shift"):
        describe.text("platformer", "filters.hue_shfit")


def test_the_command_line_describes_and_refuses(capsys):
    assert main(["describe", "platformer", "filters"]) == 0
    assert "filters.hue_shift" in capsys.readouterr().out
    assert main(["describe", "platformr"]) == 2
    assert "did you mean 'platformer'" in capsys.readouterr().err
    assert main(["throughput", "--config", "no-such-file.yaml"]) == 2
    assert main(["sheet", "imags"]) == 2


def test_digests_follow_pixels_not_names(tmp_path):
    from envs.platformer.images import ASSETS

    copy = tmp_path / "another.png"
    copy.write_bytes((ASSETS / "backgrounds" / "bg-001.png").read_bytes())
    named = config({"background": {"mode": "image", "image_paths": ["bg-1"]}})
    path = config({"background": {"mode": "image", "image_dir": str(tmp_path)}})
    other = config({"background": {"mode": "image", "image_paths": ["bg-2"]}})
    assert named.digest == path.digest != other.digest
    assert named.background.image_paths == ("bg-001",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"background": {"image_paths": ["bg-129"]}}, "bg-129.*bg-128"),
        ({"background": {"image_dir": "/nowhere/at/all"}}, "/nowhere/at/all"),
        ({"character": {"sprite_paths": ["skelton"]}}, "did you mean 'skeleton'"),
        ({"character": {"use_sprites": True}}, "exactly one of use_sprites and use_shape"),
        ({"npc": {"min_npc_count": 30}}, "npc.min_npc_count: 30 is above"),
        ({"layout": {"height_px": 96}}, "must equal H"),
        ({"filters": {"blur_sigma": 5}}, "outside"),
        ({"filters": {"pop_filter_list": ["sepia"]}}, "sepia"),
        ({"npc": {"sticky_x_offsets": [1.5]}}, "whole number"),
        ({"camera": {"left_margin": 100}}, "both margins"),
    ],
)
def test_bad_values_are_refused_by_name(changes, message):
    with pytest.raises(InputError, match=message):
        config(changes)


def test_an_unreadable_picture_is_named(tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"not a picture")
    made = config({"background": {"mode": "image", "image_paths": [str(broken)]}})
    with pytest.raises(InputError, match=r"broken\.png"):
        made.build()


def test_throughput_measures_a_configuration_with_its_pixels_consumed():
    flat, again = throughput.measure({"flat": BASE, "same": BASE}, 2, steps=2, repeats=1)
    assert flat.of_flat == 1.0
    assert again.steps_per_second > 0
    assert "flat" in throughput.table([flat, again])
