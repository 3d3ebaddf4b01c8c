"""Public bins: where numbers are cut before the tree sees them, and how a bin is released."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.population import Population
from incrowd.measures.mdl import mdl_cuts
from incrowd.plan.steps import Bin, Step
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn
from incrowd.vocabulary.released_value import Form, Interval, Level, Shown, Suppressed, ValueSet, render
from incrowd.vocabulary.schema import ColumnType

FEW, QUARTERS = 10, 4


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


def bin_numbers(population: Population, numeric: str, k: int) -> Binned:
    """Cut numeric quasi-identifiers at public places, k rows or more in each piece, if the numeric form asks for it."""
    schema = population.schema
    if numeric not in ("bins", "levels") or schema.target is None:
        return Binned(population, (), {}, False)
    table = population.sample()
    target = table[schema.target]
    numbers = [table[name] for name in schema.quasi_identifiers if table[name].type.is_numeric]
    cuts = tuple((column.name, public_cuts(column, target.codes, target.width, k)) for column in numbers)
    if not cuts:
        return Binned(population, (), {}, False)
    step = Bin(cuts)
    intervals = {name: {str(render(i, schema[name].type)): i for i in Bin.intervals(places)} for name, places in cuts}
    return Binned(population.bin(step), (step,), intervals, numeric == "levels")


def public_cuts(column: EncodedColumn, labels: Codes, classes: int, k: int) -> tuple[float, ...]:
    """Where a number is cut: so that the pieces tell the class apart (Fayyad and Irani), each with at least k rows.

    Where no cut does so by itself, it may still do so together with other attributes: then every value is a piece of
    its own if there are few, else the pieces are quarters of the rows.

    A cut is the roundest number between the two values it parts, so that it tells as little as possible of them.
    """
    cells = column.codes.astype(np.int64) * classes + labels
    counts = np.bincount(cells, minlength=column.width * classes).reshape(column.width, classes)[:-1]
    rows = counts.sum(axis=1)
    share = 0 if len(rows) <= FEW else int(rows.sum()) // QUARTERS
    places = mdl_cuts(counts, k) or even_cuts(rows, max(k, share))
    numbers = column.numbers
    whole = column.type is not ColumnType.REAL
    return tuple(roundest(numbers[place - 1].item(), numbers[place].item(), whole) for place in places)


def even_cuts(rows: npt.NDArray[np.int64], smallest: int) -> list[int]:
    """Cuts as soon as a piece has enough rows; the rest below that joins the last piece.

    Examples
    --------
    >>> even_cuts(np.array([5, 1, 9, 4, 2]), 5)
    [1, 3]
    """
    places, size, left = [], 0, int(rows.sum())
    for place, here in enumerate(rows.tolist(), start=1):
        size, left = size + here, left - here
        if size >= smallest and left >= smallest:
            places.append(place)
            size = 0
    return places


def roundest(low: float, high: float, whole: bool) -> float:
    """The number at or above ``low`` and below ``high`` with the fewest digits; of several, the one in the middle.

    Examples
    --------
    >>> roundest(59_000, 9_001_337, True), roundest(30, 41, True), roundest(37, 38, True)
    (5000000, 40, 37)
    >>> roundest(0.1234, 0.1391, False)
    0.13
    """
    middle = (Fraction(low) + Fraction(high)) / 2
    for exponent in range(math.floor(math.log10(high - low)) + 1, -18, -1):
        step = Fraction(10) ** exponent
        for multiple in (round(middle / step), math.ceil(Fraction(low) / step)):
            cut = int(multiple * step) if whole else float(multiple * step)
            if low <= cut < high:
                return cut
    return low
