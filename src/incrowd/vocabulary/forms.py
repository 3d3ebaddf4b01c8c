"""In which form the groups of a method are released, and how a table is laid out in a file.

::

    strict   plain values: the group's own value, a set, an interval, or nothing
    counts   for each group and attribute all values with their counts, the same text in all rows of the group
    pair     the same counts as a table of groups, beside a table of rows

The one way in which a release is a file of SPSS or Stata, and what such a file cannot hold.

Numbers are doubles, days are days, everything else is text, and a missing text is an empty one. There are no labels,
and no time: the moment of writing, which the library puts into the header, is always the same.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from incrowd.errors import OutputError, ParameterError
from incrowd.vocabulary.option import Kind, Option

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


REDRAW = 2
"""Rows of the whole table that a group's counts are drawn from beside its own, if nothing else is asked for.

Two, as measured on Adult: one leaves more of who is a member, and three cost more accuracy.
"""

BINS = FINE, BY_CLASS = "fine", "class"
"""Where numbers are cut that are counted: as finely as k allows, or only where the class changes."""

Form = Annotated[
    str | None,
    Option(
        "How groups are released: strict (plain values), counts, or pair (counts as a table of their own).",
        Kind.CHOICE,
        "strict|counts|pair",
        more="If you do not say, in the method's own form.",
    ),
]
Redraw = Annotated[
    int | None,
    Option(
        "Counts are drawn from a group's rows and this many of the whole table, 2 if you do not say; 0: exact.",
        Kind.WHOLE,
        more="Exact counts tell a whole record to who has two releases that differ by it.",
    ),
]
Bins = Annotated[
    str | None,
    Option("How numbers are cut to be counted: class (the default) or fine.", Kind.CHOICE, "fine|class"),
]
JointCounts = Annotated[
    bool,
    Option(
        "Count attributes that tell much of each other together, two or three at a time.",
        Kind.FLAG,
        default=False,
    ),
]
OF_FORM = ("form", "redraw", "bins", "counts_by_class", "joint_counts")
"""Settings beside the parameters of a method that say how its groups are released."""


def check_form(
    form: object = None,
    *,
    redraw: object = REDRAW,
    bins: object = BY_CLASS,
    counts_by_class: object = False,
    joint_counts: object = False,
) -> None:
    """Raise unless it is the name of a form, or None: the method's own; with settings of counts that can be.

    Examples
    --------
    >>> check_form("counts")
    """
    if form is not None and form not in RELEASE_FORMS:
        raise ParameterError(f"form must be one of {', '.join(RELEASE_FORMS)}.")
    check_redraw(redraw)
    if bins not in BINS:
        raise ParameterError(f"bins must be one of {', '.join(BINS)}.")
    if not isinstance(counts_by_class, bool):
        raise ParameterError("counts_by_class must be True or False.")
    if not isinstance(joint_counts, bool):
        raise ParameterError("joint_counts must be True or False.")
    if joint_counts and redraw == 0:
        raise ParameterError(
            "Exact counts are not told jointly: they would tell whole records. Leave redraw or joint_counts out."
        )
    if joint_counts and form in (STRICT, PAIR):
        raise ParameterError("Attributes are counted together in cells of counts. Choose form counts.")


def check_redraw(rows: object) -> None:
    """Raise unless it is a number of rows; 0 asks for exact counts."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
        raise ParameterError("redraw is a whole number of rows, 0 or more: 2 by default, and 0 for exact counts.")


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


_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_APPLIED = ' applyNumberFormat="1"'
_STYLE = '<xf numFmtId="{}" fontId="0" fillId="0" borderId="0"{}/>'

SHEET = "xl/worksheets/sheet1.xml"
"""The file with the cells."""
SHEET_HEAD = f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode()
SHEET_TAIL = b"</sheetData></worksheet>"
DAYS_BEFORE_1970 = 25_569
"""The number that a sheet has for the first day of 1970."""
FIRST_DAY = 61
"""The first of March 1900: of days before it programs have different opinions."""
MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1 << 20, 1 << 14, 32_767
"""What a sheet and a cell can hold."""

PARTS = {
    name: (_XML + text).encode()
    for name, text in {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
        f'<Override PartName="/{SHEET}" ContentType="{_TYPE}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        '<sheets><sheet name="release" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">'
        '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        f'<cellStyleXfs count="1">{_STYLE.format(0, "")}</cellStyleXfs>'
        f'<cellXfs count="2">{_STYLE.format(0, "")}{_STYLE.format(164, _APPLIED)}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
    }.items()
}
"""The other files: their names in the archive, and all that is in them."""


def column_letters(place: int) -> str:
    """What a sheet calls a column.

    Examples
    --------
    >>> column_letters(0), column_letters(26)
    ('A', 'AA')
    """
    letters = ""
    while place >= 0:
        place, letter = divmod(place, 26)
        letters, place = chr(ord("A") + letter) + letters, place - 1
    return letters


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
