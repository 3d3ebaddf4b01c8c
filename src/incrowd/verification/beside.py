"""Columns as codes, for what is counted beside the promise: what unchanged columns give back, and who is alone by them.

Codes come from the input and the written file as the verification reads them: for each released row the own value of
every column, and what its quasi-identifier cells show.

Released cells, read back by the verification: which own values of a column each of them allows. A cell is nothing, a
value, a set of values, a group of a hierarchy, an interval, two bounds, or counts of values. A number that is no
value, or not the value of all its rows, is a mean or a middle: it allows all.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.verification.coded import CodedCells, Codes, shown_cells
from incrowd.verification.input_table import ColumnOrigin
from incrowd.verification.open_cells import Numbers, QuasiIdentifier, paired
from incrowd.verification.owners import Owners
from incrowd.verification.request import Expected, Original, Originals, Request
from incrowd.verification.together import NUMBER, CodedTable, number_of_rows
from incrowd.verification.unchanged import PAIR_TESTS, UnchangedColumn, count_unchanged
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.vocabulary.counts_text import HIDDEN, read_members
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.released_value import day_number, parse_day, parse_interval, parse_number
from incrowd.vocabulary.schema import KEYED, Role

OwnValue = str | int | float | bool | datetime.date
Text = str | tuple[str | None, str | None] | None
_CLOSED = re.compile(r"^\[(\S+), (\S+)\]$")
_APOSTROPHE = re.compile(r"^'(?=[=+@\t\r-])")


def quasi_identifier(
    name: str,
    own: Sequence[OwnValue],
    values: Numbers,
    texts: Sequence[Text],
    labels: Numbers,
    *,
    hierarchy: Hierarchy | None = None,
    counts: bool = False,
    drawn: bool = False,
) -> QuasiIdentifier:
    """A quasi-identifier from the distinct values of the input and the distinct cells of the release.

    Parameters
    ----------
    own
        The values people have, in their order: text, numbers or dates.
    values
        For each released row the place of its person's value in ``own``; ``len(own)`` if it is missing.
    texts
        What cells show; None for nothing; a pair where two columns hold the bounds of an interval.
    labels
        For each row the place of its cell in ``texts``.
    hierarchy
        Whose groups cells may name.
    counts
        Whether cells are counts of values.
    drawn
        Whether these are drawn.

    Examples
    --------
    >>> rows = np.arange(3)
    >>> column = quasi_identifier("age", [20, 30, 40], rows, ["(20, 35]", "20|40", None], rows)
    >>> [allowed if allowed is None else [int(code) for code in allowed] for allowed in column.allows]
    [[1], [0, 2], None]
    """
    reader = _Reader(own, hierarchy, counts)
    allows = [reader.read(text) for text in texts]
    if reader.numbers is not None:
        plain = [label for label, text in enumerate(texts) if isinstance(text, str) and reader.number(text) is not None]
        for label in _means(plain, allows, values, labels):
            allows[label] = None
    return QuasiIdentifier(name, values, labels, allows, len(own), drawn)


def _means(plain: Sequence[int], allows: Sequence[Codes | range | None], values: Numbers, labels: Numbers) -> list[int]:
    """The numbers among cells that are not the value of all their rows."""
    own, single = np.zeros(len(allows), np.int64), set()
    for label in plain:
        allowed = allows[label]
        if allowed is not None and len(allowed) == 1:
            single.add(label)
            (own[label],) = allowed
    differ = np.bincount(labels, own[labels] != values, len(allows)) > 0
    return [label for label in plain if label not in single or differ[label]]


class _Kept(dict[str, Any]):
    """What texts are read as, each once: many cells name the same members."""

    def __init__(self, read: Callable[[str], Any]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: str) -> Any:
        self[text] = self._read(text)
        return self[text]


@dataclass(frozen=True, eq=False)
class _Reader:
    own: Sequence[OwnValue]
    hierarchy: Hierarchy | None
    counts: bool

    @property
    def _first(self) -> OwnValue | None:
        """One of the own values, which are all of one kind."""
        return next(iter(self.own), None)

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64] | None:
        """The own values as numbers, dates as days; None for text."""
        if isinstance(self._first, str | bool):
            return None
        return np.array([day_number(v) if isinstance(v, datetime.date) else v for v in self.own], np.float64)

    @cached_property
    def _dates(self) -> bool:
        return isinstance(self._first, datetime.date)

    @cached_property
    def _place(self) -> Mapping[OwnValue | None, int]:
        if self.numbers is not None:
            return {number: place for place, number in enumerate(self.numbers.tolist())}
        return {str(value).lower() if isinstance(value, bool) else value: at for at, value in enumerate(self.own)}

    def number(self, text: str) -> float | None:
        """The number a text writes, a date as its day."""
        return parse_day(text) if self._dates else parse_number(text)

    def read(self, text: Text) -> Codes | range | None:
        """The places of the values that a cell allows; None for all."""
        if isinstance(text, tuple):
            return self._bounds(*text)
        if text is None or text == HIDDEN:
            return None
        tries = [text] if not _APOSTROPHE.match(text) else [text, text[1:]]
        return next((one for each in tries for one in self._readings(each)), None)

    def _readings(self, text: str) -> Iterator[Codes | range]:
        """Everything a text can be, the most certain first; a value that reads like a set may be either."""
        parts = text.split("|")
        if self.counts:
            yield from self._together(map(self._counted.__getitem__, parts))
        single = self._alone[text]
        several = next(self._together(map(self._in_set.__getitem__, parts)), None) if len(parts) > 1 else None
        if single is not None and several is not None:
            yield np.unique([*single, *several])
        yield from (one for one in (single, several) if one is not None)

    @cached_property
    def _alone(self) -> Mapping[str, Codes | range | None]:
        """The first of what a text can be by itself."""
        return _Kept(lambda text: next(self._single(text), None))

    @cached_property
    def _in_set(self) -> Mapping[str, Codes | slice | None]:
        """The values of a member of a set."""
        return _Kept(lambda part: _index(self._alone[part.replace("%7C", "|").replace("%25", "%")]))

    @cached_property
    def _counted(self) -> Mapping[str, Codes | slice | None]:
        """The values of a member of counts."""
        missing = slice(len(self.own), len(self.own) + 1)

        def read(part: str) -> Codes | slice | None:
            members = read_members(part)
            if not members:
                return None
            [(value, _)] = members
            return missing if value is None else _index(self._alone[value])

        return _Kept(read)

    def _single(self, text: str) -> Iterator[Codes | range]:
        """A value, a group of the hierarchy, or an interval."""
        value = text if self.numbers is None else self.number(text)
        if value in self._place:
            yield range(self._place[value], self._place[value] + 1)
        if text in self._groups:
            yield self._groups[text]
        if self.numbers is not None:
            yield from self._interval(text)

    def _together(self, members: Iterable[Codes | slice | None]) -> Iterator[Codes]:
        """The values of all members, if every one could be read."""
        there = np.zeros(len(self.own) + 1, np.bool_)
        for one in members:
            if one is None:
                return
            there[one] = True
        yield np.flatnonzero(there).astype(np.min_scalar_type(len(self.own)))  # large sets of many cells are kept

    @cached_property
    def _groups(self) -> Mapping[str, Codes]:
        """The own values below each group of the hierarchy."""
        if self.hierarchy is None:
            return {}
        nowhere = len(self.hierarchy)
        leaves = np.array([nowhere if at is None else at for at in map(self.hierarchy.leaf_of, self.own)], np.int64)
        below = map(self.hierarchy.leaves_below, range(len(self.hierarchy)))
        return {
            self.hierarchy.labels[node]: np.flatnonzero((leaves >= one.start) & (leaves < one.stop))
            for node, one in enumerate(below)
        }

    def _interval(self, text: str) -> Iterator[range]:
        interval = parse_interval(text, dates=self._dates)
        if interval is not None:
            yield self._between(interval.low, interval.high, "right")
        elif closed := _CLOSED.match(text):
            low, high = (self.number(end) for end in closed.groups())
            if low is not None and high is not None:
                yield self._between(low, high, "left")

    def _bounds(self, low: str | None, high: str | None) -> range | None:
        """Two columns: above the low end and at most the high one; of a single value both ends are the value."""
        ends = [None if end is None else self.number(end) for end in (low, high)]
        if ends == [None, None]:
            return None
        return self._between(ends[0], ends[1], "left" if ends[0] == ends[1] else "right")

    def _between(self, low: float | None, high: float | None, side: Literal["left", "right"]) -> range:
        assert self.numbers is not None
        first = 0 if low is None else int(np.searchsorted(self.numbers, low, side))
        return range(first, len(self.numbers) if high is None else int(np.searchsorted(self.numbers, high, "right")))


MOST_CELLS = 25_000_000
"""Cells of a table that are held as codes at most; of larger tables nothing is counted beside the promise."""
MOST_ROWS_FOR_PAIRS = 300_000
"""Of more rows single columns are asked alone: pairs take twice as long, and it is told that they were not counted."""


def unchanged_counts(
    connection: Any,
    request: Request,
    sources: Sequence[ColumnOrigin],
    expected: Expected,
    original: Original | Originals,
) -> UnchangedCounts | None:
    """What unchanged columns undo, of the table ``released`` and what the input held; None if it is too large."""
    coded = coded_table(connection, request, sources, expected, original)
    return None if coded is None else coded.counts


def coded_table(
    connection: Any,
    request: Request,
    sources: Sequence[ColumnOrigin],
    expected: Expected,
    original: Original | Originals,
    shown: Mapping[str, CodedCells] | None = None,
) -> CodedTable | None:
    """The table ``released`` as codes, with what unchanged columns undo of it; None if it is too large.

    ``shown`` are its quasi-identifiers, if they were read before.
    """
    pieces = Originals.of(original)
    if not len(pieces.origin) or len(pieces.origin) * len(sources) > most_cells(request):
        return None
    names = [one.name for one in sources]
    own = {name: _coded(cells) for name, cells in _own(original, names)}
    quasi = [one.name for one in sources if one.understood]
    shown = shown or dict(zip(quasi, shown_cells(connection, [names.index(name) for name in quasi]), strict=True))
    transformed = [
        _transformed(one, own[one.name], shown, expected)
        for one in sources
        if one.understood and one.name not in {high for _, high in expected.bounds}
    ]
    unchanged = [
        UnchangedColumn(one.name, codes.astype(np.int64), values, _role(one))
        for one in sources
        if not one.understood and one.name != expected.pseudonym
        for values, codes in [own[one.name][1:]]
    ]
    known = request.requirement.sets(request.role(Role.QUASI_IDENTIFIER))
    pairs = most_pairs(len(pieces.origin))
    owners = None if expected.owners is None else expected.owners.released
    persons = request.persons
    linked = persons is not None and persons.linked
    facts = list(_facts(request, expected.owners, pieces.origin))
    counts = count_unchanged(transformed, unchanged, known, pair_tests=pairs, owners=owners, linked=linked, facts=facts)
    whose = np.arange(len(pieces.origin)) if owners is None else owners
    return CodedTable(transformed, unchanged, whose, counts, [one for one in facts if one.name != NUMBER])


def _facts(request: Request, owners: Owners | None, origin: Codes) -> Iterator[QuasiIdentifier]:
    """What is known of persons whom recipients can follow, and is in no column: dates, and how many rows there were.

    Dates that order the rows of a person are released as days since the first of them. How many rows a person has is
    seen, unless some were left out; of two tables that is counted with both.
    """
    persons = request.persons
    if persons is None or owners is None or not persons.linked:
        return
    if owners.dates is not None:
        dates, codes = np.unique(owners.dates[origin], return_inverse=True)
        missing = int(np.searchsorted(dates, np.nan)) if np.isnan(dates).any() else None
        yield QuasiIdentifier(f"{persons.order} as a date", codes, np.zeros(len(codes), np.int64), [None], missing)
    known = persons.known_rows is None or persons.count_known
    before = np.bincount(owners.codes[owners.codes >= 0])
    left = np.bincount(owners.released, minlength=len(before))
    if known and request.static is None and (left < before).any():
        yield number_of_rows(before, left, owners.released)


def most_cells(request: Request) -> int:
    """How many cells are held as codes at most."""
    return MOST_CELLS if request.memory is None else min(MOST_CELLS, request.memory // 64)


def most_pairs(rows: int) -> int:
    """How many tests of pairs of columns are made of so many rows."""
    return PAIR_TESTS if rows <= MOST_ROWS_FOR_PAIRS else 0


def _role(one: ColumnOrigin) -> str:
    stated = (Role.TARGET, Role.SENSITIVE, Role.PRIVATE, *KEYED)
    return str(one.column.role) if one.column.role in stated else "other"


def _own(original: Original | Originals, names: Sequence[str]) -> Iterator[tuple[str, CodedCells]]:
    """What the input held in each released row, column by column."""
    import pyarrow as pa

    if isinstance(original, Original):
        yield from ((name, original.cells(name)) for name in names)
        return
    tables = [original.piece(number).table for number in range(len(original.sizes))]
    for name in names:
        yield name, CodedCells.of(pa.chunked_array([chunk for table in tables for chunk in table.column(name).chunks]))


def _coded(cells: CodedCells) -> tuple[list[Any], int, Numbers]:
    """The values of a column in their order, how many there are, and the code of each row; missing comes last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = cells.words
    if getattr(words.type, "unit", None) == "ns":  # finer than any moment or span of Python's own
        words = words.cast(pa.int64())
    order = pc.sort_indices(_sortable(words)).to_numpy()
    place = np.append(np.argsort(order), len(words)).astype(np.int32)
    return words.take(pa.array(order)).to_pylist(), len(words), place[cells.codes]


