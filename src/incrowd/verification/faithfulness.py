"""Compare a written release with the table it came from, cell by cell.

What a released quasi-identifier cell may hold, given the row's own value: nothing; the value; a set with the
value in it; the name of a group above it in its hierarchy; an interval around it; for numbers, the mean over the rows
it speaks for, or the middle of an interval around it. All other columns must be exactly as they were.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from incrowd.errors import FileFormatError
from incrowd.verification.asked import Asked, Original
from incrowd.verification.class_sizes import recount_promises, sizes_of
from incrowd.verification.comparison import Comparison
from incrowd.verification.opening import connect, duckdb_module, open_table
from incrowd.verification.population import recount_population
from incrowd.verification.requirements import recount_requirements
from incrowd.verification.verdict import Check, Verdict
from incrowd.vocabulary.file_form import FileForm


def verify_release(path: Path, form: FileForm, asked: Asked, original: Original) -> Verdict:
    """Recount everything a release promises, from the bytes on disk."""
    duckdb = duckdb_module()
    columns = list(asked.columns)
    with connect() as connection:
        try:
            found = open_table(connection, path, form, copy=True)
            if found != columns:
                return Verdict(sizes_of([]), (Check("columns", False, f"{len(found)} columns, not those asked for"),))
            sizes, counted = recount_promises(connection, found, asked.promises)
            checks = [
                Check("columns", True, f"{len(found)} columns, as asked for"),
                *counted,
                *recount_requirements(connection, found, [names for _, names, _ in asked.promises], asked.further),
                *recount_population(connection, found, asked.quasi_identifiers, asked.people),
                _rows_check(sizes.rows, original, asked.may_lose),
            ]
            if checks[-1].passed:
                compare = Comparison(connection, asked, original, escapes=form.kind == "csv")
                checks += [_cells_check(name, compare.wrong(name), name in asked.quasi_identifiers) for name in columns]
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
