"""What is promised beyond k, and to persons, recounted from the written files.

Of each class come its counts: how many of its rows have which cell of a column; neither its rows nor what it is called.
Persons are recounted by Spark SQL, beside whose rows the files were made of; only counts come back.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from incrowd.errors import VerificationError
from incrowd.rows.blocks.drafting import PERSON
from incrowd.rows.spark.drafting import Mixing, Pieces
from incrowd.rows.spark.session import EXACT, errors_translated, mapped, set_for_a_while
from incrowd.rows.spark.table import SparkTable
from incrowd.verification.class_sizes import NEARLY, Promises, persons_check, sizes_of
from incrowd.verification.column_rules import coarsened_rows
from incrowd.verification.faithfulness import means_check
from incrowd.verification.input_table import ColumnOrigin, understood
from incrowd.verification.meaning import CellMeaning
from incrowd.verification.opening import column, connect
from incrowd.verification.person_keys import PersonKeys, PersonReader
from incrowd.verification.population import population_checks
from incrowd.verification.request import Expected, InputFile
from incrowd.verification.requirements import recount_counted
from incrowd.verification.verdict import Check, ClassSizes, PersonCounts
from incrowd.vocabulary.persons import Persons

MOST_COUNTS = 20_000_000  # of all classes together: half a gigabyte on the driver


def class_sizes(session: Any, folder: str, names: Sequence[str]) -> list[tuple[int, int]]:
    """Sizes of classes of rows that are equal in some columns of the written files, and how many there are of each.

    Nulls are equal to each other.
    """
    from pyspark.sql import functions as sql

    with errors_translated(), set_for_a_while(session, EXACT):
        rows, _ = _keyed(session, folder, names)
        sizes = rows.groupBy(*rows.columns).agg(sql.count(sql.lit(1)).alias("size"))
        bars = sizes.groupBy("size").agg(sql.count(sql.lit(1)).alias("classes")).collect()
    return sorted((int(bar["size"]), int(bar["classes"])) for bar in bars)


def further_checks(session: Any, folder: str, expected: Expected) -> Iterator[Check]:
    """A check for each requirement on a column or on a population."""
    sets = [names for _, names, _ in expected.promises]
    for one in expected.further:
        with connect() as connection:
            yield recount_counted(connection, one, (_cells(session, folder, names, one.name) for names in sets))
    if expected.people is not None:
        looks = _looks(session, folder, expected.quasi_identifiers)
        yield from population_checks(looks, expected.quasi_identifiers, expected.people)


def _cells(session: Any, folder: str, names: Sequence[str], subject: str) -> Any:
    """How many rows ``n`` of each class, a number ``g``, have which cell ``c0`` of a column; classes are not named."""
    import pyarrow as pa
    from pyspark.sql import functions as sql

    with errors_translated(), set_for_a_while(session, EXACT):
        rows, kinds = _keyed(session, folder, [*names, subject])
        *keys, own = rows.columns
        counts = rows.groupBy(*keys, own).agg(sql.count(sql.lit(1)).alias("n"))
        if counts.limit(MOST_COUNTS + 1).count() > MOST_COUNTS:
            raise VerificationError(
                f"The classes have more than {MOST_COUNTS:,} counts of {subject!r}, too many for the driver to verify "
                "what is required of it. Choose a column with fewer values, or release without Spark. Nothing was "
                "published."
            )
        listed = sql.collect_list(sql.struct(sql.col(own).cast(kinds[-1]).alias("c0"), "n")).alias("cells")
        cells = counts.groupBy(*keys).agg(listed).select("cells").toArrow().column("cells").combine_chunks()
    numbers = np.repeat(np.arange(len(cells)), np.diff(cells.offsets.to_numpy()))
    values, rows_of = cells.flatten().flatten()
    return pa.table({"g": numbers, "c0": values, "n": rows_of})


def _looks(session: Any, folder: str, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The rows of each class, and what it shows."""
    from pyspark.sql import functions as sql

    with errors_translated(), set_for_a_while(session, EXACT):
        rows, kinds = _keyed(session, folder, names)
        counts = rows.groupBy(*rows.columns).agg(sql.count(sql.lit(1)).alias("n"))
        plain = [sql.col(name).cast(kind) for name, kind in zip(rows.columns, kinds, strict=True)]
        looks = counts.select("n", *plain).limit(MOST_COUNTS + 1).collect()
    if len(looks) > MOST_COUNTS:
        raise VerificationError(
            f"There are more than {MOST_COUNTS:,} classes, too many for the driver to verify what is required of a "
            "population. Nothing was published."
        )
    return [tuple(look) for look in looks]


