"""The input, read by the verification's own road, and its rows in the order of the release.

DuckDB or PyArrow read the file with nothing left to guess; what cells mean says :mod:`incrowd.verification.meaning`.
Nothing comes from the reader that fed the method. A table that fits into memory is put in order there; of a larger one
each row is sent to the piece of the release it went to, in files of the scratch folder.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import FileFormatError, VerificationError
from incrowd.verification.coded import PLACE, CodedCells, deal, in_order, in_place, indices, read_coded, text_groups
from incrowd.verification.column_rules import UNKEYED, coarsen, make_keyed
from incrowd.verification.database_files import copy_of_rows
from incrowd.verification.delimited import STEP, UNREADABLE, line_end, unpacked
from incrowd.verification.meaning import CellMeaning, clean, decide_all
from incrowd.verification.opening import column, connect, open_table, register
from incrowd.verification.request import Hint, InputFile, Original, Originals
from incrowd.verification.statistics_files import statistics_table
from incrowd.verification.workbook import sheet_table
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.schema import Column, Role

TABLE = "input"
_AS_READ = "input_as_read"
_CELLS = "read_cells"
_IN_MEMORY = ("excel", "spss", "stata", "sas")  # read whole, by libraries of Python
_BATCH = 250_000  # rows
_AT_ONCE = 100  # columns that are sorted together: the cost of a query grows faster than they do
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class InputTable:
    """The input, open in a database as the table ``input``; columns by position.

    Parameters
    ----------
    connection
        The database.
    names
        The names of the columns, in order.
    rows
        How many rows there are.
    missing
        Words that mean a missing value.
    drafts
        Whether types are drafted from texts; other files declare them.
    typed
        Columns whose type the user said.
    copied
        Whether the database holds a copy of the rows.
    parquet
        The file of Parquet in which they are as they are.
    """

    connection: Any
    names: Sequence[str]
    rows: int
    missing: tuple[str, ...]
    drafts: bool
    typed: frozenset[str]
    copied: bool
    parquet: Path | None = None

    @classmethod
    def open(
        cls,
        connection: Any,
        file: InputFile,
        scratch: Path | None,
        typed: frozenset[str] = frozenset(),
        *,
        copy: bool = True,
    ) -> InputTable:
        """Open a file; with ``copy`` it is read once, into memory, else by every query."""
        connection.execute("SET TimeZone = 'UTC'")
        copied = copy and file.kind not in _IN_MEMORY
        plain, what = UNKEYED if file.keyed else TABLE, "TABLE" if copied else "VIEW"
        names = _open(connection, file, scratch, copy=copied, name=_AS_READ if file.coarsen else plain)
        if file.coarsen:
            coarsen(connection, names, file.coarsen, file.missing, of=_AS_READ, to=f"{what} {plain}")
        if file.keyed:
            make_keyed(connection, names, file.keyed, file.missing, to=f"{what} {TABLE}")
        [(rows,)] = connection.execute(f"SELECT count(*) FROM {TABLE}").fetchall()
        as_it_is = file.kind == "parquet" and not (copied or file.coarsen or file.keyed) and file.path.is_file()
        return cls(
            connection,
            names,
            rows,
            missing=file.missing,
            drafts=file.kind == "csv",
            typed=typed,
            copied=copied,
            parquet=file.path if as_it_is else None,
        )

    def close(self) -> None:
        """Forget the rows, if they were read into memory."""
        if self.copied:
            self.connection.execute(f"DROP TABLE {TABLE}")

    def kind(self, name: str) -> str:
        """The type of DuckDB that a column has."""
        return self._kinds[self._places[name]]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _kinds(self) -> list[str]:
        return [row[1] for row in self.connection.execute(f"DESCRIBE {TABLE}").fetchall()]

    def rows_at(self, names: Sequence[str], rows: Rows, of: str = TABLE) -> Any:
        """The cells of some rows and columns as a PyArrow table, in the order of the rows."""
        import pyarrow as pa

        self.connection.register("wanted", pa.table({"row": rows, PLACE: np.arange(len(rows))}))
        columns: list[Any] = []
        for start in range(0, len(names), _AT_ONCE):
            cells = ", ".join(map(self.at, names[start : start + _AT_ONCE]))
            columns += (
                self.connection.sql(
                    f"SELECT {cells} FROM (SELECT {cells}, row_number() OVER () - 1 AS row FROM {of}) "
                    f"JOIN wanted USING (row) ORDER BY {PLACE}"
                )
                .to_arrow_table()
                .columns
            )
        return pa.table(columns, list(names))

    def at(self, name: str) -> str:
        """The name under which queries know a column."""
        return column(self._places[name])

    def meanings(self, sources: Sequence[ColumnOrigin]) -> dict[str, CellMeaning]:
        """How the cells of columns are read; of those that are understood it is decided on all of them."""
        meanings = {one.name: self._drafted(one.column) for one in sources}
        names = {one.name: self.at(one.column.name) for one in sources if one.understood}
        decisions = decide_all(self.connection, TABLE, [(at, meanings[name]) for name, at in names.items()])
        return meanings | dict(zip(names, decisions, strict=True))

    def _drafted(self, known: Column) -> CellMeaning:
        drafted = self.drafts and known.name not in self.typed
        return CellMeaning(known.type, self.kind(known.name), self.missing, drafted=drafted)


@dataclass(frozen=True)
class ColumnOrigin:
    """A column of the release: the name it has there, and the column of the input it is made from."""

    name: str
    column: Column

    @property
    def understood(self) -> bool:
        """Whether its cells are compared by what they mean; others by what they are."""
        return self.column.role is Role.QUASI_IDENTIFIER


def originals(
    table: InputTable, sources: Sequence[ColumnOrigin], hint: Hint, scratch: Path | None
) -> Original | Originals:
    """What the input held in each released row, whole or in the pieces of the release."""
    origin = checked_origin(np.load(hint.origin, mmap_mode="r"), table.rows, sum(hint.sizes))
    meanings = table.meanings(sources)
    claims = {
        name: (np.load(low, mmap_mode="r"), np.load(high, mmap_mode="r")) for name, (low, high) in hint.claims.items()
    }
    if len(hint.sizes) == 1:
        held = understood(_raw(table, sources), sources, meanings, table.connection)
        return Original(in_place(held, origin), origin, table.rows, claims)
    assert scratch is not None
    return _in_pieces(table, sources, meanings, hint, origin, claims, scratch)


def all_rows(table: InputTable, sources: Sequence[ColumnOrigin]) -> Any:
    """What the input holds in all of its rows, those too that were left out, in the columns of the release."""
    meanings = table.meanings(sources)
    return understood(_raw(table, sources), sources, meanings, table.connection)


def _raw(table: InputTable, sources: Sequence[ColumnOrigin]) -> Any:
    """The columns as they are; texts of Parquet by the dictionaries of its file."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    if table.parquet is not None and table.rows:
        known = {one.name: one.column.name for one in sources if table.kind(one.column.name) == "VARCHAR"}
        texts = pa.concat_tables(text_groups(table.parquet, set(known.values())))
        columns = {name: texts[own] for name, own in known.items() if own in texts.column_names}
    others = [one for one in sources if one.name not in columns]
    if others:
        columns |= zip(
            [one.name for one in others], read_coded(table.connection, _selected(table, others)), strict=True
        )
    return pa.table({one.name: columns[one.name] for one in sources})


