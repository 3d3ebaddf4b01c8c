"""In which form the groups of a method are released, and how a table is laid out in a file.

::

    strict   plain values: the group's own value, a set, an interval, or nothing
    counts   for each group and attribute all values with their counts, the same text in all rows of the group
    pair     the same counts as a table of groups, beside a table of rows
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from incrowd.errors import OutputError, ParameterError

# How a table is laid out in a file.
_KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arff": "arff",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "excel",
    ".sav": "spss",
    ".dta": "stata",
}
MISSING_MARKERS = ("?", "*")
"""Texts that, alone in a cell, mean that the value is missing, unless the reader is told otherwise."""

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True)
class FileForm:
    """Format of a written table.

    ``missing`` is how a missing or suppressed cell is written in text formats.
    """

    kind: str = "csv"
    delimiter: str = ","
    compression: str | None = None
    missing: str = ""

    @classmethod
    def of(cls, path: str | Path, *, delimiter: str | None = None, missing: str = "") -> FileForm:
        """The form a file name asks for."""
        suffixes = [suffix.lower() for suffix in Path(path).suffixes]
        compression = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
        if compression:
            suffixes.pop()
        kind = _KINDS.get(suffixes[-1]) if suffixes else None
        if kind is None or (compression and kind not in ("csv", "jsonl")):
            known = ", ".join(sorted(_KINDS))
            raise OutputError(
                f"{Path(path).name}: the file name must end in one of {known} (text and JSON Lines also .gz or .zst "
                "after it)."
            )
        if delimiter is None:
            delimiter = "\t" if suffixes[-1] == ".tsv" else ","
        return cls(kind, delimiter, compression, "?" if kind == "arff" else missing)


STRICT, COUNTS, PAIR = "strict", "counts", "pair"
RELEASE_FORMS = (STRICT, COUNTS, PAIR)


def check_form(form: object) -> None:
    """Raise unless it is the name of a form, or None: the method's own.

    Examples
    --------
    >>> check_form("counts")
    """
    if form is not None and form not in RELEASE_FORMS:
        raise ParameterError(f"form must be one of {', '.join(RELEASE_FORMS)}.")


def groups_path(rows: Path) -> Path:
    """Where the table of groups lies, beside the table of rows."""
    stem, dot, endings = rows.name.partition(".")
    return rows.with_name(f"{stem}.groups{dot}{endings}")


def events_path(persons: Path, events: str) -> Path:
    """Where the table of events lies, beside the table of persons.

    Examples
    --------
    >>> events_path(Path("out.csv"), "visits").name
    'out.visits.csv'
    """
    stem, dot, endings = persons.name.partition(".")
    return persons.with_name(f"{stem}.{events}{dot}{endings}")


def groups_key(columns: Iterable[str]) -> str:
    """The name of the column that numbers the groups: ``group``, unless the table has one of that name.

    Examples
    --------
    >>> groups_key(["age", "group"])
    'group_'
    """
    taken, name = {column.lower() for column in columns}, "group"
    while name in taken:
        name += "_"
    return name
