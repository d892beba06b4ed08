"""The published pairs, as facts of their own: what each one changes, from which training side."""

import pytest

from envs.errors import InputError
from protocols import load_suite, load_train_config
from protocols.audit import independent
from protocols.loader import SUITES

# Pair -> (training side, the parameters that differ by themselves). After the published YAML files.
CHANGES = {
    "agent_appearance/1": ("base", {"character.shape_types"}),
    "agent_appearance/2": ("base", {"character.shape_colors"}),
    "agent_appearance/3": ("base", {"character.shape_types", "character.shape_colors"}),
    "agent_appearance/4": ("base", {"character.use_sprites"}),
    "agent_appearance/5": ("skeleton", {"character.sprite_paths"}),
    "background/1": ("base", {"background.mode"}),
    "background/2": ("base", {"background.color_names"}),
    "background/3": ("base", {"background.color_names"}),
    "background/4": ("colors-rgb", {"background.color_names"}),
    "background/5": ("base", {"background.mode"}),
    "background/6": ("image-1", {"background.image_paths"}),
    "background/7": ("images-1-3", {"background.image_paths"}),
    "background/8": ("skeleton", {"background.color_names"}),
    "background/9": ("skeleton-image-1", {"background.image_paths"}),
    "background/10": ("skeleton-images-1-3", {"background.image_paths"}),
    "distractors/1": ("skeleton", {"npc.enabled"}),
    "distractors/2": ("skeleton", {"npc.enabled"}),
    "distractors/3": ("skeleton", {"npc.sticky_enabled"}),
    "distractors/4": ("skeleton", {"npc.sticky_enabled"}),
    "distractors/5": ("base", {"distractors.enabled"}),
    "distractors/6": ("base", {"distractors.enabled", "character.shape_colors"}),
    "effects/1": ("skeleton-image-1", {"effects.point_light_enabled"}),
    "effects/2": ("skeleton-image-1", {"effects.point_light_enabled"}),
    "effects/3": ("skeleton-image-1", {"effects.point_light_enabled"}),
    "filters/1": ("skeleton-image-1", {"filters.brightness"}),
    "filters/2": ("skeleton-image-1", {"filters.contrast"}),
    "filters/3": ("skeleton-image-1", {"filters.saturation"}),
    "filters/4": ("skeleton-image-1", {"filters.hue_shift"}),
    "filters/5": ("skeleton-image-1", {"filters.color_jitter_std"}),
    "filters/6": ("skeleton-image-1", {"filters.gaussian_noise_std"}),
    "filters/7": ("skeleton-image-1", {"filters.pixelate_factor"}),
    "filters/8": ("skeleton-image-1", {"filters.vignette_strength"}),
    "filters/9": ("skeleton-image-1", {"filters.radial_light_strength"}),
    "layout/1": ("base", {"layout.layout_colors"}),
}
# Held-out values that only matter because something was switched on.
SETTINGS = {
    "distractors/1": {"npc.min_npc_count": 5, "npc.max_npc_count": 20},
    "distractors/3": {"npc.min_sticky_count": 1, "npc.max_sticky_count": 5},
    "distractors/5": {"distractors.count": 7, "distractors.max_size": 16},
    "distractors/6": {"distractors.count": 1, "distractors.shape_colors": [[0, 128, 128]]},
    "effects/1": {"effects.point_light_count": 4, "effects.point_light_intensity": 0.5},
    "effects/2": {"effects.point_light_count": 4, "effects.point_light_falloff": 4},
    "effects/3": {"effects.point_light_count": 4, "effects.point_light_falloff": 2},
}
CONFOUNDED = {"agent_appearance/3", "distractors/6"}


@pytest.fixture(scope="module")
def kage():
    return load_suite("kage")


def heldout(pair):
    return pair.heldout["heldout"].effective()


def test_all_34_pairs_change_what_was_published(kage):
    found = {
        pair.name: (pair.train_name, set(independent(pair.difference("heldout")))) for pair in kage
    }
    assert found == CHANGES
    assert all(pair.axis == pair.name.partition("/")[0] for pair in kage)


@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_switched_on_has_the_published_settings(kage, name):
    values = heldout(kage[name])
    assert {path: values[path] for path in SETTINGS[name]} == SETTINGS[name]


def test_seven_trainings_serve_all_pairs(kage):
    assert len({pair.train.digest for pair in kage}) == 7
    assert {pair.train_name for pair in kage} == {name for name, _ in CHANGES.values()}


def test_the_seven_training_sides_are_the_published_ones():
    base = load_train_config("base").effective()
    changed = {}
    for name in {name for name, _ in CHANGES.values()}:
        values = load_train_config(name).effective()
        changed[name] = {path for path in values if path in base and values[path] != base[path]}
    agent, image, color = "character.use_sprites", "background.mode", "background.color_names"
    assert changed == {
        "base": set(),
        "skeleton": {agent},
        "colors-rgb": {color},
        "image-1": {image},
        "images-1-3": {image},
        "skeleton-image-1": {agent, image},
        "skeleton-images-1-3": {agent, image},
    }


def test_the_pairs_that_change_two_things_are_the_ones_marked(kage):
    two = {name for name, (_, changed) in CHANGES.items() if len(changed) > 1}
    assert {pair.name for pair in kage if pair.confounded} == two == CONFOUNDED


def test_image_pools_hold_as_many_pictures_as_published(kage):
    counts = {
        name: len(heldout(kage[name])["background.image_paths"])
        for name in ("background/5", "background/6", "background/10")
    }
    assert counts == {"background/5": 128, "background/6": 1, "background/10": 1}
    trained = load_train_config("images-1-3").effective()["background.image_paths"]
    assert len(trained) == 3
    assert len(heldout(kage["distractors/2"])["npc.sprite_paths"]) == 27


def test_kage_hard_is_four_pairs_of_kage(kage):
    hard = load_suite("kage-hard")
    assert [pair.name for pair in hard] == [
        "background/1", "filters/4", "effects/3", "distractors/5",
    ]  # fmt: skip
    for pair in hard:
        assert pair.digest == kage[pair.name].digest


def test_standard_is_kage_with_every_change_alone(kage):
    standard = load_suite("standard")
    assert not any(pair.confounded for pair in standard)
    assert all(len(independent(pair.difference("heldout"))) == 1 for pair in standard)

    def changes(suite):
        return {(pair.train.digest, pair.heldout["heldout"].digest) for pair in suite}

    kept = {(p.train.digest, p.heldout["heldout"].digest) for p in kage if not p.confounded}
    assert kept < changes(standard)
    assert len(standard) == 34


def test_the_marks_of_the_two_pairs_are_needed(kage, tmp_path):
    """Without its mark distractors/6 is refused: it leaves its axis."""
    text = (SUITES / "kage.yaml").read_text()
    assert text.count("    confounded: true\n") == 2
    file = tmp_path / "kage.yaml"
    file.write_text(text.replace("    confounded: true\n", ""))
    problem = r"pair distractors/6: character.shape_colors differs, which is not on the axis"
    with pytest.raises(InputError, match=problem):
        load_suite(file)
