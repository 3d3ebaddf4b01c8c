"""Servers that are down, connections that die, queries that want to write, names that are SQL; no secret is told."""

import os
import signal
import subprocess
import sys
import threading
import traceback
from contextlib import contextmanager, suppress

import polars as pl
import pytest

import incrowd
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import IncrowdError, InputError, MissingPackageError, OutputError
from incrowd.tables.databases.reading import fetch_query, read_query, stream_query
from incrowd.tables.databases.session import Session
from incrowd.tables.databases.tables import Address, Query
from incrowd.tables.databases.writing import StagedTable, check_table, staged_table
from support.postgresql_server import HOST, PASSWORD, USER, clinic, server, written_back
from support.waiting import wait_until

__all__ = ["clinic", "server"]
RELEASE = Address.parse("postgresql:///clinic?table=release")
SMALL = pl.DataFrame({"age": [39, 7], "job": ["nurse", "cook"]})
CANARIES = (USER, PASSWORD, HOST, "canary", "locked", "reader")
OTHERS = "FROM pg_stat_activity WHERE datname = 'clinic' AND pid <> pg_backend_pid()"
KILL = f"SELECT pg_terminate_backend(pid) {OTHERS}"


@contextmanager
def refused(kind, match):
    """An error of ours that says nothing it should not, in its words or its trace."""
    with pytest.raises(IncrowdError, match=match) as told:
        yield
    assert type(told.value) is kind
    shown = "".join(traceback.format_exception_only(told.value)) + repr(told.value)
    assert not [canary for canary in CANARIES if canary in shown]
    assert told.value.__suppress_context__ or told.value.__context__ is None


def put(frame=SMALL, address=RELEASE, **options):
    with staged_table(address, **options) as staged:
        staged.write([frame])
        written_back(staged).read_all()


def nobody_else(clinic):
    """Whether all other connections have ended; the server needs a moment to notice."""
    return clinic.sql(f"SELECT count(*) {OTHERS}") == [(0,)]


def asked(query):
    return read_query(Query.of("postgresql:///clinic", query))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql:///nodb?table=t", "has no such database"),
        ("postgresql://canary@/clinic?table=t", "refuses the login"),
        ("postgresql:///clinic?user=locked&table=t", "refuses the login"),
        ("postgresql://canary.invalid/clinic?table=t", "nobody knows its host"),
        ("postgresql:///clinic?host=/nowhere/canary&table=t", "cannot be reached"),
        ("postgresql://127.0.0.1:1/clinic?table=t", "cannot be reached"),
        ("postgresql:///clinic?canary=1&table=t", "cannot be addressed like this"),
        ("postgresql:///?service=canary&table=t", "no such service"),
        ("postgresql://host:canary/clinic?table=t", "cannot be addressed like this"),
    ],
)
def test_a_connection_that_fails_is_explained(address, message, clinic):
    with refused(InputError, f"(?s)Reading from PostgreSQL failed: the server .*{message}.*PGHOST"):
        read_query(Query.of(address))
    with refused(OutputError, f"(?s)Writing to PostgreSQL failed: the server .*{message}.*No table was written"):
        put(address=Address.parse(address))


def test_a_wrong_password(clinic, monkeypatch):
    monkeypatch.setenv("PGUSER", "locked")
    monkeypatch.setenv("PGPASSWORD", f"{PASSWORD}-wrong")
    with refused(InputError, "refuses the login"):
        asked("SELECT 1 AS a")


