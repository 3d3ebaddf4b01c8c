"""A table that is equivalent to a published tree (the closing idea of Friedman, Schuster, Wolff, PKDD 2006).

Every row shows of its public attributes what its span tells: all public tests on the ways to the leaves it may be in.
Whoever may be in a leaf has passed the public tests on its way, so this is true of every row, and the same for all rows
of a span: at least k. And it is enough to send the row to its leaf, so that the tree's patterns are all there.

Private attributes are not known to an attacker, by definition, so any treatment of them keeps the promise. Told is what
the way to the row's own leaf tells, or nothing, or the value itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import ParameterError, RequirementError
from incrowd.models.published_tree import PublishedAttribute, PublishedTree, filled
from incrowd.trees.routing import Ranges, code_ranges
from incrowd.trees.tree import Eq, Gt, In, Le, Missing, Node, Predicate
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable, OwnedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness, fresh_frame, permutation
from incrowd.vocabulary.released_value import Category, Form, Interval, Shown, Suppressed, ValueSet, render

PRIVATE = ("tested", "untouched", "left out")
_PERSON = "\x1fperson"  # begins with a letter that names do not have

Rows = npt.NDArray[np.intp]


def to_table(
    model: PublishedTree, table: EncodedTable, *, private: str = "tested", randomness: Randomness | None = None
) -> pl.DataFrame:
    """The training rows as the model tells them apart, shuffled; every public combination is shared by k rows.

    With a public class, every combination of public attributes and class is. A group of a hierarchy is shown by its
    name, a set of values joined by ``|``, an interval as ``(30, 40]``; nothing, and a missing value, is null. Where the
    model has a value that stands for missing ones, that is what is shown. Rows that the model was not grown on are
    refused where a combination has too few of them.

    Parameters
    ----------
    model
        A published tree.
    table
        The rows it was grown on: its attributes and the class. Where the model counts persons, an
        :class:`~incrowd.vocabulary.encoded_table.OwnedTable`, which says whose rows they are.
    private
        ``"tested"``: a private attribute shows what the tests on the way to the row's leaf tell. ``"untouched"``: its
        value. ``"left out"``: the column is not there.
    randomness
        Where the order comes from; the operating system if not given.
    """
    if private not in PRIVATE:
        raise ParameterError(f"private must be one of {', '.join(map(repr, PRIVATE))}.")
    columns = {a.name: filled(table[a.name], a.fill) for a in model.attributes}
    tests = _Walk(model, EncodedTable(columns, table.height)).tests
    shown = []
    for attribute in model.attributes:
        if attribute.public or private == "tested":
            shown.append(tests[attribute.name].render(attribute))
        elif private == "untouched":
            shown.append(_decoded(columns[attribute.name]))
    frame = pl.DataFrame([*shown, _decoded(table[model.target])])
    _check(frame, model, table)
    order = permutation(table.height, SystemRandomness() if randomness is None else randomness)
    return fresh_frame(frame[order])


@dataclass(eq=False)
class _PassedTests:
    """What is told about one attribute: for each row a number, and for each number the tests that were passed."""

    of_row: npt.NDArray[np.int64]
    passed: list[frozenset[tuple[Predicate, str | None]]] = field(default_factory=lambda: [frozenset()])

    def narrow(self, rows: Rows, test: tuple[Predicate, str | None]) -> None:
        """Some rows have passed one more test."""
        before, which = np.unique(self.of_row[rows], return_inverse=True)
        self.of_row[rows] = len(self.passed) + which
        self.passed += [self.passed[number] | {test} for number in before.tolist()]

    def render(self, attribute: PublishedAttribute) -> pl.Series:
        """The column as it is written."""
        used, which = np.unique(self.of_row, return_inverse=True)
        cells = [render(_form(self.passed[number], attribute), attribute.type) for number in used.tolist()]
        texts = pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)
        return texts.gather(which).alias(attribute.name)


class _Walk:
    """All rows on their ways: at a public test each takes its own, at a private one all take all.

    What is told about a private attribute comes from the row's own way alone.
    """

    def __init__(self, model: PublishedTree, table: EncodedTable) -> None:
        self._model = model
        self.tests = {a.name: _PassedTests(np.zeros(table.height, np.int64)) for a in model.attributes}
        ranges = code_ranges(model.tree, table)
        everyone = np.arange(table.height)
        waiting: list[tuple[int, Rows, Rows]] = [(0, everyone, everyone)]
        while waiting:
            number, possible, own = waiting.pop()
            node = model.tree.nodes[number]
            if node.attribute in model.public:
                waiting += self._public(node, ranges.children(number, possible), possible, own)
            elif node.attribute is not None:
                waiting += self._private(node, number, ranges, possible, own)

    def _public(self, node: Node, to: npt.NDArray[np.int32], possible: Rows, own: Rows) -> list[tuple[int, Rows, Rows]]:
        ways = []
        for branch in node.branches:
            rows = possible[to == branch.child]
            if len(rows):
                self.tests[branch.predicate.attribute].narrow(
                    rows, (branch.predicate, self._model.groups[branch.child])
                )
                ways.append((branch.child, rows, np.intersect1d(own, rows, assume_unique=True)))
        return ways

    def _private(
        self, node: Node, number: int, ranges: Ranges, possible: Rows, own: Rows
    ) -> list[tuple[int, Rows, Rows]]:
        to = ranges.children(number, own)
        ways = []
        for branch in node.branches:
            rows = own[to == branch.child]
            self.tests[branch.predicate.attribute].narrow(rows, (branch.predicate, self._model.groups[branch.child]))
            ways.append((branch.child, possible, rows))
        return ways


def _form(passed: frozenset[tuple[Predicate, str | None]], attribute: PublishedAttribute) -> Form:
    """All tests of one attribute together."""
    if not passed or any(isinstance(test, Missing) for test, _ in passed):
        return Suppressed()
    if attribute.domain is None:
        lows = [test.threshold for test, _ in passed if isinstance(test, Gt)]
        highs = [test.threshold for test, _ in passed if isinstance(test, Le)]
        return Interval(max(lows, default=None), min(highs, default=None))
    allowed = frozenset.intersection(*(_values(test) for test, _ in passed))
    if len(allowed) == 1:
        return Shown(next(iter(allowed)))
    names = [group for test, group in passed if group is not None and _values(test) == allowed]
    if names:
        return Category(names[0])
    place = {value: i for i, value in enumerate(attribute.domain)}
    return ValueSet(tuple(sorted(allowed, key=lambda value: (place.get(str(value), len(place)), str(value)))))


def _values(test: Predicate) -> frozenset[str | int | float]:
    match test:
        case Eq():
            return frozenset({test.value})
        case In():
            return test.values
        case _:
            raise ParameterError(f"Column {test.attribute!r} is a category, but the tree compares it with a number.")


def _decoded(column: EncodedColumn) -> pl.Series:
    values = pl.concat([column.dictionary, column.dictionary.clear().extend_constant(None, 1)])
    return values.gather(column.codes.astype(np.int64)).alias(column.name)


def _check(frame: pl.DataFrame, model: PublishedTree, table: EncodedTable) -> None:
    """Count the combinations that an attacker knows; null is a value."""
    known = [*model.public, *([] if model.class_private else [model.target])]
    if not known:
        return
    alike = pl.len()
    if model.of_persons:
        if not isinstance(table, OwnedTable):
            raise ParameterError("The model counts persons. Give a table that says whose rows they are (OwnedTable).")
        frame = frame.with_columns(pl.Series(_PERSON, table.owners))
        alike = pl.col(_PERSON).n_unique()
    few = int((frame.select(alike.over(known)).to_series() < model.requirement["k"]).sum())
    if few:
        raise RequirementError(
            f"{few} rows share their public attributes with fewer than k={model.requirement['k']} "
            f"{model.counted}. Give the rows the model was grown on, all of them."
        )
