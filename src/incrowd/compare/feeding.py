"""What learners are told of released cells that are no plain values: one declared choice for the whole project.

The choice moves results by up to ten points, so every result names it. Suppressed and missing cells are missing; means
and midpoints are numbers. A set, an interval and a public bin can each be taken in more than one way, see
:class:`Feeding`.

Counts of values are dealt out again, five times, with weights; test rows have their own values, numbers in the public
bins. Other test rows: where a method generalizes, they are seen through its plan, in the words of the release;
elsewhere they are as they are, numbers in the plan's public bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from incrowd.compare.examples import Attribute, Codes, Examples
from incrowd.compare.fed_cells import Cells, ReleasedCells, Ways, raw_cells
from incrowd.errors import ParameterError
from incrowd.methods.catalog import find_method
from incrowd.plan.release_plan import ReleasePlan
from incrowd.recipients.counted_table import CountedTable
from incrowd.recipients.decoding import DEALS, decode_table
from incrowd.rows.memory.held import Draft, EmbeddedEngine
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import NOT_RELEASED, ColumnType, Role, Schema

MISSING_CLASS, NOTHING = "(missing)", "(nothing)"


@dataclass(frozen=True)
class Feeding:
    """How learners take cells that are no plain values.

    Parameters
    ----------
    sets
        A set of values is ``"missing"``; a ``"category"`` of its own; or one of its values, ``"draw"``: at random in
        rows to learn from, its own value in test rows. ``"auto"``: a category where test rows are seen in the same
        words, that is where the method generalizes, else missing.
    intervals
        An interval that is no public bin is its ``"middle"`` (of an open one the number just inside its only end), or
        a ``"category"``. A category needs test rows in the same words: where the method does not generalize, it is the
        middle.
    bins
        A public bin is a ``"category"``, of which sets may be made, or its ``"middle"``.
    hidden
        A cell that shows nothing is ``"missing"``, or, among categories, a ``"category"`` of its own: what becomes of a
        ``*`` that a learner reads as a value.

    Examples
    --------
    >>> print(Feeding(sets="draw"))
    sets: draw, intervals: middle, bins: category, hidden: missing
    """

    sets: str = "auto"
    intervals: str = "middle"
    bins: str = "category"
    hidden: str = "missing"

    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "sets": ("auto", "missing", "category", "draw"),
        "intervals": ("middle", "category"),
        "bins": ("category", "middle"),
        "hidden": ("missing", "category"),
    }

    def __post_init__(self) -> None:
        for name, known in self.choices.items():
            if getattr(self, name) not in known:
                raise ParameterError(f"Feeding: {name} must be one of {', '.join(known)}.")

    def __str__(self) -> str:
        return ", ".join(f"{name}: {getattr(self, name)}" for name in self.choices)


def parse_feeding(text: str) -> Feeding:
    """The feeding of a text such as ``sets=draw,bins=middle``; what is not named keeps its default.

    Examples
    --------
    >>> parse_feeding("sets=category")
    Feeding(sets='category', intervals='middle', bins='category', hidden='missing')
    """
    settings = {}
    for setting in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or name not in Feeding.choices:
            known = "; ".join(f"{name}={'|'.join(values)}" for name, values in Feeding.choices.items())
            raise ParameterError(f"Feeding is written as name=value. Known: {known}.")
        settings[name] = value
    return Feeding(**settings)


@dataclass(frozen=True, eq=False)
class Parts:
    """A split of one table: the rows to learn from and the rows to test on, with the same dictionaries."""

    train: EncodedTable
    test: EncodedTable
    target: str

    @property
    def inputs(self) -> list[str]:
        """The columns learners may use."""
        return [name for name in self.train.columns if name != self.target]

    @property
    def truth(self) -> Codes:
        """The classes of the test rows."""
        return self.test[self.target].codes.astype(np.int64)


def learnable(schema: Schema) -> list[str]:
    """The columns learners may use, and the target: what is released, but for free text nobody may know."""
    return [
        column.name
        for column in schema.columns
        if column.role in (Role.QUASI_IDENTIFIER, Role.TARGET)
        or (column.role not in NOT_RELEASED and column.type is not ColumnType.TEXT)
    ]


def feed_unprotected(parts: Parts) -> tuple[Examples, Examples]:
    """Rows as they are."""
    attributes = [joined(name, raw_cells(parts.train[name]), raw_cells(parts.test[name])) for name in parts.inputs]
    rows = np.arange(parts.train.height)
    return _examples(parts, rows, attributes)


def feed_release(
    parts: Parts, plan: ReleasePlan, draft: Draft, test_frame: pl.DataFrame, feeding: Feeding, seed: int
) -> tuple[Examples, Examples]:
    """Released rows to learn from, and test rows as the recipient of the release would have them.

    Parameters
    ----------
    parts
        The rows that were released, and the rows to test on.
    plan, draft
        The release; its rows are in the draft's order.
    test_frame
        The test rows as they were read.
    feeding
        How to take what is no plain value.
    seed
        Of the values that are drawn from sets.
    """
    if plan.counted:
        return feed_decoded(parts, plan, draft, test_frame, seed)
    generator = np.random.Generator(np.random.Philox(seed))
    seen = None
    if find_method(plan.method).generalizes:
        seen = EmbeddedEngine().transform(plan, parts.test, test_frame)
    ways = _ways(feeding, seen is not None)
    attributes = []
    for name in parts.inputs:
        own = parts.test[name]
        if name not in plan.names:
            released = raw_cells(parts.train[name].take(draft.origin))
            attributes.append(joined(name, released, raw_cells(own)))
            continue
        cells = ReleasedCells.of(plan, name, ways)
        pair = cells.taken(draft.frame, generator), cells.tested(own, seen)
        attributes.append(joined(name, *(map(_as_category, pair) if feeding.hidden == "category" else pair)))
    return _examples(parts, draft.origin, attributes)


def _as_category(cells: Cells) -> Cells:
    """Words with a word for nothing; numbers as they are."""
    return cells.fill_null(NOTHING) if isinstance(cells, pl.Series) else cells


def _ways(feeding: Feeding, same_words: bool) -> Ways:
    """What the feeding means for a method whose test rows are seen in the words of the release, or are not."""
    sets = feeding.sets
    if sets == "auto":
        sets = "category" if same_words else "missing"
    return Ways(sets, feeding.intervals == "category" and same_words, feeding.bins == "category")


def _examples(
    parts: Parts, rows: np.ndarray[tuple[int], np.dtype[np.intp]], attributes: list[tuple[Attribute, Attribute]]
) -> tuple[Examples, Examples]:
    target = parts.train[parts.target]
    labels = label_names(target, bool(target.counts[-1] or parts.test[parts.target].counts[-1]))
    trained, tested = target.codes[rows].astype(np.int64), parts.truth
    return (
        Examples(tuple(pair[0] for pair in attributes), trained, labels),
        Examples(tuple(pair[1] for pair in attributes), tested, labels),
    )


def label_names(target: EncodedColumn, with_missing: bool) -> tuple[str, ...]:
    """The classes; rows without one are a class of their own, the last."""
    names = [str(value) for value in target.dictionary.to_list()]
    missing = MISSING_CLASS
    while missing in names:
        missing = f"({missing})"
    return (*names, missing) if with_missing else tuple(names)


def joined(name: str, train: Cells, test: Cells) -> tuple[Attribute, Attribute]:
    """The attribute of both parts; categories are numbered over both."""
    if isinstance(train, np.ndarray) and isinstance(test, np.ndarray):
        return Attribute(name, train), Attribute(name, test)
    assert isinstance(train, pl.Series)
    assert isinstance(test, pl.Series)
    both = pl.concat([train, test])
    categories = both.drop_nulls().unique().sort()
    codes = _codes(both, categories)
    words = tuple(categories.to_list())
    return Attribute(name, codes[: len(train)], words), Attribute(name, codes[len(train) :], words)


def _codes(words: pl.Series, categories: pl.Series) -> Codes:
    """Positions of words in ascending categories, -1 for a missing word."""
    physical = words.cast(pl.Enum(categories)).to_physical().cast(pl.Int64)
    return physical.fill_null(-1).to_numpy()


_WEIGHT = "\x1fweight"  # begins with a letter that names do not have


def feed_decoded(
    parts: Parts, plan: ReleasePlan, draft: Draft, test_frame: pl.DataFrame, seed: int, deals: int = DEALS
) -> tuple[Examples, Examples]:
    """Every released row once for each deal, weighted; test rows with their own values, numbers in the public bins.

    See :func:`incrowd.compare.feeding.feed_release` for the parameters.
    """
    table = CountedTable.of(draft.frame.select(plan.counted), plan.counted)
    plain = decode_table(table, deals=deals, weight=_WEIGHT, seed=seed)
    seen = EmbeddedEngine().transform(plan, parts.test, test_frame)
    rows = np.tile(draft.origin, deals)
    pairs = [
        joined(name, plain[name], seen[name])
        if name in plan.counted
        else joined(name, raw_cells(parts.train[name].take(rows)), raw_cells(parts.test[name]))
        for name in parts.inputs
    ]
    target = parts.train[parts.target]
    labels = label_names(target, bool(target.counts[-1] or parts.test[parts.target].counts[-1]))
    return (
        Examples(
            tuple(pair[0] for pair in pairs), target.codes[rows].astype(np.int64), labels, plain[_WEIGHT].to_numpy()
        ),
        Examples(tuple(pair[1] for pair in pairs), parts.truth, labels),
    )
