"""How many programs the published pairs need, and how small a state is."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from platformer_helpers import BASE, IMAGE, SKIN, built, config

from envs.platformer import PlatformerConfig


def published_sides() -> list[PlatformerConfig]:
    """Return the training and the held-out configuration of each of the 34 published pairs."""

    def agent(shape="circle", color="teal"):
        return {"character": {"shape_types": [shape], "shape_colors": [color]}}

    def colors(*names):
        return {"background": {"mode": "color", "color_names": list(names)}}

    def pictures(*names):
        return {"background": {"mode": "image", "image_paths": [f"bg-{name}" for name in names]}}

    def circles(count):
        return {
            "distractors": {
                "enabled": True, "count": count, "shape_types": ["circle"],
                "shape_colors": ["teal"], "min_size": 16, "max_size": 16,
            }
        }  # fmt: skip

    def skins(*names):
        return {"character": {**SKIN["character"], "sprite_paths": list(names)}}

    lit = {"effects": {"point_light_enabled": True}}
    one = ["skeleton"]
    pairs = [
        ((), (agent("line"),)),
        ((), (agent(color="pink"),)),
        ((), (agent("line", "pink"),)),
        ((), (SKIN,)),
        ((SKIN,), (skins("clown"),)),
        ((), ({"background": {"mode": "noise"}},)),
        ((), (colors("purple"),)),
        ((), (colors("purple", "lime", "indigo"),)),
        ((colors("red", "green", "blue"),), (colors("purple", "lime", "indigo"),)),
        ((), ({"background": {"mode": "image"}},)),
        ((pictures(1),), (pictures(128),)),
        ((pictures(1, 2, 3),), (pictures(128),)),
        ((SKIN,), (SKIN, colors("purple"))),
        ((SKIN, pictures(1)), (SKIN, pictures(128))),
        ((SKIN, pictures(1, 2, 3)), (SKIN, pictures(128))),
        ((SKIN,), (SKIN, {"npc": {"enabled": True, "sprite_paths": one}})),
        ((SKIN,), (SKIN, {"npc": {"enabled": True}})),
        ((SKIN,), (SKIN, {"npc": {"sticky_enabled": True, "sticky_sprite_paths": one}})),
        ((SKIN,), (SKIN, {"npc": {"sticky_enabled": True}})),
        ((), (circles(7),)),
        ((), (agent(color="indigo"), circles(1))),
        ((SKIN, IMAGE), (SKIN, IMAGE, lit, {"effects": {"point_light_intensity": 0.5}})),
        ((SKIN, IMAGE), (SKIN, IMAGE, lit, {"effects": {"point_light_falloff": 4}})),
        ((SKIN, IMAGE), (SKIN, IMAGE, lit)),
        ((), ({"layout": {"layout_colors": ["red"]}},)),
    ]
    for name, value in {
        "brightness": 1.0, "contrast": 128, "saturation": 0, "hue_shift": 180,
        "color_jitter_std": 2.0, "gaussian_noise_std": 100, "pixelate_factor": 3,
        "vignette_strength": 10, "radial_light_strength": 1.0,
    }.items():  # fmt: skip
        pairs.append(((SKIN, IMAGE), (SKIN, IMAGE, {"filters": {name: value}})))
    return [config(*changes) for pair in pairs for changes in pair]


def _program(made: PlatformerConfig):
    env, params = built(made)
    leaves, structure = jax.tree.flatten(params)
    return env, structure, tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves)


def test_the_published_pairs_need_few_compiled_programs():
    sides = published_sides()
    assert len(sides) == 68
    assert len({_program(made) for made in sides}) <= 12


def test_the_state_of_an_environment_is_small():
    everything = config(
        SKIN,
        {"background": {"mode": "image"}, "effects": {"point_light_enabled": True}},
        {"npc": {"enabled": True, "sticky_enabled": True}, "distractors": {"enabled": True}},
        {"filters": {"pop_filter_list": ["noir"], "vignette_strength": 1.0}},
    )
    for made in (BASE, everything):
        env, params = built(made)
        state = jax.eval_shape(env.reset, jax.random.key(0), params)
        size = sum(
            16
            if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
            else leaf.size * leaf.dtype.itemsize
            for leaf in jax.tree.leaves(state)
        )
        assert size < 1024
