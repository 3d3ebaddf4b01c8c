"""The checker of hidden cells, on files written by hand: every lie is found."""

from __future__ import annotations

import polars as pl
import pytest

from incrowd.errors import FileFormatError
from incrowd.verification.hidden_cells import Withheld, verify_hidden_cells
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

TABLE = pl.DataFrame(
    {"age": [31, 45, 62, 31], "job": ["nurse", "cook", "nurse", None], "ill": ["flu", "cold", "flu", "no"]}
)
JOB = Hierarchy("job", ("*", "care", "nurse", "medic", "cook"), (-1, 0, 1, 1, 0))
AGE = Hierarchy("age", ("*", "(20, 40]", "(40, 70]"), (-1, 0, 0), Leaves.NUMBERS)


def judged(tmp_path, cells, *, confidential=((0, "ill"),), told=None, deleted=(), kind="csv", text=()):
    """The failed checks of the table with these cells written differently."""
    frame = TABLE.with_columns(pl.col(text).cast(pl.String))
    for (row, name), shown in cells.items():
        values = frame[name].to_list()
        values[row] = shown
        frame = frame.with_columns(pl.Series(name, values, frame.schema[name]))
    return verdict_of(tmp_path, frame, confidential, cells if told is None else told, deleted, kind)


def verdict_of(tmp_path, frame, confidential, told, deleted=(), kind="csv"):
    path = tmp_path / f"out.{kind}"
    frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    said = Withheld(TABLE.columns, confidential, told, deleted, {"job": JOB, "age": AGE})
    verdict = verify_hidden_cells(path, FileForm(kind), TABLE.to_arrow(), said)
    return {check.name for check in verdict.checks if not check.passed}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_told_and_true_passes(tmp_path, kind):
    assert judged(tmp_path, {(0, "ill"): None}, kind=kind) == set()
    assert judged(tmp_path, {(0, "ill"): None, (0, "age"): None, (0, "job"): "care"}, kind=kind) == set()
    groups = {(0, "ill"): None, (1, "age"): "(40, 70]"}
    assert judged(tmp_path, groups, kind=kind, text=["age"]) == set()


def test_a_confidential_cell_that_shows_its_value(tmp_path):
    assert judged(tmp_path, {}) == {"confidential cells"}
    assert judged(tmp_path, {}, told={(0, "ill"): None}) == {"confidential cells", "list of changes"}


def test_a_confidential_cell_may_show_a_group_of_several_values_only(tmp_path):
    at = (0, "job")
    assert judged(tmp_path, {at: "care"}, confidential=[at]) == set()
    assert judged(tmp_path, {at: "cook"}, confidential=[at]) == {"confidential cells"}
    assert judged(tmp_path, {at: "medic"}, confidential=[at]) == {"confidential cells"}
    assert judged(tmp_path, {(0, "ill"): "cold"}) == {"confidential cells"}
    assert judged(tmp_path, {(1, "age"): "(40, 70]"}, confidential=[(1, "age")], text=["age"]) == set()
    assert judged(tmp_path, {(0, "age"): "(40, 70]"}, confidential=[(0, "age")], text=["age"]) == {"confidential cells"}


@pytest.mark.parametrize(
    "lie", [{(1, "job"): "care"}, {(1, "ill"): "flu"}, {(3, "job"): "cook"}, {(3, "job"): "care"}, {(1, "age"): 46}]
)
def test_other_cells_must_be_true(tmp_path, lie):
    assert judged(tmp_path, {(0, "ill"): None, **lie}) == {"other cells"} | (
        {"list of changes"} if (1, "age") in lie else set()
    )


def test_what_is_withheld_must_be_told_and_done(tmp_path):
    blank = {(0, "ill"): None}
    assert judged(tmp_path, {**blank, (2, "job"): None}, told=blank) == {"list of changes"}
    assert judged(tmp_path, blank, told={**blank, (2, "job"): None}) == {"list of changes"}
    assert judged(tmp_path, {**blank, (0, "job"): "care"}, told={**blank, (0, "job"): None}) == {"list of changes"}


def test_deleted_rows_are_blank_throughout(tmp_path):
    part = {(0, "ill"): None, (0, "age"): None}
    assert judged(tmp_path, part, deleted=[0]) == {"deleted rows"}
    assert judged(tmp_path, {**part, (0, "job"): None}, deleted=[0]) == set()


def test_rows_in_another_order_or_number_and_other_columns(tmp_path):
    blank = TABLE.with_columns(pl.Series("ill", [None, "cold", "flu", "no"]))
    told = {(0, "ill"): None}
    assert verdict_of(tmp_path, blank, [(0, "ill")], told) == set()
    assert "other cells" in verdict_of(tmp_path, blank[[0, 2, 1, 3]], [(0, "ill")], told)
    assert verdict_of(tmp_path, blank[:3], [(0, "ill")], told) == {"rows"}
    assert verdict_of(tmp_path, blank.select("job", "age", "ill"), [(0, "ill")], told) == {"columns"}


def test_formulas_are_escaped_in_text_files(tmp_path):
    table = pl.DataFrame({"a": ["=1+2", "-3", "x"], "b": ["p", "q", "r"]})
    (tmp_path / "out.csv").write_text("a,b\n'=1+2,p\n-3,\n,r\n")
    said = Withheld(["a", "b"], [(1, "b")], {(1, "b"): None, (2, "a"): None})
    assert verify_hidden_cells(tmp_path / "out.csv", FileForm(), table.to_arrow(), said).passed


def test_a_file_that_is_no_table(tmp_path):
    (tmp_path / "out.parquet").write_bytes(b"nothing")
    with pytest.raises(FileFormatError):
        verify_hidden_cells(tmp_path / "out.parquet", FileForm("parquet"), TABLE.to_arrow(), Withheld([], [], {}))


def test_an_interval_around_a_single_value_conceals_nothing(tmp_path):
    at = (2, "age")
    narrow = Hierarchy("age", ("*", "(20, 50]", "(50, 70]"), (-1, 0, 0), Leaves.NUMBERS)
    path = tmp_path / "out.csv"
    TABLE.with_columns(age=pl.Series(["31", "45", "(50, 70]", "31"])).write_csv(path)
    told = Withheld(TABLE.columns, [at], {at: "(50, 70]"}, (), {"age": narrow})
    verdict = verify_hidden_cells(path, FileForm("csv"), TABLE.to_arrow(), told)
    assert [check.name for check in verdict.checks if not check.passed] == ["confidential cells"]
