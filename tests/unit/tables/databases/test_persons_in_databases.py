"""Persons with several rows from and to databases: the same promise, counted on what the server then has."""

import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd.cli.main import app
from incrowd.errors import SchemaError
from incrowd.tables.databases import Query
from incrowd.tables.databases.reading import read_query
from incrowd.tables.databases.tables import Address
from incrowd.tables.databases.writing import staged_table
from support.postgresql_server import written_back

VISITS, RELEASE = "postgresql:///clinic?table=visits", "postgresql:///clinic?table=release"
QUASI_IDENTIFIERS, ROWS, K = ["age", "sex", "ward"], 900, 5
ASKED = {"quasi_identifiers": QUASI_IDENTIFIERS, "target": "ill", "private": ["line"], "class_sensitive": False, "k": K}


def visits():
    draw = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "patient_id": draw.integers(0, 200, ROWS),
            "age": draw.integers(18, 90, ROWS),
            "sex": draw.choice(["f", "m"], ROWS),
            "ward": draw.choice(["north", "south", None], ROWS),
            "line": np.arange(ROWS),
            "ill": draw.choice(["y", "n"], ROWS),
        }
    )


def fewest_persons(released):
    whose = visits().select("line", "patient_id")
    classes = released.with_columns(pl.col("line").cast(pl.Int64)).join(whose, on="line").group_by(QUASI_IDENTIFIERS)
    return classes.agg(pl.col("patient_id").n_unique())["patient_id"].min()


@pytest.fixture(params=["in memory", "in blocks"])
def held(request, monkeypatch):
    monkeypatch.setattr("incrowd.rows.one_machine._CELLS", 0 if request.param == "in blocks" else 10**9)
    monkeypatch.setattr("incrowd.rows.blocks.held.block_rows", lambda *_: 200)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kactus-plus", "infogain-mondrian"])
def test_from_a_table_to_a_table(clinic, place, held, method):
    with staged_table(Address.parse(VISITS)) as staged:
        staged.write([visits()])
        written_back(staged).read_all()
    options = ["--person", "patient_id", "-q", ",".join(QUASI_IDENTIFIERS), "--target", "ill", "--private", "line"]
    asked = [*options, "-k", str(K), "--method", method, "--class-sensitive", "no"]
    outcome = CliRunner().invoke(app, ["release", VISITS, *asked, "--to", RELEASE])
    assert outcome.exit_code == 0, outcome.output
    released = read_query(Query.of(RELEASE))
    assert "patient_id" not in released.columns
    assert released.height == ROWS
    assert fewest_persons(released) >= K


@pytest.fixture(params=["sqlite", "duckdb"])
def file(request, place):
    """A file of a database with the visits."""
    rows = visits()
    path = place / f"clinic.{request.param}"
    if request.param == "sqlite":
        with closing(sqlite3.connect(path)) as database:
            database.execute(f"CREATE TABLE visits ({', '.join(rows.columns)})")
            database.executemany(f"INSERT INTO visits VALUES ({','.join('?' * rows.width)})", rows.rows())
            database.commit()
    else:
        with duckdb.connect(str(path)) as database:
            database.execute("CREATE TABLE visits AS SELECT * FROM rows")
    return f"{path}?table=visits"


def test_from_a_file_of_a_database(file, place, held):
    released = incrowd.release(file, **ASKED, person="patient_id", method="mondrian", to=place / "out.parquet")
    assert fewest_persons(pl.read_parquet(place / "out.parquet")) == released.verdict.sizes.persons.smallest >= K


def test_rows_of_a_database_without_a_person_are_refused(place, held):
    path = place / "clinic.duckdb"
    with duckdb.connect(str(path)) as database:
        rows = visits()  # noqa: F841, DuckDB finds it by its name
        database.execute("CREATE TABLE visits AS SELECT * REPLACE (nullif(patient_id, 7) AS patient_id) FROM rows")
    with pytest.raises(SchemaError, match="no person in 'patient_id'"):
        incrowd.release(f"{path}?table=visits", **ASKED, person="patient_id", method="mondrian")
