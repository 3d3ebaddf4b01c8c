"""ARFF files: the table format of Weka, with declared types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import polars as pl

from incrowd.errors import FileFormatError, HeaderError, ValuesError
from incrowd.tables.reading.layout import check_headers, sniff_encoding, undecodable
from incrowd.tables.reading.source import MISSING_MARKERS, Origin, Source
from incrowd.vocabulary.schema import Column, ColumnType

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{]+)\s*(.+)$", re.IGNORECASE)
# A field is quoted or bare; a line is fields with commas between them.
_FIELD = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^,'\"]*?))\s*(,|$)")
_TYPES = {
    "numeric": ColumnType.REAL,
    "real": ColumnType.REAL,
    "integer": ColumnType.INTEGER,
    "string": ColumnType.TEXT,
    "date": ColumnType.DATE,
}


def read_arff(path: Path, *, encoding: str | None = None, missing: tuple[str, ...] = MISSING_MARKERS) -> Source:
    """Read an ARFF file; values stay text, the declared types come with the source."""
    lines = iter(enumerate(StringIO(_text(path, encoding), newline=None), 1))
    attributes = list(_attributes(lines))
    names = [column.name for column, _ in attributes]
    if not names:
        raise HeaderError("The ARFF file declares no attribute. Add @attribute lines before @data.")
    notices = check_headers(names)
    rows = [_row(line, number, len(names)) for number, line in lines if _content(line)]
    if not rows:
        raise FileFormatError("The ARFF file has no rows after @data. Give a table with at least one row.")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    origin = Origin("arff", str(path), encoding=encoding or "utf-8", missing=missing)
    source = Source.of(frame, origin, notices)
    for column, nominal in attributes:
        _check_nominal(source.frame[column.name], nominal)
    declared = (_integer_where_whole(source.frame[column.name], column) for column, _ in attributes)
    return replace(source, declared=tuple(declared))


def _text(path: Path, declared: str | None) -> str:
    data = path.read_bytes()
    encoding = sniff_encoding(data[:4], declared)
    try:
        text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as failure:
        line = data[: failure.start].count(b"\n") + 1
    else:
        if "\0" not in text:
            return text
        raise FileFormatError(f"Line {text[: text.index(chr(0))].count(chr(10)) + 1} has a NUL byte.")
    raise undecodable(encoding, line)


def _content(line: str) -> bool:
    """Whether a line is more than blank or a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("%")


def _attributes(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[Column, frozenset[str] | None]]:
    """The declared columns, each with the values of a nominal one, up to the data."""
    for number, line in lines:
        if not _content(line):
            continue
        word = line.split(maxsplit=1)[0].lower()
        if word == "@data":
            return
        if word == "@attribute":
            yield _attribute(line.strip(), number)
        elif word != "@relation":
            raise FileFormatError(f"Line {number} is neither @relation, @attribute nor @data. Is this an ARFF file?")
    raise FileFormatError("The ARFF file has no @data line. It may be truncated.")


def _attribute(line: str, number: int) -> tuple[Column, frozenset[str] | None]:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise FileFormatError(f"Line {number}: an attribute needs a name and a type.")
    name, kind = _unquoted(match[1]), match[2].strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise FileFormatError(f"Line {number}: the list of values is not closed by a brace.")
        values = _fields(kind[1:-1], number)
        return Column(name, type=ColumnType.CATEGORICAL, reason="declared nominal"), frozenset(values)
    word = kind.split()[0].lower()
    if word not in _TYPES:
        raise FileFormatError(
            f"Line {number}: an attribute of this type is not supported. Known: {', '.join(_TYPES)}, {{...}}."
        )
    return Column(name, type=_TYPES[word], reason=f"declared {word}"), None


def _row(line: str, number: int, width: int) -> list[str]:
    if line.lstrip().startswith("{"):
        raise FileFormatError(f"Line {number} is a sparse row. Convert the file to dense rows first.")
    fields = _fields(line, number)
    if len(fields) != width:
        raise FileFormatError(f"Line {number} has {len(fields)} fields where {width} attributes are declared. Mend it.")
    return fields


def _fields(line: str, number: int) -> list[str]:
    """Comma-separated fields, quotes and escapes undone; a quoted ``?`` is a marker like a bare one."""
    fields, at = [], 0
    while True:
        match = _FIELD.match(line, at)
        if match is None:
            raise FileFormatError(f"Line {number} has a quote that is not closed or not at the edge of its field.")
        quoted = match[1] if match[1] is not None else match[2]
        fields.append(match[3] if quoted is None else _unescaped(quoted))
        if match[4] == "":
            return fields
        at = match.end()


def _unquoted(name: str) -> str:
    return _unescaped(name[1:-1]) if name[0] in "'\"" and len(name) > 1 else name


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _check_nominal(series: pl.Series, nominal: frozenset[str] | None) -> None:
    if nominal is None:
        return
    unknown = series.drop_nulls().is_in(list(nominal)).not_()
    if unknown.any():
        raise ValuesError(
            f"Column {series.name!r}: {unknown.sum()} rows hold a value that its attribute does not declare. "
            "Add it to the attribute, or mend the rows."
        )


def _integer_where_whole(series: pl.Series, column: Column) -> Column:
    """ARFF has one numeric type; a column of whole numbers is read as such."""
    whole = column.type is ColumnType.REAL and series.cast(pl.Int64, strict=False).null_count()
    if column.type is ColumnType.REAL and whole == series.null_count():
        return Column(column.name, type=ColumnType.INTEGER, reason=f"{column.reason}, all whole numbers")
    return column
