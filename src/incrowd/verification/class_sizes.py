"""Recount the classes of rows that look alike. Nulls are equal to each other and count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, HeaderError, ParameterError
from incrowd.verification.opening import column, connect, open_table, register
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.schema import unknown_column


def verify_table(path: str | Path, form: FileForm, k: int, quasi_identifiers: Sequence[str]) -> Verdict:
    """Whether every combination of quasi-identifier values in a file is shared by at least k rows.

    Works on any table, also one that incrowd did not make.
    """
    with connect() as connection:
        return _counted(connection, open_table(connection, Path(path), form), k, quasi_identifiers)


def verify_arrow(table: Any, k: int, quasi_identifiers: Sequence[str]) -> Verdict:
    """The same for a PyArrow table."""
    with connect() as connection:
        return _counted(connection, register(connection, table, "released"), k, quasi_identifiers)


def _counted(connection: Any, names: Sequence[str], k: int, quasi_identifiers: Sequence[str]) -> Verdict:
    if not quasi_identifiers:
        raise ParameterError("Name at least one quasi-identifier to count by.")
    for name in quasi_identifiers:
        if name not in names:
            raise HeaderError(unknown_column(name, names))
    sizes = class_sizes(connection, [names.index(name) for name in quasi_identifiers])
    if not sizes.rows:
        raise FileFormatError("The table has no rows; there is nothing to verify.")
    return Verdict(sizes, (k_check(sizes, k),))


def class_sizes(connection: Any, positions: Sequence[int]) -> ClassSizes:
    """Classes of rows of ``released`` that are equal in the columns at these positions, counted."""
    import duckdb

    keys = ", ".join(map(column, positions))
    try:
        bars = connection.execute(
            f"SELECT size, count(*) FROM (SELECT count(*) AS size FROM released GROUP BY {keys}) "
            "GROUP BY size ORDER BY size"
        ).fetchall()
    except duckdb.Error as error:
        raise FileFormatError(f"The file cannot be read to its end ({type(error).__name__}).") from None
    return sizes_of(bars)


def sizes_of(bars: Sequence[tuple[int, int]]) -> ClassSizes:
    """Class sizes from (size, number of classes)."""
    return ClassSizes(
        rows=sum(size * classes for size, classes in bars),
        classes=sum(classes for _, classes in bars),
        smallest=min((size for size, _ in bars), default=0),
        histogram=tuple((int(size), int(classes)) for size, classes in bars),
    )


def k_check(sizes: ClassSizes, k: int) -> Check:
    """The check of k-anonymity."""
    passed = sizes.smallest >= k
    found = f"smallest of {sizes.classes:,} classes: {sizes.smallest:,} rows"
    if not passed:
        found += f"; {sizes.rows_below(k):,} rows are in {sizes.classes_below(k):,} classes below {k}"
    return Check(f"{k}-anonymity", passed, found)
