"""Faults of reading: the program works on another table than the file holds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.compute as pc

from faults.people import people, put
from faults.planting import BLOCKS, BOTH, MEMORY, as_if, plant

Change = Callable[[pl.DataFrame], pl.DataFrame]
READ = {MEMORY: "incrowd.tables.reading.read:read", BLOCKS: "incrowd.tables.streams.stream:open_stream"}


@dataclass(frozen=True)
class _Misread:
    """The rows of a file on disk as a faulty reader gives them; it may be asked for some of the columns only."""

    body: Any
    change: Change

    def pieces(self, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        yield self.change(pl.concat(self.body.pieces(rows, names)))

    def part(self, start: int, rows: int, names: Sequence[str]) -> pl.DataFrame:
        return pl.concat(self.pieces(rows, names)).slice(start, rows)

    def check(self) -> None:
        self.body.check()


def misread(engines: tuple[str, ...] = (MEMORY,)) -> Callable[[Change], Change]:
    """Enter a fault that gives other rows, or other cells, than the file has."""

    def enter(change: Change) -> Change:
        def faulty(original: Any, *arguments: Any, **named: Any) -> Any:
            table = original(*arguments, **named)
            if hasattr(table, "frame"):
                return replace(table, frame=change(table.frame))
            body = _Misread(table._body, change)
            rows = pl.concat(body.pieces(table.rows, table.columns)).height
            return replace(table, _body=body, rows=rows)

        plant({engine: READ[engine] for engine in engines})(as_if(faulty, change))
        return change

    return enter


def changed(frame: pl.DataFrame, name: str, change: Callable[[pl.Expr], pl.Expr]) -> pl.DataFrame:
    """The frame with a column changed, if it has it."""
    return frame.with_columns(change(pl.col(name)).alias(name)) if name in frame.columns else frame


@plant("incrowd.tables.reading.statistics_files:_labelled", (MEMORY,), given=("sav", "dta"))
def codes_get_the_wrong_labels(original, codes, labels):
    """The labels of two codes are exchanged."""
    return original(codes, dict(zip(labels, reversed(labels.values()), strict=True)))


@plant("incrowd.tables.reading.statistics_files:_read", (MEMORY,), given=("sav", "dta"))
def a_statistics_file_gives_other_cells(original, path, kind):
    """The visits of all rows are one more than the file has."""
    table, labels = original(path, kind)
    return table.with_columns(pl.col("visits") + 1), labels


@plant("incrowd.tables.databases.reading:file_rows", given=("db", "duckdb"))
@contextmanager
def a_database_gives_other_cells(original, query):
    """The visits of all rows are one more than the database has."""
    with original(query) as (schema, batches):
        place = schema.get_field_index("visits")
        more = (batch.set_column(place, schema.field(place), pc.add(batch["visits"], 1)) for batch in batches)
        yield schema, more


@plant("incrowd.tables.databases.reading:file_rows", (MEMORY,), given=("db", "duckdb"))
@contextmanager
def a_database_gives_a_row_less(original, query):
    """The last row of the query is not fetched."""
    with original(query) as (schema, batches):
        yield schema, (batch.slice(0, batch.num_rows - 1) for batch in batches)


@plant("incrowd.tables.databases.tables:Query.of", (MEMORY,), given="db")
def the_database_is_asked_for_some_rows_only(original, cls, *arguments):
    """The table that was named is read by a query that leaves out some people."""
    asked = original(cls, *arguments)
    return replace(asked, text=f"{asked.text} WHERE age < 80")


@misread(BOTH)
def the_first_row_is_skipped(frame):
    """The first row is taken for a second line of the header."""
    return frame.slice(1)


@misread(BOTH)
def the_last_row_is_lost(frame):
    """The last line is lost, as if it had no end."""
    return frame.head(-1)


@misread(BOTH)
def a_line_that_looks_like_a_comment_is_skipped(frame):
    """Lines that begin with # are taken for comments."""
    return frame.filter(pl.Series([each % 40 != 3 for each in range(frame.height)]))


@misread(BOTH)
def the_header_is_taken_for_a_row(frame):
    """The names of the columns are read as a row, too."""
    names = pl.DataFrame({name: [name] for name in frame.columns})
    return pl.concat([names, frame.cast(pl.String)])


