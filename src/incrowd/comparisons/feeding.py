"""What learners are told of released cells that are no plain values: one declared choice for the whole project.

The choice moves results by up to ten points, so every result names it. By default learners take a release as its
recipient does, who has the release and its certificate and nothing else: :mod:`incrowd.recipients.dealing`.

The other choices are those of the papers, for who compares with them. There, suppressed and missing cells are missing;
means and midpoints are numbers; a set, an interval and a public bin can each be taken in more than one way, see
:class:`Feeding`. Test rows are seen through the plan, in the words of the release, where a method generalizes;
elsewhere they are as they are, numbers in the plan's public bins. Counts are always dealt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pyarrow as pa

from incrowd.comparisons.learners.learner import Examples
from incrowd.errors import ParameterError
from incrowd.methods.catalog import MethodOrName, find_method
from incrowd.plan.release_plan import HIGH, LOW, ReleasePlan
from incrowd.recipients.dealing import Dealing, together_with
from incrowd.recipients.matrix import Attribute, Codes, Numbers
from incrowd.recipients.views import ReleasedColumn
from incrowd.report.certificate import reading_of
from incrowd.rows.memory.held import Draft, EmbeddedEngine
from incrowd.rows.memory.population import bin_column
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import (
    Category,
    Form,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Shown,
    Value,
    ValueSet,
    parse_interval,
    render,
)
from incrowd.vocabulary.schema import NOT_RELEASED, ColumnType, Role, Schema

Cells = Numbers | pl.Series
"""A column as learners take it: numbers with NaN, or words with null."""
FedCell = str | float | None


@dataclass(frozen=True)
class Ways:
    """How sets are taken, and whether intervals and public bins are categories."""

    sets: str
    worded_intervals: bool
    worded_bins: bool


@dataclass(frozen=True, eq=False)
class ReleasedCells:
    """The cells of one attribute, and how they are taken."""

    name: str
    kind: ColumnType
    forms: Mapping[str, Form]  # what each text that may stand in a cell says
    words: bool  # fed as categories; else as numbers
    sets: str  # ``missing``, ``category`` or ``draw``
    spread: bool  # whether intervals are written as two columns
    cuts: tuple[float, ...] | None  # the public cuts, where recipients see their own numbers as public bins

    @classmethod
    def of(cls, plan: ReleasePlan, name: str, ways: Ways) -> ReleasedCells:
        """The cells of an attribute of the plan."""
        kind = plan.schema[name].type
        binned = name in plan.binned and name not in plan.levelled
        return cls(
            name,
            kind,
            {str(render(form, kind)): form for form in plan.forms(name)},
            _are_words(plan, name, ways),
            ways.sets,
            name in plan.spread,
            plan.cuts[name] if binned and ways.worded_bins else None,
        )

    def taken(self, frame: pl.DataFrame, generator: np.random.Generator) -> Cells:
        """Cells of released rows; a set may be a member of it, drawn row by row."""
        numbers = self._numbers(frame)
        if numbers is not None:
            return self._as_fed(numbers)
        texts, codes = _numbered(frame[self.name])
        options = [self._options(text) for text in texts]
        return self._picked(options, codes, generator.random(len(codes)))

    def tested(self, own: EncodedColumn, seen: pl.DataFrame | None) -> Cells:
        """Cells of test rows: as the plan shows them, or their own, in public bins.

        Where sets are drawn from, a test row that shows a set has its own value.
        """
        mine = raw_cells(own if self.cuts is None else bin_column(own, self.cuts))
        mine = mine if isinstance(mine, pl.Series) else self._as_fed(mine)
        if seen is None:
            return mine
        numbers = self._numbers(seen)
        if numbers is not None:
            return self._as_fed(numbers)
        texts, codes = _numbered(seen[self.name])
        shown = self._picked([self._options(text)[:1] for text in texts], codes, np.zeros(len(codes)))
        if self.sets != "draw":
            return shown
        is_set = np.append([isinstance(self.forms.get(text), ValueSet) for text in texts], False).astype(bool)
        return _chosen(is_set[codes], mine, shown)

    def _numbers(self, frame: pl.DataFrame) -> Numbers | None:
        """The cells, where they are written as numbers or as the two ends of an interval."""
        if self.spread:
            return _middles(_floats(frame[self.name + LOW]), _floats(frame[self.name + HIGH]))
        cells = frame[self.name]
        return _floats(cells) if self.kind.is_numeric and cells.dtype != pl.String else None

    def _as_fed(self, numbers: Numbers) -> Cells:
        if not self.words:
            return numbers
        return pl.Series([None if np.isnan(number) else f"{number:g}" for number in numbers], dtype=pl.String)

    def _options(self, text: str) -> list[FedCell]:
        """What a cell with this text becomes for the learner: one thing, or several to draw from."""
        form = self.forms.get(text)
        if isinstance(form, ValueSet):
            if self.sets == "draw":
                return [self._member(value) for value in form.values]
            return [text if self.sets == "category" and self.words else None]
        if self.words:
            return [text]
        match form:
            case Interval(low, high) | Range(low, high):
                return [middle(low, high)]
            case Shown(value) | Mean(value) | Level(value=value) | Midpoint(value=value):
                return [None if value is None else float(value)]
            case _:
                return [None]

    def _member(self, value: Value) -> FedCell:
        """A value drawn from a set; of public bins that are fed as numbers, the middle."""
        if self.words:
            return str(value)
        if not isinstance(value, str):
            return float(value)
        interval = parse_interval(value, dates=self.kind is ColumnType.DATE)
        return None if interval is None else middle(interval.low, interval.high)

    def _picked(self, options: Sequence[Sequence[FedCell]], codes: Codes, chance: Numbers) -> Cells:
        """One of the options of each row's text; the last code is a missing cell."""
        every = [*options, [None]]
        sizes = np.array([len(one) for one in every])
        starts = np.cumsum(sizes) - sizes
        places = starts[codes] + (chance * sizes[codes]).astype(np.int64)
        flat = pl.Series([option for one in every for option in one], dtype=pl.String if self.words else pl.Float64)
        picked = flat.gather(places)
        return picked if self.words else _floats(picked)