def test_a_server_that_is_down(clinic):
    clinic.stop()
    try:
        with refused(InputError, "cannot be reached.*Check that it runs"):
            asked("SELECT 1 AS a")
    finally:
        clinic.start()
    assert asked("SELECT 1 AS a").item() == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 AS a; SELECT 2",
        "SELECT 1 AS a;",
        "SELECT 1) AS x; DROP TABLE victim; SELECT * FROM (SELECT 1",
        "SELECT 1) TO STDOUT; DROP TABLE victim; --",
        "SELECT 1 /*",
        "SELECT 'canary",
        "COMMIT",
        "DROP TABLE victim",
        "DELETE FROM victim RETURNING *",
        "INSERT INTO victim VALUES ('canary') RETURNING *",
        "UPDATE victim SET a = 'x' RETURNING *",
        "WITH gone AS (DELETE FROM victim RETURNING *) SELECT * FROM gone",
        "SELECT a INTO stolen FROM victim",
        "COPY victim TO STDOUT",
        "CALL nothing()",
        "EXPLAIN ANALYZE DELETE FROM victim",
        "SHOW ALL",
        "",
        "-- only a comment",
        "canary",
    ],
)
def test_only_a_single_select_is_run(query, clinic):
    clinic.sql("CREATE TABLE victim AS SELECT 'canary' AS a")
    with refused(InputError, "Reading from PostgreSQL failed: the query (is not one SELECT|does something)"):
        asked(query)
    assert clinic.sql("SELECT a FROM victim") == [("canary",)]
    assert clinic.tables() == {"victim"}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT takes() AS a",
        "SELECT nextval('counter') AS a",
        "SELECT a FROM victim FOR UPDATE",
        "SELECT set_config('transaction_read_only', 'off', true) AS a, takes() AS b",
    ],
)
def test_a_select_that_writes_is_refused_by_the_transaction(query, clinic):
    clinic.sql("CREATE TABLE victim AS SELECT 'canary' AS a")
    clinic.sql("CREATE SEQUENCE counter")
    clinic.sql("CREATE FUNCTION takes() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM victim; RETURN 1; END $$")
    with refused(InputError, "(wants to change the database|broke off|refused)"):
        asked(query)
    assert clinic.sql("SELECT count(*) FROM victim") == [(1,)]


def test_a_mistake_in_a_query_is_located_but_not_repeated(clinic):
    clinic.sql("CREATE TABLE t (a int)")
    with refused(InputError, "near character 17 of the query"):
        asked("SELECT a canary b FROM t")
    with refused(InputError, "a column does not exist.*near character 8 of"):
        asked("SELECT canary FROM t")
    with refused(InputError, "a table does not exist"):
        asked("SELECT a FROM canary")
    with refused(InputError, "a table does not exist"):
        read_query(Query.of("postgresql:///clinic?table=nothing"))
    with refused(InputError, "broke off"):
        asked("SELECT a::int AS a FROM (VALUES ('1'), ('canary')) AS v(a)")
    with refused(InputError, "broke off"):
        asked("SELECT 1 / (3 - i) AS a FROM generate_series(1, 5) i")


def test_what_the_server_lets_a_reader_do_is_undone_at_the_end(clinic):
    """Large objects may be made in transactions that only read, in servers before version 16."""
    with suppress(InputError):
        asked("SELECT lo_create(4711)::int8 AS a")
    assert clinic.sql("SELECT count(*) FROM pg_largeobject_metadata") == [(0,)]


def test_a_limit_of_time(clinic):
    clinic.sql("ALTER ROLE reader SET statement_timeout = 300")
    try:
        with refused(InputError, "took longer than the server allows|limit of time"):
            read_query(Query.of("postgresql:///clinic?user=reader", "SELECT 1 AS a FROM pg_sleep(9)"))
    finally:
        clinic.sql("ALTER ROLE reader RESET ALL")


def test_permission_denied_names_no_account(clinic, monkeypatch):
    clinic.sql("CREATE TABLE secret (a int)")
    clinic.sql("CREATE TABLE release (a int)")
    monkeypatch.setenv("PGUSER", "reader")
    with refused(InputError, "not allowed to. It needs the right to SELECT"):
        read_query(Query.of("postgresql:///clinic?table=secret"))
    for attempt in (put, lambda: check_table(RELEASE)):
        with refused(OutputError, "not allowed to. It needs the right to CREATE"):
            attempt()
    clinic.sql("GRANT CREATE ON SCHEMA public TO reader")
    with refused(OutputError, "not allowed to"):
        put(replace=True)
    clinic.sql("ALTER ROLE reader SET default_transaction_read_only = on")
    try:
        with refused(OutputError, "set to read only"):
            put(address=RELEASE.at("other"))
    finally:
        clinic.sql("ALTER ROLE reader RESET ALL")
    assert clinic.tables() == {"secret", "release"}


NAMES = [
    'a"; DROP TABLE victim; --',
    "a'; DROP TABLE victim; --",
    'a" (x int); DROP TABLE victim; --',
    "a);DROP TABLE victim;--",
    "a\\",
    "$1",
    "%s %(x)s {0}",
    "select",
    "Äö ü",
    "a\nb\tc",
    "x" * 63,
]


