"""What a hiding is held to is what the user asked, and what appears is what was verified."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from incrowd.errors import VerificationError
from incrowd.hiding import pipeline
from incrowd.hiding.pipeline import hide_cells
from incrowd.tables.publishing import staging

PEOPLE = pl.DataFrame(
    {
        "pain": ["no"] * 6 + ["some"] * 4 + ["much"] * 6,
        "ill": ["no"] * 6 + ["cold"] * 4 + ["flu"] * 6,
        "ward": ["a", "b"] * 8,
    }
)
CELLS = [(3, "ill"), (8, "ill")]


def a_cell_is_forgotten(original):
    return lambda table, schema, cells, *others, **named: original(table, schema, cells[:-1], *others, **named)


def rows_are_counted_from_one(original):
    def faulty(table, schema, cells, *others, **named):
        return original(table, schema, [replace(cell, row=cell.row + 1) for cell in cells], *others, **named)

    return faulty


def a_cell_is_quoted_without_need(original):
    def faulty(pieces, path, form, **named):
        original(pieces, path, form, **named)
        path.write_bytes(path.read_bytes().replace(b",a\n", b',"a"\n', 1))

    return faulty


def the_table_itself_is_published(original):
    def faulty(path):
        if path.is_file():
            PEOPLE.write_csv(path)
        original(path)

    return faulty


@pytest.mark.parametrize(
    ("module", "name", "fault"),
    [
        (pipeline, "plan_hiding", a_cell_is_forgotten),
        (pipeline, "plan_hiding", rows_are_counted_from_one),
        (pipeline, "write_rows", a_cell_is_quoted_without_need),
        (staging, "flush", the_table_itself_is_published),
    ],
)
def test_a_hiding_with_a_fault_is_refused(module, name, fault, tmp_path, monkeypatch):
    monkeypatch.setattr(module, name, fault(getattr(module, name)))
    with pytest.raises(VerificationError):
        hide_cells(PEOPLE, CELLS, to=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "arff"])
def test_without_a_fault_it_is_published(ending, tmp_path):
    assert hide_cells(PEOPLE, CELLS, to=tmp_path / f"out.{ending}").verdict.passed
