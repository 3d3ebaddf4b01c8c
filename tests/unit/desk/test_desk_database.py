"""A table of PostgreSQL at the desk."""

from __future__ import annotations

from pathlib import Path

from support.postgresql_server import HOST, USER, Server, clinic, server
from unit.desk.conftest import Browser

__all__ = ["clinic", "server"]
ADDRESS = "postgresql:///clinic?table=people"


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
