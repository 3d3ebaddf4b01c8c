"""Released cells as numbers or words, see :mod:`incrowd.compare.feeding`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd.compare.examples import Codes, Numbers
from incrowd.plan.release_plan import HIGH, LOW, ReleasePlan
from incrowd.rows.memory.population import bin_column
from incrowd.vocabulary.encoded_table import EncodedColumn
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
from incrowd.vocabulary.schema import ColumnType

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