def counted_values(table: InputTable, one: ColumnOrigin, name: str) -> Any:
    """How many rows ``n`` of the input have each value of a column, which is called so; no row is held."""
    raw = table.connection.sql(
        f"SELECT {table.at(one.column.name)} AS {column(0)}, count(*) AS n FROM {TABLE} GROUP BY ALL"
    ).to_arrow_table()
    values = understood(raw, [one], table.meanings([one]), table.connection)
    return values.rename_columns([name]).append_column("n", raw.column("n"))


def encoded(table: InputTable, columns: Sequence[Column]) -> EncodedTable:
    """Some columns as codes, for what counts by codes."""
    import polars as pl

    sources = [ColumnOrigin(one.name, replace(one, role=Role.QUASI_IDENTIFIER)) for one in columns]
    meant = all_rows(table, sources)
    coded = []
    for one in columns:
        cells = pl.Series(meant[one.name])
        cells = cells.cast(pl.String) if isinstance(cells.dtype, pl.Categorical | pl.Enum) else cells
        values = cells.drop_nulls().unique().sort()
        if one.order:
            values = pl.Series([value for value in one.order if value in set(values)], dtype=pl.String)
        numbers = list(range(len(values)))
        codes = cells.replace_strict(values, numbers, default=len(values), return_dtype=pl.Int32)
        coded.append(EncodedColumn(one.name, one.type, codes.fill_null(len(values)).to_numpy(), values))
    return EncodedTable.of(coded)


def checked_origin(origin: Rows, rows: int, released: int) -> Rows:
    """The hint, if it names input rows and names none of them twice."""
    if len(origin) != released or (released and not 0 <= int(origin.min()) <= int(origin.max()) < rows):
        raise VerificationError("The released rows are not the rows of the input. Nothing was published.")
    if (np.bincount(origin) > 1).any():
        raise VerificationError("A row of the input was released more than once. Nothing was published.")
    return origin


