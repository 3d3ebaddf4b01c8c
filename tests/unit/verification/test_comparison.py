"""What a cell of text may show, given the row's own value: exact counts of wrong cells, by hand."""

from __future__ import annotations

import pytest

from incrowd.verification.compared_values import groups_and_values
from incrowd.verification.population import People
from incrowd.vocabulary.hierarchy import Hierarchy
from support.comparing import cells, compared, expected, wrong, wrong_of_all

JOBS = Hierarchy.from_paths(
    "x", [["cook", "=craft", "*"], ["smith", "=craft", "*"], ["nurse", "ward|home", "*"], ["aide", "ward|home", "*"]]
)
GRADES = Hierarchy.from_paths("x", [["1", "low", "*"], ["2.0", "low", "*"], ["3", "high", "*"]])

VALUES = {
    "the own value": (["cook"], ["cook"], 0),
    "nothing": ([None, None], ["cook", None], 0),
    "the value of somebody else, twice": (["smith"] * 2, ["cook"] * 2, 2),
    "a value beside a right one": (["smith", "cook"], ["cook"] * 2, 1),
    "a value where there is none": (["cook"], [None], 1),
    "an empty text": ([""], ["cook"], 1),
    "a set of all values": (["cook|smith"] * 2, ["cook", "smith"], 0),
    "a set without the own value": (["cook|smith"] * 4, ["cook", "smith", "nurse", "nurse"], 2),
    "a set around a missing value": (["cook|smith"] * 3, ["cook", "smith", None], 1),
    "a member that nobody has": (["aide|cook|smith"] * 2, ["cook", "smith"], 1),
    "two members that nobody has": (["aide|cook|nurse"], ["cook"], 2),
    "a member that only rows of another set have": (["a|b", "a|b", "b|c"], ["a", "b", "c"], 1),
    "a member that nobody has, where a value is missing": (["a|b"] * 2, ["a", None], 2),
    "a value that reads like a set": (["a|b"] * 2, ["a|b"] * 2, 0),
    "a value that reads like a set in a set": (["a%7Cb|c"] * 2, ["a|b", "c"], 0),
    "a percent sign in a set": (["a%25b|c"] * 2, ["a%b", "c"], 0),
    "a member that is not encoded": (["a|b|c"] * 2, ["a|b", "c"], 3),
    "a value alone that is encoded": (["a%25b"], ["a%b"], 1),
    "a set that names a value twice": (["a|a|b"] * 2, ["a", "b"], 1),
    "sets in one order": (["a|b", "a|b", "b|c", "b|c", "a|c", "a|c"], list("abbcac"), 0),
    "sets in two orders": (["a|b", "a|b", "b|a", "b|a"], list("abab"), 1),
    "sets whose orders go round": (["a|b", "a|b", "b|c", "b|c", "c|a", "c|a"], list("abbcca"), 1),
    "two orders at the end of sets": (["a|b|c"] * 3 + ["c|b"] * 2, list("abccb"), 1),
    "an apostrophe": (["'=a"], ["=a"], 1),
    "an apostrophe before a set": (["'=a|b"] * 2, ["=a", "b"], 2),
    "a set that begins like a formula": (["=a|b"] * 2, ["=a", "b"], 0),
}


@pytest.mark.parametrize("cuts", [(), (1, 3)])
def test_a_text_is_the_value_or_a_set_with_it(cuts):
    assert wrong_of_all(VALUES, cuts) == expected(VALUES)


