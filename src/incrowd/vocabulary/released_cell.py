"""Released cells, read back: which values of a column may stand behind a cell. The inverse of ``render``.

A cell is nothing, a value, a set of values, a group of a hierarchy, an interval, counts of values, or a number that is
no value (a mean, a middle). The text of intervals, numbers, counts and groups is read by the vocabulary; here is only
which of them a cell is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.counts_text import Counted, read_counts
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.released_value import parse_day, parse_interval, parse_number
from incrowd.vocabulary.schema import Column, ColumnType

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_RANGE = re.compile(r"^\[(\S+), (\S+)\]$")


@dataclass(frozen=True, eq=False)
class ReleasedCell:
    """What one text in a column says."""

    covers: Bools  # for each code of the original's column, the missing one last, whether it may stand behind the cell
    edges: tuple[float, ...] = ()  # the numbers at the ends of an interval that belong to it
    # Both ends of an interval with an edge, from just outside below to the last number inside
    ends: tuple[float, float] | None = None
    averaged: bool = False  # whether it is a number that is no value of the original
    understood: bool = True  # false if nobody knows what the text means
    # Of counts: for each code the share of the rows that have it, or a value of the bin it lies in
    shares: Floats | None = None


@dataclass(frozen=True, eq=False)
class CellReader:
    """Reads the released cells of one column, next to the original column they come from."""

    column: Column
    own: EncodedColumn

    def read(self, text: str | None) -> ReleasedCell:
        """What a text says; None is a cell that shows nothing."""
        if text is None:
            return ReleasedCell(np.ones(self.own.width, np.bool_))
        return self._first(self._readings(text))

    def _first(self, readings: Iterator[ReleasedCell]) -> ReleasedCell:
        return next(readings, ReleasedCell(np.ones(self.own.width, np.bool_), understood=False))

    def _readings(self, text: str) -> Iterator[ReleasedCell]:
        """Everything the text can be, the most certain first; a value that reads like a set may be either."""
        sets = list(self._set(text.split("|"))) if "|" in text else []
        yield from self._single(text, sets)
        yield from sets
        yield from self._counts(read_counts(text))
        if self.own.type.is_numeric:
            yield from self._interval(text)
            if self._number(text) is not None:
                yield ReleasedCell(np.ones(self.own.width, np.bool_), averaged=True)

    def _single(self, text: str, sets: Sequence[ReleasedCell] = ()) -> Iterator[ReleasedCell]:
        """A value, which some sets may read like, or a group of the hierarchy."""
        code = self._value(text)
        if code is not None:
            yield ReleasedCell(
                np.logical_or.reduce([self._only([code]), *(each.covers for each in sets)], dtype=np.bool_)
            )
        if self.column.hierarchy is not None and text in self.column.hierarchy.labels:
            yield self._group(self.column.hierarchy, text)

    def member(self, text: str) -> ReleasedCell:
        """What a member of a set or of counts says: a value, a group or an interval."""
        return self._first(chain(self._single(text), self._interval(text) if self.own.type.is_numeric else ()))

    def _number(self, text: str) -> float | None:
        return parse_day(text) if self.own.type is ColumnType.DATE else parse_number(text)

    def _value(self, text: str) -> int | None:
        """The code of a text that is a value."""
        if self.own.type.is_numeric:
            number = self._number(text)
            if number is None:
                return None
            same = self.own.numbers == number
        else:
            same = (self.own.dictionary == text).to_numpy()
        places = np.flatnonzero(same)
        return int(places[0]) if len(places) else None

    def _only(self, codes: Sequence[int]) -> Bools:
        covers = np.zeros(self.own.width, np.bool_)
        covers[list(codes)] = True
        return covers

    def _group(self, hierarchy: Hierarchy, label: str) -> ReleasedCell:
        """The values below a group; a group of numbers is an interval."""
        node = hierarchy.labels.index(label)
        below, places = hierarchy.leaves_below(node), hierarchy.find(self.own)
        covers = (places >= below.start) & (places < below.stop)
        interval = hierarchy.interval(node)
        if interval is None:
            return ReleasedCell(covers)
        low = -np.inf if interval.low is None else interval.low
        return self._between(covers[:-1], low, np.inf if interval.high is None else interval.high)

    def _set(self, members: Sequence[str]) -> Iterator[ReleasedCell]:
        read = [self.member(member.replace("%7C", "|").replace("%25", "%")) for member in members]
        if all(one.understood for one in read):
            yield ReleasedCell(np.logical_or.reduce([one.covers for one in read]))

    def _counts(self, members: Sequence[Counted] | None) -> Iterator[ReleasedCell]:
        """Counts of values: each of them may stand behind the cell, a missing one too; a hidden cell hides all."""
        if members is None:
            return
        read = [self.member(value) if value is not None else ReleasedCell(self._only([-1])) for value, _ in members]
        if not read:
            yield self.read(None)
        elif all(one.understood for one in read):
            rows = np.array([count for _, count in members], np.float64)
            shares = rows @ np.array([one.covers for one in read]) / rows.sum()
            yield ReleasedCell(shares > 0, shares=shares)

    def _interval(self, text: str) -> Iterator[ReleasedCell]:
        interval = parse_interval(text, dates=self.own.type is ColumnType.DATE)
        numbers = self.own.numbers
        if interval is not None:
            low = -np.inf if interval.low is None else interval.low
            high = np.inf if interval.high is None else interval.high
            yield self._between((numbers > low) & (numbers <= high), low, high)
        elif closed := _RANGE.match(text):
            first, last = (self._number(end) for end in closed.groups())
            if first is not None and last is not None:
                yield self._between((numbers >= first) & (numbers <= last), first - self.step, last)

    def _between(self, inside: Bools, low: float, high: float) -> ReleasedCell:
        """An interval; its edges are the last number inside and, where the step of the column is known, the first."""
        edges = tuple(edge for edge in (low + self.step, high) if np.isfinite(edge))
        known = np.isfinite(low) and np.isfinite(high)
        return ReleasedCell(np.append(inside, False), tuple(dict.fromkeys(edges)), (low, high) if known else None)

    @property
    def step(self) -> float:
        """The smallest difference of two numbers of the column: how finely it is written."""
        numbers = self.own.numbers.astype(np.float64)
        return float(np.diff(numbers).min()) if len(numbers) > 1 else 1.0
