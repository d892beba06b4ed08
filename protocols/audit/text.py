"""An audit in words: two lines per pair."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from protocols.audit.declared import independent, is_bundled
from protocols.audit.rollouts import SideProof
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
    head = f"{status(proofs):<{_MARGIN}}{pair.name:<{_NAME}} {differences_text(pair)}"
    found = _messages(proofs, lambda proof: (*proof.failures, *proof.warnings))
    proved = [_axis(pair), _support(pair), *_played(proofs, said=" ".join(found))]
    return [_cut(head), _cut(" " * _MARGIN + SEPARATOR.join([*found, *filter(None, proved)]))]


def value_text(value: Any, most: int = 6) -> str:
    """Return a resolved value as people read it, long pools shortened."""
    if value is None:
        return "(no effect)"
    if isinstance(value, dict):
        return " to ".join(value_text(end) for end in value["uniform"])
    if isinstance(value, list) and value and all(map(_is_content, value)):
        return f"{len(value)} picture{'' if len(value) == 1 else 's'}"
    if isinstance(value, list) and len(value) > most:
        first, last = value_text(value[0]), value_text(value[-1])
        return f"[{first}, … {last}] ({len(value)} members)"
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_content(value: Any) -> bool:
    """Return whether a pool's member is the hash of an image or a skin."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value) is not None


def differences_text(pair: Pair) -> str:
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
        shown = dict.fromkeys(_short(other) for other in others)
        parts.append(f"{path}: {_short(left)} -> {' | '.join(shown)}")
    return "; ".join(parts)


def _short(value: Any) -> str:
    """Return a value with colours in hexadecimal, and a pool of one as its member."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        value = ["#" + bytes(color).hex() for color in value]
    text = value_text(value, 3)
    return text[1:-1] if isinstance(value, list) and len(value) == 1 and text[0] == "[" else text


def _axis(pair: Pair) -> str:
    if pair.kind == "null":
        return "nothing differs"
    causes = {path for side in pair.heldout for path in independent(pair.difference(side))}
    if pair.confounded:
        return f"confounded ({', '.join(sorted(path.rpartition('.')[2] for path in causes))})"
    if is_bundled(pair.train) or len(causes) == 1:
        return f"axis {pair.axis}"
    return f"axis {pair.axis} taken at its word ({len(causes)} parameters differ)"


def _support(pair: Pair) -> str:
    if pair.kind == "null":
        return ""
    if not declares(pair.train):
        return "support unknown"
    if pair.kind != "sweep":
        return "disjoint"
    seen = {side: dose_seen(pair, side) for side in pair.heldout}
    shown = [f"{100 * share:.0f} % of {side}" for side, share in seen.items() if share]
    return f"training shows {', '.join(shown)}" if shown else "disjoint"


def _played(proofs: Sequence[SideProof], said: str) -> list[str]:
    """Return what playing showed, save for what a warning has said."""
    if not proofs:
        return []
    parts = _messages(proofs, lambda proof: (_task(proof),))
    worst = min(proofs, key=lambda proof: proof.solved.share if proof.solved else 0.0)
    if worst.solved is not None and str(worst.solved) not in said:
        parts.append(f"solved {worst.solved}{_training(worst)}")
    return parts if "contrast" in said else [*parts, _shown(proofs)]


def _task(proof: SideProof) -> str:
    if proof.differs_at is None:
        equal = "latents equal" if proof.has_latent else "rewards equal"
        return "pictures only" if proof.visual else equal
    if proof.visual:
        return ""  # a failure, which says it
    return f"task differs{f' from step {proof.differs_at}' if proof.differs_at else ''}"


def _training(proof: SideProof) -> str:
    known = proof.differs_at is not None and proof.solved_train is not None
    return f" ({proof.solved_train.count})" if known else ""


def _shown(proofs: Sequence[SideProof]) -> str:
    shown = [proof.shown for proof in proofs if proof.shown is not None]
    if not shown:
        return "visibility unknown"
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
