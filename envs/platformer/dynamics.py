"""The platformer's latent dynamics: movement, collision, rewards. Nothing here can see a picture.

Rows grow downward. The agent's box is inclusive on both sides: columns [x - w//2, x + w//2], rows
[y - h//2, y + h//2]. Positions are snapped to whole pixels after every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from envs.core import Outcome
from envs.platformer.level import column_top, solid_rows

GROUND_REACH = 2  # px below the box in which ground still carries the agent
SPAWN_X, SPAWN_STEP, SPAWN_TRIES = 64, 20, 20
MAX_ROWS = 10  # px the agent can move vertically in one step (the range of jump and fall speeds)

LEFT, RIGHT, JUMP = 1, 2, 4  # bits of an action
LOOK_AHEAD = 8  # steps; how early a runner jumps, so that it is at its highest before a wall


class Latent(NamedTuple):
    """Everything that decides rewards (under 300 bytes)."""

    tops: jax.Array  # i16[segments]; top row of the ground
    x: jax.Array  # i32[]; centre of the box
    y: jax.Array  # i32[]
    vx: jax.Array  # f32[]; px/step, after collision
    vy: jax.Array  # f32[]
    grounded: jax.Array  # bool[]; contact before the last move
    coyote: jax.Array  # i32[]; steps since the last contact, capped at coyote_time + 1
    t: jax.Array  # i32[]; steps taken
    spawn_x: jax.Array  # i32[]
    x_max: jax.Array  # i32[]; furthest column so far
    jumps: jax.Array  # i32[]; steps with the jump button down
    reached: jax.Array  # bool[]; the success distance was reached at some step
    vx_sum: jax.Array  # f32[]
    vy_sum: jax.Array  # f32[]
    drawn: dict[str, jax.Array]  # control parameters given as ranges: this episode's values, f32[]


@dataclass(frozen=True)
class Dynamics:
    """The static part of the dynamics."""

    horizon: int
    screen_height: int
    length: int  # px
    run_width: int  # px
    body_width: int  # px
    body_height: int  # px
    max_columns: int  # px the agent can move horizontally in one step

    @property
    def half(self) -> tuple[int, int]:
        return self.body_width // 2, self.body_height // 2

    @property
    def has_closed_form(self) -> bool:
        """Whether a box touches two segments at most and can never get below the ground's shell."""
        half_width, half_height = self.half
        return (
            self.run_width > 2 * half_width
            and self.max_columns == 1
            and 2 * half_height >= MAX_ROWS
        )

    # ------------------------------------------------------------------------------- collision

    def highest_ground(self, tops: jax.Array, x: jax.Array) -> jax.Array:
        """Return the highest ground row (i32) under a box at column x, walls included."""
        half_width, _ = self.half
        left = column_top(tops, x - half_width - 1, self.run_width, self.length)
        right = column_top(tops, x + half_width, self.run_width, self.length)
        return jnp.minimum(left, right)

    def _box_rows(self, tops, x, thickness) -> tuple[jax.Array, jax.Array]:
        half_width, _ = self.half
        columns = x + jnp.arange(-half_width, half_width + 1)
        return solid_rows(tops, columns, thickness, self.run_width, self.length)

    def collides(self, tops: jax.Array, x: jax.Array, y: jax.Array, thickness) -> jax.Array:
        """Return whether a box at (x, y) overlaps the ground, bool[]. Right for every level."""
        _, half_height = self.half
        first, end = self._box_rows(tops, x, thickness)
        return jnp.any((first <= y + half_height) & (end > y - half_height))

    def touches_ground(self, tops: jax.Array, x: jax.Array, y: jax.Array, thickness) -> jax.Array:
        """Return whether ground lies within GROUND_REACH rows below the box, bool[]."""
        _, half_height = self.half
        if self.has_closed_form:
            return self.highest_ground(tops, x) - y <= half_height + GROUND_REACH
        first, end = self._box_rows(tops, x, thickness)
        below = y + half_height + 1 + jnp.arange(GROUND_REACH)[:, None]
        below = jnp.minimum(below, self.screen_height - 1)
        return jnp.any((first <= below) & (below < end))

    def move(self, tops, x, y, to_x, to_y, thickness) -> tuple[jax.Array, jax.Array]:
        """Return where a box ends that moves from (x, y) towards (to_x, to_y), i32[] each.

        Columns are resolved first, at the old row; then rows, at the resolved column. A blocked
        move backs off pixel by pixel towards where it came from.
        """
        _, half_height = self.half
        if self.has_closed_form:
            blocked = (to_x != x) & (self.highest_ground(tops, to_x) <= y + half_height)
            new_x = jnp.where(blocked, x, to_x)
            lowest = self.highest_ground(tops, new_x) - half_height - 1
            new_y = jnp.where(to_y > y, jnp.maximum(y, jnp.minimum(to_y, lowest)), to_y)
            return new_x, new_y
        new_x = _back_off(lambda c: self.collides(tops, c, y, thickness), x, to_x, self.max_columns)
        new_y = _back_off(lambda r: self.collides(tops, new_x, r, thickness), y, to_y, MAX_ROWS)
        return new_x, new_y

    # ------------------------------------------------------------------------------ transitions

    def run_and_jump(self, latent: Latent, control: dict[str, jax.Array]) -> jax.Array:
        """Return the action of a runner that sees the ground, i32[]: right, and a jump where a wall
        is LOOK_AHEAD steps away or less and a jump works."""
        half_width, half_height = self.half
        columns = latent.x + half_width + 1 + jnp.arange(LOOK_AHEAD * self.max_columns)
        ahead = column_top(latent.tops, columns, self.run_width, self.length).min()
        thickness = control["layout.ground_thickness"]
        contact = self.touches_ground(latent.tops, latent.x, latent.y, thickness)
        able = (contact & (latent.vy >= 0)) | (latent.coyote < control["physics.coyote_time"])
        jumps = (ahead <= latent.y + half_height) & able
        return jnp.where(jumps, RIGHT + JUMP, RIGHT).astype(jnp.int32)

    def spawn(self, tops: jax.Array, control: dict[str, jax.Array], drawn: dict) -> Latent:
        """Return the first state on a level with the given segment tops."""
        half_width, half_height = self.half
        x = jnp.clip(
            SPAWN_X + SPAWN_STEP * jnp.arange(SPAWN_TRIES), half_width, self.length - 1 - half_width
        )
        y = column_top(tops, x, self.run_width, self.length) - half_height - 2
        thickness = control["layout.ground_thickness"]
        taken = jax.vmap(self.collides, (None, 0, 0, None))(tops, x, y, thickness)
        first = jnp.argmin(taken)  # the first free candidate
        nothing, zero = jnp.zeros((), bool), jnp.zeros((), jnp.int32)
        still = jnp.zeros((), jnp.float32)
        x, y = x[first], y[first]
        return Latent(
            tops=tops, x=x, y=y, vx=still, vy=still, grounded=nothing, coyote=zero, t=zero,
            spawn_x=x, x_max=x, jumps=zero, reached=nothing, vx_sum=still, vy_sum=still,
        drawn=drawn, )  # fmt: skip

    def transition(
        self, latent: Latent, action: jax.Array, control: dict[str, jax.Array]
    ) -> tuple[Latent, Outcome]:
        """Advance one step. `action` is i32[], a bit mask of LEFT, RIGHT and JUMP."""
        physics = {name.removeprefix("physics."): control[name] for name in control}
        thickness = control["layout.ground_thickness"]
        half_width, half_height = self.half
        pressed = (action & JUMP) != 0
        direction = ((action & RIGHT) != 0).astype(jnp.float32) - ((action & LEFT) != 0)

        contact = self.touches_ground(latent.tops, latent.x, latent.y, thickness)
        grounded = contact & (latent.vy >= 0)
        patience = physics["coyote_time"].astype(jnp.int32)
        coyote = jnp.where(grounded, 0, jnp.minimum(latent.coyote + 1, patience + 1))
        jumps = pressed & (coyote <= patience)
        vy = jnp.where(jumps, physics["jump_force"], latent.vy)
        grounded = grounded & ~jumps
        coyote = jnp.where(jumps, patience + 1, coyote)

        kept = jnp.where(grounded, physics["ground_friction"], physics["air_resistance"])
        gained = jnp.where(grounded, physics["ground_accel"], physics["air_accel"])
        speed = physics["move_speed"]
        vx = jnp.clip(latent.vx * kept + gained * direction, -speed, speed)
        vy = jnp.minimum(vy + physics["gravity"], physics["max_fall_speed"])

        to_x = jnp.clip(latent.x + vx, half_width, self.length - 1 - half_width)
        to_y = jnp.clip(latent.y + vy, half_height, self.screen_height - 1 - half_height)
        to_x, to_y = jnp.rint(to_x).astype(jnp.int32), jnp.rint(to_y).astype(jnp.int32)
        x, y = self.move(latent.tops, latent.x, latent.y, to_x, to_y, thickness)
        vx, vy = jnp.where(x != to_x, 0.0, vx), jnp.where(y != to_y, 0.0, vy)

        after = latent._replace(
            x=x, y=y, vx=vx, vy=vy, grounded=grounded, coyote=coyote, t=latent.t + 1,
            x_max=jnp.maximum(latent.x_max, x), jumps=latent.jumps + pressed,
            reached=latent.reached | (x - latent.spawn_x >= control["dist_to_success"]),
            vx_sum=latent.vx_sum + vx, vy_sum=latent.vy_sum + vy,
        )  # fmt: skip
        outcome = Outcome(
            reward=_reward(latent, x, pressed, control),
            terminated=jnp.zeros((), bool),
            truncated=after.t >= self.horizon,
            metrics=_metrics(after, control),
        )
        return after, outcome


