"""Reading from a real server: types, one snapshot, bounded memory."""

import datetime as dt
import os
import subprocess
import sys

import polars as pl
import pytest

from incrowd.errors import FileFormatError, HeaderError, InputError, ValuesError
from incrowd.tables.databases.reading import fetch_query, read_query, relations_read, stream_query
from incrowd.tables.databases.tables import Query
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.frames import read_frame
from incrowd.tables.reading.read import read
from support.waiting import wait_until

CLINIC = "postgresql:///clinic"


def asked(query):
    return Query.of(CLINIC, query)


def test_a_table_by_its_name(clinic):
    clinic.sql('CREATE TABLE "Visits" (age int, "zip code" text)')
    clinic.sql("""INSERT INTO "Visits" VALUES (39, '01234'), (NULL, '')""")
    frame = read_query(Query.of("postgresql:///clinic?table=Visits"))
    assert frame.schema == {"age": pl.Int32, "zip code": pl.String}
    assert frame.rows() == [(39, "01234"), (None, "")]
    assert read_query(Query.of('postgresql:///clinic?table="public"."Visits"')).equals(frame)


READ = [
    ("true", pl.Boolean, True),
    ("1::int2", pl.Int16, 1),
    ("1::int4", pl.Int32, 1),
    ("9007199254740993::int8", pl.Int64, 9007199254740993),
    ("4000000000::oid", pl.Int64, 4000000000),
    ("1.5::float4", pl.Float32, 1.5),
    ("0.1::float8", pl.Float64, 0.1),
    ("123456789012345678901234567890.10::numeric", pl.String, "123456789012345678901234567890.10"),
    ("1.5::numeric(10,2)", pl.String, "1.50"),
    ("'Infinity'::numeric", pl.String, "Infinity"),
    ("'x'::text", pl.String, "x"),
    ("'x'::varchar(5)", pl.String, "x"),
    ("'x'::char(5)", pl.String, "x"),
    ("'x'::name", pl.String, "x"),
    ("'x'::\"char\"", pl.String, "x"),
    ("NULL", pl.String, None),
    ("'b34a8c5c-95b2-4b1a-8a1c-000000000001'::uuid", pl.String, "b34a8c5c-95b2-4b1a-8a1c-000000000001"),
    ("'10.0.0.1'::inet", pl.String, "10.0.0.1/32"),
    ("'ill'::state", pl.String, "ill"),
    ("7::positive", pl.Int32, 7),
    ("date '2024-02-29'", pl.Date, dt.date(2024, 2, 29)),
    ("date '0001-01-01'", pl.Date, dt.date(1, 1, 1)),
    ("date '9999-12-31'", pl.Date, dt.date(9999, 12, 31)),
    ("timestamp '9999-12-31 23:59:59.999999'", pl.Datetime("us"), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    (
        "timestamptz '2024-05-01 10:00+02'",
        pl.Datetime("us", "UTC"),
        dt.datetime(2024, 5, 1, 8, tzinfo=dt.UTC),
    ),
    ("time '23:59:59.5'", pl.Time, dt.time(23, 59, 59, 500000)),
]


def test_types_that_are_read(clinic):
    clinic.sql("CREATE TYPE state AS ENUM ('well', 'ill')")
    clinic.sql("CREATE DOMAIN positive AS int CHECK (VALUE > 0)")
    frame = read_query(asked("SELECT " + ", ".join(f"{sql} AS c{at}" for at, (sql, _, _) in enumerate(READ))))
    assert frame.dtypes == [dtype for _, dtype, _ in READ]
    assert frame.row(0) == tuple(value for _, _, value in READ)
    assert read_frame(frame).frame.height == 1


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("ARRAY[1, 2]", r"int4\[\]"),
        ("ARRAY['canary']", r"text\[\]"),
        ("'{}'::json", "json"),
        ("'{}'::jsonb", "jsonb"),
        ("'\\x00'::bytea", "bytea"),
        ("interval '1 day'", "interval"),
        ("timetz '10:00+02'", "timetz"),
        ("1::money", "money"),
        ("NULL::xml", "xml"),
        ("int4range(1, 2)", "unnamed|int4range"),
        ("point(1, 2)", "point"),
        ("ROW(1, 2)", "record"),
        ("B'101'", "bit"),
        ("'a'::tsvector", "tsvector"),
    ],
)
def test_types_that_are_refused_with_the_name_of_the_column(sql, word, clinic):
    with pytest.raises(ValuesError, match=rf"Column 'odd' has the type ({word}) .* \"odd\"::text") as told:
        read_query(asked(f"SELECT 1 AS fine, {sql} AS odd"))
    assert "canary" not in str(told.value)


