"""Files of SPSS, Stata and SAS: codes are read as their labels, user-defined missing values as missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.errors import FileFormatError, Notice
from incrowd.optional import optional
from incrowd.tables.reading.excel import narrowed
from incrowd.tables.reading.frames import from_typed
from incrowd.tables.reading.layout import check_headers
from incrowd.tables.reading.source import FREE_BYTES, MISSING_MARKERS, MOST_RATIO, Form, Origin, Source, check_unpacked
from incrowd.tables.reading.statistics_child import LABELS, TOO_LARGE
from incrowd.tables.reading.statistics_child import main as child

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_FORMS: dict[str, Form] = {"SPSS": "spss", "Stata": "stata", "SAS": "sas"}
_NAMED = 6  # columns that a notice names


def read_statistics_file(path: Path, kind: str, *, missing: tuple[str, ...] = MISSING_MARKERS) -> Source:
    """Read a file of SPSS, Stata or SAS.

    A column all of whose values have a label of their own is read as the labels; of others the codes are kept. A notice
    tells which columns these are.
    """
    optional("pyreadstat", f"reading files of {kind}")
    table, labels = _read(path, kind)
    check_headers(table.columns)
    labelled = {name: _labelled(table[name], labels[name]) for name in labels}
    read_as = {name: column for name, column in labelled.items() if column is not None}
    plain = narrowed(table).with_columns(read_as.values())
    notices = tuple(_notices(list(read_as), [name for name in labels if name not in read_as]))
    return from_typed(plain, Origin(_FORMS[kind], str(path), missing=missing), notices=notices)


def _read(path: Path, kind: str) -> tuple[pl.DataFrame, Mapping[str, Mapping[Any, str]]]:
    """The table and the labels of codes, by another process, which a damaged file may end."""
    import pyarrow as pa

    most = max(FREE_BYTES, MOST_RATIO * path.stat().st_size)
    command = [
        sys.executable,
        "-P",
        "-m",
        child.__module__,
        _READERS[path.suffix.lower()],
        str(path.absolute()),
        str(most),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if done.returncode == TOO_LARGE:
        check_unpacked(most + 1, path, kind)
    try:
        with pa.ipc.open_stream(done.stdout) as stream:
            arrow = stream.read_all()
    except (pa.ArrowException, OSError):
        raise FileFormatError(f"The file of {kind} is truncated, damaged or of an unknown version.") from None
    listed = json.loads(arrow.schema.metadata[LABELS])
    return pl.DataFrame(arrow), {name: dict(pairs) for name, pairs in listed.items()}


def _labelled(codes: pl.Series, labels: Mapping[Any, str]) -> pl.Series | None:
    """The labels of all codes; None if one has none, or two have the same."""
    known = {code: str(label) for code, label in labels.items() if isinstance(code, str) == (codes.dtype == pl.String)}
    values = codes.drop_nulls().unique()
    used = [known.get(value) for value in values]
    if codes.dtype.is_temporal() or None in used or len(set(used)) < len(used) or not used:
        return None
    return codes.replace_strict(values, pl.Series(used, dtype=pl.String), default=None)


def _notices(labelled: list[str], coded: list[str]) -> Iterator[Notice]:
    if labelled:
        message = f"The codes of {_listed(labelled)} are read as their labels."
        yield Notice("value-labels", "", message)
    if coded:
        message = f"The labels of {_listed(coded)} do not tell all values apart, so the codes are kept."
        yield Notice("labels-not-used", "", message)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more columns" if len(names) > _NAMED else ""
    return ", ".join(map(repr, names[:_NAMED])) + more
