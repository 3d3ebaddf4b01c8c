"""Numbers: where they are cut before anything else is done with them, and how an interval of them is written.

Public bins are part of the release. Methods that generalize have one choice, ``numeric=``. ``interval``: the label
``(30, 40]``. ``bounds``: two columns, its two ends. ``midpoint``: its middle. ``mean``: the mean of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import even_cuts, mdl_cuts, outer_ends, roundest
from incrowd.methods.method import Population
from incrowd.plan.steps import Bin, Spread, Step
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable, ValueOwners
from incrowd.vocabulary.forms import BY_CLASS, FINE
from incrowd.vocabulary.released_value import Form, Interval, Level, Midpoint, Shown, Suppressed, ValueSet, render
from incrowd.vocabulary.schema import ColumnType

FEW, QUARTERS = 10, 4  # values that each may be a piece of their own; else pieces of the rows
FEWEST, PIECES = 5, 16  # rows of a bin that groups are decided by; pieces of the rows that fine bins are about


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
    """Cut numeric quasi-identifiers at public places, k rows or more in each piece, if the numeric form asks for it.

    Where a person may have several rows, each piece has rows of k persons or more.
    """
    schema = population.schema
    if numeric not in ("bins", "levels") or schema.target is None:
        return Binned(population, (), {}, False)
    table, owners = population.sample(), population.owners
    target = table[schema.target]
    numbers = [table[name] for name in schema.quasi_identifiers if table[name].type.is_numeric]
    cuts = tuple((column.name, public_cuts(column, target.codes, target.width, k, owners)) for column in numbers)
    if not cuts:
        return Binned(population, (), {}, False)
    step = Bin(cuts)
    intervals = {name: {str(render(i, schema[name].type)): i for i in Bin.intervals(places)} for name, places in cuts}
    return Binned(population.bin(step), (step,), intervals, numeric == "levels")


def public_cuts(
    column: EncodedColumn, labels: Codes, classes: int, k: int, owners: Codes | None = None
) -> tuple[float, ...]:
    """Where a number is cut: so that the pieces tell the class apart (Fayyad and Irani), each with at least k rows.

    ``owners``: the person of each row, if rows are not persons; each piece then has rows of at least k of them.

    Where no cut does so by itself, it may still do so together with other attributes: then every value is a piece of
    its own if there are few, else the pieces are quarters of the rows.

    A cut is the roundest number between the two values it parts, so that it tells as little as possible of them.
    """
    counts = _by_class(column, labels, classes)
    rows = counts.sum(axis=1)
    share = 0 if len(rows) <= FEW else int(rows.sum()) // QUARTERS
    who = None if owners is None else ValueOwners.of(column, owners)
    places = mdl_cuts(counts, k, who) or even_cuts(rows, max(k, share), who, k)
    return round_cuts(column, places)


def _by_class(column: EncodedColumn, labels: Codes, classes: int) -> npt.NDArray[np.int64]:
    """The rows of each value, ascending, in each class."""
    cells = column.codes.astype(np.int64) * classes + labels
    return np.bincount(cells, minlength=column.width * classes).reshape(column.width, classes)[:-1]


def round_cuts(column: EncodedColumn, places: Iterable[int]) -> tuple[float, ...]:
    """For each place the roundest number between the value there and the one before it."""
    numbers, whole = column.numbers, column.type is not ColumnType.REAL
    return tuple(roundest(numbers[place - 1].item(), numbers[place].item(), whole) for place in places)


def fine_cuts(
    column: EncodedColumn, target: EncodedColumn | None, k: int, owners: Codes | None = None
) -> tuple[float, ...]:
    """Where a number is cut as finely as k allows: where the class changes, and between these places evenly.

    Every piece has at least k rows, and not much more than a sixteenth of all if it can be helped. Of few values each
    that has k rows is a piece of its own. ``owners``: as in :func:`public_cuts`.
    """
    rows, who = column.counts[:-1], None if owners is None else ValueOwners.of(column, owners)
    places = [] if target is None else mdl_cuts(_by_class(column, target.codes, target.width), k, who)
    least = k if len(rows) <= FEW else max(k, -(-int(rows.sum()) // PIECES))
    between = (even_cuts(rows, least, who, k, *ends) for ends in pairwise([0, *places, len(rows)]))
    return round_cuts(column, sorted({*places, *chain.from_iterable(between)}))


def public_bins(
    table: EncodedTable,
    names: Sequence[str],
    target: EncodedColumn,
    bins: str,
    k: int,
    owners: Codes | None = None,
) -> Bin:
    """The cuts of all numbers, fine or where the class changes, for deciding on groups.

    Every bin has at least five rows (or k, if that is less). ``owners``: as in :func:`public_cuts`.
    """
    numbers, smallest = [table[name] for name in names if table[name].type.is_numeric], min(k, FEWEST)
    return Bin(tuple((column.name, bins_of(column, target, smallest, owners, bins)) for column in numbers))


def bins_of(
    column: EncodedColumn, target: EncodedColumn | None, k: int, owners: Codes | None = None, bins: str = BY_CLASS
) -> tuple[float, ...]:
    """The public cuts of a number, with at least k rows in each piece; a number with fewer rows has none.

    ``owners``: the person of each row, if rows are not persons; each piece then has rows of k of them.
    """
    if target is None or bins == FINE:
        return fine_cuts(column, target, k, owners)
    return public_cuts(column, target.codes, target.width, k, owners)


def interval_form(interval: Interval, numeric: str, ends: tuple[float, float]) -> Form:
    """What rows of an interval show; an interval without ends tells nothing.

    ``interval``: where the numbers lie. ``numeric``: one of ``INTERVALS``; the mean is that of all rows that show the
    interval. ``ends``: for the middle of an interval without an end: the number that stands for it, see
    :func:`ends_of`.

    Examples
    --------
    >>> interval_form(Interval(None, 30), "midpoint", (20, 90))
    Midpoint(low=None, high=30, value=25.0)
    """
    if interval == Interval():
        return Suppressed()
    if numeric == "mean":
        return Level(interval.low, interval.high)
    if numeric == "midpoint":
        return Midpoint(interval.low, interval.high, middle(interval, ends))
    return interval


def middle(interval: Interval, ends: tuple[float, float]) -> float:
    """The middle of an interval; an open end is where the column's own end lies, or the interval's other end."""
    low, high = interval.low, interval.high
    if low is None:
        low = ends[0] if high is None else min(ends[0], high)
    if high is None:
        high = max(ends[1], low)
    return low / 2 + high / 2


def ends_of(column: EncodedColumn, k: int, owners: Codes | None = None) -> tuple[float, float]:
    """Numbers that stand for the open ends of a numeric column: round, with at least k rows beyond each.

    ``owners``: the person of each row, if rows are not persons; k of them are then beyond.
    """
    who = None if owners is None else ValueOwners.of(column, owners)
    return outer_ends(column.numbers, column.counts[:-1], k, column.type is not ColumnType.REAL, who)


def spread_steps(numeric: str, columns: Sequence[EncodedColumn]) -> tuple[Spread, ...]:
    """The step that writes intervals as two columns, if that is how numbers are to be released."""
    names = tuple(column.name for column in columns if column.type.is_numeric)
    return (Spread(names),) if numeric == "bounds" and names else ()
