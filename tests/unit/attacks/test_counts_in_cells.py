"""Attackers read counts: which values may stand behind a cell, and how likely each class is a person's own."""

import numpy as np
import polars as pl

from incrowd.risk.boxes import guess_from_release, read_released
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.released_cell import CellReader
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema


def test_counts_are_read():
    codes = np.array([0, 1, 2, 3], np.int32)
    ages = CellReader(
        Column("age", type=ColumnType.INTEGER), EncodedColumn("age", ColumnType.INTEGER, codes, pl.Series([20, 30, 40]))
    )
    jobs = CellReader(Column("job"), EncodedColumn("job", ColumnType.CATEGORICAL, codes, pl.Series(["a", "b|c", "d"])))
    read = [ages.read("(-inf, 25]:3|(25, 35]:1|?:2"), jobs.read("a:1|b%7Cc:2"), jobs.read("*"), jobs.read("e:1")]
    assert [one.covers.tolist() for one in read[:3]] == [
        [True, True, False, True],
        [True, True, False, False],
        [True, True, True, True],
    ]
    assert [one.understood for one in read] == [True, True, True, False]
    assert [None if one.shares is None else one.shares.round(3).tolist() for one in read[:3]] == [
        [0.5, 0.167, 0.0, 0.333],
        [0.333, 0.667, 0.0, 0.0],
        None,
    ]


def test_a_person_is_looked_for_where_the_counts_make_it_likely():
    """Cooks of the north: 3/4 * 1/2 * 4 rows of the first class against 1/6 * 1/2 * 6 of the second."""
    columns = [("job", ["cook", "nurse"]), ("town", ["north", "south"]), ("ill", ["no", "yes"])]
    codes = np.array([0, 1], np.int32)
    people = EncodedTable.of(
        EncodedColumn(name, ColumnType.CATEGORICAL, codes, pl.Series(name, values)) for name, values in columns
    )
    roles = {"ill": Role.TARGET}
    schema = Schema(tuple(Column(name, roles.get(name, Role.QUASI_IDENTIFIER)) for name, _ in columns))
    release = pl.DataFrame(
        {
            "job": ["cook:3|nurse:1"] * 4 + ["cook:1|nurse:5"] * 6,
            "town": ["north:2|south:2"] * 4 + ["north:3|south:3"] * 6,
            "ill": ["yes"] * 4 + ["no"] * 6,
        }
    )
    released = read_released(release, people, schema)
    (likely,) = released.likely(people)
    first = released.classes[0]
    np.testing.assert_allclose(likely[:, first], [1.5 / (1.5 + 0.5), 0.5 / (0.5 + 2.5)], rtol=1e-4)
    assert released.nearest(people).tolist() == [first, 1 - first]
    members, _ = guess_from_release(released, people, people, "ill", 1)
    np.testing.assert_allclose(members.chances, [0.25, 1 / 6], rtol=1e-4)
