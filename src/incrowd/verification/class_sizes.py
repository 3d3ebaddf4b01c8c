"""Recount the classes of rows that look alike, by one definition of equal. Nulls are equal to each other and count.

One definition of equal, whatever file the values are in. Cells are counted as the same if their values are: 0.0 and
-0.0 are one number; null, NaN, an empty text, one of nothing but spaces and a marker of missing values are one value,
the missing one. Any other two texts are different, also ``1`` and ``1.0``.

Recount what is promised to persons who may have several rows: each counts once in a class.

The table ``owned`` has the released rows with the number of the person of each (:mod:`incrowd.verification.owners`). A
class is told by its columns: missing is a value. Where recipients can follow persons, histories are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.errors import FileFormatError, HeaderError, ParameterError
from incrowd.verification.coded import ask
from incrowd.verification.delimited import check_count
from incrowd.verification.histories import has_beside, make_histories, supports
from incrowd.verification.opening import Opened, column, connect, guarded, open_file, open_large, register, text
from incrowd.verification.owners import OWNED, Owners
from incrowd.verification.population import People, recount_population
from incrowd.verification.requirements import Further, recount_requirements
from incrowd.verification.verdict import Check, ClassSizes, PersonCounts, Verdict
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


Bars = tuple[tuple[int, int], ...]
NEARLY = 1.05
"""Pairs of a value and a person, to one of either, so that a column tells persons: one exception makes no other."""


def recount_persons(
    connection: Any, names: Sequence[str], promises: Promises, owners: Owners
) -> tuple[ClassSizes, tuple[Check, ...]]:
    """A check for each promise that enough persons look alike; the classes that are nearest to breaking theirs.

    Where recipients can follow persons, they look alike if their histories do, or what is known of these.
    """
    counted = [
        (*_count_of_persons(connection, [names.index(one) for one in set_], owners), name, k)
        for name, set_, k in promises
    ]
    nearest = min(counted, key=lambda one: one[0].smallest / one[4])
    return nearest[1], tuple(persons_check(persons, name, k, what) for persons, _, what, name, k in counted)


def _count_of_persons(
    connection: Any, positions: Sequence[int], owners: Owners
) -> tuple[PersonCounts, ClassSizes, str]:
    """The persons that look alike in the columns at positions; the classes with them; and what they are called."""
    sizes, persons = class_persons(connection, positions, owners)
    what = "classes"
    if owners.persons.linked:
        make_histories(connection, positions, owners)
        what, bars = _in_histories(connection, owners)
        persons = replace(persons, smallest=bars[0][0] if bars else 0, histogram=bars)
    return persons, replace(sizes, persons=persons), what


def _in_histories(connection: Any, owners: Owners) -> tuple[str, Bars]:
    """What is counted of histories, and (persons, how many have so many), ascending."""
    rows = owners.persons.known_rows
    if rows is None:
        return "histories", _bars(ask(connection, "SELECT persons, count(*) FROM histories GROUP BY persons"))
    return f"sets of up to {rows} known rows", _bars(supports(connection, rows, beside=has_beside(connection)))


def class_persons(connection: Any, positions: Sequence[int], owners: Owners) -> tuple[ClassSizes, PersonCounts]:
    """Classes of rows of ``owned`` that are equal in the columns at these positions: rows and persons of each."""
    listed = ", ".join(map(column, positions))
    with guarded("The table"):
        bars = ask(
            connection,
            "SELECT persons, n, max(heaviest), count(*) FROM (SELECT count(*) AS persons, sum(n)::BIGINT AS n, "
            f"max(n) AS heaviest FROM (SELECT count(*) AS n, {listed} FROM "
            f"(SELECT {keys(connection, positions, OWNED)}, person FROM {OWNED}) AS t({listed}, person) "
            f"GROUP BY {listed}, person) GROUP BY {listed}) GROUP BY persons, n",
        )
    share = max((heaviest / n for _, n, heaviest, _ in bars), default=0.0)
    of_persons = _bars((persons, classes) for persons, _, _, classes in bars)
    smallest = of_persons[0][0] if of_persons else 0
    there = owners.everybody - owners.lost
    strangers = 0 if owners.strangers is None else int(np.count_nonzero(owners.strangers))
    persons = PersonCounts(there, owners.lost, smallest, of_persons, share, owners.without, strangers)
    return sizes_of(_bars((n, classes) for _, n, _, classes in bars)), persons


def _bars(pairs: Iterable[tuple[int, int]]) -> Bars:
    """(size, number of classes of that size), ascending."""
    bars: dict[int, int] = {}
    for size, classes in pairs:
        bars[int(size)] = bars.get(int(size), 0) + int(classes)
    return tuple(sorted(bars.items()))


def persons_check(counts: PersonCounts, name: str, k: int, what: str = "classes") -> Check:
    """The check that no class has fewer than k persons."""
    persons = "1 person" if counts.smallest == 1 else f"{counts.smallest:,} persons"
    finding = f"smallest of {sum(many for _, many in counts.histogram):,} {what}: {persons}"
    passed = counts.smallest >= k
    return Check(name, passed, finding if passed else f"{finding}; {counts.classes_below(k):,} below {k}")


def telling_columns_check(connection: Any, names: Sequence[str], owners: Owners, beside: str | None = None) -> Check:
    """The check that no released column, but for a pseudonym ``beside``, has one value for each person and no other.

    Where every person has one row, a column of different values tells nothing of rows that belong together.
    """
    persons = owners.everybody - owners.lost
    places = [place for place, name in enumerate(names) if name != beside]
    if len(owners.released) <= persons or not places:
        return Check("no column tells persons", True, "every person has one row")
    about = ", ".join(f"approx_count_distinct({column(place)})" for place in places)
    [roughly] = ask(connection, f"SELECT {about} FROM {OWNED}")
    near = [place for place, values in zip(places, roughly, strict=True) if persons / 2 <= values <= persons * 2]
    telling = [names[place] for place in near if _tells(connection, column(place))]
    finding = f"{', '.join(map(repr, telling))} has a value for each person" if telling else f"{len(places)} columns"
    return Check("no column tells persons", not telling, finding)


def _tells(connection: Any, at: str) -> bool:
    """Whether a column is one to one with persons, or nearly so; missing is a value.

    Nearly every value is of one person, and nearly everybody who has several rows has one value.
    """
    [(pairs, values, of_several, several)] = ask(
        connection,
        "SELECT count(*), count(DISTINCT v) + coalesce(bool_or(v IS NULL), false)::INT, "
        "count(*) FILTER (rows > 1), count(DISTINCT person) FILTER (rows > 1) FROM "
        f"(SELECT v, person, sum(n) OVER (PARTITION BY person) AS rows FROM "
        f"(SELECT {at} AS v, person, count(*) AS n FROM {OWNED} GROUP BY ALL))",
    )
    return bool(pairs <= NEARLY * values and of_several <= NEARLY * several)
