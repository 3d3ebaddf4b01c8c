"""The first half of both methods: every attribute at the level that tells most of the class, for its entropy.

The levels of an attribute are what its values look like, from nothing (the root, ``*``) to themselves. An attribute
with a hierarchy has the levels of the hierarchy; intervals of numbers get one more below: the numbers. Without one,
numbers have nested intervals, ordered categories nested ranges, other categories the root and themselves. A missing
value is in no part: it shows nothing at any level, and counts as a value of its own.

What rows then show of a set of attributes are combinations; equal ones are an equivalence class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import Counts, normalized_information, value_entropy
from incrowd.methods.catalog import target_of
from incrowd.methods.judging import Judge, Records
from incrowd.methods.method import Population
from incrowd.methods.numeric import ends_of, interval_form, round_cuts, spread_steps
from incrowd.methods.person_records import PersonRecords
from incrowd.plan.steps import Bin, Part, Recode, Recoding, Spread
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_value import (
    Category,
    Form,
    Interval,
    Level,
    Shown,
    Suppressed,
    Value,
    ValueSet,
    parse_day,
    parse_number,
)
from incrowd.vocabulary.requirement import KAnonymity, KnownTogether, Requirement
from incrowd.vocabulary.schema import ColumnType

Whole = npt.NDArray[np.int64]
DEPTH = 5  # generations of halves: at most 32 intervals
MOST_NUMBERS = 10_000
ShowInterval = Callable[[Interval], Form]


def tally(places: Whole, counts: Whole, size: int) -> Whole:
    """The sum of the rows of ``counts`` that have the same place, for each of ``size`` places."""
    classes = counts.shape[1]
    cells = places[:, None] * classes + np.arange(classes)
    summed = np.bincount(cells.ravel(), weights=counts.ravel(), minlength=size * classes)
    return summed.astype(np.int64).reshape(size, classes)


def nested_cuts(rows: npt.NDArray[np.int64], depth: int = DEPTH) -> list[list[int]]:
    """For each generation the places to cut, each the number of values before it; a generation keeps all earlier cuts.

    A piece is cut where its rows are halved best, the first such place of several; a single value is not cut. There
    are fewer generations if nothing is left to cut.
    """
    below = np.concatenate([[0], np.cumsum(rows)])
    generations: list[list[int]] = []
    ends = [0, len(rows)]
    for _ in range(depth):
        fresh = [_middle(below, first, last) for first, last in pairwise(ends) if last - first > 1]
        if not fresh:
            break
        ends = sorted([*ends, *fresh])
        generations.append(ends[1:-1])
    return generations


def _middle(below: npt.NDArray[np.int64], first: int, last: int) -> int:
    """The cut between first and last with the most even rows on its two sides."""
    inside = below[first + 1 : last]
    return first + 1 + int(np.argmin(np.abs(2 * inside - below[first] - below[last])))


def leaf_values(column: EncodedColumn, hierarchy: Hierarchy) -> list[Value | None]:
    """For each leaf of a hierarchy of values the value that it covers, also if no row has it; None if there is none.

    In a column of numbers a leaf covers the number it writes. Of two leaves that write the same number the first does.
    """
    labels = [hierarchy.labels[leaf] for leaf in hierarchy.leaves]
    if column.type is ColumnType.DATE:
        return [parse_day(label) for label in labels]
    if not column.type.is_numeric:
        return list(labels)
    numbers = [parse_number(label) for label in labels]
    return [
        None if number is None or hierarchy.leaf_of(number) != place else _as_in(column, number)
        for place, number in enumerate(numbers)
    ]


def _as_in(column: EncodedColumn, number: float) -> Value:
    """A number as a column of its type holds it; one that it cannot hold stays as it is."""
    if column.type is ColumnType.REAL:
        return float(number)
    return int(number) if number == int(number) else number


@dataclass(frozen=True, eq=False)
class AttributeLevel:
    """One level: its parts, their rows not counted yet, and the part of each code of the column.

    ``places`` has an entry per code, the missing one last; one past the last part says that nothing is shown.
    """

    parts: tuple[Part, ...]
    places: npt.NDArray[np.int64]

    def counts(self, contingency: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Rows per part and class from rows per code and class; what shows nothing comes last."""
        return tally(self.places, contingency, len(self.parts) + 1)


