"""The one door for tables: a path or a data frame.

Files that only another package can read: it converts them to Parquet, once, in a private place.

From there a file goes the way of all Parquet files, for us and for the verification. Whether the conversion is right
nobody checks, so it is told, with the package that did it.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from incrowd.errors import FileFormatError, Notice, ParameterError, option_name
from incrowd.vocabulary.encoded_table import EncodedTable, OwnedTable
from incrowd.vocabulary.forms import MISSING_MARKERS
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.schema import Schema, unknown_column

if TYPE_CHECKING:
    from incrowd.optional import Plugin
    from incrowd.tables.reading.dialect import Dialect
    from incrowd.tables.reading.source import Compression, Source


CONVERTED = "converted.parquet"


def converter_of(path: Path) -> Plugin | None:
    """What converts files with this ending, if some package does."""
    from incrowd.optional import find_plugin

    return find_plugin("formats", path.suffix.lstrip(".").lower()) if path.suffix else None


def convert(path: Path, converter: Plugin, folder: Path) -> Path:
    """The file as Parquet, in a folder that only its owner can read."""
    to = folder / CONVERTED
    to.touch(mode=0o600, exist_ok=False)
    converter.called(path, to)
    if not stat.S_ISREG(to.lstat().st_mode) or not to.stat().st_size:
        raise FileFormatError(f"{converter} wrote no file. Report it to whoever made it.")
    to.chmod(0o600)
    return to


def conversion_notice(converter: Plugin) -> Notice:
    """That the table was converted, and by what."""
    message = (
        f"the input was converted to Parquet by {converter.package}. What was released and verified is the converted "
        "table; that it is the same as the file was not checked."
    )
    return Notice("converted", converter.package, message)


@contextmanager
def converted(path: Path, converter: Plugin) -> Iterator[Path]:
    """The file as Parquet, until it has been read."""
    with TemporaryDirectory(prefix="incrowd-") as folder:
        yield convert(path, converter, Path(folder))


_TEXT = ("csv", "tsv", "tab", "psv", "txt", "data", "dat", "test")
_KINDS = {
    **dict.fromkeys(_TEXT, "delimited text"),
    "parquet": "Parquet",
    "pq": "Parquet",
    **dict.fromkeys(("arrow", "feather", "ipc", "arrows"), "Arrow"),
    "arff": "ARFF",
    **dict.fromkeys(("jsonl", "ndjson"), "JSON Lines"),
    **dict.fromkeys(("xlsx", "xlsm", "xlsb", "xls", "ods"), "Excel"),
    **dict.fromkeys(("sav", "zsav"), "SPSS"),
    "dta": "Stata",
    **dict.fromkeys(("sas7bdat", "xpt"), "SAS"),
}
_COMPRESSIONS: dict[str, Compression] = {"gz": "gzip", "gzip": "gzip", "zst": "zstd", "zstd": "zstd"}
_MAGIC = (
    (b"PAR1", "Parquet"),
    (b"PARE", "Parquet"),
    (b"ARROW1", "Arrow"),
    (b"\xff\xff\xff\xff", "Arrow"),
    (b"PK\x03\x04", "Excel"),
    (b"\xd0\xcf\x11\xe0", "Excel"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"FEA1", "Feather version 1"),
    (b"$FL2", "SPSS"),
    (b"$FL3", "SPSS"),
    (b"<stata_d", "Stata"),
    (b"HEADER R", "SAS"),
    (b"\0" * 8, "SAS"),
)
_ADDRESSES = ("postgresql:", "postgres:")
_BINARY = ("Parquet", "Arrow", "Excel", "SPSS", "SAS", "gzip", "zstd")


def read(
    source: Any,
    *,
    missing: Sequence[str] | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
    coarsen: Mapping[str, str] | None = None,
    **text: Any,
) -> Source:
    """Read a table from a file or a data frame, and refuse what is not sound.

    Parameters
    ----------
    source
        A path (delimited text, optionally gzip or zstd; Parquet, or a folder of it; Arrow or Feather; ARFF; JSON Lines;
        Excel; SPSS; Stata; SAS), or a pandas, polars or PyArrow table.
    missing
        Texts that, alone in a cell, mean a missing value; ``?`` and ``*`` if not given. An empty cell is
        always missing. The words NA, None and null are values like any other unless they are named here.
    sheet, header_row
        The sheet of a workbook, the first if none is named; the number of its row that has the names of the columns,
        the first that is not empty if none is named.
    coarsen
        Columns that are made coarser, each with its rule; see :mod:`incrowd.vocabulary.column_rules`.
    text
        What is said of delimited text, or of the names in a sheet; see :class:`incrowd.tables.reading.dialect.Dialect`.
    """
    from incrowd.tables.reading.dialect import Dialect

    dialect = Dialect(**text)
    if isinstance(source, str | Path) and not is_known(Path(source)):
        table = _read_foreign(Path(source), dialect, missing_markers(missing))
    else:
        table = _read(source, dialect, missing_markers(missing), sheet, header_row)
    if not coarsen:
        return table
    from incrowd.tables.reading.coarsen import coarsened

    return coarsened(table, coarsen)


def _read(source: Any, dialect: Dialect, missing: tuple[str, ...], sheet: str | None, header_row: int | None) -> Source:
    if not isinstance(source, (str, Path)):
        from incrowd.tables.reading.frames import read_frame

        return read_frame(source, missing=missing)
    path = Path(source)
    if path.is_dir():
        return _read_typed(path, "Parquet", None, missing)
    kind, compression = check_file(path)
    if kind == "delimited text":
        from incrowd.tables.reading.delimited import read_delimited

        return read_delimited(path, dialect, compression=compression, missing=missing)
    if kind == "Excel":
        from incrowd.tables.reading.excel import read_excel

        return read_excel(path, sheet, header_row=header_row, dialect=dialect, missing=missing)
    if kind == "JSON Lines":
        from incrowd.tables.streams.json_lines import read_json_lines

        return read_json_lines(path, compression=compression, missing=missing)
    return _read_typed(path, kind, dialect.encoding, missing)


def _read_foreign(path: Path, dialect: Dialect, missing: tuple[str, ...]) -> Source:
    """What another package converts; without one the ending is refused."""

    if not path.is_file() or (converter := converter_of(path)) is None:
        return _read(path, dialect, missing, None, None)
    with converted(path, converter) as file:
        table = _read(file, dialect, missing, None, None)
    return replace(table, notices=(*table.notices, conversion_notice(converter)))


def read_release(release: Any, missing: Sequence[str] | None = None, **reading: Any) -> Source:
    """Read a release, which is written plainly and with a header, however its original was.

    Of a workbook, rows without a cell are rows as well: people of whom nothing is shown.
    """
    if isinstance(release, str | Path) and kind_named(Path(release)) == "Excel":
        from incrowd.tables.reading.dialect import Dialect
        from incrowd.tables.reading.excel import read_excel

        check_file(Path(release))
        header, names, sheet, row = (reading.get(key) for key in ("header", "names", "sheet", "header_row"))
        dialect = Dialect(header=True if header is None and names is None else header, names=names)
        known = missing_markers(missing)
        return read_excel(Path(release), sheet, header_row=row, dialect=dialect, missing=known, whole=True)
    return read(release, **{"header": True, **reading, "missing": missing})


def is_known(path: Path) -> bool:
    """Whether the name of a file ends as those that incrowd reads by itself."""
    return any(suffix.lstrip(".").lower() in (*_KINDS, *_COMPRESSIONS) for suffix in path.suffixes[-1:])


def kind_named(path: Path) -> str | None:
    """What the last ending of a name says the file is, if that is known."""
    return _KINDS.get(path.suffix.lstrip(".").lower())


def missing_markers(missing: Sequence[str] | None) -> tuple[str, ...]:
    """The given texts that mean a missing value, each once; the usual ones if none are given.

    Examples
    --------
    >>> missing_markers(None), missing_markers(["NA", "NA", ""])
    (('?', '*'), ('NA',))
    """
    if missing is None:
        return MISSING_MARKERS
    if isinstance(missing, str) or not all(isinstance(marker, str) for marker in missing):
        raise ParameterError("missing is a list of texts, for instance missing=['NA', '-9'].")
    return tuple(dict.fromkeys(marker for marker in missing if marker))


def _read_typed(path: Path, kind: str, encoding: str | None, missing: tuple[str, ...]) -> Source:
    if kind == "ARFF":
        from incrowd.tables.reading.arff import read_arff

        return read_arff(path, encoding=encoding, missing=missing)
    if kind in ("SPSS", "Stata", "SAS"):
        from incrowd.tables.reading.statistics_files import read_statistics_file

        return read_statistics_file(path, kind, missing=missing)
    from incrowd.tables.reading.columnar import read_arrow, read_parquet

    return (read_parquet if kind == "Parquet" else read_arrow)(path, missing=missing)


def check_file(path: Path) -> tuple[str, Compression | None]:
    """What the name says the file is, and how it is packed, once its first bytes have agreed."""
    if str(path).lower().startswith(_ADDRESSES):  # not repeated, as it may hold a password
        raise FileFormatError("This is the address of a database, and only files are read here. Copy it to a file.")
    if not path.is_file():
        raise FileFormatError(f"{str(path)!r} is not a file that can be read. Check the path.")
    if path.stat().st_size == 0:
        raise FileFormatError("The file is empty. Give a table with a header line and at least one row.")
    suffixes = [suffix.lstrip(".").lower() for suffix in path.suffixes[-2:]]
    compression = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    named = suffixes[:-1] if compression else suffixes
    kind = _KINDS.get(named[-1]) if named else None
    if kind is None or (compression and kind not in ("delimited text", "JSON Lines")):
        raise FileFormatError(
            f"The name of {path.name!r} does not say what it holds. Known endings: "
            f"{', '.join('.' + ending for ending in _KINDS)}; delimited text and JSON Lines may add .gz or .zst."
        )
    _check_magic(path, compression or kind)
    return kind, compression


def _check_magic(path: Path, expected: str) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError:
        raise FileFormatError(f"{str(path)!r} cannot be opened. Check its permissions.") from None
    actual = next((kind for magic, kind in _MAGIC if head.startswith(magic)), "text")
    if actual == expected or (actual == "text" and expected not in _BINARY):
        return
    raise FileFormatError(
        f"{path.name!r} is named as {expected}, but its first bytes are those of {actual}. "
        "Rename it to what it is, or convert it."
    )


# The population a table comes from: read like the table, for requirements that look at it.
def of_population(reading: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """How a population is read: like the table, and only these columns are coarsened; it may lack others."""
    rules = {name: rule for name, rule in (reading.get("coarsen") or {}).items() if name in names}
    return {**reading, "coarsen": rules}


def read_population(
    population: Any,
    requirement: Requirement,
    schema: Schema,
    reading: Mapping[str, Any] | None = None,
    persons: Persons | None = None,
) -> EncodedTable | None:
    """The quasi-identifiers of the people, typed as those of the table; None if nothing is required of them.

    ``persons``: whose rows those of the table are. If the population has that column, its rows are persons' as well;
    those without a person are rows of one.
    """
    from incrowd.tables.reading.encode import encode

    if not requirement.on_population:
        return None
    if population is None:
        raise ParameterError(
            f"{requirement.on_population[0]} needs a population: a table of the people the rows are from, with the "
            f"quasi-identifiers. Name it: {option_name('population', '--population')}."
        )
    names = list(schema.quasi_identifiers)
    source = read(population, **of_population(reading or {}, names))
    for name in names:
        if name not in source.frame.columns:
            raise ParameterError(
                f"The population lacks a quasi-identifier. {unknown_column(name, source.frame.columns)}"
            )
    columns = tuple(replace(schema[name], reason="") for name in names)
    people = encode(source, Schema(columns), names)[0]
    if persons is None or persons.column not in source.frame.columns:
        return people
    from incrowd.tables.reading.persons import owners_of

    return OwnedTable(people.columns, people.height, owners_of(source, replace(persons, missing="together")).codes)
