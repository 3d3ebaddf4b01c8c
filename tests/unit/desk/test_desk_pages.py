"""The pages of the desk: what they say, what they write into the recipe, and that nothing in a table is ever markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from incrowd.desk.app import step_to_change
from incrowd.desk.facts import special_category
from incrowd.desk.recipes import PROPOSED
from incrowd.desk.results import received_page
from incrowd.tables.recipe import read_recipe
from support.waiting import wait_until
from unit.desk.conftest import Browser

TABLE = "0/people.csv"
EVIL = "<script>alert(1)</script>"


def recipe_of(folder: Path) -> str:
    return (folder / "people.csv.recipe.yaml").read_text(encoding="utf-8")


class Tags(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def is_plain(page: str) -> bool:
    """Whether nothing in the page runs or is styled but what the desk's own files say."""
    tags = Tags(page).tags
    scripts = [facts for tag, facts in tags if tag == "script"]
    inline = [name for _, facts in tags for name in facts if name.startswith("on") or name == "style"]
    images = [facts for tag, facts in tags if tag == "img" and not str(facts.get("src")).startswith("/drawing?")]
    return scripts == [{"src": "/static/desk.js", "defer": None}] and not inline and not images


@pytest.mark.slow
def test_the_whole_way(browser: Browser, folder: Path) -> None:
    """Each step writes what it decides into the recipe; the release is made by the command that the page shows."""
    data = browser.settled("/data", table=TABLE)
    assert "incrowd inspect people.csv --recipe people.csv.recipe.yaml" in data
    assert read_recipe(folder / "people.csv.recipe.yaml").k == 10
    masked = browser.get("/data", table=TABLE).text
    assert "masked" in masked
    assert "<td>21</td>" not in masked
    assert "<td>21</td>" in browser.settled("/data", table=TABLE, cells="shown")
    assert "Every row is another person" in browser.settled("/people", table=TABLE)
    roles = {"role:0": "quasi-identifier", "role:1": "quasi-identifier", "role:2": "private", "role:3": "target"}
    browser.post("/columns", {"table": TABLE, **roles, "stay": "yes"})
    columns = browser.settled("/columns", table=TABLE)
    assert "of 200 rows are alone</strong> with these 2 quasi-identifiers" in columns
    fewer = {"table": TABLE, **roles, "role:1": "drop"}
    wait_until(lambda: browser.post("/alone", fewer).json() is not None)
    counted = browser.post("/alone", fewer).json()
    assert (counted["people"], counted["alone"], counted["below"]) == (200, 0, 200)
    undecided = browser.settled("/release", table=TABLE)
    assert "not decided" in undecided
    browser.post("/promise", {"table": TABLE, "k": "4", "class_sensitive": "no"})
    browser.post("/method", {"table": TABLE, "method": "mondrian", "form": "strict"})
    recipe = read_recipe(folder / "people.csv.recipe.yaml")
    assert (recipe.k, recipe.method, recipe.form, recipe.class_sensitive) == (4, "mondrian", "strict", False)
    assert recipe.known == ["age", "sex"]
    page = browser.done(
        browser.post("/release", {"table": TABLE, "format": ".csv", "ledger": "yes", "accuracy": "yes"})
    )
    assert "See the result" in page
    made = folder / "releases" / "people-1"
    files = {one.relative_to(made).as_posix() for one in made.rglob("*") if one.is_file()}
    given = {"recipient/people.csv", "recipient/people.csv.certificate.json"}
    assert files == {*given, "private/report.html", "private/plan.json"}
    certificate = "0/releases/people-1/recipient/people.csv.certificate.json"
    result = browser.get("/result", file=certificate).text
    assert "The release satisfies 4-anonymity, recounted independently from the written file." in result
    assert "effective k" in result
    assert is_plain(result)
    report = browser.get("/report", file="0/releases/people-1/private/report.html")
    assert "sandbox" in report.headers["content-security-policy"]
    history = browser.get("/history").text
    assert "The ledger is sound" in history
    assert "4-anonymity" in history
    download = browser.get("/download", file="0/releases/people-1/recipient/people.csv")
    assert download.content == (made / "recipient" / "people.csv").read_bytes()
    assert "attachment" in download.headers["content-disposition"]


def test_a_refusal_says_why_and_where_to_change_it(browser: Browser, folder: Path) -> None:
    text = (
        'columns:\n  age: {role: quasi-identifier}\n  ill: {role: sensitive}\nk: 5\nrequire: ["distinct-l=9 on ill"]\n'
    )
    (folder / "people.csv.recipe.yaml").write_text(text, encoding="utf-8")
    promise = browser.settled("/promise", table=TABLE)
    assert "distinct" in promise
    assert "Change it under “Promise”" in promise
    page = browser.done(browser.post("/release", {"table": TABLE, "format": ".csv"}))
    assert "Refused: nothing was written" in page
    assert "Change it under “Promise”" in page
    assert not (folder / "releases" / "people-1").exists()


