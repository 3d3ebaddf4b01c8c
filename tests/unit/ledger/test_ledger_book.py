"""The book itself: who can read it, what it holds, what it does not take for a book."""

from __future__ import annotations

import stat
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import OutputError
from incrowd.ledger import ENDING, KEY, Entry, mark_of, open_ledger

ENTRY = Entry("m", "a", "00" * 32, "2026-01-02T03:04:05+00:00", "0f" * 32, "5-anonymity", "0", 5, ("age",), ("ill",))
CLASSES = pa.array([1, 1, None, 2], pa.int32())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_entered_is_read_back_and_nobody_else_can(tmp_path):
    with open_ledger(tmp_path / "book") as book:
        book.add(ENTRY, CLASSES)
        book.add(replace(ENTRY, made="2026-01-01T00:00:00+00:00", k=None), CLASSES)
    with open_ledger(tmp_path / "book") as again:
        (first, second), unread = again.read()
    assert (first.entry.k, second.entry, unread) == (None, ENTRY, [])
    assert second.classes.equals(CLASSES)
    assert again.key == book.key
    assert mode(tmp_path / "book") == 0o700
    files = sorted((tmp_path / "book").iterdir())
    assert [mode(file) for file in files] == [0o600] * 3
    assert [file.name.endswith((ENDING, KEY)) for file in files] == [True] * 3


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


def test_a_book_that_lost_its_key_is_refused(tmp_path):
    with open_ledger(tmp_path / "book") as book:
        book.add(ENTRY, CLASSES)
    (tmp_path / "book" / KEY).write_bytes(b"short")
    with pytest.raises(OutputError, match="damaged"), open_ledger(tmp_path / "book"):
        pass
    (tmp_path / "book" / KEY).unlink()
    with pytest.raises(OutputError, match="not a ledger"), open_ledger(tmp_path / "book"):
        pass


TABLE = pl.DataFrame({"a": ["x", None, ""], "b": [1, 2, 3]})


@pytest.mark.parametrize(
    "other",
    [
        TABLE.with_columns(a=pl.Series(["x", "", None])),
        TABLE.with_columns(a=pl.Series([None, "x", ""])),
        TABLE.rename({"a": "c"}),
        TABLE.select("b", "a"),
        TABLE.head(2),
        TABLE.with_columns(b=pl.Series([12, None, 3])),
        TABLE.with_columns(b=pl.Series([1, 23, None])),
    ],
)
def test_other_tables_have_other_marks(other):
    assert mark_of(other, b"key") != mark_of(TABLE, b"key")


def test_the_same_cells_have_the_same_mark_whatever_holds_them():
    assert mark_of(pl.concat([TABLE.head(1), TABLE.tail(2)]), b"key") == mark_of(TABLE, b"key")
    assert mark_of(TABLE.cast({"b": pl.String}), b"key") == mark_of(TABLE, b"key")
