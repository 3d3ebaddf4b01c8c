"""Keeping a book: withdrawing, entering again, a new key, books of version 1, certificates that show a rollback."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from incrowd.api import release
from incrowd.cli.main import app
from incrowd.errors import IncrowdError, LedgerError, OutputError, ParameterError, VerificationError
from incrowd.releases.ledger.book import OLD_ENDING, open_ledger, table_mark
from incrowd.releases.ledger.entry import KEY, RELEASE
from incrowd.releases.ledger.upkeep import pending
from incrowd.tables.options import Book

ROWS = 240
ROLES = {"quasi_identifiers": ["age", "job"], "target": "ill", "class_sensitive": False, "k": 5}
OTHER = {"method": "mondrian", "k": 7}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    people().write_csv("people.csv")


def people():
    return pl.DataFrame(
        {
            "number": [f"P-{i:04d}" for i in range(ROWS)],
            "age": [20 + (i * 7) % 41 for i in range(ROWS)],
            "job": [f"j{(i * i) % 6}" for i in range(ROWS)],
            "ill": ["y" if (i * 7) % 41 > 20 or (i % 6 in (2, 4) and i % 5) else "n" for i in range(ROWS)],
        }
    )


def made(to=None, ledger="book", **asked):
    return release("people.csv", ledger=ledger, to=to, **(ROLES | {"identifiers": ["number"]} | asked))


def run(*words):
    """Exit status and output; incrowd's own errors are raised."""
    done = CliRunner().invoke(app, ["ledger", *words])
    if isinstance(done.exception, IncrowdError):
        raise done.exception
    return done.exit_code, done.output


def test_the_list_tells_what_there_is():
    made()
    run("withdraw", "book", "0")
    status, out = run("list", "book")
    assert status == 0
    assert "0  " in out
    assert "withdrawn release  5-anonymity  240" in out
    assert "release 0 never went out" in out
    assert "The ledger is sound." in out
    told = json.loads(run("list", "book", "--json")[1])
    assert (told["state"], len(told["entries"])) == ("sound", 2)


@pytest.mark.parametrize("words", [("list",), ("check",), ("withdraw", "0"), ("upgrade", "--table", "people.csv")])
def test_a_ledger_that_is_not_there_is_not_begun(words, tmp_path):
    with pytest.raises(OutputError, match="does not exist"):
        run(words[0], "book", *words[1:])
    assert not (tmp_path / "book").exists()


def test_a_withdrawn_release_is_counted_no_more():
    made()
    with pytest.raises(VerificationError):
        made(**OTHER)
    run("withdraw", "book", "0")
    assert made(**OTHER).certificate["earlier_releases"]["compared"] == []
    for number in ("0", "1", "7"):
        with pytest.raises(ParameterError, match="no release with the number"):
            run("withdraw", "book", number)


def test_certificates_show_that_a_book_was_set_back(tmp_path):
    made(to="one.csv")
    shutil.copytree("book", "copy")
    made(to="two.csv")
    issued = ["one.csv.certificate.json", "two.csv.certificate.json"]
    assert run("check", "book", *issued) == (0, "The ledger is sound.\n")
    assert run("check", "copy") == (0, "The ledger is sound.\n")
    status, out = run("check", "copy", *issued, "--json")
    [wrong] = json.loads(out)["faults"]
    assert status == 1
    assert wrong.startswith("two.csv.certificate.json: entry 1")
    lost = tmp_path / "book" / "000001.entry"
    assert "entry 1" in run("add", "copy", str(lost))[1]
    assert "already" in run("add", "copy", str(lost))[1]
    assert run("check", "copy", *issued) == (0, "The ledger is sound.\n")
    run("withdraw", "copy", "1")
    assert run("check", "copy", *issued)[0] == 1


def test_a_book_that_is_not_sound_is_told_by_its_check_and_not_added_to():
    made()
    made()
    Path("book", "000000.entry").unlink()
    assert run("check", "book") == (1, "the ledger is not sound: an entry before number 1 is gone\n")
    with pytest.raises(LedgerError, match="not sound"):
        run("withdraw", "book", "1")


def test_a_certificate_without_a_ledger_shows_nothing(tmp_path):
    made()
    release("people.csv", to="plain.csv", identifiers=["number"], **ROLES)
    with pytest.raises(LedgerError, match="without a ledger"):
        run("check", "book", "plain.csv.certificate.json")
    (tmp_path / "no.json").write_text("[]")
    with pytest.raises(LedgerError, match="no certificate"):
        run("check", "book", "no.json")


def test_a_release_made_without_the_book_is_entered_by_its_certificate():
    made()
    run("withdraw", "book", "0")
    release("people.csv", to="plain.csv", identifiers=["number"], **ROLES)
    with pytest.raises(ParameterError, match="--table"):
        run("add", "book", "plain.csv.certificate.json")
    assert "entry 2" in run("add", "book", "plain.csv.certificate.json", "--table", "people.csv")[1]
    with pytest.raises(LedgerError, match="groups not known"):
        made()
    others = people().with_columns(number=pl.col("number") + "x", age=pl.col("age") + 500)
    others.write_csv("people.csv")
    assert made().certificate["earlier_releases"]["compared"][0]["relation"] == "none"


def test_an_entry_of_another_book_is_not_taken(tmp_path):
    made()
    release("people.csv", ledger="other", identifiers=["number"], **ROLES)
    with pytest.raises(LedgerError, match="no entry of this ledger"):
        run("add", "book", str(tmp_path / "other" / "000000.entry"))


