"""The platformer: run right over hills of steps, 128x128 pixels, eight actions, fixed length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from envs.core import Metric, Outcome
from envs.keys import LEVEL, SCENE, named_key
from envs.platformer import level, scene
from envs.platformer.blit import Atlas
from envs.platformer.dynamics import Dynamics, Latent
from envs.platformer.render import render
from envs.platformer.scene import Look, Pool, Scene

METRICS = (
    Metric("success", 1.0, (0.0, 1.0), binary=True, doc="the final distance reaches the goal"),
    Metric("distance", 490.0, unit="px", doc="final column minus the column of the start"),
    Metric("progress", 1.0, doc="distance over the distance of success, unclipped"),
    Metric("return", 2600.0, doc="undiscounted sum of rewards"),
    Metric("success_once", 1.0, (0.0, 1.0), binary=True, doc="the goal was reached at some step"),
)


class Params(NamedTuple):
    """The traced part of a configuration; numbers are [low, high], equal unless a range."""

    control: dict[str, jax.Array]  # path -> f32[2]
    visual: dict[str, jax.Array]  # path -> f32[2]
    pools: dict[str, Pool]
    light_colors: jax.Array  # f32[5, 3]
    presets: dict[str, jax.Array]  # name of a filter -> f32[presets]
    agent_rows: jax.Array | None  # i16[shapes, 2H, spans, 2]; upright shapes, see `render`
    images: jax.Array | None  # u32[images, H, width + W]; packed, repeated to the right
    skins: Atlas | None


class State(NamedTuple):
    latent: Latent  # what decides rewards
    scene: Scene  # what only shows
    key: jax.Array  # the episode's key


@dataclass(frozen=True)
class Platformer:
    """The static part of one platformer configuration (see `envs.core.Env` for the contract)."""

    dynamics: Dynamics
    look: Look
    ranged_control: tuple[str, ...] = ()  # parameters given as ranges, drawn once per episode
    ranged_visual: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()  # those of them that are whole numbers

    num_actions = 8
    metrics = METRICS
    scripts = (("noop", 0), ("right", 2), ("right-jump", 6))  # policies that repeat one action

    @property
    def horizon(self) -> int:
        return self.dynamics.horizon

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        return (self.look.height, self.look.width, 3)

    def reset(self, key: jax.Array, params: Params) -> State:
        """Start the episode of `key` on a level drawn from it."""
        level_key = jax.random.fold_in(key, LEVEL)
        drawn = self._draw_ranges(level_key, params.control, self.ranged_control)
        control = _resolve(params.control, drawn)
        count = level.segments(self.dynamics.length, self.dynamics.run_width)
        return self._start(key, level.generate(level_key, control, count), params, drawn)

    def reset_to(self, key: jax.Array, tops: jax.Array, params: Params) -> State:
        """Start on a given level: `tops` is the top row of each flat segment, int[segments]."""
        level_key = jax.random.fold_in(key, LEVEL)
        drawn = self._draw_ranges(level_key, params.control, self.ranged_control)
        return self._start(key, tops.astype(jnp.int16), params, drawn)

    def _start(self, key, tops, params: Params, drawn: dict) -> State:
        control = _resolve(params.control, drawn)
        latent = self.dynamics.spawn(tops, control, drawn)
        scene_key = jax.random.fold_in(key, SCENE)
        seen = self._draw_ranges(scene_key, params.visual, self.ranged_visual)
        values = _resolve(params.visual, seen)
        values["layout.base_ground_y"] = control["layout.base_ground_y"]
        drawing = scene.draw_scene(self.look, scene_key, params, values, latent)
        return State(latent, drawing._replace(drawn=seen), key)

    def step(self, state: State, action: jax.Array, params: Params) -> tuple[State, Outcome]:
        """Advance one step; `action` is i32[], a bit mask: 1 left, 2 right, 4 jump."""
        control = _resolve(params.control, state.latent.drawn)
        latent, outcome = self.dynamics.transition(state.latent, action, control)
        visual = _resolve(params.visual, state.scene.drawn)
        key = jax.random.fold_in(state.key, SCENE)
        moved = scene.advance(self.look, state.scene, key, latent, params, visual)
        return State(latent, moved, state.key), outcome

    def observe(self, state: State, params: Params) -> jax.Array:
        """Return the picture of one state, u8[H, W, 3]."""
        return self.observe_batch(jax.tree.map(lambda leaf: leaf[None], state), params)[0]

    def observe_batch(self, states: State, params: Params) -> jax.Array:
        """Return the pictures of N states, u8[N, H, W, 3]; the same as `vmap(observe)`, faster."""
        latent = states.latent
        count = latent.x.shape[0]

        def per_lane(table: dict, drawn: dict) -> dict[str, jax.Array]:
            fixed = {name: jnp.broadcast_to(ends[0], (count,)) for name, ends in table.items()}
            return {**fixed, **drawn}

        thickness = per_lane(
            {"layout.ground_thickness": params.control["layout.ground_thickness"]},
            {name: latent.drawn[name] for name in latent.drawn if name.endswith("_thickness")},
        )["layout.ground_thickness"]
        keys = jax.vmap(lambda key: jax.random.fold_in(key, SCENE))(states.key)
        values = per_lane(params.visual, states.scene.drawn)
        return render(self.look, latent, thickness, states.scene, keys, values, params)

    def oracle(self, state: State, params: Params) -> jax.Array:
        """Return the action of a runner that sees the ground ahead, i32[].

        It finishes 98 % of the default levels. It stands for what is possible, not for the optimum.
        """
        control = _resolve(params.control, state.latent.drawn)
        return self.dynamics.run_and_jump(state.latent, control)

    def _draw_ranges(self, key: jax.Array, table: dict, ranged: tuple[str, ...]) -> dict:
        """Draw this episode's value of every parameter that is a range, each with its own key."""

        def draw(name: str) -> jax.Array:
            low, high = table[name]
            own = named_key(key, name)
            if name not in self.whole:
                return jax.random.uniform(own, minval=low, maxval=high)
            whole = jax.random.randint(own, (), low.astype(int), high.astype(int) + 1)
            return whole.astype(jnp.float32)

        return {name: draw(name) for name in ranged}


def _resolve(table: dict[str, jax.Array], drawn: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Return f32[] per parameter: the fixed numbers, and what this episode drew for the ranges."""
    return {**{name: ends[0] for name, ends in table.items()}, **drawn}


def pad_pool(members: list[Any], length: int, dtype: Any) -> Pool:
    """Return a pool padded to `length` by repeating its last member."""
    padded = members + [members[-1]] * (length - len(members))
    return Pool(jnp.asarray(padded, dtype), jnp.int32(len(members)))
