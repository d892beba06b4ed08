"""An audit in words: two lines per pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from protocols.audit.declared import independent, is_bundled
from protocols.audit.rollouts import SideProof, Solved
from protocols.audit.support import dose_seen
from protocols.differences import declares
from protocols.pair import Pair

WIDTH = 100  # columns
FAIL, WARN, OK = "FAIL", "warn", "ok"
_MARGIN = 6  # columns before a pair's name
_NAME = 22  # columns of its name
SEPARATOR = " · "


def status(proofs: Sequence[SideProof]) -> str:
    """Return the worst outcome over the sides of a pair."""
    if any(proof.failures for proof in proofs):
        return FAIL
    return WARN if any(proof.warnings for proof in proofs) else OK


def pair_lines(pair: Pair, proofs: Sequence[SideProof]) -> list[str]:
    """Return two lines: what differs, then what is proved; what is wrong comes first."""
    head = f"{status(proofs):<{_MARGIN}}{pair.name:<{_NAME}} {_differences(pair)}"
    found = _messages(proofs, lambda proof: (*proof.failures, *proof.warnings))
    if pair.note and any(proof.warnings or proof.failures for proof in proofs):
        found.append(f"its note: {pair.note}")
    proved = [_axis(pair), _support(pair), *_played(proofs)]
    return [_cut(head), _cut(" " * _MARGIN + SEPARATOR.join([*found, *filter(None, proved)]))]


def value_text(value: Any, most: int = 6) -> str:
    """Return a resolved value as people read it, long pools shortened."""
    if isinstance(value, list) and len(value) > most:
        return f"[{value[0]}, … {value[-1]}] ({len(value)} members)"
    return "(no effect)" if value is None else str(value)


def _differences(pair: Pair) -> str:
    """Return `path: training -> held out | held out`, without what only follows from a switch."""
    if pair.kind == "null":
        return "equal sides"
    found: dict[str, tuple[Any, list[Any]]] = {}
    for side in pair.heldout:
        changed = pair.difference(side)
        for path in independent(changed) or changed:
            left, right = changed[path]
            found.setdefault(path, (left, []))[1].append(right)
    parts = []
    for path, (left, others) in found.items():
        shown = dict.fromkeys(value_text(other, 3) for other in others)
        parts.append(f"{path}: {value_text(left, 3)} -> {' | '.join(shown)}")
    return "; ".join(parts)


def _axis(pair: Pair) -> str:
    if pair.kind == "null":
        return "nothing differs"
    causes = {path for side in pair.heldout for path in independent(pair.difference(side))}
    if pair.confounded:
        return f"confounded ({len(causes)} causes)"
    if is_bundled(pair.train) or len(causes) == 1:
        return f"one axis ({pair.axis})"
    return f"axis {pair.axis} taken at its word ({len(causes)} parameters differ)"


def _support(pair: Pair) -> str:
    if pair.kind == "null":
        return ""
    if not declares(pair.train):
        return "support unknown"
    if pair.kind != "sweep":
        return "disjoint"
    seen = {side: dose_seen(pair, side) for side in pair.heldout}
    shown = [f"{share:.0%} of {side}" for side, share in seen.items() if share]
    return f"training shows {', '.join(shown)}" if shown else "disjoint"


def _played(proofs: Sequence[SideProof]) -> list[str]:
    parts = [
        _messages(proofs, lambda proof: (_task(proof),)),
        [_solved(min(proofs, key=_share), proofs)] if proofs else [],
        [_shown(proofs)],
    ]
    return [text for part in parts for text in part if text]


def _task(proof: SideProof) -> str:
    states = "latents" if proof.has_latent else "rewards"
    if proof.differs_at is None:
        return "pictures only" if proof.visual else f"{states} equal"
    if proof.visual:
        return ""  # a failure, which says it
    return f"{states} differ from {f'step {proof.differs_at}' if proof.differs_at else 'the start'}"


def _share(proof: SideProof) -> float:
    return proof.solved.share if proof.solved else 0.0


def _solved(worst: SideProof, proofs: Sequence[SideProof]) -> str:
    """Return the score of the side solved least."""
    if worst.solved is None:
        return ""
    train = worst.solved_train
    same = all(proof.differs_at is None for proof in proofs)
    beside = "" if same or train is None else f", training {train.count}"
    return f"solved {_counts(worst.solved)} ({worst.solved.script}{beside})"


def _counts(solved: Solved) -> str:
    return f"{solved.count}/{solved.episodes}"


def _shown(proofs: Sequence[SideProof]) -> str:
    shown = [proof.shown for proof in proofs if proof.shown is not None]
    if not shown:
        return "visibility unknown" if proofs else ""
    worst = min(shown, key=lambda one: (one.share, one.contrast))
    return f"contrast {worst.contrast:.0f} ({worst.usual:.0f})"


def _messages(
    proofs: Sequence[SideProof], texts: Callable[[SideProof], Sequence[str]]
) -> list[str]:
    """Return every text once; where it does not hold for all sides, with theirs."""
    sides: dict[str, list[str]] = {}
    for proof in proofs:
        for text in texts(proof):
            if text:
                sides.setdefault(text, []).append(proof.side)
    several = len(proofs) > 1
    return [
        f"{', '.join(named)}: {text}" if several and len(named) < len(proofs) else text
        for text, named in sides.items()
    ]


def _cut(line: str) -> str:
    line = " ".join(line.split("\n")).rstrip()
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