def _keyed(session: Any, folder: str, names: Sequence[str]) -> tuple[Any, list[Any]]:
    """Some columns of the written files, and their types; text is bytes: a session may take different texts for one."""
    from pyspark.sql import functions as sql

    written = session.read.parquet(folder)
    places = {field.name: at for at, field in enumerate(written.schema.fields)}
    plain = written.toDF(*(column(at) for at in range(len(places))))
    kinds = [written.schema.fields[places[name]].dataType for name in names]
    cells = [sql.col(column(places[name])) for name in names]
    cells = [
        cell.cast("binary") if kind.typeName() == "string" else cell for cell, kind in zip(cells, kinds, strict=True)
    ]
    return plain.select(*(cell.alias(f"k{place}") for place, cell in enumerate(cells))), kinds


def counted_values(
    table: SparkTable, sources: Sequence[ColumnOrigin], meanings: Mapping[str, CellMeaning], file: InputFile
) -> dict[str, Any]:
    """How many rows ``n`` of the input have each value of a quasi-identifier, by its place, as Spark reads them."""
    from pyspark.sql import functions as sql

    counted = {}
    for place, one in enumerate(sources):
        if one.understood:
            cell = sql.col(table.at(one.column.name)).alias(column(0))
            with errors_translated():
                raw = table.frame.groupBy(cell).agg(sql.count(sql.lit(1)).alias("n")).toArrow()
            coarse = coarsened_rows(raw.select([0]), [one.column.name], file.coarsen, file.missing)
            values = understood(coarse, [one], meanings)
            counted[column(place)] = values.rename_columns([column(place)]).append_column("n", raw.column("n"))
    return counted


WHOSE = "whose"


