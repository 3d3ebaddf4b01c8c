"""Recount the classes of rows that look alike, by one definition of equal. Nulls are equal to each other and count.

One definition of equal, whatever file the values are in. Cells are counted as the same if their values are: 0.0 and
-0.0 are one number; null, NaN, an empty text, one of nothing but spaces and a marker of missing values are one value,
the missing one. Any other two texts are different, also ``1`` and ``1.0``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, HeaderError, ParameterError
from incrowd.verification.delimited import check_count
from incrowd.verification.opening import Opened, column, connect, guarded, open_file, open_large, register, text
from incrowd.verification.population import People, recount_population
from incrowd.verification.requirements import Further, recount_requirements
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import unknown_column

_NEGATIVE_ZERO = r"^-0*\.?0*([eE][+-]?[0-9]+)?$"


def unify(
    connection: Any, names: Sequence[str], markers: Collection[str] | None, numbers: Collection[int] = ()
) -> None:
    """Make the table ``released`` out of the table ``written``: what counts as the same is the same there.

    Parameters
    ----------
    connection, names
        Has the table ``written`` with so many columns.
    markers
        Texts that mean missing, as does an empty one. None: only what is null is missing, a file of our own.
    numbers
        Positions of columns to be asked whether all their texts are numbers; if so, the text NaN is missing there.
    """
    kinds = [row[1] for row in connection.execute("DESCRIBE written").fetchall()]
    listed = []
    for place, kind in enumerate(kinds[: len(names)]):
        is_asked = place in numbers and kind.startswith(("VARCHAR", "ENUM"))
        numeric = is_asked and _is_numeric(connection, _value(column(place), kind, markers))
        listed.append(f"{_value(column(place), kind, markers, numeric)} AS {column(place)}")
    connection.execute(f"CREATE OR REPLACE TEMP VIEW released AS SELECT {', '.join(listed)} FROM written")


def keys(connection: Any, positions: Sequence[int], table: str = "released") -> str:
    """Columns of a table as SQL to group by; what is null is missing, and nothing else."""
    kinds = [row[1] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
    return ", ".join(_value(column(place), kinds[place], None) for place in positions)


def _value(cell: str, kind: str, markers: Collection[str] | None, numeric: bool = False) -> str:
    """A cell as SQL, in the one spelling of its value."""
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN isnan({cell}) THEN NULL ELSE {cell} + 0 END"
    if kind.startswith("ENUM"):
        cell, kind = f"CAST({cell} AS VARCHAR)", "VARCHAR"
    if kind != "VARCHAR":
        return cell
    missing = "" if markers is None else f"WHEN trim({cell}) IN ({', '.join(map(text, ['', *markers]))}) THEN NULL "
    nan = f"WHEN {cell} = 'NaN' THEN NULL " if numeric else ""
    zero = f"WHEN starts_with({cell}, '-0') AND regexp_matches({cell}, {text(_NEGATIVE_ZERO)}) THEN substr({cell}, 2) "
    return f"CASE {missing}{nan}{zero}ELSE {cell} END"


def _is_numeric(connection: Any, cell: str) -> bool:
    """Whether a column of text has nothing but numbers; the text NaN is one."""
    [(numbers,)] = connection.execute(
        f"SELECT bool_and(TRY_CAST(v AS DOUBLE) IS NOT NULL) FROM (SELECT {cell} AS v FROM written) WHERE v IS NOT NULL"
    ).fetchall()
    return bool(numbers)


Promises = Sequence[tuple[str, Sequence[str], int]]


def verify_table(
    path: str | Path,
    form: FileForm,
    promises: Promises,
    further: Sequence[Further] = (),
    resources: Resources | None = None,
    people: People | None = None,
    markers: Collection[str] | None = None,
) -> Verdict:
    """Whether every combination of values in a file is shared by enough rows.

    ``promises`` lists a name, the columns that are combined, and how many rows must share a combination; ``further``
    what is required of other columns in every such class, ``people`` of a population. ``markers`` are texts that mean
    missing, as does an empty one; without them only what is missing in the form of the file.

    Works on any table, also one that incrowd did not make, and on a folder of Parquet files. What does not fit into the
    memory of the resources goes to their scratch folder.
    """
    limits = resources or Resources()
    with connect(limits.share(0.5), None, limits.scratch) as connection, guarded(Path(path).name, form.kind):
        opened = open_written(connection, Path(path), form, limits)
        verdict = _counted(connection, opened, promises, further, people, markers)
    check_count(Path(path).name, verdict.sizes.rows, opened.rows)
    return verdict


def open_written(connection: Any, path: Path, form: FileForm, limits: Resources) -> Opened:
    """Register a file of any size as the table ``written``."""
    if limits.memory is None or form.kind != "arrow":
        return open_file(connection, path, form, "written")
    names, copy = open_large(connection, path, form, limits.scratch)  # its batches may be packed
    return replace(open_file(connection, copy, FileForm("parquet"), "written"), names=names)


def verify_arrow(
    table: Any,
    promises: Promises,
    further: Sequence[Further] = (),
    people: People | None = None,
    markers: Collection[str] | None = None,
) -> Verdict:
    """The same for a PyArrow table."""
    with connect() as connection, guarded("The table"):
        opened = Opened(register(connection, table, "written"), table.num_rows, "")
        return _counted(connection, opened, promises, further, people, markers)


def _counted(
    connection: Any,
    opened: Opened,
    promises: Promises,
    further: Sequence[Further],
    people: People | None,
    markers: Collection[str] | None,
) -> Verdict:
    names = opened.names
    counted = {name for _, together, _ in promises for name in together}
    for name in counted:
        if name not in names:
            raise HeaderError(unknown_column(name, names))
        if names.count(name) > 1:
            raise HeaderError(f"The table has {names.count(name)} columns {name!r}. Give each a name of its own.")
    if not opened.rows:
        raise FileFormatError("The table has no rows; there is nothing to verify.")
    unify(connection, names, markers, [names.index(name) for name in counted] if opened.names_nan else ())
    sizes, checks = recount_promises(connection, names, promises)
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
    with guarded("The table"):
        bars = connection.execute(
            "SELECT size, count(*) FROM (SELECT count(*) AS size FROM "
            f"(SELECT {keys(connection, positions)} FROM released) AS t({', '.join(map(column, positions))}) "
            f"GROUP BY {', '.join(map(column, positions))}) GROUP BY size ORDER BY size"
        ).fetchall()
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
    finding = f"smallest of {sizes.classes:,} classes: {sizes.smallest:,} rows"
    if not passed:
        finding += f"; {sizes.rows_below(k):,} rows are in {sizes.classes_below(k):,} classes below {k}"
    return Check(name, passed, finding)