def levels_of(
    column: EncodedColumn, rows: npt.NDArray[np.int64], hierarchy: Hierarchy | None, show: ShowInterval
) -> tuple[AttributeLevel, ...]:
    """The levels of a column, root first.

    ``rows``: rows per code, the missing one last; they decide where numbers and ordered categories are halved.
    ``hierarchy``: the hierarchy of the column, if it has one; every value must have a leaf in it. ``show``: what rows
    of an interval show.
    """
    if hierarchy is not None:
        levels = _node_levels(column, hierarchy, show)
        return *levels, *(_numbers(column) if hierarchy.kind is not Leaves.VALUES else ())
    nothing = _level((), np.full(column.width - 1, -1))
    if column.type.is_numeric:
        return nothing, *_nested_intervals(column, rows[:-1], show), *_numbers(column)
    ranges = _nested_ranges(column, rows[:-1]) if column.type is ColumnType.ORDERED else []
    return nothing, *ranges, _raw(column)


def _level(parts: Sequence[Part], places: npt.NDArray[np.int64]) -> AttributeLevel:
    """A level from the part of each value, -1 for none; parts that show nothing are no parts."""
    shown = np.array([not isinstance(part.form, Suppressed) for part in parts], bool)
    renumbered = np.append(np.where(shown, np.cumsum(shown) - 1, -1), -1)
    part_of = np.append(renumbered[places], -1)
    kept = tuple(part for part, keep in zip(parts, shown, strict=True) if keep)
    return AttributeLevel(kept, np.where(part_of < 0, len(kept), part_of))


def _raw(column: EncodedColumn) -> AttributeLevel:
    """Every value by itself."""
    parts = [Part((value,), Shown(value), 0) for value in column.values]
    return _level(parts, np.arange(len(parts)))


def _numbers(column: EncodedColumn) -> tuple[AttributeLevel, ...]:
    """The raw numbers, unless there are too many of them."""
    return (_raw(column),) if len(column.dictionary) <= MOST_NUMBERS else ()


def _nested_intervals(column: EncodedColumn, rows: npt.NDArray[np.int64], show: ShowInterval) -> list[AttributeLevel]:
    """Halves of halves, cut at the roundest number between the two values that are parted."""
    levels = []
    for places in nested_cuts(rows):
        parts = [Part(interval, show(interval), 0) for interval in Bin.intervals(round_cuts(column, places))]
        levels.append(_level(parts, np.searchsorted(places, np.arange(len(rows)), side="right")))
    return levels


def _nested_ranges(column: EncodedColumn, rows: npt.NDArray[np.int64]) -> list[AttributeLevel]:
    """Halves of halves of ordered categories, as the sets of their values; without the last, where all are single."""
    values = column.values
    levels = []
    for places in nested_cuts(rows):
        if len(places) < len(values) - 1:
            ends = [0, *places, len(values)]
            sets = [tuple(values[first:last]) for first, last in pairwise(ends)]
            parts = [Part(members, ValueSet(members) if len(members) > 1 else Shown(members[0]), 0) for members in sets]
            levels.append(_level(parts, np.searchsorted(places, np.arange(len(rows)), side="right")))
    return levels


def _node_levels(column: EncodedColumn, hierarchy: Hierarchy, show: ShowInterval) -> list[AttributeLevel]:
    """The levels of a hierarchy: a part for each node of a level but the root, with all leaves below it."""
    leaves = hierarchy.encode(column)[:-1]
    part_of = _interval_part(hierarchy, show) if hierarchy.kind is not Leaves.VALUES else _value_part(column, hierarchy)
    levels = []
    for level in range(1, hierarchy.height + 1):
        nodes, positions = np.unique(hierarchy.at_level(level), return_inverse=True)
        levels.append(_level([part_of(int(node)) for node in nodes], positions[leaves]))
    return levels


def _interval_part(hierarchy: Hierarchy, show: ShowInterval) -> Callable[[int], Part]:
    """The part of each node of a hierarchy of intervals; the root shows nothing."""

    def part_of(node: int) -> Part:
        interval = hierarchy.interval(node) or Interval()
        return Part(interval, show(interval) if node else Suppressed(), 0)

    return part_of


