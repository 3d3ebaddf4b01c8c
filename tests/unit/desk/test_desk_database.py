"""Tables of databases at the desk: of PostgreSQL, of a file; and two tables that are released together."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from support.postgresql_server import HOST, USER, Server, clinic, server
from unit.desk.conftest import Browser

__all__ = ["clinic", "server"]
ADDRESS = "postgresql:///clinic?table=people"


@pytest.mark.slow
def test_a_table_of_a_server_is_read_and_released(clinic: Server, browser: Browser, folder: Path) -> None:
    people = [(20 + number % 40, "fm"[number % 2], "yn"[number % 3 == 0]) for number in range(120)]
    clinic.sql("CREATE TABLE people (age integer, sex text, ill text)")
    clinic.sql(f"INSERT INTO people VALUES {', '.join(map(str, people))}")
    assert browser.post("/address", {"table": ADDRESS}).status_code == 200
    assert "<dd>120</dd>" in browser.settled("/data", table=ADDRESS)
    roles = {"role:0": "quasi-identifier", "role:1": "quasi-identifier", "role:2": "target"}
    browser.post("/columns", {"table": ADDRESS, **roles})
    browser.post("/promise", {"table": ADDRESS, "k": "3", "class_sensitive": "no"})
    assert "Nothing speaks against this promise" in browser.settled("/promise", table=ADDRESS)
    page = browser.done(browser.post("/release", {"table": ADDRESS, "format": ".csv"}))
    assert "See the result" in page
    assert (folder / "releases" / "people-1" / "recipient" / "people.csv").is_file()
    pages = [page, browser.get("/history").text, browser.get("/data", table=ADDRESS).text]
    assert not [text for text in pages if USER in text or HOST in text]


def put_clinic(path: Path) -> None:
    """Persons and their stays, in a file of SQLite or DuckDB."""
    draw = random.Random(5)
    persons = [(f"P{number:03d}", draw.choice("fm"), draw.randint(1940, 1990)) for number in range(200)]
    stays = [
        (one[0], draw.choice("xy"), draw.choice(["yes", "no"])) for one in persons for _ in range(draw.randint(1, 2))
    ]
    connected = closing(sqlite3.connect(path)) if path.suffix == ".db" else duckdb.connect(str(path))
    with connected as connection:
        connection.execute("CREATE TABLE persons (id TEXT, sex TEXT, born INTEGER)")
        connection.execute("CREATE TABLE stays (id TEXT, ward TEXT, ill TEXT)")
        connection.executemany("INSERT INTO persons VALUES (?, ?, ?)", persons)
        connection.executemany("INSERT INTO stays VALUES (?, ?, ?)", stays)
        connection.commit()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clinic.db", "clinic.duckdb"])
def test_two_tables_of_a_file_are_released_together(browser: Browser, folder: Path, name: str) -> None:
    """Each is decided on by itself; then they appear together, by the command that the page shows."""
    put_clinic(folder / name)
    tables = browser.settled("/data", table=f"0/{name}")
    assert "Which table of" in tables
    persons, stays = f"0/{name}?table=persons", f"0/{name}?table=stays"
    for table, roles, rows in (
        (persons, ("identifier", "quasi-identifier", "quasi-identifier"), 200),
        (stays, ("identifier", "quasi-identifier", "target"), None),
    ):
        page = browser.settled("/data", table=table)
        assert rows is None or f"<dd>{rows}</dd>" in page
        browser.settled("/columns", table=table)
        browser.post("/columns", {"table": table, **{f"role:{place}": role for place, role in enumerate(roles)}})
        browser.post("/promise", {"table": table, "k": "3", "class_sensitive": "no" if table == stays else ""})
    offer = browser.settled("/release", table=persons)
    assert f"<option>{name}?table=stays</option>" in offer
    wrong = browser.post("/release", {"table": persons, "format": ".csv", "with_table": f"{name}?table=stays"}).text
    assert "Choose under “Key column”" in wrong
    asked = {"table": persons, "format": ".csv", "with_table": f"{name}?table=stays", "key_column": "id"}
    page = browser.done(browser.post("/release", asked))
    assert "See the result" in page, page
    made = folder / "releases" / "persons-1" / "recipient"
    both = {"persons.csv", "persons.stays.csv"}
    assert {one.name for one in made.iterdir()} == both | {f"{one}.certificate.json" for one in both}
    result = browser.get("/result", file="0/releases/persons-1/recipient/persons.csv.certificate.json").text
    assert "persons.stays.csv" in result
    assert "counted in persons" in result


@pytest.mark.parametrize(
    "way", ["../clinic.db?table=persons", "link.db?table=persons", "clinic.db?table=../x", "clinic.db?table="]
)
def test_a_database_is_one_of_the_folder(browser: Browser, folder: Path, way: str) -> None:
    put_clinic(folder.parent / "clinic.db")
    (folder / "link.db").symlink_to(folder.parent / "clinic.db")
    for path in ("/data", "/columns", "/release"):
        answer = browser.get(path, table=f"0/{way}")
        assert answer.status_code in range(400, 500), path
        assert "P000" not in answer.text


def test_a_file_that_is_no_database_is_told(browser: Browser, folder: Path) -> None:
    (folder / "clinic.db").write_text("age\n1\n", encoding="utf-8")
    assert "clinic.db" in browser.settled("/data", table="0/clinic.db")
    assert 'role="alert"' in browser.settled("/data", table="0/clinic.db")
