"""A desk without a server: the application, the browser that entered it, and a folder with a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from incrowd.desk.app import Desk, make_app
from incrowd.desk.project import Project
from incrowd.desk.security import Gate
from support.waiting import wait_until

PORT = 4711
ORIGIN = f"http://127.0.0.1:{PORT}"


class Browser:
    """A browser that has entered the desk."""

    def __init__(self, desk: Desk, client: TestClient) -> None:
        self.desk, self.client = desk, client

    def enter(self) -> None:
        self.client.get(f"/enter?token={self.desk.gate.new_token()}")

    def get(self, path: str, **query: str) -> Any:
        return self.client.get(path, params=query, headers={"sec-fetch-site": "same-origin"})

    def post(self, path: str, fields: dict[str, Any] | None = None, **changes: str) -> Any:
        headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin", **changes}
        return self.client.post(path, data={"csrf": self.desk.gate.csrf, **(fields or {})}, headers=headers)

    def upload(self, name: str, content: bytes, **fields: str) -> Any:
        return self.client.post(
            "/upload",
            data={"csrf": self.desk.gate.csrf, **fields},
            files={"file": (name, content)},
            headers={"origin": ORIGIN, "sec-fetch-site": "same-origin"},
        )

    def settled(self, path: str, **query: str) -> str:
        """The page, when it no longer waits for a fact."""
        pages: list[str] = []

        def is_there() -> bool:
            pages.append(self.get(path, **query).text)
            return "data-again" not in pages[-1]

        wait_until(is_there)
        return pages[-1]

    def done(self, answer: Any) -> str:
        """The page of a job that was started, when the job has ended."""
        number = re.search(r"number=(\d+)", str(answer.url))
        assert number is not None, answer.text
        wait_until(lambda: not self.get("/job/state", number=number[1]).json()["live"])
        page: str = self.get("/job", number=number[1]).text
        return page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    rows = "".join(
        f"{20 + number % 40},{'fm'[number % 2]},{number % 7},{'yn'[number % 3 == 0]}\n" for number in range(200)
    )
    (place / "people.csv").write_text(f"age,sex,ward,ill\n{rows}", encoding="utf-8")
    (tmp_path / "secret.csv").write_text("name\nsecret\n", encoding="utf-8")
    return place


@pytest.fixture
def browser(folder: Path) -> Iterator[Browser]:
    project = Project(folder)
    with project.opened():
        desk = Desk(project, Gate(PORT))
        with TestClient(make_app(desk), base_url=ORIGIN, raise_server_exceptions=False) as client:
            browser = Browser(desk, client)
            browser.enter()
            yield browser
            assert client.portal is not None
            client.portal.call(desk.close)
