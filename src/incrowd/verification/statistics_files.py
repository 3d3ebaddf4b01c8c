"""Files of SPSS, Stata and SAS by the verification's own road.

Cells of Stata and SAS are read by pandas, which decodes them by code of its own. Those of SPSS are read by pyreadstat
as by the reader, for there is no other library; but raw: without labels, with user-defined missing values, days as
seconds. What is missing, what a label says and what a day is, is decided here. Labels and formats are those that
pyreadstat finds in a file.
"""

from __future__ import annotations

import datetime as dt
import filecmp
import importlib
import math
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, MissingPackageError
from incrowd.verification.workbook import moment_column, number_column
from incrowd.vocabulary.forms import DAY, NUMBER, TEXT, write_statistics

BY_PANDAS = ("stata", "sas")
"""What pandas reads."""
_DAYS = {
    "spss": {"DATE", "ADATE", "EDATE", "JDATE", "SDATE"},
    "stata": {"%td", "%d", "%tdD_m_Y", "%tdCCYY-NN-DD"},
    "sas": {"DATE", "MMDDYY", "DDMMYY", "YYMMDD", "WEEKDATE", "E8601DA", "B8601DA", "IS8601DA", "DDMMYYD", "YYMMDDD"},
}
_TIMES = {
    "spss": {"DATETIME", "YMDHMS"},
    "stata": {"%tc", "%tC"},
    "sas": {"DATETIME", "E8601DT", "B8601DT", "IS8601DT", "DATEAMPM", "MDYAMPM"},
}
_ORIGIN = {"spss": dt.datetime(1582, 10, 14), "stata": dt.datetime(1960, 1, 1), "sas": dt.datetime(1960, 1, 1)}
_PANDAS_ZERO = 16.0**-65  # what it makes of a zero: the smallest number that such a file can hold
_OF_A_DAY = {"spss": 86_400, "stata": 1, "sas": 1}
_OF_A_SECOND = {"spss": 1, "stata": 1_000, "sas": 1}