@pytest.mark.parametrize(
    ("error", "message", "step"),
    [
        ("FileFormatError", "", "data"),
        ("SchemaError", "No quasi-identifier is named", "columns"),
        ("SchemaError", "Rows are not persons here: the identifier repeats", "people"),
        ("RequirementError", "", "promise"),
        ("ParameterError", "the method kactus needs a target", "method"),
        ("LedgerError", "", "release"),
    ],
)
def test_every_error_has_its_step(error: str, message: str, step: str) -> None:
    assert step_to_change(error, message) == step


def test_what_is_wrong_is_told_in_place_and_nothing_is_lost(browser: Browser, folder: Path) -> None:
    (folder / "people.csv.recipe.yaml").write_text(
        "columns:\n  age: {role: quasi-identifier}\nk: 5\n", encoding="utf-8"
    )
    wrong = browser.post("/promise", {"table": TABLE, "k": "many", "rarest": "7"}).text
    assert "must be a whole number" in wrong
    assert 'value="many"' in wrong
    assert 'value="7"' in wrong
    assert 'role="alert"' in browser.post("/promise", {"table": TABLE, "k": "0"}).text
    assert 'role="alert"' in browser.post("/promise", {"table": TABLE, "k": "5", "require": "distint-l=2 on sex"}).text
    assert "k: 5" in recipe_of(folder)


def test_a_recipe_of_the_command_line_is_the_state_of_the_desk(browser: Browser, folder: Path) -> None:
    text = "columns:\n  age: {role: quasi-identifier}\n  ill: {role: target}\n"
    text += "private: [ward]\ndrop: [sex]\nk: 7\nclass_sensitive: yes\n"
    (folder / "people.csv.recipe.yaml").write_text(text, encoding="utf-8")
    page = browser.settled("/columns", table=TABLE)
    roles = re.findall(r'Role of (\w+)">.*?<option selected>([\w-]+)</option>', page)
    assert roles == [("age", "quasi-identifier"), ("sex", "drop"), ("ward", "private"), ("ill", "target")]
    promise = browser.get("/promise", table=TABLE).text
    assert re.search(r'name="k" value="7"', promise)
    assert re.search(r'value="yes" checked', promise)


def test_a_quasi_identifier_of_many_values_is_pointed_out(browser: Browser, folder: Path) -> None:
    """Free text among the quasi-identifiers hides itself and all others: said before the release, not after it."""
    rows = [f"remark {number},{number % 2}" if number < 20 else f",{number % 2}" for number in range(50)]
    (folder / "remarks.csv").write_text("\n".join(["remark,sex", *rows, ""]), encoding="utf-8")
    recipe = folder / "remarks.csv.recipe.yaml"
    for role, is_said in (("quasi-identifier", True), ("drop", False)):
        recipe.write_text(f"columns:\n  remark: {{role: {role}, type: text}}\n  sex: {{role: quasi-identifier}}\n")
        page = browser.settled("/columns", table="0/remarks.csv")
        assert page.count("most rows have a value of their own") == is_said


@pytest.mark.slow
def test_proposed_roles_are_not_released_by(browser: Browser, folder: Path) -> None:
    """Nobody releases by roles that nobody has decided on; other steps leave them proposals."""
    table = "0/people.csv"
    recipe = folder / "people.csv.recipe.yaml"
    browser.settled("/columns", table=table)
    browser.post("/promise", {"table": table, "k": "5", "class_sensitive": "no"})
    assert PROPOSED in recipe.read_text(encoding="utf-8")
    page = browser.post("/release", {"table": table, "format": ".csv"}).text
    assert "Look at each column and decide." in page
    assert not (folder / "releases").exists()
    browser.post("/columns", {"table": table})
    assert PROPOSED not in recipe.read_text(encoding="utf-8")
    assert "Look at each column and decide." not in browser.settled("/release", table=table)


