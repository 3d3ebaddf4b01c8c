"""Groups that look alike are one class: what each of them keeps, persons in both may break."""

from __future__ import annotations

from collections import Counter

import pytest

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group, Place, Share, Show
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.testing.tables import TARGET, BlockedEngine, fixed, owned
from incrowd.trees.tree import Branch, Eq, Node, Tree
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Shown, Suppressed
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.closeness import ConfidenceCap

ENGINES = pytest.mark.parametrize("engine", [EmbeddedEngine(), BlockedEngine(3)], ids=["memory", "blocks"])

# Place, person, class. In a and in b three of four persons have x, and all five of both together.
ROWS = [("a", p, "x" if p < 3 else "y") for p in range(4)]
ROWS += [("b", p, "x" if p > 1 else "y") for p in range(1, 5)]
ROWS += [("c", p, "y") for p in range(5, 25)]
ROWS += [("d", p, "y" if p % 4 else "x") for p in range(30, 38)]


def case(rows):
    columns = {"place": [r[0] for r in rows], "coast": [r[0] in "ab" for r in rows]}
    columns["coast"] = ["north" if coast else "south" for coast in columns["coast"]]
    return owned(fixed(columns, [r[2] for r in rows]), [r[1] for r in rows])


def plan_of(table, forms, requirement):
    """A group for each place, each showing its forms of place and coast."""
    rows = Counter(row["place"] for row in table.rows)
    places = sorted(rows)
    branches = tuple(Branch(Eq("place", place), number) for number, place in enumerate(places, start=1))
    tree = Tree((Node("place", branches, (0,)), *[Node(None, (), (0,))] * len(places)), "", (None,))
    shares = tuple(Share(number + 1, None, number, rows[place]) for number, place in enumerate(places))
    show = Show(("place", "coast"), tuple(Group(rows[place], forms[place]) for place in places))
    return ReleasePlan("test", (), requirement, table.schema, len(table.rows), (Place(tree, shares), show))


def shown(rows, forms, engine, alpha="0.8"):
    """What the rows of each place show in the end."""
    table = case(rows)
    population = engine.population(table.table, table.schema, SeededRandomness(1), table.owners)
    plan = plan_of(table, forms, Together((KAnonymity(2), ConfidenceCap(alpha, TARGET))))
    settled = engine.settle(plan, population)
    draft = engine.draft(settled, population, table.frame, SeededRandomness(2))
    pairs = zip(draft.origin.tolist(), draft.frame.select("place", "coast").rows(), strict=True)
    return {table.rows[row]["place"]: "".join(cell or "*" for cell in cells) for row, cells in pairs}


APART = {place: (Shown(place), Suppressed()) for place in "abcde"}
ALIKE = {**APART, "a": (Suppressed(), Shown("north")), "b": (Suppressed(), Shown("north"))}


@ENGINES
def test_what_keeps_the_requirement_stays(engine):
    assert shown(ROWS, APART, engine, "1") == {"a": "a*", "b": "b*", "c": "c*", "d": "d*"}
    without_c = [row for row in ROWS if row[0] != "c"]
    assert shown(without_c, APART, engine) == {"a": "a*", "b": "b*", "d": "d*"}


@ENGINES
def test_a_class_that_fails_shows_nothing_and_the_smallest_with_it(engine):
    """Of a and b together all five persons have x; with the eight of d it is 7 of 13."""
    without_c = [row for row in ROWS if row[0] != "c"]
    assert shown(without_c, ALIKE, engine) == {"a": "**", "b": "**", "d": "**"}
    more = without_c + [("e", p, "y" if p % 2 else "x") for p in range(40, 60)]
    assert shown(more, ALIKE, engine) == {"a": "**", "b": "**", "d": "**", "e": "e*"}


@ENGINES
def test_what_shows_nothing_already_is_judged_as_one_class(engine):
    hidden = {**APART, "a": (Suppressed(), Suppressed()), "b": (Suppressed(), Suppressed())}
    without_c = [row for row in ROWS if row[0] != "c"]
    assert shown(without_c, hidden, engine) == {"a": "**", "b": "**", "d": "**"}


@ENGINES
def test_where_rows_are_persons_unions_keep_it(engine):
    alone = [(place, number, each) for number, (place, _, each) in enumerate(ROWS) if place != "c"]
    assert shown(alone, ALIKE, engine)["a"] == "*north"
