"""Hierarchies built from a column."""

import datetime
import itertools

import numpy as np
import polars as pl
import pytest

from incrowd.errors import ParameterError
from incrowd.measures.information import entropy
from incrowd.tables.hierarchies.draft import (
    calendar,
    draft_hierarchy,
    drafted_categories,
    draw,
    encoded_columns,
    group_name,
    kind_for,
    ordered_categories,
    prefixes,
)
from incrowd.tables.hierarchies.intervals import (
    agglomerated,
    balanced,
    frequency_edges,
    from_edges,
    intervals,
    round_between,
)
from incrowd.tables.hierarchies.read import adult_hierarchies
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.schema import ColumnType
from support.oracle_gain import branch_entropy

TYPES = {int: ColumnType.INTEGER, float: ColumnType.REAL, datetime.date: ColumnType.DATE, str: ColumnType.CATEGORICAL}


def column(rows, kind=None, name="c"):
    values = sorted({row for row in rows if row is not None})
    kind = kind or TYPES[type(values[0])]
    codes = [len(values) if row is None else values.index(row) for row in rows]
    return EncodedColumn(name, kind, np.array(codes, np.int32), pl.Series(values))


def plain(dictionary):
    return EncodedColumn("c", ColumnType.CATEGORICAL, np.zeros(1, np.int32), dictionary)


def leaves(hierarchy):
    return [hierarchy.labels[leaf] for leaf in hierarchy.leaves]


def test_equal_frequencies_part_the_rows():
    edges = frequency_edges(column([1] * 50 + [2] * 25 + [3] * 24 + [9]), 4)
    assert edges == [1, 2]
    assert frequency_edges(column(list(range(100))), 4) == [24, 49, 74]


def test_class_information_puts_the_edge_where_the_class_changes():
    age, rich = column([20] * 30 + [31] * 30 + [60] * 30), column(["n"] * 30 + ["y"] * 30 + ["n"] * 30)
    found = intervals(age, rich)
    assert leaves(found) == ["(-inf, 20]", "(20, 40]", "(40, inf)"]
    assert found.height == 3
    assert leaves(intervals(age, column(["n"] * 90))) == ["(-inf, inf)"]


def test_ends_are_open():
    assert leaves(intervals(column([1, 2, 3, 4]), bins=2)) == ["(-inf, 2]", "(2, inf)"]


def test_missing_numbers_need_no_leaf():
    assert leaves(intervals(column([1, None, 2, None]), bins=2)) == ["(-inf, 1]", "(1, inf)"]


def test_edges_made_by_hand():
    assert from_edges("n", [1.5, 3], [3], low=0, high=9).labels == ("*", "(0, 3]", "(0, 1.5]", "(1.5, 3]", "(3, 9]")
    born = from_edges("born", [19723], dates=True)
    assert leaves(born) == ["(-inf, 2024-01-01]", "(2024-01-01, inf)"]
    for edges in ([[2, 1]], [[1, 1]], [[float("nan")]], [[1, 2], [3]]):
        with pytest.raises(ParameterError):
            from_edges("n", *edges)
    with pytest.raises(ParameterError, match="between low and high"):
        from_edges("n", [5], low=7)


@pytest.mark.parametrize(
    ("low", "high", "edge"),
    [
        (29, 30, 29),
        (299, 301, 300),
        (-5, 5, 0),
        (-12, -11, -12),
        (0.12, 0.13, 0.12),
        (1e-12, 1, 0.1),
        (1e20, 2e20, 1e20),
    ],
)
def test_the_roundest_number_between(low, high, edge):
    assert round_between(low, high) == edge


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: intervals(column(["a"])),
        lambda: intervals(column([1]), bins=0),
        lambda: intervals(EncodedColumn("c", ColumnType.INTEGER, np.zeros(1, np.int32), pl.Series([], dtype=pl.Int64))),
        lambda: calendar(column([1])),
        lambda: calendar(column([datetime.date(2024, 1, 1)]), ["year", "month"]),
        lambda: calendar(column([datetime.date(1900, 1, 1), datetime.date(2024, 1, 1)])),
        lambda: prefixes(column(["a*"])),
        lambda: drafted_categories(plain(pl.Series([""])[:0])),
        lambda: prefixes(plain(pl.Series([""])[:0])),
        lambda: draft_hierarchy(column(["a"]), kind="odd"),
        lambda: draft_hierarchy(column(["a"]), kind="ordered", edges=[1]),
        lambda: drafted_categories(plain(pl.Series([f"{number}" for number in range(20_001)]))),
    ],
)
def test_what_a_builder_cannot_do_is_a_parameter_error(wrong):
    with pytest.raises(ParameterError):
        wrong()


def test_codes_hide_characters_from_the_right():
    found = prefixes(column(["42119", "42301", "501"]))
    assert found.height == 6
    at = [[found.labels[node] for node in found.at_level(level)] for level in range(1, 7)]
    assert at[1] == ["4****", "4****", "5**"]
    assert at[2] == ["42***", "42***", "50*"]
    assert at[5] == ["42119", "42301", "501"]


