"""Rows as learners take them: numbers with NaN for missing, categories as codes with -1 for missing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
MISSING = -1


@dataclass(frozen=True, eq=False)
class Attribute:
    """One input of a learner.

    ``values`` are numbers (NaN is missing) if ``categories`` is None, else codes into ``categories`` (-1 is missing).
    Training and test rows share the categories; a category may occur among the test rows only.
    """

    name: str
    values: Numbers | Codes
    categories: tuple[str, ...] | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.categories is None

    @property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        """Where the value is missing."""
        return np.isnan(self.values) if self.is_numeric else self.values == MISSING


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
