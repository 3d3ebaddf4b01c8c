"""The parts of IACk and IACc: levels, halves, hiding, and what they refuse."""

import datetime
import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.errors import ParameterError, SchemaError, ValuesError
from incrowd.methods.mutual_information import generalizing
from incrowd.methods.mutual_information.generalizing import classes_of, leaf_values, levels_of, nested_cuts
from incrowd.methods.mutual_information.iac import IACc, IACk
from incrowd.plan.steps import Hide, Part, Reasons, Recode, Spread
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Category, Interval, Level, Shown, Suppressed, ValueSet
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

TYPES = {pl.Int64: ColumnType.INTEGER, pl.Float64: ColumnType.REAL, pl.Date: ColumnType.DATE}


def population(data, hierarchies=None, types=None, target="c"):
    frame = pl.DataFrame(data)
    columns = []
    for name in frame.columns:
        kind = (types or {}).get(name) or TYPES.get(type(frame[name].dtype), ColumnType.CATEGORICAL)
        order = tuple(frame[name].drop_nulls().unique().sort()) if kind is ColumnType.ORDERED else ()
        role = Role.TARGET if name == target else Role.QUASI_IDENTIFIER
        columns.append(Column(name, role, kind, order, hierarchy=(hierarchies or {}).get(name)))
    schema = Schema(tuple(columns))
    table, _ = encode(read(frame), schema, frame.columns)
    return EmbeddedPopulation(table, schema, SeededRandomness(1))


def found(data, hierarchy=None, kind=None):
    """The levels of a column of values."""
    people = population({"a": data}, types={"a": kind} if kind else None)
    column = people.sample()["a"]
    return levels_of(column, column.counts, hierarchy, lambda interval: interval)


def decide(people, requirement, method=None):
    steps = (method or IACk()).decide(people, requirement, SeededRandomness(1))
    hides = [step for step in steps if isinstance(step, Hide)]
    facts = next(dict(step.facts) for step in steps if isinstance(step, Reasons))
    return steps, hides, facts


def forms(level):
    return [part.form for part in level.parts]


def test_categories_without_hierarchy_are_nothing_or_themselves():
    nothing, raw = found(["b", "a", None, "b"])
    assert nothing.parts == ()
    assert nothing.places.tolist() == [0, 0, 0]
    assert raw.parts == (Part(("a",), Shown("a"), 0), Part(("b",), Shown("b"), 0))
    assert raw.places.tolist() == [0, 1, 2]


def test_ordered_categories_are_halved():
    nothing, halves, raw = found(["a", "b", "c", "c", None], kind=ColumnType.ORDERED)
    assert nothing.parts == ()
    assert forms(halves) == [ValueSet(("a", "b")), Shown("c")]
    assert halves.places.tolist() == [0, 0, 1, 2]
    assert forms(raw) == [Shown("a"), Shown("b"), Shown("c")]


def test_numbers_are_halved_at_round_numbers_and_end_raw():
    nothing, halves, quarters, raw = found([11, 18, 42, 57])
    assert nothing.parts == ()
    assert forms(halves) == [Interval(None, 30), Interval(30, None)]
    assert [part.members for part in quarters.parts] == [
        Interval(None, 14),
        Interval(14, 30),
        Interval(30, 50),
        Interval(50, None),
    ]
    assert forms(raw) == [Shown(11), Shown(18), Shown(42), Shown(57)]


def test_dates_are_day_numbers():
    day = datetime.date(1970, 1, 2)
    *_, raw = found([day, day + datetime.timedelta(30)])
    assert raw.parts == (Part((1,), Shown(1), 0), Part((31,), Shown(31), 0))


def test_too_many_numbers_have_no_raw_level(monkeypatch):
    monkeypatch.setattr(generalizing, "MOST_NUMBERS", 3)
    assert len(found([11, 18, 42])) == 4
    assert len(found([11, 18, 42, 57])) == 3
    assert all(isinstance(form, Interval) for form in forms(found([11, 18, 42, 57])[-1]))


def test_a_column_without_values_has_levels_that_show_nothing():
    assert [level.parts for level in found([None, None], kind=ColumnType.INTEGER)] == [(), ()]


JOBS = Hierarchy.from_paths(
    "a", [["cook", "service", "*"], ["waiter", "service", "*"], ["nurse", "*"], ["doctor", "health", "*"]]
)


def test_levels_of_a_hierarchy_of_values():
    nothing, groups, raw = found(["cook", "nurse", None], JOBS)
    assert nothing.parts == ()
    assert groups.parts == (
        Part(("cook", "waiter"), Category("service"), 0),
        Part(("nurse",), Shown("nurse"), 0),
        Part(("doctor",), Category("health"), 0),
    )
    assert groups.places.tolist() == [0, 1, 3]
    assert forms(raw) == [Shown("cook"), Shown("waiter"), Shown("nurse"), Shown("doctor")]