@dataclass(frozen=True, eq=False)
class OwnedRows:
    """The released rows as Spark reads them, columns by position as text, with the keys of their persons."""

    frame: Any
    keys: PersonKeys
    names: tuple[str, ...]
    quasi: tuple[int, ...]  # positions of quasi-identifiers
    numbers: tuple[int, ...]  # positions of quasi-identifiers that are numbers or dates
    everybody: int
    alike: int
    missing: int  # rows of the input without a person

    @property
    def without(self) -> int:
        """How many rows of the input are left out as they have no person."""
        return self.missing if self.keys.persons.missing == "drop" else 0

    def checks(self, promises: Promises, shared: Collection[str]) -> tuple[ClassSizes, list[Check]]:
        """A check for each promise, and what is known of persons; the classes that are nearest to breaking theirs."""
        from pyspark.sql import functions as sql

        nobody = sql.count(sql.when(sql.col(WHOSE).isNull(), 1))
        with errors_translated():
            answer = self.frame.agg(sql.count(sql.lit(1)), sql.countDistinct(WHOSE), nobody).collect()[0]
        rows, there, nobodys = map(int, answer)
        counted = [(self._class_persons(set_, there), name, k) for name, set_, k in promises]
        nearest = min(counted, key=lambda one: _of(one[0]).smallest / one[2])[0]
        checks = [persons_check(_of(sizes), name, k) for sizes, name, k in counted]
        return nearest, [
            self._whose(int(rows), int(there), int(nobodys)),
            *checks,
            self._telling(int(rows), int(there)),
            means_check(sum(self._heavy_means(at, shared) for at in self._shown_numbers())),
        ]

    def _class_persons(self, names: Sequence[str], there: int) -> ClassSizes:
        """Rows and persons of the classes of rows that are equal in some columns; nulls are equal to each other."""
        from pyspark.sql import functions as sql

        keys = [sql.col(f"c{self.names.index(name)}") for name in names]
        each = self.frame.groupBy(*keys, WHOSE).agg(sql.count(sql.lit(1)).alias("n"))
        whole = each.groupBy(*keys).agg(
            sql.count(sql.lit(1)).alias("persons"), sql.sum("n").alias("rows"), sql.max("n").alias("heaviest")
        )
        listed = whole.groupBy("persons", "rows").agg(
            sql.max("heaviest").alias("heaviest"), sql.count(sql.lit(1)).alias("classes")
        )
        with errors_translated():
            classes_by_size = [
                (int(r.persons), int(r["rows"]), int(r.heaviest), int(r.classes)) for r in listed.collect()
            ]
        of_persons = _bars((persons, classes) for persons, _, _, classes in classes_by_size)
        share = max((heaviest / rows for _, rows, heaviest, _ in classes_by_size), default=0.0)
        smallest = of_persons[0][0] if of_persons else 0
        counts = PersonCounts(there, self.everybody - there, smallest, of_persons, share, self.without)
        return replace(sizes_of(_bars((rows, classes) for _, rows, _, classes in classes_by_size)), persons=counts)

    def _whose(self, rows: int, there: int, nobodys: int) -> Check:
        """Every released row has a person, and the persons are those the user means."""
        faults = []
        if self.missing and self.keys.persons.missing == "refuse":
            faults.append(f"{self.missing:,} input rows have no person")
        if nobodys:
            faults.append(f"{nobodys:,} released rows have no person")
        if self.alike:
            faults.append(f"{self.alike:,} persons are spelled like another")
        finding = f"{rows:,} rows of {there:,} persons; {self.everybody - there:,} persons have no row"
        return Check("persons", not faults, "; ".join(faults) or finding)

    def _telling(self, rows: int, there: int) -> Check:
        """No released column has one value for each person and no other, where somebody has several rows."""
        from pyspark.sql import functions as sql

        name = "no column tells persons"
        if rows <= there:
            return Check(name, True, "every person has one row")
        places = range(len(self.names))
        with errors_translated():
            roughly = self.frame.agg(*(sql.approx_count_distinct(f"c{at}") for at in places)).collect()[0]
            near = [at for at in places if there / 2 <= roughly[at] <= there * 2]
            telling = [self.names[at] for at in near if self._tells(f"c{at}")]
        finding = (
            f"{', '.join(map(repr, telling))} has a value for each person" if telling else f"{len(places)} columns"
        )
        return Check(name, not telling, finding)

    def _tells(self, column: str) -> bool:
        """Whether nearly every value is of one person, and nearly everybody with several rows has one value."""
        from pyspark.sql import functions as sql

        each = self.frame.groupBy(column, WHOSE).agg(sql.count(sql.lit(1)).alias("n"))
        people = each.groupBy(WHOSE).agg(sql.sum("n").alias("rows"), sql.count(sql.lit(1)).alias("pairs"))
        several = sql.col("rows") > 1
        counts = sql.sum("pairs"), sql.sum(sql.when(several, sql.col("pairs"))), sql.count(sql.when(several, 1))
        pairs, of_several, persons = people.agg(*counts).collect()[0]
        values = self.frame.select(column).distinct().count()
        return bool(pairs <= NEARLY * values and (of_several or 0) <= NEARLY * persons)

    def _shown_numbers(self) -> list[int]:
        """The positions of columns of numbers or dates in which some cell is one."""
        from pyspark.sql import functions as sql

        if not self.numbers:
            return []
        with errors_translated():
            shown = self.frame.agg(*(sql.count(_number(at)) for at in self.numbers)).collect()[0]
        return [at for at, cells in zip(self.numbers, shown, strict=True) if cells]

    def _heavy_means(self, at: int, shared: Collection[str]) -> int:
        """How many numbers are means of rows more than half of which are one person's: of a class, or of the number.

        A number that all its rows have is none.
        """
        from pyspark.sql import functions as sql

        places = [at] if self.names[at] in shared else list(self.quasi)
        keys, own = [sql.col(f"c{place}") for place in places], sql.col(f"o{at}")
        numbers = self.frame.filter(_number(at).isNotNull())
        each = numbers.groupBy(*keys, WHOSE).agg(
            sql.count(sql.lit(1)).alias("n"), sql.min(own).alias("low"), sql.max(own).alias("high")
        )
        whole = each.groupBy(*keys).agg(
            sql.sum("n").alias("rows"),
            sql.max("n").alias("most"),
            sql.min("low").alias("low"),
            sql.max("high").alias("high"),
        )
        with errors_translated():
            return int(whole.filter("2 * most > rows AND low < high").count())


