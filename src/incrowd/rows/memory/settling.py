"""Filling in what only the rows tell: exact means, the ends of ranges, counts of values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import PlanError
from incrowd.plan.steps import Bin, JointCounts
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import (
    Common,
    Counts,
    Form,
    Interval,
    Level,
    Mean,
    Member,
    Range,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
    member_text,
)
from incrowd.vocabulary.schema import ColumnType

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


# Whose rows a mean is made of: one of which a person has more than half tells of that person.
@dataclass(frozen=True, eq=False)
class RowsOfPersons:
    """How many rows that show a form are whose, and how many of them have a value."""

    forms: Times
    persons: Times
    rows: Times
    known: Times

    @classmethod
    def of(cls, column: EncodedColumn, shown: Codes, persons: npt.NDArray[np.integer]) -> RowsOfPersons:
        """Counted over the rows; ``shown`` is the position of the form each row shows, -1 for nothing."""
        some = shown >= 0
        known = (column.codes[some] != column.missing_code).astype(np.int64)
        return cls(shown[some].astype(np.int64), persons[some].astype(np.int64), np.ones_like(known), known)._together()

    @staticmethod
    def sum(parts: Sequence[RowsOfPersons]) -> RowsOfPersons:
        """Of all rows of several tables."""
        names = ("forms", "persons", "rows", "known")
        return RowsOfPersons(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))._together()

    def heavy(self, part_of: Times, count: int) -> Flags:
        """Of which parts, each some of the forms, a person has more than half: of all rows, or of those with a value.

        ``part_of`` has the part of each form, -1 for none.
        """
        parts = part_of[self.forms]
        some = parts >= 0
        held = RowsOfPersons(parts[some], self.persons[some], self.rows[some], self.known[some])._together()
        heavy = np.zeros(count, np.bool_)
        for rows in (held.rows, held.known):
            most = np.zeros(count, np.int64)
            np.maximum.at(most, held.forms, rows)
            heavy |= 2 * most > np.bincount(held.forms, rows, count)
        return heavy

    def _together(self) -> RowsOfPersons:
        """The same with each form and person once."""
        order = np.lexsort((self.persons, self.forms))
        forms, persons = self.forms[order], self.persons[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (forms[1:] != forms[:-1]) | (persons[1:] != persons[:-1])
        first = np.flatnonzero(new)
        sums = (np.add.reduceat(each[order], first) if len(first) else each for each in (self.rows, self.known))
        return RowsOfPersons(forms[first], persons[first], *sums)


# How many rows show which form while they have which value: all that means and ends are made of.
@dataclass(frozen=True, eq=False)
class FormTally:
    """Pairs of a form and a value's code that occur, each once and in order, with their rows.

    Rows that show nothing, and missing values, are not counted. ``owned``: whose rows they are, if a person may have
    several and means are made of them.
    """

    forms: Times
    codes: Times
    rows: Times
    owned: RowsOfPersons | None = None

    @classmethod
    def of(cls, column: EncodedColumn, shown: Codes, forms: int) -> FormTally:
        """Counted over the rows; ``shown`` is the position of the form each row shows, -1 for nothing."""
        width = max(1, len(column.dictionary))
        known = (column.codes != column.missing_code) & (shown >= 0)
        keys = shown[known].astype(np.int64) * width + column.codes[known]
        if forms * width <= 4 * len(keys):
            counts = np.bincount(keys, minlength=forms * width)
            cells = np.flatnonzero(counts)
            return cls(cells // width, cells % width, counts[cells])
        cells, counts = np.unique(keys, return_counts=True)
        return cls(cells // width, cells % width, counts)

    @staticmethod
    def sum(parts: Sequence[FormTally]) -> FormTally:
        """The tally of all rows of several tables with the same dictionaries."""
        forms, codes = (np.concatenate([getattr(part, name) for part in parts]) for name in ("forms", "codes"))
        rows = np.concatenate([part.rows for part in parts])
        width = int(codes.max(initial=0)) + 1
        cells, places = np.unique(forms * width + codes, return_inverse=True)
        owned = [part.owned for part in parts if part.owned is not None]
        return FormTally(
            cells // width,
            cells % width,
            np.bincount(places, rows, len(cells)).astype(np.int64),
            RowsOfPersons.sum(owned) if owned else None,
        )

    def heavy(self, part_of: Times, count: int) -> Flags:
        """Of which parts, each some of the forms, one person has more than half of the rows."""
        return np.zeros(count, np.bool_) if self.owned is None else self.owned.heavy(part_of, count)


_EXACT_IN_A_FLOAT = 2**53  # whole numbers below it are exact in a float of 64 bits
_SPLITS = 2.0**27 + 1  # times this parts the 53 bits of a float in two halves (Veltkamp, Dekker 1971)
_LARGEST_SPLIT = 2.0**900  # times _SPLITS, and summed up, it is still below the largest float
Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]


def needs_rows(forms: Sequence[Form]) -> bool:
    """Whether some form has to be filled in."""
    return any(isinstance(form, Mean | Range | Level | Counts | Common | ValueSet) for form in forms)


def settle_forms(
    forms: Sequence[Form], column: EncodedColumn, tally: FormTally, *, narrow: bool = True
) -> Sequence[Form]:
    """The forms of one attribute with what only the rows tell.

    Means and ranges are over the rows that show the form, levels over all rows that show the interval; a set names the
    values that some of its rows have, and no other, if it is to be ``narrow``. A mean of rows of which one person has
    more than half is not shown. Of the column only the dictionary is asked.
    """
    if narrow and not column.type.is_numeric and any(isinstance(form, ValueSet) for form in forms):
        forms = had_by_rows(forms, column, tally)
    if any(isinstance(form, Mean) for form in forms):
        means = group_means(column.numbers, tally, len(forms))
        heavy = tally.heavy(np.arange(len(forms)), len(forms))
        forms = [
            form if not isinstance(form, Mean) else Suppressed() if heavy[i] else Mean(_known(means[i]))
            for i, form in enumerate(forms)
        ]
    if any(isinstance(form, Range) for form in forms):
        least, most = group_ends(column.numbers, tally, len(forms))
        forms = [Range(least[i].item(), most[i].item()) if isinstance(f, Range) else f for i, f in enumerate(forms)]
    levels = {form: i for i, form in enumerate(dict.fromkeys(f for f in forms if isinstance(f, Level)))}
    if levels:
        level_of = np.array([levels.get(form, -1) if isinstance(form, Level) else -1 for form in forms], np.int64)
        kept = level_of[tally.forms] >= 0
        of_levels = FormTally(level_of[tally.forms][kept], tally.codes[kept], tally.rows[kept])
        means, heavy = group_means(column.numbers, of_levels, len(levels)), tally.heavy(level_of, len(levels))
        forms = [
            form
            if not isinstance(form, Level)
            else Suppressed()
            if heavy[levels[form]]
            else replace(form, value=_known(means[levels[form]]))
            for form in forms
        ]
    return forms


def had_by_rows(forms: Sequence[Form], column: EncodedColumn, tally: FormTally) -> list[Form]:
    """The forms, with sets that leave out what none of their rows has.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> job = EncodedColumn("job", ColumnType.CATEGORICAL, np.array([0, 1], np.int32), pl.Series(["cook", "nurse"]))
    >>> had_by_rows([ValueSet(("cook", "smith"))], job, FormTally(np.array([0]), np.array([0]), np.array([2])))
    [Shown(value='cook')]
    """
    values = column.dictionary.to_list()
    had: list[set[str]] = [set() for _ in forms]
    for form, code in zip(tally.forms.tolist(), tally.codes.tolist(), strict=True):
        had[form].add(values[code])
    return [
        _of_these(form, mine) if isinstance(form, ValueSet) else form for form, mine in zip(forms, had, strict=True)
    ]


def _of_these(form: ValueSet, had: set[str]) -> Form:
    kept = tuple(value for value in form.values if value in had)
    return form if not kept else Shown(kept[0]) if len(kept) == 1 else ValueSet(kept)


def _known(mean: float) -> float | None:
    """A mean as it is released; what no row shows has none."""
    return None if math.isnan(mean) else float(mean)


def group_ends(numbers: Numbers, tally: FormTally, count: int) -> tuple[Numbers, Numbers]:
    """The smallest and the largest number of every group; codes are in the order of the numbers."""
    least, most = np.full(count, len(numbers) - 1), np.zeros(count, np.int64)
    np.minimum.at(least, tally.forms, tally.codes)
    np.maximum.at(most, tally.forms, tally.codes)
    return numbers[least], numbers[most]


def group_means(numbers: Numbers, tally: FormTally, count: int) -> npt.NDArray[np.float64]:
    """The mean of every group; missing values are left out, an empty group has NaN.

    Sums are exact before they are rounded, once. The quotient is kept between the smallest and the largest value,
    where the exact mean lies, so it satisfies every threshold the rows satisfy.
    """
    rows = np.bincount(tally.forms, tally.rows, count).astype(np.float64)
    values = numbers[tally.codes]
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, tally.forms, values)
    np.maximum.at(most, tally.forms, values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(_means(values, tally, rows), least, most)


def _means(values: Numbers, tally: FormTally, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Means per group; in floats where those hold every sum exactly."""
    whole = values.dtype.kind == "i"
    largest = float(np.abs(values.astype(np.float64)).max(initial=0))
    if whole and largest * rows.sum() < _EXACT_IN_A_FLOAT:
        sums = np.bincount(tally.forms, values.astype(np.float64) * tally.rows, len(rows)).astype(np.float64)
        return sums / rows
    order = np.argsort(tally.forms, kind="stable")
    cuts = np.cumsum(np.bincount(tally.forms, minlength=len(rows)))[:-1]
    mean = _mean_of_whole if whole else _mean_of_small if largest < _LARGEST_SPLIT else _mean_of_any
    parts = zip(np.split(values[order], cuts), np.split(tally.rows[order], cuts), strict=True)
    return np.array([mean(part, times) if len(part) else np.nan for part, times in parts], np.float64)


