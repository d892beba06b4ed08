"""Movement, collision, rewards and levels."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from platformer_helpers import BASE, GOLDEN, built, config, play, start

from envs.platformer import level
from envs.platformer.dynamics import Dynamics

pytestmark = pytest.mark.slow


def test_golden_trajectories_are_reproduced_exactly():
    golden = np.load(GOLDEN / "platformer.npz")
    env, params = built(BASE)

    @jax.jit
    def episodes(tops, actions):
        keys = jax.random.split(jax.random.key(0), tops.shape[0])
        states = jax.vmap(env.reset_to, (0, 0, None))(keys, tops, params)

        def body(states, action):
            states, outcome = jax.vmap(env.step, (0, 0, None))(states, action, params)
            seen = states.latent, states.scene.camera, outcome
            return states, seen

        return states, jax.lax.scan(body, states, actions.T)[1]

    first, (latent, camera, outcome) = episodes(
        jnp.asarray(golden["tops"]), jnp.asarray(golden["actions"], jnp.int32)
    )
    del first
    exact = {
        "x": latent.x, "y": latent.y, "vy": latent.vy, "camera_x": camera,
        "grounded": latent.grounded, "coyote_timer": latent.coyote, "jump_count": latent.jumps,
        "reward": outcome.reward, "truncated": outcome.truncated,
    }  # fmt: skip
    for name, values in exact.items():
        assert np.array_equal(np.asarray(values).T, golden[name]), name
    assert np.abs(np.asarray(latent.vx).T - golden["vx"]).max() < 3e-7
    metrics = {name: np.asarray(value)[-1] for name, value in outcome.metrics.items()}
    assert np.array_equal(metrics["distance"], golden["final_passed_distance"])
    assert np.array_equal(metrics["success"], golden["success_end"])
    assert np.array_equal(metrics["success_once"], golden["success_once"])
    assert np.allclose(metrics["vx_mean"], golden["vx_mean_end"], atol=1e-6)
    assert np.allclose(metrics["vy_mean"], golden["vy_mean_end"], atol=1e-6)
    assert not np.asarray(outcome.terminated).any()


def test_scripted_policies_reach_the_known_scores():
    states = start(BASE, count=2048)
    last, outcome = play(BASE, states, np.full((500, 2048), 6))
    success = np.asarray(outcome.metrics["success_once"])[-1].mean()
    returns = np.asarray(outcome.reward, np.float64).sum(0).mean()
    assert abs(success - 0.60) < 0.03
    assert abs(returns + 5000) < 6
    del last


def test_standing_still_costs_exactly_what_it_should():
    _, outcome = play(BASE, start(BASE, count=8), np.zeros((500, 8)))
    returns = np.asarray(outcome.reward, np.float64).sum(0)
    assert np.abs(returns + 2550).max() < 0.01


# ---------------------------------------------------------------------------------------- levels


def test_levels_have_the_declared_statistics():
    tops = np.asarray(start(BASE, count=2048).latent.tops).astype(int)
    heights = (96 - tops) // 2
    steps = np.diff(heights, axis=1)
    assert tops.shape == (2048, 82)
    assert (tops[:, 0] == 76).all()
    assert (heights.min(), heights.max()) == (0, 20)
    assert abs((steps != 0).mean() - 0.517) < 0.01
    inside = (heights[:, :-1] == 10) & (steps != 0)
    assert abs((steps[inside] > 0).mean() - 0.5) < 0.03
    # From the middle a change of 5..17 units is cut at 10: 5..9 uniformly, the rest at 10.
    size = np.abs(steps[:, 0][steps[:, 0] != 0])
    share = np.array([(size == units).mean() for units in range(5, 11)])
    assert np.abs(share - np.array([1, 1, 1, 1, 1, 8]) / 13).max() < 0.03


def test_a_change_probability_of_one_always_changes():
    made = config({"layout": {"p_change": 1.0, "p_up_given_change": 1.0, "max_height": 17}})
    tops = np.asarray(start(made, count=8).latent.tops)
    assert (np.diff(tops, axis=1) <= 0).all()
    assert (tops[:, -1] == 96 - 2 * 17).all()


# ------------------------------------------------------------------------------------- collision


def _mask(tops, run_width, length, height, thickness) -> np.ndarray:
    """Paint the ground as the specification words it: bands, and walls between them."""
    ground = np.repeat(tops, run_width)[:length].astype(int)
    mask = np.zeros((height, length), bool)
    for x in range(length):
        mask[ground[x] : ground[x] + thickness, x] = True
        before = ground[max(x - 1, 0)]
        mask[min(before, ground[x]) : max(before, ground[x]), x] = True
    return mask


class _Reference:
    """The rules of movement on a painted mask, pixel by pixel."""

    def __init__(self, made, tops):
        self.made = made
        layout = made.layout
        self.mask = _mask(tops, layout.run_width, layout.length, made.H, layout.ground_thickness)
        self.half = made.character.width // 2, made.character.height // 2
        self.vx, self.vy = np.float32(0), np.float32(0)
        self.coyote, self.grounded = 0, False

    def hits(self, x, y) -> bool:
        wide, tall = self.half
        rows = slice(max(y - tall, 0), y + tall + 1)
        return self.mask[rows, max(x - wide, 0) : x + wide + 1].any()

    def step(self, action):
        physics, (wide, tall) = self.made.physics, self.half
        height, length = self.mask.shape
        columns = slice(max(self.x - wide, 0), self.x + wide + 1)
        below = [min(self.y + tall + reach, height - 1) for reach in (1, 2)]
        contact = any(self.mask[row, columns].any() for row in below)
        grounded = contact and self.vy >= 0
        self.coyote = 0 if grounded else min(self.coyote + 1, physics.coyote_time + 1)
        if action & 4 and self.coyote <= physics.coyote_time:
            self.vy, grounded = np.float32(physics.jump_force), False
            self.coyote = physics.coyote_time + 1
        keep = physics.ground_friction if grounded else physics.air_resistance
        gain = physics.ground_accel if grounded else physics.air_accel
        towards = np.float32(bool(action & 2)) - np.float32(bool(action & 1))
        self.vx = np.clip(
            self.vx * np.float32(keep) + np.float32(gain) * towards,
            np.float32(-physics.move_speed), np.float32(physics.move_speed),
        )  # fmt: skip
        self.vy = min(self.vy + np.float32(physics.gravity), np.float32(physics.max_fall_speed))
        to_x = int(np.rint(np.clip(self.x + self.vx, wide, length - 1 - wide)))
        to_y = int(np.rint(np.clip(self.y + self.vy, tall, height - 1 - tall)))
        x, y = to_x, to_y
        while x != self.x and self.hits(x, self.y):
            x += int(np.sign(self.x - x))
        while y != self.y and self.hits(x, y):
            y += int(np.sign(self.y - y))
        self.vx = self.vx if x == to_x else np.float32(0)
        self.vy = self.vy if y == to_y else np.float32(0)
        self.x, self.y, self.grounded = x, y, grounded


BODIES = [
    {},
    {"layout": {"run_width": 1}, "physics": {"move_speed": 3, "ground_accel": 3}},
    {
        "layout": {"run_width": 7, "ground_thickness": 1},
        "physics": {"move_speed": 8, "air_accel": 8},
    },
    {"character": {"width": 3, "height": 4}, "layout": {"run_width": 2, "ground_thickness": 6}},
    {"character": {"width": 30, "height": 9}, "layout": {"run_width": 13}},
    {"character": {"width": 21, "height": 31}, "layout": {"run_width": 60, "pix_per_unit": 1}},
    {"physics": {"move_speed": 2.5, "jump_force": -10, "gravity": 0.3, "max_fall_speed": 10}},
]


@pytest.mark.parametrize("changes", BODIES)
def test_movement_equals_a_painted_mask_for_every_allowed_size(changes):
    made = config({"layout": {"length": 640}}, changes)
    states, lanes, steps = start(made, count=4), 4, 160
    draw = np.random.default_rng(5)
    actions = draw.choice([0, 1, 2, 2, 2, 6, 6, 5, 4], (steps, lanes))
    env, params = built(made)

    @jax.jit
    def trace(states):
        def body(states, action):
            states, _ = jax.vmap(env.step, (0, 0, None))(states, action, params)
            return states, states.latent._replace(tops=jnp.zeros(()))

        return jax.lax.scan(body, states, jnp.asarray(actions, jnp.int32))[1]

    seen = jax.tree.map(np.asarray, trace(states))
    for lane in range(lanes):
        reference = _Reference(made, np.asarray(states.latent.tops[lane]))
        reference.x, reference.y = (int(part[lane]) for part in (states.latent.x, states.latent.y))
        assert not reference.hits(reference.x, reference.y), "starts in free space"
        for t in range(steps):
            reference.step(int(actions[t, lane]))
            found = (seen.x[t, lane], seen.y[t, lane], seen.grounded[t, lane], seen.coyote[t, lane])
            assert found == (reference.x, reference.y, reference.grounded, reference.coyote), t
            assert abs(seen.vx[t, lane] - reference.vx) < 1e-5
            assert abs(seen.vy[t, lane] - reference.vy) < 1e-5
            reference.vx, reference.vy = seen.vx[t, lane], seen.vy[t, lane]


class _General(Dynamics):
    """The same dynamics without the closed form."""

    has_closed_form = False


@jax.jit
def _both_forms(key, control):
    closed = built(BASE)[0].dynamics
    assert closed.has_closed_form
    general = _General(**{f.name: getattr(closed, f.name) for f in dataclasses.fields(closed)})
    tops = level.generate(key, control, 82)
    actions = jax.random.choice(key, jnp.array([0, 1, 2, 2, 6, 6, 4]), (300,))

    def run(dynamics):
        first = dynamics.spawn(tops, control, {})
        return jax.lax.scan(
            lambda latent, action: (lambda after: (after, after[1:9]))(
                dynamics.transition(latent, action, control)[0]
            ),
            first,
            actions,
        )[1]

    return run(closed), run(general)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31 - 1),
    thickness=st.integers(1, 10),
    jump=st.floats(-10, 0, width=32),
    gravity=st.floats(0.125, 1, width=32),
    fall=st.floats(0.125, 10, width=32),
    largest=st.integers(5, 30),
)
def test_closed_form_of_collision_equals_the_general_one(
    seed, thickness, jump, gravity, fall, largest
):
    _, params = built(BASE)
    control = {name: ends[0] for name, ends in params.control.items()}
    control |= {
        "layout.ground_thickness": jnp.float32(thickness),
        "layout.max_step_height": jnp.float32(largest),
        "physics.jump_force": jnp.float32(jump),
        "physics.gravity": jnp.float32(gravity),
        "physics.max_fall_speed": jnp.float32(fall),
    }
    closed, general = _both_forms(jax.random.key(seed), control)
    for one, other in zip(closed, general, strict=True):
        assert np.array_equal(one, other)
