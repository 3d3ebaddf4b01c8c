"""Requests that cannot be met: trust list 22, 23, 30, 31, 50, 62 to 71 and 74, through both faces.

Each gets a typed error, exit status 2, no file, no cell value in any word, and a hint at what to do next.
"""

from __future__ import annotations

import csv
import json
import os
import signal

import polars as pl
import pytest

from incrowd.api import release
from incrowd.cli.main import main
from incrowd.errors import (
    HeaderError,
    IncrowdError,
    OutputError,
    ParameterError,
    RequirementError,
    SchemaError,
)
from incrowd.tables.recipe import Recipe

CANARY = "KANARIE"
ROWS = 120


def people(**more):
    """Every cell of every column can be recognised."""
    return pl.DataFrame(
        {
            "person": [f"{CANARY}-p{i}" for i in range(ROWS)],
            "age": [7_110_000 + i % 40 for i in range(ROWS)],
            "job": [f"{CANARY}-j{i % 4}" for i in range(ROWS)],
            "diagnosis": [f"{CANARY}-d{i % 3}" for i in range(ROWS)],
            "ill": [f"{CANARY}-{i % 2}" for i in range(ROWS)],
            **more,
        }
    )


SECRETS = (CANARY, "711000", "711001", "711002", "711003", "711004")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    people().write_csv(tmp_path / "people.csv")
    return tmp_path


@pytest.fixture
def command(folder, monkeypatch, capsys):
    def run(*words):
        said = () if "--class-sensitive" in words else ("--class-sensitive", "no")
        monkeypatch.setattr("sys.argv", ["incrowd", "release", "people.csv", *map(str, words), *said])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


ROLES = {"quasi_identifiers": ["age", "job"], "target": "ill", "identifiers": ["person"]}
GOOD = ("-q", "age,job", "--target", "ill", "--identifiers", "person", "--to", "out.csv")

# what is asked of the function, and the same of the command; what is raised; a word of what to do next
REFUSED = {
    "63 one class": ({"target": "flat"}, ("--target", "flat"), SchemaError, "Choose another"),
    "65 no quasi-identifier": ({"quasi_identifiers": []}, ("-q", ""), SchemaError, "The data suggest"),
    "66 quasi-identifier and sensitive": (
        {"sensitive": ["age"]},
        ("--sensitive", "age"),
        SchemaError,
        "cannot be both quasi-identifier and sensitive. Name it once.",
    ),
    "66 quasi-identifier and target": ({"target": "age"}, ("--target", "age"), SchemaError, "Name it once"),
    "66 quasi-identifier and identifier": (
        {"identifiers": ["job"]},
        ("--identifiers", "job"),
        SchemaError,
        "Name it once",
    ),
    "66 named twice": ({"quasi_identifiers": ["age", "age"]}, ("-q", "age,age"), SchemaError, "Name it once"),
    "67 unknown quasi-identifier": (
        {"quasi_identifiers": ["Age"]},
        ("-q", "Age"),
        HeaderError,
        "The table has: person",
    ),
    "67 unknown target": ({"target": "sick"}, ("--target", "sick"), HeaderError, "The table has: person"),
    "67 unknown identifier": ({"identifiers": ["ssn"]}, ("--identifiers", "ssn"), HeaderError, "The table has"),
    "67 unknown sensitive": ({"sensitive": ["hiv"]}, ("--sensitive", "hiv"), HeaderError, "The table has"),
    "68 k of 0": ({"k": 0}, ("-k", "0"), ParameterError, "Give for instance"),
    "68 k of -1": ({"k": -1}, ("-k", "-1"), ParameterError, "Give for instance"),
    "68 k of 2.5": ({"k": 2.5}, ("-k", "2.5"), ParameterError, "Give for instance"),
    "68 k of NaN": ({"k": float("nan")}, ("-k", "nan"), ParameterError, "Give for instance"),
    "68 k as text": ({"k": "5"}, ("-k", "five"), ParameterError, "Give for instance"),
    "68 k as truth": ({"k": True}, ("-k", "True"), ParameterError, "Give for instance"),
    "71 k above n": ({"k": ROWS + 1}, ("-k", ROWS + 1), RequirementError, f"Choose k of at most {ROWS}"),
    "unknown method": ({"method": "kaktus"}, ("--method", "kaktus"), ParameterError, "Did you mean 'kactus'"),
    "unknown parameter": (
        {"parameters": {"deep": 1}},
        ("--set", "deep=1"),
        ParameterError,
        "has no parameter 'deep'. It has:",
    ),
    "unknown choice": (
        {"parameters": {"numeric": "median"}},
        ("--set", "numeric=median"),
        ParameterError,
        "must be one of",
    ),
    "no target": ({"target": None, "no_target": True}, (), SchemaError, "Name one with "),
    "a missing recipe": ({"recipe": "nowhere.yaml"}, ("--recipe", "nowhere.yaml"), ParameterError, "cannot be read"),
    "an unknown delimiter": (
        {"reading": {"delimiter": "ab"}},
        ("--delimiter", "ab"),
        IncrowdError,
        "one ",
    ),
    "an unknown encoding": (
        {"reading": {"encoding": "klingon"}},
        ("--encoding", "klingon"),
        IncrowdError,
        "encoding",
    ),
}


