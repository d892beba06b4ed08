"""Held out means never produced in training: by number, by colour, by decoded content."""

import shutil

import pytest
from audit_probes import WalkerConfig, foreign_pair, walker_pair
from PIL import Image

from envs import PlatformerConfig, PuzzleConfig, parameters
from envs.errors import InputError
from envs.parameters import VISUAL
from envs.platformer.images import ASSETS
from envs.puzzle import art
from protocols import Pair, audit
from protocols.audit.declared import visual_only
from protocols.audit.support import supports
from protocols.audit.text import pair_lines
from protocols.axes import AXES, CONTROL, covers


def pair_of(train, heldout, axis="background", base=PlatformerConfig):
    side = base().replace(train)
    return Pair("mine", axis, "train", side, {"heldout": side.replace(heldout)})


def refusal(pair):
    with pytest.raises(InputError) as caught:
        audit(pair)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def within(low, high):
    return {"uniform": [low, high]}


@pytest.mark.parametrize("inside", [0.85, 0.8, 1.0, within(0.9, 1.0), within(0.5, 0.8)])
def test_a_value_inside_the_training_range_is_refused_ends_included(inside):
    train = {"friction": within(0.8, 1.0)}
    assert "not held out" in refusal(walker_pair(train, friction=inside))


@pytest.mark.parametrize("outside", [0.79, within(0.5, 0.7)])
def test_a_value_outside_the_training_range_is_accepted(outside):
    audit(walker_pair({"friction": within(0.8, 1.0)}, friction=outside))


def test_the_wide_training_range_must_leave_the_held_out_sides_out_too():
    narrow, wide = ({"friction": within(low, 1.0)} for low in (0.8, 0.6))
    side = WalkerConfig().replace(narrow)
    sides = {f"{value:g}": side.replace({"friction": value}) for value in (0.5, 0.6, 0.7)}

    def widening(names):
        return Pair(
            "friction", "physics", "narrow", side, {name: sides[name] for name in names},
            "widening", wide_name="wide", wide=WalkerConfig().replace(wide),
        )  # fmt: skip

    for swallowed in ("0.6", "0.7"):  # the end of the wide range, and its inside
        message = refusal(widening(["0.5", swallowed]))
        assert "before the wide training side wide" in message
        assert f"side {swallowed}: not held out" in message
    audit(widening(["0.5"]))


@pytest.mark.parametrize("held", [{"min_size": 4, "max_size": 9}, {"min_size": 0, "max_size": 1}])
def test_limits_are_one_range_even_where_both_differ(held):
    assert "min_size..max_size is" in refusal(walker_pair(**held))


def test_limits_apart_are_held_out():
    audit(walker_pair(min_size=5, max_size=9))
    assert supports(WalkerConfig())["min_size..max_size"] == {"uniform": [1, 4]}


@pytest.mark.parametrize(
    ("train", "heldout", "disjoint"),
    [
        ({}, {"lit": True, "light": 3.0}, True),  # the switch differs, and with it the light
        ({"lit": True}, {"lit": False}, True),
        ({"lit": True, "light": within(1, 2)}, {"light": 2.0}, False),
        ({"lit": True, "light": within(1, 2)}, {"light": 2.5}, True),
    ],
)
def test_a_parameter_that_matters_on_one_side_only_is_judged_by_its_switch(
    train, heldout, disjoint
):
    pair = walker_pair(train, **heldout)
    if disjoint:
        audit(pair)
    else:
        assert "not held out" in refusal(pair)


def test_a_colour_that_the_switch_makes_matter_does_not_make_a_side_held_out():
    # A strength of 0 is part of training; that no colour matters there is no novelty.
    lit = {"filters": {"radial_light_strength": within(0, 1), "radial_light_color": "red"}}
    dark = {"filters": {"radial_light_strength": 0.0}}
    assert "not held out" in refusal(pair_of(lit, dark, "filters"))


def test_a_parameter_without_effect_is_an_inert_axis():
    assert "inert" in refusal(walker_pair(light=3.0))


def test_colours_are_compared_as_rgb():
    names = pair_of({"background": {"mode": "color", "color_names": ["black", "lime"]}},
                    {"background": {"color_names": [[0, 0, 0]]}})  # fmt: skip
    assert "not held out" in refusal(names)
    assert "inert" in refusal(
        pair_of({}, {"background": {"mode": "color", "color_names": [[0, 0, 0]]}})
    )


