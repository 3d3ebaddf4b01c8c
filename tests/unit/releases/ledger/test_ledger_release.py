"""Releases with a ledger: the same request gets the same groups, another one is counted together with it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from incrowd.api import release
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import LedgerError, ParameterError, VerificationError
from incrowd.releases.ledger.book import ENDING, open_ledger
from incrowd.releases.ledger.overlap import COLUMNS
from incrowd.tables.options import Book, Measuring, Outputs, Run

ROWS = 240
ROLES = {"quasi_identifiers": ["age", "job"], "target": "ill", "class_sensitive": False, "sensitive": ["row"]}


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


@pytest.fixture
def people():
    return pl.DataFrame(
        {
            "row": [f"r{i}" for i in range(ROWS)],
            "age": [20 + (i * 7) % 41 for i in range(ROWS)],
            "job": [f"j{(i * i) % 6}" for i in range(ROWS)],
            "town": [f"t{i % 20}" for i in range(ROWS)],
            "ill": ["y" if (i * 7) % 41 > 20 or (i % 6 in (2, 4) and i % 5) else "n" for i in range(ROWS)],
        }
    )


@pytest.fixture
def made(people, tmp_path):
    """A release with the ledger; the table has a column by which rows are found again."""

    def make(table=people, **asked):
        return release(table, **(ROLES | {"k": 5, "ledger": tmp_path / "book"} | asked))

    return make


def cells(table: pl.DataFrame) -> dict[str, tuple]:
    return {row["row"]: (row["age"], row["job"]) for row in table.iter_rows(named=True)}


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "book").glob(f"*{ENDING}"))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kactus", "kactus-plus", "mondrian", "tdr", "iack"])
def test_the_same_request_gets_the_same_groups_in_another_order(made, method):
    one, other = made(method=method), made(method=method)
    assert cells(one.table) == cells(other.table)
    assert one.table["row"].to_list() != other.table["row"].to_list()
    found = other.certificate["earlier_releases"]
    assert found["same_groups"]
    assert found["people"] == {"table": ROWS, "shared": ROWS}
    assert [(each["by"], each["relation"]) for each in found["compared"]] == [(COLUMNS, "complete")]
    assert one.certificate["earlier_releases"]["compared"] == []


@pytest.mark.slow
def test_the_draw_is_a_secret_of_the_ledger(tmp_path):
    """Every book draws otherwise, so what repeats is the book's doing."""
    asked = {"quasi_identifiers": ["age", "sex", "marital_status", "insurance"], "sensitive": ["patient_id"]}
    patients = make_patients(400)

    def drawn(book):
        made = release(patients, ledger=tmp_path / book, k=10, target="readmitted", class_sensitive=False, **asked)
        return tuple(made.table.sort("patient_id").select(asked["quasi_identifiers"]).iter_rows())

    books = [f"book {number}" for number in range(6)]
    first = [drawn(book) for book in books]
    assert len(set(first)) > 1
    assert [drawn(book) for book in books] == first


def test_a_file_and_a_frame_of_the_same_rows_are_one_table(made, people, tmp_path):
    people.write_csv(tmp_path / "people.csv")
    made(table=tmp_path / "people.csv", to=tmp_path / "out.csv")
    assert made().certificate["earlier_releases"]["same_groups"]


def test_other_groups_are_refused_and_leave_nothing_behind(made, tmp_path):
    made()
    before = entries(tmp_path)
    with pytest.raises(VerificationError, match="groups smaller than 7") as told:
        made(k=7, method="mondrian", to=tmp_path / "out.csv", outputs=Outputs(report=tmp_path / "out.html"))
    assert "despite_earlier=True" in str(told.value)
    assert entries(tmp_path) == before
    assert not (tmp_path / "out.csv").exists()
    assert not (tmp_path / "out.html").exists()