ESCAPED = {
    "a formula": (["'=1+2", "'@x", "'+a", "'-a"], ["=1+2", "@x", "+a", "-a"], 0),
    "a number": (["-5", "+3"], ["-5", "+3"], 0),
    "a number with an apostrophe": (["'-5"], ["-5"], 1),
    "a sign alone": (["="], ["="], 0),
    "a sign alone with an apostrophe": (["'="], ["="], 1),
    "an apostrophe before another text": (["'cook"], ["cook"], 1),
    "an own apostrophe": (["'=a"], ["'=a"], 0),
    "a set that begins like a formula": (["'=a|b"] * 2, ["=a", "b"], 0),
    "a set that begins with a number below zero": (["'-5|x"] * 2, ["-5", "x"], 0),
    "a set whose first value has an own apostrophe": (["'=a|b"] * 2, ["'=a", "b"], 0),
    "a value that reads like a set and a formula": (["'=a|b"], ["=a|b"], 0),
    "a value that reads like a set and has an own apostrophe": (["'=a|b"], ["'=a|b"], 0),
    "a formula within a set": (["b|=a"] * 2, ["b", "=a"], 0),
    "an apostrophe within a set": (["b|'=a"] * 2, ["b", "=a"], 2),
    "a formula that nobody has before a set": (["'=a|b|c"] * 2, ["b", "c"], 1),
    "an order where an apostrophe is once added and once own": (
        ["'=a|c"] * 2 + ["c|'=a"] * 2,
        ["=a", "c", "c", "'=a"],
        0,
    ),
    "two orders": (["a|b", "a|b", "b|a", "b|a"], list("abab"), 1),
    "two orders behind a formula": (["'=a|b|c"] * 3 + ["c|b"] * 2, ["=a", "b", "c", "c", "b"], 1),
}


def test_in_delimited_text_what_looks_like_a_formula_has_an_apostrophe():
    assert wrong_of_all(ESCAPED, escapes=True) == expected(ESCAPED)


GROUPS = {
    "a group": (["craft", "craft", "*"], ["cook", "smith", "nurse"], 0),
    "the own value": (["cook", None], ["cook", "smith"], 0),
    "another group": (["craft", "craft", "cook"], ["nurse", "aide", "cook"], 2),
    "a value for a group": (["smith"], ["cook"], 1),
    "a group around a missing value": (["craft"], [None], 1),
    "a name that is none": (["nobody"], ["cook"], 1),
    "a value that the hierarchy does not know": (["baker", "craft"], ["baker", "baker"], 1),
    "a group with a bar in its name": (["ward|home"] * 2, ["nurse", "nurse"], 0),
    "another group with a bar in its name": (["ward|home"] * 2, ["nurse", "cook"], 1),
    "a set of values": (["cook|smith"] * 2, ["cook", "smith"], 0),
    "a member that nobody has": (["cook|smith"] * 2, ["cook", "cook"], 1),
}


@pytest.mark.parametrize("escapes", [False, True])
def test_a_group_is_true_of_the_values_below_it(escapes):
    craft = "'=craft" if escapes else "=craft"
    cases = {
        name: ([craft if cell == "craft" else cell for cell in shown], own, wrong)  # type: ignore[attr-defined]
        for name, (shown, own, wrong) in GROUPS.items()
    }
    found = wrong_of_all(cases, escapes=escapes, hierarchies=dict.fromkeys(GROUPS, JOBS))
    assert found == expected(GROUPS)


def test_the_name_of_a_group_may_have_an_apostrophe_of_its_own():
    named = Hierarchy.from_paths("x", [["a", "'=x|y", "*"], ["b", "'=x|y", "*"], ["c", "*"]])
    for escapes in (False, True):
        assert wrong(["'=x|y"] * 3, ["a", "b", "c"], escapes=escapes, hierarchies={"x": named}) == 1


NUMBERED = {
    "groups": (["low", "low", "high", "*", None], [1, 2, 3, 3, 1], 0),
    "numbers, however they are written": (["2", "2.0", "1", "3e0"], [2, 2, 1, 3], 0),
    "other groups": (["low", "high", "high"], [3, 1, 2], 3),
    "another number": (["2"], [1], 1),
    "a group around a missing number": (["low", "low"], [1, None], 1),
    "a set": (["1|2"] * 3, [1, 2, 3], 1),
}


def test_groups_of_numbers_are_named_by_values():
    assert wrong_of_all(NUMBERED, hierarchies=dict.fromkeys(NUMBERED, GRADES)) == expected(NUMBERED)


def test_a_number_in_a_hierarchy_of_values_is_a_mean_where_the_column_has_numbers():
    assert wrong([1.5, 1.5], [1, 2], hierarchies={"x": GRADES}) == 0
    assert wrong([1.0, 1.0], [1, 2], hierarchies={"x": GRADES}) == 1


def test_a_text_that_reads_like_a_number_is_not_the_text_of_the_same_number():
    assert wrong(["1", "1.0"], ["1", "1"], hierarchies={"x": GRADES}) == 1


