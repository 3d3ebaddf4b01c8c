"""Columns as codes: each different cell once, and for each row which of them it has.

A release shows few different cells, however many rows it has: what is to be known of cells is asked of each once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.open_cells import Bools, Numbers, paired, tally
from incrowd.verification.opening import column

Codes = npt.NDArray[np.int64]
_BATCH = 250_000  # rows that are held as texts
_LARGEST = (1 << 63) - 1
PLACE = "place"


@dataclass(frozen=True, eq=False)
class CodedCells:
    """The cells of a column.

    Parameters
    ----------
    words
        The different cells, a PyArrow array; none of them is missing.
    codes
        For each row the place of its cell among the words; that behind the last one if it is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = CodedCells.of(pa.array(["b", None, "b", "a"]))
    >>> cells.words.to_pylist(), cells.codes.tolist()
    (['b', 'a'], [0, 2, 0, 1])
    """

    words: Any
    codes: Numbers

    @classmethod
    def of(cls, cells: Any) -> CodedCells:
        """The cells of a PyArrow array, perhaps in chunks, perhaps with a dictionary."""
        import pyarrow as pa

        whole = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
        if isinstance(whole, pa.ChunkedArray):
            whole = whole.combine_chunks() if whole.num_chunks else pa.array([], cells.type).dictionary_encode()
        if whole.dictionary.null_count:
            return cls.of(whole.cast(whole.type.value_type))
        return cls(whole.dictionary, np.asarray(whole.indices.fill_null(len(whole.dictionary))))


def shown_cells(connection: Any, places: Sequence[int]) -> list[CodedCells]:
    """The columns at some places of the table ``released``, as text."""
    return [CodedCells.of(cells) for cells in read_coded(connection, _shown(places))] if places else []


def shown_batches(connection: Any, places: Sequence[int]) -> Iterator[list[Any]]:
    """The same as PyArrow arrays of some rows after the other."""
    if places:
        for batch in connection.sql(_shown(places)).to_arrow_reader(_BATCH):
            yield batch.columns


def _shown(places: Sequence[int]) -> str:
    return f"SELECT {', '.join(f'{column(place)}::VARCHAR' for place in places)} FROM released"


def read_coded(connection: Any, query: str) -> list[Any]:
    """The columns that a query gives, as PyArrow arrays in chunks; texts have dictionaries."""
    import pyarrow as pa

    reader = connection.sql(query).to_arrow_reader(_BATCH)
    kinds = [coded_type(kind) for kind in reader.schema.types]
    chunks: list[list[Any]] = [[] for _ in kinds]
    for batch in reader:
        for chunk, cells, kind in zip(chunks, batch.columns, kinds, strict=True):
            chunk.append(cells.cast(kind))
    return [pa.chunked_array(chunk, kind) for chunk, kind in zip(chunks, kinds, strict=True)]


def text_groups(path: Path, among: Collection[str] | None = None, rows: range | None = None) -> Iterator[Any]:
    """The columns of text of a Parquet file, or some of them: for each group a PyArrow table with its dictionaries.

    With ``rows`` those of the groups that these rows are in, and of them these rows.
    """
    import pyarrow.parquet as pq

    texts = [field.name for field in pq.read_schema(path) if coded_type(field.type) != field.type]
    texts = texts if among is None else [name for name in texts if name in among]
    with pq.ParquetFile(path, read_dictionary=texts) as coded:
        end = 0
        for number in range(coded.num_row_groups):
            start, end = end, end + coded.metadata.row_group(number).num_rows
            wanted = range(start, end) if rows is None else range(max(start, rows.start), min(end, rows.stop))
            if wanted or rows is None:
                group = coded.read_row_group(number, columns=texts, use_threads=False)
                yield group.slice(wanted.start - start, len(wanted))


def cells_of(texts: Sequence[Any]) -> dict[str, CodedCells]:
    """The columns of groups of rows as codes."""
    import pyarrow as pa

    whole = pa.concat_tables(texts) if texts else pa.table({})
    return {name: CodedCells.of(whole[name]) for name in whole.column_names}


def coded_type(kind: Any) -> Any:
    """The type in which cells of a PyArrow type are held: texts by codes, for there are few different ones."""
    import pyarrow as pa

    return pa.dictionary(pa.int32(), kind) if pa.types.is_string(kind) or pa.types.is_large_string(kind) else kind


def tally_pairs(ones: CodedCells, others: CodedCells) -> tuple[Codes, Codes, Codes]:
    """The different pairs of cells that rows have in two columns, as places of words, and how many rows have each.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ones, others = CodedCells.of(pa.array(["a", "b", "a"])), CodedCells.of(pa.array([1, 2, 1]))
    >>> [part.tolist() for part in tally_pairs(ones, others)]
    [[0, 1], [0, 1], [2, 1]]
    """
    width = len(others.words) + 1
    pairs, rows = tally(paired(ones.codes, others.codes, width))
    return (*np.divmod(pairs, width), rows)


def alike(columns: Iterable[tuple[Numbers, int]], rows: int) -> Codes:
    """For each row the number of all that are equal to it in columns of codes, each below a width; few are different.

    Numbers follow the first rows.

    Examples
    --------
    >>> alike([(np.array([1, 0, 1, 1]), 2), (np.array([0, 0, 0, 1]), 2)], 4).tolist()
    [0, 1, 0, 2]
    """
    import pyarrow as pa

    numbers: Numbers = np.zeros(rows, np.int64)
    different = 1
    for codes, width in columns:
        if different * width > _LARGEST:
            cells = CodedCells.of(pa.array(numbers))
            numbers, different = cells.codes, len(cells.words)
        numbers, different = paired(numbers, codes, width), different * width
    return CodedCells.of(pa.array(numbers)).codes.astype(np.int64)


def first_rows(codes: Numbers) -> Codes:
    """The first row of each code.

    Examples
    --------
    >>> first_rows(np.array([1, 0, 1, 2])).tolist()
    [1, 0, 3]
    """
    firsts = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]
    return firsts


def taken(words: Any, places: Numbers) -> Any:
    """The words at some places; behind the last one is none."""
    import pyarrow as pa

    return words.take(pa.array(places, mask=places == len(words)))


def flags(answers: Any) -> Bools:
    """Yes and no of PyArrow's as an array."""
    return np.asarray(answers, np.bool_)


