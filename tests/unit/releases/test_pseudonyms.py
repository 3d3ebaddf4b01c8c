"""Pseudonyms and shifted dates on the whole way: memory, blocks, formats, recipe, certificate, report and ledger."""

from __future__ import annotations

import datetime as dt
import json

import polars as pl
import pytest

import incrowd
from incrowd.cli.main import main
from incrowd.errors import ParameterError, SchemaError, VerificationError
from incrowd.releases.ledger.marks import Marker
from incrowd.releases.ledger.overlap import MarkedTable
from incrowd.report.certificate import faults, schema
from incrowd.report.html import report_html
from incrowd.tables.reading.keyed import keyed, read_key
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import Recipe, read_recipe, recipe_of
from incrowd.vocabulary.column_rules import Keying
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

ROWS = 120
ASKED = {"quasi_identifiers": ["age", "sex"], "target": "ill", "class_sensitive": False, "k": 4}
KEYED = {"pseudonyms": ["patient"], "shift_dates": ["admitted", "left"], "shift_days": 50}
KEY = "00112233445566778899aabbccddeeff0f1e2d3c4b5a69788796a5b4c3d2e1f0"


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "own" / "key.txt"
    path.parent.mkdir()
    path.write_text(KEY)
    path.chmod(0o600)
    return path


@pytest.fixture
def stays():
    """One row for each patient, admitted on a day, some not yet gone."""
    each = range(ROWS)
    admitted = [dt.datetime(2020, 1, 15, 8 + i % 9, 30) + dt.timedelta(days=i * 13 % 400) for i in each]
    return pl.DataFrame(
        {
            "patient": [f"M{i * 7 % ROWS:04d}" for i in each],
            "age": [20 + i * 11 % 60 for i in each],
            "sex": ["f" if i % 3 else "m" for i in each],
            "admitted": admitted,
            "left": [
                None if i % 8 == 0 else (day + dt.timedelta(days=i % 20)).date() for i, day in enumerate(admitted)
            ],
            "ill": ["yes" if i % 4 == 1 else "no" for i in each],
        }
    )


@pytest.fixture
def made(stays, key):
    return incrowd.release(stays, key_file=key, **ASKED, **KEYED)


def linked(stays, released, key):
    """The rows of a release beside those they come from, by pseudonyms made here."""
    own = keyed(read(stays), Keying(key, ("patient",))).frame
    beside = stays.with_columns(own["patient"].alias("pseudonym"))
    return released.rename({"patient": "pseudonym"}).join(beside, on="pseudonym", suffix="_own")


def test_intervals_and_times_of_day_stay_and_no_date_does(stays, made, key):
    both = linked(stays, made.table, key)
    assert both.height == ROWS
    moved = (both["admitted"] - both["admitted_own"]).dt.total_days()
    assert both["admitted"].dt.time().equals(both["admitted_own"].dt.time(), check_names=False)
    assert moved.abs().is_between(1, 50).all()
    assert moved.n_unique() > 40
    stay, own = ((both[f"left{who}"] - both[f"admitted{who}"].dt.date()) for who in ("", "_own"))
    assert stay.equals(own, check_names=False)
    assert made.table["left"].null_count() == stays["left"].null_count()


def test_certificate_states_what_they_are(made):
    told = {"key": made.certificate["pseudonyms"]["key"], "protection": "none of their own"}
    assert made.certificate["pseudonyms"] == {"columns": ["patient"], "algorithm": "HMAC-SHA-256, 128 bits", **told}
    shifted = {"columns": ["admitted", "left"], "by": "patient", "days": 50, "algorithm": "HMAC-SHA-256"}
    assert made.certificate["shifted_dates"] == {**shifted, **told}
    assert not list(faults(json.loads(json.dumps(made.certificate)), schema()))
    checks = {check.name: check.finding for check in made.verdict.checks}
    assert checks["patient pseudonyms"] == "120 different ones, none of which is an identifier of the input"
    assert {"patient recomputed", "admitted recomputed", "left recomputed", "ill untouched"} <= set(checks)
    assert KEY not in json.dumps(made.certificate)


def test_pseudonyms_are_no_protection_and_nobody_is_alone_by_them(made):
    alone = made.report.unchanged.alone
    assert alone.roles["patient"] == "pseudonym"
    assert all("patient" not in one.columns for one in alone.best)
    words = " ".join(str(notice) for notice in made.report.notices)
    assert "A pseudonym is no protection of its own: rows of one person can be linked" in words
    assert "shifted by up to 50 days, all with the same patient alike. That is no protection of its own" in words
    page = report_html(made.report, certificate=made.certificate)
    assert "Pseudonyms and shifted dates" in page
    assert "1 column is released unchanged: ill; made with a key, which is no protection of its own" in page
    assert "patient untouched" not in page


