"""Recount any table: a file as it lies on disk, or a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from incrowd.databases.given import on_disk
from incrowd.errors import IncrowdError, ParameterError
from incrowd.verification.class_sizes import Promises, verify_arrow, verify_table
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Requirement


def recount(
    table: Any,
    *,
    k: int | None = None,
    quasi_identifiers: Iterable[str],
    known_together: Iterable[tuple[Iterable[str], int]] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
) -> Verdict:
    """Whether every combination of quasi-identifier values is shared by at least k rows, or those of each set by its k.

    The recount is DuckDB's, on the file's own bytes. Only what DuckDB cannot read itself (data frames, Excel,
    text that is not UTF-8) or what needs an option to be read is read first; no copy of it is written.
    """
    requirement, names = _asked(k, list(dict.fromkeys(quasi_identifiers)), known_together)
    promises = [
        (said, one.names, one.k) for said, one in zip(requirement.promises, requirement.sets(names), strict=True)
    ]
    with on_disk(table) as found:
        return _recount(found, promises, delimiter, encoding, missing)


def _recount(
    table: Any, promises: Promises, delimiter: str | None, encoding: str | None, missing: Sequence[str] | None
) -> Verdict:
    if isinstance(table, str | Path) and not encoding and not missing:
        form = _own_form(Path(table), delimiter)
        if form is not None:
            return verify_table(table, form, promises)
    from incrowd.reading.read import read

    frame = read(table, delimiter=delimiter, encoding=encoding, missing=missing).frame
    return verify_arrow(frame.to_arrow(), promises)


def _asked(
    k: int | None, names: list[str], known_together: Iterable[tuple[Iterable[str], int]]
) -> tuple[Requirement, list[str]]:
    """The requirement, and the columns it is about."""
    known = tuple(KnownSet(tuple(columns), rows) for columns, rows in known_together)
    if known:
        together = KnownTogether(known)
        return together, list(together.names)
    if k is None:
        raise ParameterError("Say how many rows must look alike: a whole number k, or sets of columns known together.")
    if not names:
        raise ParameterError("Name at least one quasi-identifier to count by.")
    return KAnonymity(k), names


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
