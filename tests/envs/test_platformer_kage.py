"""KAGE-Bench's own files: legacy names, its paths, and what is noted."""

from __future__ import annotations

import pytest
import yaml
from platformer_helpers import BASE, SKIN, config

from envs import InputError
from envs.platformer.kage import load_kage

FULL = """
episode_length: 500
H: 128
W: 128
background:
  mode: image
  image_paths: [src/kage_bench/assets/backgrounds/bg-1.jpg, assets/backgrounds/bg-12.png]
  parallax_factor: 0.5
  color_names: [red]
character:
  width: 16
  use_sprites: true
  use_shape: false
  sprite_paths: src/kage_bench/assets/sprites/skeleton
  fallback_color: [255, 0, 0]
npc:
  enabled: false
  sprite_dir: src/kage_bench/assets/sprites
  sticky_y_randomize: true
distractors: {enabled: true, count: 3, min_speed: 0.5}
filters: {blur_sigma: 5.0, jpeg_quality: 80, pop_filter_list: null}
layout: {layout_colors: [red, gray], height_px: 128}
physics: {gravity: 0.75, move_speed: 1, max_speed_x: 2.0, jump_force: -7.5}
"""


def test_a_full_file_carries_over(tmp_path):
    file = tmp_path / "theirs.yaml"
    file.write_text(FULL)
    made, notes = load_kage(file)
    assert made.background.image_paths == ("bg-001", "bg-012")
    assert made.character.sprite_paths == ("skeleton",)
    assert made.physics.move_speed == 2.0, "the internal name wins"
    assert made.filters.blur_sigma == 2.5
    assert made.npc.sprite_dir == "bundled"
    text = "\n".join(notes)
    for word in (
        "filters.jpeg_quality", "character.fallback_color", "npc.sticky_y_randomize",
        "filters.blur_sigma", "min_speed", "radians", "layout_colors", "background.color_names",
        "physics.move_speed",
    ):  # fmt: skip
        assert word in text, word


def test_the_base_of_the_benchmark_is_the_base_here():
    values = BASE.to_dict()
    del values["camera"]
    values["background"] |= {"image_dir": "src/kage_bench/assets/backgrounds"}
    made, notes = load_kage(values)
    assert made == BASE
    assert notes == []


def test_single_sources_and_switched_off_counts_are_translated():
    made, notes = load_kage(
        {
            "character": {**SKIN["character"], "sprite_paths": None, "sprite_path": "x/clown"},
            "npc": {"sticky_enabled": True, "sticky_sprite_dirs": ["a/skeleton", "a/king"]},
            "distractors": {"enabled": True, "count": 0},
        }
    )
    assert made.character.sprite_paths == ("clown",)
    assert made.npc.sticky_sprite_paths == ("skeleton", "king")
    assert not made.distractors.enabled
    assert any("count" in note for note in notes)


def test_folders_of_the_users_own_stand_for_theirs(tmp_path):
    import numpy as np
    from PIL import Image

    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "bg-1.jpg")
    made, _ = load_kage(
        {"background": {"mode": "image", "image_path": "theirs/backgrounds/bg-1.jpg"}},
        images=tmp_path,
    )
    assert made.background.image_paths == (str(tmp_path / "bg-1.jpg"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("physics: {gravty: 1}", "gravity"),
        ("background: {mode: imge}", "image"),
        ("character: {use_sprites: true, use_shape: false, sprite_paths: [x/skeletn]}", "skeleton"),
        ("physics: {ground_snap_dist: 4}", "ground_snap_dist"),
        ("- 1", "mapping"),
        ("a: [", "readable"),
    ],
)
def test_mistakes_in_a_file_are_named(tmp_path, text, message):
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        load_kage(file)


def test_what_was_written_can_be_read_back():
    made = config({"filters": {"hue_shift": 30}})
    again, _ = load_kage(yaml.safe_load(yaml.safe_dump(made.to_dict())))
    assert again == made