def test_the_same_key_gives_the_same_pseudonyms_and_another_others(stays, made, key, tmp_path):
    again = incrowd.release(stays, key_file=key, **ASKED, pseudonyms="patient").table
    other = incrowd.release(
        stays,
        key_file=tmp_path / "new.txt",
        new_key=True,
        **ASKED,
        pseudonyms="patient",
        drop=["admitted", "left"],
    ).table
    assert set(again["patient"]) == set(made.table["patient"])
    assert not set(other["patient"]) & set(made.table["patient"])
    assert not set(stays["patient"]) & set(made.table["patient"])


@pytest.mark.each(3)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("blocks", [False, True])
def test_it_is_the_same_in_every_place_and_format(kind, blocks, stays, made, key, tmp_path, monkeypatch):
    if blocks:
        from incrowd.rows import one_machine
        from incrowd.rows.blocks import held

        monkeypatch.setattr(one_machine, "_TEXT", 0)
        monkeypatch.setattr(one_machine, "_CELLS", 0)
        monkeypatch.setattr(held, "block_rows", lambda *_: 50)
    table, to = tmp_path / f"stays.{kind}", tmp_path / f"release.{kind}"
    _ = stays.write_csv(table) if kind == "csv" else stays.write_parquet(table, row_group_size=50)
    incrowd.release(table, to=to, key_file=key, **ASKED, **KEYED)
    written = pl.read_csv(to, try_parse_dates=True) if kind == "csv" else pl.read_parquet(to)
    names = ["patient", "admitted", "left"]
    expected = made.table.select(names).sort("patient")
    assert written.select(names).cast(expected.schema).sort("patient").equals(expected)
    verdict = incrowd.verify(to)
    assert verdict.passed
    open_ones = {one.name for one in verdict.statements if str(one.standing) == "not recounted"}
    assert "pseudonyms and shifted dates follow from the table" in open_ones


def test_a_recipient_sees_that_a_pseudonym_has_another_form(stays, key, tmp_path):
    to = tmp_path / "release.parquet"
    incrowd.release(stays, to=to, key_file=key, **ASKED, **KEYED)
    frame = pl.read_parquet(to)
    broken = frame.with_columns(
        pl.when(pl.int_range(ROWS) == 3).then(pl.lit("M0003")).otherwise("patient").alias("patient")
    )
    certificate = json.loads((tmp_path / "release.parquet.certificate.json").read_text())
    assert incrowd.verify(frame, certificate=certificate).passed
    failed = [one.name for one in incrowd.verify(broken, certificate=certificate).failed]
    assert failed == ["patient pseudonyms"]


def test_the_page_and_the_recipe_ask_for_the_same(stays, key, tmp_path, capsys, monkeypatch):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["incrowd", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0

    table, release, recipe = tmp_path / "stays.csv", tmp_path / "release.csv", tmp_path / "recipe.yaml"
    stays.write_csv(table)
    recipe.write_text(
        "columns: {age: {role: quasi-identifier}, sex: {role: quasi-identifier}, ill: {role: target}}\n"
        "pseudonyms: [patient]\nshift_dates: [admitted, left]\nshift_days: 50\nk: 4\nclass_sensitive: no\n"
    )
    assert read_recipe(recipe).named(Role.PSEUDONYM, Role.SHIFTED) == ["patient", "admitted", "left"]
    beside = ["--report", tmp_path / "report.html", "--plan", tmp_path / "plan.json", "--json"]
    assert run("release", table, "--recipe", recipe, "--key-file", key, "--to", release, *beside) == 0
    words = capsys.readouterr().out
    words += "".join(path.read_text() for path in tmp_path.iterdir() if path.suffix in (".csv", ".json", ".html"))
    assert KEY not in words
    assert pl.read_csv(release)["patient"].str.starts_with("p_").all()
    assert run("verify", release, "--recipe", recipe) == 0
    assert "FAILED" not in capsys.readouterr().out
    assert run("attack", release, "--original", table, "--only", "row-order") in (0, 1)


def test_naming_less_than_a_recipe_makes_nothing_plain():
    recipe = Recipe(pseudonyms=["patient", "mother"], shift_dates=["seen"])
    kept = recipe_of({"recipe": recipe, "pseudonyms": ["patient"], "shift_dates": ["left"]})
    assert kept.named(Role.PSEUDONYM) == ["patient", "mother"]
    assert kept.named(Role.SHIFTED) == ["seen", "left"]


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        (
            {**KEYED, "quasi_identifiers": ["age", "admitted"]},
            SchemaError,
            "both quasi-identifier and shifted, for what a key",
        ),
        ({**KEYED, "sensitive": ["patient"]}, SchemaError, "both sensitive and pseudonym"),
        ({"shift_dates": ["left"]}, ParameterError, r"Dates are shifted by person.*shift_by='patient_id'"),
        ({"shift_dates": ["left"], "shift_by": "left"}, ParameterError, "cannot be shifted by itself"),
        ({"shift_dates": ["left"], "shift_by": "who"}, ParameterError, "no column 'who'"),
        ({"pseudonyms": ["pateint"]}, ParameterError, "Did you mean 'patient'"),
        ({**KEYED, "shift_days": 0}, ParameterError, "shift_days is a whole number of days, from 1 to 36,500"),
        ({**KEYED, "preset": "safe-harbor"}, ParameterError, "allows neither pseudonyms"),
        ({**KEYED, "reading": {"coarsen": {"left": "year"}}}, ParameterError, "cannot be coarsened"),
        ({"shift_by": "patient"}, ParameterError, "Nothing is made with a key"),
        ({}, ParameterError, "Nothing is made with a key"),
    ],
)
def test_what_does_not_fit_together_is_refused(asked, error, words, stays, key):
    with pytest.raises(error, match=words):
        incrowd.release(stays, key_file=key, **{**ASKED, **asked})