def _mean_of_whole(values: npt.NDArray[Any], times: Times) -> float:
    total: int = sum(value * count for value, count in zip(values.tolist(), times.tolist(), strict=True))
    return total / int(times.sum())


def _mean_of_small(values: npt.NDArray[Any], times: Times) -> float:
    """Each product as the exact sum of two floats (Veltkamp, Dekker); the mean is rounded once."""
    counts = times.astype(np.float64)
    product = values * counts
    high, low = _halves(values)
    many, few = _halves(counts)
    error = ((high * many - product) + high * few + low * many) + low * few
    parts = np.concatenate([product, error]).tolist()
    total = math.fsum(parts)
    lost = math.fsum([*parts, -total])
    return float((Fraction(total) + Fraction(lost)) / int(times.sum()))


def _halves(numbers: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Two numbers of half the digits each, whose sum is the number."""
    large = numbers * _SPLITS
    high = large - (large - numbers)
    return high, numbers - high


def _mean_of_any(values: npt.NDArray[Any], times: Times) -> float:
    """The sum may be larger than any float, the mean is not."""
    total = sum(Fraction(value) * count for value, count in zip(values.tolist(), times.tolist(), strict=True))
    return float(total / int(times.sum()))


# Filling in counts: which values the rows of each group have, and in how many rows.
Members = tuple[tuple[Member, int], ...]


def settle_counts(
    forms: Sequence[Form], column: EncodedColumn, tally: FormTally, cuts: Sequence[float] | None, rows: Sequence[int]
) -> Sequence[Form]:
    """The forms of one attribute with the values of the rows that show them.

    ``column``: only its dictionary is asked. ``cuts``: the public cuts of a number. ``rows``: how many rows show each
    form, those with a missing value too.
    """
    if not any(isinstance(form, Counts | Common) for form in forms):
        return forms
    values, places = _values(column, cuts)
    members = _members(tally, places, values, rows)
    everything = len(values)
    return [
        Counts(members[i])
        if isinstance(form, Counts)
        else _common(members[i], everything, column)
        if isinstance(form, Common)
        else form
        for i, form in enumerate(forms)
    ]


def _values(
    column: EncodedColumn, cuts: Sequence[float] | None
) -> tuple[Sequence[str | Interval], npt.NDArray[np.int64]]:
    """What may be counted, in order, and which of it each code of the column is."""
    if not column.type.is_numeric:
        return column.dictionary.to_list(), np.arange(len(column.dictionary))
    if not cuts:
        raise PlanError(f"{column.name} has no public cuts between which its numbers could be counted. Hide it.")
    return Bin.intervals(cuts), np.searchsorted(np.asarray(cuts, np.float64), column.numbers, side="left")


def _members(
    tally: FormTally, places: npt.NDArray[np.int64], values: Sequence[str | Interval], rows: Sequence[int]
) -> list[Members]:
    """For each form the values of its rows; rows that the tally does not know have a missing value."""
    width = max(1, len(values))
    cells, where = np.unique(tally.forms * width + places[tally.codes], return_inverse=True)
    counts = np.bincount(where, tally.rows, len(cells)).astype(np.int64)
    members: list[list[tuple[Member, int]]] = [[] for _ in rows]
    known = [0] * len(rows)
    for form, value, count in zip((cells // width).tolist(), (cells % width).tolist(), counts.tolist(), strict=True):
        members[form].append((values[value], count))
        known[form] += count
    for one, all_of_it, seen in zip(members, rows, known, strict=True):
        if all_of_it > seen:
            one.append((None, all_of_it - seen))
    return [tuple(one) for one in members]


def _common(members: Members, everything: int, column: EncodedColumn) -> Form:
    """What all rows have in common, as plain values.

    A set that excludes no value tells nothing, and a set cannot say that some values are missing.
    """
    values = [member for member, _ in members]
    if values == [None]:
        return ShownMissing()
    if None in values or not values:
        return Suppressed()
    if len(values) == 1:
        return values[0] if isinstance(values[0], Interval) else Shown(str(values[0]))
    if len(values) == everything:
        return Suppressed()
    return ValueSet(tuple(str(member_text(value, column.type)) for value in values))


def joint_column(joint: JointCounts, table: EncodedTable, cuts: Mapping[str, Any]) -> EncodedColumn:
    """The rows' values of attributes that are counted together; missing are combinations that may not be named."""
    keys, rows = np.zeros(len(joint.values), np.int64), np.zeros(table.height, np.int64)
    for at, name in enumerate(joint.names):
        column = table[name]
        values, places = _values(column, cuts.get(name))
        place: dict[Member, int] = {value: number for number, value in enumerate([*values, None])}
        keys = keys * len(place) + np.array([place[each[at]] for each in joint.values])
        rows = rows * len(place) + np.append(places, len(values))[column.codes]
    order = np.argsort(keys)
    at_most = np.minimum(np.searchsorted(keys[order], rows), len(keys) - 1)
    codes = np.where(keys[order][at_most] == rows, order[at_most], len(keys))
    return EncodedColumn("", ColumnType.CATEGORICAL, codes.astype(np.int32), pl.int_range(len(keys), eager=True))


def joint_rows(joint: JointCounts, tally: FormTally, forms: int) -> list[tuple[tuple[tuple[Member, ...], int], ...]]:
    """For each form the combinations of its rows that may be named, with their rows."""
    known: list[list[tuple[tuple[Member, ...], int]]] = [[] for _ in range(forms)]
    for form, code, rows in zip(tally.forms.tolist(), tally.codes.tolist(), tally.rows.tolist(), strict=True):
        known[form].append((joint.values[code], rows))
    return [tuple(one) for one in known]
