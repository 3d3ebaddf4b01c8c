"""Rows that some columns do not tell apart, rows alone at the end of one, and rows that few columns already single out.

Missing is a value like any other. A set of columns is a minimal sample unique (MSU) of a row if the row is alone with
its values in them, and is not alone in any smaller set. Elliot, Manning, Ford: A computational algorithm for handling
the special uniques problem, International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 2002. The
search here is exact, for sets up to a size that is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import combinations
from math import comb, prod

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import HeaderError, ParameterError
from incrowd.tables.reading.convert import parse_dates
from incrowd.tables.reading.source import distinct
from incrowd.vocabulary.schema import unknown_column

Whole = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_TABLE = 1 << 22
"""Up to so many possible keys are ranked by a table, beyond by sorting."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes from 0 to ``width`` - 1; the missing have a code of their own."""

    codes: Whole
    width: int


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a table's rows. Where it is known whose rows they are, sizes count persons."""

    labels: Whole  # the class of each row, counted from 0
    row_counts: Whole  # the rows of each class; none is empty
    owners: Whole | None = None  # the person of each row, counted from 0; None if every row is a person

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def count(self) -> int:
        """Number of classes."""
        return len(self.row_counts)

    @cached_property
    def sizes(self) -> Whole:
        """The rows of each class, or the persons who have rows in it."""
        if self.owners is None:
            return self.row_counts
        persons = int(self.owners.max(initial=-1)) + 1
        cells = np.unique(self.labels * persons + self.owners)
        return np.bincount(cells // persons, minlength=self.count)

    @cached_property
    def alone(self) -> Mask:
        """For each class, whether all its rows are of one person."""
        if self.owners is None:
            return np.asarray(self.row_counts == 1)
        one = np.zeros(self.count, np.int64)
        one[self.labels] = self.owners
        others = self.labels[self.owners != one[self.labels]]
        return np.asarray(np.bincount(others, minlength=self.count) == 0)

    @cached_property
    def of_rows(self) -> Whole:
        """For each row, how many rows, or persons, its class has."""
        return self.sizes[self.labels]

    @cached_property
    def exposed(self) -> Whole:
        """For each person the size of the smallest class that has a row of it; for each row, if rows are persons."""
        if self.owners is None:
            return self.of_rows
        smallest = np.full(int(self.owners.max(initial=-1)) + 1, self.rows, np.int64)
        np.minimum.at(smallest, self.owners, self.of_rows)
        return smallest

    @cached_property
    def histogram(self) -> tuple[tuple[int, int], ...]:
        """How many classes there are of each size that occurs, ascending."""
        sizes, counts = np.unique(self.sizes, return_counts=True)
        return tuple(zip(sizes.tolist(), counts.tolist(), strict=True))

    def number_of(self, size: int) -> int:
        """How many classes have exactly that size."""
        return int((self.sizes == size).sum())


def classes_of(columns: Sequence[Coded], owners: Whole | None = None) -> Classes:
    """The classes of rows that agree in all the columns; with ``owners``, they count persons."""
    labels = columns[0].codes
    width = columns[0].width
    labels, width = _dense(labels, width)
    for column in columns[1:]:
        labels, width = _dense(labels * column.width + column.codes, width * column.width)
    return Classes(labels, np.bincount(labels, minlength=width), owners)


def refine(classes: Classes, column: Coded) -> Classes:
    """The classes of rows that agree in the given classes and in one more column."""
    return classes_of([Coded(classes.labels, classes.count), column], classes.owners)


def _dense(keys: Whole, width: int) -> tuple[Whole, int]:
    """Keys renumbered from 0 without gaps, in ascending order, and how many there are."""
    if width <= _TABLE:
        present = np.zeros(width, np.int64)
        present[keys] = 1
        ranks = np.cumsum(present) - 1
        return ranks[keys], int(ranks[-1]) + 1 if width else 0
    values, labels = np.unique(keys, return_inverse=True)
    return labels.astype(np.int64), len(values)


def coded(frame: pl.DataFrame, names: Iterable[str]) -> list[Coded]:
    """The named columns as codes. NaN is missing; -0.0 is 0.0."""
    wanted = list(names)
    for name in wanted:
        if name not in frame.columns:
            raise HeaderError(unknown_column(name, frame.columns))
    plain = frame.select(wanted).with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None) + 0.0)
    by_column = distinct(plain, wanted)
    return [Coded(by_column[name].codes.astype(np.int64), len(by_column[name].values) + 1) for name in wanted]


