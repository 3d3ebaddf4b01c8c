"""What is promised beyond k, recounted from the written files: Spark counts, the definitions are the verification's.

Of each class come its counts: how many of its rows have which cell of a column; neither its rows nor what it is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from incrowd.errors import VerificationError
from incrowd.rows.spark.session import EXACT, errors_translated, set_for_a_while
from incrowd.rows.spark.table import SparkTable
from incrowd.verification.input_table import ColumnOrigin, understood
from incrowd.verification.meaning import CellMeaning
from incrowd.verification.opening import column, connect
from incrowd.verification.population import population_checks
from incrowd.verification.request import Expected
from incrowd.verification.requirements import recount_counted
from incrowd.verification.verdict import Check

MOST_COUNTS = 20_000_000  # of all classes together: half a gigabyte on the driver


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
    table: SparkTable, sources: Sequence[ColumnOrigin], meanings: Mapping[str, CellMeaning]
) -> dict[str, Any]:
    """How many rows ``n`` of the input have each value of a quasi-identifier, by its place, as Spark reads them."""
    from pyspark.sql import functions as sql

    counted = {}
    for place, one in enumerate(sources):
        if one.understood:
            cell = sql.col(table.at(one.column.name)).alias(column(0))
            with errors_translated():
                raw = table.frame.groupBy(cell).agg(sql.count(sql.lit(1)).alias("n")).toArrow()
            values = understood(raw, [one], meanings)
            counted[column(place)] = values.rename_columns([column(place)]).append_column("n", raw.column("n"))
    return counted
