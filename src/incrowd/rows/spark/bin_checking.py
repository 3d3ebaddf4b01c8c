"""How many people of the input have a number of each bin in which numbers are counted, as Spark reads the input.

What comes back are counts, and the distinct cells of the written files in columns of numbers, which say what the bins
are where these were not announced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.rows.blocks.drafting import PERSON
from incrowd.rows.spark.session import EXACT, errors_translated, mapped, set_for_a_while
from incrowd.rows.spark.table import SparkTable
from incrowd.verification.compared_values import own_number
from incrowd.verification.comparison import MACROS
from incrowd.verification.limits import bins_check, ends_of_bins
from incrowd.verification.opening import column, connect, create_macros, register
from incrowd.verification.person_keys import InputReader, PersonKeys
from incrowd.verification.request import Expected
from incrowd.verification.verdict import Check

THERE = -1  # the bin of numbers of all kinds: whether a column has any


def people_of_bins(
    table: SparkTable, folder: str, expected: Expected, reader: InputReader, keys: PersonKeys | None, k: int
) -> Check:
    """The check that every bin is that of k people of the input, those too that were left out.

    ``reader`` understands the rows of the input; ``keys`` are those of persons, if somebody may have several rows.
    """
    from pyspark.sql import functions as sql

    announced = expected.drawn.bins if expected.drawn else {}
    numbers = [one.name for one in reader.sources if one.understood and one.column.type.is_numeric]
    ends = {name: _ends(table.session, folder, name, announced.get(name)) for name in numbers}
    with errors_translated():
        names = [one.column.name for one in reader.sources]
        chosen = table.frame.select([sql.col(table.at(name)).alias(f"n{i}") for i, name in enumerate(names)])
        counted = mapped(chosen, InBins(reader, keys, ends), "name string, bin int, person binary, people long")
        people = sql.sum("people") if keys is None else sql.countDistinct("person")
        rows = counted.groupBy("name", "bin").agg(people.alias("people")).collect()
    sizes = {(row.name, row.bin): int(row.people) for row in rows}
    shown = [(name, at) for name in numbers if (name, THERE) in sizes for at in range(len(ends[name]))]
    return bins_check([sizes.get(one, 0) for one in shown], k)


def _ends(session: Any, folder: str, name: str, announced: Sequence[str] | None) -> list[tuple[float, float]]:
    """The ends of the bins of a column of the written files."""
    from pyspark.sql import functions as sql

    with errors_translated(), set_for_a_while(session, EXACT):
        written = session.read.parquet(folder)
        place = [field.name for field in written.schema.fields].index(name)
        plain = written.toDF(*(column(at) for at in range(len(written.columns))))
        cells = plain.select(sql.col(column(place)).alias(column(0))).distinct().toArrow()
    with connect(threads=1) as connection:
        register(connection, cells, "released")
        return ends_of_bins(connection, column(0), announced)


@dataclass(frozen=True, eq=False)
class InBins:
    """Counts the rows of a partition by the bins of their numbers, or says whose they are."""

    reader: InputReader
    keys: PersonKeys | None
    ends: Mapping[str, Sequence[tuple[float, float]]]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """For each bin the rows it has, or the different persons; one more entry for each column that has numbers."""
        import pyarrow as pa

        for meant in self.reader.understood(batches):
            people = None if self.keys is None else self.keys.of(meant.column(PERSON))
            for name, own in self._numbers(meant):
                yield _entries(name, THERE, None, 0)
                for at, (low, high) in enumerate(self.ends[name]):
                    inside = (own > low) & (own <= high)
                    who = None if people is None else people.filter(pa.array(inside)).unique().drop_null()
                    yield _entries(name, at, who, int(inside.sum()))

    def _numbers(self, meant: Any) -> Iterator[tuple[str, Any]]:
        """The columns of numbers, as floats."""
        with connect(threads=1) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            create_macros(connection, MACROS)
            for name in self.ends:
                register(connection, meant.select([name]), "own")
                [(kind,)] = connection.execute(f"SELECT typeof({column(0)}) FROM own LIMIT 1").fetchall() or [("",)]
                if kind not in ("", "VARCHAR", "BOOLEAN"):
                    cells = connection.sql(f"SELECT ({own_number(column(0), kind)})::DOUBLE AS own FROM own")
                    yield name, np.ma.filled(cells.fetchnumpy()["own"], np.nan)


def _entries(name: str, at: int, persons: Any, rows: int) -> Any:
    """The entries of a bin: one with its rows, or one for each person."""
    import pyarrow as pa

    who = pa.array([None], pa.binary()) if persons is None else persons
    return pa.record_batch(
        {
            "name": pa.array([name] * len(who), pa.string()),
            "bin": pa.array([at] * len(who), pa.int32()),
            "person": who,
            "people": pa.array([rows] * len(who), pa.int64()),
        }
    )