def matched(sample: pl.DataFrame, population: pl.DataFrame, names: Sequence[str]) -> tuple[Classes, Whole, Whole]:
    """The sample's classes, the rows of the population in each of them, and the sizes of all the population's classes.

    Values are compared as numbers where both tables hold numbers, as they are where the types agree, else as text.
    """
    for name in names:
        if name not in population.columns:
            raise HeaderError(f"The population table: {unknown_column(name, population.columns)}")
    pairs = [_alike(sample[name], population[name]) for name in names]
    both = pl.DataFrame([above.append(below).alias(f"{place}") for place, (above, below) in enumerate(pairs)])
    together = classes_of(coded(both, both.columns))
    upper, lower = together.labels[: sample.height], together.labels[sample.height :]
    rows = np.bincount(lower, minlength=together.count)
    labels, count = _dense(upper, together.count)
    of_class = np.zeros(count, np.int64)
    of_class[labels] = rows[upper]
    return Classes(labels, np.bincount(labels, minlength=count)), of_class, rows[rows > 0]


def _alike(one: pl.Series, other: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both columns in a type they share."""
    if one.dtype == other.dtype:
        return one.clone(), other
    if one.dtype.is_numeric() and other.dtype.is_numeric():
        shared = pl.Int64 if one.dtype.is_integer() and other.dtype.is_integer() else pl.Float64
        return one.cast(shared), other.cast(shared)
    return one.cast(pl.String), other.cast(pl.String)


@dataclass(frozen=True)
class NotMeasured:
    """A measure that could not be taken."""

    reason: str

    def __str__(self) -> str:
        return f"not estimated: {self.reason}"

    def to_json(self) -> dict[str, str]:
        """As data."""
        return {"not_estimated": self.reason}


@dataclass(frozen=True)
class Edge:
    """An end of a column of numbers or dates that one row alone reaches."""

    column: str
    end: str

    def __str__(self) -> str:
        return f"the {self.end} {self.column}"


@dataclass(frozen=True)
class Edges:
    """The ends that single out, and the columns that have ends at all."""

    alone: tuple[Edge, ...]
    columns: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Columns only, no values."""
        alone = [{"column": edge.column, "end": edge.end} for edge in self.alone]
        return {"columns_with_ends": list(self.columns), "reached_by_one_row": alone}


def edges_of(frame: pl.DataFrame, names: tuple[str, ...]) -> Edges:
    """The smallest and the largest value of each column of numbers or dates, if a single row has it.

    Columns of sets, intervals and words have no ends. What a released interval gives away about the rows inside it
    needs the original and is in the attack lab.
    """
    alone, columns = [], []
    for name in names:
        numbers = numbers_of(frame[name])
        if numbers is None:
            continue
        columns.append(name)
        for end, value in (("smallest", numbers.min()), ("largest", numbers.max())):
            if int((numbers == value).sum()) == 1:
                alone.append(Edge(name, end))
    return Edges(tuple(alone), tuple(columns))


def numbers_of(series: pl.Series) -> pl.Series | None:
    """The column as numbers, dates as days; None if some of its values are neither."""
    known = series.drop_nulls()
    if series.dtype.is_numeric():
        numbers = known.cast(pl.Float64).fill_nan(None).drop_nulls()
        return series.cast(pl.Float64).fill_nan(None) if len(numbers) else None
    if series.dtype in (pl.Date, pl.Datetime):
        return series.cast(pl.Int64).cast(pl.Float64) if len(known) else None
    if series.dtype != pl.String or not len(known):
        return None
    numbers = series.str.strip_chars().cast(pl.Float64, strict=False)
    if numbers.null_count() == series.null_count():
        return numbers
    dates = parse_dates(series)
    settled = not dates.ambiguous and dates.values.null_count() == series.null_count()
    return dates.values.cast(pl.Int64).cast(pl.Float64) if settled else None


MOST_CELLS = 400_000_000
"""At most so many rows times sets of columns are looked at; sets of the largest size are left out first."""

Subset = tuple[int, ...]


@dataclass(frozen=True)
class Special:
    """The special uniques of a table."""

    largest: int  # the most columns that were tried together
    requested: int  # the most that should have been tried; if more than ``largest``, it would have taken too long
    sets: int  # how many sets of columns were tried
    minimal: tuple[int, ...]  # how many minimal sample uniques there are of each size, from 1 on
    rows: tuple[int, ...]  # how many rows have their smallest one of each size, from 1 on
    unscored: int  # unique rows that have none up to that size: only larger sets single them out
    columns: tuple[tuple[str, int, float], ...]
    highest: float
    mean: float
    dis: DisSuda | NotMeasured  # DIS-SUDA, if the sampling fraction is known
    scores: npt.NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def special(self) -> int:
        """Rows with a minimal sample unique of at most ``largest`` columns: the special ones."""
        return sum(self.rows)

    def to_json(self) -> dict[str, object]:
        """The numbers; not the scores of rows."""
        return {
            "largest_set": self.largest,
            "asked_for": self.requested,
            "sets_tried": self.sets,
            "minimal_sample_uniques": {f"{size}": count for size, count in enumerate(self.minimal, 1)},
            "rows_by_smallest": {f"{size}": count for size, count in enumerate(self.rows, 1)},
            "unique_by_larger_sets_only": self.unscored,
            "columns": {name: {"part_of": count, "share": share} for name, count, share in self.columns},
            "suda": {"highest": self.highest, "mean": self.mean},
            "dis_suda": self.dis.to_json(),
        }


@dataclass(frozen=True)
class DisSuda:
    """DIS, for the whole table, and DIS-SUDA, for its scored rows."""

    dis: float  # the probability that a unique match is right
    highest: float
    mean: float
    above: tuple[tuple[float, int], ...]  # how many rows lie above 0.1, 0.2 and 0.5

    def to_json(self) -> dict[str, object]:
        """The numbers."""
        above = {f"{threshold:g}": rows for threshold, rows in self.above}
        return {"dis": self.dis, "highest": self.highest, "mean": self.mean, "rows_above": above}


def special_uniques(
    columns: Sequence[Coded],
    names: Sequence[str],
    largest: int = 3,
    fraction: float | None = None,
    owners: Whole | None = None,
) -> Special:
    """Every minimal sample unique of up to ``largest`` columns, and the scores that follow.

    With ``owners``, the person of each row, a row is alone if nobody else has one that looks alike, and a person is as
    special as its most special row.
    """
    if isinstance(largest, bool) or not isinstance(largest, int) or largest < 1:
        raise ParameterError("The largest set of columns for special uniques must be a whole number of at least 1.")
    rows, width = len(columns[0].codes), len(columns)
    reach = reachable(rows, width, min(largest, width))
    search = _Search(columns, reach, owners)
    search.run()
    whole = classes_of(columns, owners)
    scored = search.scores > 0
    part_of = search.part_of.tolist()
    total = max(1, sum(search.minimal))
    return Special(
        largest=reach,
        requested=min(largest, width),
        sets=sum(comb(width, size) for size in range(1, reach + 1)),
        minimal=tuple(search.minimal),
        rows=tuple(np.bincount(search.smallest, minlength=reach + 1)[1:].tolist()),
        unscored=int((whole.exposed == 1).sum()) - int(scored.sum()),
        columns=tuple((name, count, count / total) for name, count in zip(names, part_of, strict=True)),
        highest=float(search.scores.max()),
        mean=float(search.scores[scored].mean()) if scored.any() else 0.0,
        dis=dis_suda(search.scores, whole, fraction),
        scores=search.scores,
    )


def reachable(rows: int, width: int, largest: int) -> int:
    """The largest size of sets up to ``largest`` for which all sets can be tried; always at least 1."""
    cells, reach = rows * width, 1
    for size in range(2, largest + 1):
        cells += rows * comb(width, size)
        if cells > MOST_CELLS:
            break
        reach = size
    return reach


def suda_weight(size: int, width: int, largest: int) -> int:
    """The score of one minimal sample unique: the product over i from its size to M of (columns - i).

    M is the largest size tried, at most one less than the columns; a set of all columns scores 1. Elliot, Manning,
    Mayes, Gurd, Bane: SUDA: A program for detecting special uniques, UNECE work session, Geneva 2005.
    """
    return prod(width - i for i in range(size, min(largest, width - 1) + 1))


def dis_suda(scores: npt.NDArray[np.float64], whole: Classes, fraction: float | None) -> DisSuda | NotMeasured:
    r"""DIS for the table, spread over its special uniques by their SUDA scores.

    With n\ :sub:`1` uniques and n\ :sub:`2` pairs in a sample of fraction p

        DIS = p n_1 / (p n_1 + 2 (1 - p) n_2)

    estimates how often a unique match is right, which is n\ :sub:`1` over the people who look like one of the uniques
    (Skinner, Elliot: A measure of disclosure risk for microdata, JRSS B 64, 2002). A row of score s gets the
    probability q with (1 - q) / q = c / s: the higher the score, the fewer others look alike. c is such that the people
    who look alike, 1 / q, are 1 / DIS on average over the scored rows.

    Other programs raise s to a power that depends on the number of columns; no paper gives it, and it is left out here.
    """
    if fraction is None:
        return NotMeasured("the size of the population is not known")
    scored = scores[scores > 0]
    if not len(scored):
        return NotMeasured("no row has a minimal sample unique")
    ones, pairs = fraction * whole.number_of(1), 2 * (1 - fraction) * whole.number_of(2)
    dis = ones / (ones + pairs)
    scale = (1 - dis) / dis / float((1 / scored).mean())
    confidences = 1 / (1 + scale / scored)
    above = tuple((threshold, int((confidences > threshold).sum())) for threshold in (0.1, 0.2, 0.5))
    return DisSuda(dis, float(confidences.max()), float(confidences.mean()), above)


class _Search:
    """Goes through all sets of columns, size by size; a row unique on a set is unique on every larger one."""

    def __init__(self, columns: Sequence[Coded], largest: int, owners: Whole | None) -> None:
        self.columns, self.largest, self.owners = columns, largest, owners
        height = len(columns[0].codes) if owners is None else int(owners.max(initial=-1)) + 1
        self.scores: npt.NDArray[np.float64] = np.zeros(height)
        self.smallest: Whole = np.zeros(height, np.int64)
        self.part_of: Whole = np.zeros(len(columns), np.int64)
        self.minimal: list[int] = []

    def run(self) -> None:
        """Fill in scores, sizes and counts."""
        classes: dict[Subset, Classes] = {}
        alone: dict[Subset, Mask] = {}
        for size in range(1, self.largest + 1):
            finer: dict[Subset, Classes] = {}
            unique: dict[Subset, Mask] = {}
            self.minimal.append(0)
            for subset in combinations(range(len(self.columns)), size):
                finer_classes = self._classes(subset, classes)
                mask = finer_classes.alone[finer_classes.labels]
                self._note(subset, mask, alone)
                if size < self.largest:  # nothing is kept of the largest sets
                    finer[subset], unique[subset] = finer_classes, mask
            classes, alone = finer, unique

    def _classes(self, subset: Subset, coarser: dict[Subset, Classes]) -> Classes:
        last = self.columns[subset[-1]]
        return refine(coarser[subset[:-1]], last) if len(subset) > 1 else classes_of([last], self.owners)

    def _note(self, subset: Subset, unique: Mask, alone: dict[Subset, Mask]) -> None:
        """Count the rows, or persons, for which the set is minimal."""
        smaller = [alone[tuple(c for c in subset if c != left)] for left in subset] if len(subset) > 1 else []
        minimal = unique & ~reduce(np.logical_or, smaller) if smaller else unique
        rows = np.flatnonzero(minimal) if self.owners is None else np.unique(self.owners[minimal])
        self.scores[rows] += suda_weight(len(subset), len(self.columns), self.largest)
        self.smallest[rows] = np.where(self.smallest[rows] == 0, len(subset), self.smallest[rows])
        self.part_of[list(subset)] += len(rows)
        self.minimal[-1] += len(rows)
