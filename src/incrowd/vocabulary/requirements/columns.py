"""What requirements on a column have in common: its column as it is in the whole table, and exact numbers.

Numbers are as the user wrote them, and decisions are without rounding.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy

if TYPE_CHECKING:
    from incrowd.vocabulary.requirement import OnColumn, Requirement
    from incrowd.vocabulary.schema import Schema

Flags = npt.NDArray[np.bool_]
Histograms = npt.NDArray[np.int64]
MARGIN = 1e-9  # rounding is far smaller: floats decide what is further from a limit, whole numbers the rest
MOST = 10**18  # of numerator and denominator, so that both fit 64 bits
_WRITTEN = re.compile(r"-?(\d+(\.\d*)?|\.\d+)([eE]-?\d{1,2})?|\d+/\d+")


def written(value: object, name: str, example: str) -> Fraction:
    """The number somebody wrote, exactly: 0.1 is one tenth, not the nearest binary fraction."""
    number = _number(value)
    if number is None:
        raise ParameterError(f"{name} must be a number. Give for instance {example}.")
    if max(abs(number.numerator), number.denominator) > MOST:
        raise ParameterError(f"{name} has too many digits: at most 18 are allowed. Give for instance {example}.")
    return number


def _number(value: object) -> Fraction | None:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, Fraction | int) and not isinstance(plain, bool):
        return Fraction(plain)
    try:
        if isinstance(plain, float) and math.isfinite(plain):
            return Fraction(repr(plain))
        if isinstance(plain, str) and len(plain) <= 40 and _WRITTEN.fullmatch(plain.strip()):
            return Fraction(plain.strip())
    except ZeroDivisionError:
        pass
    return None


def text(number: Fraction) -> str:
    """A number as a person writes it."""
    digits = 0
    while digits < 30 and (number * 10**digits).denominator > 1:
        digits += 1
    scaled = number * 10**digits
    if scaled.denominator > 1:
        return str(number)
    return f"{Decimal(f'{scaled.numerator}e-{digits}'):f}"


def rounded(number: float | Fraction, *, up: bool) -> str:
    """A reachable figure for a message, with four digits after the point, rounded to the safe side."""
    scaled = (math.ceil if up else math.floor)(Fraction(number) * 10_000)
    return text(Fraction(scaled, 10_000))


def at_most(scores: npt.NDArray[np.float64], limit: Fraction, exactly: Callable[[int], bool]) -> Flags:
    """Whether each score is at most the limit: by floats where that is clear, else asking for an exact decision."""
    bound = float(limit)
    holds: Flags = scores <= bound
    for i in np.flatnonzero(np.abs(scores - bound) <= MARGIN * (1 + abs(bound))).tolist():
        holds[i] = exactly(i)
    return holds


def shares(histograms: Histograms, sizes: Histograms | None = None) -> npt.NDArray[np.float64]:
    """The shares of the values in each group of a size, else of their sum; an empty group has none of any."""
    whole = histograms.sum(axis=1) if sizes is None else sizes
    return np.asarray(histograms / np.maximum(whole, 1)[:, None], np.float64)


def whole_numbers(histogram: Iterable[int]) -> list[int]:
    """Counts as numbers that never overflow."""
    return [int(count) for count in histogram]


def times(counts: npt.NDArray[np.int64], factor: int) -> npt.NDArray[Any]:
    """Counts times a whole number; where 64 bits are too few, in numbers that never overflow."""
    fits = int(counts.max(initial=0)) * factor <= np.iinfo(np.int64).max
    return np.asarray((counts if fits else counts.astype(object)) * factor)


def is_positive(terms: Callable[[Context], Sequence[Decimal]]) -> bool:
    """Whether a sum other than 0 is positive, by decimals of growing precision.

    ``terms`` are its terms, each right to the last digit or two of a context.
    """
    digits = 40
    while True:
        context = Context(prec=digits)
        listed = terms(context)
        total, size = (reduce(context.add, some) for some in (listed, [abs(term) for term in listed]))
        if abs(total) > (size * len(listed)).scaleb(3 - digits):
            return total > 0
        digits *= 2


@dataclass(frozen=True, eq=False)
class RequirementSubject:
    """How often each value of a column occurs in the table, and how far its values lie apart."""

    name: str  # the column
    counts: npt.NDArray[np.int64]  # rows per code, the missing ones last: missing is a value
    has_order: bool = False  # whether its values can be compared
    # hierarchy, leaves: The groups of its values, and the place of the leaf of each code; a missing value is a child
    # of the root
    hierarchy: Hierarchy | None = None
    leaves: npt.NDArray[np.int64] | None = None
    size: int | None = None  # persons of the table, where each may have several values; None: the sum of the counts

    @classmethod
    def of(
        cls,
        column: EncodedColumn,
        counts: npt.NDArray[np.int64],
        hierarchy: Hierarchy | None,
        size: int | None = None,
    ) -> RequirementSubject:
        """The subject of an encoded column; ``counts`` are those of all rows, or persons."""
        leaves = None if hierarchy is None else hierarchy.encode(column)
        return cls(column.name, counts, column.type.has_order, hierarchy, leaves, size)

    @property
    def rows(self) -> int:
        """Rows of the table, or persons."""
        return int(self.counts.sum()) if self.size is None else self.size

    @property
    def width(self) -> int:
        """Number of codes."""
        return len(self.counts)

    @cached_property
    def occurring(self) -> npt.NDArray[np.intp]:
        """The codes that occur."""
        return np.flatnonzero(self.counts)

    @cached_property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of each code that occurs."""
        return np.asarray(self.counts[self.occurring] / self.rows, np.float64)

    @property
    def values(self) -> int:
        """Number of different values, missing included."""
        return len(self.occurring)


def holds(requirement: OnColumn, histogram: npt.ArrayLike, whole: npt.ArrayLike | None = None) -> bool:
    """Whether one group keeps a requirement, given its counts and those of the whole table."""
    group = np.asarray(histogram, np.int64)
    subject = RequirementSubject("", group if whole is None else np.asarray(whole, np.int64))
    return bool(requirement.holds_each(group[None, :], subject).item())


def of_column(on: str | None) -> str:
    """The end of a sentence about a column."""
    return "of the class" if on is None else f"of {on}"


def check_columns(requirement: Requirement, columns: Mapping[str, EncodedColumn], schema: Schema) -> None:
    """Raise if no release of this table can keep what is required of its columns; say what would be possible.

    All rows together are the weakest state of a monotone requirement: if they do not keep it, no partition does.
    """
    for part in requirement.on_columns:
        name = part.on or str(schema.target)
        part.check_possible(RequirementSubject.of(columns[name], columns[name].counts, schema[name].hierarchy))
