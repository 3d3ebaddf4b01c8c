"""New rows, seen through a plan: only what is true of them is shown."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED, Bin, Group, Place, Share, Show
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import Interval, Level, Mean, Shown, ShownMissing, Suppressed, ValueSet
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

SCHEMA = Schema(
    (
        Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
        Column("job", Role.QUASI_IDENTIFIER),
        Column("ill", Role.TARGET),
        Column("note"),
    )
)


def encode(ages, jobs):
    def column(name, kind, values, dtype):
        dictionary = sorted({value for value in values if value is not None})
        place = {value: i for i, value in enumerate(dictionary)} | {None: len(dictionary)}
        codes = np.array([place[value] for value in values], np.int32)
        return EncodedColumn(name, kind, codes, pl.Series(dictionary, dtype=dtype))

    return EncodedTable.of(
        [column("age", ColumnType.INTEGER, ages, pl.Int64), column("job", ColumnType.CATEGORICAL, jobs, pl.String)]
    )


def see(plan, ages, jobs):
    source = pl.DataFrame({"age": ages, "job": jobs, "note": [f"n{i}" for i in range(len(ages))]}, strict=False)
    source = source.cast({"age": pl.Int64, "job": pl.String})
    shown = EmbeddedEngine().transform(plan, encode(ages, jobs), source)
    assert shown["note"].to_list() == source["note"].to_list()
    return list(zip(shown["age"].to_list(), shown["job"].to_list(), strict=True))


def plan_of(tree, shares, groups, *before):
    shown = Show(("age", "job"), tuple(Group(5, forms) for forms in groups))
    return ReleasePlan("m", (), KAnonymity(5), SCHEMA, 10, (*before, Place(tree, shares), shown))


def job_tree(*tests):
    root = Node("job", tuple(Branch(test, i + 1) for i, test in enumerate(tests)), (0, 0))
    return Tree((root, *[Node(None, (), (0, 0))] * len(tests)), "ill", ("no", "yes"))


def test_values_and_sets_are_shown_where_they_are_true():
    tree = job_tree(Eq("job", "cook"), In("job", frozenset(["nurse", "smith"])), Missing("job"))
    shares = (Share(1, None, 0, 5), Share(2, None, 1, 5), Share(3, None, 2, 5))
    groups = [
        (Suppressed(), Shown("cook")),
        (Suppressed(), ValueSet(("nurse", "smith"))),
        (Suppressed(), ShownMissing()),
    ]
    jobs = ["cook", "nurse", "smith", None, "unseen"]
    assert see(plan_of(tree, shares, groups), [1] * 5, jobs) == [
        (None, "cook"),
        (None, "nurse|smith"),
        (None, "nurse|smith"),
        (None, None),
        (None, None),
    ]


def test_rows_that_were_moved_do_not_lie_about_others():
    """Most rows at a node went to a group that shows another value: a new row there shows nothing."""
    tree = job_tree(Eq("job", "cook"), Eq("job", "nurse"))
    plan = plan_of(tree, (Share(1, None, 0, 5), Share(2, None, 0, 5)), [(Mean(40.0), Shown("cook"))])
    assert see(plan, [30, 30, None], ["cook", "nurse", "cook"]) == [(40.0, "cook"), (40.0, None), (None, "cook")]


def test_rows_at_places_that_were_dropped_show_nothing():
    tree = job_tree(Eq("job", "cook"), Eq("job", "nurse"))
    plan = plan_of(tree, (Share(1, None, 0, 5), Share(2, None, DROPPED, 5)), [(Mean(40.0), Shown("cook"))])
    assert see(plan, [30, 30], ["cook", "nurse"]) == [(40.0, "cook"), (None, None)]


@pytest.mark.parametrize(
    ("form", "ages", "shown"),
    [
        (Interval(20, 30), [20, 21, 30, 31, None], [None, "(20, 30]", "(20, 30]", None, None]),
        (Interval(None, 30), [-(2**60), 31], ["(-inf, 30]", None]),
        (Shown(7), [6, 7, 8, None], [None, 7, None, None]),
        (Mean(2.5), [-(2**60), 7, None], [2.5, 2.5, None]),
        (ShownMissing(), [1, None], [None, None]),
        (Suppressed(), [1, None], [None, None]),
    ],
)
def test_numbers_are_shown_where_they_are_true(form, ages, shown):
    tree = Tree((Node(None, (), (0, 0)),), "ill", ("no", "yes"))
    plan = plan_of(tree, (Share(0, None, 0, 5),), [(form, Suppressed())])
    assert [age for age, _ in see(plan, ages, ["cook"] * len(ages))] == shown


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        (Interval(30, None), [None, None, "(30, inf)", "(30, inf)", None]),
        (Level(30, None, 44.5), [None, None, 44.5, 44.5, None]),
    ],
)
def test_bins_are_found_for_numbers_never_seen(form, shown):
    root = Node("age", (Branch(Eq("age", "(30, inf)"), 1), Branch(Eq("age", "(-inf, 30]"), 2)), (0, 0))
    tree = Tree((root, Node(None, (), (0, 0)), Node(None, (), (0, 0))), "ill", ("no", "yes"))
    shares = (Share(1, None, 0, 5), Share(2, None, 0, 1))
    plan = plan_of(tree, shares, [(form, Suppressed())], Bin((("age", (30,)),)))
    assert [age for age, _ in see(plan, [-(10**9), 30, 31, 10**9, None], ["x"] * 5)] == shown


def test_a_later_tree_may_ask_for_the_earlier_group():
    first = job_tree(Eq("job", "cook"), Eq("job", "nurse"))
    root = Node("#group", (Branch(Eq("#group", 0), 1), Branch(Eq("#group", 1), 2)), (0, 0))
    split = Node("age", (Branch(Le("age", 40), 3), Branch(Gt("age", 40), 4)), (0, 0))
    leaf = Node(None, (), (0, 0))
    second = Tree((root, split, leaf, leaf, leaf), "ill", ("no", "yes"))
    plan = plan_of(
        second,
        (Share(3, None, 0, 5), Share(4, None, 1, 5), Share(2, None, 2, 5)),
        [(Interval(None, 40), Shown("cook")), (Interval(40, None), Shown("cook")), (Suppressed(), Shown("nurse"))],
        Place(first, (Share(1, None, 0, 10), Share(2, None, 1, 5))),
    )
    assert see(plan, [30, 50, 30], ["cook", "cook", "nurse"]) == [
        ("(-inf, 40]", "cook"),
        ("(40, inf)", "cook"),
        (None, "nurse"),
    ]