def _back_off(collides, start: jax.Array, target: jax.Array, most: int) -> jax.Array:
    """Return the first free position from `target` back to `start`, at most `most` px away."""
    towards = jnp.sign(start - target)
    candidates = target + towards * jnp.minimum(jnp.arange(most + 1), jnp.abs(start - target))
    free = ~jax.vmap(collides)(candidates) | (candidates == start)
    return candidates[jnp.argmax(free)]


def _reward(before: Latent, x: jax.Array, pressed: jax.Array, control: dict) -> jax.Array:
    """f32[]: new ground gained, less the jump button, time and standing still, left to right."""
    gained = jnp.maximum(0, x - before.x_max).astype(jnp.float32)
    reward = control["forward_reward_scale"] * gained
    reward = reward - jnp.where(pressed, control["jump_penalty"], 0.0)
    reward = reward - control["timestep_penalty"]
    return reward - jnp.where(x == before.x, control["idle_penalty"], 0.0)


def _metrics(latent: Latent, control: dict) -> dict[str, jax.Array]:
    """Name -> f32[] of the state after a step (see `METRICS` in `env` for what they mean)."""
    distance = (latent.x - latent.spawn_x).astype(jnp.float32)
    goal = control["dist_to_success"]
    steps = latent.t.astype(jnp.float32)
    return {
        "distance": distance,
        "progress": jnp.where(goal > 0, distance / jnp.where(goal > 0, goal, 1.0), 0.0),
        "success": (distance >= goal).astype(jnp.float32),
        "success_once": latent.reached.astype(jnp.float32),
        "jumps": latent.jumps.astype(jnp.float32),
        "x": latent.x.astype(jnp.float32),
        "y": latent.y.astype(jnp.float32),
        "vx_mean": latent.vx_sum / steps,
        "vy_mean": latent.vy_sum / steps,
    }
