"""The nouns of a protocol: `Pair` (a training side and its held-out sides) and `Suite`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from envs import Config, InputError, parameters
from envs.errors import not_among
from protocols.differences import difference

KINDS = ("pair", "split", "sweep", "widening", "null")
PREDICTION = "The gap shrinks; the training score stays about the same."


@dataclass(frozen=True)
class Pair:
    """One comparison: what the policy was trained on against what it never saw.

    kind       pair | split (several held-out sides) | sweep (ordered doses of one axis) |
               widening (a narrow and a wide training side before the same held-out one) |
               null (two equal sides for calibration: the true gap is zero)
    doses      of a sweep: held-out side -> dose, increasing; `parameter` names what is dosed
    cumulative of a sweep: each dose pools its own side and all before it, in equal shares
    wide       of a widening: the wide training side; `train` is the narrow one
    prediction of a widening: what was expected before anything ran
    confounded several things change at once, so that a gap has no single cause; said, not hidden
    """

    name: str
    axis: str
    train_name: str  # name of the training configuration
    train: Config
    heldout: Mapping[str, Config]  # side name -> configuration, at least one
    kind: str = "pair"
    metric: str = "success"  # the primary metric
    note: str = ""
    doses: Mapping[str, float] = field(default_factory=dict)
    parameter: str = ""
    cumulative: bool = False
    wide_name: str = ""
    wide: Config | None = None
    prediction: str = ""
    confounded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "heldout", MappingProxyType(dict(self.heldout)))
        object.__setattr__(self, "doses", MappingProxyType(dict(self.doses)))

    @property
    def configs(self) -> dict[str, Config]:
        """Every side by digest, the training sides first."""
        sides = [self.train, *([self.wide] if self.wide else []), *self.heldout.values()]
        return {side.digest: side for side in sides}

    @property
    def training_sides(self) -> dict[str, str]:
        """The training configurations that policies are needed for, name -> digest."""
        wide = {self.wide_name: self.wide.digest} if self.wide is not None else {}
        return {self.train_name: self.train.digest, **wide}

    @cached_property
    def widened(self) -> Pair | None:
        """Of a widening: the same held-out sides as seen from the wide training side."""
        if self.wide is None:
            return None
        name = f"{self.name} (wide)"
        return Pair(name, self.axis, self.wide_name, self.wide, self.heldout, metric=self.metric)

    def pooled(self, side: str) -> tuple[str, ...]:
        """Return the held-out sides that a dose is made of, each an equal share of its episodes.

        A pool of colours is drawn from anew in every episode, so its shares are equal only on
        average. Sides of one colour each, with as many episodes, are equal shares exactly.
        """
        sides = list(self.heldout)
        return tuple(sides[: sides.index(side) + 1]) if self.cumulative else (side,)

    def difference(self, side: str) -> dict[str, tuple[object, object]]:
        """Return {path: (training value, held-out value)} of what effectively differs."""
        return difference(self.train, self.heldout[side])

    @cached_property
    def digest(self) -> str:
        """sha256 over everything that decides the pair's numbers."""
        parts = {
            "name": self.name,
            "axis": self.axis,
            "kind": self.kind,
            "metric": self.metric,
            "train": self.train.digest,
            "heldout": {name: side.digest for name, side in self.heldout.items()},
        }
        if self.doses:
            parts["doses"] = dict(self.doses)
        if self.cumulative:
            parts["cumulative"] = True
        if self.confounded:
            parts["confounded"] = True
        if self.wide is not None:
            parts |= {"wide": self.wide.digest, "prediction": self.prediction}
        return parameters.digest(parts)


@dataclass(frozen=True)
class Suite:
    """Named pairs that are evaluated and judged together."""

    name: str
    version: int
    description: str
    pairs: tuple[Pair, ...]
    episodes: int = 128  # per side and training seed

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, name: str) -> Pair:
        for pair in self.pairs:
            if pair.name == name:
                return pair
        names = [pair.name for pair in self.pairs]
        raise InputError(not_among(f"suite {self.name} has no pair {name!r}", name, names))

    @property
    def training_sides(self) -> dict[str, str]:
        """Those of its pairs, name -> digest, in their order."""
        return {name: digest for pair in self for name, digest in pair.training_sides.items()}

    @cached_property
    def digest(self) -> str:
        """sha256 of the resolved values: equal digests mean the same measurement."""
        return parameters.digest(
            {
                "name": self.name,
                "version": self.version,
                "episodes": self.episodes,
                "pairs": [pair.digest for pair in self.pairs],
            }
        )
