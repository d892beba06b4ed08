"""What a pair claims, proved by playing both sides: see `audit_rollouts`."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from protocols.audit.declared import visual_only
from protocols.pair import Pair
from protocols.playing import Played, Solved, differs_from, play

# Pictures are compared at these steps; what a later state changes is looked at LATER steps on.
TIMES = (0, 2, 4, 12, 30, 70, 150, 300)
LATER = 8
WATCHED = 4  # episodes per script of which pictures are compared
FLOOR = 0.1  # share of episodes that a script must solve for a side to count as solvable
SHORTFALL = 0.1  # and how much less than in training, before there is a warning
FAINT = 0.25  # share of the training side's contrast below which a state counts as hidden
MOSTLY = 0.9  # share of states that must be visible, else there is a warning


@dataclass(frozen=True)
class Shown:
    """How well pictures tell latent states apart, by what a later latent changes in a picture."""

    share: float  # of states: at least FAINT of the training side's contrast, and above the noise
    contrast: float  # mean grey levels over the pixels that change; median of the states
    usual: float  # the same on the training side
    noise: float  # grey levels that re-drawn noise changes in those pixels


@dataclass(frozen=True)
class SideProof:
    """What playing one held-out side beside its training side showed."""

    side: str
    visual: bool | None  # declared to change pictures only; None: undeclared
    differs_at: int | None  # first step with other latents or outcomes (0: the reset); None: never
    has_latent: bool  # whether latents were compared, or outcomes only
    solved: Solved | None  # by the best script
    solved_train: Solved | None
    shown: Shown | None  # None: the environment does not separate latent and scene
    failures: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Seen:
    """What is remembered of one side: how it was played, and what its pictures show."""

    played: Played
    pictures: str  # digest
    contrast: np.ndarray | None  # f32[states]; see `Shown`
    noise: np.ndarray | None  # f32[states]


def audit_rollouts(pair: Pair, memory: dict[str, Seen] | None = None) -> tuple[SideProof, ...]:
    """Play every side of a pair with scripted policies and return what that proves, side by side.

    A side fails where it is inert (scripts that try something see the same pictures and meet the
    same states), where it is declared to change pictures only and changes the task, or where no
    script solves it although one solves the training side (only a warning where the pair has a
    note). A widening is judged as seen from both training sides; sides equal to the training side
    are left out.

    Args:
        memory: what is known of sides by digest; give one dictionary to all calls for a suite.
    """
    memory = {} if memory is None else memory

    def seen(config: Any) -> Seen:
        key = f"{pair.metric} {config.digest}"
        if key not in memory:
            memory[key] = _look(play(config, metric=pair.metric, times=_all_times()))
        return memory[key]

    proofs = [
        _prove(pair, side, visual_only(pair.train, config), seen(pair.train), seen(config))
        for side, config in pair.heldout.items()
        if pair.difference(side)
    ]
    if pair.widened is not None:
        proofs += [
            dataclasses.replace(proof, side=f"{proof.side}, before {pair.wide_name}")
            for proof in audit_rollouts(pair.widened, memory)
        ]
    return tuple(proofs)


def _prove(pair: Pair, side: str, visual: bool | None, train: Seen, other: Seen) -> SideProof:
    played = other.played
    differs_at = differs_from(train.played, played, played.scripts)
    shown = _shown(train, other, same_states=differs_at is None)
    failures, warnings = [], []
    met = differs_from(train.played, played, played.deliberate)
    if met is None and train.pictures == other.pictures:
        which = ", ".join(played.deliberate)
        more = "" if differs_at is None else f"; only {_noticing(train.played, played)} notices"
        failures.append(f"inert: nothing that {which} sees or meets differs{more}")
    if visual and differs_at is not None:
        failures.append(f"changes the task (step {differs_at}), though only pictures may differ")
    problem, fails = _unsolved(train.played.best, played.best, pair.note)
    if problem:
        (failures if fails else warnings).append(problem)
    if shown is not None and shown.share < MOSTLY:
        warnings.append(_hidden(shown))
    return SideProof(
        side=side,
        visual=visual,
        differs_at=differs_at,
        has_latent=played.has_latent,
        solved=played.best,
        solved_train=train.played.best,
        shown=shown,
        failures=tuple(failures),
        warnings=tuple(warnings),
    )


def _noticing(left: Played, right: Played) -> str:
    found = [name for name in right.scripts if differs_from(left, right, (name,)) is not None]
    return ", ".join(found)


def _unsolved(train: Solved | None, other: Solved | None, note: str) -> tuple[str, bool]:
    """Return what is wrong with a side's solvability, and whether that is a failure."""
    if train is None or other is None:
        return "solvability unknown: no metric counts successes", False
    scores = f"{other} ({train.count} in training)"
    said = ", as its note says" if note else ""
    if other.share >= FLOOR:
        less = other.share < train.share - SHORTFALL
        return (f"solvable in part{said}: {scores}" if less else ""), False
    if train.share < FLOOR:
        return f"solvability unknown: {scores}", False
    return f"may be impossible{said}: {scores}", not note


