"""What the estimators know: the sizes of the sample's classes, and how many people there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.risk.unmeasured import NotMeasured


@dataclass(frozen=True)
class Sample:
    """Classes by size, and the number of people in the population.

    Examples
    --------
    >>> sample = Sample(((1, 3), (2, 1)), 50)
    >>> sample.rows, sample.classes, sample.fraction
    (5, 4, 0.1)
    """

    histogram: tuple[tuple[int, int], ...]
    people: int

    def __post_init__(self) -> None:
        if isinstance(self.people, bool) or not isinstance(self.people, int | np.integer) or self.people < self.rows:
            raise ParameterError(
                f"The population must be a whole number of persons, at least the {self.rows} rows of the table."
            )

    @property
    def sizes(self) -> npt.NDArray[np.float64]:
        """The sizes that occur, ascending."""
        return np.array([size for size, _ in self.histogram], np.float64)

    @property
    def counts(self) -> npt.NDArray[np.float64]:
        """How many classes have each of these sizes."""
        return np.array([count for _, count in self.histogram], np.float64)

    @property
    def rows(self) -> int:
        """Rows of the sample, n."""
        return sum(size * count for size, count in self.histogram)

    @property
    def classes(self) -> int:
        """Classes of the sample, u."""
        return sum(count for _, count in self.histogram)

    @property
    def fraction(self) -> float:
        """The sampling fraction n / N."""
        return self.rows / self.people

    def number_of(self, size: int) -> int:
        """Classes of that size."""
        return dict(self.histogram).get(size, 0)


@dataclass(frozen=True)
class Estimate:
    """Estimated uniques of the population.

    Parameters
    ----------
    uniques
        How many people are estimated to be alone with their values; never above the population.
    share
        Of the population.
    how
        The estimator that gave it.
    parameters
        What was fitted.
    """

    uniques: float
    share: float
    how: str
    parameters: tuple[tuple[str, float], ...] = ()

    def to_json(self) -> dict[str, object]:
        """The numbers."""
        return {"uniques": self.uniques, "share": self.share, "how": self.how, "parameters": dict(self.parameters)}


Answer = Estimate | NotMeasured


def estimate(sample: Sample, uniques: float, how: str, **parameters: float) -> Estimate:
    """An estimate, kept within 0 and the population."""
    kept = min(max(uniques, 0.0), float(sample.people))
    return Estimate(kept, kept / sample.people, how, tuple(parameters.items()))


def known(sample: Sample) -> Estimate | None:
    """What needs no model: all of the population is in the sample, or no row of the sample is unique.

    Examples
    --------
    >>> known(Sample(((1, 3),), 3)).uniques, known(Sample(((2, 3),), 100)).uniques, known(Sample(((1, 3),), 9))
    (3.0, 0.0, None)
    """
    if sample.people == sample.rows:
        return estimate(sample, float(sample.number_of(1)), "counting, as the table is the population")
    return None if sample.number_of(1) else estimate(sample, 0.0, "the lack of any unique row in the sample")
