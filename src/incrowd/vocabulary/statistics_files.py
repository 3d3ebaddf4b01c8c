"""The one way in which a release is a file of SPSS or Stata, and what such a file cannot hold.

Numbers are doubles, days are days, everything else is text, and a missing text is an empty one. There are no labels,
and no time: the moment of writing, which the library puts into the header, is always the same.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

TEXT, NUMBER, DAY = "text", "number", "day"
"""What a column is."""
_EXACT = 2**53  # up to it a double holds every whole number
_MOST_LETTERS = {"spss": 32_767, "stata": 2_045}  # bytes of a text
_MOST_NAME = {"spss": 64, "stata": 32}  # bytes of a name, letters of a name
_NAME = {"spss": r"[^\W\d_][\w.@#$]*(?<![._])", "stata": r"[^\W\d]\w*"}
_LARGEST = {"spss": 1.7e308, "stata": 8.9e307}  # larger ones mean missing
_RESERVED = {
    "spss": "all and by eq ge gt le lt ne not or to with",
    "stata": "_all _b byte _coef _cons double float if in int long _n _pi _pred _rc _skip strl using with",
}
_FIRST_DAY = {"spss": dt.date(1582, 10, 15), "stata": dt.date(100, 1, 1)}
_TIME = {
    "spss": (rb"\A.{92}(.{17})", b"01 Jan 8000:00:00"),
    "stata": (rb"<timestamp>\x11(.{17})</timestamp>", b"01 Jan 1980 00:00"),
}

Columns = Mapping[str, tuple[str, Sequence[Any]]]
"""For each column what it is, and its cells; None is missing."""


def troubles(columns: Columns, kind: str) -> Iterator[str]:
    """What a file of this kind cannot hold, one sentence for each reason."""
    names = list(columns)
    strange = [name for name in names if not _is_name(name, kind)]
    if strange:
        yield f"{_listed(strange)} no name that such a file can have. Rename the columns"
    folded = [name.lower() for name in names]
    if twins := [name for name in names if kind == "spss" and folded.count(name.lower()) > 1]:
        yield f"{_listed(twins)} told apart by capitals only, which such a file cannot. Rename the columns"
    for words, holds in (
        (f"texts of more than {_MOST_LETTERS[kind]:,} bytes, a NUL or, for SPSS, spaces at their end", _is_text),
        ("numbers that a double does not hold exactly, or that mean missing there", _is_number),
        ("days that lie too far back", _is_day),
    ):
        bad = [name for name, (what, cells) in columns.items() if any(not holds(cell, what, kind) for cell in cells)]
        if bad:
            verb = "has" if len(bad) == 1 else "have"
            yield f"{', '.join(map(repr, bad))} {verb} {words}. Write CSV or Parquet"


def write_statistics(columns: Columns, path: Path, kind: str) -> None:
    """Write the columns, all of which such a file can hold."""
    import polars as pl
    import pyreadstat

    dtypes = {TEXT: pl.String(), NUMBER: pl.Float64(), DAY: pl.Date()}
    frame = pl.DataFrame(
        [
            pl.Series(name, ["" if what == TEXT and cell is None else cell for cell in cells], dtypes[what])
            for name, (what, cells) in columns.items()
        ]
    )
    if kind == "spss":
        pyreadstat.write_sav(frame, str(path))
    else:
        pyreadstat.write_dta(frame, str(path), version=14)
    pattern, always = _TIME[kind]
    with path.open("r+b") as file:
        moment = re.search(pattern, file.read(4096), re.DOTALL)
        assert moment is not None
        file.seek(moment.start(1))
        file.write(always)


def _is_name(name: str, kind: str) -> bool:
    size = len(name.encode()) if kind == "spss" else len(name)
    plain = re.fullmatch(_NAME[kind], name) is not None and size <= _MOST_NAME[kind]
    typed = kind == "stata" and re.fullmatch(r"str\d+", name) is not None
    return plain and not typed and name.lower() not in _RESERVED[kind].split()


def _is_text(cell: Any, what: str, kind: str) -> bool:
    if what != TEXT or cell is None:
        return True
    long = len(cell.encode()) > _MOST_LETTERS[kind]
    return not long and "\0" not in cell and not (kind == "spss" and cell.endswith(" "))


def _is_number(cell: Any, what: str, kind: str) -> bool:
    if what != NUMBER or cell is None:
        return True
    return math.isfinite(cell) and abs(cell) <= _LARGEST[kind] and (isinstance(cell, float) or abs(cell) <= _EXACT)


def _is_day(cell: Any, what: str, kind: str) -> bool:
    return what != DAY or cell is None or cell >= _FIRST_DAY[kind]


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(map(repr, names))} {'is' if len(names) == 1 else 'are'}"