def _selected(table: InputTable, sources: Sequence[ColumnOrigin]) -> str:
    cells = ", ".join(f"{table.at(one.column.name)} AS {column(place)}" for place, one in enumerate(sources))
    return f"SELECT {cells} FROM {TABLE}"


def understood(
    raw: Any, sources: Sequence[ColumnOrigin], meanings: Mapping[str, CellMeaning], connection: Any = None
) -> Any:
    """Raw columns as they are compared: texts by their distinct values, others cell by cell."""
    import pyarrow as pa

    alike: dict[tuple[CellMeaning, bool], dict[str, Any]] = {}
    others: dict[str, str] = {}
    columns: dict[str, Any] = {}
    for place, one in enumerate(sources):
        meaning = meanings[one.name]
        if meaning.by_text:
            alike.setdefault((meaning, one.understood), {})[one.name] = _texts(raw.column(place))
        elif not one.understood or meaning.is_plain:
            columns[one.name] = raw.column(place)
        else:
            others[one.name] = meaning.value(column(place))
    with contextlib.nullcontext(connection) if connection is not None else connect(threads=1) as database:
        database.execute("SET TimeZone = 'UTC'")
        if others:
            renamed = raw.rename_columns([column(place) for place in range(raw.num_columns)])
            columns |= zip(others, _evaluate(database, renamed, *others.values()), strict=True)
        for (meaning, meant), texts in alike.items():
            columns |= _understood_texts(database, texts, meaning, meant)
    return pa.table({one.name: columns[one.name] for one in sources})


def _texts(cells: Any) -> Any:
    """The cells of a column as one PyArrow array with a dictionary of long texts."""
    import pyarrow as pa

    coded = CodedCells.of(cells if pa.types.is_dictionary(cells.type) else cells.cast(pa.large_string()))
    return coded if coded.words.type == pa.large_string() else replace(coded, words=coded.words.cast(pa.large_string()))


def _understood_texts(
    connection: Any, texts: Mapping[str, CodedCells], meaning: CellMeaning, meant: bool
) -> Iterator[tuple[str, Any]]:
    """Columns of text that are read alike: all of their words in one query; cells get a dictionary of meanings."""
    import pyarrow as pa

    words = pa.table({"t": pa.chunked_array([one.words for one in texts.values()], pa.large_string())})
    wanted = [meaning.of_text("m"), meaning.is_strange_text("m")] if meant else [meaning.raw("t")]
    of = f"(SELECT {clean('t', meaning.missing)} AS m FROM {_CELLS})" if meant else _CELLS
    values, *strange = (answer.combine_chunks() for answer in _evaluate(connection, words, *wanted, of=of))
    if any(one for flags in strange for one in flags.to_pylist()):
        raise VerificationError(f"A quasi-identifier has cells that are no {meaning.type}. Nothing was published.")
    start = 0
    for name, one in texts.items():
        coded = values.slice(start, len(one.words)).dictionary_encode()
        start += len(one.words)
        codes = pa.concat_arrays([coded.indices, pa.nulls(1, coded.indices.type)]).take(indices(one.codes))
        yield name, pa.DictionaryArray.from_arrays(codes, coded.dictionary)


def _evaluate(connection: Any, cells: Any, *expressions: str, of: str = _CELLS) -> list[Any]:
    """What expressions of SQL make of the rows of a PyArrow table, or of what a query says ``of`` them."""
    connection.register(_CELLS, cells)
    listed = ", ".join(f"{expression} AS e{place}" for place, expression in enumerate(expressions))
    return list(connection.sql(f"SELECT {listed} FROM {of}").to_arrow_table().columns)


def _in_pieces(
    table: InputTable,
    sources: Sequence[ColumnOrigin],
    meanings: Mapping[str, CellMeaning],
    hint: Hint,
    origin: Rows,
    claims: Mapping[str, tuple[Any, Any]],
    scratch: Path,
) -> Originals:
    """Send every row of the input to the piece of the release that it went to."""
    ends = list(accumulate(hint.sizes))
    place = np.full(table.rows, -1, np.int64)
    place[origin] = np.arange(len(origin))
    folder = Path(tempfile.mkdtemp(dir=scratch))
    paths = [folder / f"{number:06d}.arrow" for number in range(len(ends))]
    deal(table.connection.sql(_selected(table, sources)).to_arrow_reader(_BATCH), place, np.array(ends), paths)

    def piece(number: int) -> Original:
        start, end = ends[number] - hint.sizes[number], ends[number]
        raw = in_order(paths[number])
        mine = {name: (low[start:end], high[start:end]) for name, (low, high) in claims.items()}
        return Original(understood(raw, sources, meanings), origin[start:end], table.rows, mine)

    return Originals(table.rows, hint.sizes, piece, origin)