def raw_cells(column: EncodedColumn) -> Cells:
    """The values themselves."""
    if column.type.is_numeric:
        return np.append(column.numbers.astype(np.float64), np.nan)[column.codes]
    words = pl.concat([column.dictionary.cast(pl.String).alias(""), pl.Series("", [None], pl.String)])
    return words.gather(column.codes.astype(np.int64))


def middle(low: float | None, high: float | None) -> float | None:
    """The middle of an interval; of an open one the number just inside its only end; None if it has no end."""
    if low is None:
        return None if high is None else float(high)
    return float(np.nextafter(low, np.inf)) if high is None else low / 2 + high / 2


def _are_words(plan: ReleasePlan, name: str, ways: Ways) -> bool:
    """Whether an attribute is fed as categories."""
    forms = plan.forms(name)
    if not plan.schema[name].type.is_numeric or any(isinstance(form, Category) for form in forms):
        return True
    if name in plan.binned:
        return ways.worded_bins and name not in plan.levelled
    return ways.worded_intervals and any(isinstance(form, Interval | Range | ValueSet) for form in forms)


def _numbered(cells: pl.Series) -> tuple[list[str], Codes]:
    """The distinct texts, and the position of each cell's; one past the last for a missing cell."""
    words = cells.cast(pl.String)
    texts = words.drop_nulls().unique().sort()
    codes = words.cast(pl.Enum(texts)).to_physical().cast(pl.Int64).fill_null(len(texts))
    return texts.to_list(), codes.to_numpy()


def _floats(cells: pl.Series) -> Numbers:
    return cells.to_physical().cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _middles(low: Numbers, high: Numbers) -> Numbers:
    """Middles of intervals, row by row, as :func:`middle` has them."""
    both = low / 2 + high / 2
    return np.where(np.isnan(low), high, np.where(np.isnan(high), np.nextafter(low, np.inf), both))


def _chosen(where: np.ndarray[tuple[int], np.dtype[np.bool_]], mine: Cells, shown: Cells) -> Cells:
    if isinstance(mine, pl.Series) and isinstance(shown, pl.Series):
        return pl.select(pl.when(pl.Series(where)).then(mine).otherwise(shown)).to_series()
    return np.where(where, mine, shown)


MISSING_CLASS, NOTHING = "(missing)", "(nothing)"


