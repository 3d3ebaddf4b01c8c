"""Files of SPSS, Stata and SAS by the verification's own road.

Cells of Stata and SAS are read by pandas, which decodes them by code of its own. Those of SPSS are read by pyreadstat
as by the reader, for there is no other library; but raw: without labels, with user-defined missing values, days as
seconds. What is missing, what a label says and what a day is, is decided here. Labels and formats are those that
pyreadstat finds in a file.
"""

from __future__ import annotations

import datetime as dt
import importlib
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, MissingPackageError
from incrowd.verification.workbook import moment_column, number_column

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