def _value_part(column: EncodedColumn, hierarchy: Hierarchy) -> Callable[[int], Part]:
    """The part of each node of a hierarchy of values: a leaf shows its value, a group its name, the root nothing."""
    values = leaf_values(column, hierarchy)

    def part_of(node: int) -> Part:
        below = [values[leaf] for leaf in hierarchy.leaves_below(node)]
        members = tuple(value for value in below if value is not None)
        if not node or not members:
            return Part(members, Suppressed(), 0)
        form = Category(hierarchy.labels[node]) if hierarchy.children(node) else Shown(members[0])
        return Part(members, form, 0)

    return part_of


TOLERANCE = 1e-12  # a smaller difference of scores is rounding


@dataclass(frozen=True, eq=False)
class LevelChoice:
    """The level of an attribute and how every level scored.

    ``number`` is that of the level, 1 is the root. ``counts`` are rows per part and class, what shows nothing last.
    """

    name: str
    number: int
    scores: tuple[float, ...]
    level: AttributeLevel
    counts: Counts

    @property
    def margin(self) -> float:
        """By how much the level scores better than the next best one."""
        others = [score for number, score in enumerate(self.scores, start=1) if number != self.number]
        return max(0.0, self.scores[self.number - 1] - max(others))

    @property
    def shows_intervals(self) -> bool:
        """Whether the parts are intervals of numbers, not single values."""
        return any(isinstance(part.members, Interval) for part in self.level.parts)


def best_level(scores: Sequence[float]) -> int:
    """The level with the largest score, 1 for the first; of those that differ by rounding only, the most specific."""
    best = max(scores)
    return max(number for number, score in enumerate(scores, start=1) if score >= best - TOLERANCE)


def level_score(counts: Counts, min_entropy: float = 0.0) -> float:
    """I_N of a level; 0 where the entropy of its values is so small that I_N is a matter of few rows."""
    return normalized_information(counts) if value_entropy(counts) >= min_entropy else 0.0


