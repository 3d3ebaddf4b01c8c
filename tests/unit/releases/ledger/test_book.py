"""The book itself: who can read it, what it holds, what is found out about it, what it does not take for a book."""

from __future__ import annotations

import json
import shutil
import stat
from dataclasses import replace

import numpy as np
import pytest

from incrowd.errors import LedgerError, OutputError
from incrowd.releases.ledger.book import HEAD, Ledger, entry_files, open_ledger
from incrowd.releases.ledger.entry import KEY, RELEASE, LedgerEntry, MarkedPeople, entry_of

ENTRY = LedgerEntry(
    RELEASE, made="2026-01-02T03:04:05+00:00", sha256="0f" * 32, k=5, quasi_identifiers=("age",), people=3
)
MARKS = np.array([[9, 9], [1, 2], [1, 1]], np.uint64)
PEOPLE = MarkedPeople(
    (MARKS,), MARKS[::-1].copy(), np.array([1, 1, -1], np.int32), {"age": MARKS[:1]}, {"age": MARKS[1:]}
)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def enter(book, entry=ENTRY, people=PEOPLE):
    return book.add(book.prepared(entry, people))


@pytest.fixture
def folder(tmp_path):
    """A book with three entries."""
    with open_ledger(tmp_path / "book") as book:
        for number in range(3):
            enter(book, replace(ENTRY, k=5 + number))
    return tmp_path / "book"


def fault_of(folder):
    with open_ledger(folder) as book:
        return book.fault


def test_what_is_entered_is_read_back_in_the_order_of_marks_and_nobody_else_can(folder):
    with open_ledger(folder) as book:
        entries = book.releases()
        assert book.fault == "sound"
    assert [one.entry for one in entries] == [replace(ENTRY, k=k) for k in (5, 6, 7)]
    people = entries[0].people
    assert people.persons[0].tolist() == [[1, 1], [1, 2], [9, 9]]
    assert people.rows.tolist() == [[9, 9], [1, 2], [1, 1]]
    assert people.classes.tolist() == [-1, 1, 1]
    assert people.alike["age"].tolist() == [[9, 9]]
    assert people.values["age"].tolist() == [[1, 2], [1, 1]]
    assert mode(folder) == 0o700
    assert {file.name: mode(file) for file in folder.iterdir()} == dict.fromkeys(
        ["000000.entry", "000001.entry", "000002.entry", HEAD, KEY], 0o600
    )


def test_an_empty_folder_becomes_a_book_and_is_closed_to_others(tmp_path):
    (tmp_path / "book").mkdir(mode=0o755)
    with open_ledger(tmp_path / "book"):
        assert mode(tmp_path / "book") == 0o700


def test_a_folder_of_other_files_is_no_book_and_stays_as_it_is(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    tmp_path.chmod(0o755)
    with pytest.raises(OutputError, match="not a ledger"), open_ledger(tmp_path):
        pass
    assert mode(tmp_path) == 0o755
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_is_no_book_and_folders_are_not_invented(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be opened"), open_ledger(tmp_path / "file"):
        pass
    with pytest.raises(OutputError, match="Make the folder first"), open_ledger(tmp_path / "no" / "book"):
        pass


def test_a_book_is_open_once(tmp_path):
    with (
        open_ledger(tmp_path / "book"),
        pytest.raises(OutputError, match="Another run"),
        open_ledger(tmp_path / "book"),
    ):
        pass
    with open_ledger(tmp_path / "book"):
        pass


def test_a_lost_or_damaged_key_is_never_replaced_by_a_new_one(folder):
    key = (folder / KEY).read_bytes()
    (folder / KEY).write_bytes(b"short")
    with pytest.raises(LedgerError, match=r"damaged\. Put it back from a copy") as told, open_ledger(folder):
        pass
    assert "new one" not in str(told.value)
    (folder / KEY).unlink()
    for _ in range(2):
        with pytest.raises(LedgerError, match="rekey"), open_ledger(folder):
            pass
        assert not (folder / KEY).exists()
    (folder / KEY).write_bytes(key)
    assert fault_of(folder) == "sound"


def test_a_key_may_be_kept_elsewhere(tmp_path):
    folder, key = tmp_path / "book", tmp_path / "safe.key"
    with open_ledger(folder, key) as book:
        enter(book)
    assert not (folder / KEY).exists()
    assert mode(key) == 0o600
    with open_ledger(folder, key) as book:
        assert book.fault == "sound"
    with pytest.raises(LedgerError, match="ledger-key"), open_ledger(folder):
        pass
    (tmp_path / "other.key").write_bytes(bytes(32))
    with open_ledger(folder, tmp_path / "other.key") as book:
        assert book.fault == "another key"


def test_an_emptied_book_is_not_taken_for_a_new_one(folder):
    for file in [*entry_files(folder), folder / HEAD]:
        file.unlink()
    with pytest.raises(LedgerError, match="they are gone"), open_ledger(folder):
        pass


def _edit(file, old, new):
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new, 1))


