"""What a measured number means: its direction, bounds, scale and how finely to print it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.statistics.checks import choose

DIRECTIONS = ("higher", "lower")
TOLERANCE_SHARE = 0.05  # a convention: losses below 5 % of the scale are called negligible


@dataclass(frozen=True)
class Metric:
    """One per-episode number and the facts that its statistics need.

    name          key in reports, such as `success`
    binary        every score is 0 or 1; gaps then use smoothed proportions
    bounds        (smallest, largest) possible score, or None where there is none
    scale         size of a full change, in the metric's own unit; the tolerance is 5 % of it
    direction     `higher` or `lower`: which way is better. Gaps are turned so that loss is positive
    label         words for a report; the name where empty
    ratio         zero is a true origin, so a gap may be expressed as a share of the training score
    min_episodes  fewer episodes per seed than this are marked in the verdict
    """

    name: str
    binary: bool = False
    bounds: tuple[float, float] | None = None
    scale: float = 1.0
    direction: str = "higher"
    label: str = ""
    ratio: bool = True
    min_episodes: int = 20

    def __post_init__(self) -> None:
        choose("direction", self.direction, DIRECTIONS)
        if not self.scale > 0:
            raise ValueError(f"scale: {self.scale!r} for metric {self.name!r}; must be positive")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise ValueError(
                f"bounds: {self.bounds!r} for metric {self.name!r}; must be (smallest, largest)"
            )
        if self.binary and self.bounds is None:
            object.__setattr__(self, "bounds", (0.0, 1.0))

    @property
    def sign(self) -> float:
        """+1 where higher is better, -1 where lower is."""
        return 1.0 if self.direction == "higher" else -1.0

    @property
    def tolerance(self) -> float:
        """Largest loss that counts as none, in the metric's unit."""
        return TOLERANCE_SHARE * self.scale

    @property
    def gap_bounds(self) -> tuple[float, float] | None:
        """Smallest and largest possible gap, or None where the metric has no bounds."""
        if self.bounds is None:
            return None
        width = self.bounds[1] - self.bounds[0]
        return (-width, width)

    @property
    def title(self) -> str:
        return self.label or self.name

    def show(self, value: float) -> str:
        """The value as text, with digits that suit the scale."""
        return show_number(value, self.scale)


def show_number(value: float, scale: float) -> str:
    """Two decimals up to scale 10, one up to 100, none above."""
    digits = 2 if scale <= 10 else 1 if scale <= 100 else 0
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("-") and float(text) == 0 else text


SUCCESS = Metric("success", binary=True, bounds=(0.0, 1.0))