def choose(
    population: Population, column: EncodedColumn, numeric: str, smallest_group: int, min_entropy: float
) -> LevelChoice:
    """The best level of one attribute, over all rows (section 3.1; attributes are looked at one by one)."""
    contingency = population.contingency(column.name)
    ends = ends_of(column, smallest_group, population.owners) if column.type.is_numeric else (0, 0)
    levels = levels_of(
        column,
        contingency.sum(axis=1),
        population.schema[column.name].hierarchy,
        lambda interval: interval_form(interval, numeric, ends),
    )
    counts = [level.counts(contingency) for level in levels]
    scores = tuple(level_score(one, min_entropy) for one in counts)
    number = best_level(scores)
    return LevelChoice(column.name, number, scores, levels[number - 1], counts[number - 1])


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The classes of combinations, in lexical order."""

    codes: Whole  # classes x attributes
    sizes: Whole  # rows of each class; persons, where they have several rows
    of: Whole  # the class of each combination
    blank: npt.NDArray[np.bool_]  # whether a class shows nothing


def classes_of(codes: Whole, nothing: Whole, rows: Whole, persons: PersonRecords | None = None) -> EquivalenceClasses:
    """Put combinations that are equal into one class.

    ``codes``: combinations x attributes. ``nothing``: for each attribute the code that shows nothing; it is the
    largest. ``rows``: rows of each combination, 0 if it is left out. ``persons``: who has which combination, where
    persons are counted.
    """
    _, first, of = np.unique(_keys(codes, nothing + 1), return_index=True, return_inverse=True)
    if persons is None:
        sizes = np.bincount(of, weights=rows, minlength=len(first)).astype(np.int64)
    else:
        sizes = persons.sizes(np.where(rows > 0, of, -1), len(first))
    return EquivalenceClasses(codes[first], sizes, of, (codes[first] == nothing).all(axis=1))


def _keys(codes: Whole, widths: Whole) -> Whole:
    """One number per combination, in lexical order; numbered anew before they could grow too large."""
    keys = np.zeros(len(codes), np.int64)
    room = 1
    for place, width in enumerate(widths.tolist()):
        if room * width >= 2**62:
            _, keys = np.unique(keys, return_inverse=True)
            room = len(keys)
        keys = keys * width + codes[:, place]
        room *= width
    return keys


@dataclass(frozen=True, eq=False)
class Generalized:
    """Attributes at their levels, and the combinations of what rows show."""

    choices: tuple[LevelChoice, ...]  # the level of each attribute
    codes: npt.NDArray[np.int64]  # combinations x attributes: the position of a part, or one past the last for nothing
    counts: Counts  # combinations x classes
    spread: tuple[Spread, ...] = ()  # the step that writes intervals as two columns, if any
    # What else must be known of the combinations' rows to judge a group; None if sizes decide
    evidence: Records | None = None
    persons: PersonRecords | None = None  # who has which combination, if persons are counted
    _classes: dict[tuple[str, ...], EquivalenceClasses] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes."""
        return tuple(choice.name for choice in self.choices)

    @property
    def nothing(self) -> npt.NDArray[np.int64]:
        """For each attribute the code that shows nothing."""
        return np.array([len(choice.level.parts) for choice in self.choices], np.int64)

    def columns(self, names: Sequence[str]) -> npt.NDArray[np.intp]:
        """The places of some attributes."""
        return np.array([self.names.index(name) for name in names], np.intp)

    def classes(self, names: Sequence[str]) -> EquivalenceClasses:
        """What rows show of some attributes, in classes; they are put together once."""
        key = tuple(names)
        if key not in self._classes:
            columns = self.columns(names)
            rows = self.counts.sum(axis=1)
            self._classes[key] = classes_of(self.codes[:, columns], self.nothing[columns], rows, self.persons)
        return self._classes[key]

    def still_shown(self, hidden: npt.NDArray[np.bool_]) -> tuple[Counts, ...]:
        """For each attribute, rows per part and class without the combinations that are hidden in it."""
        shown = []
        for place, choice in enumerate(self.choices):
            marked = hidden[:, place]
            gone = tally(self.codes[marked, place], self.counts[marked], len(choice.counts))
            shown.append(choice.counts - gone)
        return tuple(shown)

    def recode(self, shown: Sequence[Counts]) -> Recode:
        """The step that generalizes, with the rows that show each part in the end."""
        return Recode(tuple(map(_counted, self.choices, shown)))


def _counted(choice: LevelChoice, shown: Counts) -> Recoding:
    rows = shown.sum(axis=1).tolist()
    return Recoding(choice.name, tuple(map(_with_rows, choice.level.parts, rows[:-1])))


def _with_rows(part: Part, rows: int) -> Part:
    """The part with its rows; a mean of no rows is nothing."""
    form = Suppressed() if isinstance(part.form, Level) and not rows else part.form
    return Part(part.members, form, rows)


def generalize(population: Population, requirement: Requirement, numeric: str, min_entropy: float) -> Generalized:
    """Take every quasi-identifier to its best level and count the combinations that rows then show."""
    schema = population.schema
    target_of(schema, "An IAC method")
    sizes_decide = population.owners is None and isinstance(requirement, KAnonymity | KnownTogether)
    judge = Judge(requirement) if sizes_decide else Judge.of(requirement, population)  # fewer rows than k: all hidden
    table = population.sample()
    columns = [table[name] for name in schema.quasi_identifiers]
    choices = tuple(choose(population, column, numeric, judge.k, min_entropy) for column in columns)
    recode = Recode(tuple(Recoding(choice.name, choice.level.parts) for choice in choices))
    recoded = population.recode(recode)
    seen = recoded.combinations(schema.quasi_identifiers)
    persons = PersonRecords.of(judge, recoded, schema.quasi_identifiers) if judge.persons else None
    evidence = None if judge.by_size or judge.persons else judge.records(recoded, schema.quasi_identifiers)
    in_intervals = [column for column, choice in zip(columns, choices, strict=True) if choice.shows_intervals]
    spread = spread_steps(numeric, in_intervals)
    return Generalized(choices, seen.codes.astype(np.int64), seen.counts, spread, evidence, persons)