@pytest.mark.parametrize(
    "sql",
    [
        "date 'infinity'",
        "date '-infinity'",
        "date '0001-12-31 BC'",
        "date '10000-01-01'",
        "timestamp 'infinity'",
        "timestamptz '-infinity'",
        "timestamp '294276-01-01'",
    ],
)
def test_dates_that_are_none_for_us(sql, clinic):
    with pytest.raises(ValuesError, match="Column 'day' holds infinite dates, or dates outside the years 1 to 9999"):
        read_query(asked(f"SELECT {sql} AS day UNION ALL SELECT NULL"))
    assert read_query(asked(f"SELECT nullif({sql}, {sql}) AS day")).rows() == [(None,)]


def test_numeric_stays_exact_and_is_typed_by_its_values(clinic):
    frame = read_query(
        asked("SELECT (i / 4.0)::numeric(8, 2) AS cost, i::numeric AS whole FROM generate_series(1, 9) i")
    )
    assert frame["cost"].to_list()[:3] == ["0.25", "0.50", "0.75"]
    drafted = draft_schema(read_frame(frame))
    assert (str(drafted["cost"].type), str(drafted["whole"].type)) == ("real", "integer")


@pytest.mark.parametrize(
    "query",
    [
        "VALUES (1), (2)",
        "TABLE t",
        "WITH t AS (SELECT 1 AS a) SELECT a FROM t",
        "SELECT 1 -- a comment",
        "SELECT 1 /* */",
    ],
)
def test_every_form_of_a_single_query(query, clinic):
    clinic.sql("CREATE TABLE t AS SELECT 1 AS a")
    assert read_query(asked(query)).width == 1


def test_a_query_keeps_its_order_and_odd_names(clinic):
    frame = read_query(asked('SELECT i AS "a ""b"".c", -i AS "SELECT" FROM generate_series(1, 999) i ORDER BY i DESC'))
    assert frame.columns == ['a "b".c', "SELECT"]
    assert frame["SELECT"].to_list() == list(range(-999, 0))


def test_column_names_that_cannot_be_told_apart(clinic):
    with pytest.raises(HeaderError, match="Columns 1 and 2"):
        read_query(asked("SELECT 1 AS a, 2 AS a"))
    with pytest.raises(FileFormatError, match="no columns"):
        read_query(asked("SELECT"))


