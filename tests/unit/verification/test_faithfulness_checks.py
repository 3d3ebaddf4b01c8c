"""The checks of a release one by one, and what is done with files, pieces, memory and databases."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import FileFormatError
from incrowd.verification import faithfulness
from incrowd.verification.comparison import CellComparison
from incrowd.verification.faithfulness import (
    added_pieces,
    cells_check,
    compare_piece,
    compare_pieces,
    formulas_check,
    rows_check,
    verify_release,
)
from incrowd.verification.opening import connect, register
from incrowd.verification.population import People
from incrowd.verification.request import Expected, Original, Originals
from incrowd.verification.requirements import Further
from incrowd.verification.verdict import Check
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from incrowd.vocabulary.requirements.population import KMap
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import ColumnType

ROWS = [  # released, input rows of them, rows of the input, rows that may be lost, passed
    *[(3, [0, 1, 2], 3, 0, True), (3, [2, 0, 1], 3, 0, True), (0, [], 0, 0, True), (1, [0], 1, 0, True)],
    *[(2, [0, 2], 3, 1, True), (2, [0, 2], 3, 2, True), (2, [0, 2], 3, 0, False), (0, [], 3, 3, True)],
    *[(0, [], 3, 2, False), (3, [0, 1, 1], 3, 0, False), (3, [0, 1, 3], 3, 0, False), (3, [-1, 0, 1], 3, 0, False)],
    *[(2, [0, 1, 2], 3, 1, False), (3, [0, 1], 3, 1, False), (0, [0], 1, 1, False), (2, [1, 1], 2, 0, False)],
    *[(3, [0, 0, 0], 9, 9, False), (4, [0, 0, 1, 2], 4, 0, False), (2, [3, 1], 4, 2, True), (1, [4], 4, 9, False)],
]


@pytest.mark.parametrize(("released", "origin", "rows", "may_lose", "passed"), ROWS)
def test_every_released_row_is_a_different_input_row(released, origin, rows, may_lose, passed):
    original = Originals(rows, [], None, np.array(origin, np.int64))
    told = f"{released} released, {rows - released} left out"
    assert rows_check(released, original, may_lose) == Check("rows", passed, told)


def test_rows_are_told_with_separators():
    original = Originals(5000, [], None, np.arange(3000))
    assert rows_check(3000, original, 2000).finding == "3,000 released, 2,000 left out"


@pytest.mark.parametrize(
    ("wrong", "transformed", "check"),
    [
        (0, True, Check("age faithful", True, "every cell")),
        (0, False, Check("age untouched", True, "every cell")),
        (1, True, Check("age faithful", False, "1 cells or numbers differ from the original")),
        (1234, False, Check("age untouched", False, "1,234 cells or numbers differ from the original")),
    ],
)
def test_cells_that_differ_are_told_by_their_number(wrong, transformed, check):
    assert cells_check("age", wrong, transformed) == check


@pytest.mark.parametrize(
    ("names", "cells", "told"),
    [
        (["a", "b"], ["x", "-5"], None),
        (["a", ""], ["=", "+"], None),
        (["=", "a-"], ["'=1", None], None),
        (["a", "b"], ["=1", "@x"], "4 cells and 0 names are formulas"),
        (["=a", "+b"], ["x", "y"], "0 cells and 2 names are formulas"),
        (["@a", "\tb"], ["x", "-x"], "2 cells and 2 names are formulas"),
        (["-a", "\rb"], ["x", "\ty"], "2 cells and 2 names are formulas"),
        (["a", "-"], [None, "\rz"], "2 cells and 0 names are formulas"),
        (["a1", "b+"], [None, "x=1"], None),
    ],
)
def test_formulas_are_counted_in_cells_and_names(names, cells, told):
    with connect(threads=1) as connection:
        table = pa.table([pa.array([cell] * 2, pa.string()) for cell in cells], names)
        register(connection, table, "released")
        for quasi in ([], names[:1], names):
            comparison = CellComparison(connection, Expected([], names, quasi, 0), escapes=True)
            piece = comparison.piece(Original(table, np.arange(2), 2))
            assert formulas_check(comparison.added([piece]).formulas, names) == Check(
                "formulas", told is None, told or "no cell is a formula"
            )


OWN = pa.table({"job": ["cook", "smith", "cook", "nurse"], "age": [20, 30, 31, 40], "note": ["=a", "b", None, "d"]})
SHOWN = OWN.set_column(0, "job", pa.array(["cook|smith"] * 2 + ["cook|nurse"] * 2))
SHOWN = SHOWN.set_column(1, "age", pa.array([25.0, 25.0, 35.5, 35.5]))
ASKED = Expected([("2-anonymity", ["job", "age"], 2)], OWN.column_names, ["job", "age"], 0)
LYING = SHOWN.set_column(1, "age", pa.array([25.0, 25.0, 36.0, 36.0])).set_column(
    2, "note", pa.array(["=a", "b", "c", "e"])
)


def original(start=0, rows=4):
    return Original(OWN.slice(start, rows), np.arange(start, start + rows), 4)


def pieces(sizes):
    starts = np.cumsum([0, *sizes])
    return Originals(4, sizes, lambda i: original(int(starts[i]), sizes[i]), np.arange(4))


def written(folder, table, ending="parquet"):
    path = folder / f"release.{ending}"
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        lines = [table.column_names, *(row.values() for row in table.to_pylist())]
        texts = [["" if cell is None else str(cell) for cell in line] for line in lines]
        path.write_text("".join(",".join(f"'{t}" if t[:1] == "=" else t for t in line) + "\n" for line in texts))
    return path


def outcome(verdict):
    return {check.name: check.passed for check in verdict.checks}


PASSED = dict.fromkeys(["columns", "2-anonymity", "rows", "job faithful", "age faithful", "note untouched"], True)


def test_a_piece_that_was_read_elsewhere_is_compared_by_one_thread(monkeypatch):
    told = []
    monkeypatch.setattr(faithfulness, "connect", lambda *given, **named: told.append(named) or connect(*given, **named))
    for table, wrong in ((SHOWN, {"job": 0, "age": 0, "note": 0}), (LYING, {"job": 0, "age": 1, "note": 2})):
        found = [
            compare_piece(table.slice(start, rows), ASKED, original(start, rows))
            for start, rows in ((0, 1), (1, 2), (3, 1))
        ]
        assert added_pieces(iter(found), ASKED).wrong == wrong
    assert told[:4] == [{"threads": 1}] * 3 + [{}]
    assert set(compare_piece(SHOWN, ASKED, original()).shown) == set(ASKED.quasi_identifiers)


@pytest.mark.parametrize("threads", [1, 2])
def test_pieces_are_compared_in_order_with_a_quarter_of_the_memory(tmp_path, monkeypatch, threads):
    told, done = [], []
    monkeypatch.setattr(faithfulness, "connect", lambda *given: told.append(given) or connect(*given))
    limits = Resources(2_000_000_000, threads, tmp_path)
    path, note = written(tmp_path, LYING), lambda *rows: done.append(rows)
    found = list(compare_pieces(path, ASKED, pieces([1, 2, 1]), limits, escapes=False, progress=note))
    assert [piece.wrong for piece in found] == [{"job": 0, "age": 0, "note": note} for note in (0, 1, 1)]
    assert done == [(1, 4), (3, 4), (4, 4)]
    assert set(told) == {(500_000_000 // threads, 1, tmp_path)}
    assert len(told) <= threads


@pytest.mark.parametrize("given", [original(), pieces([4]), pieces([1, 2, 1])])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_release_is_compared_with_its_original_whole_or_in_pieces(tmp_path, ending, given):
    limits = Resources(scratch=tmp_path)
    verdict = verify_release(written(tmp_path, SHOWN, ending), FileForm(ending), ASKED, given, limits)
    assert outcome(verdict) == PASSED | ({"formulas": True} if ending == "csv" else {})
    assert verdict.sizes.histogram == ((2, 2),)
    assert (verdict.input_rows, verdict.shown["age"]) == (4, {"single": 4})
    assert verdict.checks[0] == Check("columns", True, "3 columns, as requested")
    lie = verify_release(written(tmp_path, LYING, ending), FileForm(ending), ASKED, given, limits)
    assert {name for name, passed in outcome(lie).items() if not passed} == {"age faithful", "note untouched"}
    assert lie.checks[-1].finding == "2 cells or numbers differ from the original"


def test_other_columns_are_told_and_nothing_else_is_counted(tmp_path):
    path = written(tmp_path, SHOWN.drop_columns(["note"]))
    verdict = verify_release(path, FileForm("parquet"), ASKED, original())
    assert verdict.checks == (Check("columns", False, "2 columns, not those requested"),)
    assert (verdict.sizes.rows, verdict.sizes.classes) == (0, 0)


def test_rows_that_cannot_be_are_not_compared(tmp_path):
    strange = Original(OWN, np.array([0, 1, 2, 2]), 4)
    verdict = verify_release(written(tmp_path, SHOWN), FileForm("parquet"), ASKED, strange, more=pytest.fail)
    assert outcome(verdict) == {"columns": True, "2-anonymity": True, "rows": False}
    split = Expected([("3-anonymity", ["job"], 3)], ASKED.columns, ASKED.quasi_identifiers, 0)
    verdict = verify_release(written(tmp_path, SHOWN), FileForm("parquet"), split, original())
    assert outcome(verdict) == {"columns": True, "3-anonymity": False} | dict.fromkeys(list(PASSED)[2:], True)


def test_all_that_is_required_is_recounted(tmp_path):
    jobs = EncodedColumn(
        "job", ColumnType.CATEGORICAL, np.array([0, 1, 1, 2], np.int32), pl.Series(["cook", "smith", "nurse"])
    )
    people = People(EncodedTable.of([jobs]), {"job": "job"}, [KMap(3)])
    promises = [("2-anonymity", ["job"], 2)]
    further = [Further(DistinctDiversity(2), "note"), Further(DistinctDiversity(3), "note")]
    asked = Expected(promises, ["job", "note"], ["job"], 0, further=further, people=people)
    given = Original(OWN.select(["job", "note"]), np.arange(4), 4)
    verdict = verify_release(written(tmp_path, SHOWN.select(["job", "note"])), FileForm("parquet"), asked, given)
    assert [check.passed for check in verdict.checks] == [True, True, True, False, False, True, True, True]


def test_half_of_the_memory_is_for_a_release(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(faithfulness, "connect", lambda *given: told.append(given) or connect(*given))
    limits = Resources(2_000_000_000, scratch=tmp_path)
    assert verify_release(written(tmp_path, SHOWN), FileForm("parquet"), ASKED, original(), limits).passed
    assert verify_release(written(tmp_path, SHOWN), FileForm("parquet"), ASKED, original()).passed
    assert told == [(1_000_000_000, None, tmp_path), (None, None, None)]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_is_read_once_and_further_checks_have_what_was_read(tmp_path, ending):
    path = written(tmp_path, SHOWN, ending)

    def more(connection, shown):
        path.unlink()
        assert {name: [*cells.words.to_pylist(), None][cells.codes[0]] for name, cells in shown.items()} == {
            name: str(SHOWN[name][0]) for name in ASKED.quasi_identifiers
        }
        rows = connection.execute("SELECT r.c0, o.c0 FROM released AS r POSITIONAL JOIN original AS o").fetchall()
        yield Check("more", rows == list(zip(SHOWN["job"].to_pylist(), OWN["job"].to_pylist(), strict=True)), "")

    with connect() as database:
        verdict = verify_release(path, FileForm(ending), ASKED, original(), more=more, database=database)
        assert verdict.passed
        assert verdict.checks[-1].name == "more"
        assert database.execute("SELECT count(*) FROM released").fetchall() == [(4,)]


def test_what_the_database_cannot_read_is_an_error_that_names_the_file(tmp_path):
    def more(connection, _shown):
        return [connection.execute("SELECT no_such_column FROM released")]

    with pytest.raises(FileFormatError, match=r"release.parquet cannot be read back .* \(BinderException\)"):
        verify_release(written(tmp_path, SHOWN), FileForm("parquet"), ASKED, original(), more=more)
    assert issubclass(duckdb.BinderException, duckdb.Error)


def test_a_release_of_two_tables_is_compared_with_its_groups(tmp_path):
    asked = Expected([("2-anonymity", ["job"], 2)], ["job", "note"], ["job"], 0, counts=["job"])
    rows = pa.table({"group": ["2", "1", "2", "1"], "note": OWN["note"]})
    lines = {"group": ["1", "1", "2"], "attribute": ["job"] * 3, "value": ["nurse", "=s", "cook"], "count": [1, 1, 2]}
    own = OWN.set_column(0, "job", pa.array(["cook", "=s", "cook", "nurse"]))
    given = Original(own, np.arange(4), 4)
    for ending in ("parquet", "csv"):
        groups = written(tmp_path, pa.table(lines), ending).rename(tmp_path / f"groups.{ending}")
        path = written(tmp_path, rows, ending)
        verdict = verify_release(path, FileForm(ending), asked, given, groups=groups)
        assert verdict.passed, str(verdict)
        assert verdict.checks[1] == Check("groups", True, "2 groups, the same in both tables")
        assert verdict.shown == {"job": {"counts": 4}}
