"""Attacks on the desk, each by its script: none succeeds."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import io
import math
import os
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from starlette.websockets import WebSocketDisconnect

from incrowd.desk import asking, security, uploads
from incrowd.desk.jobs import MOST_WAITING, JobLine
from incrowd.desk.security import Gate, Guard
from unit.desk.conftest import ORIGIN, PORT, Browser

REFUSED = range(400, 500)


def test_there_are_eighty_attacks_at_least() -> None:
    """Each case of each test of this file is one script; whoever narrows them notices."""
    tests = [one for name, one in globals().items() if name.startswith("test_") and "eighty" not in name]
    marks = [[mark for mark in getattr(one, "pytestmark", ()) if mark.name == "parametrize"] for one in tests]
    assert sum(math.prod(len(list(mark.args[1])) for mark in own) for own in marks) >= 80


def is_untouched(folder: Path) -> bool:
    """Whether nothing but the table and the private place of the desk is there."""
    return {one.name for one in folder.iterdir()} == {"people.csv", ".incrowd-desk"}


# names that were bound to this machine, and other addresses of it

HOSTS = (
    *("evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", f"localhost.evil.example:{PORT}"),
    *(f"127.0.0.1:{PORT}.evil.example", f"0.0.0.0:{PORT}", f"[::1]:{PORT}", f"user@127.0.0.1:{PORT}", f"127.1:{PORT}"),
    *(f"2130706433:{PORT}", f"LOCALHOST:{PORT}", f"127.0.0.1.:{PORT}", "", f"127.0.0.1:{PORT},evil.example"),
)


@pytest.mark.parametrize("host", HOSTS)
def test_only_its_own_address(browser: Browser, host: str) -> None:
    answer = browser.client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "people.csv" not in answer.text


# other pages


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
@pytest.mark.parametrize("path", ["/", "/data?table=0/people.csv", "/static/desk.js"])
def test_other_pages_may_not_look(browser: Browser, site: str, path: str) -> None:
    assert browser.client.get(path, headers={"sec-fetch-site": site}).status_code == 403


ORIGINS = (
    *(None, "null", "", "http://evil.example", f"http://evil.example:{PORT}", "http://127.0.0.1:80"),
    *(f"https://127.0.0.1:{PORT}", f"http://localhost:{PORT}", f"{ORIGIN}.evil.example", f"{ORIGIN}/", "file://"),
)


@pytest.mark.parametrize("origin", ORIGINS)
def test_other_pages_may_not_change(browser: Browser, folder: Path, origin: str | None) -> None:
    headers = {"sec-fetch-site": "same-origin", **({} if origin is None else {"origin": origin})}
    body = {"csrf": browser.desk.gate.csrf, "demo": "patients"}
    assert browser.client.post("/demo", data=body, headers=headers).status_code == 403
    assert is_untouched(folder)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_a_change_comes_from_a_page_of_the_desk(browser: Browser, folder: Path, site: str) -> None:
    assert browser.post("/demo", {"demo": "patients"}, **{"sec-fetch-site": site}).status_code == 403
    assert is_untouched(folder)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_no_other_methods(browser: Browser, method: str) -> None:
    assert browser.client.request(method, "/").status_code == 405


def test_no_sockets(browser: Browser) -> None:
    with pytest.raises(WebSocketDisconnect), browser.client.websocket_connect("/"):
        pass


# who has not entered

COOKIES = (
    "",
    "incrowd-desk-4711=",
    "incrowd-desk-4711=wrong",
    "incrowd-desk-4712={session}",
    "other={session}",
    "incrowd-desk-4711={half}",
    "incrowd-desk-4711={session}x",
    "incrowd-desk-4711={csrf}",
    "incrowd-desk-4711=é",
)


@pytest.mark.parametrize("cookie", COOKIES)
def test_only_the_browser_that_entered(browser: Browser, cookie: str) -> None:
    gate = browser.desk.gate
    browser.client.cookies.clear()
    text = cookie.format(session=gate.session, half=gate.session[:20], csrf=gate.csrf)
    answer = browser.client.get("/", headers={"cookie": text.encode()})
    assert answer.status_code == 403
    assert "people.csv" not in answer.text


def test_a_token_opens_once(browser: Browser) -> None:
    browser.client.cookies.clear()
    token = browser.desk.gate.new_token()
    first = browser.client.get(f"/enter?token={token}", follow_redirects=False)
    assert first.status_code == 303
    assert {"HttpOnly", "SameSite=strict"} <= set(first.headers["set-cookie"].split("; "))
    browser.client.cookies.clear()
    again = browser.client.get(f"/enter?token={token}", follow_redirects=False)
    assert again.status_code == 403
    assert "set-cookie" not in again.headers


@pytest.mark.parametrize(
    "query", ["", "token=", "token=wrong", "token=wrong&token=wrong", "Token={token}", "token={token}%00"]
)
def test_no_other_token_opens(browser: Browser, query: str) -> None:
    browser.client.cookies.clear()
    query = query.format(token=browser.desk.gate.new_token())
    answer = browser.client.get(f"/enter?{query}", follow_redirects=False)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_new_token_makes_the_old_one_void(browser: Browser) -> None:
    old = browser.desk.gate.new_token()
    browser.desk.gate.new_token()
    assert browser.client.get(f"/enter?token={old}", follow_redirects=False).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-incrowd-key": "wrong"},
        {"x-incrowd-key": "{key}", "sec-fetch-site": "cross-site"},
        {"x-incrowd-key": "{key}", "origin": ORIGIN},
    ],
)
def test_pages_and_strangers_get_no_new_token(browser: Browser, headers: dict[str, str]) -> None:
    browser.client.cookies.clear()
    own = {name: text.format(key=browser.desk.gate.key) for name, text in headers.items()}
    assert browser.client.post("/again", headers=own).status_code == 403


def test_whoever_reads_the_private_file_gets_a_new_token(browser: Browser) -> None:
    token = browser.client.post("/again", headers={"x-incrowd-key": browser.desk.gate.key}).text
    assert browser.client.get(f"/enter?token={token}", follow_redirects=False).status_code == 303


# forms that the desk did not write


def posts(browser: Browser) -> list[str]:
    return [route.path for route in browser.client.app.app.routes if "POST" in route.methods]  # type: ignore[attr-defined]


def test_every_change_needs_the_token_of_a_page(browser: Browser, folder: Path) -> None:
    assert len(posts(browser)) >= 17
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
    for path in posts(browser):
        for token in (None, "", "wrong", browser.desk.gate.session):
            fields = {"table": "0/people.csv", "demo": "patients", **({} if token is None else {"csrf": token})}
            files = {"file": ("a.csv", b"a\n1\n")} if path == "/upload" else None
            answer = browser.client.post(path, data=fields, files=files, headers=headers)
            assert answer.status_code == 403, (path, token)
    assert is_untouched(folder)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b'{"csrf": "{csrf}", "demo": "patients"}'),
        ("text/plain", b"csrf={csrf}&demo=patients"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n{csrf}\r\n--x--\r\n',
        ),
        ("", b"csrf={csrf}&demo=patients"),
        ("application/x-www-form-urlencoded", b"csrf={csrf}&demo=%ff%fe"),
        ("application/x-www-form-urlencoded", b"csrf={csrf};demo=patients"),
    ],
)
def test_only_forms_change(browser: Browser, folder: Path, kind: str, body: bytes) -> None:
    body = body.replace(b"{csrf}", browser.desk.gate.csrf.encode())
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin", "content-type": kind}
    assert browser.client.post("/demo", content=body, headers=headers).status_code in REFUSED
    assert is_untouched(folder)


def test_the_token_counts_in_the_form_only(browser: Browser, folder: Path) -> None:
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
    query = f"/demo?csrf={browser.desk.gate.csrf}"
    assert browser.client.post(query, data={"demo": "patients"}, headers=headers).status_code == 403
    assert is_untouched(folder)


# ways out of the folder

WAYS = (
    *("../secret.csv", "0/../secret.csv", "0/./../secret.csv", "0/sub/../../secret.csv", "0//etc/hostname", "0/"),
    *("/etc/hostname", "file:///etc/hostname", "1/secret.csv", "-1/secret.csv", "00x/people.csv", "people.csv", "٠/x"),
    *("0/link.csv", "0/links/secret.csv", "0/loop.csv", "0/pipe.csv", "0/.incrowd-desk/desk.json", "0/.hidden.csv"),
    *("0/..\\secret.csv", "0/%2e%2e/secret.csv", "0/people.csv\0", "0/" + "a" * 3000, "0/people.csv/..", "0/sub"),
)


@pytest.fixture
def traps(folder: Path) -> Path:
    (folder / "sub").mkdir()
    (folder / ".hidden.csv").write_text("name\nsecret\n", encoding="utf-8")
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "links").symlink_to(folder.parent, target_is_directory=True)
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    os.mkfifo(folder / "pipe.csv")
    (folder / ".incrowd-desk").mkdir(mode=0o700)
    (folder / ".incrowd-desk" / "desk.json").write_text('{"key": "secret"}', encoding="utf-8")
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_out_of_the_folders(traps: Path, browser: Browser, way: str) -> None:
    for path in ("/data", "/people", "/columns", "/promise", "/method", "/release", "/hide", "/risk"):
        answer = browser.get(path, table=way)
        assert answer.status_code in REFUSED, path
        assert "secret" not in answer.text.replace("secret.csv", "")
    for path in ("/download", "/report", "/drawing", "/result", "/recipient"):
        assert browser.get(path, file=way).status_code in REFUSED, path
    assert browser.post("/release", {"table": way, "format": ".csv"}).status_code in REFUSED


@pytest.mark.parametrize(
    "name", ["../app.py", "%2e%2e%2fapp.py", "..%5capp.py", "app.py", "desk.js%00.css", "templates", ""]
)
def test_static_files_are_three(browser: Browser, name: str) -> None:
    assert browser.client.get(f"/static/{name}").status_code in REFUSED


@pytest.mark.parametrize("name", ["people.csv", "people.csv.recipe.yaml", "ledger/key", "keys/my.key"])
def test_only_what_the_desk_made_is_given_out(browser: Browser, folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("secret", encoding="utf-8")
    answer = browser.get("/download", file=f"0/{name}")
    assert answer.status_code == 403
    assert "secret" not in answer.text


@pytest.mark.parametrize("place", ["../secret.csv", "/etc/hostname", "links/secret.csv", "link.csv"])
def test_recipes_name_no_files_outside(traps: Path, browser: Browser, place: str) -> None:
    recipe = f'columns:\n  age: {{role: quasi-identifier, hierarchy: "{place}"}}\nk: 3\n'
    (traps / "people.csv.recipe.yaml").write_text(recipe, encoding="utf-8")
    answer = browser.post("/promise", {"table": "0/people.csv", "k": "4"})
    assert answer.status_code in REFUSED or "no such file" in answer.text
    assert "k: 3" in (traps / "people.csv.recipe.yaml").read_text(encoding="utf-8")
    offered = browser.post("/promise", {"table": "0/people.csv", "k": "4", "population": place})
    assert "k: 3" in (traps / "people.csv.recipe.yaml").read_text(encoding="utf-8")
    assert offered.status_code in (*REFUSED, 200)


@pytest.mark.parametrize(
    "recipe",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nk: *b\n",
        "!!python/object/apply:os.system ['touch owned']\n",
        "columns: !!python/name:os.system ''\n",
        "[" * 5000,
        "columns: [age]\n",
        "k: 5\nk: 2\n",
        "\x00",
        "columns: {age: 7}\n",
    ],
)
def test_recipes_that_were_made_to_harm(browser: Browser, folder: Path, recipe: str) -> None:
    (folder / "people.csv.recipe.yaml").write_text(recipe, encoding="utf-8")
    for path in ("/data", "/promise", "/method", "/release"):
        assert browser.get(path, table="0/people.csv").status_code in (*REFUSED, 200, 303)
    assert not (folder / "owned").exists()


# options that would be other options

INJECTED = (
    "--to=/tmp/owned",
    "--replace",
    "--ledger-key=/etc/hostname",
    "x --plan=y",
    "-k1",
    "$(touch owned)",
    "`id`",
    "a;b",
)


@pytest.mark.parametrize("text", INJECTED)
def test_a_value_is_never_an_option(browser: Browser, folder: Path, text: str) -> None:
    (folder / "people.csv.recipe.yaml").write_text(
        "columns:\n  age: {role: quasi-identifier}\nk: 3\n", encoding="utf-8"
    )
    answer = browser.post("/release", {"table": "0/people.csv", "format": ".csv", "responsible": text})
    [job] = browser.desk.jobs.all()
    assert f"--responsible={text}" in job.words
    assert [word for word in job.words if text in word] == [f"--responsible={text}"]
    assert answer.status_code == 200
    assert browser.post("/release", {"table": "0/people.csv", "format": text}).status_code == 400
    assert browser.post("/method", {"table": "0/people.csv", "method": text}).status_code == 400


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:password=x@h/d?table=t",
        "postgresql://h/d?table=t&password=x",
        "postgresql://" + "a" * 600,
        "postgresql://h/d\n?table=t",
    ],
)
def test_addresses_have_no_secrets(browser: Browser, address: str) -> None:
    assert browser.post("/address", {"table": address}).status_code in REFUSED


# too much, too long, too many


@pytest.mark.parametrize("length", ["99999999999", "-1", "abc", "1e9", "0x10", "٣"])
def test_lengths_are_believed_only_if_they_are_small(browser: Browser, folder: Path, length: str) -> None:
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/demo",
        "raw_path": b"/demo",
        "query_string": b"",
        "headers": [
            (b"host", f"127.0.0.1:{PORT}".encode()),
            (b"origin", ORIGIN.encode()),
            (b"cookie", f"{browser.desk.gate.cookie}={browser.desk.gate.session}".encode()),
            (b"content-length", length.encode("utf-8")),
        ],
    }
    assert asyncio.run(_asked(browser.client.app, scope, [])) == 413
    assert is_untouched(folder)


async def _asked(app: Any, scope: dict[str, Any], pieces: list[bytes], *, more: bool = False) -> int:
    """The status of an answer to a request in pieces; ``more``: further pieces are promised and never come."""
    waiting = list(pieces)
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.sleep(3600)
        body = waiting.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(waiting) or more}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope, receive, send)
    return statuses[0]


def _posted(browser: Browser, path: str) -> dict[str, Any]:
    pairs = {
        "host": f"127.0.0.1:{PORT}",
        "origin": ORIGIN,
        "cookie": f"{browser.desk.gate.cookie}={browser.desk.gate.session}",
        "content-type": "application/x-www-form-urlencoded",
        "transfer-encoding": "chunked",
    }
    headers = [(name.encode(), text.encode()) for name, text in pairs.items()]
    facts = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    return {**facts, "headers": headers, "root_path": "", "scheme": "http", "server": ("127.0.0.1", PORT)}


@pytest.mark.parametrize("path", ["/demo", "/columns", "/promise", "/release", "/alone"])
def test_a_body_without_end_is_refused(browser: Browser, path: str) -> None:
    pieces = [b"a" * (1 << 20)] * 8
    assert asyncio.run(_asked(browser.client.app, _posted(browser, path), pieces, more=True)) == 413


@pytest.mark.parametrize("pieces", [[], [b"csrf="], [b"c", b"s"]])
def test_slow_requests_are_ended(browser: Browser, monkeypatch: pytest.MonkeyPatch, pieces: list[bytes]) -> None:
    monkeypatch.setattr(security, "PATIENCE", 0.05)
    assert asyncio.run(_asked(browser.client.app, _posted(browser, "/demo"), pieces, more=True)) == 408


def test_too_many_fields(browser: Browser) -> None:
    body = "&".join(f"f{number}=" for number in range(60_000))
    headers = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"}
    assert browser.client.post("/columns", content=body, headers=headers).status_code == 400


def test_too_long_an_address(browser: Browser) -> None:
    assert browser.client.get("/data?table=" + "a" * 9000).status_code == 414


@pytest.mark.parametrize("name", ["host", "origin", "content-length"])
def test_a_header_that_is_there_twice(name: str) -> None:
    async def never(*_: Any) -> None:
        raise AssertionError

    gate = Gate(PORT)
    headers = [(b"host", f"127.0.0.1:{PORT}".encode()), (name.encode(), b"1"), (name.encode(), b"2")]
    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "headers": headers}
    assert asyncio.run(_asked(Guard(never, gate), scope, [b""])) == 400


def test_a_flood_of_jobs(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    async def idle(_: JobLine) -> None:
        """No job ends while others come."""

    monkeypatch.setattr(JobLine, "_work", idle)
    statuses = [browser.post("/demo", {"demo": "visits"}).status_code for _ in range(MOST_WAITING + 5)]
    assert statuses[:3] == [200] * 3
    assert statuses[-3:] == [429] * 3
    for job in browser.desk.jobs.all():
        browser.post("/job/cancel", {"number": str(job.number)})


# uploads


NAMES = {
    "../../evil.csv": "evil.csv",
    "..\\..\\evil.csv": "evil.csv",
    "/etc/cron.d/evil.csv": "evil.csv",
    ".csv": "table.csv",
    "<img src=x onerror=alert(1)>.csv": "img-src-x-onerror-alert-1.csv",
    "people.csv": "people.csv",
    "a" * 300 + ".csv": "a" * 40 + ".csv",
    "con.csv\r\nx: y.csv": "con-csv-0d-0ax-y.csv",
    "é\u202egnp.csv": "gnp.csv",
    "-rf.csv": "rf.csv",
    "x.CSV.GZ": "x.csv.gz",
}


@pytest.mark.parametrize("name", NAMES)
def test_the_desk_names_uploaded_files(browser: Browser, folder: Path, name: str) -> None:
    browser.client.follow_redirects = False  # to a page that looks into the file
    answer = browser.upload(name, b"a,b\n1,2\n")
    [file] = (folder / "tables").iterdir()
    assert (file.name, file.stat().st_mode & 0o777) == (NAMES[name], 0o600)
    assert answer.status_code == 303
    assert {one.name for one in folder.parent.iterdir()} == {"project", "secret.csv"}


@pytest.mark.parametrize(
    "name", ["evil.exe", "evil.html", "evil.py", "evil.csv.exe", "evil", "evil.pickle", "evil.svg", ""]
)
def test_what_is_no_table_is_not_taken(browser: Browser, folder: Path, name: str) -> None:
    assert browser.upload(name, b"a,b\n1,2\n").status_code in REFUSED
    assert is_untouched(folder)
    assert not list((folder / ".incrowd-desk" / "incoming").iterdir())


def parts(*fields: tuple[str, str]) -> bytes:
    lines = [f'--x\r\ncontent-disposition: form-data; name="{name}"{rest}\r\n' for name, rest in fields]
    return "".join(lines).encode()


@pytest.mark.parametrize(
    "body",
    [
        parts(("file", '; filename="a.csv"\r\n\r\na\n1'), ("csrf", "\r\n\r\n{csrf}"))
        + b"\r\n--x--\r\n",  # the token after the file
        parts(("csrf", "\r\n\r\n{csrf}"), *[("file", '; filename="a.csv"\r\n\r\na\n1')] * 2) + b"\r\n--x--\r\n",
        parts(*[("f", "\r\n\r\n1")] * 20) + b"\r\n--x--\r\n",
        parts(("csrf", "\r\n\r\n{csrf}"), ("f", "\r\n\r\n" + "a" * 50_000)) + b"\r\n--x--\r\n",
        parts(("csrf", "\r\n\r\n{csrf}"), ("file", '; filename="a.csv"\r\n\r\na\n1')),  # it breaks off
        parts(("csrf", "\r\n\r\n{csrf}"), ("file", f"; filename=a.csv\r\nx: {'y' * 50_000}\r\n\r\na"))
        + b"\r\n--x--\r\n",
        b"",
        b"--x--\r\n",
        b"no parts at all",
    ],
)
def test_uploads_that_are_none(browser: Browser, folder: Path, body: bytes) -> None:
    body = body.replace(b"{csrf}", browser.desk.gate.csrf.encode())
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin", "content-type": "multipart/form-data; boundary=x"}
    answer = browser.client.post("/upload", content=body, headers=headers)
    assert answer.status_code in REFUSED
    assert is_untouched(folder)
    assert not list((folder / ".incrowd-desk" / "incoming").iterdir())


def test_uploads_have_a_limit(browser: Browser, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "UPLOAD_BYTES", 100_000)
    assert browser.upload("a.csv", b"a\n" * 60_000).status_code == 413
    assert is_untouched(folder)


def test_a_full_disk_is_told_before_anything_is_written(
    browser: Browser, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "_SPARE", 1 << 62)
    assert browser.upload("a.csv", b"a\n1\n").status_code == 507
    assert is_untouched(folder)


def test_uploads_follow_no_link(browser: Browser, folder: Path) -> None:
    (folder / "tables").symlink_to(folder.parent)
    assert browser.upload("a.csv", b"a\n1\n").status_code == 409
    assert not (folder.parent / "a.csv").exists()


@pytest.mark.parametrize(
    ("place", "path", "fields"),
    [
        ("releases", "/release", {"format": ".csv"}),
        ("ledger", "/release", {"format": ".csv", "ledger": "yes"}),
        ("ledger", "/withdraw", {"number": "0"}),
        ("keys", "/key", {}),
        ("hierarchies", "/hierarchy/draft", {"column": "age"}),
        ("comparisons", "/compare", {"methods": "mondrian", "k": "5", "learners": "c45"}),
        ("hidden", "/hide", {"cell": "1:age", "do": "write"}),
        ("risk", "/risk", {}),
        ("models", "/model", {}),
        ("demo-patients", "/demo", {"demo": "patients"}),
    ],
)
def test_nothing_is_written_where_a_link_leads(
    browser: Browser, folder: Path, place: str, path: str, fields: dict[str, str]
) -> None:
    recipe = "columns:\n  age: {role: quasi-identifier}\n  ill: {role: target}\nk: 3\nclass_sensitive: no\n"
    (folder / "people.csv.recipe.yaml").write_text(recipe, encoding="utf-8")
    (folder / place).symlink_to(folder.parent, target_is_directory=True)
    assert browser.post(path, {"table": "0/people.csv", **fields}).status_code == 409
    assert browser.desk.jobs.all() == []
    assert {one.name for one in folder.parent.iterdir()} == {"project", "secret.csv"}


def test_a_recipe_that_is_a_link_is_not_followed(browser: Browser, folder: Path) -> None:
    outside = folder.parent / "outside.yaml"
    outside.write_text("columns:\n  secret: {role: quasi-identifier}\nk: 3\n", encoding="utf-8")
    (folder / "people.csv.recipe.yaml").symlink_to(outside)
    for path in ("/data", "/columns", "/promise", "/method", "/release"):
        answer = browser.get(path, table="0/people.csv")
        assert answer.status_code == 404
        assert "secret" not in answer.text
    assert browser.post("/promise", {"table": "0/people.csv", "k": "2"}).status_code == 404
    assert outside.read_text(encoding="utf-8").endswith("k: 3\n")
    assert browser.get("/").status_code == 200


def packed(kind: str, size: int = 300 << 20) -> bytes:
    """A small file that would be a large one: lines of one letter, or a sheet of nothing."""
    if kind == ".csv.gz":
        return gzip.compress(b"a" * size, 9)
    file = io.BytesIO()
    if kind == ".csv.zst":
        with pa.CompressedOutputStream(file, "zstd") as stream:
            stream.write(b"a" * size)
            stream.flush()
            return file.getvalue()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
        book.writestr("xl/worksheets/sheet1.xml", b" " * size)
    return file.getvalue()


@pytest.mark.each(3)
@pytest.mark.parametrize("kind", [".csv.gz", ".csv.zst", ".xlsx"])
def test_a_table_that_is_a_bomb_is_refused_and_the_desk_goes_on(browser: Browser, kind: str) -> None:
    """Some hundred kilobytes that would be 300 MB: the process that looks at them ends with a sentence."""
    content = packed(kind)
    assert 0 < len(content) < 400_000
    assert browser.upload(f"bomb{kind}", content).status_code == 200
    assert 'role="alert"' in browser.settled("/data", table=f"0/tables/bomb{kind}")
    assert browser.get("/").status_code == 200


def test_secrets_of_another_desk_open_nothing(browser: Browser, folder: Path) -> None:
    """Neither those of the desk before on this port, nor those that a page kept."""
    other = Gate(PORT)
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
    assert browser.client.post("/demo", data={"csrf": other.csrf, "demo": "visits"}, headers=headers).status_code == 403
    assert browser.client.post("/again", headers={"x-incrowd-key": other.key}).status_code == 403
    assert browser.client.get(f"/enter?token={other.new_token()}", follow_redirects=False).status_code == 403
    browser.client.cookies.clear()
    assert browser.client.get("/", headers={"cookie": f"{other.cookie}={other.session}"}).status_code == 403
    assert is_untouched(folder)


def test_a_flood_of_questions(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that are asked for faster than they can be answered are refused, and the desk goes on."""
    monkeypatch.setattr(asking, "_PATIENCE", 0.0)
    pages = [browser.get("/people", table="0/people.csv", column=f"c{number}") for number in range(40)]
    assert {one.status_code for one in pages} <= {200, 429}
    assert len(browser.desk.asker._tasks) <= asking._MOST_AT_ONCE
    assert browser.get("/").status_code == 200