def test_no_rows(clinic, tmp_path):
    clinic.sql("CREATE TABLE t (a int)")
    empty = Query.of("postgresql:///clinic?table=t")
    with pytest.raises(FileFormatError, match="table t of the database clinic is empty"):
        read_query(empty)
    with pytest.raises(FileFormatError, match="no rows"):
        fetch_query(empty, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_transaction_sees_one_moment_and_cannot_write(clinic):
    found = read_query(
        asked("SELECT current_setting('transaction_isolation') AS a, current_setting('transaction_read_only') AS b")
    )
    assert found.rows() == [("repeatable read", "on")]


def test_rows_that_change_meanwhile_are_read_as_they_were(clinic):
    clinic.sql("CREATE TABLE t AS SELECT i, repeat('x', 200) AS filling FROM generate_series(1, 150000) i")
    frames = stream_query(Query.of("postgresql:///clinic?table=t"), rows=1000)
    first = next(frames)
    clinic.sql("DELETE FROM t WHERE i % 2 = 0")
    clinic.sql("INSERT INTO t VALUES (0, '')")
    rest = list(frames)
    numbers = pl.concat([first, *rest])["i"]
    assert {frame.height for frame in rest} == {1000}
    assert numbers.sort().to_list() == list(range(1, 150001))


def test_a_stream_that_is_left_ends_at_once(clinic):
    endless = "SELECT i, repeat('x', 100) AS a FROM generate_series(1, 100000) i, generate_series(1, 1000000) j"
    frames = stream_query(asked(endless), rows=10)
    next(frames)
    frames.close()
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'clinic' AND pid <> pg_backend_pid()"
    wait_until(lambda: clinic.sql(others) == [(0,)])


def test_a_copy_for_many_passes_is_private_and_equal(clinic, tmp_path):
    clinic.sql(
        "CREATE TABLE t AS SELECT i AS id, i % 7 AS a, 'v' || i % 5 AS b, date '2020-01-01' + i AS c, "
        "nullif(i % 3, 0)::float8 AS d FROM generate_series(1, 30000) i"
    )
    seen = []
    query = Query.of("postgresql:///clinic?table=t")
    path = fetch_query(query, tmp_path, seen.append)
    assert path.stat().st_mode & 0o777 == 0o600
    assert seen[-1] == 30000
    assert read(path).frame.equals(read_query(query))


def test_other_encodings_of_the_database(clinic, monkeypatch):
    for name, encoding in (("latin", "LATIN1"), ("bytes", "SQL_ASCII")):
        clinic.sql(f"DROP DATABASE IF EXISTS {name}")
        clinic.sql(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    assert read_query(Query.of("postgresql:///latin", "SELECT chr(233) AS a")).rows() == [("é",)]
    with pytest.raises(InputError, match="bytes that are not text"):
        read_query(Query.of("postgresql:///bytes", r"SELECT E'\xff\xfe' AS a"))


def test_what_a_query_rests_on(clinic):
    for name in ("one", "two", "three"):
        clinic.sql(f"CREATE TABLE {name} (a int)")
    clinic.sql("CREATE VIEW seen AS SELECT * FROM two")
    numbers = {
        name: clinic.sql(f"SELECT '{name}'::regclass::oid::int8")[0][0] for name in ("one", "two", "three", "seen")
    }
    found = relations_read(asked("SELECT * FROM one WHERE a IN (SELECT a FROM seen)"))
    assert {numbers["one"], numbers["two"], numbers["seen"]} <= {number for _, number in found}
    assert numbers["three"] not in {number for _, number in found}
    assert len({server for server, _ in found}) == 1


def test_the_login_comes_from_the_environment(clinic, monkeypatch, tmp_path):
    from support.postgresql_server import PASSWORD

    who = Query.of("postgresql:///clinic", "SELECT current_user::text AS a")
    monkeypatch.setenv("PGUSER", "locked")
    with pytest.raises(InputError, match="refuses the login"):
        read_query(who)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert read_query(who).item() == "locked"
    monkeypatch.delenv("PGPASSWORD")
    (tmp_path / "pass").write_text(f"*:*:*:locked:{PASSWORD}\n")
    (tmp_path / "pass").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pass"))
    assert read_query(who).item() == "locked"
    (tmp_path / "services").write_text(f"[ward]\nhost={clinic.socket}\nuser=reader\ndbname=clinic\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    monkeypatch.setenv("PGSERVICE", "ward")
    for name in ("PGUSER", "PGHOST", "PGPASSFILE"):
        monkeypatch.delenv(name)
    assert read_query(Query.of("postgresql://", "SELECT current_user::text AS a")).item() == "reader"


_MEASURE = """
import resource
from incrowd.tables.databases.tables import Query
from incrowd.tables.databases.reading import read_query, stream_query

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

rows = "SELECT i, repeat('x', 100) || i AS a FROM generate_series(1, {}) i"
read_query(Query.of("postgresql:///clinic", rows.format(10)))
before = peak()
seen = sum(frame.height for frame in stream_query(Query.of("postgresql:///clinic", rows.format(4000000)), rows=65536))
print(seen, peak() - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(clinic):
    done = subprocess.run([sys.executable, "-c", _MEASURE], capture_output=True, text=True, check=True, env=os.environ)
    rows, megabytes = map(int, done.stdout.split())
    assert rows == 4_000_000
    assert megabytes < 200  # the rows are 460 MB