def test_a_gap_in_a_hierarchy_is_an_error_that_counts():
    with pytest.raises(ValuesError, match=r"1 of 2 distinct values .*2 rows"):
        found(["cook", "spy", "spy"], JOBS)


def test_levels_of_a_hierarchy_of_intervals_end_in_the_numbers():
    ages = Hierarchy.from_paths(
        "a", [["(0, 10]", "young", "*"], ["(10, 20]", "young", "*"], ["(20, inf)", "*"]], Leaves.NUMBERS
    )
    nothing, two, three, raw = found([5, 15, 25, None], ages)
    assert nothing.parts == ()
    assert [part.members for part in two.parts] == [Interval(0, 20), Interval(20, None)]
    assert [part.members for part in three.parts] == [Interval(0, 10), Interval(10, 20), Interval(20, None)]
    assert forms(raw) == [Shown(5), Shown(15), Shown(25)]


def test_a_node_that_covers_everything_shows_nothing():
    ages = Hierarchy.from_paths("a", [["(-inf, 10]", "all", "*"], ["(10, inf)", "all", "*"]], Leaves.NUMBERS)
    _, everything, two, _ = levels_of(
        population({"a": [5, 15]}).sample()["a"],
        np.array([1, 1, 0]),
        ages,
        lambda interval: Suppressed() if interval == Interval() else interval,
    )
    assert everything.parts == ()
    assert everything.places.tolist() == [0, 0, 0]
    assert len(two.parts) == 2


def test_numbers_meet_the_leaves_that_write_them():
    grades = Hierarchy.from_paths(
        "a", [["1", "good", "*"], ["2.0", "good", "*"], ["3.5", "bad", "*"], ["no", "bad", "*"]]
    )
    whole = population({"a": [1, 2]}).sample()["a"]
    assert leaf_values(whole, grades) == [1, 2, 3.5, None]
    real = population({"a": [1.0, 2.0]}).sample()["a"]
    assert leaf_values(real, grades) == [1.0, 2.0, 3.5, None]
    assert all(isinstance(value, float) for value in leaf_values(real, grades)[:3])
    _, groups, _ = found([1, 2], grades)
    assert groups.parts == (Part((1, 2), Category("good"), 0), Part((3.5,), Category("bad"), 0))


def test_dates_meet_the_leaves_that_write_them():
    days = Hierarchy.from_paths(
        "a", [["1970-01-02", "early", "*"], ["1970-01-31", "late", "*"], ["never", "late", "*"]]
    )
    column = population({"a": [datetime.date(1970, 1, 2)]}).sample()["a"]
    assert leaf_values(column, days) == [1, 30, None]


@given(st.lists(st.integers(1, 30), max_size=40), st.integers(1, 6))
def test_nested_cuts_halve(rows, depth):
    generations = nested_cuts(np.array(rows, np.int64), depth)
    assert len(generations) <= depth
    earlier = []
    for cuts in generations:
        assert set(earlier) < set(cuts)
        assert cuts == sorted(set(cuts))
        ends = [0, *earlier, len(rows)]
        for first, last in pairwise(ends):
            inside = [cut for cut in cuts if first < cut < last]
            assert len(inside) == (last - first > 1)
            gaps = {cut: abs(sum(rows[first:cut]) - sum(rows[cut:last])) for cut in range(first + 1, last)}
            assert all(gaps[cut] == min(gaps.values()) for cut in inside)
        earlier = cuts
    if len(rows) > 1 and len(generations) < depth:
        assert earlier == list(range(1, len(rows)))


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3, st.integers(0, 5)), min_size=1, max_size=20))
def test_classes_are_those_of_a_dictionary(rows):
    codes, sizes = np.array([row[:3] for row in rows]), np.array([row[3] for row in rows])
    made = classes_of(codes, np.array([3, 3, 3]), sizes)
    wide = classes_of(codes, np.array([2**40, 2**40, 2**40]), sizes)
    expected = {}
    for *code, size in rows:
        expected[tuple(code)] = expected.get(tuple(code), 0) + size
    assert [tuple(code) for code in made.codes.tolist()] == sorted(expected) == [tuple(c) for c in wide.codes.tolist()]
    assert made.sizes.tolist() == [expected[code] for code in sorted(expected)]
    assert made.blank.tolist() == [code == (3, 3, 3) for code in sorted(expected)]
    assert [tuple(made.codes[number].tolist()) for number in made.of] == [tuple(row[:3]) for row in rows]


def grid(*cells):
    """Rows of two attributes and a class, from (a, b, count)."""
    rows = [(a, b) for a, b, count in cells for _ in range(count)]
    return {"a": [a for a, _ in rows], "b": [b for _, b in rows], "c": ["xy"[i % 2] for i in range(len(rows))]}


