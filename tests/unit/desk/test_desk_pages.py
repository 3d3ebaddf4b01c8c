"""The pages of the desk: what they say, what they write into the recipe, and that nothing in a table is ever markup."""

from __future__ import annotations

import csv
import html
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

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
    masked = browser.settled("/data", table=TABLE)
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
    result = browser.settled("/result", file=certificate)
    with (made / "recipient" / "people.csv").open(newline="") as file:
        released = Counter((row["age"], row["sex"]) for row in csv.DictReader(file))
    assert "The largest groups" in result
    sizes = [int(rows) for rows in re.findall(r'<th scope="row" class="number">(\d+)</th>', result)]
    assert sizes == sorted(released.values(), reverse=True)[:10]
    assert "The release satisfies 4-anonymity, recounted independently from the written file." in result
    assert "effective k" in result
    assert is_plain(result)
    report = browser.get("/report", file="0/releases/people-1/private/report.html")
    assert "sandbox" in report.headers["content-security-policy"]
    history = browser.get("/history").text
    assert "The ledger is sound" in history
    assert "4-anonymity" in history
    assert "Nobody has it: withdraw it" in history
    told = json.loads((folder / ".incrowd-desk" / "jobs" / "0001" / "answer.json").read_text(encoding="utf-8"))
    assert told["headlines"]
    assert all(f"<li>{line}</li>" in html.unescape(result) for line in (*told["headlines"], *told["notices"]))
    verify = browser.get("/verify", table="0/releases/people-1/recipient/people.csv").text
    assert "Its certificate lies beside it" in verify
    assert "<details><summary>Options" in verify
    download = browser.get("/download", file="0/releases/people-1/recipient/people.csv")
    assert download.content == (made / "recipient" / "people.csv").read_bytes()
    assert "attachment" in download.headers["content-disposition"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_a_table_cannot_promise_is_told_before_anything_is_tried(browser: Browser, folder: Path) -> None:
    recipe = "columns:\n  age: {role: quasi-identifier}\n  ill: {role: sensitive}\nk: 5\n"

    def promised(word: str) -> str:
        (folder / "people.csv.recipe.yaml").write_text(f'{recipe}require: ["{word} on ill"]\n', encoding="utf-8")
        return browser.settled("/promise", table=TABLE)

    def checked(word: str, k: str = "5") -> Any:
        """What the script of the page asks while fields are filled in."""
        answers: list[Any] = []

        def is_there() -> bool:
            form = {"table": TABLE, "k": k, "require": f"{word} on ill"}
            answers.append(browser.post("/promise/check", form).json())
            return "waiting" not in answers[-1]

        wait_until(is_there)
        return answers[-1]

    page = promised("distinct-l=2")
    assert "This table has 200 rows, so no k above that" in page
    cells = re.search(r'<th scope="row">ill</th>((?:<td class="number">[\d.]+</td>)+)', page)
    assert cells is not None
    values, mixed, share = re.findall(r"[\d.]+(?=</td>)", cells[1])
    for kept, beyond in (
        (f"distinct-l={values}", f"distinct-l={int(values) + 1}"),
        (f"entropy-l={mixed}", f"entropy-l={float(mixed) + 0.0002:.4f}"),
        (f"alpha={share}", f"alpha={float(share) - 0.0002:.4f}"),
    ):
        assert checked(kept)["possible"]
        assert "is impossible" in checked(beyond)["message"]
    assert checked("distinct-l=2", k="many")["message"].startswith("K: ")
    assert "distinct-l=2 on ill" in (folder / "people.csv.recipe.yaml").read_text(encoding="utf-8")  # nothing was kept


@pytest.mark.parametrize(
    ("error", "message", "step"),
    [
        ("FileFormatError", "", "data"),
        ("SchemaError", "No quasi-identifier is named", "columns"),
        ("SchemaError", "Rows are not persons here: the identifier repeats", "people"),
        ("RequirementError", "", "promise"),
        ("VerificationError", "Not published: ward gives back sex.", "columns"),
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    kept = [one.read_text(encoding="utf-8") for one in (folder / ".incrowd-desk" / "facts").iterdir()]
    assert any(EVIL in text for text in kept)  # the name of a column
    assert not any(f"{EVIL}{end}" in text for text in kept for end in "012g")  # values, labels


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


def test_the_result_says_what_the_release_said(browser: Browser, folder: Path) -> None:
    """Notices in sentences, what it is of little use for, who is alone, persons where they are counted."""
    alone = {"without_class": 18188, "not_private": 0}
    stated: dict[str, Any] = {"incrowd_certificate": 5, "statement": "It holds.", "notices": [{"code": "rare-values"}]}
    stated |= {"verification": {"passed": True}, "unchanged_columns": {"effective_k": 4, "alone": alone}}
    stated |= {"persons": {"released": 1234, "smallest": 5, "lost": 0}}
    (folder / "own.csv.certificate.json").write_text(json.dumps(stated), encoding="utf-8")
    job = folder / ".incrowd-desk" / "jobs" / "0001"
    job.mkdir()
    about = {"table": TABLE, "certificate": "0/own.csv.certificate.json"}
    facts = {"kind": "release", "title": "t", "words": [], "about": about, "requested_at": 0}
    (job / "job.json").write_text(json.dumps(facts), encoding="utf-8")
    words = {"notices": [f"job: {EVIL}"], "little_use": ["of little use: it shows nothing", "try: incrowd compare x"]}
    words["headlines"] = ["alone by unchanged columns: 18,188"]
    (job / "answer.json").write_text(json.dumps(words), encoding="utf-8")
    page = browser.get("/result", file="0/own.csv.certificate.json").text
    assert "<li>job: &lt;script&gt;alert(1)&lt;/script&gt;</li>" in page
    assert "rare values" not in page
    assert 'class="standing poor"' in page
    assert "Of little use: it shows nothing. What keeps more:" in page
    assert "<dt>alone by unchanged columns</dt><dd>18,188</dd>" in page
    assert "<dt>persons in the smallest group</dt><dd>5</dd>" in page
    assert "<li>alone by unchanged columns: 18,188</li>" in page
    assert "finds the row" not in page
    assert is_plain(page)
    (job / "answer.json").unlink()  # of a release that was made elsewhere
    plain = browser.get("/result", file="0/own.csv.certificate.json").text
    assert "nobody without those that, as you state, nobody outside knows</dt><dd>18,188</dd>" in plain
    stated["unchanged_columns"]["alone"]["not_private"] = 7
    (folder / "own.csv.certificate.json").write_text(json.dumps(stated), encoding="utf-8")
    warned = browser.get("/result", file="0/own.csv.certificate.json").text
    assert (
        'finds the row. Where others may know a column, call it a quasi-identifier or drop it, under <a href="'
        in warned
    )


@pytest.mark.parametrize(("path", "what"), [("/columns", "alone"), ("/people", "persons")])
def test_a_count_that_cannot_be_made_is_told_and_not_asked_again(
    browser: Browser, folder: Path, monkeypatch: pytest.MonkeyPatch, path: str, what: str
) -> None:
    recipe = "columns:\n  age: {role: quasi-identifier}\n  ward: {role: person}\nk: 4\n"
    (folder / "people.csv.recipe.yaml").write_text(recipe, encoding="utf-8")
    asked = browser.desk.asker.ask

    async def refused(question: str, table: str = "", **facts: Any) -> Any:
        if question == what:
            return {"error": "UnexpectedError", "message": "There was no room for it."}
        return await asked(question, table, **facts)

    monkeypatch.setattr(browser.desk.asker, "ask", refused)
    assert "There was no room for it." in browser.settled(path, table=TABLE)


@pytest.mark.slow
def test_only_what_concerns_the_file_is_asked_and_what_most_take_comes_first(browser: Browser, folder: Path) -> None:
    (folder / "book.xlsx").write_bytes(b"none")
    for table, offered in (("0/book.xlsx", {"sheet", "header_row"}), (TABLE, {"delimiter", "encoding"})):
        page = browser.settled("/data", table=table)
        fields = {"sheet", "header_row", "delimiter", "encoding"}
        assert {name for name in fields if f'name="{name}"' in page} == offered
    (folder / "people.csv.recipe.yaml").write_text("columns:\n  ill: {role: target}\nk: 4\n", encoding="utf-8")
    methods = re.findall(r'name="method" value="([^"]+)"', browser.get("/method", table=TABLE).text)
    assert methods[:2] == ["kactus-plus", "auto"]
    assert len(methods) == 10


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
    assert "--signed-by" not in page
    assert "--signed-by" in received_page("people.csv", {"signature": {"key_id": "4f7e"}})
    assert "--signed-by" not in received_page("people.csv", {"signature": "<b>"})


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


@pytest.mark.slow
def test_a_key_is_made_and_signs(browser: Browser, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has no key is offered one, in the project; the public half goes to the recipient."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))
    (folder / "people.csv.recipe.yaml").write_text(
        "columns:\n  age: {role: quasi-identifier}\n  sex: {role: quasi-identifier}\n  ward: {role: private}\n"
        "  ill: {role: sensitive}\nk: 4\nmethod: mondrian\n",
        encoding="utf-8",
    )
    assert "Make a key to sign with" in browser.settled("/release", table=TABLE)
    assert "Choose it to sign with" in browser.done(browser.post("/key", {"table": TABLE}))
    offer = browser.settled("/release", table=TABLE)
    assert "<option>keys/signing.pem</option>" in offer
    assert "Make a key to sign with" not in offer
    browser.done(browser.post("/release", {"table": TABLE, "format": ".csv"}))
    certificate = "0/releases/people-1/recipient/people.csv.certificate.json"
    assert "The certificate is not signed" in browser.settled("/result", file=certificate)
    fields = {"table": TABLE, "file": certificate}
    assert browser.post("/sign", {**fields, "key": "people.csv"}).status_code == 400
    assert "Back to the result" in browser.done(browser.post("/sign", {**fields, "key": "keys/signing.pem"}))
    signed = browser.settled("/result", file=certificate)
    assert "The certificate is signed, by the key" in signed
    assert "signing.pem.pub" in signed
    assert "Recount it, and sign" not in signed
    assert browser.get("/download", file="0/keys/signing.pem.pub").content.startswith(b"Ed25519")
    assert browser.get("/download", file="0/keys/signing.pem").status_code == 403


def test_without_a_target_a_method_is_proposed_that_needs_none(browser: Browser, folder: Path) -> None:
    recipe = "columns:\n  age: {role: quasi-identifier}\n  sex: {role: quasi-identifier}\nk: 4\n"
    (folder / "people.csv.recipe.yaml").write_text(recipe, encoding="utf-8")
    stuck = browser.settled("/release", table=TABLE)
    assert "This method needs a target" in stuck
    assert "<button disabled>Release and verify" in stuck
    page = browser.get("/method", table=TABLE).text
    assert re.search(r'value="mondrian" checked>', page)
    assert "take <strong>mondrian</strong>" in page
    assert "Choose a method." in browser.post("/method", {"table": TABLE}).text
    browser.post("/method", {"table": TABLE, "method": "mondrian"})
    assert "<button>Release and verify" in browser.settled("/release", table=TABLE)


def test_persons_who_are_followed_have_methods_and_no_ledger(browser: Browser, folder: Path) -> None:
    recipe = "columns:\n  ward: {role: person}\n  sex: {role: quasi-identifier}\nk: 2\nkeep_link: yes\n"
    (folder / "people.csv.recipe.yaml").write_text(recipe, encoding="utf-8")
    assert re.search(r'value="whole-histories" checked>', browser.get("/method", table=TABLE).text)
    assert re.search(r'name="ledger" value="yes" disabled', browser.settled("/release", table=TABLE))


def test_the_comparison_is_shown_where_a_method_is_chosen(browser: Browser, folder: Path) -> None:
    """A point for each method and k, the table beside the chart, and the reason; numbers are means over the trials."""
    trials = [
        {"method": method, "k": k, "learner": "c45", "status": "done", "accuracy": value, "average_risk": risk}
        for method, k, values, risk in (
            ("unprotected", 1, (0.9, 0.9), 1.0),
            (f"mondrian{EVIL}", 5, (0.7, 0.8), 0.125),
            ("kactus-plus", 5, (0.85, 0.87), 0.25),
            ("kactus-plus", 20, (0.8, 0.8), 0.0625),
        )
        for value in values
    ]
    trials.append(
        {"method": "tdr", "k": 5, "learner": "c45", "status": "failed", "accuracy": None, "average_risk": None}
    )
    job = folder / ".incrowd-desk" / "jobs" / "0001"
    job.mkdir()
    facts = {"kind": "compare", "title": "t", "words": [], "about": {"table": TABLE}, "requested_at": 0}
    (job / "job.json").write_text(json.dumps(facts), encoding="utf-8")
    answer = {"recommendation": ["Use kactus-plus, for a reason."], "results": trials}
    (job / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    (folder / "people.csv.recipe.yaml").write_text("columns:\n  ill: {role: target}\nk: 4\n", encoding="utf-8")
    page = browser.get("/method", table=TABLE).text
    assert "Use kactus-plus, for a reason." in page
    figure = page[page.index("<figure ") : page.index("</figure>")]
    assert len(re.findall(r'class="point', figure)) == 2 + 3  # in the legend, and in the chart
    assert "kactus-plus at k=5: accuracy 86.0 %, average risk 25 %" in figure
    for cells in (("5", "12.5 %", "75.0 %"), ("5", "25.0 %", "86.0 %"), ("20", "6.2 %", "80.0 %")):
        assert "".join(f'<td class="number">{cell}</td>' for cell in cells) in page
    assert is_plain(page)


@pytest.mark.slow
def test_guesses_are_told_in_the_words_of_the_desk(browser: Browser, folder: Path) -> None:
    rows = "".join(f"{number % 50};Köln;{number},5\n" for number in range(60))
    (folder / "german.csv").write_bytes(f"alter;ort;kosten\nk.A.;Köln;1.200,5\nk.A.;Köln;7\n{rows}".encode("cp1252"))
    page = browser.settled("/data", table="0/german.csv")
    note = re.search(r'<p class="note">(Guessed: .*?)</p>', page)
    assert note is not None, page
    assert note[1].startswith("Guessed: that k.A. means missing; the encoding is cp1252; the decimal is comma.")
    assert "--encoding cp1252" not in page
    (folder / "bare.csv").write_text("1,2,x\n3,4,y\n5,6,x\n", encoding="utf-8")
    assert "say “Header: no”, or give names: “Names: a,b,c”" in browser.settled("/data", table="0/bare.csv")
