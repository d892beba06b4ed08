"""Axes of variation: which parameters a pair may change when it claims one axis."""

from __future__ import annotations

AXES: dict[str, tuple[str, ...]] = {
    "agent_appearance": (
        "character.shape_types",
        "character.shape_colors",
        "character.shape_rotate",
        "character.shape_rotation_speed",
        "character.use_sprites",
        "character.sprite_paths",
        "character.enable_animation",
        "character.animation_fps",
        "character.idle_sprite_idx",
    ),
    "background": ("background.",),
    "distractors": ("distractors.", "npc."),
    "effects": ("effects.",),
    "filters": ("filters.",),
    "layout": ("layout.layout_colors",),
    "images": ("images.",),
    "blank": ("blank_color",),
    "start": ("start.",),
    "gravity": ("physics.gravity",),
    "jump": ("physics.jump_force",),
    "steepness": ("layout.min_step_height", "layout.max_step_height"),
}

# These change the task itself; along all others the same actions lead to the same rewards.
CONTROL = ("start", "gravity", "jump", "steepness")


def covers(axis: str, path: str) -> bool:
    """Return whether parameter `path` belongs to `axis` (entries ending in a dot cover a group)."""
    return any(
        path.startswith(entry) if entry.endswith(".") else path == entry for entry in AXES[axis]
    )