def statistics_table(path: Path, kind: str) -> Any:
    """The file as a PyArrow table: numbers, texts, labels, days and times."""
    import pyarrow as pa

    try:
        import pyreadstat

        pandas = importlib.import_module("pandas") if kind in BY_PANDAS else None
    except ImportError:
        raise MissingPackageError(
            "Verifying a release of such a file needs pandas and pyreadstat. Install them: "
            "pip install 'incrowd[statistics-files]'"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cells, about = _read(pandas, pyreadstat, path, kind)
        columns = {name: _column(values, name, about, kind) for name, values in cells.items()}
        return pa.table(list(columns.values()), names=list(columns))
    except Exception as error:
        raise FileFormatError(
            f"{path.name} cannot be read as {kind} by the verification ({type(error).__name__})."
        ) from None


# Releases: how many rows the file itself says it has, and that its bytes are those that its cells take, and no more.
_ROWS = {"spss": (rb"\A.{80}(.{4})", 4), "stata": (rb"<N>(.{8})</N>", 8)}


def released_table(path: Path, kind: str) -> Any:
    """A release as a PyArrow table; an empty text is a missing one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = statistics_table(path, kind)
    texts = [pa.types.is_large_string(column.type) for column in table.columns]
    columns = [
        pc.if_else(pc.equal(column, ""), None, column) if is_text else column
        for is_text, column in zip(texts, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def stated_rows(path: Path, kind: str) -> int:
    """How many rows the header of a release says that it has."""
    pattern, size = _ROWS[kind]
    with path.open("rb") as file:
        rows = re.search(pattern, file.read(4096), re.DOTALL)
    if rows is None or len(rows[1]) != size:
        raise FileFormatError(f"{path.name} has no header of a release.")
    return int.from_bytes(rows[1], "little")


def statistics_faults(path: Path, kind: str) -> Iterator[str]:
    """The file is written once more from its cells: every byte has to be the same."""
    import pyarrow as pa

    columns = {}
    for name, column in zip((table := statistics_table(path, kind)).column_names, table.columns, strict=True):
        what = TEXT if pa.types.is_large_string(column.type) else DAY if pa.types.is_date(column.type) else NUMBER
        columns[name] = (what, column.to_pylist())
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        again = Path(folder, path.name)
        write_statistics(columns, again, kind)
        if not filecmp.cmp(again, path, shallow=False):
            yield "the file has other bytes than its cells take: labels, notes, a time or what no reader looks at"


def _read(pandas: Any, pyreadstat: Any, path: Path, kind: str) -> tuple[Mapping[str, Sequence[Any]], Any]:
    """Raw cells, and what the file says about its columns."""
    if kind == "spss":
        options: dict[str, Any] = {"user_missing": True, "disable_datetime_conversion": True, "output_format": "dict"}
        cells, about = pyreadstat.read_sav(str(path), **options)
        return cells, about
    if kind == "stata":
        _, about = pyreadstat.read_dta(str(path), metadataonly=True)
        frame = pandas.read_stata(path, convert_categoricals=False, convert_dates=False)
    elif path.suffix.lower() == ".xpt":
        _, about = pyreadstat.read_xport(str(path), metadataonly=True)
        frame = pandas.read_sas(path, format="xport", encoding="utf-8").replace(_PANDAS_ZERO, 0.0)
    else:
        _, about = pyreadstat.read_sas7bdat(str(path), metadataonly=True)
        frame = pandas.read_sas(path, format="sas7bdat", encoding="infer")
    return {str(name): frame[name].tolist() for name in frame.columns}, about


def _column(values: Sequence[Any], name: str, about: Any, kind: str) -> Any:
    """One column, each cell as what it means."""
    import pyarrow as pa

    ranges = (getattr(about, "missing_ranges", None) or {}).get(name, ()) if kind == "spss" else ()
    cells = [None if _is_missing(value, ranges) else value for value in values]
    present = {cell for cell in cells if cell is not None}
    if all(isinstance(cell, str) for cell in present) and present:
        return pa.array(_labels(cells, present, about, name) or cells, pa.large_string())
    form = re.sub(r"[0-9.]+$", "", str((about.original_variable_types or {}).get(name) or ""))
    if form in _DAYS[kind] | _TIMES[kind] or any(isinstance(cell, dt.date) for cell in present):
        return moment_column([_moment(cell, form, kind) for cell in cells])
    labels = _labels(cells, present, about, name)
    if labels is not None:
        return pa.array(labels, pa.large_string())
    return number_column(cells)


def _is_missing(value: Any, ranges: Sequence[Mapping[str, Any]]) -> bool:
    if value is None or value != value:
        return True
    for one in ranges:
        low, high = one["lo"], one["hi"]
        if isinstance(low, str) == isinstance(value, str) and low <= value <= high:
            return True
    return False


def _labels(cells: Sequence[Any], present: set[Any], about: Any, name: str) -> list[str | None] | None:
    """The labels in place of codes, if each code that occurs has one of its own."""
    known = about.variable_value_labels.get(name) or {}
    used = {code: known[code] for code in present if code in known}
    if not present or len(used) < len(present) or len(set(used.values())) < len(used):
        return None
    return [None if cell is None else str(used[cell]) for cell in cells]


def _moment(cell: Any, form: str, kind: str) -> dt.datetime | None:
    if cell is None or isinstance(cell, dt.datetime):
        return cell if cell is None else dt.datetime(*cell.timetuple()[:6], cell.microsecond)
    if form in _DAYS[kind]:
        return _ORIGIN[kind] + dt.timedelta(days=math.floor(cell / _OF_A_DAY[kind]))
    return _ORIGIN[kind] + dt.timedelta(seconds=cell / _OF_A_SECOND[kind])