def evaluated(connection: Any, words: Any, expression: str) -> Any:
    """What SQL makes of the words ``t``."""
    import pyarrow as pa

    connection.register("words", pa.table({"t": words}))
    return connection.sql(f"SELECT {expression} AS e FROM words").to_arrow_table()["e"].combine_chunks()


def ask(connection: Any, query: str) -> list[tuple[Any, ...]]:
    """The rows that answer a query."""
    rows: list[tuple[Any, ...]] = connection.execute(query).fetchall()
    return rows


def add_to(numbers: dict[str, int], more: Mapping[str, int]) -> None:
    """Add numbers to those of the same names, in place."""
    for name, number in more.items():
        numbers[name] = numbers.get(name, 0) + number


def indices(rows: Any) -> Any:
    """Rows by their numbers, as PyArrow takes them."""
    import pyarrow as pa

    return pa.array(np.asarray(rows, np.int64))


def in_place(held: Any, origin: Codes) -> Any:
    """The columns in the order of the release, one after the other; whole numbers as codes, as texts are."""
    import pyarrow as pa

    order, columns = indices(origin), {}
    for name in held.column_names:
        cells = held[name].dictionary_encode() if pa.types.is_integer(held[name].type) else held[name]
        columns[name] = cells.combine_chunks().take(order)
    return pa.table(columns)


def deal(batches: Any, place: Codes, ends: Codes, paths: Sequence[Path]) -> None:
    """Write the rows of each piece to its file; texts as codes, for there are few different ones."""
    import pyarrow as pa

    fields = [field.with_type(coded_type(field.type)) for field in batches.schema]
    schema = pa.schema([*fields, pa.field(PLACE, pa.int64())])
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(pa.ipc.new_stream(str(path), schema)) for path in paths]
        start = 0
        for batch in batches:
            mine = place[start : start + batch.num_rows]
            start += batch.num_rows
            columns = [cells.cast(field.type) for cells, field in zip(batch.columns, fields, strict=True)]
            kept = np.flatnonzero(mine >= 0)
            pieces = np.searchsorted(ends, mine[kept], side="right")
            for number in np.unique(pieces):
                rows = kept[pieces == number]
                parts = [_compact(cells.take(indices(rows))) for cells in columns]
                writers[number].write_batch(pa.record_batch([*parts, indices(mine[rows])], schema=schema))


def _compact(cells: Any) -> Any:
    """Cells with no more words than there are cells: a piece does not get all the words of a batch to keep."""
    import pyarrow as pa

    if not pa.types.is_dictionary(cells.type) or len(cells.dictionary) <= len(cells):
        return cells
    return cells.dictionary_decode().dictionary_encode()


def in_order(path: Path) -> Any:
    """The rows that were dealt to a file, by their places in the release."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        dealt = pa.ipc.open_stream(file).read_all()
        place = dealt.column(PLACE).to_numpy()
        order = np.empty(len(place), np.int64)
        order[place - (place.min() if len(place) else 0)] = np.arange(len(place))
        return dealt.drop_columns([PLACE]).unify_dictionaries().combine_chunks().take(indices(order))