@pytest.mark.each(3)
@pytest.mark.parametrize("name", NAMES)
def test_names_are_names_and_never_sql(name, clinic):
    clinic.sql("CREATE TABLE victim AS SELECT 'here' AS a")
    quoted = '"' + name.replace('"', '""') + '"'
    frame = pl.DataFrame({name: ["a", "b"], "b": [1, 2]})
    place = RELEASE.at(f"public.{quoted}")
    put(frame, place)
    put(frame, place, replace=True)
    assert clinic.tables() == {"victim", name}
    assert read_query(Query.of(Address.parse("postgresql:///clinic").at(quoted))).equals(frame)
    clinic.sql(f"CREATE SCHEMA {quoted}")
    put(frame, RELEASE.at(f"{quoted}.t"))
    assert read_query(Query.of(RELEASE.at(f"{quoted}.t"))).equals(frame)
    clinic.sql(f"DROP SCHEMA {quoted} CASCADE")


def pieces(then):
    """Rows enough to be on their way, and then something happens."""
    for part in range(6):
        yield pl.DataFrame({"a": range(50000)}).with_columns(b=pl.lit("x" * 50))
        if part == 2:
            then()


@pytest.mark.parametrize("old", [False, True])
def test_a_connection_that_dies_between_the_rows_leaves_no_table(old, clinic):
    if old:
        put()

    def die():
        clinic.sql(KILL)
        wait_until(lambda: nobody_else(clinic))

    with refused(OutputError, "connection was lost"), staged_table(RELEASE, replace=True) as staged:
        staged.write(pieces(die))
    assert clinic.tables() == ({"release"} if old else set())
    if old:
        assert read_query(Query.of(RELEASE)).equals(SMALL)
    put(replace=True)


def test_a_connection_that_dies_while_it_is_verified_leaves_no_table(clinic, tmp_path):
    with refused(OutputError, "connection|ended"), staged_table(RELEASE) as staged:
        staged.write([SMALL])
        written_back(staged).read_all()
        clinic.sql(KILL)
        staged.save(tmp_path / "back.parquet")
    assert clinic.tables() == set()
    with refused(OutputError, "connection|ended"), staged_table(RELEASE) as staged:
        staged.write([SMALL])
        written_back(staged).read_all()
        clinic.sql(KILL)
    assert clinic.tables() == set()


def test_a_commit_that_is_not_confirmed_is_not_called_a_failure(clinic, monkeypatch):
    publish = StagedTable.publish

    def last_moment(self, *, replacing):
        publish(self, replacing=replacing)
        clinic.sql(KILL)

    monkeypatch.setattr(StagedTable, "publish", last_moment)
    with refused(OutputError, "did not confirm.*Look whether the table is there"):
        put()
    assert clinic.tables() == set()


def test_a_connection_that_dies_while_reading(clinic, tmp_path):
    query = Query.of("postgresql:///clinic", "SELECT i, repeat('x', 500) AS a FROM generate_series(1, 400000) i")
    with refused(InputError, "connection|ended"):
        for _frame in stream_query(query, rows=1000):
            clinic.sql(KILL)
    with refused(InputError, "connection|ended"):
        fetch_query(query, tmp_path, lambda _rows: clinic.sql(KILL))


def test_an_error_of_the_rows_is_the_error_of_the_writing(clinic):
    def fails():
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"), staged_table(RELEASE) as staged:
        staged.write(pieces(fails))
    with suppress(KeyError), staged_table(RELEASE) as staged:
        staged.write([SMALL])
        raise KeyError
    assert clinic.tables() == set()


def test_two_runs_do_not_write_the_same_table(clinic):
    with staged_table(RELEASE) as staged:
        staged.write([SMALL])
        written_back(staged).read_all()
        with refused(OutputError, "Another run is writing"):
            put()
        put(address=RELEASE.at("other"))
    assert clinic.tables() == {"release", "other"}


def test_a_table_that_somebody_else_makes_meanwhile(clinic):
    with refused(OutputError, "exists by now"), staged_table(RELEASE) as staged:
        staged.write([SMALL])
        written_back(staged).read_all()
        clinic.sql("CREATE TABLE release AS SELECT 'theirs' AS a")
    assert clinic.sql("SELECT a FROM release") == [("theirs",)]


def test_a_table_that_somebody_is_reading_is_not_waited_for_ever(clinic, monkeypatch):
    put()
    monkeypatch.setattr("incrowd.tables.databases.writing._SETTINGS", ("SET LOCAL lock_timeout = '200ms'",))
    reading = stream_query(
        Query.of("postgresql:///clinic", "SELECT a.* FROM release a, generate_series(1, 900000)"), 10
    )
    next(reading)
    with refused(OutputError, "somebody is using the old table"):
        put(replace=True)
    reading.close()
    put(replace=True)


class Interrupted(BaseException):
    """What a signal raises."""


