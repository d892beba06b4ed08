"""Verdicts in plain English: a reason, a next step, and the notes that belong beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Show = Callable[[float], str]


def of(count: int, total: int, noun: str = "seed") -> str:
    return f"{count} of {total} {noun}{'' if total == 1 else 's'}"


def _verb(word: str, number: int) -> str:
    return f"{word}s" if number == 1 else word


def interval_text(point: float, low: float, high: float, show: Show) -> str:
    return f"{show(point)} [{show(low)}, {show(high)}]"


def reason(name: str, facts: dict, show: Show) -> str:
    """Why this verdict, in one sentence. facts: the numbers that decided it."""
    if name == "invalid":
        return _sentence("; ".join(facts["invalid"]))
    if name == "untrained":
        return (
            f"{of(facts['untrained_seeds'], facts['seeds'])} "
            f"{_verb('stay', facts['untrained_seeds'])} below the competence level "
            f"{facts['competence']:.2f} on the training side, so the gap cannot be interpreted."
        )
    if name == "seed-dependent":
        fail, hold = (
            of(len(facts[key]), facts["seeds"]) for key in ("dropped_seeds", "held_seeds")
        )
        return (
            f"{fail} {_verb('lose', len(facts['dropped_seeds']))} more than the noise floor and "
            f"the seed spread; {hold} {_verb('stay', len(facts['held_seeds']))} within the noise "
            f"floor{', not having learned the task' if facts.get('held_untrained') else ''}."
        )
    if facts["point"] is None:
        return _sentence(facts["no_interval"])
    gap = interval_text(facts["point"], facts["low"], facts["high"], show)
    floor, spread = facts["floor"], facts["spread"]
    noise = f"the noise floor {show(floor)}"
    if name == "eval-better":
        return f"The held-out side scores higher by more than {noise}: gap {gap}."
    if name == "generalizes":
        return f"Any loss is at most the tolerance {show(facts['tolerance'])}: gap {gap}."
    if name == "consistent-gap":
        return (
            f"The gap {gap} is larger than {noise} and than the seed spread {show(spread)} "
            "of training scores."
        )
    if name == "gap-within-spread":
        return (
            f"The gap {gap} is real, beyond {noise}, but smaller than what another training seed "
            f"changes (seed spread {show(spread)})."
        )
    if name == "checkpoint-gap":
        return f"The gap {gap} is larger than {noise}."
    return _undecided(gap, facts, show)


def next_step(name: str, facts: dict) -> str:
    """What to do about it, in one sentence."""
    if name == "seed-dependent" and facts.get("training_instability"):
        return (
            "Diagnose training stability first, the failing seeds are also the weakest in "
            "training; do not widen the training range yet."
        )
    if name == "seed-dependent" and facts.get("held_untrained"):
        return (
            "Make training stable first: the seeds that hold up have not learned the task and have "
            "nothing to lose."
        )
    steps = {
        "invalid": "Fix the measurement and run it again; no number of this pair can be read.",
        "untrained": "Train longer; until then the gap says nothing about generalization.",
        "seed-dependent": (
            "Diagnose training stability, then add seeds; leave the environment as it is."
        ),
        "eval-better": "Check for a leak between the sides, or for mislabelled sides.",
        "generalizes": "Nothing to do on this pair.",
        "consistent-gap": (
            "Widen the training distribution along this axis; keep the held-out side as it is."
        ),
        "gap-within-spread": (
            "Widen the training distribution along this axis, and make training seeds more alike."
        ),
        "checkpoint-gap": (
            "Train more seeds to learn whether the algorithm or only this checkpoint loses."
        ),
    }
    if name in steps:
        return steps[name]
    needed = facts.get("needed")
    if needed is None:
        return "Train more seeds before changing anything else."
    return _sentence(f"more evidence, not a new algorithm: {needed}")


def notes(name: str, facts: dict, flags: Sequence[str]) -> tuple[str, ...]:
    """Further sentences that keep a reader from over-reading the verdict."""
    found = []
    if "this_checkpoint_only" in flags:
        one = facts["seeds"] == 1
        which, them = ("this checkpoint", "it") if one else ("these checkpoints", "them")
        found.append(f"This speaks of {which} only, not of the algorithm that trained {them}.")
    bound = facts.get("collapse_bound")
    if bound is not None and name in ("generalizes", "within-noise"):
        found.append(
            f"0 of {facts['seeds']} seeds collapsed; "
            f"the collapse rate could still be up to {bound:.0%}."
        )
    if facts.get("untrained_seeds") and name != "untrained":
        found.append(
            f"{of(facts['untrained_seeds'], facts['seeds'])} "
            f"{_verb('stay', facts['untrained_seeds'])} below the competence level "
            f"{facts['competence']:.2f} in training; they are kept."
        )
    texts = {
        "rough_spread": "With fewer than ten seeds the seed spread is rough.",
        "no_train_spread": "All seeds train to the same score; gap over spread is undefined.",
        "aa_exceeded": "The training side differs from itself by more than its noise floor.",
        "degenerate": "Every seed and episode gave the same gap, so the interval has no width.",
        "both_sides_low": "Both sides score near the bottom, so there is little to lose.",
        "few_episodes": f"Only {facts.get('episodes')} episodes per seed.",
        "insufficient_seeds": "One or two seeds without episodes carry no verdict.",
        "no_tolerance": "Without a tolerance nothing can be called a generalizing policy.",
    }
    found += [text for flag, text in texts.items() if flag in flags]
    return tuple(found)


def _undecided(gap: str, facts: dict, show: Show) -> str:
    if facts["low"] > 0:
        return (
            f"A loss is likely, but the gap {gap} is not clearly above the noise floor "
            f"{show(facts['floor'])}: suggestive, not demonstrated."
        )
    return f"The gap {gap} is compatible with no loss and with a real one: nothing is demonstrated."


def _sentence(text: str) -> str:
    text = text.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
