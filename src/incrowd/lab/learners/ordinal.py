"""Examples as a matrix with one column for each attribute: numbers as they are, categories as their codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.lab.examples import Examples, Numbers

LARGEST = 3e38  # scikit-learn's trees keep numbers in 32 bits
MOST_CATEGORIES = 255  # that gradient boosting takes as categories


@dataclass(frozen=True)
class Ordinal:
    """Which attributes become columns: those with a known value in training. Missing is NaN.

    Examples
    --------
    >>> from incrowd.lab.examples import Attribute
    >>> sex, gone = Attribute("sex", np.array([0, -1]), ("f", "m")), Attribute("gone", np.array([np.nan, np.nan]))
    >>> rows = Examples((sex, gone), np.array([0, 1]), ("no", "yes"))
    >>> Ordinal.of(rows).matrix(rows).tolist()
    [[0.0], [nan]]
    """

    places: tuple[int, ...]
    is_category: tuple[bool, ...]

    @classmethod
    def of(cls, examples: Examples) -> Ordinal:
        """Learn which attributes are known at all, and which are categories few enough to be taken as such."""
        attributes = examples.attributes
        places = tuple(place for place, each in enumerate(attributes) if not each.is_missing.all())
        few = tuple(_is_few(attributes[place].categories) for place in places)
        return cls(places, few)

    def matrix(self, examples: Examples) -> Numbers:
        """The rows as a dense matrix."""
        matrix = np.empty((examples.height, len(self.places)), order="F")
        for slot, place in enumerate(self.places):
            attribute = examples.attributes[place]
            values = np.clip(np.asarray(attribute.values, np.float64), -LARGEST, LARGEST)
            matrix[:, slot] = np.where(attribute.is_missing, np.nan, values)
        return matrix


def _is_few(categories: tuple[str, ...] | None) -> bool:
    return categories is not None and len(categories) <= MOST_CATEGORIES