def _hidden(shown: Shown) -> str:
    values = f"contrast {shown.contrast:.0f}, training {shown.usual:.0f}"
    noise = f", noise {shown.noise:.0f}" if shown.noise else ""
    return (
        f"hard to see: a move stands out in {100 * shown.share:.0f} % of states ({values}{noise})"
    )


# ---------------------------------------------------------------------------------- pictures


def _all_times() -> tuple[int, ...]:
    return (*TIMES, *(time + LATER for time in TIMES), 1)


def _look(played: Played) -> Seen:
    """Return what is worth remembering of a side that was played; its states are dropped."""
    pairs = [(t, t + LATER) for t in TIMES if t + LATER in played.times] or [(0, 1)]
    cells = [
        (script, episode)
        for script in played.deliberate
        for episode in range(min(WATCHED, played.episodes))
    ]
    now = played.states([(first, *cell) for first, _ in pairs for cell in cells])
    later = played.states([(last, *cell) for _, last in pairs for cell in cells])
    base = played.pictures(now)
    total = hashlib.sha256(base.tobytes())
    contrast = noise = None
    if hasattr(now, "latent") and hasattr(now, "key"):
        moved = _difference(base, played.pictures(now._replace(latent=_as_of(now, later))))
        other = jnp.roll(now.key, 1)  # another episode's: what is drawn anew in every step changes
        redrawn = _difference(base, played.pictures(now._replace(key=other)))
        contrast = np.array([_mean(change, change > 0) for change in moved])
        noise = np.array(
            [_mean(change, place > 0) for change, place in zip(redrawn, moved, strict=True)]
        )
    rest = dataclasses.replace(played, params=None, kept=None)
    return Seen(rest, total.hexdigest(), contrast, noise)


def _as_of(now: Any, later: Any) -> Any:
    """Return the later latents with the clock of now, so that no noise is drawn anew."""
    if hasattr(later.latent, "t"):
        return later.latent._replace(t=now.latent.t)
    return later.latent


def _difference(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return by how much pictures differ, the channel that differs most: f32[N, ...]."""
    apart = np.abs(left.astype(np.float32) - right.astype(np.float32))
    return apart.max(-1) if apart.ndim == 4 else apart


def _mean(values: np.ndarray, where: np.ndarray) -> float:
    return float(values[where].mean()) if where.any() else 0.0


def _shown(train: Seen, other: Seen, *, same_states: bool) -> Shown | None:
    """Compare contrasts; states that training does not show to change either are left out."""
    if train.contrast is None or other.contrast is None:
        return None
    if same_states:
        counted = train.contrast > 0
        usual, contrast, noise = (
            values[counted] for values in (train.contrast, other.contrast, other.noise)
        )
    else:
        counted = other.contrast > 0
        contrast, noise = other.contrast[counted], other.noise[counted]
        usual = train.contrast[train.contrast > 0]
        usual = np.full(len(contrast), np.median(usual)) if len(usual) else usual
    if not len(usual) or not len(contrast):
        return Shown(0.0, 0.0, 0.0, 0.0)
    visible = contrast >= np.maximum(FAINT * usual, noise)
    return Shown(
        float(visible.mean()),
        float(np.median(contrast)),
        float(np.median(usual)),
        float(np.median(noise)),
    )