def _number(at: int) -> Any:
    """SQL: whether the cell of a column is a number or a date; null if not."""
    from pyspark.sql import functions as sql

    text = f"CAST(c{at} AS STRING)"
    return sql.expr(f"coalesce(try_cast({text} AS DOUBLE), CASE WHEN try_cast({text} AS DATE) IS NOT NULL THEN 1D END)")


def _bars(pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """(size, number of classes of that size), ascending."""
    bars = Counter[int]()
    for size, classes in pairs:
        bars[size] += classes
    return tuple(sorted(bars.items()))


def _of(sizes: ClassSizes) -> PersonCounts:
    assert sizes.persons is not None
    return sizes.persons


@contextmanager
def owned_rows(
    pieces: Pieces,
    folder: str,
    table: SparkTable,
    source: ColumnOrigin,
    meaning: CellMeaning,
    persons: Persons,
    *,
    quasi: Sequence[str],
    numbers: Sequence[str],
) -> Iterator[OwnedRows]:
    """The released rows with their persons, kept by Spark for the time of a block."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as sql

    from incrowd.rows.spark.checking import beside_files, written_columns

    keys = PersonKeys(persons, secrets.token_bytes(32))
    names = tuple(written_columns(table.session, folder))
    known, own = (tuple(names.index(name) for name in some) for some in (quasi, numbers))
    cells = (*(f"c{at} binary" for at in range(len(names))), *(f"o{at} double" for at in own), f"{WHOSE} binary")
    owning = Owning(pieces.mixing, keys, names, own)
    frame = beside_files(pieces, folder, owning, ", ".join(cells)).persist(StorageLevel.DISK_ONLY)
    reader = PersonReader(keys, source, meaning)
    with errors_translated():
        column = table.frame.select(sql.col(table.at(persons.column)).alias("n0"))
        read = mapped(column, reader, "exact binary, plain binary")
        exact, plain, missing = read.agg(
            sql.countDistinct("exact"), sql.countDistinct("plain"), sql.count(sql.when(sql.col("exact").isNull(), 1))
        ).collect()[0]
    normalised, together = persons.ids == "normalised", bool(missing) and persons.missing == "together"
    everybody = int(plain if normalised else exact) + together
    alike = int(exact) - int(plain) if persons.ids is None else 0
    try:
        yield OwnedRows(
            frame=frame,
            keys=keys,
            names=names,
            quasi=known,
            numbers=own,
            everybody=everybody,
            alike=alike,
            missing=int(missing),
        )
    finally:
        frame.unpersist()


@dataclass(frozen=True, eq=False)
class Owning:
    """Puts the persons of a piece's rows beside what its file shows."""

    mixing: Mixing
    keys: PersonKeys
    names: tuple[str, ...]
    numbers: tuple[int, ...]

    def __call__(self, parts: Any, files: Any) -> Any:
        """The rows of the file, cells as the bytes of their text; numbers the input held; the keys of their persons."""
        import pyarrow as pa

        from incrowd.rows.spark.checking import original_of, written_rows

        places = [f"c{at}" for at in range(len(self.names))], [f"o{at}" for at in self.numbers]
        nothing = [pa.array([], pa.float64())] * len(self.numbers)
        columns: list[Any] = [*[pa.array([], pa.binary())] * len(self.names), *nothing, pa.array([], pa.binary())]
        written = written_rows(files)
        if parts.num_rows:
            held = original_of(self.mixing, parts).table
            whose = self.keys.of(held.column(PERSON))
            if len(whose) != written.num_rows:
                raise ValueError("other rows")
            own = (_as_number(held.column(self.names[at])) for at in self.numbers)
            columns = [*(_bytes_of(written.column(name)) for name in self.names), *own, whose]
        return pa.table(columns, [*places[0], *places[1], WHOSE])


def _as_number(column: Any) -> Any:
    """The numbers of a column; dates as days."""
    import pyarrow as pa

    plain = column.cast(getattr(column.type, "value_type", column.type))
    plain = plain.cast(pa.date32()).cast(pa.int32()) if pa.types.is_temporal(plain.type) else plain
    return plain.cast(pa.float64())


def _bytes_of(column: Any) -> Any:
    """The cells of a column as the bytes of their text, equal ones as equal bytes."""
    import pyarrow as pa

    plain = column.cast(getattr(column.type, "value_type", column.type))
    return plain.cast(pa.string()).cast(pa.binary())
