"""Books of version 1 knew tables, not people: a mark of all cells in their order, and a class for every row."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import LedgerError

ENDING = ".entry.parquet"
_METADATA = b"incrowd.ledger"


@dataclass(frozen=True, eq=False)
class Old:
    """An entry of version 1: its header as it stands there, and the class of every row of the table."""

    header: Mapping[str, Any]
    classes: npt.NDArray[np.int32]


def files_of(folder: Path) -> dict[str, str]:
    """The files of version 1 in a folder, and their SHA-256; one that cannot be read has none."""
    found = {}
    for file in sorted(folder.glob(f"*{ENDING}")):
        found[file.name] = ""
        with contextlib.suppress(OSError):
            found[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def read_old(file: Path) -> Old:
    """An entry of version 1."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(file)
        header = json.loads((table.schema.metadata or {})[_METADATA])
        if header.pop("incrowd_ledger") != 1 or table.schema.field("class").type != pa.int32():
            raise ValueError
        bytes.fromhex(header["key"])
        classes = table["class"].fill_null(-1).to_numpy()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, pa.ArrowException):
        raise LedgerError(f"{file.name} in the ledger is damaged, or incrowd did not write it.") from None
    return Old(header, classes)


def table_mark(frame: pl.DataFrame, key: bytes) -> str:
    """By what version 1 knew a table again: a keyed hash of its names and cells as text, in their order.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [39, None]})
    >>> table_mark(table, b"key") == table_mark(table.cast(pl.String), b"key")
    True
    """
    digest = hmac.new(key, digestmod="sha256")
    digest.update(json.dumps([frame.height, frame.columns]).encode())
    for column in frame.iter_columns():
        cells = column.cast(pl.String)
        digest.update(cells.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy().tobytes())
        digest.update((cells.str.join("").item() or "").encode())
    return digest.hexdigest()
