"""What the verification is told: what was promised, and what the input was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.class_sizes import Promises
from incrowd.verification.population import People
from incrowd.verification.requirements import Further
from incrowd.vocabulary.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Original:
    """The table a release came from, or a piece of it, as the verification needs it.

    Parameters
    ----------
    table
        A PyArrow table with the released columns, one row for each released row, in the release's order.
        Numeric quasi-identifiers are numbers, dates are dates, other quasi-identifiers text.
    origin
        The input row of each released row.
    rows
        Number of input rows.
    claims
        For numbers that are middles of intervals: the low (excluded) and the high end (included) of the interval that
        each released row claims to lie in, infinite where it is open.
    """

    table: Any
    origin: npt.NDArray[np.intp]
    rows: int
    claims: Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Originals:
    """The table a release came from in pieces, for tables that do not fit into memory.

    Parameters
    ----------
    rows
        Number of input rows.
    sizes
        The released rows of each piece, in the release's order.
    piece
        Gives the piece with a number.
    origin
        The input row of each released row.
    """

    rows: int
    sizes: Sequence[int]
    piece: Callable[[int], Original]
    origin: npt.NDArray[np.intp]

    @classmethod
    def of(cls, original: Original | Originals) -> Originals:
        """The pieces of a table, which may be one."""
        if isinstance(original, Originals):
            return original
        return cls(original.rows, (len(original.origin),), lambda _: original, original.origin)


@dataclass(frozen=True, eq=False)
class Asked:
    """What a release promises.

    Parameters
    ----------
    promises
        A name, the columns that are combined, and how many rows must share every combination.
    columns
        The released columns, in order.
    quasi_identifiers
        Those that are transformed.
    may_lose
        How many rows the method may leave out.
    shared_means
        Numeric quasi-identifiers whose numbers are means over all rows that show the number, not over one class.
    bounds
        Pairs of columns that hold the two ends of an interval, the low one excluded.
    hierarchies
        Hierarchies of values, for columns that may show the name of a group.
    counts
        Quasi-identifiers written as counts of values.
    further
        What is required of columns in every class beyond its size.
    people
        The population, if something is required of it.
    extremes
        Whether intervals may end at the smallest and the largest number of their rows, which was asked for.
    """

    promises: Promises
    columns: Sequence[str]
    quasi_identifiers: Sequence[str]
    may_lose: int
    shared_means: Collection[str] = ()
    bounds: Sequence[tuple[str, str]] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    counts: Collection[str] = ()
    further: Sequence[Further] = ()
    people: People | None = None
    extremes: bool = False