def test_the_smallest_combination_joins_too_few_hidden_rows_the_first_on_ties():
    people = population(grid(("p", "q", 1), ("s", "t", 3), ("s", "u", 4), ("v", "t", 3)))
    steps, hides, facts = decide(people, KAnonymity(3))
    assert hides == [Hide(("a", "b"), 3, ((1, 1),), False, 4)]
    assert facts["rows hidden"] == 4
    assert facts["k_actual"] == 3
    recode = next(step for step in steps if isinstance(step, Recode))
    assert [(part.members, part.rows) for part in recode["a"].parts] == [(("p",), 0), (("s",), 4), (("v",), 3)]


def test_enough_hidden_rows_need_no_company():
    people = population(grid(("p", "q", 2), ("r", "q", 1), ("s", "t", 3)))
    _, hides, facts = decide(people, KAnonymity(3))
    assert hides == [Hide(("a", "b"), 3, (), False, 3)]
    assert facts["beta"] == "infinite"


def test_rows_that_show_nothing_anyway_count_with_the_hidden():
    missing = population(grid((None, None, 2), ("p", "q", 1), ("s", "t", 3)))
    _, hides, facts = decide(missing, KAnonymity(3))
    assert hides == [Hide(("a", "b"), 3, (), False, 1)]
    assert facts["rows hidden"] == 1
    alone = population(grid((None, None, 2), ("s", "t", 3)))
    _, hides, _ = decide(alone, KAnonymity(3))
    assert hides == [Hide(("a", "b"), 3, ((0, 0),), False, 3)]
    _, hides, facts = decide(alone, KAnonymity(3), IACk(on_small="drop"))
    assert hides == [Hide(("a", "b"), 3, (), True, 2)]
    assert (facts["rows left out"], facts["rows hidden"]) == (2, 0)
    _, hides, _ = decide(alone, KAnonymity(3), IACk(strict=False))
    assert hides == []


def test_hiding_for_one_set_may_make_another_rare():
    people = population(grid(("p", "q", 1), ("p", "t", 2), ("s", "q", 1), ("s", "t", 3)))
    sets = KnownTogether((KnownSet(("a",), 4), KnownSet(("b", "a"), 2)))
    _, hides, facts = decide(people, sets)
    assert hides == [Hide(("a",), 4, ((1,),), False, 7)]
    assert facts["rows hidden"] == 7
    _, hides, _ = decide(people, KnownTogether((KnownSet(("a",), 4), KnownSet(("b", "a"), 3))))
    assert hides == [Hide(("a",), 4, ((1,),), False, 7), Hide(("b", "a"), 3, ((1, 2),), False, 7)]


def test_fewer_rows_than_k_are_all_hidden():
    _, hides, facts = decide(population(grid(("p", "q", 1), ("s", "t", 2))), KAnonymity(5))
    assert hides == [Hide(("a", "b"), 5, (), False, 3)]
    assert (facts["k_actual"], facts["alpha"] >= 0, facts["beta"]) == (None, True, "infinite")


def test_min_entropy_sets_a_handful_of_rows_aside():
    people = {"a": ["no"] * 3 + ["p"] * 40 + ["s"] * 40, "c": ["x"] * 3 + ["x", "y"] * 20 + ["x", "y", "y", "y"] * 10}
    tree = Hierarchy.from_paths("a", [["no", "none", "*"], ["p", "paid", "*"], ["s", "paid", "*"]])
    steps, _, _ = decide(population(people, {"a": tree}), KAnonymity(1))
    assert steps[-1].rows[0][:3] == ("a", 2, 3)
    steps, _, _ = decide(population(people, {"a": tree}), KAnonymity(1), IACk(min_entropy=0.5))
    assert steps[-1].rows[0][:3] == ("a", 3, 3)


@pytest.mark.parametrize(
    ("numeric", "kind"), [("interval", Interval), ("bounds", Interval), ("midpoint", None), ("mean", Level)]
)
def test_numbers_are_written_as_asked(numeric, kind):
    ages = Hierarchy.from_paths("a", [["(0, 20]", "*"], ["(20, 40]", "*"], ["(40, 60]", "*"]], Leaves.NUMBERS)
    people = population(
        {"a": [*range(11, 15), *range(31, 35)], "b": [1, 2] * 4, "c": ["x"] * 4 + ["y"] * 4}, {"a": ages}
    )
    steps, _, _ = decide(people, KAnonymity(1), IACk(numeric=numeric))
    parts = steps[0]["a"].parts
    assert [part.rows for part in parts] == [4, 4, 0]
    if kind:
        assert isinstance(parts[0].form, kind)
    else:
        assert [part.form.value for part in parts] == [10, 30, 50]
    assert isinstance(parts[2].form, Suppressed) == (numeric == "mean")
    assert [step.names for step in steps if isinstance(step, Spread)] == ([("a",)] if numeric == "bounds" else [])