def _swap(one, other):
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


DAMAGE = {
    "edited": (lambda f: _edit(f / "000001.entry", b'"k":6', b'"k":2'), "entry 1 was altered"),
    "k as text": (lambda f: _edit(f / "000001.entry", b'"k":6', b'"k":"6"'), "entry 1 was altered"),
    "payload": (lambda f: _edit(f / "000001.entry", b"ARROW1", b"ARROW2"), "entry 1 was altered"),
    "cut": (lambda f: (f / "000001.entry").write_bytes(b"{"), "entry 1 was altered"),
    "empty": (lambda f: (f / "000002.entry").write_bytes(b""), "entry 2 was altered"),
    "nested": (lambda f: (f / "000001.entry").write_bytes(b"[" * 100_000 + b"\n\n"), "entry 1 was altered"),
    "deleted": (lambda f: (f / "000001.entry").unlink(), "an entry before number 2 is gone"),
    "last deleted": (lambda f: (f / "000002.entry").unlink(), "the last entries are gone"),
    "exchanged": (lambda f: _swap(f / "000001.entry", f / "000002.entry"), "an entry before number 2 is gone"),
    "twice": (lambda f: shutil.copy(f / "000001.entry", f / "000003.entry"), "an entry before number 1 is gone"),
    "head gone": (lambda f: (f / HEAD).unlink(), "the head is gone"),
    "head cut": (lambda f: (f / HEAD).write_text("{"), "the head was altered"),
    "head says less": (lambda f: _edit(f / HEAD, b'"entries": 3', b'"entries": 2'), "the head was altered"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_was_done_to_a_book_is_found_out(folder, damage):
    do, words = DAMAGE[damage]
    do(folder)
    assert fault_of(folder) == words
    assert fault_of(folder) == words


def test_a_head_one_behind_is_completed_and_two_behind_is_not(tmp_path):
    folder, heads = tmp_path / "book", []
    with open_ledger(folder) as book:
        for _ in range(3):
            heads.append((folder / HEAD).read_bytes())
            enter(book)
    (folder / HEAD).write_bytes(heads[2])
    assert fault_of(folder) == "sound"
    assert json.loads((folder / HEAD).read_bytes())["entries"] == 3
    (folder / HEAD).write_bytes(heads[1])
    assert fault_of(folder) == "the last entries are gone"


def test_a_gap_at_the_end_stays_one_whatever_is_entered_after_it(folder):
    (folder / "000002.entry").unlink()
    with open_ledger(folder) as book:
        assert enter(book).number == 3
    assert fault_of(folder) == "an entry before number 3 is gone"


def test_an_entry_that_another_run_has_written_is_not_replaced(folder):
    with open_ledger(folder) as book:
        prepared = book.prepared(ENTRY, PEOPLE)
        enter(Ledger(folder, book.key))
        with pytest.raises(OutputError, match="counted anew"):
            book.add(prepared)
    assert fault_of(folder) == "sound"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("k", "5"),
        ("k", True),
        ("k", 0),
        ("k", 2.0),
        ("people", "3"),
        ("people", -1),
        ("made", 7),
        ("kind", "x"),
        ("quasi_identifiers", [1]),
        ("secret", None),
        ("unchanged", [["a"]]),
    ],
)
def test_a_header_with_a_field_of_another_kind_is_no_entry(field, value):
    with pytest.raises(LedgerError):
        entry_of({**ENTRY.to_json(), field: value})


def test_a_header_without_its_kind_is_no_entry():
    header = ENTRY.to_json()
    del header["kind"]
    with pytest.raises(LedgerError, match="lacks"):
        entry_of(header)


def test_a_header_is_read_back_equal():
    full = replace(ENTRY, vouched=({"entry": 0, "what": "other people", "by": "me"},), was="a", groups=False)
    assert entry_of(json.loads(json.dumps(full.to_json()))) == full
