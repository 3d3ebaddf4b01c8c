"""Rows as learners take them: numbers with NaN for missing, categories as codes with -1 for missing.

Numbers may become categories, cut where the class changes (Fayyad and Irani 1993).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from incrowd.measures.mdl import mdl_cuts
from incrowd.recipients.matrix import MISSING, Attribute, Codes, Numbers


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows with their classes; ``classes`` are codes into ``labels``, ``weights`` are None where all rows count one."""

    attributes: tuple[Attribute, ...]
    classes: Codes
    labels: tuple[str, ...]
    weights: Numbers | None = None

    @property
    def height(self) -> int:
        """How many rows."""
        return len(self.classes)

    def take(self, rows: Codes) -> Examples:
        """Some of the rows."""
        return Examples(
            tuple(replace(attribute, values=attribute.values[rows]) for attribute in self.attributes),
            self.classes[rows],
            self.labels,
            None if self.weights is None else self.weights[rows],
        )


@dataclass(frozen=True, eq=False)
class Discretization:
    """The cuts of each attribute, ascending; None for categories, which stay as they are."""

    cuts: tuple[Numbers | None, ...]

    @classmethod
    def of(cls, examples: Examples) -> Discretization:
        """Learn the cuts from rows and their classes; every row counts one, whatever its weight."""
        labels = len(examples.labels)
        return cls(
            tuple(
                _cuts(attribute, examples.classes, labels) if attribute.is_numeric else None
                for attribute in examples.attributes
            )
        )

    def applied(self, examples: Examples) -> Examples:
        """The rows with intervals in place of numbers; missing stays missing."""
        pairs = zip(examples.attributes, self.cuts, strict=True)
        return replace(
            examples,
            attributes=tuple(attribute if cuts is None else _binned(attribute, cuts) for attribute, cuts in pairs),
        )


def discretize(train: Examples, test: Examples) -> tuple[Examples, Examples]:
    """Both parts with intervals in place of numbers, cut as the training rows say."""
    learned = Discretization.of(train)
    return learned.applied(train), learned.applied(test)


def _cuts(attribute: Attribute, classes: Codes, labels: int) -> Numbers:
    known = ~attribute.is_missing
    values, places = np.unique(attribute.values[known], return_inverse=True)
    counts = np.zeros((len(values), labels), np.int64)
    np.add.at(counts, (places, classes[known]), 1)
    return np.array([_between(values[cut - 1], values[cut]) for cut in mdl_cuts(counts)], np.float64)


def _between(below: float, above: float) -> float:
    """The middle of two numbers; the lower one if there is nothing in between."""
    middle = below / 2 + above / 2
    return middle if below <= middle < above else below


def _binned(attribute: Attribute, cuts: Numbers) -> Attribute:
    codes = np.where(attribute.is_missing, MISSING, np.searchsorted(cuts, attribute.values, side="left"))
    ends = [repr(cut).removesuffix(".0") for cut in cuts.tolist()]
    lows, highs = ["-inf", *ends], [*(f"{end}]" for end in ends), "inf)"]
    return Attribute(
        attribute.name, codes.astype(np.int64), tuple(f"({low}, {high}" for low, high in zip(lows, highs, strict=True))
    )
