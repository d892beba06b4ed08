"""The picture: exact tiles at any grid, one code path equal to the other, filters and blank."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from envs import PuzzleConfig
from envs.errors import InputError
from envs.platformer.filters import NAMES, pointwise
from envs.puzzle.env import Scene, State
from envs.puzzle.render import Look, cut, gather_tiles, render


def noise(count, rows, columns, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(0, 256, (count, rows, columns, 3), dtype=np.uint8)


def reference(look, board, image, blank):
    """Draw one frame tile by tile in numpy."""
    rows, columns = look.tile
    top, left = look.corner
    frame = np.zeros((look.side, look.side, 3), np.uint8)
    for (y, x), tile in np.ndenumerate(board.astype(int)):
        row, column = (tile - 1) // look.width * rows, (tile - 1) % look.width * columns
        piece = image[row : row + rows, column : column + columns] if tile else blank
        start = top + y * rows, left + x * columns
        frame[start[0] : start[0] + rows, start[1] : start[1] + columns] = piece
    return frame


def shuffled(count, height, width, seed=1):
    random = np.random.default_rng(seed)
    boards = [random.permutation(height * width) for _ in range(count)]
    return np.array(boards, np.uint8).reshape(count, height, width)


SIDES = [(2, 2, 84), (3, 3, 84), (4, 4, 84), (3, 5, 84), (5, 4, 84), (8, 7, 84), (12, 12, 40)]


@pytest.mark.parametrize(("height", "width", "side"), SIDES)
def test_every_grid_shows_whole_tiles_of_the_image(height, width, side):
    look = Look(height, width, side)
    images, blanks = noise(3, *look.picture), np.array([[9, 8, 7], [200, 100, 50]], np.uint8)
    pictures = cut(look, images, blanks)
    boards = shuffled(4, height, width)
    image, blank = np.array([0, 2, 1, 2]), np.array([1, 0, 0, 1])
    frames = jax.jit(render, static_argnums=0)(look, boards, image, blank, pictures, {})
    expected = [
        reference(look, board, images[i], blanks[b])
        for board, i, b in zip(boards, image, blank, strict=True)
    ]
    np.testing.assert_array_equal(frames, np.stack(expected))


@pytest.mark.parametrize(("height", "width", "side"), [(3, 3, 84), (5, 4, 84)])
def test_the_accelerators_form_draws_the_same(height, width, side):
    look = Look(height, width, side)
    pictures = cut(look, noise(3, *look.picture), np.array([[9, 8, 7]], np.uint8))
    boards, image = shuffled(4, height, width), jnp.array([0, 2, 1, 2])
    frames = render(look, jnp.asarray(boards), image, jnp.zeros(4, jnp.int32), pictures, {})
    tile = boards.reshape(4, -1).astype(int)
    first_blank = pictures.tiles.shape[0] - len(pictures.blank_colors)
    index = np.where(tile == 0, first_blank, np.asarray(image)[:, None] * height * width + tile - 1)
    np.testing.assert_array_equal(gather_tiles(look, pictures.tiles, index), frames)


def frame_of(config, images, board=((1, 2, 3), (4, 0, 6), (7, 5, 8)), key=0):
    env, params = config.build(images)
    state = env.reset_to(jax.random.key(key), np.array(board), params)
    return np.asarray(jax.jit(env.observe)(state, params)), env, state, params


def filtered_by_hand(images, settings):
    planes = tuple(jnp.asarray(images[..., channel], jnp.float32) for channel in range(3))
    return np.stack([np.asarray(plane) for plane in pointwise(planes, settings)], -1)


def test_colour_filters_act_on_the_picture_and_never_on_the_blank():
    images, changes = noise(1, 84, 84), {"hue_shift": 140.0, "contrast": 1.5, "brightness": 0.1}
    config = PuzzleConfig.from_dict({"blank_color": "red", "filters": changes})
    frame, *_ = frame_of(config, images)
    neutral = dataclasses.asdict(PuzzleConfig().filters)
    wanted = filtered_by_hand(images, {**neutral, **changes}).astype(int)
    shown = reference(Look(3, 3, 84), np.array([[1, 2, 3], [4, 0, 6], [7, 5, 8]]), wanted[0], 0)
    inside = np.zeros((84, 84), bool)
    inside[28:56, 28:56] = True
    assert (frame[inside] == (220, 20, 60)).all()
    assert np.abs(frame[~inside].astype(int) - shown[~inside]).max() <= 1


def test_a_neutral_filter_changes_no_pixel():
    images = noise(1, 84, 84)
    plain, *_ = frame_of(PuzzleConfig(), images)
    ranged = {name: {"uniform": [0.0, 1e-9]} for name in ("hue_shift",)}
    almost, *_ = frame_of(PuzzleConfig.from_dict({"filters": ranged}), images)
    assert np.abs(plain.astype(int) - almost).max() <= 1


def test_filters_given_as_a_range_act_as_the_value_that_was_drawn():
    images = noise(1, 80, 80)
    grid = {"height": 5, "width": 5, "blank_color": "white"}
    board = np.roll(np.arange(25), -1).reshape(5, 5)
    board[4, 3:] = board[4, 4], board[4, 3]
    config = PuzzleConfig.from_dict({**grid, "filters": {"hue_shift": {"uniform": [20, 160]}}})
    frame, _, state, _ = frame_of(config, images, board, key=5)
    drawn = float(state.scene.drawn["hue_shift"])
    assert 20 <= drawn <= 160
    fixed = PuzzleConfig.from_dict({**grid, "filters": {"hue_shift": drawn}})
    same, *_ = frame_of(fixed, images, board, key=5)
    assert np.abs(frame.astype(int) - same).max() <= 1
    assert (frame[66:82, 50:66] == 255).all()  # the blank keeps its colour
    assert not frame[:2].any()  # and the border stays black


def test_one_image_is_drawn_per_episode_and_all_of_a_pool_are_used():
    env, params = PuzzleConfig.from_dict({"images": {"pool": 5}}).build(noise(10, 84, 84))
    keys = jax.random.split(jax.random.key(0), 400)
    images = np.asarray(jax.jit(jax.vmap(env.reset, (0, None)))(keys, params).scene.image)
    assert (np.bincount(images, minlength=5) > 40).all()


def test_pool_size_and_blank_colours_change_no_program():
    shapes = []
    for changes in ({}, {"images": {"pool": 5}}, {"blank_color": ["red", "white"]}):
        env, params = PuzzleConfig.from_dict(changes).build(noise(10, 84, 84))
        shapes.append((hash(env), jax.tree.map(jnp.shape, params)))
    assert shapes[0] == shapes[1] == shapes[2]


def test_filter_names_are_the_shared_ones():
    assert tuple(dataclasses.asdict(PuzzleConfig().filters)) == NAMES


def test_frames_are_copies_that_nobody_can_change():
    frame, env, state, params = frame_of(PuzzleConfig(), noise(1, 84, 84))
    before = frame.copy()
    assert isinstance(state, State)
    assert isinstance(state.scene, Scene)
    after, _ = env.step(state, jnp.int32(0), params)
    assert not np.array_equal(env.observe(after, params), before)
    np.testing.assert_array_equal(env.observe(state, params), before)


def test_images_of_the_wrong_kind_are_refused():
    with pytest.raises(InputError, match=r"u8\[n, h, w, 3\]"):
        PuzzleConfig().build(np.zeros((2, 84, 84, 3), np.float32))
    with pytest.raises(InputError, match="the train half has 1"):
        PuzzleConfig.from_dict({"images": {"pool": 2}}).build(noise(2, 84, 84))
