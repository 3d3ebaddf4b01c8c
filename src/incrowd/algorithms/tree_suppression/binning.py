"""Public bins: where numbers are cut before the tree sees them, and how a bin is released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.population import Population
from incrowd.measures.mdl import mdl_cuts
from incrowd.plan.steps import Bin, Step
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn
from incrowd.vocabulary.released_value import Form, Interval, Level, Shown, Suppressed, ValueSet, render
from incrowd.vocabulary.schema import ColumnType

FEW = 10


@dataclass(frozen=True, eq=False)
class Binned:
    """A population whose numbers are binned, the steps that did it, and what each bin's name stands for."""

    population: Population
    steps: tuple[Step, ...]
    intervals: Mapping[str, Mapping[str, Interval]]
    as_levels: bool

    def forms(self, forms: Sequence[Form]) -> tuple[Form, ...]:
        """The forms with the names of bins replaced by the intervals they stand for."""
        names = self.population.schema.quasi_identifiers
        return tuple(self._form(name, form) for name, form in zip(names, forms, strict=True))

    def _form(self, name: str, form: Form) -> Form:
        if name not in self.intervals:
            return form
        if isinstance(form, ValueSet) and self.as_levels:
            return Suppressed()
        if not isinstance(form, Shown):
            return form
        interval = self.intervals[name][str(form.value)]
        return Level(interval.low, interval.high) if self.as_levels else interval


def bin_numbers(population: Population, numeric: str) -> Binned:
    """Cut numeric quasi-identifiers at public places if the numeric form asks for it."""
    schema = population.schema
    if numeric not in ("bins", "levels") or schema.target is None:
        return Binned(population, (), {}, False)
    table = population.sample()
    target = table[schema.target]
    numbers = [table[name] for name in schema.quasi_identifiers if table[name].type.is_numeric]
    cuts = tuple((column.name, public_cuts(column, target.codes, target.width)) for column in numbers)
    if not cuts:
        return Binned(population, (), {}, False)
    step = Bin(cuts)
    intervals = {name: {str(render(i, schema[name].type)): i for i in Bin.intervals(places)} for name, places in cuts}
    return Binned(population.bin(step), (step,), intervals, numeric == "levels")


def public_cuts(column: EncodedColumn, labels: Codes, classes: int) -> tuple[float, ...]:
    """Where a number is cut: so that the pieces tell the class apart (Fayyad and Irani).

    Where no cut does so by itself, it may still do so together with other attributes: then every value is a piece of
    its own if there are few, else the pieces are quarters of the rows.
    """
    cells = column.codes.astype(np.int64) * classes + labels
    counts = np.bincount(cells, minlength=column.width * classes).reshape(column.width, classes)[:-1]
    places = mdl_cuts(counts) or _few_or_quarters(counts.sum(axis=1))
    numbers = column.numbers
    return tuple(_between(numbers[place - 1].item(), numbers[place].item(), column.type) for place in places)


def _few_or_quarters(rows: npt.NDArray[np.int64]) -> list[int]:
    """Every place between values if there are at most ten, else those nearest to the quarters of the rows."""
    if len(rows) <= FEW:
        return list(range(1, len(rows)))
    below = np.cumsum(rows)
    quarters = np.searchsorted(below, below[-1] * np.array([0.25, 0.5, 0.75])) + 1
    return sorted({int(place) for place in quarters if place < len(rows)})


def _between(low: float, high: float, column_type: ColumnType) -> float:
    """A cut at or above ``low`` and below ``high``, with as few digits as possible.

    Examples
    --------
    >>> _between(37, 40, ColumnType.INTEGER), _between(0.1234, 0.1391, ColumnType.REAL)
    (38, 0.13)
    """
    middle = (low + high) / 2
    if column_type is not ColumnType.REAL:
        return (int(low) + int(high)) // 2
    return next((cut for d in range(17) if low <= (cut := round(middle, d)) < high), low)
