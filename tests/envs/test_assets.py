"""The bundled pictures are what the drawing scripts draw, and are fit for the renderer."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import envs.platformer.art as art
from envs.platformer.art import backgrounds, sprites
from envs.platformer.art.__main__ import save
from envs.platformer.art.digest import assets_digest, pixels

pytestmark = pytest.mark.slow

ASSETS = Path(art.__file__).parent.parent / "assets"
NAMES = [f"bg-{number:03d}.png" for number in range(1, 129)]


@pytest.fixture(scope="module")
def drawn() -> dict[str, np.ndarray]:
    """Every background, drawn afresh."""
    return backgrounds.backgrounds()


@pytest.fixture(scope="module")
def bundled() -> dict[str, np.ndarray]:
    """Every background as it lies in the assets folder."""
    return {name: pixels(ASSETS / "backgrounds" / name) for name in NAMES}


@pytest.fixture(scope="module")
def skins() -> dict[str, list[np.ndarray]]:
    """Every skin's frames as they lie in the assets folder."""
    folders = sorted(path for path in (ASSETS / "sprites").iterdir() if path.is_dir())
    return {path.name: [pixels(file) for file in sorted(path.iterdir())] for path in folders}


def on_one_canvas(image: np.ndarray) -> np.ndarray:
    """A sprite as the renderer stands it: centred in the widest box, feet on the bottom row."""
    box = np.zeros((24, 16, 4), dtype=int)
    height, width = image.shape[:2]
    left = 8 - width // 2
    box[24 - height :, left : left + width] = image
    return box


def colour_shares(image: np.ndarray) -> np.ndarray:
    """How much of a sprite falls in each of 64 coarse colours."""
    solid = image[image[..., 3] > 0][:, :3].astype(int) // 64
    counts = np.bincount(solid @ (16, 4, 1), minlength=64)
    return counts / counts.sum()


def test_a_redraw_of_the_backgrounds_equals_the_bundled_files(drawn, bundled):
    assert list(drawn) == NAMES
    for name in NAMES:
        np.testing.assert_array_equal(drawn[name], bundled[name], err_msg=name)


def test_a_redraw_of_the_skins_equals_the_bundled_files(skins):
    redrawn = sprites.sprites()
    bundled = {f"{skin}/{k}.png": im for skin, ims in skins.items() for k, im in enumerate(ims)}
    assert sorted(redrawn) == sorted(bundled)
    for name, image in redrawn.items():
        np.testing.assert_array_equal(image, bundled[name], err_msg=name)


def test_the_digest_file_matches_the_bundled_pictures():
    assert (ASSETS / "digest.txt").read_text(encoding="utf-8").strip() == assets_digest(ASSETS)


def test_the_digest_sees_one_pixel_and_one_name_but_not_the_packing(tmp_path):
    image = backgrounds.background(1).copy()
    save(image, tmp_path / "one" / "a.png")
    (tmp_path / "two").mkdir()
    Image.fromarray(image).save(tmp_path / "two" / "a.png", compress_level=0)
    assert assets_digest(tmp_path / "one") == assets_digest(tmp_path / "two")
    save(image, tmp_path / "three" / "b.png")
    assert assets_digest(tmp_path / "three") != assets_digest(tmp_path / "one")
    image[64, 64, 0] ^= 1
    save(image, tmp_path / "four" / "a.png")
    assert assets_digest(tmp_path / "four") != assets_digest(tmp_path / "one")


def test_a_background_does_not_depend_on_what_was_drawn_before_it():
    first = backgrounds.background(5)
    state = np.random.get_state()[1].copy()
    backgrounds.background(77)
    np.testing.assert_array_equal(backgrounds.background(5), first)
    np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_the_assets_folder_holds_only_the_pictures_and_their_digest():
    files = [path for path in ASSETS.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".png", ".txt"}
    assert sorted(path.name for path in (ASSETS / "backgrounds").iterdir()) == NAMES
    assert sum(path.stat().st_size for path in files) < 3_000_000


def test_every_background_is_128_by_128_rgb(bundled):
    for name, image in bundled.items():
        assert image.shape == (128, 128, 3), name
        assert image.dtype == np.uint8, name


def test_no_two_backgrounds_are_alike(bundled):
    small = {name: im.reshape(16, 8, 16, 8, 3).mean((1, 3)) for name, im in bundled.items()}
    for (a, first), (b, second) in itertools.combinations(small.items(), 2):
        assert np.abs(first - second).mean() > 4, (a, b)


def test_neighbouring_backgrounds_are_of_different_kinds():
    order = backgrounds.order()
    assert len(set(order)) == len(order) == 128
    kinds = [kind for kind, _ in order]
    assert all(a != b for a, b in itertools.pairwise(kinds))
    assert len({kinds[0], kinds[1], kinds[2], kinds[127]}) == 4


def test_every_background_joins_its_own_left_edge(bundled):
    ratios = []
    for name, image in bundled.items():
        columns = image.astype(int)
        steps = np.abs(columns - np.roll(columns, 1, axis=1)).mean((0, 2))
        assert steps[0] <= steps[1:].max(), name
        ratios.append(steps[0] / steps[1:].mean())
    # A cut would show in many pictures at once: the seam must be no rougher than the inside.
    assert np.mean(ratios) < 1.15
    assert np.median(ratios) < 1.1


def test_every_background_keeps_to_a_limited_palette(bundled):
    for name, image in bundled.items():
        assert 4 <= len(np.unique(image.reshape(-1, 3), axis=0)) <= 128, name


def test_there_are_27_skins_of_two_or_three_frames(skins):
    assert len(skins) == 27
    assert {"skeleton", "clown"} <= set(skins)
    assert {len(frames) for frames in skins.values()} == {2, 3}
    for skin in skins:
        assert skin == skin.lower()
        names = sorted(path.name for path in (ASSETS / "sprites" / skin).iterdir())
        assert names == [f"{k}.png" for k in range(len(skins[skin]))]


def test_every_frame_fits_the_character_box_with_clear_or_solid_pixels(skins):
    for skin, frames in skins.items():
        for image in frames:
            height, width, channels = image.shape
            assert 10 <= width <= 16 and 15 <= height <= 24 and channels == 4, skin
            assert set(np.unique(image[..., 3])) == {0, 255}, skin


def test_every_frame_stands_on_its_bottom_row(skins):
    for skin, frames in skins.items():
        for image in frames:
            assert (image[-1, :, 3] > 0).sum() >= 2, skin


def test_the_frames_of_a_skin_move(skins):
    for skin, frames in skins.items():
        for first, second in itertools.combinations(frames, 2):
            changed = (on_one_canvas(first) != on_one_canvas(second)).any(-1)
            assert changed.sum() >= 6, skin


def test_skins_differ_in_outline_and_in_colour(skins):
    stood = {skin: on_one_canvas(frames[0]) for skin, frames in skins.items()}
    for a, b in itertools.combinations(stood, 2):
        first, second = stood[a], stood[b]
        solid, other = first[..., 3] > 0, second[..., 3] > 0
        assert (solid ^ other).sum() > 0.1 * (solid | other).sum(), (a, b)
        both = solid & other
        assert np.abs(first - second)[both][:, :3].mean() > 40, (a, b)
        shares = np.abs(colour_shares(first) - colour_shares(second)).sum() / 2
        assert shares > 0.2, (a, b)


def test_skins_come_in_several_sizes(skins):
    assert len({frames[0].shape for frames in skins.values()}) >= 8
