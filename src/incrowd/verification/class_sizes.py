"""Recount the classes of rows that look alike. Nulls are equal to each other and count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, HeaderError, ParameterError
from incrowd.verification.opening import column, connect, open_large, open_table, register
from incrowd.verification.population import People, recount_population
from incrowd.verification.requirements import Further, recount_requirements
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import unknown_column

Promises = Sequence[tuple[str, Sequence[str], int]]


def verify_table(
    path: str | Path,
    form: FileForm,
    promises: Promises,
    further: Sequence[Further] = (),
    resources: Resources | None = None,
    people: People | None = None,
) -> Verdict:
    """Whether every combination of values in a file is shared by enough rows.

    ``promises`` lists a name, the columns that are combined, and how many rows must share a combination; ``further``
    what is required of other columns in every such class, ``people`` of a population.

    Works on any table, also one that incrowd did not make, and on a folder of Parquet files. What does not fit into the
    memory of the resources goes to their scratch folder.
    """
    limits = resources or Resources()
    with connect(limits.share(0.5), None, limits.scratch) as connection:
        if limits.memory is not None and form.kind == "arrow":  # its batches may be packed
            found, _ = open_large(connection, Path(path), form, limits.scratch)
        else:
            found = open_table(connection, Path(path), form)
        return _counted(connection, found, promises, further, people)


def verify_arrow(
    table: Any, promises: Promises, further: Sequence[Further] = (), people: People | None = None
) -> Verdict:
    """The same for a PyArrow table."""
    with connect() as connection:
        return _counted(connection, register(connection, table, "released"), promises, further, people)


def _counted(
    connection: Any, names: Sequence[str], promises: Promises, further: Sequence[Further], people: People | None
) -> Verdict:
    for name in {name for _, together, _ in promises for name in together}:
        if name not in names:
            raise HeaderError(unknown_column(name, names))
    sizes, checks = recount_promises(connection, names, promises)
    if not sizes.rows:
        raise FileFormatError("The table has no rows; there is nothing to verify.")
    more = recount_requirements(connection, names, [together for _, together, _ in promises], further)
    fitting = recount_population(connection, names, list(people.columns) if people else (), people)
    return Verdict(sizes, (*checks, *more, *fitting))


def recount_promises(connection: Any, names: Sequence[str], promises: Promises) -> tuple[ClassSizes, tuple[Check, ...]]:
    """A check for each promise, and the sizes of the classes that are nearest to breaking theirs."""
    if not promises or not all(together for _, together, _ in promises):
        raise ParameterError("Name at least one quasi-identifier to count by.")
    counted = [
        (class_sizes(connection, [names.index(name) for name in together]), name, k) for name, together, k in promises
    ]
    nearest = min(counted, key=lambda one: one[0].smallest / one[2])[0]
    return nearest, tuple(k_check(sizes, name, k) for sizes, name, k in counted)


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


def k_check(sizes: ClassSizes, name: str, k: int) -> Check:
    """The check that no class is smaller than k."""
    passed = sizes.smallest >= k
    found = f"smallest of {sizes.classes:,} classes: {sizes.smallest:,} rows"
    if not passed:
        found += f"; {sizes.rows_below(k):,} rows are in {sizes.classes_below(k):,} classes below {k}"
    return Check(name, passed, found)