def ask(folder, changes):
    asked = {**ROLES, "k": 5, "to": folder / "out.csv", **changes}
    if asked.pop("no_target", False):
        asked.pop("target")
    return release(folder / "people.csv", **asked)


def untouched(folder):
    return not [path.name for path in folder.iterdir() if path.name not in ("people.csv", "config", "recipe.yaml")]


@pytest.mark.parametrize(("changes", "_words", "error", "told"), REFUSED.values(), ids=REFUSED)
def test_refused_by_the_function(folder, changes, _words, error, told):
    people(flat=["x"] * ROWS).write_csv(folder / "people.csv")
    with pytest.raises(error) as caught:
        ask(folder, changes)
    assert caught.value.exit_status == 2
    assert told in str(caught.value)
    assert not [secret for secret in SECRETS if secret in str(caught.value)]
    assert untouched(folder)


@pytest.mark.parametrize(("_changes", "words", "_error", "told"), REFUSED.values(), ids=REFUSED)
def test_refused_by_the_command(folder, command, _changes, words, _error, told):
    people(flat=["x"] * ROWS).write_csv(folder / "people.csv")
    request = [*GOOD, "-k", "5"]
    for option, value in zip(words[::2], words[1::2], strict=True):
        if option in request:
            at = request.index(option)
            del request[at : at + 2]
        request += [option, value]
    if not words:
        at = request.index("--target")
        del request[at : at + 2]
    status, out, err = command(*request)
    assert status == 2
    assert out == ""
    assert err.startswith("incrowd: ")
    assert err.count("\n") == 1
    assert told.replace("Give for instance", "for instance") in err
    assert not [secret for secret in SECRETS if secret in err]
    assert untouched(folder)


RECIPES = {
    "not yaml": "k: [",
    "a pickle-like tag": "k: !!python/object/apply:os.system ['touch hacked']",
    "an unknown setting": "quasi_identifiers: [age]",
    "a list": "- age",
    "k as text": "k: '5'",
    "columns as a list": "columns: [age]",
    "an unknown role": "columns: {age: {role: key}}",
    "an unknown type": "columns: {age: {role: quasi-identifier, type: float}}",
    "an unknown column": "columns: {height: {role: quasi-identifier}}",
    "two targets": "columns: {age: {role: target}, job: {role: target}}",
    "an order without its type": "columns: {age: {role: quasi-identifier, order: [a]}}",
    "an order that lacks values": "columns: {job: {role: quasi-identifier, type: ordered, order: [a]}}",
    "a type the values do not have": "columns: {job: {role: quasi-identifier, type: integer}}",
    "a method that is a number": "method: 5",
    "a parameter that is a list": "parameters: [numeric]",
    "repeats of an unknown column": "repeats: [height]",
    "repeats of a column that is no identifier": "repeats: [diagnosis]",
}


@pytest.mark.parametrize("text", RECIPES.values(), ids=RECIPES)
def test_recipes_that_make_no_sense(folder, command, text):
    (folder / "recipe.yaml").write_text(text)
    words = ["--recipe", "recipe.yaml", "--to", "out.csv"]
    if "quasi-identifier" not in text:
        words += ["-q", "age,job"]
    if "target" not in text:
        words += ["--target", "ill"]
    status, out, err = command(*words)
    assert (status, out) == (2, "")
    assert err.startswith("incrowd: ")
    assert "unexpected" not in err
    assert not [secret for secret in SECRETS if secret in err]
    assert untouched(folder)
    assert not (folder / "hacked").exists()


# 62: several rows of a person


def test_62_repeated_persons_are_refused(folder, command):
    people().with_columns(person=pl.Series([f"{CANARY}-p{i // 3}" for i in range(ROWS)])).write_csv("people.csv")
    for words in (GOOD, [word for word in GOOD if word not in ("--identifiers", "person")]):
        column = "person" if "person" in words else None
        if column is None:
            pl.read_csv("people.csv").rename({"person": "patient_id"}).write_csv("people.csv")
        status, _, err = command(*words, "-k", "5")
        assert status == 2
        assert f"repeats, {ROWS - ROWS // 3} rows" in err
        assert "Rows are not persons here" in err
        assert f"let k count persons: --person {column or 'patient_id'}." in " ".join(err.split())
        assert CANARY not in err
        assert untouched(folder)


def test_62_a_recipe_may_say_that_an_identifier_repeats(folder, command):
    people().with_columns(person=pl.lit(CANARY)).write_csv("people.csv")
    (folder / "recipe.yaml").write_text("repeats: [person]")
    assert command(*GOOD, "-k", "5")[0] == 2
    status, out, _ = command(*GOOD, "-k", "5", "--recipe", "recipe.yaml")
    assert status == 0
    assert "does not number persons" in " ".join(out.split())
    certificate = json.loads((folder / "out.csv.certificate.json").read_text())
    assert {"code": "repeats", "where": "person"} in certificate["notices"]


