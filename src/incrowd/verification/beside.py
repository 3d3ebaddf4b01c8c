"""Columns as codes, for what is counted beside the promise: what unchanged columns give back, and who is alone by them.

Codes come from the input and the written file as the verification reads them: for each released row the own value of
every column, and what its quasi-identifier cells show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.allowed_values import quasi_identifier
from incrowd.verification.asked import Asked, Original, Originals
from incrowd.verification.input_table import ReleasedColumn
from incrowd.verification.opening import column
from incrowd.verification.request import Request
from incrowd.verification.unchanged import PAIR_TESTS, UnchangedColumn, count_unchanged
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.vocabulary.schema import Role

MOST_CELLS = 25_000_000
"""Cells of a table that are held as codes at most; of larger tables nothing is counted beside the promise."""
MOST_ROWS_FOR_PAIRS = 300_000
"""Of more rows single columns are asked alone: pairs take twice as long, and it is told that they were not counted."""

Codes = npt.NDArray[np.int64]


def unchanged_counts(
    connection: Any, request: Request, sources: Sequence[ReleasedColumn], asked: Asked, original: Original | Originals
) -> UnchangedCounts | None:
    """What unchanged columns undo, of the table ``released`` and what the input held; None if it is too large."""
    pieces = Originals.of(original)
    limit = MOST_CELLS if request.memory is None else min(MOST_CELLS, request.memory // 64)
    if not len(pieces.origin) or len(pieces.origin) * len(sources) > limit:
        return None
    own = _own(pieces)
    names = [one.name for one in sources]
    transformed = [
        _transformed(connection, names, one, own, asked)
        for one in sources
        if one.understood and one.name not in {high for _, high in asked.bounds}
    ]
    unchanged = [
        UnchangedColumn(one.name, codes, values, _role(one))
        for one in sources
        if not one.understood
        for values, codes in [own[one.name][1:]]
    ]
    known = request.requirement.sets(request.role(Role.QUASI_IDENTIFIER))
    pairs = PAIR_TESTS if len(pieces.origin) <= MOST_ROWS_FOR_PAIRS else 0
    return count_unchanged(transformed, unchanged, known, pair_tests=pairs)


def _role(one: ReleasedColumn) -> str:
    return str(one.column.role) if one.column.role in (Role.TARGET, Role.SENSITIVE) else "other"


def _own(pieces: Originals) -> dict[str, tuple[list[Any], int, Codes]]:
    """For each column its values in their order, how many there are, and the code of each row; missing comes last."""
    import pyarrow as pa

    tables = [pieces.piece(number).table for number in range(len(pieces.sizes))]
    return {
        name: _coded(pa.chunked_array([chunk for table in tables for chunk in table.column(name).chunks]))
        for name in tables[0].column_names
    }


def _coded(cells: Any) -> tuple[list[Any], int, Codes]:
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = (cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()).unify_dictionaries()
    words = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], pa.string())
    order = pc.sort_indices(_sortable(words)).to_numpy()
    place = np.empty(len(words) + 1, np.int64)
    place[order] = np.arange(len(words))
    place[-1] = len(words)
    indices = pa.chunked_array([chunk.indices for chunk in coded.chunks], pa.int32()).fill_null(len(words))
    return words.take(pa.array(order)).to_pylist(), len(words), place[indices.to_numpy()]


def _sortable(words: Any) -> Any:
    """Texts that are numbers throughout, as numbers: unchanged columns of text files are ordered by size."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(words.type) or pa.types.is_large_string(words.type)):
        return words
    try:
        return pc.cast(words, pa.float64())
    except pa.ArrowInvalid:
        return words


def _transformed(connection: Any, names: Sequence[str], one: ReleasedColumn, own: Any, asked: Asked) -> Any:
    values, _, codes = own[one.name]
    high = next((high for low, high in asked.bounds if low == one.name), None)
    ends = [_labels(connection, names.index(end)) for end in (one.name, high) if end is not None]
    texts, labels = ends[0] if high is None else _paired(*ends)
    return quasi_identifier(
        one.column.name,
        values,
        codes,
        texts,
        labels,
        hierarchy=one.column.hierarchy,
        counts=one.name in asked.counts,
    )


def _labels(connection: Any, position: int) -> tuple[list[Any], Codes]:
    """What the cells of a released column show, each once, and which of it each row shows."""
    import pyarrow as pa

    cells = connection.sql(f"SELECT {column(position)}::VARCHAR AS t FROM released").to_arrow_table().column(0)
    coded = cells.dictionary_encode().unify_dictionaries()
    texts = coded.chunk(0).dictionary.to_pylist() if coded.num_chunks else []
    indices = pa.chunked_array([chunk.indices for chunk in coded.chunks], pa.int32()).fill_null(len(texts))
    return [*texts, None], np.asarray(indices.to_numpy(), np.int64)


def _paired(low: tuple[list[Any], Codes], high: tuple[list[Any], Codes]) -> tuple[list[Any], Codes]:
    """Two ends as one cell."""
    keys, labels = np.unique(low[1] * len(high[0]) + high[1], return_inverse=True)
    texts = list(_ends(keys.tolist(), low[0], high[0]))
    return texts, np.asarray(labels, np.int64)


def _ends(keys: Sequence[int], lows: Sequence[Any], highs: Sequence[Any]) -> Iterator[Any]:
    for key in keys:
        ends = lows[key // len(highs)], highs[key % len(highs)]
        yield None if ends == (None, None) else ends