def test_nothing_in_a_table_is_markup(browser: Browser, folder: Path) -> None:
    """Headers, values, labels of hierarchies, names of files, recipes, jobs: all are text."""
    name = "<img src=x onerror=alert(1)>.csv"
    rows = "".join(f'{number % 9},"{EVIL}{number % 3}",{"yn"[number % 2]}\n' for number in range(60))
    (folder / name).write_text(f'"{EVIL}","<b>x</b>",ill\n{rows}', encoding="utf-8")
    table = f"0/{name}"
    (folder / "hierarchies").mkdir()
    (folder / "hierarchies" / "evil.csv").write_text(
        f"{EVIL}0;{EVIL}g;*\n{EVIL}1;{EVIL}g;*\n{EVIL}2;{EVIL}g;*\n", encoding="utf-8"
    )
    pages = [browser.get("/").text]
    pages += [browser.settled(f"/{path}", table=table) for path in ("data", "people", "columns", "promise", "method")]
    pages.append(browser.settled("/data", table=table, cells="shown"))
    pages.append(browser.settled("/hide", table=table, column="<b>x</b>", text=f"{EVIL}1"))
    pages.append(browser.settled("/hierarchy", table=table, column="<b>x</b>", file="0/hierarchies/evil.csv"))
    pages += [browser.get(f"/{path}", table=table).text for path in ("verify", "risk", "compare", "model")]
    pages.append(browser.post("/promise", {"table": table, "k": EVIL, "require": EVIL}).text)
    pages.append(browser.settled("/release", table=table))
    browser.post("/columns", {"table": table})
    pages.append(browser.done(browser.post("/release", {"table": table, "format": ".csv", "responsible": EVIL})))
    pages += [browser.get("/history").text, browser.get("/job", number="1").text, browser.get(f"/{EVIL}").text]
    assert all(map(is_plain, pages))
    assert sum("&lt;script&gt;" in page for page in pages) >= 8


def test_a_certificate_of_a_stranger_is_text(browser: Browser, folder: Path) -> None:
    odd = {
        "incrowd_certificate": 5,
        "statement": EVIL,
        "made": EVIL,
        "output": {"file": EVIL},
        "rows": {"released": EVIL},
    }
    odd |= {
        "attributes": {EVIL: {EVIL: 3}},
        "verification": {"checks": [{"name": EVIL, "found": EVIL}]},
        "notices": [{"code": EVIL}],
    }
    (folder / "odd.csv").write_text("a\n1\n", encoding="utf-8")
    (folder / "odd.csv.certificate.json").write_text(json.dumps(odd), encoding="utf-8")
    pages = [browser.get("/result", file="0/odd.csv.certificate.json").text, browser.get("/history").text]
    assert all(map(is_plain, pages))
    received = browser.get("/recipient", file="0/odd.csv.certificate.json").text
    assert "<script" not in received


def test_the_same_notice_for_many_columns_is_one(browser: Browser, folder: Path) -> None:
    notices = [{"code": "missing-marker"}, {"code": "rare-values", "where": "job"}, {"code": "missing-marker"}]
    stated = {"incrowd_certificate": 5, "statement": "It holds.", "output": {"file": "a.csv"}, "notices": notices}
    (folder / "a.csv").write_text("a\n1\n", encoding="utf-8")
    (folder / "a.csv.certificate.json").write_text(json.dumps(stated), encoding="utf-8")
    page = browser.get("/result", file="0/a.csv.certificate.json").text
    assert "you should know: missing marker; rare values (job).</p>" in page


def test_the_page_for_the_recipient_is_made_from_the_certificate() -> None:
    columns = [{"name": "age", "role": "quasi-identifier"}, {"name": "ill", "role": "target"}]
    page = received_page(
        "people.csv", {"statement": "It holds.", "released_columns": columns, "rows": {"released": 1200}}
    )
    assert "incrowd verify people.csv" in page
    assert "1,200" in page
    assert "transformed" in page


@pytest.mark.parametrize(
    ("name", "kind"),
    [("Diagnosis", "health"), ("religion", "religion or belief"), ("unionMember", "politics or unions"), ("age", None)],
)
def test_special_categories_are_pointed_out(name: str, kind: str | None) -> None:
    assert special_category(name) == kind


def test_every_page_has_the_headers_of_the_desk(browser: Browser) -> None:
    for path in ("/", "/history", "/nothing", "/static/desk.js", "/job?number=7"):
        headers = browser.get(path).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert "'unsafe-inline'" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(("cells", "is_told"), [({"empty": 200}, True), ({"empty": 100, "single": 100}, False)])
def test_a_release_that_shows_nothing_is_told_beside_the_verdict(
    browser: Browser, folder: Path, cells: dict[str, int], is_told: bool
) -> None:
    facts = {"incrowd_certificate": 4, "attributes": {"age": cells, "sex": {"empty": 200}}}
    (folder / "own.csv.certificate.json").write_text(json.dumps(facts), encoding="utf-8")
    page = browser.get("/result", file="0/own.csv.certificate.json")
    assert page.status_code == 200
    assert ("every quasi-identifier is hidden" in page.text) is is_told