@contextmanager
def signalled(number, clinic, word):
    """A signal comes while the server works on a command with this word in it."""

    def stop(_number, _frame):
        raise Interrupted

    def send():
        wait_until(lambda: clinic.sql(f"SELECT count(*) {OTHERS} AND state = 'active' AND query ~ '{word}'") != [(0,)])
        os.kill(os.getpid(), number)

    before = signal.signal(number, stop)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(Interrupted):
            yield
    finally:
        sender.join()
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gets_through_while_the_server_works(number, clinic):
    """Else the server would sleep for longer than anybody waits here."""
    with signalled(number, clinic, "pg_sleep"):
        asked("SELECT 1 AS a FROM pg_sleep(3600)")
    wait_until(lambda: nobody_else(clinic))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gets_through_while_rows_are_written(number, clinic):
    def endless():
        while True:
            yield pl.DataFrame({"a": range(10000)})

    with signalled(number, clinic, "COPY"), staged_table(RELEASE) as staged:
        staged.write(endless())
    assert clinic.tables() == set()


def test_a_stream_that_somebody_still_holds_is_ended_with_its_session(clinic):
    many = pl.DataFrame({"i": range(400000)}).with_columns(text=pl.lit("x" * 100))
    with refused(OutputError, "nothing vouches"), staged_table(RELEASE) as staged:
        staged.write([many])
        held = written_back(staged)
        held.read_next_batch()
    assert clinic.tables() == set()
    put()


_KILLED = """
import os, signal
import polars as pl
import pyarrow as pa
from incrowd.tables.databases.tables import Address
from incrowd.tables.databases.writing import staged_table

def rows():
    yield pl.DataFrame({"a": range(200000)})
    if MOMENT == "between rows":
        os.kill(os.getpid(), signal.SIGKILL)

with staged_table(Address.parse("postgresql:///clinic?table=release"), replace=True) as staged:
    staged.write(rows())
    pa.RecordBatchReader.from_batches(*staged._rows()).read_all()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["between rows", "before the end"])
def test_a_killed_process_leaves_the_old_table(moment, clinic):
    put()
    code = f"MOMENT = {moment!r}\n{_KILLED}"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    wait_until(lambda: nobody_else(clinic))
    assert clinic.tables() == {"release"}
    assert read_query(Query.of(RELEASE)).equals(SMALL)
    put(replace=True)


def test_a_server_that_cannot_store_a_character(clinic):
    clinic.sql("DROP DATABASE IF EXISTS latin")
    clinic.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    latin = Address.parse("postgresql:///latin?table=release")
    with refused(OutputError, "encoding of the database does not have"):
        put(pl.DataFrame({"a": ["Ω-canary"]}), latin)
    put(pl.DataFrame({"a": ["é"]}), latin)
    assert read_query(Query.of(latin)).item() == "é"


def test_fewer_rows_than_were_sent_are_noticed(clinic, monkeypatch):
    monkeypatch.setattr(Session, "copy_in", lambda self, table, reader: len(reader.read_all()) - 1)
    with refused(OutputError, "took 1 of 2 rows"):
        put()
    assert clinic.tables() == set()


def test_the_driver_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(MissingPackageError, match="needs the package 'adbc_driver_postgresql'"):
        read_query(Query.of("postgresql:///clinic?table=t"))


def test_no_secret_reaches_plan_report_or_certificate(clinic, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    put(make_patients(500), RELEASE.at("patients"))
    address = f"postgresql://{USER}@/clinic?host={clinic.socket}&table=patients"
    files = {name: tmp_path / name for name in ("out.csv", "plan.json", "report.html")}
    incrowd.release(
        fetch_query(Query.of(address), tmp_path),
        quasi_identifiers=["age", "sex"],
        target="readmitted",
        to=files["out.csv"],
        outputs=incrowd.Outputs(plan=files["plan.json"], report=files["report.html"]),
    )
    written = [*files.values(), tmp_path / "out.csv.certificate.json", tmp_path / "rows.parquet"]
    for path in written:
        content = path.read_bytes()
        assert not [canary for canary in CANARIES if canary.encode() in content], path.name


def test_nothing_is_printed(clinic, capfd):
    with refused(InputError, "not one SELECT"):
        asked("canary")
    with refused(OutputError, "connection|ended"), staged_table(RELEASE) as staged:
        staged.write([SMALL])
        written_back(staged).read_all()
        clinic.sql(KILL)
    with refused(InputError, "no such database"):
        read_query(Query.of("postgresql:///nodb?table=t"))
    assert capfd.readouterr() == ("", "")
