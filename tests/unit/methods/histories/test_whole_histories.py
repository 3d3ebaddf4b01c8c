"""Whole histories: the worked example, what rows show together, and what is required beyond k."""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.histories.whole_histories import WholeHistories
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Together
from incrowd.vocabulary.requirements.closeness import ConfidenceCap
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from support.linked_tables import release_linked
from support.oracle_persons import classes, histories, holds, linked_k, losses

GOLDEN = Path(__file__).parents[3] / "golden" / "persons.json"
CASE = next(
    case for case in json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"] if case["name"] == "whole histories"
)
TABLES = st.lists(
    st.tuples(
        st.sampled_from("pqrstu"),
        st.sampled_from(["A", "B", None]),
        st.sampled_from([1, 5, 30, 90, None]),
        st.sampled_from("xyz"),
    ),
    min_size=4,
    max_size=16,
)
NAMES = ("person", "home", "day", "s")


def test_the_worked_example():
    rows = [row[1:] for row in CASE["rows"]]
    released, _, plan = release_linked(rows, WholeHistories(), 2, names=CASE["columns"][1:])
    expected = Counter((person, "|".join(home), "|".join(ward)) for _, person, home, ward in CASE["expect"]["released"])
    assert Counter((row.person, *row.cells) for row in released) == expected
    assert linked_k(released) == CASE["expect"]["linked k"]
    lost = losses([row[0] for row in rows], [row.person for row in released])
    assert lost == (CASE["expect"]["lost"]["rows"], CASE["expect"]["lost"]["persons"])
    assert plan.rows_dropped == 1


@given(TABLES, st.integers(2, 3), st.sampled_from(["splits", "extremes"]))
def test_k_persons_share_every_history(rows, k, boxes):
    if len({row[0] for row in rows}) < k or len({row[3] for row in rows}) < 2:
        return
    released, draft, _ = release_linked(rows, WholeHistories(boxes), k, names=NAMES, value=3)
    assert linked_k(released) >= k
    assert losses([row[0] for row in rows], [row.person for row in released])[1] == 0
    for cells, origin in zip([row.cells for row in released], draft.origin.tolist(), strict=True):
        assert cells[0] is None or rows[origin][1] in cells[0].split("|")
        assert cells[1] is None or _covers(cells[1], rows[origin][2])


def _covers(cell, number):
    low, high = (part.strip("([)] ") for part in cell.split(","))
    above = float(low) <= number if cell.startswith("[") else float(low) < number
    return above and number <= float(high)


def test_fewer_persons_than_k_are_impossible():
    with pytest.raises(RequirementError, match="k=3 is impossible"):
        release_linked([("p", "x")] * 9 + [("q", "x")], WholeHistories(), 3, names=("person", "q"))


def test_rows_are_aligned_by_order():
    rows = [("p", "x", 2), ("p", "y", 1), ("q", "y", 1), ("q", "x", 2), ("q", "x", 3), ("r", "z", 1), ("r", "z", 2)]
    rows += [("t", "z", 1), ("t", "z", 5)]
    released, draft, _ = release_linked(rows, WholeHistories(), 2, names=("person", "q", "day"), order=2)
    assert 4 not in draft.origin.tolist()  # the latest row of q is surplus
    assert set(histories(released).values()) == {(("x",), ("y",)), (("z",), ("z",))}


def test_values_of_a_hierarchy_show_the_lowest_group_that_has_them():
    paths = [("lung", "chest", "*"), ("heart", "chest", "*"), ("eye", "head", "*"), ("ear", "head", "*")]
    tree = Hierarchy.from_paths("organ", paths)
    rows = [("p", "lung"), ("q", "heart"), ("r", "eye"), ("t", "eye")]
    released, *_ = release_linked(rows, WholeHistories(), 2, names=("person", "organ"), hierarchies={"organ": tree})
    assert {row.person: row.cells[0] for row in released} == {"p": "chest", "q": "chest", "r": "eye", "t": "eye"}


def test_intervals_end_at_numbers_with_persons_between_them():
    rows = [(f"p{number}", number) for number in range(40)]
    released, *_ = release_linked(rows, WholeHistories(), 4, names=("person", "age"))
    cells = classes(released)
    assert len(cells) > 4
    for (cell,), part in cells.items():
        assert cell.startswith("(")
        assert len(part) >= 4
    ranges, *_ = release_linked(rows, WholeHistories(boxes="extremes"), 4, names=("person", "age"))
    assert all(row.cells[0].startswith("[") for row in ranges)