# 22 and 23: where a release cannot go


def targets(folder):
    ordinary = folder / "ordinary.csv"
    ordinary.write_text("old")
    (folder / "link.csv").symlink_to(ordinary)
    (folder / "dangling.csv").symlink_to(folder / "nowhere.csv")
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    os.link(folder / "people.csv", folder / "twin.csv")
    return {
        "link.csv": "is a link",
        "dangling.csv": "is a link",
        "folder.csv": "is a folder",
        "pipe.csv": "is a pipe",
        "/dev/null": "is a device",
        "nowhere/out.csv": "folder does not exist",
        "people.csv": "is the input itself",
        "./people.csv": "is the input itself",
        "twin.csv": "is the input itself",
        "out.xls": "must end in one of",
        "out": "must end in one of",
    }


def listing(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "config")


def test_22_and_23_no_release_goes_where_it_must_not(folder, command):
    table = (folder / "people.csv").read_bytes()
    expected = targets(folder)
    before = listing(folder)
    for to, told in expected.items():
        status, out, err = command(*GOOD[:-1], to, "-k", "5")
        assert (status, out) == (2, "")
        assert told in err
        with pytest.raises(OutputError, match=told):
            ask(folder, {"to": folder / to})
    assert listing(folder) == before
    assert (folder / "people.csv").read_bytes() == table
    assert (folder / "ordinary.csv").read_text() == "old"


@pytest.mark.parametrize("option", ["--plan", "--report"])
def test_22_and_23_nor_do_plan_and_report(folder, command, option):
    table = (folder / "people.csv").read_bytes()
    expected = {to: told for to, told in targets(folder).items() if "must end" not in told}
    before = listing(folder)
    for to, told in expected.items():
        status, _, err = command(*GOOD, "-k", "5", option, to)
        assert status == 2
        assert told in err
    assert listing(folder) == before
    assert (folder / "people.csv").read_bytes() == table


def test_22_a_certificate_does_not_follow_a_link_either(folder, command):
    (folder / "elsewhere").write_text("old")
    (folder / "out.csv.certificate.json").symlink_to(folder / "elsewhere")
    status, _, err = command(*GOOD, "-k", "5")
    assert status == 2
    assert "is a link" in err
    assert not (folder / "out.csv").exists()
    assert (folder / "elsewhere").read_text() == "old"


# 30, 31 and 50: what a spreadsheet or a browser would run


def test_30_31_50_formulas_and_markup(folder, command):
    frame = people().with_columns(
        pl.Series("=cmd()", ["=1+2", "-5", "@SUM(A1)", "+49 30"] * 30),
        pl.Series("<script>alert(1)</script>", ["<b>x</b>", "\ty", "-y", "="] * 30),
    )
    frame.write_csv("people.csv")
    columns = {
        name: {"role": role}
        for name, role in {
            "person": "identifier",
            "age": "quasi-identifier",
            "=cmd()": "quasi-identifier",
            "<script>alert(1)</script>": "other",
            "ill": "target",
        }.items()
    }
    (folder / "recipe.yaml").write_text(json.dumps({"columns": columns, "k": 5}))
    status, _, err = command("--recipe", "recipe.yaml", "--to", "out.csv", "--report", "report.html")
    assert (status, err) == (0, "")
    with (folder / "out.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[-2:] == ["'=cmd()", "<script>alert(1)</script>"]
    cells = {cell for row in rows for cell in row}
    assert not [cell for cell in cells if len(cell) > 1 and cell[0] in "=+@-\t" and cell != "-5"]
    assert {cell for row in rows for cell in row[-1:]} == {"<b>x</b>", "'\ty", "'-y", "="}
    page = (folder / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


# 69, 70 and 74: handled, and said


def test_69_k_of_1_is_told(folder):
    made = ask(folder, {"k": 1})
    assert "k-is-1" in {notice.code for notice in made.report.notices}


def test_70_k_of_n_hides_everything(folder):
    made = ask(folder, {"k": ROWS})
    assert made.verdict.sizes.histogram == ((ROWS, 1),)
    assert made.verdict.passed


def test_74_a_seed_is_told_and_never_written(folder, command):
    seed = 918_273_645
    status, out, _ = command(*GOOD, "-k", "5", "--seed", seed, "--report", "report.html", "--plan", "plan.json")
    assert status == 0
    assert "For experiments only" in " ".join(out.split())
    for name in ("out.csv", "out.csv.certificate.json", "report.html", "plan.json"):
        assert str(seed) not in (folder / name).read_text()


def test_a_frame_that_is_none(folder):
    for table in (None, 5, [1, 2], {"a": [1]}, pl.LazyFrame({"a": [1]}), pl.DataFrame()):
        with pytest.raises(IncrowdError) as caught:
            release(table, **ROLES, k=2)
        assert caught.value.exit_status == 2


def test_a_recipe_that_is_none():
    with pytest.raises(ParameterError, match="whole number"):
        Recipe(k=None)
    with pytest.raises(ParameterError, match="In columns"):
        Recipe(columns=["age"])