@dataclass(frozen=True)
class Feeding:
    """How learners take cells that are no plain values."""

    # All cells are "dealt" as recipients do; the other choices are not about them. Or a set of values is "missing", a
    # "category", or its value ("draw": at random in training, its own in testing); "auto" is a category where the
    # method generalizes, so that test rows are seen in the same words, else missing.
    sets: str = "dealt"
    # An interval that is no public bin is its "middle" (open: the number just inside its only end), or a "category"
    # where the method generalizes.
    intervals: str = "middle"
    bins: str = "category"  # A public bin is a ``"category"``, of which sets may be made, or its ``"middle"``
    hidden: str = "missing"  # or, among categories, a "category": a learner that reads ``*`` as a value

    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "sets": ("dealt", "auto", "missing", "category", "draw"),
        "intervals": ("middle", "category"),
        "bins": ("category", "middle"),
        "hidden": ("missing", "category"),
    }

    def __post_init__(self) -> None:
        for name, known in self.choices.items():
            if getattr(self, name) not in known:
                raise ParameterError(f"Feeding: {name} must be one of {', '.join(known)}.")
        if self.sets == "dealt" and (self.intervals, self.bins, self.hidden) != ("middle", "category", "missing"):
            raise ParameterError("Feeding: where cells are dealt, nothing else is chosen. Say sets=auto beside it.")

    def __str__(self) -> str:
        if self.sets == "dealt":
            return "as recipients take it"
        return ", ".join(f"{name}: {getattr(self, name)}" for name in self.choices)


def parse_feeding(text: str) -> Feeding:
    """The feeding of a text such as ``sets=draw,bins=middle``; what is not named keeps its default."""
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
    parts: Parts,
    plan: ReleasePlan,
    draft: Draft,
    test_frame: pl.DataFrame,
    feeding: Feeding,
    seed: int,
    method: MethodOrName | None = None,
) -> tuple[Examples, Examples]:
    """Released rows to learn from, and test rows as the recipient of the release would have them.

    ``method`` is what made the plan, where its name alone does not say it.
    """
    if plan.counted or feeding.sets == "dealt":
        return feed_dealt(parts, plan, draft, method or plan.method, seed=seed)
    generator = np.random.Generator(np.random.Philox(seed))
    seen = None
    if find_method(method or plan.method).generalizes:
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
    parts: Parts,
    rows: np.ndarray[tuple[int], np.dtype[np.intp]],
    attributes: list[tuple[Attribute, Attribute]],
    weights: Numbers | None = None,
) -> tuple[Examples, Examples]:
    target = parts.train[parts.target]
    labels = label_names(target, bool(target.counts[-1] or parts.test[parts.target].counts[-1]))
    trained = target.codes[rows].astype(np.int64)
    return (
        Examples(tuple(pair[0] for pair in attributes), trained, labels, weights),
        Examples(tuple(pair[1] for pair in attributes), parts.truth, labels),
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


def feed_dealt(
    parts: Parts, plan: ReleasePlan, draft: Draft, method: MethodOrName, *, seed: int
) -> tuple[Examples, Examples]:
    """What the recipient has: cells dealt with weights, and test rows seen in the words of the release."""
    reading = reading_of(plan, method)
    columns = tuple(_released_column(plan, name, reading) for name in parts.inputs)
    written = draft.frame.select(one.name for one in plan.written if one.source in plan.names).to_arrow()
    for name in parts.inputs:
        if name not in plan.names:
            written = written.append_column(name, _arrow(raw_cells(parts.train[name].take(draft.origin))))
    dealing = Dealing(columns, written)
    dealt = dealing.dealt(np.random.default_rng(seed))
    seen = dealing.seen(pa.table({name: _arrow(raw_cells(parts.test[name])) for name in parts.inputs}))
    rows = np.tile(draft.origin, dealt.height // max(1, draft.frame.height))
    return _examples(parts, rows, list(zip(dealt.attributes, seen.attributes, strict=True)), dealt.weights)


def _released_column(plan: ReleasePlan, name: str, reading: Mapping[str, Any]) -> ReleasedColumn:
    kind = plan.schema[name].type
    if name not in plan.names:
        return ReleasedColumn(name, kind, "plain")
    return ReleasedColumn(
        name,
        kind,
        reading["columns"][name],
        plan.cuts.get(name),
        reading["new_rows"],
        plan.schema[name].hierarchy,
        redraw=plan.redraw,
        together=together_with(name, reading),
    )


def _arrow(cells: Cells) -> pa.Array:
    return pa.array(cells, from_pandas=True) if isinstance(cells, np.ndarray) else cells.to_arrow()