def _open(connection: Any, file: InputFile, scratch: Path | None, *, copy: bool, name: str) -> list[str]:
    """Register the file as a table; the names of its columns."""
    if file.kind == "excel":
        return register(connection, sheet_table(file), name)
    if file.kind in ("spss", "stata", "sas"):
        return register(connection, statistics_table(file.path, file.kind), name)
    if file.kind in ("sqlite", "duckdb"):
        assert scratch is not None
        return open_table(connection, copy_of_rows(file, scratch), FileForm("parquet"), name=name, copy=copy)
    if file.kind != "csv":
        form = FileForm(file.kind, compression=file.compression)
        return open_table(connection, file.path, form, name=name, copy=copy)
    form, path = FileForm("csv", file.delimiter, file.compression), file.path
    if file.encoding != "utf-8" or not file.header:
        assert scratch is not None
        form, path = replace(form, compression=None), _in_utf8(file, scratch)
    if file.decimal is None and file.dates is None:
        return open_table(connection, path, form, name=name, copy=copy)
    names = open_table(connection, path, form, name="as_written")
    cells = ", ".join(f"{_plainly(column(place), file)} AS {column(place)}" for place in range(len(names)))
    what = "TABLE" if copy else "VIEW"
    connection.execute(f"CREATE OR REPLACE TEMP {what} {name} AS SELECT {cells} FROM as_written")
    return names


_THOUSANDS = "[+-]?[0-9]{1,3}([%s][0-9]{3})+"
_DAY, _MONTH, _YEAR = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])", "([0-9]{4})"
_ORDERS = {
    "dmy": (f"{_DAY}[./-]{_MONTH}[./-]{_YEAR}", (3, 2, 1)),
    "mdy": (f"{_MONTH}[./-]{_DAY}[./-]{_YEAR}", (3, 1, 2)),
    "ymd": (f"{_YEAR}[./]{_MONTH}[./]{_DAY}", (1, 2, 3)),
}


def _plainly(cell: str, file: InputFile) -> str:
    """SQL: a cell with its number or date in plain spelling, if it is one that is spelled otherwise."""
    plain, bare = cell, f"regexp_replace({cell}, '^[ \\t\\n\\r\\f\\v]+|[ \\t\\n\\r\\f\\v]+$', '', 'g')"
    if file.dates is not None:
        shape, places = _ORDERS[file.dates]
        year, month, day = (f"regexp_extract({bare}, '^{shape}$', {place})" for place in places)
        iso = f"{year} || '-' || lpad({month}, 2, '0') || '-' || lpad({day}, 2, '0')"
        plain = f"CASE WHEN regexp_full_match({bare}, '{shape}') THEN {iso} ELSE {plain} END"
    if file.decimal is not None:
        thousands, mark = (".", ",") if file.decimal == "comma" else (",", ".")
        grouped = _THOUSANDS % thousands
        shapes = [f"{grouped}([{mark}][0-9]+)?", *(["[+-]?[0-9]+,[0-9]+"] if file.decimal == "comma" else [])]
        number = f"replace(replace({bare}, '{thousands}', ''), '{mark}', '.')"
        plain = f"CASE WHEN regexp_full_match({bare}, '{'|'.join(shapes)}') THEN {number} ELSE {plain} END"
    return plain


def _in_utf8(file: InputFile, scratch: Path) -> Path:
    """A copy of a text file in UTF-8, which begins with the names of the columns."""
    path = scratch / f"input-{secrets.token_hex(4)}.csv"
    decoder = codecs.getincrementaldecoder(file.encoding)()
    try:
        with unpacked(file.path, file.compression) as stream, path.open("w", encoding="utf-8", newline="") as copy:
            if not file.header:
                first = stream.read(STEP)
                text = decoder.decode(first).removeprefix("\ufeff")
                copy.write(_header(file, text) + text)
            while block := stream.read(STEP):
                copy.write(decoder.decode(block))
            copy.write(decoder.decode(b"", True))
    except UNREADABLE:
        raise FileFormatError(f"The input is not text in {file.encoding}.") from None
    return path


def _header(file: InputFile, text: str) -> str:
    """A line with the names of the columns for text that has none."""
    end = line_end(text.encode()).decode()
    fields = len(next(csv.reader(io.StringIO(text, newline=end), delimiter=file.delimiter), []))
    line = io.StringIO(newline="")
    names = file.names or [f"c{place + 1}" for place in range(fields)]
    csv.writer(line, delimiter=file.delimiter, lineterminator=end).writerow(names)
    return line.getvalue()