def test_a_key_is_needed_and_not_made_unasked(stays, tmp_path):
    with pytest.raises(ParameterError, match="a key that stays with you"):
        incrowd.release(stays, **ASKED, **KEYED)
    with pytest.raises(incrowd.IncrowdError, match="does not exist"):
        incrowd.release(stays, key_file=tmp_path / "key.txt", **ASKED, **KEYED)
    assert not (tmp_path / "key.txt").exists()


def test_pseudonyms_that_repeat_need_a_word_and_count_among_unchanged_columns(key):
    rows = [
        (f"M{i:03d}", "abcdef"[i % 6], 20 + i * 7 % 60, "yyn"[(i + visit) % 3]) for i in range(90) for visit in range(4)
    ]
    often = pl.DataFrame(rows, schema=["patient", "job", "age", "ill"], orient="row")
    asked = {**ASKED, "quasi_identifiers": ["job", "age"], "k": 30, "pseudonyms": "patient", "key_file": key}
    with pytest.raises(SchemaError, match=r"the pseudonym 'patient' repeats, 270 rows.*repeats=\['patient'\]"):
        incrowd.release(often, **asked)
    with pytest.raises(VerificationError, match=r"patient gives back .* rows of one person are linked.* Drop patient"):
        incrowd.release(often, repeats=["patient"], **asked)
    made = incrowd.release(often, repeats=["patient"], despite_unchanged=True, **asked)
    told = {notice.code: str(notice) for notice in made.report.notices}
    assert "rows are not persons here: 270 rows have the pseudonym of an earlier row, as you allow" in told["repeats"]


def test_dates_beside_that_are_not_shifted_are_told(stays, key):
    made = incrowd.release(stays, key_file=key, shift_dates="left", pseudonyms="patient", **ASKED)
    told = {notice.code: str(notice) for notice in made.report.notices}
    assert told["unshifted-dates"].startswith("admitted: dates are released as they are beside shifted ones")
    assert told["unshifted-dates"].endswith("shift_dates=['left', 'admitted'].")


def test_new_rows_lack_what_a_key_makes(stays, made):
    assert incrowd.transform(made.plan, stays).columns == ["age", "sex", "ill"]


def test_hiding_makes_no_pseudonyms(stays):
    with pytest.raises(ParameterError, match="patient would be published as they are"):
        incrowd.hide_cells(stays, [(1, "ill")], recipe=Recipe(pseudonyms=["patient"]))


def test_spark_is_refused_by_name(stays, key):
    with pytest.raises(ParameterError, match="made and verified on one machine"):
        incrowd.release(stays, key_file=key, run=incrowd.Run(engine="spark"), **ASKED, **KEYED)


def test_the_ledger_knows_people_by_what_they_were(stays, key):
    columns = tuple(Column(name, Role.PSEUDONYM if name == "patient" else Role.OTHER) for name in stays.columns)
    marked = [
        MarkedTable(source, Schema(columns), Marker(bytes(32)))
        for source in (read(stays), keyed(read(stays), Keying(key, ("patient",))))
    ]
    plain, hidden = (table.persons["patient"] for table in marked)
    assert (plain == hidden).all()


def test_what_a_recipe_says_of_types_does_not_count(stays, key):
    typed = Recipe(columns={"patient": {"role": "pseudonym", "type": "categorical"}, "left": {"type": "categorical"}})
    made = incrowd.release(stays, recipe=typed, key_file=key, shift_dates=["left", "admitted"], **ASKED)
    assert made.plan.schema["patient"].type is ColumnType.TEXT
    assert made.plan.schema["left"].type is ColumnType.DATE


def test_a_report_with_the_key_is_not_published(stays, key, tmp_path, monkeypatch):
    from incrowd.report import html

    monkeypatch.setattr(html, "report_html", lambda *_, **__: f"<!-- {read_key(key).hex()} -->")
    outputs = incrowd.Outputs(report=tmp_path / "report.html")
    measuring = incrowd.Measuring(risk=False)
    with pytest.raises(VerificationError, match="holds the key"):
        incrowd.release(
            stays, to=tmp_path / "out.csv", outputs=outputs, measuring=measuring, key_file=key, **ASKED, **KEYED
        )
    assert not list(tmp_path.glob("out*"))
