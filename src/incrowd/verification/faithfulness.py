"""Compare a written release with the table it came from, cell by cell.

What a released quasi-identifier cell may hold, given the row's own value: nothing; the value; a set with the
value in it; an interval around it; for numbers, the mean over the rows it speaks for. All other columns must be
exactly as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import FileFormatError
from incrowd.verification.class_sizes import class_sizes, k_check, sizes_of
from incrowd.verification.comparison import Comparison
from incrowd.verification.opening import connect, open_table, register
from incrowd.verification.verdict import Check, Verdict
from incrowd.vocabulary.file_form import FileForm


@dataclass(frozen=True, eq=False)
class Original:
    """The table a release came from, as the verification needs it.

    Parameters
    ----------
    table
        A PyArrow table with the released columns, one row for each released row, in the release's order.
        Numeric quasi-identifiers are numbers, dates are dates, other quasi-identifiers text.
    origin
        The input row of each released row.
    rows
        Number of input rows.
    """

    table: Any
    origin: npt.NDArray[np.intp]
    rows: int


def verify_release(
    path: Path,
    form: FileForm,
    *,
    k: int,
    quasi_identifiers: Sequence[str],
    columns: Sequence[str],
    original: Original,
    may_lose: int,
    shared_means: Collection[str] = (),
) -> Verdict:
    """Recount everything a release promises, from the bytes on disk.

    Parameters
    ----------
    columns
        The released columns, in order.
    may_lose
        How many rows the method may leave out.
    shared_means
        Numeric quasi-identifiers whose numbers are means over all rows that show the number, not over one class.
    """
    import duckdb

    with connect() as connection:
        try:
            found = open_table(connection, path, form, copy=True)
            if found != list(columns):
                return Verdict(sizes_of([]), (Check("columns", False, f"{len(found)} columns, not those asked for"),))
            sizes = class_sizes(connection, [found.index(name) for name in quasi_identifiers])
            checks = [
                Check("columns", True, f"{len(found)} columns, as asked for"),
                k_check(sizes, k),
                _rows_check(sizes.rows, original, may_lose),
            ]
            if checks[-1].passed:
                register(connection, original.table.select(columns), "original")
                compare = Comparison(connection, columns, quasi_identifiers, shared_means, escapes=form.kind == "csv")
                checks += [_cells_check(name, compare.wrong(name), name in quasi_identifiers) for name in columns]
        except duckdb.Error as error:
            reason = type(error).__name__
            raise FileFormatError(f"{path.name} cannot be read back by the verification ({reason}).") from None
    return Verdict(sizes, tuple(checks))


def _rows_check(released: int, original: Original, may_lose: int) -> Check:
    """Every released row is a different input row, and no more are missing than allowed."""
    used = np.bincount(original.origin, minlength=original.rows)
    different = len(used) == original.rows and int(used.max(initial=0)) <= 1 and released == len(original.origin)
    lost = original.rows - released
    return Check("rows", different and 0 <= lost <= may_lose, f"{released:,} released, {lost:,} left out")


def _cells_check(name: str, wrong: int, transformed: bool) -> Check:
    promise = "faithful" if transformed else "untouched"
    found = "every cell" if not wrong else f"{wrong:,} cells or numbers differ from the original"
    return Check(f"{name} {promise}", wrong == 0, found)
