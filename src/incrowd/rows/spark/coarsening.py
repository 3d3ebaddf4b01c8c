"""Columns of a table of Spark made coarser by rules, cell by cell, by the executors."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from incrowd.errors import Notice
from incrowd.rows.spark.session import errors_translated, mapped
from incrowd.rows.spark.table import SparkTable
from incrowd.tables.reading.coarsen import Changes, coarser, rule_notice
from incrowd.vocabulary.column_rules import YEAR, ZIP3, Coarsening, coarsenings


def coarsened(
    table: SparkTable, named: Mapping[str, str] | None, missing: Sequence[str], why: Mapping[str, str] | None = None
) -> tuple[SparkTable, list[Notice]]:
    """The table with some columns made coarser, and what each rule did, counted on all rows.

    ``why`` each rule was kept, if that is known. Files are read by Spark then, not by tasks.
    """
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    rules = coarsenings(named)
    if not rules:
        return table, []
    places = {table.place(name): rule for name, rule in rules.items()}
    counting = CountingChanges(tuple(rules.values()), tuple(missing))
    with errors_translated():
        seen = mapped(table.frame.select([table.at(name) for name in rules]), counting, "answer binary").collect()
    counts = [pickle.loads(row.answer) for row in seen]
    notices = [
        rule_notice(name, rule, sum((each[place] for each in counts), Changes()), (why or {}).get(name))
        for place, (name, rule) in enumerate(rules.items())
    ]
    kinds = {name: {YEAR: LongType(), ZIP3: StringType()}.get(rule.kind) for name, rule in rules.items()}
    fields = {name: kinds.get(name) or kind for name, kind in table.fields.items()}
    schema = StructType([StructField(table.at(name), kind) for name, kind in fields.items()])
    types = {name: {YEAR: pl.Int64(), ZIP3: pl.String()}.get(rule.kind) for name, rule in rules.items()}
    frame = mapped(table.frame, Rewriting(places, tuple(missing)), schema)
    own = {name: types.get(name) or kind for name, kind in table.schema.items()}
    return replace(table, frame=frame, schema=own, fields=fields, groups=None), notices


@dataclass(frozen=True, eq=False)
class CountingChanges:
    """Counts what rules do to the columns of a partition."""

    rules: tuple[Coarsening, ...]
    missing: tuple[str, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """What each rule did, once."""
        import pyarrow as pa

        counts = [Changes() for _ in self.rules]
        for batch in batches:
            for place, rule in enumerate(self.rules):
                cells = pl.Series(batch.column(place))
                counts[place] += Changes.of(cells, coarser(cells, rule, self.missing), rule, self.missing)
        yield pa.record_batch({"answer": [pickle.dumps(counts)]})


@dataclass(frozen=True, eq=False)
class Rewriting:
    """Makes the columns at some places coarser."""

    rules: Mapping[int, Coarsening]
    missing: tuple[str, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches, with these columns rewritten."""
        import pyarrow as pa

        for batch in batches:
            columns = list(batch.columns)
            for place, rule in self.rules.items():
                cells = coarser(pl.Series(columns[place]), rule, self.missing)
                kind = {YEAR: pa.int64(), ZIP3: pa.string()}.get(rule.kind, columns[place].type)
                columns[place] = cells.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(kind)
            yield pa.record_batch(columns, names=batch.schema.names)