def test_iacc_absolute_and_relative_thresholds():
    people = population(grid(("p", "q", 1), ("p", "t", 6), ("s", "t", 8)))
    _, _, facts = decide(people, KAnonymity(1), IACc(delta_d=0.0, delta_c=0.0))
    assert (facts["k"], facts["e_min"], facts["k_actual"]) == (1, 0, 1)
    _, hides, facts = decide(people, KAnonymity(5), IACc(delta_d=0.0, delta_c=0.0))
    assert facts["thresholds exceeded at the k asked for"] is True
    assert hides[0].below == 5


def test_iacc_relative_does_not_stop_at_an_attribute_of_one_value():
    """D_N of a constant attribute is infinite as soon as one row is hidden; as a share of its scale it is small."""
    rows = {"a": ["m"] * 51 + ["n"] * 50, "b": ["u"] * 50 + ["w"] * 51, "c": ["x", "y"] * 50 + ["x"]}
    for data in (rows, {**rows, "one": ["q"] * 101}):
        _, _, facts = decide(population(data), KAnonymity(1), IACc(delta_d=0.2, delta_c=0.2))
        assert (facts["k"], facts["e_min"], facts["k_actual"]) == (2, 1, 50)
        _, _, facts = decide(population(data), KAnonymity(1), IACc(delta_d=0.2, delta_c=0.2, scale="absolute"))
        assert facts["e_min"] == (0 if "one" in data else 1)


RARE = {
    "a": ["m"] * 10 + ["n"] * 5 + ["o", "o", "p", "p"],
    "b": ["u"] * 6 + ["v", "v", "w", "w", "u", "u", "u", "w", "x", "u", "v", "u", "v"],
    "c": ["y"] * 6 + ["y", "y", "n", "n", "n", "n", "n", "n", "y", "y", "n", "y", "n"],
}


def test_rare_combinations_show_what_a_group_of_them_has_in_common():
    """Six rows of m and u are frequent. The others of m are a group, those of n as well; o and p are too few."""
    people, requirement = population(RARE), KAnonymity(4)
    assert [hide.rows for hide in decide(people, requirement)[1]] == [13]
    steps, hides, facts = decide(people, requirement, IACk(on_rare="generalize"))
    assert [(hide.below, hide.only, hide.rows) for hide in hides] == [(0, ("b",), 9), (0, (), 4)]
    assert facts["rows hidden"] == 13
    shown = people
    for step in steps:
        shown = (
            shown.recode(step) if isinstance(step, Recode) else shown.hide(step) if isinstance(step, Hide) else shown
        )
    assert sorted(shown.combinations(("a", "b")).sizes.tolist()) == [4, 4, 5, 6]


def test_groups_of_rare_combinations_keep_what_is_required_of_the_class(tmp_path):
    """Both classes must be in every group; one that would have a single class is not shown."""
    frame = pl.DataFrame(RARE)
    for on_rare in ("hide", "generalize"):
        made = incrowd.release(
            frame,
            quasi_identifiers=["a", "b"],
            target="c",
            k=3,
            require="distinct-l=2",
            method="iack",
            parameters={"on_rare": on_rare},
        )
        classes = made.table.group_by("a", "b").agg(pl.col("c").n_unique(), pl.len())
        assert (classes["c"].min(), made.verdict.passed) == (2, True)


def test_a_target_is_needed():
    people = population({"a": ["x", "y"]})
    for method in (IACk(), IACc()):
        with pytest.raises(SchemaError, match="target"):
            method.decide(people, KAnonymity(1), SeededRandomness(1))


@pytest.mark.parametrize(
    "wrong",
    [
        {"numeric": "bins"},
        {"min_entropy": -0.1},
        {"min_entropy": math.nan},
        {"min_entropy": "0"},
        {"min_entropy": True},
        {"strict": "yes"},
        {"on_small": "keep"},
    ],
    ids=str,
)
@pytest.mark.parametrize("factory", [IACk, IACc])
def test_parameters_have_ranges(factory, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        factory(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"delta_d": -1}, {"delta_c": math.inf}, {"scale": "log"}, {"delta_c": None}], ids=str
)
def test_thresholds_have_ranges(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        IACc(**wrong)


def test_parameters_are_plain_data():
    shared = {"numeric": "interval", "min_entropy": 0.0, "strict": True, "on_small": "suppress"}
    assert IACk().parameters() == {**shared, "on_rare": "hide"}
    assert IACc(delta_d=1).parameters() == {**shared, "delta_d": 1, "delta_c": 0.05, "scale": "relative"}
