"""Files of SQLite and DuckDB: what is read of them, what is refused, and that they are only read."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing
from decimal import Decimal

import duckdb
import polars as pl
import pytest

import incrowd
from incrowd.cli.shared import table_at
from incrowd.errors import FileFormatError, IncrowdError, InputError, OutputError, ParameterError, ValuesError
from incrowd.tables.databases import Query, reading
from incrowd.tables.databases.reading import fetch_query, read_query, stream_query
from incrowd.tables.databases.tables import DatabaseFile, query_of
from incrowd.verification.database_files import copy_of_rows
from incrowd.verification.request import InputFile

CANARY = "KANARIE"


def ask(path, text):
    database = duckdb.connect(str(path)) if path.suffix == ".duckdb" else sqlite3.connect(path, isolation_level=None)
    with closing(database):
        for statement in text.split(";"):
            database.execute(statement)


@pytest.fixture(params=["clinic.db", "clinic.duckdb"])
def clinic(tmp_path, request):
    path = tmp_path / request.param
    ask(
        path,
        "CREATE TABLE visits (age INTEGER, job TEXT, cost REAL, ill TEXT);"
        "INSERT INTO visits VALUES (39, 'nurse', 1.5, 'y'), (NULL, '?', 2.0, 'n'), (7, 'cook', NULL, 'y');"
        "CREATE VIEW old AS SELECT age FROM visits WHERE age > 30",
    )
    return path


def by_the_verification(path, text, folder):
    file = InputFile(path.absolute(), DatabaseFile(path).kind, query=text)
    return pl.read_parquet(copy_of_rows(file, folder))


def test_a_table_a_view_and_a_query(clinic, tmp_path):
    visits = read_query(Query.of(DatabaseFile(clinic).at("visits")))
    assert visits.rows() == [(39, "nurse", 1.5, "y"), (None, "?", 2.0, "n"), (7, "cook", None, "y")]
    assert read_query(Query.of(f"{clinic}?table=old")).rows() == [(39,)]
    text = "WITH chosen AS (SELECT * FROM visits) SELECT job, age + 1 AS later FROM chosen ORDER BY job DESC -- all"
    asked = read_query(Query.of(clinic, text))
    assert asked.rows() == [("nurse", 40), ("cook", 8), ("?", None)]
    assert by_the_verification(clinic, text, tmp_path).rows() == asked.rows()


def test_rows_come_in_pieces(clinic, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "BATCH", 2)
    query = Query.of(f"{clinic}?table=visits")
    assert [frame.height for frame in stream_query(query, rows=2)] == [2, 1]
    seen = []
    assert pl.read_parquet(fetch_query(query, tmp_path, seen.append)).height == seen[-1] == 3


def test_the_names_of_what_there_is_are_told(clinic):
    with pytest.raises(
        ParameterError, match=r"a table \(clinic\..*\?table=visits\) or a query.*It has 'old', 'visits'"
    ):
        query_of(clinic)
    with pytest.raises(ParameterError, match=r"no such table. It has 'old', 'visits'"):
        incrowd.inspect(f"{clinic}?table=visit")
    assert str(table_at(str(clinic), table="visits")) == f"table visits of the database {clinic.name}"
    with pytest.raises(ParameterError, match="not both"):
        table_at(str(clinic), "visits", "SELECT 1")


STATEMENTS = {
    "a write": "DELETE FROM visits",
    "two statements": "SELECT age FROM visits; SELECT job FROM visits",
    "no column": f"SELECT {CANARY} FROM visits",
    "no SQL": f"SELEKT {CANARY}",
    "another file": f"ATTACH '{CANARY}.db' AS other",
    "a setting": "PRAGMA table_info('visits')",
}


@pytest.mark.parametrize("text", STATEMENTS.values(), ids=STATEMENTS)
def test_only_one_select_is_asked(clinic, text):
    before = clinic.read_bytes()
    with pytest.raises(InputError, match="not one SELECT") as refused:
        read_query(Query.of(clinic, text))
    assert CANARY not in str(refused.value)
    assert clinic.read_bytes() == before


def test_a_query_of_duckdb_reaches_no_other_file(tmp_path):
    path, other = tmp_path / "clinic.duckdb", tmp_path / "other.csv"
    ask(path, "CREATE TABLE visits (age INTEGER)")
    other.write_text(CANARY)
    with pytest.raises(FileFormatError) as refused:
        read_query(Query.of(path, f"SELECT * FROM read_csv('{other}')"))
    assert CANARY not in str(refused.value)


def test_cells_of_sqlite_decide_what_a_column_is(tmp_path):
    path = tmp_path / "clinic.sqlite"
    values = "(1, 1, 'a', NULL, '1'), (2, 2.5, NULL, NULL, '2')"
    ask(path, f"CREATE TABLE t (whole, number, word, empty, digits); INSERT INTO t VALUES {values}")
    frame = read_query(Query.of(f"{path}?table=t"))
    assert frame.dtypes == [pl.Int64, pl.Float64, pl.String, pl.Null, pl.String]
    assert frame.rows() == [(1, 1.0, "a", None, "1"), (2, 2.5, None, None, "2")]
    assert by_the_verification(path, "SELECT * FROM t", tmp_path).rows() == frame.rows()


@pytest.mark.parametrize("cell", [f"'{CANARY}'", "x'00ff'"])
def test_mixed_and_binary_columns_of_sqlite_are_refused(tmp_path, cell):
    path = tmp_path / "clinic.db"
    ask(path, f"CREATE TABLE t (a); INSERT INTO t VALUES (1), ({cell})")
    with pytest.raises(ValuesError, match=r"'a' holds binary values, or mixes.*CAST\(\"a\" AS TEXT\)") as refused:
        read_query(Query.of(f"{path}?table=t"))
    assert CANARY not in str(refused.value)
    with pytest.raises(FileFormatError, match="mixes types") as again:
        by_the_verification(path, "SELECT * FROM t", tmp_path)
    assert CANARY not in str(again.value)


def test_types_of_duckdb(tmp_path):
    path = tmp_path / "clinic.duckdb"
    text = (
        "SELECT 1::HUGEINT AS h, 1.50::DECIMAL(9, 2) AS d, DATE '2020-02-29' AS day, 'a'::ENUM('a', 'b') AS e, "
        "true AS t, '00000000-0000-0000-0000-000000000001'::UUID AS u, 5::UTINYINT AS s"
    )
    ask(path, "CREATE TABLE visits (age INTEGER)")
    row = (Decimal(1), Decimal("1.50"), dt.date(2020, 2, 29), "a", True, "00000000-0000-0000-0000-000000000001", 5)
    assert read_query(Query.of(path, text)).rows() == [row]
    assert by_the_verification(path, text, tmp_path).rows() == [row]


@pytest.mark.parametrize("value", ["[1]", "{'a': 1}", "'x'::BLOB", "INTERVAL 1 DAY"])
def test_what_is_no_plain_value_of_duckdb_is_refused(tmp_path, value):
    path = tmp_path / "clinic.duckdb"
    ask(path, "CREATE TABLE visits (age INTEGER)")
    with pytest.raises(ValuesError, match="Column 'x'"):
        read_query(Query.of(path, f"SELECT {value} AS x"))


@pytest.mark.parametrize("ending", [".db", ".duckdb"])
def test_damaged_files_are_refused_without_their_cells(tmp_path, ending):
    path = tmp_path / f"clinic{ending}"
    ask(path, f"CREATE TABLE visits AS SELECT '{CANARY}' AS a")
    whole = path.read_bytes()
    cut = [whole[: len(whole) // 2], whole[:100], whole[:16], b"", CANARY.encode(), whole[:16] + bytes(len(whole))]
    for data in [*cut, whole[:60] + b"\xff" * 40 + whole[100:]]:
        path.write_bytes(data)
        assert CANARY not in told(lambda: incrowd.inspect(f"{path}?table=visits"))
        assert CANARY not in told(lambda: by_the_verification(path, "SELECT a FROM visits", tmp_path))


def told(read):
    """What the error says, if there is one; any but ours falls through."""
    try:
        read()
    except IncrowdError as refused:
        return str(refused)
    return ""


def test_no_rows_are_refused(clinic):
    with pytest.raises(FileFormatError, match="no rows"):
        read_query(Query.of(clinic, "SELECT age FROM visits WHERE age > 100"))


def test_the_database_is_not_overwritten(clinic):
    with pytest.raises(OutputError):
        incrowd.release(
            f"{clinic}?table=visits",
            quasi_identifiers=["age"],
            target="ill",
            k=2,
            outputs=incrowd.Outputs(report=clinic),
            to=clinic.with_suffix(".csv"),
        )
