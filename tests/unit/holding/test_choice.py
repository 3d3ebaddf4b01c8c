"""Which tables are worked on in blocks."""

from __future__ import annotations

import gzip

import polars as pl
import pytest

from incrowd.holding import choice
from incrowd.holding.blocks import block_rows
from incrowd.holding.choice import in_blocks
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.resources import Resources

PARQUET = FileForm("parquet")


@pytest.fixture
def files(tmp_path):
    frame = pl.DataFrame({"age": range(200), "job": ["nurse", "cook"] * 100})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ipc(tmp_path / "t.arrow")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    (tmp_path / "t.arff").write_text("@relation t\n@attribute age numeric\n@data\n" + "1\n" * 200)
    (tmp_path / "folder").mkdir()
    frame.write_parquet(tmp_path / "folder" / "a.parquet")
    return tmp_path


def test_small_files_are_read_whole(files):
    assert not any(in_blocks(files / f"t.{form}", PARQUET, None) for form in ("csv", "csv.gz", "parquet", "arrow"))


def test_folders_are_never_read_whole(files):
    assert in_blocks(files / "folder", PARQUET, None)


def test_large_files_are_worked_on_in_blocks(files, monkeypatch):
    monkeypatch.setattr(choice, "_TEXT", 100)
    monkeypatch.setattr(choice, "_PACKED", 100)
    for form in ("csv", "csv.gz", "parquet", "arrow"):
        assert in_blocks(files / f"t.{form}", PARQUET, None)
        for written in ("csv", "parquet", "arrow"):
            assert in_blocks(files / f"t.{form}", FileForm(written), None)


def test_what_cannot_be_read_or_written_in_pieces_is_not(files, monkeypatch):
    monkeypatch.setattr(choice, "_TEXT", 0)
    monkeypatch.setattr(choice, "_PACKED", 0)
    assert not in_blocks(files / "t.arff", PARQUET, None)
    assert not in_blocks(files / "t.csv", FileForm("arff"), None)


def test_little_memory_makes_files_large(files):
    size = (files / "t.csv").stat().st_size
    assert in_blocks(files / "t.csv", PARQUET, size * 30)
    assert not in_blocks(files / "t.csv", PARQUET, size * 100)


@pytest.mark.parametrize(
    ("memory", "threads", "columns", "rows"),
    [
        (None, 2, 20, 1 << 20),
        (10**11, 2, 20, 1 << 20),
        (4 * 10**9, 2, 15, 1 << 19),
        (5 * 10**8, 2, 20, 1 << 16),
        (10**9, 64, 20, 1 << 16),
        (10**9, 1, 10, 1 << 18),
    ],
)
def test_blocks_are_as_large_as_memory_allows(memory, threads, columns, rows):
    assert block_rows(Resources(memory, threads), columns) == rows
