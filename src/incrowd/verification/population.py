"""Recount what is required of a population: which of its people fit each released combination, from the file's text."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.opening import column
from incrowd.verification.verdict import Check
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.leaf_interval import parse_day, parse_interval, parse_number
from incrowd.vocabulary.requirements.delta_presence import DeltaPresence
from incrowd.vocabulary.requirements.k_map import KMap

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class People:
    """The population, and how to read a released cell.

    Parameters
    ----------
    values
        For each released column (two for bounds: the first of the pair) the values of all people, missing ones None;
        numbers as numbers, dates as dates, everything else as text.
    asked
        What is required.
    hierarchies, bounds
        As in :class:`~incrowd.verification.asked.Asked`.
    """

    values: Mapping[str, Sequence[Any]]
    asked: Sequence[KMap | DeltaPresence]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    bounds: Sequence[tuple[str, str]] = ()


def recount_population(
    connection: Any, names: Sequence[str], quasi_identifiers: Sequence[str], people: People | None
) -> tuple[Check, ...]:
    """A check for each requirement on the population."""
    if people is None:
        return ()
    keys = ", ".join(column(names.index(name)) for name in quasi_identifiers)
    found = connection.execute(f"SELECT count(*), {keys} FROM released GROUP BY {keys}").fetchall()
    fits = _Cells(people)
    rows = [int(each[0]) for each in found]
    masks = [fits.of_row(dict(zip(quasi_identifiers, each[1:], strict=True))) for each in found]
    counts = [int(mask.sum()) for mask in masks]
    nobody = int((~np.logical_or.reduce(masks)).sum())
    return tuple(_check(part, rows, counts, nobody) for part in people.asked)


def _check(part: KMap | DeltaPresence, rows: Sequence[int], fitting: Sequence[int], nobody: int) -> Check:
    if isinstance(part, KMap):
        least = min(fitting)
        return Check(str(part), least >= part.k, f"fewest people that fit one of {len(rows):,} combinations: {least:,}")
    shares = [Fraction(mine, theirs) if theirs else Fraction(2) for mine, theirs in zip(rows, fitting, strict=True)]
    passed = all(part.low <= share <= part.high for share in shares) and (not nobody or part.low == 0)
    found = f"shares from {float(min(shares)):.4f} to {float(max(shares)):.4f}"
    return Check(str(part), passed, f"{found}; {nobody:,} people fit no combination" if nobody else found)


class _Cells:
    """Which people fit a cell; each text is read once."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._known: dict[tuple[str, Any], Flags] = {}
        self._high = dict(people.bounds)

    def of_row(self, cells: Mapping[str, Any]) -> Flags:
        found = np.ones(len(next(iter(self._people.values.values()))), np.bool_)
        for name in self._people.values:
            cell = (cells[name], cells[self._high[name]]) if name in self._high else cells[name]
            key = (name, cell)
            if key not in self._known:
                self._known[key] = self._read(name, cell)
            found &= self._known[key]
        return found

    def _read(self, name: str, cell: Any) -> Flags:
        values = self._people.values[name]
        if cell is None or cell == (None, None):
            return np.ones(len(values), np.bool_)
        fits = _between(*cell) if isinstance(cell, tuple) else _reader(cell, values, self._people.hierarchies.get(name))
        by_value = {value: value is not None and bool(fits(value)) for value in set(values)}
        return np.array([by_value[value] for value in values], np.bool_)


def _between(low: Any, high: Any) -> Any:
    ends = [None if end is None else _number(end) for end in (low, high)]
    return lambda value: (
        (ends[0] is None or _number(value) > ends[0]) and (ends[1] is None or _number(value) <= ends[1])
    )


def _reader(cell: Any, values: Sequence[Any], hierarchy: Hierarchy | None) -> Any:
    """The condition that a cell writes."""
    some = next((value for value in values if value is not None), None)
    if hierarchy is not None and str(cell) in hierarchy.labels:
        below = hierarchy.leaves_below(hierarchy.labels.index(str(cell)))
        return lambda value: hierarchy.leaf_of(value) in below
    if isinstance(some, str) or some is None:
        members = {part.replace("%7C", "|").replace("%25", "%") for part in str(cell).split("|")}
        return lambda value: value == str(cell) or value in members
    text = str(cell)
    interval = parse_interval(text, dates=isinstance(some, datetime.date)) if text[:1] == "(" else None
    if interval is not None:
        return _between(interval.low, interval.high)
    if text[:1] == "[":
        low, high = (_number(end) for end in text[1:-1].split(", "))
        return lambda value: low <= _number(value) <= high
    return lambda value: _number(value) == _number(cell)


def _number(value: Any) -> Any:
    """A number, or the number of a day."""
    if isinstance(value, datetime.date):
        return parse_day(value.isoformat()[:10])
    if isinstance(value, str):
        day = parse_day(value)
        return parse_number(value) if day is None else day
    return value
