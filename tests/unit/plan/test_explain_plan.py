"""Plans in sentences, and the numbers a plan tells of itself."""

from __future__ import annotations

import re

import pytest

from incrowd.errors import PlanError
from incrowd.plan.explain import describe_group, explain
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Bin, Drop, Group, Place, Share, Show
from incrowd.trees.tree import Node, Tree
from incrowd.vocabulary.released_value import Interval, Level, Mean, Shown, ShownMissing, Suppressed, ValueSet
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

SCHEMA = Schema(
    (
        *tuple(Column(name, Role.QUASI_IDENTIFIER, ColumnType.INTEGER) for name in ("age", "sex", "zip")),
        Column("ill", Role.TARGET),
    )
)


def plan_of(*groups, rows=None, steps=()):
    total = sum(group.rows for group in groups) if rows is None else rows
    return ReleasePlan("m", (), KAnonymity(2), SCHEMA, total, (*steps, Show(("age", "sex", "zip"), groups)))


def test_the_whole_comes_first():
    plan = plan_of(
        Group(1200, (Mean(4.0), Shown("SECRET"), Suppressed())),
        Group(300, (Interval(1, 2), ValueSet(("SECRET", "x")), Suppressed())),
        Group(20, (Level(1, 2, 1.5), ShownMissing(), Suppressed())),
        rows=1527,
    )
    text = explain(plan)
    lines = text.splitlines()
    assert lines[0] == (
        "m keeps 2-anonymity by putting 1,520 of 1,527 rows into 3 groups of at least 20 rows; 7 rows are left out."
    )
    shown = 2 * (1200 + 300 + 20) / (3 * 1527)
    assert lines[1] == f"{100 * shown:.1f} % of the quasi-identifier cells show something."
    assert lines[2] == (
        "  age: 1,200 rows as the group's mean, 300 rows as an interval, 20 rows as the mean of an interval"
    )
    assert lines[3] == "  sex: 1,200 rows shown, 20 rows shown as missing, 300 rows as a set of values"
    assert lines[4] == "  zip: hidden in every row"
    assert lines[5] == "The groups:"
    assert lines[6] == "  1,200 rows: sex shown; age as the group's mean; 1 attribute hidden"
    assert "SECRET" not in text


def test_only_the_largest_groups_are_described():
    plan = plan_of(*(Group(2 + i, (Shown(i), Suppressed(), Suppressed())) for i in range(20)))
    lines = explain(plan, groups=3).splitlines()
    at = lines.index("The 3 largest groups:")
    assert [re.match(r" +(\d+) rows", line)[1] for line in lines[at + 1 :]] == ["21", "20", "19"]


def test_a_plan_without_groups_can_be_explained():
    assert "into 0 groups of at least 0 rows; 5 rows are left out" in explain(plan_of(rows=5))


def test_names_are_listed_with_and():
    group = Group(5, (Shown(1), Shown(2), Shown(3)))
    assert describe_group(group, ["age", "sex", "zip"]) == "5 rows: age, sex and zip shown"
    assert describe_group(Group(5, (Suppressed(), Suppressed())), ["a", "b"]) == "5 rows: 2 attributes hidden"


def test_a_plan_counts_itself():
    plan = plan_of(Group(6, (Mean(1.0), Suppressed(), Suppressed())), rows=8, steps=(Drop(("id",)),))
    assert (plan.rows_released, plan.rows_dropped) == (6, 2)
    assert plan.share_of_cells_shown == 6 / 24
    assert plan.levelled == ()
    assert plan_of(Group(6, (Level(0, 1, 0.5), Suppressed(), Suppressed()))).levelled == ("age",)
    assert plan_of(rows=0).share_of_cells_shown == 1.0
    assert plan_of(steps=(Bin((("age", (1.0,)),)),)).cuts == {"age": (1.0,)}


def test_forms_can_be_replaced_and_nothing_else_changes():
    plan = plan_of(Group(6, (Mean(), Suppressed(), Suppressed())), Group(7, (Suppressed(),) * 3))
    forms = {name: plan.forms(name) for name in plan.names} | {"age": [Mean(3.0), Suppressed()]}
    changed = plan.with_forms(forms)
    assert [group.forms[0] for group in changed.groups] == [Mean(3.0), Suppressed()]
    assert [group.forms[1:] for group in changed.groups] == [group.forms[1:] for group in plan.groups]
    assert [group.rows for group in changed.groups] == [6, 7]
    assert plan.groups[0].forms[0] == Mean()
    assert changed.schema is plan.schema


def test_a_plan_shows_once():
    plan = ReleasePlan("m", (), KAnonymity(2), SCHEMA, 0, ())
    with pytest.raises(PlanError, match="does not say what its rows show"):
        _ = plan.names


def test_steps_are_checked_at_birth():
    tree = Tree((Node(None, (), (1, 1)),), "ill", ("no", "yes"))
    with pytest.raises(PlanError, match="in all of its shares or in none"):
        Place(tree, (Share(0, None, 0, 1), Share(0, 1, 0, 1)))
    with pytest.raises(PlanError, match="ascend"):
        Bin((("age", (1.0, 1.0)),))
    with pytest.raises(PlanError, match="every quasi-identifier"):
        Show(("age", "sex"), (Group(1, (Suppressed(),)),))


def test_cells_of_a_place():
    tree = Tree((Node(None, (), (1, 1)),), "ill", ("no", "yes"))
    plain, by_class = Place(tree, (Share(0, None, 0, 2),)), Place(tree, (Share(0, 1, 0, 2),))
    assert (plain.stratified, plain.cells, plain.cell(plain.shares[0])) == (False, 1, 0)
    assert (by_class.stratified, by_class.cells, by_class.cell(by_class.shares[0])) == (True, 2, 1)
    assert Bin.intervals([1, 2]) == (Interval(None, 1), Interval(1, 2), Interval(2, None))
