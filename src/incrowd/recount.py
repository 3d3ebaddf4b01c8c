"""Recount any table: a file as it lies on disk, or a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from incrowd.errors import IncrowdError
from incrowd.verification.class_sizes import verify_arrow, verify_table
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.requirement import KAnonymity


def recount(
    table: Any,
    *,
    k: int,
    quasi_identifiers: Iterable[str],
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
) -> Verdict:
    """Whether every combination of quasi-identifier values is shared by at least k rows.

    The recount is DuckDB's, on the file's own bytes. Only what DuckDB cannot read itself (data frames, Excel,
    text that is not UTF-8) or what needs an option to be read is read first; no copy of it is written.
    """
    KAnonymity(k)
    names = list(dict.fromkeys(quasi_identifiers))
    if isinstance(table, str | Path) and not encoding and not missing:
        form = _own_form(Path(table), delimiter)
        if form is not None:
            return verify_table(table, form, k, names)
    from incrowd.reading.read import read

    frame = read(table, delimiter=delimiter, encoding=encoding, missing=missing).frame
    return verify_arrow(frame.to_arrow(), k, names)


def _own_form(path: Path, delimiter: str | None) -> FileForm | None:
    """The form in which DuckDB can read the file itself; None if it cannot."""
    from incrowd.reading.read import check_file
    from incrowd.reading.sniff import (
        SAMPLE_BYTES,
        check_delimiter,
        sniff_delimiter,
        sniff_encoding,
        sniff_line_end,
    )

    check_file(path)
    try:
        form = FileForm.of(path)
    except IncrowdError:
        return None
    if form.kind != "csv":
        return form
    with path.open("rb") as file:
        head = file.read(SAMPLE_BYTES)
    if form.compression or sniff_encoding(head, None) != "utf-8" or sniff_line_end(head) != "\n":
        return None
    found = delimiter or sniff_delimiter(head.decode("utf-8", "replace"), "\n")
    return FileForm("csv", check_delimiter(found))