@pytest.mark.slow
def test_names_of_tables_in_a_database_are_text(browser: Browser, folder: Path) -> None:
    with contextlib.closing(sqlite3.connect(folder / "clinic.db")) as database:
        database.execute('CREATE TABLE "<script>alert(1)</script>" ("<b>x</b>" TEXT)')
        database.execute("INSERT INTO \"<script>alert(1)</script>\" VALUES ('<i>y</i>')")
        database.commit()
    table = "0/clinic.db?table=<script>alert(1)</script>"
    pages = [browser.settled("/data", table="0/clinic.db"), browser.get("/").text]
    pages += [browser.settled("/data", table=table, cells="shown"), browser.settled("/columns", table=table)]
    assert not any(mark in page for page in pages for mark in ("<script>", "<b>", "<i>"))
    assert "&lt;script&gt;" in pages[0]


@pytest.mark.each(6)
@pytest.mark.parametrize(
    "text",
    [
        "columns:\n  age: {role: quasi-identifier}\nmethod: '<script>alert(1)</script>'\n",
        "columns:\n  '<img src=x onerror=alert(1)>': {role: drop}\n  age: {role: quasi-identifier}\nk: 3\n",
        "columns:\n  age: {role: quasi-identifier}\nrequire: ['<script>alert(1)</script>']\n",
        "columns:\n  age: {role: quasi-identifier}\nreading: {delimiter: '<script>'}\n",
        "'<script>alert(1)</script>': 1\n",
        "columns:\n  age: {role: '<script>alert(1)</script>', type: '<b>'}\n",
    ],
)
def test_nothing_in_a_recipe_is_markup(browser: Browser, folder: Path, text: str) -> None:
    (folder / "people.csv.recipe.yaml").write_text(text, encoding="utf-8")
    for path in ("data", "people", "columns", "promise", "method", "release"):
        page = browser.settled(f"/{path}", table="0/people.csv")
        assert "<script>" not in page
        assert "<img src=x" not in page
        assert "<b>" not in page