def test_a_new_key_keeps_the_groups_while_the_old_one_is_there(tmp_path):
    first = made(to="one.csv")
    old = (tmp_path / "book" / KEY).read_bytes()
    assert "1 releases are marked again" in run("rekey", "book", "--table", "0=people.csv")[1]
    assert (tmp_path / "book" / KEY).read_bytes() != old
    assert run("check", "book", "one.csv.certificate.json") == (0, "The ledger is sound.\n")
    again = made().certificate["earlier_releases"]
    assert (again["same_groups"], again["people"]["shared"]) == (True, ROWS)
    assert first.verdict.passed
    with pytest.raises(VerificationError):
        made(**OTHER)


def test_a_new_key_without_identifiers_keeps_the_groups(tmp_path):
    made(identifiers=[], sensitive=["number"])
    run("rekey", "book", "--table", "0=people.csv")
    assert made(identifiers=[], sensitive=["number"]).certificate["earlier_releases"]["same_groups"]


def test_after_the_key_is_lost_people_are_known_again_and_groups_are_not(tmp_path):
    made()
    made()
    (tmp_path / "book" / KEY).unlink()
    with pytest.raises(LedgerError, match="rekey"):
        made()
    out = run("rekey", "book", "--table", "0=people.csv")[1]
    assert "1 are marked again; who is in which group is lost" in out
    assert "1 have no people any more" in out
    assert (tmp_path / "book" / "before rekeying 1" / "000000.entry").exists()
    with pytest.raises(LedgerError, match="groups not known"):
        made()
    with pytest.raises(LedgerError, match="people not known"):
        made(ledger=Book("book", other_people=[0]))
    assert made(ledger=Book("book", other_people=[0, 1])).certificate["earlier_releases"]["said"]


@pytest.mark.parametrize(
    ("table", "words"),
    [("people.csv", "number of a release"), ("4=people.csv", "no release with the number 4"), ("0=short.csv", "rows")],
)
def test_a_new_key_is_not_made_for_other_tables(table, words, tmp_path):
    people().head(20).write_csv("short.csv")
    made()
    with pytest.raises(IncrowdError, match=words):
        run("rekey", "book", "--table", table)
    assert run("check", "book") == (0, "The ledger is sound.\n")


def old_book(folder, *tables, k=5):
    """A book as version 1 wrote it: every 24th row of a table is in one group."""
    folder.mkdir(mode=0o700)
    key = bytes(range(32))
    (folder / KEY).write_bytes(key)
    for number, table in enumerate(tables):
        header = {"incrowd_ledger": 1, "mark": table_mark(table, key), "asked": "a", "key": "00" * 32, "k": k}
        header |= {"made": "2026-01-02T03:04:05+00:00", "sha256": "0f" * 32, "requirement": "5-anonymity"}
        header |= {"version": "0", "quasi_identifiers": ["age", "job"], "unchanged": ["ill"]}
        classes = pa.array([row % 24 for row in range(table.height)], pa.int32())
        said = {b"incrowd.releases.ledger": json.dumps(header).encode()}
        pq.write_table(
            pa.table({"class": classes}).replace_schema_metadata(said), folder / f"2026-{number}{OLD_ENDING}"
        )


def test_a_table_that_version_1_knows_brings_its_entry_up_to_date(tmp_path):
    old_book(tmp_path / "book", pl.read_csv("people.csv", infer_schema=False))
    with pytest.raises(VerificationError):
        made(**OTHER)
    with open_ledger(tmp_path / "book") as book:
        kinds = [one.entry.kind for one in book.read()]
        assert (kinds, pending(book), book.fault) == (["version 1", RELEASE], [], "sound")
        assert book.releases()[0].people.persons
    people().sort("age").write_csv("people.csv")
    with pytest.raises(VerificationError):
        made(**OTHER)


def test_other_tables_of_version_1_cannot_be_told(tmp_path):
    whole = pl.read_csv("people.csv", infer_schema=False)
    old_book(tmp_path / "book", whole)
    whole.sort("job").write_csv("people.csv")
    with pytest.raises(LedgerError, match="release 0 of the ledger is about the same people: version 1"):
        made()
    whole.write_csv("old.csv")
    out = run("upgrade", "book", "--table", "old.csv", "--identifiers", "number")[1]
    assert "old.csv: 1 of the releases" in out
    assert "0 releases of version 1 are left" in out
    with pytest.raises(VerificationError):
        made(**OTHER)


def test_version_1_may_be_about_other_people(tmp_path):
    old_book(tmp_path / "book", people().head(30).cast(pl.String))
    assert made(ledger=Book("book", other_people=[0])).certificate["earlier_releases"]["said"]


@pytest.mark.parametrize("damage", ["edited", "gone", "another"])
def test_files_of_version_1_are_bound(tmp_path, damage):
    old_book(tmp_path / "book", people().cast(pl.String))
    run("list", "book")
    [file] = (tmp_path / "book").glob(f"*{OLD_ENDING}")
    if damage == "edited":
        file.write_bytes(file.read_bytes() + b" ")
    elif damage == "gone":
        file.unlink()
    else:
        shutil.copy(file, file.with_name(f"more{OLD_ENDING}"))
    with pytest.raises(LedgerError, match=r"was altered|is gone|is not bound"):
        made()


def test_an_entry_of_version_1_with_k_as_text_is_not_counted_as_a_number(tmp_path):
    old_book(tmp_path / "book", pl.read_csv("people.csv", infer_schema=False), k="5")
    with pytest.raises(LedgerError, match="version 1"):
        made()
