"""Faults of files for other programs: SPSS and Stata that carry more than cells, sheets that are read otherwise."""

from __future__ import annotations

import gzip
import re

import polars as pl
import pyreadstat

from faults.planting import MEMORY, plant
from faults.writing import rewritten


def labelled(path):
    """Write the file once more, with a label."""
    read, write = (
        (pyreadstat.read_sav, pyreadstat.write_sav)
        if path.suffix == ".sav"
        else (pyreadstat.read_dta, pyreadstat.write_dta)
    )
    frame, _ = read(str(path), output_format="polars")
    write(frame, str(path), column_labels={"ward": "ward of p00017"})


@rewritten(written=("sav", "dta"))
def a_column_has_a_label(path):
    """The label of a column names a patient."""
    labelled(path)


@rewritten(written=("sav", "dta"))
def the_header_has_another_time(path):
    """The header says when the file was written, not always the same."""
    data = path.read_bytes()
    path.write_bytes(re.sub(rb"01 Jan (19)?80", lambda day: b"02" + day[0][2:], data, count=1))


@rewritten(written=("sav", "dta"))
def a_text_of_a_statistics_file_is_another(path):
    """The diagnosis of some rows is another one."""
    data = path.read_bytes()
    place = data.rindex(b"gout")
    path.write_bytes(data[:place] + b"flu\0"[: 3 if path.suffix == ".sav" else 4].ljust(4) + data[place + 4 :])


@rewritten(written=("sav", "dta"))
def bytes_follow_a_statistics_file(path):
    """After the last cell stands what no reader looks at."""
    with path.open("ab") as file:
        file.write(b"p00017")


@plant("incrowd.tables.publishing.serialise:_write_statistics", (MEMORY,), written=("sav", "dta"))
def texts_are_shortened(original, frame, path, kind):
    """Texts are cut at three letters, as a column that is too narrow would."""
    short = frame.with_columns(pl.col("diagnosis").str.slice(0, 3))
    return original(short, path, kind)


@rewritten(written="jsonl.gz")
def packed_lines_carry_a_name(path):
    """The header of the packed file has the name of the file it was made from."""
    data = gzip.decompress(path.read_bytes())
    with gzip.GzipFile("patients of ward 7", "wb", fileobj=path.open("wb")) as file:
        file.write(data)


@plant("incrowd.tables.reading.excel:_table", (MEMORY,), given="xlsx", written="xlsx")
def a_row_of_a_sheet_is_taken_for_an_empty_one(original, *arguments, **named):
    """The last person of the sheet is left out as if the row was empty."""
    table, notices = original(*arguments, **named)
    return table.head(-1), notices
