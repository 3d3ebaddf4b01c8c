"""Which tables are worked on in blocks."""

from __future__ import annotations

import gzip

import polars as pl
import pytest

from incrowd.errors import ParameterError
from incrowd.rows import one_machine
from incrowd.rows.blocks.held import block_rows, check_blocks, sample_rows
from incrowd.rows.one_machine import in_blocks
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.resources import PROGRAM, Resources, bytes_of

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
    monkeypatch.setattr(one_machine, "_TEXT", 100)
    monkeypatch.setattr(one_machine, "_CELLS", 100)
    for form in ("csv", "csv.gz", "parquet", "arrow"):
        assert in_blocks(files / f"t.{form}", PARQUET, None)
        for written in ("csv", "parquet", "arrow"):
            assert in_blocks(files / f"t.{form}", FileForm(written), None)


def test_what_cannot_be_read_or_written_in_pieces_is_not(files, monkeypatch):
    monkeypatch.setattr(one_machine, "_TEXT", 0)
    monkeypatch.setattr(one_machine, "_CELLS", 0)
    assert not in_blocks(files / "t.arff", PARQUET, None)
    assert not in_blocks(files / "t.csv", FileForm("arff"), None)


def test_little_memory_makes_files_large(files):
    (files / "t.csv").write_bytes(b"age\n" + b"1\n" * 10_000_000)
    assert in_blocks(files / "t.csv", PARQUET, PROGRAM + 599 * 10**6)
    assert not in_blocks(files / "t.csv", PARQUET, PROGRAM + 601 * 10**6)
    wide = pl.DataFrame({f"c{i}": range(20_000) for i in range(200)})
    wide.write_parquet(files / "wide.parquet")
    wide.write_ipc(files / "wide.arrow")
    for ending in ("parquet", "arrow"):
        assert in_blocks(files / f"wide.{ending}", PARQUET, 500 * 10**6)
        assert not in_blocks(files / f"wide.{ending}", PARQUET, 14 * 10**8)


def test_rows_count_not_bytes(files):
    pl.DataFrame({"a": pl.repeat("x", 5_000_000, eager=True)}).write_parquet(files / "small.parquet")
    pl.DataFrame({"a": pl.repeat("x", 5_000_000, eager=True)}).write_ipc(files / "small.arrow", compression="zstd")
    (files / "small.csv.gz").write_bytes(gzip.compress(b"a\n" + b"x\n" * 10_000_000))
    for name in ("small.parquet", "small.arrow", "small.csv.gz"):
        assert (files / name).stat().st_size < 100_000
        assert in_blocks(files / name, PARQUET, 600 * 10**6)
    pl.DataFrame({f"c{i}": pl.repeat("x", 5_000_000, eager=True) for i in range(3)}).write_parquet(files / "t.parquet")
    assert in_blocks(files / "t.parquet", PARQUET, None)


def test_what_has_to_be_worked_on_whole_and_does_not_fit_is_refused_with_what_would_do(files):
    (files / "t.arff").write_text("@relation t\n@attribute age numeric\n@data\n" + "1\n" * 5_000_000)
    with pytest.raises(ParameterError, match=r"Use --memory (700MB|800MB)") as refused:
        in_blocks(files / "t.arff", PARQUET, 500 * 10**6)
    enough = bytes_of(str(refused.value).split("--memory ")[1].split(",")[0])
    assert not in_blocks(files / "t.arff", PARQUET, enough)


@pytest.mark.parametrize(
    ("memory", "threads", "columns", "of_a_row", "rows"),
    [
        (None, 2, 20, 100, 1 << 20),
        (10**11, 2, 20, 100, 1 << 20),
        (4 * 10**9, 2, 15, 100, 1 << 18),
        (5 * 10**8, 2, 20, 100, 1 << 14),
        (10**9, 64, 20, 100, 1 << 14),
        (10**9, 1, 10, 0, 1 << 18),
        (10**9, 2, 3, 5000, 1 << 11),
    ],
)
def test_blocks_are_as_large_as_memory_allows(memory, threads, columns, of_a_row, rows):
    assert block_rows(Resources(memory, threads, program=PROGRAM), columns, of_a_row) == rows


def test_a_table_whose_smallest_blocks_do_not_fit_is_refused_with_what_would_do():
    check_blocks(Resources(500 * 10**6, 2, program=PROGRAM), 9, 50)
    with pytest.raises(ParameterError, match="A table of 2,000 columns") as refused:
        check_blocks(Resources(500 * 10**6, 2, program=PROGRAM), 2000, 8000)
    enough = bytes_of(str(refused.value).split("--memory ")[1].split(",")[0])
    check_blocks(Resources(enough, 2, program=PROGRAM), 2000, 8000)


def test_heuristics_see_fewer_rows_where_memory_is_short():
    assert sample_rows(Resources(), 10) == 1_000_000
    assert sample_rows(Resources(10**11, program=PROGRAM), 10) == 1_000_000
    assert 1 << 14 < sample_rows(Resources(500 * 10**6, program=PROGRAM), 10) < 500_000