def test_published_despite_earlier_ones_it_says_so_everywhere(made, tmp_path):
    first = made(to=tmp_path / "first.csv")
    page = tmp_path / "out.html"
    other = made(
        k=7, method="mondrian", ledger=Book(tmp_path / "book", despite_earlier=True), outputs=Outputs(report=page)
    )
    found = other.certificate["earlier_releases"]
    assert found["despite"] is True
    assert found["compared"][0]["sha256"] == first.certificate["output"]["sha256"]
    assert found["same_groups"] is False
    assert 0 < found["smallest"]["shared"] < 7
    assert found["below_k"]["shared"] > 0
    assert "despite-earlier" in {notice.code for notice in other.report.notices}
    text = page.read_text(encoding="utf-8")
    assert "It was published despite that." in text
    assert "reveals more than was promised" in text
    again = made(k=7, method="mondrian").certificate["earlier_releases"]
    assert again["same_groups"]
    assert again["despite"] is False


def test_coarser_groups_need_no_leave(made):
    made(method="mondrian")
    coarse = made(k=ROWS)
    assert coarse.certificate["earlier_releases"]["below_k"] == {"shared": 0, "new": 0, "left": 0}
    assert coarse.certificate["earlier_releases"]["despite"] is False


def test_what_is_promised_beyond_k_is_kept_together_by_the_same_groups_only(made):
    asked = {"require": "distinct-l=2 on ill", "class_sensitive": True, "method": "mondrian"}
    made(**asked)
    assert made(**asked).certificate["earlier_releases"]["same_groups"]
    with pytest.raises(VerificationError, match="groups"):
        made(**asked | {"method": "kactus"})


def test_finer_groups_after_a_promise_beyond_k_were_not_counted(made):
    made(k=ROWS, require="distinct-l=2 on ill", class_sensitive=True)
    with pytest.raises(VerificationError, match="was not counted"):
        made(k=5, method="mondrian")


def test_a_column_that_was_hidden_cannot_be_shown_as_it_is(made):
    hidden = made(quasi_identifiers=["age", "job", "town"], method="kactus")
    assert hidden.table["town"].null_count() == ROWS
    with pytest.raises(VerificationError, match="smaller than 5"):
        made(method="kactus")


def test_another_column_left_out_is_still_the_same_request(made):
    made()
    again = made(identifiers=["town"], repeats=["town"])
    assert again.certificate["earlier_releases"]["same_groups"]


def test_a_column_that_was_shown_as_it_is_may_be_hidden_later(made):
    made(k=ROWS)
    assert made(k=ROWS, quasi_identifiers=["age", "job", "town"]).verdict.passed


def test_seed_and_ledger_exclude_each_other(people, tmp_path):
    with pytest.raises(ParameterError, match="seed"):
        release(people, run=Run(seed=1), ledger=tmp_path / "book", **ROLES)
    assert not (tmp_path / "book").exists()


def test_a_folder_has_the_ledger_of_a_file_and_its_risk(people, tmp_path, monkeypatch):
    folder, book = tmp_path / "parts", tmp_path / "book"
    folder.mkdir()
    for place, part in enumerate((people[:60], people[60:])):
        part.write_parquet(folder / f"part{place}.parquet")
    release(people, ledger=book, **ROLES)
    again = release(folder, to=tmp_path / "again.parquet", ledger=book, **ROLES, run=Run(memory="4GB"))
    assert again.certificate["earlier_releases"]["same_groups"]
    with monkeypatch.context() as patched:
        patched.setattr("incrowd.rows.one_machine._OF_A_CELL", 10**9)
        with pytest.raises(ParameterError, match="A table with a ledger is worked on as a whole"):
            release(folder, to=tmp_path / "large.parquet", ledger=book, **ROLES, run=Run(memory="4GB"))
    assert not (tmp_path / "large.parquet").exists()
    made = release(folder, to=tmp_path / "out.parquet", outputs=Outputs(report=tmp_path / "out.html"), **ROLES)
    whole = release(people, to=tmp_path / "whole.parquet", measuring=Measuring(risk=True), **ROLES)
    assert made.certificate["risk"]["before"] == whole.certificate["risk"]["before"]


