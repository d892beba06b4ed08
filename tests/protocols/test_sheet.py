"""A sheet shows every side of a suite in the same states."""

import numpy as np
import pytest
from audit_probes import WIDTH, WalkerConfig, walker_pair
from PIL import Image

from envs import PuzzleConfig
from envs.errors import InputError
from protocols import Pair, Suite
from protocols.__main__ import main
from protocols.playing import play
from protocols.sheet import GAP, LABEL, _block, _flow, _moments, save_sheet, suite_sheet

SUITE = Suite("walkers", 3, "", (walker_pair(grey=90.0), walker_pair(ink=20.0)))


def test_a_column_is_one_latent_state_on_all_sides():
    block = _block(walker_pair(grey=90.0), 4, {})
    (_, train), (_, heldout) = block.rows
    assert len(train) == len(heldout) == 4
    for own, other in zip(train, heldout, strict=True):
        walker = own[0, :, 0] == 200
        assert walker.sum() == 1
        assert np.array_equal(own[0, ~walker, 0], np.zeros(WIDTH - 1))
        assert np.array_equal(other[0, :, 0] == 200, walker)
        assert (other[0, ~walker, 0] == 90).all()


def test_states_are_taken_before_an_episode_ends():
    played = play(WalkerConfig(), times=range(21), episodes=4)
    moments = _moments(played, 4)
    assert [episode for _, _, episode in moments] == [0, 1, 2, 3]
    assert all(0 < time < 20 for time, _, _ in moments)
    assert len({time for time, _, _ in moments}) > 1


def test_a_sheet_holds_the_pictures_unchanged_and_fits_its_size(tmp_path):
    sheet = suite_sheet(SUITE, states=2)
    save_sheet(sheet, tmp_path / "walkers.png")
    with Image.open(tmp_path / "walkers.png") as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape == (sheet.height, sheet.width, 3)
    assert sheet.width >= LABEL + 2 * (WIDTH + GAP)
    picture = _block(SUITE.pairs[0], 2, {}).rows[1][1][1]
    windows = np.lib.stride_tricks.sliding_window_view(pixels, picture.shape)
    assert (windows == picture).all((-1, -2, -3)).any()


def test_one_pair_alone_can_be_drawn():
    split = Pair("both", "looks", "walker", WalkerConfig(), {
        "bright": WalkerConfig(grey=90.0), "dim": WalkerConfig(ink=50.0),
    }, "split")  # fmt: skip
    suite = Suite("walkers", 3, "", (split, walker_pair(grey=90.0)))
    assert [name for name, _ in _block(split, 1, {}).rows] == ["walker", "bright", "dim"]
    alone, all_pairs = (suite_sheet(suite, pair=name, states=1) for name in ("both", None))
    assert alone.width * alone.height < all_pairs.width * all_pairs.height
    with pytest.raises(InputError, match="no pair 'bhot'; did you mean 'both'"):
        suite_sheet(suite, pair="bhot")


@pytest.mark.parametrize("columns", [1, 2, 3, 5])
def test_blocks_keep_their_order_and_never_overlap(columns):
    heights = [30, 50, 20, 70, 40]
    places, bottom = _flow(heights, columns)
    assert places == sorted(places)
    assert max(column for column, _ in places) < columns
    for (column, y), height, (following, below) in zip(places, heights, places[1:], strict=False):
        assert following > column or below == y + height
        assert y + height <= bottom


def test_observations_that_are_no_pictures_are_refused():
    side = PuzzleConfig(observation="onehot")
    pair = Pair("p", "start", "t", side, {"heldout": side.replace({"start": {"mode": "scramble"}})})
    with pytest.raises(InputError, match=r"its observations are float32.*not pictures"):
        suite_sheet(Suite("vectors", 1, "", (pair,)))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["sheet", "hrad"], "no suite 'hrad'; did you mean 'hard'"),
        (["sheet", "hard", "--out", "sheet.jpg"], "expected a .png file, got 'sheet.jpg'"),
        (["sheet", "hard", "--out", "nowhere/sheet.png"], "there is no folder 'nowhere'"),
        (["sheet", "hard", "--states", "0"], "--states: expected 1 to 8, got 0"),
        (["sheet", "hard", "--pair", "gama-2"], "no pair 'gama-2'; did you mean 'gamma-2'"),
        (["audit", "hrad"], "no suite 'hrad'; did you mean 'hard'"),
        (["audit", "hard", "--pair", "gama-2"], "no pair 'gama-2'; did you mean 'gamma-2'"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments, expected, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert expected in shown.err
    assert shown.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
