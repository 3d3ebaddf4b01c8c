"""What is counted of a table's rows for who measures its risk: by Spark over all rows, by one executor of few enough.

Only counts come back, and values of quasi-identifiers with theirs; never a value of any other column.
"""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import polars as pl

from incrowd.rows.spark.session import errors_translated, mapped
from incrowd.rows.spark.table import Seen, SparkTable, position
from incrowd.tables.reading.source import spellings

MOST_CELLS = 10_000_000
"""At most so many are looked at by one executor, whose Python then needs a gigabyte or two."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class GuessCounts:
    """How often the most frequent value of a column is right, in the classes of some columns.

    ``pairs`` are the chance that it is right for a row, the same with the row left out, and how many rows have these
    two; ``most`` is how many rows have the most frequent value of all.
    """

    pairs: tuple[tuple[float, float, int], ...]
    most: int


@dataclass(frozen=True, eq=False)
class RowCounts:
    """A table whose rows are counted; ``missing`` are the texts that mean that there is no value."""

    table: SparkTable
    missing: Sequence[str]
    rows: int

    @classmethod
    def of(cls, table: SparkTable, missing: Sequence[str]) -> RowCounts:
        """The counts of a table."""
        return cls(table, missing, table.rows())

    def seen(self, names: Sequence[str], ask: Callable[[pl.DataFrame], Answer]) -> tuple[Answer, int]:
        """What one executor says of some columns of all rows, or of a random sample of them; and of how many rows."""
        share = MOST_CELLS / (self.rows * len(names))
        frame = self.table.frame if share >= 1 else self.table.frame.sample(fraction=share, seed=secrets.randbits(31))
        chosen = frame.select([self.table.at(name) for name in names]).coalesce(1)
        with errors_translated():
            looking = Seen(tuple(names), Looking(ask), self.rows + 1)
            [answer] = mapped(chosen, looking, "answer binary").collect()
        reply: tuple[Answer, int] = pickle.loads(bytes(answer.answer))
        return reply

    def sizes(self, names: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """How many classes of rows that are equal in some columns have each size, ascending."""
        from pyspark.sql import functions as sql

        each = self._keyed(names).groupBy(*map(position, range(len(names)))).agg(sql.count(sql.lit(1)).alias("n"))
        with errors_translated():
            bars = each.groupBy("n").agg(sql.count(sql.lit(1)).alias("classes")).collect()
        return tuple(sorted((int(bar.n), int(bar.classes)) for bar in bars))

    def values(self, name: str) -> tuple[pl.Series, pl.Series]:
        """The distinct values of a quasi-identifier, and how many rows have each."""
        from pyspark.sql import functions as sql

        cell = self._keyed([name]).groupBy(position(0)).agg(sql.count(sql.lit(1)).alias("n"))
        with errors_translated():
            counted = pl.DataFrame(cell.toArrow())
        values = counted[position(0)]
        return (values.cast(pl.String) if values.dtype == pl.Binary else values), counted["n"]

    def guesses(self, names: Sequence[str], secret: str) -> GuessCounts:
        """How often a value is guessed right from the class; of each class only how many rows have which is looked at.

        With a row left out, the value that alone is the most frequent one stays so, or shares its place with those
        that have one row less. Whoever is alone is guessed from all other rows.
        """
        from pyspark.sql import functions as sql

        rows, own = self._keyed([*names, secret]), position(len(names))
        keys, n = [position(place) for place in range(len(names))], sql.count(sql.lit(1)).alias("n")
        overall = rows.groupBy(own).agg(n)
        counts = sql.sort_array(sql.collect_list("n"), asc=False).alias("counts")
        classes = (
            rows.groupBy(*keys, own)
            .agg(n)
            .groupBy(*keys)
            .agg(counts, sql.sum("n").alias("size"), sql.first(own).alias("own"))
            .withColumn("tied", sql.expr("size(filter(counts, n -> n = counts[0]))"))
            .withColumn("rivals", sql.expr("IF(tied = 1, tied + size(filter(counts, n -> n = counts[0] - 1)), 0)"))
        )
        single = classes.filter("size = 1")
        right, whole = sql.sum(sql.expr("tied * counts[0]")).alias("right"), sql.sum("size").alias("whole")
        with errors_translated():
            alike = classes.filter("size > 1").groupBy("tied", "rivals").agg(right, whole).collect()
            by_count = {int(r.n): int(r["count"]) for r in overall.groupBy("n").count().collect()}
            most, alone = max(by_count), single.count()
            top = overall.filter(sql.col("n") == most).select(sql.col(own).alias("top"))
            usual = single.join(top, sql.col("own").eqNullSafe(sql.col("top"))).count()
        stays = by_count[most] == 1 and most > 1
        others = 1 / (1 + by_count.get(most - 1, 0)) if stays else 0.0
        pairs = [(1.0, others, usual), (1.0, 0.0, alone - usual)]
        for r in alike:
            pairs.append((1 / r.tied, 1 / r.rivals if r.rivals else 0.0, int(r.right)))
            pairs.append((0.0, 0.0, int(r.whole - r.right)))
        return GuessCounts(tuple(pairs), most)

    def _keyed(self, names: Sequence[str]) -> Any:
        """Some columns, named by their place; null where there is no value."""
        from pyspark.sql import functions as sql

        cells = []
        for place, name in enumerate(names):
            cell = self.table.known(name, spellings(self.missing))
            if self.table.schema[name].is_float():
                cell = sql.when(~sql.isnan(cell), cell)
            cells.append(cell.alias(position(place)))
        return self.table.frame.select(*cells)


@dataclass(frozen=True, eq=False)
class Looking:
    """Says of how many rows something was said."""

    ask: Callable[[pl.DataFrame], Any]

    def __call__(self, frame: pl.DataFrame) -> tuple[Any, int]:
        """What is said of a frame, and its rows."""
        return self.ask(frame), frame.height
