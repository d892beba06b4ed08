"""The blocks of a report, as rows of text: the table prints them, Markdown too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the report imports the table, which imports this module
    from harness.reporting.result import PairResult, Report
    from harness.statistics import Interval, Metric, Verdict

OTHERS = ("distance", "progress", "return")


@dataclass(frozen=True)
class Block:
    """One table: headers, rows, and per column "l" or "r"."""

    headers: list[str]
    rows: list[list[str]]
    alignment: str
    below: tuple[str, ...] = ()  # sentences that belong under it


def count(number: int, noun: str) -> str:
    """Return "1 pair", "8 pairs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def short(name: str, most: int = 26) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def number(value: float | None, metric: Metric, width: int = 5) -> str:
    return "–".rjust(width) if value is None else metric.show(value).rjust(width)


def interval(given: Interval | None, metric: Metric, width: int = 5) -> str:
    if given is None:
        return "–"
    point, low, high = (
        number(value, metric, width) for value in (given.point, given.low, given.high)
    )
    return f"{point} [{low}, {high}]"


def label(verdict: Verdict) -> str:
    if verdict.name == "seed-dependent":
        dropped = len(verdict.details["dropped_seeds"])
        return f"seed-dependent ({dropped}/{verdict.details['seeds']})"
    return verdict.label


def level(report: Report) -> str:
    return f"{report.settings['level']:.0%}".replace("%", " %")


def main_block(report: Report) -> Block:
    rows = []
    for result in report.pairs:
        name = result.pair.metric
        gap, spread = result.results[name], result.spreads[name]
        rows.append([
            short(result.name),
            number(gap.train.mean, gap.metric),
            number(gap.heldout.mean, gap.metric),
            interval(gap.interval, gap.metric),
            number(result.floors[name].value, gap.metric),
            number(spread.value if spread else None, gap.metric),
            label(result.verdict),
        ])  # fmt: skip
    names = {result.pair.metric for result in report.pairs}
    first = "pair" if len(names) > 1 else f"pair ({next(iter(names))})"
    gap_header = f"gap [{level(report)} interval]"
    headers = [first, "train", "held-out", gap_header, "floor", "spread", "verdict"]
    return Block(headers, rows, "lrrrrrl")


def other_metrics(report: Report) -> Block | None:
    names = [name for name in OTHERS if name in report.pairs[0].results]
    if not names:
        return None
    widths = {name: 5 if report.mean[name].metric.scale <= 10 else 6 for name in names}
    rows = [
        [short(result.name)]
        + [interval(result.gap[name], result.results[name].metric, widths[name]) for name in names]
        for result in report.pairs
    ]
    return Block(["gap in other metrics", *names], rows, "l" + "r" * len(names))


def means(report: Report) -> Block | None:
    """The means over pairs, by axis and of the whole suite, and the worst pair."""
    if len(report.pairs) < 2:
        return None
    name = report.pairs[0].pair.metric
    rows = [
        [
            f"axis {axis} ({count(len(mean.pairs), 'pair')})",
            interval(mean.interval, mean.metric),
            "",
        ]
        for axis, mean in report.axes[name].items()
        if len(report.axes[name]) > 1
    ]
    whole = report.mean[name]
    for worst in report.worst if len(report.pairs) > 2 else ():
        several = len(worst.pairs) > 1
        what = f"worst {len(worst.pairs)} pairs" if several else f"worst: {worst.pairs[0]}"
        rows.append([short(what, 34), interval(worst.interval, whole.metric), ""])
    rows.append(["suite mean", interval(whole.interval, whole.metric), label(report.verdict)])
    return Block([f"mean gap ({name})", "gap", "verdict"], rows, "lrl")


def sweep(result: PairResult) -> Block | None:
    """One line per dose: how much of it training shows, held-out score, gap with its band."""
    name = result.pair.metric
    if name not in result.doses:
        return None
    from protocols.audit import dose_seen

    curve, metric = result.doses[name], result.results[name].metric
    train = result.results[name].train.mean or 0.0
    rows = []
    for at, (side, dose) in enumerate(result.pair.doses.items()):
        band = curve.band[at] if curve.band else None
        gap = float(curve.gaps[at])
        shown = interval(band, metric) if band else number(gap, metric)
        seen = f"{dose_seen(result.pair, side):.0%}".replace("%", " %")
        added = "+" if at and result.pair.cumulative else ""  # to all doses above
        heldout = number(train - metric.sign * gap, metric)
        label = side if f"{dose:g}" == side else f"{added}{side} ({dose:g})"
        rows.append([label, seen, heldout, shown])
    what = result.pair.parameter or "dose"
    headers = [f"sweep {short(result.name)} ({what})", "seen", name, "gap [joint band]"]
    return Block(headers, rows, "lrrr", _slope_and_half(result))


