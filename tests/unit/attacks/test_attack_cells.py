"""Released cells are read back for what they can be."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.errors import CannotRunError
from incrowd.risk.boxes import plain_texts, read_released, written_cells
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_cell import CellReader
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

AGES = [20, 30, 40, 50]
COLOURS = ["blue", "green", "odd|one", "red"]


def reader(kind: ColumnType, values: list, hierarchy: Hierarchy | None = None) -> CellReader:
    own = EncodedColumn("a", kind, np.arange(len(values) + 1, dtype=np.int32), pl.Series("a", values))
    return CellReader(Column("a", Role.QUASI_IDENTIFIER, kind, hierarchy=hierarchy), own)


def covered(found: CellReader, text: str | None) -> list:
    cell = found.read(text)
    assert cell.understood
    return [value for value, inside in zip([*found.own.dictionary, None], cell.covers, strict=True) if inside]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("30", [30]),
        ("30.0", [30]),
        ("(20, 40]", [30, 40]),
        ("(-inf, 30]", [20, 30]),
        ("(30, inf)", [40, 50]),
        ("[30, 40]", [30, 40]),
        ("20|50", [20, 50]),
        ("(10, 20]|(40, 50]", [20, 50]),
        (None, [20, 30, 40, 50, None]),
    ],
)
def test_numbers(text: str | None, values: list) -> None:
    assert covered(reader(ColumnType.INTEGER, AGES), text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("red", ["red"]),
        ("blue|green", ["blue", "green"]),
        ("odd|one", ["odd|one"]),
        ("odd%7Cone|red", ["odd|one", "red"]),
    ],
)
def test_categories(text: str, values: list) -> None:
    assert covered(reader(ColumnType.CATEGORICAL, COLOURS), text) == values


def test_groups_of_a_hierarchy() -> None:
    tree = Hierarchy.from_paths("a", [["blue", "cold", "*"], ["green", "cold", "*"], ["odd|one", "*"], ["red", "*"]])
    assert covered(reader(ColumnType.CATEGORICAL, COLOURS, tree), "cold") == ["blue", "green"]
    ages = Hierarchy("a", ("*", "young", "(-inf, 20]", "(20, 35]", "(35, inf)"), (-1, 0, 1, 1, 0), Leaves.NUMBERS)
    cell = reader(ColumnType.INTEGER, AGES, ages).read("young")
    assert cell.covers.tolist() == [True, True, False, False, False]
    assert cell.edges == (35,)


@pytest.mark.parametrize(
    ("text", "edges"), [("(20, 40]", (30, 40)), ("[30, 40]", (30, 40)), ("(30, inf)", (40,)), ("30", ()), ("20|50", ())]
)
def test_edges(text: str, edges: tuple[int, ...]) -> None:
    assert reader(ColumnType.INTEGER, AGES).read(text).edges == edges


def test_a_number_nobody_has_is_a_mean_and_can_be_anything() -> None:
    cell = reader(ColumnType.INTEGER, AGES).read("31.5")
    assert cell.averaged
    assert cell.covers.all()


@pytest.mark.parametrize("text", ["old", "(40, 20]", "red|old"])
def test_what_nobody_understands_is_said(text: str) -> None:
    assert not reader(ColumnType.CATEGORICAL, COLOURS).read(text).understood


def test_two_columns_are_one_interval() -> None:
    frame = pl.DataFrame({"a_low": [20, None, 30, None], "a_high": [40, 30, 30, None]})
    found = written_cells(frame, "a")
    assert found is not None
    assert found.to_list() == ["(20, 40]", "(-inf, 30]", "30", None]
    assert written_cells(frame, "b") is None


def table_and_schema() -> tuple[EncodedTable, Schema]:
    codes = np.array([0, 1, 2, 3], np.int32)
    age = EncodedColumn("age", ColumnType.INTEGER, codes, pl.Series("age", AGES))
    ill = EncodedColumn("ill", ColumnType.CATEGORICAL, codes % 2, pl.Series("ill", ["no", "yes"]))
    kinds = (Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER), Column("ill", Role.TARGET))
    return EncodedTable.of([age, ill]), Schema(kinds)


def test_classes_are_counted_and_the_smallest_box_is_home() -> None:
    table, schema = table_and_schema()
    shown = pl.DataFrame({"age": ["(10, 30]", None, None, "(10, 30]"], "ill": ["no", "no", "yes", "yes"]})
    released = read_released(shown, table, schema)
    assert released.boxes.home(table).tolist() == [0, 0, 1, 1]
    assert released.histogram("ill").tolist() == [[1, 1, 0], [1, 1, 0]]


def test_people_outside_all_boxes() -> None:
    table, schema = table_and_schema()
    released = read_released(pl.DataFrame({"age": ["(10, 30]"] * 2, "ill": ["no", "yes"]}), table, schema)
    assert released.boxes.inside(table).tolist() == [True, True, False, False]
    assert released.boxes.home(table).tolist() == [0, 0, -1, -1]
    assert released.boxes.nearest(table).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"age": ["teen", "30"], "ill": ["no", "yes"]}, "shows 1 texts"),
        ({"ill": ["no", "yes"]}, "no column 'age'"),
        ({"age": ["30", "30"], "ill": ["no", "maybe"]}, "1 values in the release that the original does not have"),
        ({"age": [], "ill": []}, "no rows"),
    ],
)
def test_what_cannot_be_read_is_refused_without_quoting_it(cells: dict, said: str) -> None:
    table, schema = table_and_schema()
    with pytest.raises(CannotRunError, match=said) as refused:
        read_released(pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String)), table, schema)
    assert "teen" not in str(refused.value)
    assert "maybe" not in str(refused.value)


def test_the_mark_before_a_formula_is_taken_away():
    assert plain_texts(pl.Series(["'=1+2", "it's", None])).to_list() == ["=1+2", "it's", None]