def test_a_calendar_has_no_holes():
    found = calendar(column([datetime.date(2023, 12, 30), datetime.date(2024, 3, 1)]))
    assert len(found.leaves) == 63
    assert found.notices == ()
    assert found.height == 6
    assert [found.labels[node] for node in found.children(0)] == ["2020s"]
    years = calendar(column([datetime.date(1999, 5, 1), datetime.date(2001, 5, 1)]), ["year", "decade"])
    assert years.labels == ("*", "1990s", "1999", "2000s", "2000", "2001")


def test_ordered_categories_join_neighbours():
    found = ordered_categories(column(list("abcdefg"), ColumnType.ORDERED))
    assert [found.labels[node] for node in found.children(0)] == ["a to d", "e to g"]
    assert [found.labels[node] for node in found.children(1)] == ["a to b", "c to d"]
    assert balanced(2) == []
    assert balanced(1) == []


def test_a_group_whose_name_is_taken_gets_a_mark():
    rows = column(["a", "b", "{a, b}", "z"], name="c")
    target = column(["y", "y", "n", "n"])
    assert "{a, b}'" in drafted_categories(rows, target).labels


def test_group_names_are_short():
    assert group_name(["a" * 50, "b"], [0, 1]) == "{" + "a" * 23 + "…, b}"


def test_every_merge_loses_least():
    counts = np.random.default_rng(3).integers(0, 40, (9, 3)) + 1
    groups = [[leaf] for leaf in range(9)]
    expected = []
    for wanted in (5, 3, 2):
        while len(groups) > wanted:
            losses = {}
            for one in range(len(groups)):
                for two in range(one + 1, len(groups)):
                    parts = [counts[groups[one]].sum(axis=0), counts[groups[two]].sum(axis=0)]
                    joint = parts[0] + parts[1]
                    losses[one, two] = joint.sum() * (entropy(joint) - branch_entropy(parts))
            one, two = min(losses, key=losses.__getitem__)
            groups[one] = sorted(groups[one] + groups.pop(two))
        expected.append(sorted(groups))
    assert agglomerated(counts) == expected


def test_many_categories_are_joined_along_their_class_shares():
    counts = np.stack([np.arange(1, 1202), np.arange(1201, 0, -1)], axis=1)
    partitions = agglomerated(counts)
    assert [len(partition) for partition in partitions] == [601, 301, 151, 76, 38, 19, 10, 5, 3, 2]
    assert all(sorted(itertools.chain(*partition)) == list(range(1201)) for partition in partitions)


def test_the_draft_fits_the_type():
    assert kind_for(column([f"{number}" for number in range(10000, 10020)])) == "prefix"
    assert kind_for(column(["nurse", "judge", "baker"] + [f"{letter}loth" for letter in "abcdefgh"])) == "drafted"
    assert kind_for(column(list("ab"), ColumnType.ORDERED)) == "ordered"
    assert kind_for(column([datetime.date(2024, 1, 1)])) == "date"
    assert draft_hierarchy(column([datetime.date(2000, 1, 1), datetime.date(2024, 1, 1)])).height == 5
    assert draft_hierarchy(column([1, 2, 3]), edges=[2]).kind is Leaves.NUMBERS
    assert draft_hierarchy(column(list("abc"), ColumnType.ORDERED)).height == 3
    assert draft_hierarchy(column(list(range(100))), bins=4).height == 3
    assert draft_hierarchy(column(["ab1", "ab2"]), kind="prefix").labels == ("*", "a**", "ab*", "ab1", "ab2")


def test_columns_come_from_a_frame():
    age, ill = encoded_columns(pl.DataFrame({"age": [30, 40], "ill": ["y", "n"]}), "age", "ill")
    assert (age.type, ill.name) == (ColumnType.INTEGER, "ill")


def test_the_adult_hierarchies_know_their_values():
    adult = adult_hierarchies()
    counts = {"workclass": 8, "education": 16, "marital-status": 7, "occupation": 14, "relationship": 6, "race": 5}
    counts |= {"sex": 2, "native-country": 41, "age": 16}
    assert {name: len(hierarchy.leaves) for name, hierarchy in adult.items()} == counts
    assert all(name == hierarchy.name for name, hierarchy in adult.items())
    assert adult["age"].interval(adult["age"].at_level(2)[0]).high == 54
    assert adult["native-country"].covers("Trinadad&Tobago")
    assert adult["native-country"].covers("Outlying-US(Guam-USVI-etc)")
    heights = {"age": 5, "workclass": 5, "education": 5, "marital-status": 4, "occupation": 3, "relationship": 3}
    heights |= {"race": 3, "sex": 2, "native-country": 4}
    assert {name: hierarchy.height for name, hierarchy in adult.items()} == heights


def test_a_drawing_folds_and_cannot_move_the_cursor():
    wide = Hierarchy.from_paths("n", [[f"v{number}", "g", "*"] for number in range(20)] + [["\x1b[2J", "*"]])
    drawn = draw(wide, most=4).splitlines()
    assert drawn == [
        "1  * (21)",
        "2  ├─ g (20)",
        "3  │  ├─ v0",
        "3  │  ├─ v1",
        "3  │  ├─ v2",
        "3  │  └─ … 17 more",
        '2  └─ "\\u001b[2J"',
    ]
