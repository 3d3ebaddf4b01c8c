"""Compare a release with its original piece by piece, some at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from typing import Any

from incrowd.verification.asked import Asked, Original, Originals
from incrowd.verification.comparison import Comparison, Found
from incrowd.verification.opening import connect, open_rows, register
from incrowd.vocabulary.resources import Resources


def compare_pieces(
    path: Path,
    asked: Asked,
    original: Originals,
    limits: Resources,
    *,
    escapes: bool,
    told: Callable[[int, int], None] | None = None,
) -> Iterator[Found]:
    """What each piece of a Parquet file shows next to its original, in order. Each thread has its own database."""
    ends = list(accumulate(original.sizes))
    mine, opened = threading.local(), ExitStack()

    def compared(piece: int) -> Found:
        if not hasattr(mine, "connection"):
            mine.connection = opened.enter_context(connect(limits.share(0.25 / limits.threads), 1, limits.scratch))
            mine.comparison = Comparison(mine.connection, asked, escapes=escapes)
        size = original.sizes[piece]
        open_rows(mine.connection, path, asked.columns, ends[piece] - size, size)
        found: Found = mine.comparison.piece(original.piece(piece))
        return found

    with opened, ThreadPoolExecutor(limits.threads) as pool:
        for piece, found in enumerate(pool.map(compared, range(len(ends)))):
            if told is not None:
                told(ends[piece], ends[-1])
            yield found


def compare_piece(written: Any, asked: Asked, original: Original, *, escapes: bool) -> Found:
    """What a PyArrow table that was read back shows next to its original, for who reads the pieces elsewhere."""
    with connect(threads=1) as connection:
        register(connection, written, "released")
        return Comparison(connection, asked, escapes=escapes).piece(original)


def added_pieces(found: Iterator[Found], asked: Asked, *, escapes: bool) -> dict[str, int]:
    """How many cells of each column of all pieces do not follow from the original."""
    with connect() as connection:
        return Comparison(connection, asked, escapes=escapes).added(found)
