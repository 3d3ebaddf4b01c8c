"""Recount what is required of a population: which of its people fit each released combination, from the file's text."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.opening import column
from incrowd.verification.verdict import Check
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.released_value import day_number, parse_day, parse_interval, parse_number
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.schema import ColumnType

Flags = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
_FORMULA = re.compile(r"^'(?=[=+@\t\r-])")


@dataclass(frozen=True, eq=False)
class People:
    """The population, and how to read a released cell.

    Parameters
    ----------
    table
        The people, with the quasi-identifiers.
    columns
        For each released column (two for bounds: the first of the pair) its name in the population.
    requirements
        What is required.
    hierarchies, bounds
        As in :class:`~incrowd.verification.request.Expected`.
    owners
        For each row of the table the number of its person, if persons may have several rows.
    """

    table: EncodedTable
    columns: Mapping[str, str]
    requirements: Sequence[KMap | DeltaPresence]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    bounds: Sequence[tuple[str, str]] = ()
    owners: Counts | None = None


def recount_population(
    connection: Any,
    names: Sequence[str],
    quasi_identifiers: Sequence[str],
    people: People | None,
    *,
    persons: bool = False,
) -> tuple[Check, ...]:
    """A check for each requirement on the population; with ``persons`` those of the table ``owned`` are counted."""
    if people is None:
        return ()
    keys = ", ".join(column(names.index(name)) for name in quasi_identifiers)
    counted = "count(DISTINCT person)" if persons else "count(*)"
    table = "owned" if persons else "released"
    looks = connection.execute(f"SELECT {counted}, {keys} FROM {table} GROUP BY {keys}").fetchall()
    return population_checks(looks, quasi_identifiers, people)


def population_checks(
    looks: Sequence[Sequence[Any]], quasi_identifiers: Sequence[str], people: People
) -> tuple[Check, ...]:
    """The same checks, from the rows of each released combination and its cells."""
    rows = [int(each[0]) for each in looks]
    fitting, nobody = _Matching(people).counted([dict(zip(quasi_identifiers, each[1:], strict=True)) for each in looks])
    return tuple(_check(part, rows, fitting, nobody) for part in people.requirements)


def combinations_kept(part: KMap | DeltaPresence, rows: Sequence[int], fitting: Sequence[int]) -> list[bool]:
    """Whether each combination keeps a requirement, given its rows and the people that fit it.

    Examples
    --------
    >>> combinations_kept(DeltaPresence("0.1", "0.5"), [5, 6, 1], [10, 10, 0])
    [True, False, False]
    """
    if isinstance(part, KMap):
        return [theirs >= part.k for theirs in fitting]
    shares = (Fraction(mine, theirs) if theirs else None for mine, theirs in zip(rows, fitting, strict=True))
    return [share is not None and part.low <= share <= part.high for share in shares]


def _check(part: KMap | DeltaPresence, rows: Sequence[int], fitting: Sequence[int], nobody: int) -> Check:
    kept = combinations_kept(part, rows, fitting)
    everybody = isinstance(part, KMap) or part.low == 0 or not nobody
    strange = fitting.count(0)
    finding = f"fewest people that fit one of {len(rows):,} combinations: {min(fitting):,}"
    if isinstance(part, DeltaPresence):
        shares = [mine / theirs for mine, theirs in zip(rows, fitting, strict=True) if theirs]
        finding = f"shares from {min(shares):.4f} to {max(shares):.4f}" if shares else "no shares"
        finding += f"; {nobody:,} people fit no combination" if nobody else ""
    finding += f"; {strange:,} combinations fit nobody" if strange else ""
    return Check(str(part), all(kept) and everybody, finding)


class _Matching:
    """People who fit combinations; people who are alike are looked at once, and each cell is read once."""

    def __init__(self, people: People) -> None:
        import polars as pl

        self._high = dict(people.bounds)
        self._readers = {
            name: _Reader(people.table[own], people.hierarchies.get(name)) for name, own in people.columns.items()
        }
        codes = pl.DataFrame({name: people.table[own].codes for name, own in people.columns.items()})
        alike = codes.group_by(codes.columns).len("people of a kind")
        self._persons: Any = None
        if people.owners is not None:
            whose = pl.Series("people of a kind", people.owners)
            alike = codes.with_columns(whose).group_by(codes.columns).agg("people of a kind")
            self._persons = alike["people of a kind"]
            alike = alike.with_columns(pl.col("people of a kind").list.len())
        self._kinds = {name: alike[name].to_numpy() for name in people.columns}
        self._sizes: Counts = alike["people of a kind"].to_numpy().astype(np.int64)

    def counted(self, combinations: Sequence[Mapping[str, Any]]) -> tuple[list[int], int]:
        """How many people fit each combination, and how many fit none."""
        met, fitting = np.zeros(len(self._sizes), np.bool_), []
        for cells in combinations:
            left = np.arange(len(self._sizes))
            for name, kinds in self._kinds.items():
                cell = (cells[name], cells[self._high[name]]) if name in self._high else cells[name]
                fits = self._readers[name].fitting(cell)
                left = left if fits is None else left[fits[kinds[left]]]
            met[left] = True
            fitting.append(self._different(left))
        return fitting, self._different(np.arange(len(met))) - self._different(np.flatnonzero(met))

    def _different(self, kinds: Counts) -> int:
        """How many people are of one of these kinds; somebody with several rows may be of several."""
        if self._persons is None:
            return int(self._sizes[kinds].sum())
        return int(self._persons.gather(kinds).explode().drop_nulls().n_unique())


class _Reader:
    """Reads the cells of a column: for each code of the population, whether people who have it fit."""

    def __init__(self, own: EncodedColumn, hierarchy: Hierarchy | None) -> None:
        self._own = own
        self._codes = {value: code for code, value in enumerate(own.dictionary.to_list())}
        self._tree = None if hierarchy is None else (hierarchy, hierarchy.find(own))
        self._known: dict[Any, Flags | None] = {None: None, (None, None): None}

    def fitting(self, cell: Any) -> Flags | None:
        """Whether each code fits; None if the cell shows nothing."""
        if cell not in self._known:
            self._known[cell] = self._between(*cell) if isinstance(cell, tuple) else self._read(str(cell))
        return self._known[cell]

    def _read(self, text: str) -> Flags:
        """A text may be as it is, or have got an apostrophe before what looks like a formula."""
        plain = _FORMULA.sub("", text)
        return self._meaning(text) if plain == text else self._meaning(text) | self._meaning(plain)

    def _meaning(self, text: str) -> Flags:
        if self._tree is not None and text in self._tree[0].labels:
            hierarchy, leaves = self._tree
            below = hierarchy.leaves_below(hierarchy.labels.index(text))
            return np.asarray((leaves >= below.start) & (leaves < below.stop))
        members = {text, *(part.replace("%7C", "|").replace("%25", "%") for part in text.split("|"))}
        if not self._own.type.is_numeric:
            flags = np.zeros(self._own.width, np.bool_)
            flags[[self._codes[member] for member in members if member in self._codes]] = True
            return flags
        interval = parse_interval(text, dates=self._own.type is ColumnType.DATE) if text[:1] == "(" else None
        if interval is not None:
            return self._between(interval.low, interval.high)
        ends = [_number(end) for end in text[1:-1].split(", ")] if text[:1] == "[" else []
        if len(ends) == 2 and None not in ends:
            return self._flags((self._own.numbers >= ends[0]) & (self._own.numbers <= ends[1]))
        return self._flags(np.isin(self._own.numbers, list(map(_number, members))))

    def _between(self, low: Any, high: Any) -> Flags:
        """Above the low end and at most the high one; an end that is missing is open."""
        numbers, inside = self._own.numbers, np.ones(self._own.width - 1, np.bool_)
        if low is not None:
            inside &= numbers > _number(low)
        if high is not None:
            inside &= numbers <= _number(high)
        return self._flags(inside)

    def _flags(self, inside: Flags) -> Flags:
        """With the missing value, of which nothing is true."""
        return np.append(inside, False)


def _number(value: Any) -> Any:
    """A number, or the number of a day; None of other texts."""
    if isinstance(value, datetime.date):
        return day_number(value)
    if isinstance(value, str):
        day = parse_day(value)
        return parse_number(value) if day is None else day
    return value