def test_truth_values_are_values():
    assert wrong([True, False], [True, False]) == 0
    assert wrong([True, True], [True, False]) == 1
    assert wrong(["false|true"] * 2, [True, False]) == 0
    assert wrong(["false|true"] * 2, [True, True]) == 1


def test_where_people_outside_of_the_table_count_sets_may_name_their_values():
    people = People(None, {}, ())
    assert wrong(["aide|cook"] * 2, ["cook", "cook"], people=people) == 0
    assert wrong(["aide|cook"] * 2, ["cook", "smith"], people=people) == 1


def test_a_piece_tells_each_value_of_a_set_once():
    shown = {"x": ["a|b"] * 5 + ["c"], "y": ["s|t"] * 6}
    own = {"x": ["a", "b", "a", "b", "a", "c"], "y": ["s", "t"] * 3}
    found, [piece] = compared(shown, own, keys=["x"])
    assert found == {"x": 0, "y": 6}
    members = [{"place": 0, "shown": "a|b", "own": own} for own in "ab"]
    assert sorted(piece.sets.to_pylist(), key=str) == members


def test_groups_are_told_with_the_values_below_them_from_the_value_up():
    tree = Hierarchy("x", ("*", "care", "nurse", "aide", "cook"), (-1, 0, 1, 1, 0))
    assert list(groups_and_values(tree)) == [
        *[("nurse", "nurse"), ("care", "nurse"), ("*", "nurse")],
        *[("aide", "aide"), ("care", "aide"), ("*", "aide")],
        *[("cook", "cook"), ("*", "cook")],
    ]


def test_columns_are_told_by_name_wherever_they_stand():
    shown = {"a": ["p", "q"], "x": ["cook", "cook"], "b": ["r", "s"]}
    own = {"b": ["r", "t"], "x": ["smith", "smith"], "a": ["p", "q"]}
    assert compared(shown, own, keys=["x"])[0] == {"a": 0, "x": 2, "b": 1}


COUNTED = [
    *[(False, False, "%3D1:2"), (False, None, "%3D1:2"), (False, True, "%3D1:2")],
    *[(True, False, "%3D1:2"), (True, None, "%3D1:2"), (True, True, "'=1:2")],
]


@pytest.mark.parametrize(("escapes", "pair", "right"), COUNTED)
def test_counts_have_an_apostrophe_only_in_a_table_of_their_own(escapes, pair, right):
    options = {"escapes": escapes, "pair": pair, "counts": ["x"]}
    for shown in ("%3D1:2", "'=1:2"):
        assert wrong([shown] * 2, ["=1"] * 2, **options) == (0 if shown == right else 2)


def test_counts_of_texts_and_numbers():
    own = {"x": ["a", "b", "b"], "n": [3, 7, 8], "ill": ["y", "n", "y"]}
    right = {"x": ["a:1|b:2"] * 3, "n": ["(0, 5]:1|(5, 9]:2"] * 3, "ill": ["y", "n", "y"]}
    options = {"keys": ["x", "n"], "counts": ["x", "n"]}
    for cuts in ((), (1, 2)):
        assert compared(right, own, cuts, **options)[0] == {"x": 0, "n": 0, "ill": 0}
        lie = right | {"n": ["(0, 5]:2|(5, 9]:1"] * 3, "ill": ["y", "y", "y"]}
        assert compared(lie, own, cuts, **options)[0] == {"x": 0, "n": 3, "ill": 1}
    assert compared({"x": cells([None] * 3)}, {"x": own["x"]})[1][0].counts is None


@pytest.mark.parametrize("escapes", [False, True])
@pytest.mark.parametrize("columns", [199, 200, 201, 401])
def test_each_of_many_columns_beside_quasi_identifiers_is_compared(columns, escapes):
    """They are asked about in several queries: column i has i % 3 wrong cells, and as many formulas."""
    own = {f"c{at}": ["x", "y", "z"] for at in range(columns)}
    shown = {name: ["=1"] * (at % 3) + own[name][at % 3 :] for at, name in enumerate(own)}
    found, [piece] = compared(shown, own, keys=[], escapes=escapes)
    assert found == {f"c{at}": at % 3 for at in range(columns)}
    assert piece.formulas == (sum(found.values()) if escapes else 0)