def _sortable(words: Any) -> Any:
    """Texts that are numbers throughout, as numbers: unchanged columns of text files are ordered by size."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(words.type) or pa.types.is_large_string(words.type)):
        return words
    try:
        return pc.cast(words, pa.float64())
    except pa.ArrowInvalid:
        return words


def _transformed(
    one: ColumnOrigin, own: tuple[list[Any], int, Numbers], shown: Mapping[str, CodedCells], expected: Expected
) -> QuasiIdentifier:
    values, _, codes = own
    low, high = _labels(shown[one.name]), dict(expected.bounds).get(one.name)
    texts, labels = low if high is None else _paired(low, _labels(shown[high]))
    return quasi_identifier(
        one.column.name,
        values,
        codes,
        texts,
        labels,
        hierarchy=one.column.hierarchy,
        counts=one.name in expected.counts,
        drawn=expected.drawn is not None,
    )


def _labels(cells: CodedCells) -> tuple[list[Any], Numbers]:
    """What the cells of a released column show, each once, and which of it each row shows."""
    return [*cells.words.to_pylist(), None], cells.codes


def _paired(low: tuple[list[Any], Numbers], high: tuple[list[Any], Numbers]) -> tuple[list[Any], Codes]:
    """Two ends as one cell."""
    keys, labels = np.unique(paired(low[1], high[1], len(high[0])), return_inverse=True)
    return [(low[0][key // len(high[0])], high[0][key % len(high[0])]) for key in keys.tolist()], labels


def _index(places: Codes | range | None) -> Codes | slice | None:
    """Places as an array takes them."""
    return slice(places.start, places.stop) if isinstance(places, range) else places
