"""What adversaries see: taxonomies, counts, rows, and how little is read."""

import numpy as np
import polars as pl
import pytest

from incrowd.errors import HeaderError, ParameterError, ValuesError
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.taxonomy import CellTaxonomy
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema


def column(name, codes, values, kind=ColumnType.CATEGORICAL):
    return EncodedColumn(name, kind, np.array(codes, np.int32), pl.Series(values))


def test_values_lie_below_the_intervals_of_a_hierarchy():
    ages = column("age", [0, 1, 2, 3], [20, 30, 40], ColumnType.INTEGER)
    tree = Hierarchy("age", ("*", "(-inf, 30]", "(30, inf)"), (-1, 0, 0), Leaves.NUMBERS)
    taxonomy = CellTaxonomy.of(ages, tree)
    assert taxonomy.labels == ("?", "(-inf, 30]", "20", "30", "(30, inf)", "40")
    assert taxonomy.parents == (-1, 0, 1, 1, 0, 4)
    assert taxonomy.of_code.tolist() == [2, 3, 5, 0]
    assert taxonomy.leaves_below(1) == (2, 3)
    assert [taxonomy.depth(node) for node in (0, 1, 2)] == [0, 1, 2]
    assert taxonomy.up(2, 5) == 0
    assert taxonomy.below(2, 1)
    assert not taxonomy.below(1, 1)


def test_a_table_may_come_with_groups_in_it():
    tree = Hierarchy.from_paths("job", [["cook", "service", "*"], ["nurse", "health", "*"]])
    taxonomy = CellTaxonomy.of(column("job", [0, 1], ["cook", "health"]), tree)
    assert [taxonomy.labels[node] for node in taxonomy.of_code] == ["cook", "health", "?"]
    assert not taxonomy.is_leaf(int(taxonomy.of_code[1]))


@pytest.mark.parametrize("kind", ["values", "intervals"])
def test_a_value_without_a_place_is_refused_without_naming_it(kind):
    if kind == "values":
        tree = Hierarchy.from_paths("job", [["cook", "*"]])
        source = column("job", [0, 1, 1], ["cook", "spy"])
    else:
        tree = Hierarchy("job", ("*", "(0, 10]"), (-1, 0), Leaves.NUMBERS)
        source = column("job", [0, 1, 1], [5, 77], ColumnType.INTEGER)
    with pytest.raises(ValuesError, match=r"1 of 2 distinct values of column 'job' \(2 rows\)") as refused:
        CellTaxonomy.of(source, tree)
    assert "spy" not in str(refused.value)
    assert "77" not in str(refused.value)


def table(*columns):
    return EncodedTable.of(columns), Schema(tuple(Column(c.name) for c in columns))


def test_identifiers_are_neither_published_nor_predictors():
    source = EncodedTable.of([column("id", [0, 1], ["a", "b"]), column("x", [0, 0], ["u"])])
    schema = Schema((Column("id", Role.IDENTIFIER), Column("x")))
    assert PublishedTable(source, schema).predictors == ("x",)
    with pytest.raises(HeaderError, match="There is no column 'id'"):
        PublishedTable(source, schema, ("id",))


def test_two_columns_of_many_values_are_not_counted_together():
    wide = [str(value) for value in range(8000)]
    shown = PublishedTable(*table(column("a", [0], wide), column("b", [0], wide)))
    with pytest.raises(ParameterError, match="too many distinct values"):
        shown.joint("a", "b")


def test_the_source_is_never_changed():
    source, schema = table(column("a", [0, 1], ["x", "y"]), column("b", [0, 1], ["x", "y"]))
    shown = PublishedTable(source, schema)
    shown.show([0, 1], "a", 0)
    assert source["a"].codes.tolist() == [0, 1]
    assert shown.nodes("a").tolist() == [0, 0]
    assert shown.original(1, "a") == 2


def test_rows_are_read_as_they_are_asked_for():
    rng = np.random.default_rng(1)
    source, schema = table(*(column(n, rng.integers(0, 3, 60_000), ["x", "y", "z"]) for n in "abc"))
    shown = PublishedTable(source, schema)
    found = shown.rows_with(("a", 1), ("b", 2))
    next(found)
    scans, rows = shown.work.scans, shown.work.rows
    assert rows <= 1000
    for _ in range(100):
        shown.show([next(found)], "b", 0)
    assert shown.work.scans == scans
    assert shown.work.rows - rows <= 1000