@pytest.fixture
def copies(tmp_path):
    """The first two bundled backgrounds under other names, in another file format."""
    (tmp_path / "images").mkdir()
    for number in (1, 2):
        with Image.open(ASSETS / "backgrounds" / f"bg-{number:03d}.png") as image:
            image.convert("RGB").save(tmp_path / "images" / f"copy-{number}.bmp")
    return tmp_path / "images"


def test_a_copy_of_a_bundled_image_is_not_held_out(copies):
    image = {"background": {"mode": "image", "image_paths": ["bg-1", "bg-2"]}}
    one = {"background": {"image_paths": [str(copies / "copy-2.bmp")]}}
    assert "not held out" in refusal(pair_of(image, one))
    folder = {"background": {"image_paths": [], "image_dir": str(copies)}}
    assert "inert" in refusal(pair_of(image, folder))
    audit(pair_of(image, {"background": {"image_paths": ["bg-3"]}}))


def test_two_names_of_equal_pixels_are_one_image(copies):
    shutil.copy(copies / "copy-1.bmp", copies / "other.bmp")
    paths = [{"background": {"mode": "image", "image_paths": [str(copies / name)]}}
             for name in ("copy-1.bmp", "other.bmp")]  # fmt: skip
    assert "inert" in refusal(pair_of(*paths))


def test_a_copy_of_a_bundled_skin_is_not_held_out(tmp_path):
    shutil.copytree(ASSETS / "sprites" / "skeleton", tmp_path / "mine")
    skins = {"use_shape": False, "use_sprites": True, "sprite_paths": ["skeleton", "clown"]}
    copy = {"character": {"sprite_paths": [str(tmp_path / "mine")]}}
    assert "not held out" in refusal(pair_of({"character": skins}, copy, "agent_appearance"))


def test_a_folder_copy_of_a_puzzle_picture_is_not_held_out(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "mine").mkdir()
    train = PuzzleConfig()
    image = train._chosen(train._universe())[0]
    family, member = image.split("/")
    Image.fromarray(art.draw(family, int(member), 84, 84)).save(tmp_path / "mine" / "a.png")
    copy = {"images": {"source": "folder", "path": str(tmp_path / "mine")}}
    assert "inert" in refusal(pair_of({}, copy, "images", PuzzleConfig))
    assert "not held out" in refusal(
        pair_of({"images": {"pool": 2}}, {"images": {**copy["images"], "pool": 1}}, "images",
                PuzzleConfig)
    )  # fmt: skip


@pytest.mark.parametrize("axis", [axis for axis in AXES if axis not in CONTROL])
def test_what_a_visual_axis_covers_is_declared_to_change_pictures_only(axis):
    roles = {
        path: spec.role
        for config in (PlatformerConfig, PuzzleConfig)
        for path, spec, _ in parameters.walk(config)
        if covers(axis, path)
    }
    assert roles
    assert set(roles.values()) == {VISUAL}


def test_declarations_tell_visual_from_other_differences():
    base = PlatformerConfig()
    assert visual_only(base, base.replace({"filters": {"hue_shift": 90}})) is True
    assert visual_only(base, base.replace({"background": {"mode": "image"}})) is True
    assert visual_only(base, base.replace({"physics": {"gravity": 0.5}})) is False
    puzzle = PuzzleConfig()
    assert visual_only(puzzle, puzzle.replace({"images": {"split": "heldout"}})) is True
    assert visual_only(puzzle, puzzle.replace({"start": {"mode": "scramble"}})) is False


def test_without_declarations_the_leaves_are_compared_and_the_support_is_unknown():
    pair = foreign_pair(grey=90.0)
    assert pair.difference("heldout") == {"params['grey']": (0.0, 90.0)}
    audit(pair)
    assert visual_only(pair.train, pair.heldout["heldout"]) is None
    head, proved = pair_lines(pair, ())
    assert "params['grey']: 0 -> 90" in head
    assert "support unknown" in proved
    assert "inert" in refusal(foreign_pair(light=3.0))


def test_an_axis_of_an_own_environment_is_taken_at_its_word_where_several_parameters_differ():
    assert "axis looks taken at its word" in pair_lines(walker_pair(grey=9.0, ink=99.0), ())[1]
    assert "axis looks ·" in pair_lines(walker_pair(grey=9.0), ())[1]