@misread(BOTH)
def a_row_is_read_twice(frame):
    """A row at the border of two blocks is read twice."""
    return pl.concat([frame.head(150), frame.slice(149)])


@misread(BOTH)
def values_are_trimmed(frame):
    """Spaces around a text are cut off."""
    return changed(frame, "note", lambda note: note.str.strip_chars())


@misread()
def texts_of_digits_are_cast(frame):
    """Codes with zeros before them are read as numbers."""
    return changed(frame, "ward", lambda ward: ward.str.strip_chars_start("0"))


@misread()
def a_word_is_taken_for_missing(frame):
    """A word is taken for a missing value, which nobody said."""
    return changed(frame, "diagnosis", lambda diagnosis: pl.when(diagnosis != "none").then(diagnosis))


@misread(BOTH)
def missing_cells_become_a_value(frame):
    """Cells of a missing value are read as a word of their own."""
    return changed(frame, "job", lambda job: pl.when(job != "?").then(job).fill_null("missing"))


@misread()
def missing_cells_take_the_value_above(frame):
    """An empty cell is filled with the value of the row above."""
    return changed(frame, "visits", lambda visits: pl.when(visits != "?").then(visits).forward_fill())


@misread()
def decimals_are_lost(frame):
    """Numbers are read without what follows their first decimal."""
    return changed(frame, "weight", lambda weight: weight.str.replace(r"(\.\d)\d*$", "$1"))


@misread()
def days_and_months_are_exchanged(frame):
    """Dates are read with the day first where that gives a date."""
    return changed(frame, "born", lambda born: born.str.replace(r"-(\d\d)-(0\d|1[012])$", "-$2-$1"))


@misread()
def letters_are_folded(frame):
    """Texts are read in small letters."""
    return changed(frame, "job", lambda job: job.str.to_lowercase())


@misread()
def letters_are_decoded_wrongly(frame):
    """Text is decoded by another encoding than it has."""
    return changed(frame, "note", lambda note: note.str.replace("é", "Ã©", literal=True))


@misread()
def long_texts_are_cut(frame):
    """Texts are cut at eight letters."""
    return changed(frame, "note", lambda note: note.str.slice(0, 8))


@misread()
def a_column_is_shifted_by_a_row(frame):
    """A column begins a row too late."""
    return changed(frame, "diagnosis", lambda diagnosis: diagnosis.shift(1).fill_null(diagnosis.last()))


@misread(BOTH)
def a_quasi_identifier_is_shifted_by_a_row(frame):
    """A column that is to be protected begins a row too late."""
    return changed(frame, "age", lambda age: age.shift(1).fill_null(age.last()))


@misread(BOTH)
def another_file_is_read(frame):
    """The name of the file is taken for a pattern that fits another file first."""
    other = people(seed=2).cast(pl.String)
    return other.select(pl.col(name).cast(frame.schema[name]) for name in frame.columns)


@plant("incrowd.tables.reading.read:read", (MEMORY,))
def another_file_is_read_and_named(original, source, **named):
    """A file that lies elsewhere is read, and is said to be the input."""
    return original(put(people(seed=2), Path(tempfile.mkdtemp()) / "people.csv"), **named)


@plant("incrowd.tables.reading.read:read", (MEMORY,))
def a_word_is_said_to_mean_missing(original, source, missing=None, **named):
    """A word is taken for a missing value, and is said to be one, which nobody asked for."""
    return original(source, missing=["?", "none"], **named)


@plant("incrowd.tables.reading.layout:find_layout")
def the_delimiter_is_guessed_wrongly(original, head, encoding, delimiter=None):
    """The delimiter of a file is taken for another."""
    return original(head, encoding, ";")


@plant("incrowd.tables.reading.layout:find_layout", (MEMORY,))
def two_names_are_exchanged(original, *arguments, **named):
    """Two columns get each other's name."""
    layout = original(*arguments, **named)
    names = [{"job": "diagnosis", "diagnosis": "job"}.get(name, name) for name in layout.names]
    return replace(layout, names=tuple(names), kept=tuple(names))