def _slope_and_half(result: PairResult) -> tuple[str, ...]:
    curve = result.doses[result.pair.metric]
    parts = []
    if curve.slope is not None:
        one = curve.slope
        parts.append(f"gap per unit of dose {one.point:.3g} [{one.low:.3g}, {one.high:.3g}]")
    half = curve.half_loss
    if half is not None:
        if half.dose is None:
            parts.append(f"half of the score lost: {half.reason}")
        else:
            low = f"below {curve.doses[0]:g}" if half.low is None else f"{half.low:.3g}"
            high = f"beyond {curve.doses[-1]:g}" if half.high is None else f"{half.high:.3g}"
            told = f" [{low}, {high}]" if half.reason is None else f" ({half.reason})"
            parts.append(f"half of the score lost at {half.dose:.3g}{told}")
    return ("; ".join(parts),) if parts else ()


def widening(result: PairResult) -> Block | None:
    """Narrow and wide training before the same held-out side, their difference, the prediction."""
    if result.wide is None:
        return None
    name = result.pair.metric
    found, metric = result.widenings[name], result.results[name].metric
    rows = []
    for word, side in (("narrow", result), ("wide", result.wide)):
        gap = side.results[name]
        rows.append([
            f"{word}: {side.pair.train_name}",
            number(gap.train.mean, metric),
            number(gap.heldout.mean, metric),
            interval(gap.interval, metric),
        ])  # fmt: skip
    rows.append(["difference", *_cost(result), interval(found.shrinkage, metric)])
    said = {True: "it held", False: "it did not hold", None: "open, the evidence is too thin"}
    below = (f"Predicted: {result.pair.prediction} Outcome: {said[found.prediction_held]}.",)
    headers = [f"widening {short(result.name)}", "train", "held-out", "gap"]
    return Block(headers, rows, "lrrr", below)


def _cost(result: PairResult) -> list[str]:
    name = result.pair.metric
    one, other = result.results[name], result.wide.results[name]
    pairs = ((one.train.mean, other.train.mean), (one.heldout.mean, other.heldout.mean))
    return ["–" if None in pair else number(pair[0] - pair[1], one.metric) for pair in pairs]


def policy_shift(report: Report) -> Block | None:
    """On which share of states the policy acts otherwise when it sees the held-out picture."""
    shift = report.records.shift
    if not shift:
        return None
    rows = []
    for pair, sides in shift.items():
        for side, one in sides.items():
            where = pair if len(sides) == 1 else f"{pair}/{side}"
            if one["share"] is None:
                rows.append([short(where), one["reason"], "", "", ""])
                continue
            share = one["share"]
            ends = "" if share["low"] is None else f" [{share['low']:.2f}, {share['high']:.2f}]"
            variation = one["total_variation"]
            first = one["first_divergence"]
            rows.append([
                short(where),
                f"{share['point']:.2f}{ends}",
                "–" if variation is None else f"{variation:.2f}",
                "–" if first["median_step"] is None else str(first["median_step"]),
                f"{first['never']:.0%}".replace("%", " %"),
            ])  # fmt: skip
    headers = ["policy shift", "acts differently", "total variation", "first at step", "never"]
    states = max(one.get("states", 0) for sides in shift.values() for one in sides.values())
    below = (
        f"Shown both pictures of up to {states:,} states per side, with the same memory and keys.",
    )
    return Block(headers, rows, "lrrrr", below if states else ())


def blocks(report: Report) -> list[Block]:
    """Every block that has something to say, in reading order."""
    found = [main_block(report), other_metrics(report), means(report)]
    for result in report.pairs:
        found += [sweep(result), widening(result)]
    return [one for one in (*found, policy_shift(report)) if one is not None]
