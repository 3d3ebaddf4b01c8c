"""Effective k: the k that is left when unchanged columns give back what a release hides.

A release hides quasi-identifiers; all other columns leave as they came. Whoever knows how they depend on each other
writes down a finer table than the one that was released. Here that table is counted: the released cells, with what
single columns and pairs of columns give back of them (:mod:`incrowd.verification.give_back`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice, product
from math import comb

import numpy as np

from incrowd.verification.alone import SETS_AT_MOST, count_alone
from incrowd.verification.coded import alike
from incrowd.verification.give_back import CHUNK, RARER, Crowd, GiveBackRules, ManyColumns, joined, rules_of
from incrowd.verification.open_cells import (
    Bools,
    Codes,
    Numbers,
    OpenCells,
    QuasiIdentifier,
    compact,
    distinct,
    histories,
    in_blocks,
    own_cells,
    paired,
)
from incrowd.verification.unchanged_counts import GiveBack, NotCounted, Remedy, SetCounts, UnchangedCounts
from incrowd.vocabulary.requirement import KnownSet

PAIR_TESTS = 600  # pairs grow with the square of the columns, and each test counts all rows
ADVICE_COUNTS = 60  # beyond so many counts, all columns that tell are advised against at once
TOO_FEW, BEYOND = "too few rows to tell", "not counted"
_MARKS = 100_000_000  # of persons and what they have, a byte each; beyond it they are sorted, which takes far longer
_MANY_VALUES = 64  # an unchanged column of more values is counted in blocks, too
_BLOCK, _BLOCKS, _BLOCKS_IN_PAIRS = 120, 4096, 32  # people of a block at least, blocks at most, in pairs


@dataclass(frozen=True, eq=False)
class UnchangedColumn:
    """A column that is released as it came: its codes in the order of the values, and what the user called it.

    ``role`` is ``private``, ``sensitive``, ``target``, ``pseudonym``, ``shifted``, or ``other`` if nothing was stated.
    """

    name: str
    codes: Codes
    missing: int | None = None
    role: str = "other"


def count_unchanged(
    quasi_identifiers: Sequence[QuasiIdentifier],
    unchanged: Sequence[UnchangedColumn],
    known: Sequence[KnownSet],
    *,
    pair_tests: int = PAIR_TESTS,
    people_times_sets: int = SETS_AT_MOST,
    owners: Codes | None = None,
    linked: bool = False,
    facts: Sequence[QuasiIdentifier] = (),
) -> UnchangedCounts:
    """What unchanged columns give back of a release, and who is alone by them.

    Parameters
    ----------
    quasi_identifiers, unchanged
        All columns of the release, with a code for each released row.
    known
        The sets of quasi-identifiers that are known together, each with its k.
    pair_tests
        How many pairs of columns are asked about quasi-identifiers at most; what is beyond is told as not counted.
    people_times_sets
        Up to how many people times sets of columns the sets that single out most are looked for one by one.
    owners
        The person of each row, if somebody may have several: then groups are as large as they have persons.
    linked
        Whether recipients can follow persons: then a group is everybody with the same classes, as often.
    facts
        What is known of rows beside each set of quasi-identifiers, and is in no column of the release.

    Examples
    --------
    >>> code = np.repeat([0, 1], 20)
    >>> hidden = QuasiIdentifier("education", code, np.zeros(40, np.int64), [None])
    >>> counts = count_unchanged([hidden], [UnchangedColumn("code", code)], [KnownSet(("education",), 30)])
    >>> counts.effective_k, counts.given_back, counts.advice
    (20, 40, Remedy(columns=('code',), effective_k=40))
    """
    quasi, names = [*quasi_identifiers, *facts], tuple(one.name for one in facts)
    together = [replace(one, names=(*one.names, *names)) for one in known]
    cells = [own_cells(one) for one in quasi]
    counting = Counting(cells, quasi, unchanged, together, pair_tests, owners, linked, facts=frozenset(names))
    return counting.counts(people_times_sets)


@dataclass(frozen=True, eq=False)
class _Column:
    """A column as it is counted in pairs, and the rows that show it."""

    codes: Codes
    usable: Bools

    @cached_property
    def width(self) -> int:
        """How many codes there are."""
        return int(self.codes.max()) + 1


@dataclass(frozen=True, eq=False)
class _Narrow:
    """What a column or a pair leaves of a quasi-identifier alone: rows, their sets, and what it gives back."""

    rows: Codes
    sets: Numbers
    gives: tuple[GiveBack, ...]


@dataclass(frozen=True)
class _Count:
    """One count: with all columns, or without some; ``back`` are the rows given back of each quasi-identifier."""

    sets: tuple[SetCounts, ...]
    people_below_k: int
    cells: int
    by: tuple[GiveBack, ...]
    not_counted: tuple[NotCounted, ...]
    back: Mapping[str, Bools]

    @property
    def sound(self) -> bool:
        """Whether every set keeps its k."""
        return all(one.effective_k >= one.k for one in self.sets)

    @property
    def share(self) -> Fraction:
        """The effective k over the k that was asked for, of the set that keeps least of it."""
        return min(Fraction(one.effective_k, one.k) for one in self.sets)


@dataclass(eq=False)
class Counting:
    """Counts with and without columns; what a column or a pair can tell is looked for once."""

    cells: Sequence[OpenCells]
    quasi_identifiers: Sequence[QuasiIdentifier]
    unchanged: Sequence[UnchangedColumn]
    known: Sequence[KnownSet]
    pair_tests: int
    owners: Codes | None = None
    linked: bool = False
    of_persons: frozenset[str] = frozenset()  # columns that a person has once, whatever its number of rows
    idle: Bools | None = None  # rows of persons that have only these
    facts: frozenset[str] = frozenset()  # what is known beside quasi-identifiers, and is in no column
    _singles: dict[tuple[str, int], _Narrow] = field(default_factory=dict)
    _telling: dict[int, list[str]] = field(default_factory=dict)
    _pairs: dict[tuple[str, str, int], GiveBackRules | None] = field(default_factory=dict)
    _crowds: dict[tuple[str, int], Codes] = field(default_factory=dict)

    def counts(self, people_times_sets: int) -> UnchangedCounts:
        """Everything that is told of unchanged columns."""
        first = self.count(())
        columns = [cells for cells in self.cells if cells.name not in self.facts]
        return UnchangedCounts(
            rows=self.rows,
            sets=tuple(
                replace(one, columns=tuple(name for name in one.columns if name not in self.facts))
                for one in first.sets
            ),
            people_below_k=first.people_below_k,
            hidden_cells=sum(int(cells.open.sum()) for cells in columns),
            given_back=sum(int(first.back[cells.name].sum()) for cells in columns),
            by=first.by,
            alone=count_alone(self.unchanged, self.rows, people_times_sets, self.owners, linked=self.linked),
            not_counted=(*self._undecidable(), *first.not_counted),
            advice=self.advice(first),
        )

    @property
    def rows(self) -> int:
        """How many people there are."""
        return self.cells[0].rows

    def _undecidable(self) -> Iterator[NotCounted]:
        """Quasi-identifiers with hidden cells of which the table has too few rows to tell anything."""
        nothing = np.zeros(self.rows, np.int64)
        for at, cells in enumerate(self.cells):
            if cells.open.any():
                people = self._evidence((), at, nothing)[1]
                if RARER * people.rows > (people.rows + 2) * people.errors:
                    yield NotCounted(cells.name, TOO_FEW)

    def count(self, without: Collection[str]) -> _Count:
        """Cells given back, by what, and the classes that are left."""
        names = [column.name for column in self.unchanged if column.name not in without]
        by: list[GiveBack] = []
        narrow = [self._by_singles(names, at, by) for at in range(len(self.cells))]
        beyond = self._by_pairs(names, narrow, by)
        back = [cells.sets.given_back(narrow[at], cells.allowed) for at, cells in enumerate(self.cells)]
        order = {name: at for at, name in enumerate([*names, *(cells.name for cells in self.cells)])}
        by.sort(key=lambda one: (-one.cells, [order[name] for name in one.columns], order[one.quasi_identifier]))
        sets, below = self._classes(narrow, back)
        cells_given_back = {cells.name: one for cells, one in zip(self.cells, back, strict=True)}
        return _Count(sets, below, sum(int(one.sum()) for one in back), tuple(by), beyond, cells_given_back)

    def _by_singles(self, names: Sequence[str], at: int, by: list[GiveBack]) -> Numbers:
        """For each row the set that all single columns leave of a quasi-identifier."""
        narrow, wanted = self.cells[at].allowed.copy(), set(names)
        if at not in self._telling:
            self._telling[at] = [*self._that_may_tell(at)]
        for name in self._telling[at]:
            if name not in wanted:
                continue
            if (name, at) not in self._singles:
                self._singles[name, at] = self._single(name, at)
            self._add(self._singles[name, at], at, narrow, by)
        return narrow

    def _that_may_tell(self, at: int) -> Iterator[str]:
        """The unchanged columns that may tell something of a quasi-identifier."""
        if not self.cells[at].open.any():
            return
        for names, columns in self._together:
            tells = [True] * len(names) if columns is None else columns.may_tell(self.cells[at])
            yield from (name for name, one in zip(names, tells, strict=True) if one)

    @cached_property
    def _together(self) -> list[tuple[list[str], ManyColumns | None]]:
        """The unchanged columns, as many together as are asked at once; None where each is asked by itself.

        So it is where persons are counted, where there are many rows, and where a column has many values.
        """
        together, names = max(1, CHUNK // self.rows), [column.name for column in self.unchanged]
        parts: list[tuple[list[str], ManyColumns | None]] = []
        for some in (names[begin : begin + together] for begin in range(0, len(names), together)):
            few = [views[0] for name in some if len(views := self._views[name]) == 1 and views[0].width <= _MANY_VALUES]
            alone = self.owners is not None or len(few) < max(2, len(some))
            parts.append((some, None if alone else ManyColumns.of([c.codes for c in few], [c.width for c in few])))
        return parts

    def _add(self, alone: _Narrow, at: int, narrow: Numbers, by: list[GiveBack]) -> None:
        """Narrow the sets of a quasi-identifier, in place, by what a column or a pair leaves of it."""
        by.extend(alone.gives)
        narrow[alone.rows] = self.cells[at].sets.both(narrow[alone.rows], alone.sets)

    def _narrow(self, columns: tuple[str, ...], at: int, rows: Codes, sets: Numbers) -> _Narrow:
        """The rows that are narrowed, and how many of them are given back."""
        cells = self.cells[at]
        changed = np.flatnonzero(sets != cells.allowed[rows])
        rows, sets = rows[changed], sets[changed]
        number = int(cells.sets.given_back(sets, cells.allowed[rows]).sum())
        return _Narrow(rows, sets, (GiveBack(columns, cells.name, number),) if number else ())

    def _single(self, name: str, at: int) -> _Narrow:
        """What one column leaves of a quasi-identifier."""
        cells = self.cells[at]
        rules = []
        for view in self._views[name]:
            xs, people = self._evidence((name,), at, view.codes)
            rules.append((view, rules_of(paired(xs, people.values, cells.width), view.width, people)))
        rows = np.flatnonzero(cells.open) if any(one for _, one in rules) else np.empty(0, np.int64)
        sets = cells.allowed[rows]
        for view, one in rules:
            if one is not None:
                sets = joined(one.narrowed(view.codes[rows], cells, rows), sets, cells.sets)
        return self._narrow((name,), at, rows, sets)

    @cached_property
    def _views(self) -> Mapping[str, list[_Column]]:
        """Each unchanged column by value, and in blocks if it has many values."""
        return {column.name: list(_views(column)) for column in self.unchanged}

    @cached_property
    def _in_pairs(self) -> dict[str, _Column]:
        """All columns as they are counted in pairs."""
        columns = {column.name: _in_pair(column) for column in self.unchanged}
        return columns | {cells.name: _Column(cells.values.astype(np.int64), ~cells.open) for cells in self.cells}

    def _by_pairs(self, names: Sequence[str], narrow: list[Numbers], by: list[GiveBack]) -> tuple[NotCounted, ...]:
        """Ask pairs about the cells that no single column gives back; narrows their sets in place."""
        masks = [cells.open & ~cells.sets.given_back(narrow[at], cells.allowed) for at, cells in enumerate(self.cells)]
        questions = [(at, cells.name) for at, cells in enumerate(self.cells) if masks[at].any()]
        left = [np.flatnonzero(mask) for mask in masks] if self.pair_tests else []
        tests = ((pair, at) for pair in self._pairs_of(names) for at, name in questions if name not in pair)
        for pair, at in islice(tests, self.pair_tests):
            rules = self._pair(pair, at)
            if rules is not None:
                self._add(self._narrowed_by_pair(pair, at, left[at], rules), at, narrow[at], by)
        all_tests = comb(len(names), 2) * len(questions) + len(names) * sum(
            len(questions) - ((at, cells.name) in questions)
            for at, cells in enumerate(self.cells)
            if not cells.open.all()
        )
        beyond = all_tests - self.pair_tests
        return (NotCounted(f"{beyond:,} of {all_tests:,} tests of pairs of columns", BEYOND),) if beyond > 0 else ()

    def _pairs_of(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Pairs of unchanged columns, then those of one with a quasi-identifier that some rows show."""
        yield from combinations(names, 2)
        shown = [cells.name for cells in self.cells if not cells.open.all()]
        yield from product(names, shown)

    def _narrowed_by_pair(self, pair: tuple[str, str], at: int, rows: Codes, rules: GiveBackRules) -> _Narrow:
        first, second = (self._in_pairs[name] for name in pair)
        rows = rows[second.usable[rows]]
        xs, cells = first.codes[rows] * second.width + second.codes[rows], self.cells[at]
        sets = joined(rules.narrowed(xs, cells, rows), cells.allowed[rows], cells.sets)
        return self._narrow(pair, at, rows, sets)

    def _pair(self, pair: tuple[str, str], at: int) -> GiveBackRules | None:
        """What a pair can tell of a quasi-identifier."""
        key, cells = (*pair, at), self.cells[at]
        if key not in self._pairs:
            first, second = (self._in_pairs[name] for name in pair)
            xs, people = self._evidence(pair, at, first.codes * second.width + second.codes)
            if people is cells:
                crowds = [self._crowd(name, at) for name in pair]
            else:
                widths, codes = (first.width, second.width), np.divmod(xs, second.width)
                crowds = [_crowd(one, width, people) for one, width in zip(codes, widths, strict=True)]
            members = Crowd(crowds[0], second.width), Crowd(crowds[1])
            self._pairs[key] = rules_of(
                paired(xs, people.values, cells.width), first.width * second.width, people, members
            )
        return self._pairs[key]

    def _crowd(self, name: str, at: int) -> Codes:
        """How many people have each value of a column and of a quasi-identifier."""
        if (name, at) not in self._crowds:
            column = self._in_pairs[name]
            self._crowds[name, at] = _crowd(column.codes, column.width, self.cells[at])
        return self._crowds[name, at]

    def _evidence(self, columns: Sequence[str], at: int, xs: Codes) -> tuple[Codes, OpenCells]:
        """From what it is learned what columns (``xs``) tell of a quasi-identifier: values of x, and its cells there.

        Rows of one person with the same x and value count once, for others predict a person's value. Who has none of
        the columns tells nothing of them.
        """
        cells, values, owners = self.cells[at], self.cells[at].values, self.owners
        if owners is None:
            return xs, cells
        if self.idle is not None and {*columns, cells.name} - self.of_persons:
            there = ~self.idle
            xs, values, owners = xs[there], values[there], owners[there]
        keys, numbers = compact(xs * cells.width + values)
        xs, values = np.divmod(np.repeat(keys, _persons_of(numbers, len(keys), owners)), cells.width)
        return xs, replace(cells, values=values, people=np.bincount(values, minlength=cells.width))

    @cached_property
    def _labels(self) -> list[Codes]:
        """The classes of each set that is known together: rows with equal released cells."""
        return [self._alike(one.names) for one in self.known]

    def _alike(self, names: Collection[str]) -> Codes:
        columns = [(one.labels, len(one.allows)) for one in self.quasi_identifiers if one.name in names]
        return alike(columns, self.rows)

    def _classes(self, narrow: Sequence[Numbers], back: Sequence[Bools]) -> tuple[tuple[SetCounts, ...], int]:
        """The classes that are left, for each set that is known together; people below k in any of them."""
        counts, below = [], np.zeros(self.rows, np.bool_)
        for number, one in enumerate(self.known):
            classes = self._labels[number]
            for at, cells in enumerate(self.cells):
                if cells.name in one.names and back[at].any():
                    sets = np.where(back[at], narrow[at], cells.allowed)
                    classes = compact(paired(classes, sets, len(cells.sets)))[1]
            if self.owners is not None and self.linked:
                classes = histories(classes, self.owners)
            sizes = self._sizes(classes)
            small = (sizes < one.k)[classes]
            counts.append(SetCounts(one.names, one.k, int(sizes.min()), self._people(small)))
            below |= small
        return tuple(counts), self._people(below)

    def _sizes(self, classes: Codes) -> Codes:
        """How many people each class has."""
        if self.owners is None:
            return np.bincount(classes)
        most = int(self.owners.max(initial=0)) + 1
        return np.bincount(compact(classes * most + self.owners)[0] // most)

    def _people(self, rows: Bools) -> int:
        """How many people have one of these rows."""
        return int(rows.sum()) if self.owners is None else distinct(self.owners[rows])

    def advice(self, first: _Count) -> Remedy | None:
        """Which columns to name or drop: again and again the one without which most of k is left."""
        out: list[str] = []
        left, counts = first, 0
        while left.by and not left.sound:
            blamed = {name for one in left.by for name in one.columns}
            telling = [column.name for column in self.unchanged if column.name in blamed]
            counts += len(telling)
            if counts > ADVICE_COUNTS:
                out += telling
                left = self.count(out)
                continue
            tried = {name: self.count([*out, name]) for name in telling}
            best = max(tried, key=lambda name: (tried[name].share, -tried[name].cells))
            out.append(best)
            left = tried[best]
        return Remedy(tuple(out), min(one.effective_k for one in left.sets)) if out else None


def _persons_of(numbers: Codes, count: int, owners: Codes) -> Codes:
    """How many persons have each number below a count, given the numbers and the persons of rows."""
    people = int(owners.max(initial=0)) + 1
    places = numbers * people + owners
    if count * people > _MARKS:
        return np.bincount(np.unique(places) // people, minlength=count)
    there = np.zeros(count * people, np.bool_)
    there[places] = True
    return np.asarray(np.count_nonzero(there.reshape(count, people), axis=1), np.int64)


def _crowd(codes: Codes, width: int, cells: OpenCells) -> Codes:
    counts = np.bincount(codes * cells.width + cells.values, minlength=width * cells.width)
    return counts.reshape(width, cells.width)


def _views(column: UnchangedColumn) -> Iterator[_Column]:
    everywhere = np.ones(len(column.codes), np.bool_)
    yield _Column(column.codes, everywhere)
    if distinct(column.codes) > _MANY_VALUES:
        size = max(_BLOCK, -(-len(column.codes) // _BLOCKS))
        yield _Column(in_blocks(column.codes, column.missing, size), everywhere)


def _in_pair(column: UnchangedColumn) -> _Column:
    codes = column.codes
    if distinct(codes) > _MANY_VALUES:
        codes = in_blocks(codes, column.missing, -(-len(codes) // _BLOCKS_IN_PAIRS))
    return _Column(compact(codes)[1], np.ones(len(codes), np.bool_))
