"""Checksums of a table: of its bytes, and of its rows whatever their order."""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path


def bytes_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def rows_digest(rows: Iterable[Sequence[str]]) -> str:
    """SHA-256 of the rows as a multiset: neither their order counts nor how a number is spelled.

    Examples
    --------
    >>> rows_digest([["1.50", "a"], ["-0", "b"]]) == rows_digest([["0.0", "b"], ["1.5", "a"]])
    True
    >>> rows_digest([["1", "a"]]) == rows_digest([["1", "a"], ["1", "a"]])
    False
    """
    lines = sorted("\x1f".join(map(_spelled, row)) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, rows


def _spelled(cell: str) -> str:
    """One spelling for each number; other text without blanks around it."""
    try:
        number = float(cell)
    except ValueError:
        return cell.strip()
    return repr(number + 0.0) if math.isfinite(number) else cell.strip()