def test_missing_beside_a_value_shows_nothing_and_missing_alone_is_shown_as_missing():
    rows = [("p", None, "a"), ("q", "x", "a"), ("r", None, "b"), ("t", None, "b")]
    _, draft, plan = release_linked(rows, WholeHistories(), 2, names=("person", "q", "home"))
    assert draft.frame["q"].null_count() == 4
    assert {type(form).__name__ for form in plan.forms("q")} <= {"Suppressed", "ShownMissing"}


@given(
    st.lists(
        st.tuples(st.sampled_from("pqrstu"), st.sampled_from("xy"), st.sampled_from("abc")), min_size=4, max_size=14
    ),
    st.sampled_from([("distinct-l", 2), ("alpha", Fraction(2, 3))]),
)
def test_beyond_k_every_history_and_every_tuple_of_it_keeps_the_requirement(rows, asked):
    word, number = asked
    part = DistinctDiversity(number, on="s") if word == "distinct-l" else ConfidenceCap(2 / 3, on="s")
    requirement = Together((KAnonymity(2), part))
    if len({row[0] for row in rows}) < 2 or len({row[2] for row in rows}) < 2:
        return
    try:
        released, *_ = release_linked(rows, WholeHistories(), requirement, names=("person", "q", "s"), value=2)
    except RequirementError:
        return
    assert linked_k(released) >= 2
    assert holds(released, word, number, linked=True)


def test_beyond_k_groups_are_taken_back_rather_than_refused():
    rows = [(f"p{i}", "x", "a") for i in range(4)] + [(f"q{i}", "y", "b") for i in range(4)]
    part = DistinctDiversity(2, on="s")
    released, *_ = release_linked(
        rows, WholeHistories(), Together((KAnonymity(2), part)), names=("person", "q", "s"), value=2
    )
    assert linked_k(released) == 8
    alone, *_ = release_linked(rows, WholeHistories(), 2, names=("person", "q", "s"), value=2)
    assert linked_k(alone) == 4


def test_sets_known_together_are_kept_by_their_largest_k():
    requirement = KnownTogether((KnownSet(("q",), 2), KnownSet(("home",), 3)))
    rows = [(f"p{i}", "xy"[i % 2], "AB"[i // 4]) for i in range(8)]
    released, *_ = release_linked(rows, WholeHistories(), requirement, names=("person", "q", "home"))
    assert linked_k(released) >= 3


def test_the_plan_says_how_many_persons_keep_how_many_rows():
    rows = [("p", "x"), ("q", "x"), ("q", "x"), ("r", "x"), ("r", "x")]
    *_, plan = release_linked(rows, WholeHistories(), 2, names=("person", "q"))
    [reasons] = plan.reasons
    assert dict(reasons.facts)["rows left out"] == plan.rows_dropped
    assert dict(reasons.facts)["persons"] == 3


def test_boxes_are_one_of_two():
    with pytest.raises(ParameterError, match="boxes"):
        WholeHistories(boxes="wide")


def test_beyond_k_long_histories_are_shortened_and_short_ones_stay_apart():
    """All who have three rows have both values, which is certain; one row of each keeps the requirement."""
    rows = [(f"p{i}", "x", value) for i in range(6) for value in "aba"] + [
        (f"q{i}", "y", "ab"[i % 2]) for i in range(6)
    ]
    requirement = Together((KAnonymity(2), DistinctDiversity(2, on="s")))
    released, *_ = release_linked(rows, WholeHistories(), requirement, names=("person", "q", "s"), value=2)
    assert linked_k(released) >= 2
    assert holds(released, "distinct-l", 2, linked=True)
    assert {len(history) for history in histories(released).values()} == {1}
    assert len(released) == 12  # nobody is lost


def test_beyond_k_what_not_even_all_together_keep_is_refused():
    rows = [(f"p{i}", "x", value) for i in range(4) for value in "ab"]
    requirement = Together((KAnonymity(2), ConfidenceCap(0.5, on="s")))
    with pytest.raises(RequirementError):
        release_linked(rows, WholeHistories(), requirement, names=("person", "q", "s"), value=2, order=None)
