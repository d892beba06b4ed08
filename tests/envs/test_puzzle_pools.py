"""Pools: held out means never seen, by content."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from envs import PuzzleConfig
from envs.errors import InputError
from envs.puzzle import art, folder, pools

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path_factory.mktemp("cache")))


def noise(count, rows=30, columns=40, seed=0):
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (count, 6, 6, 3), dtype=np.uint8)
    return np.stack([np.asarray(Image.fromarray(one).resize((columns, rows))) for one in coarse])


BUNDLED = pools.Bundled(("landscape", "portrait", "city"))
ARRAYS = pools.Arrays(noise(60))


@pytest.mark.parametrize("universe", [BUNDLED, ARRAYS], ids=["bundled", "arrays"])
@settings(max_examples=50, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 10), st.integers(1, 10)),
    seeds=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    skips=st.tuples(st.integers(0, 15), st.integers(0, 15)),
)
def test_pools_are_disjoint_for_all_sizes_and_seeds_and_nested_for_one(
    universe, sizes, seeds, skips
):
    def chosen(split, side):
        return pools.choose(
            universe, split=split, size=sizes[side], seed=seeds[side], skip=skips[side]
        )

    train, heldout = chosen("train", 0), chosen("heldout", 1)
    assert len(set(train)) == sizes[0]
    assert not set(train) & set(heldout)
    larger = pools.choose(universe, split="train", size=sizes[0] + 5, seed=seeds[0], skip=skips[0])
    assert larger[: sizes[0]] == train


def test_skipping_gives_further_disjoint_pools():
    first = pools.choose(BUNDLED, split="heldout", size=20)
    second = pools.choose(BUNDLED, split="heldout", size=20, skip=20)
    assert not set(first) & set(second)


def test_seeds_choose_different_pools():
    assert pools.choose(BUNDLED, split="train", size=20, seed=0) != pools.choose(
        BUNDLED, split="train", size=20, seed=1
    )


def test_a_pool_larger_than_its_half_is_refused():
    with pytest.raises(InputError, match="the train half has 30"):
        pools.choose(ARRAYS, split="train", size=31)


def test_no_two_bundled_pictures_are_near_duplicates():
    """A tenth of every family, from both halves; all members differ in content and name."""
    members = range(0, art.MEMBERS, 10)
    pictures = [art.draw(family, member, 32, 32) for family in art.FAMILIES for member in members]
    thumbnails = np.stack([pools.thumbnail(picture) for picture in pictures])
    assert not pools.near_duplicates(thumbnails)


@pytest.mark.parametrize("family", art.FAMILIES)
def test_bundled_pictures_tell_where_their_tiles_belong(family):
    """On most pictures no two of the nine tiles look alike, so their order can be inferred."""
    alike = 0
    for member in range(8):
        picture = art.draw(family, member, 84, 84).astype(float)
        tiles = picture.reshape(3, 28, 3, 28, 3).transpose(0, 2, 1, 3, 4).reshape(9, -1)
        apart = np.sqrt(((tiles[:, None] - tiles) ** 2).mean(axis=2))
        alike += apart[~np.eye(9, dtype=bool)].min() < 5
    assert alike <= 2


def test_bundled_pictures_are_the_same_whenever_they_are_drawn():
    art.draw.cache_clear()
    first = art.draw("sea", 3, 84, 84).copy()
    art.draw("portrait", 5, 84, 84)
    art.draw.cache_clear()
    np.testing.assert_array_equal(art.draw("sea", 3, 84, 84), first)


def everything(universe):
    return [*universe.half("train"), *universe.half("heldout")]


def near_copies():
    """Return ten pictures and near duplicates of two: one compressed, one brightened a little."""
    pictures = noise(10, 60, 60)
    brighter = np.clip(pictures[3].astype(int) + 2, 0, 255).astype(np.uint8)
    smaller = np.asarray(Image.fromarray(pictures[6]).resize((40, 50)))
    return pictures, brighter, smaller


def test_near_duplicates_among_arrays_are_left_out_with_a_warning():
    pictures, brighter, _ = near_copies()
    with pytest.warns(UserWarning, match=r"1 near duplicates are left out \(image \d+ ~ image"):
        universe = pools.Arrays(np.concatenate([pictures, brighter[None], pictures[:1]]))
    assert len(universe.half("train")) + len(universe.half("heldout")) == 10


def write(place, pictures, names):
    place.mkdir(parents=True, exist_ok=True)
    for name, pixels in zip(names, pictures, strict=True):
        (place / name).parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(place / name)


def test_a_folder_gives_the_same_pools_whatever_its_files_are_called(tmp_path):
    pictures = noise(12)
    write(tmp_path / "a", pictures, [f"{n:02}.png" for n in range(12)])
    write(tmp_path / "b", pictures[::-1], [f"sub{n % 2}/{n:02}.PNG" for n in range(12)])
    one, other = folder.open_folder(tmp_path / "a"), folder.open_folder(tmp_path / "b")
    for split in pools.SPLITS:
        assert one.half(split) == other.half(split)
        assert len(one.half(split)) == 6
        for image in one.half(split):
            np.testing.assert_array_equal(one.picture(image, 30, 40), other.picture(image, 30, 40))


def test_near_duplicate_files_are_on_neither_side(tmp_path):
    pictures, brighter, smaller = near_copies()
    write(tmp_path, pictures, [f"{n}.png" for n in range(10)])
    write(tmp_path, [brighter, smaller, pictures[0]], ["x.png", "y.png", "z.png"])
    Image.fromarray(pictures[8]).save(tmp_path / "w.jpg", quality=80)
    with pytest.warns(UserWarning, match="3 near duplicates"):
        universe = folder.open_folder(tmp_path)
    kept = everything(universe)
    assert len(kept) == len(set(kept)) == 10


def test_files_are_decoded_once_and_again_when_they_change(tmp_path, monkeypatch):
    decoded = []
    decode = folder.decode
    monkeypatch.setattr(folder, "decode", lambda path: decoded.append(path.name) or decode(path))
    names = [f"{n}.png" for n in range(6)]
    write(tmp_path / "pics", noise(6), names)
    folder.open_folder(tmp_path / "pics")
    assert sorted(decoded) == names
    folder._open.cache_clear()  # as in a new process
    universe = folder.open_folder(tmp_path / "pics")
    assert len(decoded) == 6
    first = universe.half("train")[0]
    universe.picture(first, 20, 20)
    universe.picture(first, 20, 20)
    assert len(decoded) == 7  # shrunk once, then remembered
    write(tmp_path / "pics", noise(1, seed=9), ["2.png"])
    changed = folder.open_folder(tmp_path / "pics")
    assert decoded[7:] == ["2.png"]
    assert len({*everything(changed)} & {*everything(universe)}) == 5


def test_a_damaged_cache_is_an_empty_one(tmp_path):
    write(tmp_path / "pics", noise(4), [f"{n}.png" for n in range(4)])
    before = folder.open_folder(tmp_path / "pics").half("train")
    for file in folder.cache_folder().iterdir():
        file.write_bytes(b"nonsense")
    folder._open.cache_clear()
    assert folder.open_folder(tmp_path / "pics").half("train") == before


def test_transparent_grey_and_palette_images_are_decoded_as_colours(tmp_path):
    picture = Image.fromarray(noise(1)[0])
    for mode, name in (("RGBA", "a.png"), ("L", "b.png"), ("P", "c.png"), ("CMYK", "d.jpg")):
        picture.convert(mode).save(tmp_path / name)
        assert folder.decode(tmp_path / name).shape == (30, 40, 3)


def test_bad_paths_and_files_are_named(tmp_path):
    for source, path, problem in (
        ("folder", tmp_path / "none", "no folder"),
        ("folder", tmp_path, "holds no images"),
        ("array", tmp_path / "none.npy", "expected a .npy file"),
    ):
        config = PuzzleConfig.from_dict({"images": {"source": source, "path": str(path)}})
        with pytest.raises(InputError, match=problem):
            config.effective()
    (tmp_path / "broken.png").write_bytes(b"no image")
    with pytest.raises(InputError, match=r"cannot decode .*broken\.png"):
        folder.open_folder(tmp_path)


@pytest.mark.parametrize("source", ["folder", "array"])
def test_configurations_hold_the_content_of_their_pools(tmp_path, source):
    if source == "folder":
        path = tmp_path / "pics"
        write(path, noise(12), [f"{n}.png" for n in range(12)])
    else:
        path = tmp_path / "pics.npy"
        np.save(path, noise(12))
    train = PuzzleConfig.from_dict(
        {"images": {"source": source, "path": str(path), "pool": 4, "pool_seed": 2}}
    )
    heldout = train.replace({"images": {"split": "heldout", "pool": 6}})
    content = train.effective()["images.content"]
    assert len(content) == 4
    assert not set(content) & set(heldout.effective()["images.content"])
    assert str(tmp_path) not in str(train.effective())
    assert train.digest != heldout.digest
    env, params = heldout.build()
    assert int(params.pictures.count) == 6
    assert env.observation_shape == (84, 84, 3)


def test_equal_pools_have_equal_digests_whatever_names_them():
    one = PuzzleConfig.from_dict({"images": {"family": "sea", "pool": 3}})
    other = PuzzleConfig.from_dict({"images": {"family": ["sea"], "pool": 3, "path": "unused"}})
    assert one.digest == other.digest
    unseen = {"observation": "raw", "images": {"family": "sea"}, "filters": {"hue_shift": 90}}
    assert PuzzleConfig.from_dict(unseen).digest == PuzzleConfig(observation="raw").digest


def test_pools_warn_about_nothing_when_nothing_is_wrong(tmp_path):
    write(tmp_path, noise(5), [f"{n}.png" for n in range(5)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folder.open_folder(tmp_path)
