"""What was measured, beside what was printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, stdev

from incrowd.lab.reproduce.experiment import ERROR
from incrowd.lab.summary import accuracies
from incrowd.lab.trial import Result


@dataclass(frozen=True)
class Printed:
    """A printed cell, in per cent; ``flag`` is the paper's mark of a significant difference."""

    mean: float
    sd: float | None = None
    flag: str = ""


@dataclass(frozen=True)
class Value:
    """A number of a table, ours or the paper's: what judgements are made of."""

    part: str
    label: str
    inducer: str
    algorithm: str
    k: int
    mean: float
    sd: float | None = None


@dataclass(frozen=True)
class Cell:
    """One algorithm at one k with one learner: our results over the splits, and what was printed.

    ``status`` says why there are no results, if there are none. ``doubt`` says why the printed number is not to be
    trusted.
    """

    part: str
    label: str
    inducer: str
    algorithm: str
    k: int
    results: tuple[Result, ...]
    status: str = ""
    printed: Printed | None = None
    flag: str = ""
    doubt: str = ""
    measure: str = "accuracy"

    @property
    def place(self) -> tuple[str, str, str, str, int]:
        """What tells it from other cells."""
        return self.part, self.label, self.inducer, self.algorithm, self.k

    @property
    def folds(self) -> dict[tuple[int, int], float]:
        """The measure, in per cent, by repetition and fold."""
        return {
            (result.repetition, result.fold): 100 * (1 - found if self.measure == ERROR else found)
            for result in self.results
            for found in accuracies([result])
        }

    @property
    def mean(self) -> float | None:
        """Over the splits."""
        return fmean(self.folds.values()) if self.folds else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over the splits."""
        return stdev(self.folds.values()) if len(self.folds) > 1 else None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, in points."""
        return None if self.mean is None or self.printed is None else self.mean - self.printed.mean

    def ours(self) -> Value | None:
        """Our number."""
        return None if self.mean is None else Value(*self.place, self.mean, self.sd)

    def theirs(self) -> Value | None:
        """The paper's number, unless it is not to be trusted."""
        if self.printed is None or self.doubt:
            return None
        return Value(*self.place, self.printed.mean, self.printed.sd)


@dataclass(frozen=True)
class Evidence:
    """What a point is judged by.

    Parameters
    ----------
    values
        Numbers, all of them ours or all the paper's.
    cells
        Our cells with all that is known of them; none where the paper is judged.
    facts
        What an experiment measured besides, by name.
    """

    values: tuple[Value, ...]
    cells: tuple[Cell, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def ours(cls, cells: Iterable[Cell], facts: Mapping[str, object]) -> Evidence:
        """Of what we measured."""
        known = tuple(cells)
        return cls(tuple(value for cell in known if (value := cell.ours())), known, facts)

    @classmethod
    def theirs(cls, cells: Iterable[Cell]) -> Evidence:
        """Of what was printed, in the same cells."""
        return cls(tuple(value for cell in cells if (value := cell.theirs())))

    def select(self, **wanted: str | int) -> list[Value]:
        """The values whose fields are these.

        Examples
        --------
        >>> values = (Value("3", "8/14", "C4.5", "TDS", 5, 83.0), Value("3", "8/14", "C4.5", "TDR", 5, 84.6))
        >>> [value.mean for value in Evidence(values).select(algorithm="TDR")]
        [84.6]
        """
        return [value for value in self.values if all(getattr(value, name) == is_ for name, is_ in wanted.items())]
