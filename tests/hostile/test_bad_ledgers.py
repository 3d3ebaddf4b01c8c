"""Ledgers that are damaged, open, interrupted: nothing is published that the book does not know."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from random import Random

import numpy as np
import polars as pl
import pytest

from incrowd.api import release
from incrowd.errors import LedgerError, OutputError
from incrowd.releases.ledger.book import ENDING, HEAD, Ledger, open_ledger
from incrowd.releases.ledger.entry import RELEASE, LedgerEntry, MarkedPeople
from incrowd.tables.options import Book

ROLES = {"quasi_identifiers": ["age", "job"], "target": "ill", "class_sensitive": False, "k": 5}
WORDS = ["release", "people.csv", "-q", "age,job", "--target", "ill", "-k", "5", "--class-sensitive", "no"]
WORDS += ["--to", "out.csv", "--ledger", "book"]


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


@pytest.fixture
def people(tmp_path):
    table = pl.DataFrame(
        {
            "age": [20 + (i * 7) % 41 for i in range(200)],
            "job": [f"KANARIE-{(i * i) % 6}" for i in range(200)],
            "ill": ["y" if (i * 3) % 7 < 3 else "n" for i in range(200)],
        }
    )
    table.write_csv(tmp_path / "people.csv")
    return table


def entry(book):
    [found] = book.glob(f"*{ENDING}")
    return found


@pytest.mark.each(3)
@pytest.mark.parametrize("damage", ["cut", "empty", "text", "folder"])
def test_a_damaged_entry_is_never_taken_for_none(people, tmp_path, damage):
    book = tmp_path / "book"
    release(people, ledger=book, **ROLES)
    file = entry(book)
    whole = file.read_bytes()
    file.unlink()
    match damage:
        case "cut":
            file.write_bytes(whole[: len(whole) // 2])
        case "empty":
            file.write_bytes(b"")
        case "text":
            file.write_text("{}")
        case "folder":
            file.mkdir()
    with pytest.raises(LedgerError, match=r"entry 0 was altered.*Put the folder back from a copy") as told:
        release(people, ledger=book, **ROLES)
    assert told.value.exit_status == 2
    assert "KANARIE" not in str(told.value)
    made = release(people, ledger=Book(book, despite_earlier=True), **ROLES)
    found = made.certificate["earlier_releases"]
    assert found["not_counted"] == ["the ledger was not sound, entry 0 was altered"]
    assert found["despite"] is True
    assert "not-counted" in {notice.code for notice in made.report.notices}
    with pytest.raises(LedgerError, match="altered"):
        release(people, ledger=book, **ROLES)


def test_the_book_is_written_before_the_release_appears(people, tmp_path, monkeypatch):
    target, seen = tmp_path / "out.csv", []
    add = Ledger.add

    def watched(self, *entered):
        seen.append(target.exists())
        add(self, *entered)

    monkeypatch.setattr(Ledger, "add", watched)
    release(people, ledger=tmp_path / "book", to=target, **ROLES)
    assert seen == [False]
    assert target.exists()


def test_a_book_that_cannot_be_written_holds_the_release_back(people, tmp_path, monkeypatch):
    def full(*_):
        raise OutputError("The ledger book cannot be written: No space left on device.")

    monkeypatch.setattr(Ledger, "add", full)
    with pytest.raises(OutputError, match="No space"):
        release(people, ledger=tmp_path / "book", to=tmp_path / "out.csv", **ROLES)
    assert not (tmp_path / "out.csv").exists()


def test_a_release_that_never_appeared_makes_later_ones_no_less_careful(people, tmp_path, monkeypatch):
    """The run dies between book and release: the book knows more than is out, and the same request goes through."""
    import incrowd.tables.publishing.staging as staging

    flush = staging.flush

    def dying(path):
        if path.name == "out.csv":
            raise OSError(5, "Input/output error")
        flush(path)

    monkeypatch.setattr(staging, "flush", dying)
    with pytest.raises(OutputError):
        release(people, ledger=tmp_path / "book", to=tmp_path / "out.csv", **ROLES)
    monkeypatch.setattr(staging, "flush", flush)
    assert not (tmp_path / "out.csv").exists()
    assert entry(tmp_path / "book")
    made = release(people, ledger=tmp_path / "book", to=tmp_path / "out.csv", **ROLES)
    assert made.certificate["earlier_releases"]["same_groups"]


DYING = """
import os, signal, sys
from incrowd.cli.main import main
from incrowd.releases.ledger import book

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

match sys.argv.pop(1):
    case "opened":
        book.Ledger.add = die
    case "entered":
        book.write_head = die
main()
"""


@pytest.mark.each(2)
@pytest.mark.parametrize(("moment", "entries"), [("opened", 1), ("entered", 2)])
def test_a_killed_run_leaves_a_book_that_opens(people, tmp_path, moment, entries):
    """Killed by itself, when the book is open and when the entry is in it but not yet the new head."""
    book = tmp_path / "book"
    release(people, ledger=book, **ROLES)
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "home"), "POLARS_MAX_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", DYING, moment, *WORDS], cwd=tmp_path, env=environment, check=False)
    assert run.returncode == -signal.SIGKILL
    assert (book / ".ledger.incrowd").is_dir()
    assert len(list(book.glob(f"*{ENDING}"))) == entries
    assert not (tmp_path / "out.csv").exists()
    made = release(people, ledger=book, **ROLES)
    assert made.certificate["earlier_releases"]["same_groups"]
    assert not [file for file in book.iterdir() if file.name.startswith(".")]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The files of a book with two entries."""
    folder = tmp_path_factory.mktemp("sound") / "book"
    marks = np.arange(8, dtype=np.uint64).reshape(-1, 2)
    people = MarkedPeople((marks,), marks, np.zeros(4, np.int32), {"age": marks}, {"age": marks})
    with open_ledger(folder) as book:
        for k in (5, 6):
            book.add(book.prepared(LedgerEntry(RELEASE, k=k, quasi_identifiers=("age",), people=4), people))
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def mutated(content, random):
    """Some bytes replaced, cut out, or said twice."""
    start = random.randrange(len(content))
    end = min(len(content), start + random.choice([1, 2, 30]))
    middle = random.choice([b"", random.randbytes(end - start), content[start:end] * 2, b'"', b"9" * 5000, b"[" * 5000])
    return content[:start] + middle + content[end:]


@pytest.mark.parametrize("seed", range(4))
def test_no_byte_of_a_book_can_be_changed_unseen(sound, tmp_path, seed):
    random = Random(seed)
    for number in range(60):
        folder, name = tmp_path / f"book {number}", random.choice(sorted(sound))
        folder.mkdir()
        changed = mutated(sound[name], random)
        for other, content in sound.items():
            (folder / other).write_bytes(changed if other == name else content)
        try:
            with open_ledger(folder) as book:
                fault, entries = book.fault, [one.people for one in book.releases()]
        except LedgerError:
            continue
        assert fault != "sound" or meaning(name, changed) == meaning(name, sound[name])
        assert len(entries) <= 2


def meaning(name, content):
    """What a file says: the spaces of its JSON are no part of it."""
    if name == HEAD:
        return json.loads(content)
    if not name.endswith(ENDING):
        return content
    header, mac, payload = content.split(b"\n", 2)
    return json.loads(header), mac, payload
