"""KAGE-Bench's own YAML files as configurations: `load_kage(path)` returns (config, notes).

Groups and names are the same here, so most of a file carries over as it stands. What is translated:

- physics under its internal names (`max_speed_x`, `jump_velocity`, `terminal_velocity`), which win
  over the legacy ones, as they do there;
- single sources (`image_path`, `sprite_path`, `sticky_sprite_path`, `sticky_sprite_dirs`) become
  pools;
- paths into its assets: images `bg-N` and skins are ours of the same name; give `images` or
  `sprites`, folders of yours, to use pictures from there under their original names;
- settings that have no effect there are left out or, where they work here, kept; each is noted.

Absent keys take the values of the benchmark's base configuration, not of KAGE's code.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from envs.errors import InputError
from envs.platformer.config import PlatformerConfig
from envs.platformer.images import BUNDLED, SUFFIXES

LEGACY = {
    "max_speed_x": "move_speed",
    "jump_velocity": "jump_force",
    "terminal_velocity": "max_fall_speed",
}
INERT = {
    "filters": ("jpeg_quality", "seed", "pop_filter"),
    "character": ("fallback_color",),
    "npc": ("sticky_y_randomize",),
}
# (group, names of single or alternative sources, our pool)
POOLS = (
    ("background", ("image_paths", "image_path"), "image_paths"),
    ("character", ("sprite_paths", "sprite_path"), "sprite_paths"),
    ("npc", ("sprite_paths", "sprite_path"), "sprite_paths"),
    ("npc", ("sticky_sprite_dirs", "sticky_sprite_path"), "sticky_sprite_paths"),
)
FOLDERS = (
    ("background", "image_dir", "backgrounds"),
    ("character", "sprite_dir", "sprites"),
    ("npc", "sprite_dir", "sprites"),
    ("npc", "sticky_sprite_dir", "sprites"),
)
LARGEST_BLUR = 2.5


def load_kage(
    source: str | Path | Mapping[str, Any], *, images: str | Path | None = None,
    sprites: str | Path | None = None,
) -> tuple[PlatformerConfig, list[str]]:  # fmt: skip
    """Return the configuration of a KAGE-Bench YAML file, and notes on what differs here.

    Args:
        source: a file, or its content as a mapping.
        images: folder that stands for KAGE's folder of backgrounds; ours when None.
        sprites: folder that stands for KAGE's folder of skins; ours when None.

    Raises:
        InputError: unreadable file; unknown key or name; value out of range; missing asset.
    """
    values = copy.deepcopy(dict(source)) if isinstance(source, Mapping) else _read(Path(source))
    values = {name: {} if content is None else content for name, content in values.items()}
    notes: list[str] = []
    _drop_inert(values, notes)
    _physics(values, notes)
    own = {"backgrounds": images, "sprites": sprites}
    _sources(values, own)
    _corrections(values, notes)
    if "H" in values and "height_px" not in values.get("layout", {}):
        values.setdefault("layout", {})["height_px"] = values["H"]
    config = PlatformerConfig.from_dict(values)
    notes += _without_effect(values, config)
    return config, notes


def _read(file: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{file}: not a readable YAML file ({error})") from None
    if not isinstance(values, dict):
        raise InputError(f"{file}: expected a mapping of parameters, got {type(values).__name__}")
    return values


def _drop_inert(values: dict, notes: list[str]) -> None:
    for group, names in INERT.items():
        for name in names:
            if name in values.get(group, {}):
                del values[group][name]
                notes.append(f"{group}.{name}: left out, it has no effect in KAGE-Bench either")


def _physics(values: dict, notes: list[str]) -> None:
    physics = values.get("physics", {})
    for internal, legacy in LEGACY.items():
        if internal in physics:
            if legacy in physics:
                notes.append(f"physics.{legacy}: overridden by physics.{internal}")
            physics[legacy] = physics.pop(internal)
    reach = physics.pop("ground_snap_dist", 2)
    if reach != 2:
        raise InputError(f"physics.ground_snap_dist: only 2 is supported, got {reach!r}")


def _sources(values: dict, own: dict[str, str | Path | None]) -> None:
    """Turn paths of images and skins into names of ours, or paths below the user's folders."""
    for group, folder, kind in FOLDERS:
        content = values.get(group, {})
        if folder in content:
            content[folder] = _folder(content[folder], kind, own[kind])
    for group, names, pool in POOLS:
        content = values.get(group, {})
        given = [content.pop(name) for name in names if content.get(name) is not None]
        for name in names:
            content.pop(name, None)
        if given:
            members = [given[0]] if isinstance(given[0], str) else list(given[0])
            kind = "backgrounds" if group == "background" else "sprites"
            content[pool] = [_member(member, kind, own[kind]) for member in members]


def _folder(path: Any, kind: str, own: str | Path | None) -> str:
    if not isinstance(path, str):
        return BUNDLED
    theirs = Path(path).name == kind and not Path(path).is_dir()
    return (str(own) if own else BUNDLED) if theirs else path


def _member(path: str, kind: str, own: str | Path | None) -> str:
    name = Path(path).name
    if own is not None:
        return str(Path(own) / name)
    if Path(path).exists():
        return path
    if kind == "backgrounds" and Path(name).suffix.lower() in (*SUFFIXES, ".webp"):
        name = Path(name).stem
    return re.sub(r"^bg[-_]?0*(\d+)$", r"bg-\1", name)


def _corrections(values: dict, notes: list[str]) -> None:
    """Carry over what KAGE-Bench accepts but does not do, and note it."""
    filters, some = values.get("filters", {}), values.get("distractors", {})
    blur = filters.get("blur_sigma", 0)
    if isinstance(blur, (int, float)) and blur > LARGEST_BLUR:
        filters["blur_sigma"] = LARGEST_BLUR
        notes.append(f"filters.blur_sigma: {blur} looks like {LARGEST_BLUR}, which is used")
    if filters.get("pop_filter_list", []) is None:
        filters["pop_filter_list"] = []
    if some.get("enabled") and some.get("count") == 0:
        some["enabled"], some["count"] = False, 1
        notes.append("distractors.count: 0 switches them off here, it fails in KAGE-Bench")
    if some.get("enabled"):
        if some.get("min_speed"):
            notes.append("distractors.min_speed: works here, KAGE-Bench ignores it")
        if some.get("can_rotate", True):
            notes.append("distractors.*_rotation_speed: degrees here, KAGE-Bench turns by radians")
    colors = values.get("layout", {}).get("layout_colors")
    if isinstance(colors, list) and len(colors) > 1:
        notes.append("layout.layout_colors: one is drawn here, KAGE-Bench always takes the last")
    for name in [colors] if isinstance(colors, str) else colors or []:
        if name in ("black", "gray"):
            notes.append(f"layout.layout_colors: {name} is meant, KAGE-Bench paints (80, 80, 80)")


def _without_effect(values: dict, config: PlatformerConfig) -> list[str]:
    """Name the settings without effect in this configuration that differ from the base."""
    effective, usual = config.effective(), PlatformerConfig().to_dict()
    implied = {"use_shape", "height_px", "image_dir", "sprite_dir", "sticky_sprite_dir"}
    names = [
        f"{group}.{name}"
        for group, content in values.items()
        if isinstance(content, dict)
        for name, value in content.items()
        if name not in implied and f"{group}.{name}" not in effective
        and value != usual[group][name] and [value] != usual[group][name]
    ]  # fmt: skip
    return [f"no effect in this configuration: {', '.join(names)}"] if names else []
