"""Where blocks live: in memory, on a disk, or in the workers of a cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from incrowd.vocabulary.encoded_table import EncodedTable

Answer = TypeVar("Answer")


class BlockStore(Protocol):
    """A table in blocks of rows; all of them have the same columns and dictionaries."""

    @property
    def rows(self) -> Sequence[int]:
        """The rows of each block."""
        ...

    def each(self, ask: Callable[[EncodedTable, int], Answer]) -> Iterator[Answer]:
        """The answer for each block and its number, in order. What is asked for must be small."""
        ...


@dataclass(frozen=True, eq=False)
class LocalBlocks:
    """Blocks of this machine: ``load`` gives a block by its number. Some are asked at the same time.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from incrowd.vocabulary.encoded_table import EncodedColumn
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> column = EncodedColumn("a", ColumnType.TEXT, np.array([0, 0, 1], np.int32), pl.Series(["x"]))
    >>> table = EncodedTable.of([column])
    >>> list(LocalBlocks((3, 3), lambda _: table).each(lambda block, place: (block.height, place)))
    [(3, 0), (3, 1)]
    """

    rows: Sequence[int]
    load: Callable[[int], EncodedTable]
    threads: int = 2

    def each(self, ask: Callable[[EncodedTable, int], Answer]) -> Iterator[Answer]:
        """The answers in order; no more blocks are in memory than there are threads, and no more answers wait."""
        if self.threads == 1 or len(self.rows) == 1:
            yield from (ask(self.load(place), place) for place in range(len(self.rows)))
            return
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[Future[Answer]] = deque()
            for place in range(len(self.rows)):
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(lambda place: ask(self.load(place), place), place))
            while waiting:
                yield waiting.popleft().result()
