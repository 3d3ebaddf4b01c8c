"""Blocks that live in the executors: what is asked of them travels there, only the answers come back."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import OutputError
from incrowd.rows.blocks.population import Answer
from incrowd.rows.spark.session import ONE_BLOCK_AT_A_TIME, cells, errors_translated, mapped, set_for_a_while, unpacked
from incrowd.rows.spark.store import COLUMN, OWNED, OWNER, WORD, Listed, Store, from_words
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable, LazyColumns, OwnedTable, WholeColumn
from incrowd.vocabulary.schema import ColumnType


@dataclass(frozen=True, eq=False)
class Meaning:
    """What the raw values of a column became."""

    # type, dictionary: Those of the encoded column
    type: ColumnType
    dictionary: pl.Series
    values: pl.Series  # the distinct raw values
    places: Codes  # for each of them its code; the last entry is the missing code, for null
    counts: npt.NDArray[np.int64]  # rows per code over all blocks; the last entry counts the missing

    def codes(self, name: str, raw: pl.Series, here: pl.Series) -> EncodedColumn:
        """A column of a block, given its raw codes and the values behind them, of which the first is null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        at = pc.index_in(pa.array(here.to_arrow()), value_set=pa.array(self.values.to_arrow())).fill_null(-1).to_numpy()
        if (at[1:] < 0).any():
            raise OutputError("A block holds values that were not there before. The table changed: start again.")
        codes = np.take(self.places[at], raw.to_numpy())
        return EncodedColumn(name, self.type, codes, self.dictionary)


@dataclass(frozen=True, eq=False)
class SparkBlocks:
    """The blocks of a store as encoded tables."""

    store: Store | None  # where they are; ``None`` in the executors, which have the blocks at hand
    listed: tuple[Listed, ...]  # the blocks, in order
    meanings: Mapping[str, Meaning]  # of each encoded column

    here: ClassVar[bool] = False

    @classmethod
    def of(cls, store: Store, meanings: Mapping[str, Meaning]) -> SparkBlocks:
        """The blocks of a store."""
        return cls(store, store.listed, meanings)

    def __reduce__(self) -> tuple[Any, ...]:
        """Executors get what they need to read a block, not the way to the others."""
        return SparkBlocks, (None, self.listed, self.meanings)

    @property
    def rows(self) -> Sequence[int]:
        """The rows of each block."""
        return tuple(block.rows for block in self.listed)

    @property
    def columns(self) -> dict[str, EncodedColumn]:
        """The columns without rows: their types and dictionaries, and the rows of each value."""
        nothing = np.empty(0, np.int32)
        return {
            name: WholeColumn(name, one.type, nothing, one.dictionary, total=one.counts)
            for name, one in self.meanings.items()
        }

    def each(self, ask: Callable[[EncodedTable, int], Answer]) -> Iterator[Answer]:
        """The answers in order, each computed where its block is."""
        assert self.store is not None
        wanted = self.store.frame.select("part", "place", "stamp", "codes", "values")
        with errors_translated(), set_for_a_while(self.store.session, ONE_BLOCK_AT_A_TIME):
            rows = mapped(wanted, Asking(self, ask), "number int, answer binary").collect()
        answers = {row.number: row.answer for row in rows}
        check_all_answered([row.number for row in rows], len(self.listed))
        return (pickle.loads(answers[number]) for number in range(len(self.listed)))

    def number(self, row: Mapping[str, Any]) -> int:
        """The number of a stored block, once it is the one that was listed."""
        number = self._numbers.get((row["part"], row["place"]), -1)
        if number < 0 or bytes(row["stamp"]) != self.listed[number].stamp:
            raise changed()
        return number

    def block(self, row: Mapping[str, Any]) -> EncodedTable:
        """A stored block as an encoded table."""
        codes, values = unpacked(row["codes"]), unpacked(row["values"])
        if codes.height != self.listed[self.number(row)].rows:
            raise changed()
        by_column = values.partition_by(COLUMN, as_dict=True)

        def column(place: int, name: str) -> EncodedColumn:
            meaning = self.meanings[name]
            return meaning.codes(name, codes[name], from_words(by_column[(place,)], meaning.values.dtype))

        makers = {name: partial(column, place, name) for place, name in enumerate(self.meanings)}
        columns = LazyColumns(makers)
        if OWNED not in codes.columns:
            return EncodedTable(columns, codes.height)
        words = by_column[(OWNER,)][WORD].fill_null(0).to_numpy()  # nobody is known by 0
        return OwnedTable(columns, codes.height, codes[OWNED].to_numpy().astype(np.int32), words)

    @cached_property
    def _numbers(self) -> dict[tuple[int, int], int]:
        return {(block.part, block.place): number for number, block in enumerate(self.listed)}


@dataclass(frozen=True, eq=False)
class Asking:
    """Asks each block of a partition."""

    blocks: SparkBlocks
    ask: Callable[[EncodedTable, int], Any]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The answers, with the numbers of their blocks."""
        import pyarrow as pa

        for row in cells(batches):
            number = self.blocks.number(row)
            answer = shipped(self.ask(self.blocks.block(row), number))
            yield pa.record_batch({"number": pa.array([number], pa.int32()), "answer": [answer]})


class _Shipping(pickle.Pickler):
    """Columns that were not asked for yet are made before they travel."""

    def reducer_override(self, one: Any) -> Any:
        return (dict, (dict(one),)) if isinstance(one, LazyColumns) else NotImplemented


def shipped(answer: Any) -> bytes:
    """An answer as bytes."""
    file = io.BytesIO()
    _Shipping(file, protocol=5).dump(answer)
    return file.getvalue()


def check_all_answered(numbers: Iterable[int], count: int) -> None:
    """Raise unless every one of so many blocks answered once."""
    if sorted(numbers) != list(range(count)):
        raise changed()


def changed() -> OutputError:
    """The error for blocks that are not those that were counted."""
    return OutputError("Spark lost or recomputed rows between two passes. Nothing was released: start again.")