@pytest.mark.parametrize("asked", [{"ledger": "book"}, {"measuring": Measuring(attacks=True)}])
def test_spark_has_none_of_them(tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="On Spark"):
        release("people.parquet", run=Run(engine="spark"), to="out", **ROLES, **asked)
    assert list(tmp_path.iterdir()) == []


def test_the_entry_holds_no_cell_and_no_order_of_the_table(made, people, tmp_path):
    made()
    [file] = entries(tmp_path)
    content = file.read_bytes()
    assert not [value for value in {*people["row"], *people["town"]} if value.encode() + b'"' in content]
    header = json.loads(content.split(b"\n")[0])
    assert header["quasi_identifiers"] == ["age", "job"]
    with open_ledger(tmp_path / "book") as book:
        [one] = book.releases()
        rows = one.people.rows
    assert [tuple(mark) for mark in rows.tolist()] == sorted(tuple(mark) for mark in rows.tolist())
    assert len(rows) == ROWS


def test_the_certificate_names_the_entry(made, tmp_path):
    issued = [made().certificate["earlier_releases"], made().certificate["earlier_releases"]]
    with open_ledger(tmp_path / "book") as book:
        assert [(one.number, one.link.mac) for one in book.releases()] == [(e["entry"], e["mac"]) for e in issued]


def test_who_vouched_for_other_people_stands_in_entry_and_certificate(made, people, tmp_path):
    made()
    strangers = people.with_columns(age=pl.col("age") + 1000, job=pl.lit("x"))
    with pytest.raises(ParameterError, match="no release with the number 5"):
        made(table=strangers, ledger=Book(tmp_path / "book", other_people=[5]))
    found = made(
        table=people, ledger=Book(tmp_path / "book", other_people=[0]), outputs=Outputs(responsible="Ada")
    ).certificate["earlier_releases"]
    word = {"entry": 0, "what": "other people", "by": "Ada"}
    assert found["said"] == [word]
    assert [(one["by"], one["relation"]) for one in found["compared"]] == [("your word", "other people")]
    with open_ledger(tmp_path / "book") as book:
        assert book.releases()[1].entry.vouched == (word,)


def test_what_cannot_be_told_is_published_despite_and_listed(made, people, tmp_path):
    made()
    renamed = people.rename({"age": "years"})
    asked = {"table": renamed, "quasi_identifiers": ["years", "job"]}
    with pytest.raises(LedgerError, match="use same-column years=age") as told:
        made(**asked)
    assert told.value.exit_status == 2
    found = made(**asked, ledger=Book(tmp_path / "book", despite_earlier=True))
    assert found.certificate["earlier_releases"]["not_counted"] == ["entry 0, cannot be compared"]
    assert found.certificate["earlier_releases"]["despite"] is True
    assert "not-counted" in {notice.code for notice in found.report.notices}


def test_a_renamed_column_that_is_named_gets_the_same_groups(made, people, tmp_path):
    first = made()
    asked = {"quasi_identifiers": ["years", "job"], "ledger": Book(tmp_path / "book", same_columns={"years": "age"})}
    again = made(table=people.rename({"age": "years"}), **asked)
    assert again.certificate["earlier_releases"]["same_groups"]
    assert cells(again.table.rename({"years": "age"})) == cells(first.table)


def test_presence_known_keeps_those_who_joined_or_left_in_company(people, tmp_path):
    people = people.with_columns(number=pl.Series(range(ROWS)), age=pl.lit(40), job=pl.lit("cook"))
    asked = {**ROLES, "identifiers": ["number"], "k": 5}
    release(people, ledger=tmp_path / "book", **asked)
    with pytest.raises(VerificationError, match="in this one no more"):
        release(people.head(ROWS - 1), ledger=Book(tmp_path / "book", presence_known=True), **asked)
    made = release(people.head(ROWS - 1), ledger=tmp_path / "book", **asked)
    assert made.certificate["earlier_releases"]["below_k"] == {"shared": 0, "new": 0, "left": 1}
    assert "joined-or-left" in {notice.code for notice in made.report.notices}
