"""Partitioning, piece by piece: parameters, forms, thresholds, hierarchies, refusals."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from incrowd.errors import ParameterError, RequirementError, SchemaError, ValuesError
from incrowd.methods.partitioning import mondrian
from incrowd.methods.partitioning.dimensions import DIMENSION, RANGE, SET, TREE, positions_of
from incrowd.methods.partitioning.mondrian import InfoGainMondrian, Mondrian
from incrowd.plan.steps import Place, Reasons, Show, Spread
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.source import Origin, Source
from incrowd.trees.routing import route
from incrowd.trees.tree import In, check_tree
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.released_value import (
    Category,
    Interval,
    Mean,
    Midpoint,
    Range,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
)
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.closeness import TCloseness
from incrowd.vocabulary.requirements.diversity import EntropyDiversity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

BOTH = pytest.mark.parametrize("factory", [Mondrian, InfoGainMondrian])


def population_of(values, types=None, hierarchies=None, labels=None, orders=None):
    """A population of the given columns; with labels there is a target."""
    columns = [
        Column(
            name,
            Role.QUASI_IDENTIFIER,
            (types or {}).get(name, ColumnType.CATEGORICAL),
            (orders or {}).get(name, ()),
            hierarchy=(hierarchies or {}).get(name),
        )
        for name in values
    ]
    if labels is not None:
        values = {**values, "class": labels}
        columns.append(Column("class", Role.TARGET))
    schema = Schema(tuple(columns))
    table, _ = encode(Source(pl.DataFrame(values), Origin("frame")), schema, schema.names)
    return EmbeddedPopulation(table, schema, SystemRandomness())


def shown(method, population, k):
    """What the groups show, each with its rows, in their order."""
    steps = method.decide(population, KAnonymity(k), SystemRandomness())
    return [(group.rows, *group.forms) for group in next(s for s in steps if isinstance(s, Show)).groups]


NUMBERS = {"age": [21, 22, 23, 34, 35, 36]}
WHOLE = {"age": ColumnType.INTEGER}
CLASSES = ["a", "a", "a", "b", "b", "b"]


# ---- parameters


@BOTH
@pytest.mark.parametrize("numeric", ["bounds", "midpoint", "mean"])
def test_extremes_are_intervals(factory, numeric):
    with pytest.raises(ParameterError, match="numeric=interval"):
        factory(numeric=numeric, boxes="extremes")


@BOTH
@pytest.mark.parametrize("wrong", [{"numeric": "bins"}, {"boxes": "tight"}])
def test_unknown_choices_are_refused(factory, wrong):
    with pytest.raises(ParameterError, match="must be one of"):
        factory(**wrong)


@pytest.mark.parametrize("gain", [-0.1, float("nan"), float("inf"), "0.1", True])
def test_min_gain_is_a_number(gain):
    with pytest.raises(ParameterError, match="min_gain"):
        InfoGainMondrian(min_gain=gain)


def test_parameters_are_plain_data():
    assert Mondrian("mean").parameters() == {"numeric": "mean", "boxes": "splits"}
    assert InfoGainMondrian(min_gain=0.5).parameters()["min_gain"] == 0.5


# ---- refusals


def test_infogain_needs_a_target():
    with pytest.raises(SchemaError, match="target"):
        shown(InfoGainMondrian(), population_of(NUMBERS, WHOLE), 2)


@BOTH
def test_fewer_rows_than_k_are_refused(factory):
    with pytest.raises(RequirementError, match="6 rows"):
        shown(factory(), population_of(NUMBERS, WHOLE, labels=CLASSES), 7)


@BOTH
def test_a_table_that_fails_as_a_whole_is_refused(factory):
    class Impossible:
        smallest_group = 1

        def holds(self, histogram):
            return False

        def check_possible(self, rows):
            pass

        def __str__(self):
            return "the impossible"

    with pytest.raises(RequirementError, match="the impossible"):
        factory().decide(population_of(NUMBERS, WHOLE, labels=CLASSES), Impossible(), SystemRandomness())


@BOTH
def test_a_value_without_a_leaf_is_refused_without_naming_it(factory):
    jobs = Hierarchy.from_paths("job", [["cook", "service", "*"], ["nurse", "health", "*"]])
    population = population_of({"job": ["cook", "secret", "nurse"]}, hierarchies={"job": jobs}, labels=["a", "b", "a"])
    with pytest.raises(ValuesError, match="gap") as told:
        shown(factory(), population, 1)
    assert "secret" not in str(told.value)


# ---- forms of numbers


@BOTH
def test_intervals_end_at_round_cuts_and_are_open_outside(factory):
    population = population_of(NUMBERS, WHOLE, labels=CLASSES)
    assert shown(factory(), population, 3) == [(3, Interval(None, 30)), (3, Interval(30, None))]


@BOTH
def test_the_other_forms_of_numbers(factory):
    population = population_of(NUMBERS, WHOLE, labels=CLASSES)
    assert shown(factory(numeric="mean"), population, 3) == [(3, Mean()), (3, Mean())]
    assert shown(factory(boxes="extremes"), population, 3) == [(3, Range()), (3, Range())]
    low, high = (form for _, form in shown(factory(numeric="midpoint"), population, 3))
    assert (low.low, low.high, high.low, high.high) == (None, 30, 30, None)
    assert isinstance(low, Midpoint)
    assert low.value <= 30 <= high.value


@BOTH
def test_bounds_are_intervals_in_two_columns(factory):
    population = population_of({**NUMBERS, "sex": list("ffmmff")}, WHOLE, labels=CLASSES)
    steps = factory(numeric="bounds").decide(population, KAnonymity(3), SystemRandomness())
    assert [step.names for step in steps if isinstance(step, Spread)] == [("age",)]
    assert steps[1].groups[0].forms[0] == Interval(None, 30)


@BOTH
def test_what_was_never_cut_shows_nothing_but_extremes(factory):
    values = {"age": [20, 30], "born": [datetime.date(2000, 1, 1), datetime.date(2001, 1, 1)]}
    population = population_of(values, {"age": ColumnType.INTEGER, "born": ColumnType.DATE}, labels=["a", "b"])
    assert shown(factory(), population, 2) == [(2, Suppressed(), Suppressed())]
    assert shown(factory(numeric="mean"), population, 2) == [(2, Suppressed(), Suppressed())]
    assert shown(factory(boxes="extremes"), population, 2) == [(2, Range(), Range())]


@BOTH
def test_extremes_hide_what_is_missing_in_some_row(factory):
    population = population_of({"age": [20, 30, None]}, WHOLE, labels=["a", "b", "a"])
    assert shown(factory(boxes="extremes"), population, 3) == [(3, Suppressed())]


@BOTH
def test_dates_are_cut_by_day(factory):
    days = [datetime.date(1970, 1, 1) + datetime.timedelta(days=n) for n in (1, 2, 101, 102)]
    population = population_of({"born": days}, {"born": ColumnType.DATE}, labels=["a", "a", "b", "b"])
    assert shown(factory(), population, 2) == [(2, Interval(None, 100)), (2, Interval(100, None))]


def test_mondrian_goes_below_the_median_when_the_cut_above_it_fails():
    """The lower median is the largest value: nothing lies above it, but three rows lie below."""
    population = population_of({"age": [1, 1, 1, 2, 2, 2, 2]}, WHOLE)
    assert shown(Mondrian(), population, 3) == [(3, Interval(None, 1)), (4, Interval(1, None))]


def test_mondrian_prefers_the_median_of_a_narrower_attribute_to_a_cut_below_the_median():
    values = {"wide": [0, 0, 0, 10, 10, 10, 10], "narrow": [5, 5, 5, 5, 6, 6, 9]}
    types = dict.fromkeys(values, ColumnType.INTEGER)
    steps = Mondrian().decide(population_of(values, types), KAnonymity(3), SystemRandomness())
    assert steps[0].tree.nodes[0].attribute == "narrow"


def test_equal_widths_go_by_column():
    values = {"b": [1, 2, 3, 4], "a": [1, 2, 3, 4]}
    types = dict.fromkeys(values, ColumnType.INTEGER)
    steps = Mondrian().decide(population_of(values, types), KAnonymity(2), SystemRandomness())
    assert steps[0].tree.nodes[0].attribute == "b"


def test_infogain_cuts_evenly_where_all_cuts_are_equal():
    population = population_of({"age": [*range(8), *range(8)]}, WHOLE, labels=["a"] * 8 + ["b"] * 8)
    assert [rows for rows, _ in shown(InfoGainMondrian(), population, 3)] == [4, 4, 4, 4]
    assert [rows for rows, _ in shown(InfoGainMondrian(min_gain=0.01), population, 3)] == [16]


# ---- categories, missing values


def test_mondrian_cuts_categories_in_their_order():
    values = {"size": ["L", "M", "S", "XL"] * 2}
    plain = population_of(values)
    assert shown(Mondrian(), plain, 4) == [(4, ValueSet(("L", "M"))), (4, ValueSet(("S", "XL")))]
    ordered = population_of(values, {"size": ColumnType.ORDERED}, orders={"size": ("S", "M", "L", "XL")})
    assert shown(Mondrian(), ordered, 4) == [(4, ValueSet(("S", "M"))), (4, ValueSet(("L", "XL")))]


def test_infogain_joins_categories_of_the_same_class():
    population = population_of({"colour": list("abcdabcd")}, labels=["x", "y", "x", "y"] * 2)
    assert shown(InfoGainMondrian(), population, 4) == [(4, ValueSet(("a", "c"))), (4, ValueSet(("b", "d")))]
    assert shown(InfoGainMondrian(), population, 2) == [
        (2, Shown("a")),
        (2, Shown("c")),
        (2, Shown("b")),
        (2, Shown("d")),
    ]


def test_a_value_that_no_row_of_a_part_has_belongs_to_the_larger_side_of_its_cut():
    values = {"sex": list("fffffmmmm"), "colour": list("aabbbcccc")}
    found = shown(InfoGainMondrian(), population_of(values, labels=list("xxyyyzzzz")), 2)
    assert sorted(found, key=lambda group: group[0]) == [
        (2, Shown("f"), Shown("a")),
        (3, Shown("f"), ValueSet(("b", "c"))),
        (4, Shown("m"), Suppressed()),
    ]


@BOTH
def test_the_missing_are_a_part_of_their_own(factory):
    population = population_of({"sex": ["f", "f", "m", "m", None, None]}, labels=["a", "a", "b", "b", "b", "b"])
    assert shown(factory(), population, 2) == [(2, Shown("f")), (2, Shown("m")), (2, ShownMissing())]
    assert shown(factory(), population, 3) == [(6, Suppressed())]


@BOTH
def test_columns_without_a_value_are_never_cut(factory):
    population = population_of({"a": [None] * 4, "b": ["x"] * 4}, labels=["u", "v", "u", "v"])
    assert shown(factory(), population, 1) == [(4, Suppressed(), Suppressed())]


# ---- hierarchies


JOBS = Hierarchy.from_paths(
    "job",
    [["cook", "service", "*"], ["waiter", "service", "*"], ["nurse", "health", "*"], ["doctor", "health", "*"]],
)


@BOTH
def test_groups_and_leaves_of_a_hierarchy(factory):
    jobs = ["cook", "waiter"] + ["nurse"] * 4
    population = population_of({"job": jobs}, hierarchies={"job": JOBS}, labels=["a", "a", "b", "b", "b", "b"])
    assert shown(factory(), population, 2) == [(2, Category("service")), (4, Shown("nurse"))]


@BOTH
def test_tests_cover_values_nobody_has(factory):
    population = population_of(
        {"job": ["cook", "cook", "nurse", "nurse"]}, hierarchies={"job": JOBS}, labels=["a", "a", "b", "b"]
    )
    place = factory().decide(population, KAnonymity(2), SystemRandomness())[0]
    tests = [branch.predicate for branch in place.tree.nodes[0].branches]
    assert tests == [In("job", frozenset({"cook", "waiter"})), In("job", frozenset({"nurse", "doctor"}))]


@BOTH
def test_intervals_of_a_hierarchy_route_every_number(factory):
    paths = [
        ("(-inf, 10]", "young", "*"),
        ("(10, 20]", "young", "*"),
        ("(20, 30]", "old", "*"),
        ("(30, inf)", "old", "*"),
    ]
    ages = Hierarchy.from_paths("age", paths, Leaves.NUMBERS)
    labels = ["a", "a", "b", "b", "c", "c"]
    population = population_of({"age": [5, 6, 35, 36, None, None]}, WHOLE, {"age": ages}, labels)
    place, show, *_ = factory().decide(population, KAnonymity(2), SystemRandomness())
    assert isinstance(place, Place)
    check_tree(place.tree, ("age",))
    assert [(g.rows, *g.forms) for g in show.groups] == [
        (2, ShownMissing()),
        (2, Interval(None, 10)),
        (2, Interval(30, None)),
    ]
    new = population_of({"age": [10, 11, 20, 21, 30, 31]}, WHOLE).table
    group_at = {share.node: share.group for share in place.shares}
    # numbers of groups that nobody was in come to rest on the way
    assert [group_at.get(node) for node in route(place.tree, new).tolist()] == [1, None, None, None, None, 2]


@BOTH
def test_numbers_and_dates_listed_one_by_one(factory):
    rooms = Hierarchy.from_paths("rooms", [["1", "few", "*"], ["2", "few", "*"], ["3.0", "many", "*"]])
    days = Hierarchy.from_paths("day", [["2024-01-01", "winter", "*"], ["2024-07-01", "summer", "*"]])
    first, second = datetime.date(2024, 1, 1), datetime.date(2024, 7, 1)
    population = population_of(
        {"rooms": [1, 2, 3, 3], "day": [first, first, second, second]},
        {"rooms": ColumnType.INTEGER, "day": ColumnType.DATE},
        {"rooms": rooms, "day": days},
        ["a", "a", "b", "b"],
    )
    number = (second - datetime.date(1970, 1, 1)).days
    assert shown(factory(numeric="midpoint"), population, 2) == [
        (2, Category("few"), Shown(number - 182)),
        (2, Shown(3), Shown(number)),
    ]


@BOTH
def test_an_only_child_stands_for_its_parent(factory):
    jobs = Hierarchy.from_paths("job", [["cook", "kitchen", "all", "*"], ["nurse", "ward", "all", "*"]])
    population = population_of(
        {"job": ["cook", "cook", "nurse", "nurse"]}, hierarchies={"job": jobs}, labels=["a", "a", "b", "b"]
    )
    assert shown(factory(), population, 2) == [(2, Shown("cook")), (2, Shown("nurse"))]
    assert shown(factory(), population, 3) == [(4, Suppressed())]


# ---- cuts found on a sample


@BOTH
def test_a_cut_is_taken_back_if_a_part_fails_once_all_rows_are_counted(factory):
    """In the sample both halves are balanced; in the table the younger one is not."""

    class Balanced:
        smallest_group = 4

        def holds(self, histogram):
            return histogram.max() <= 0.6 * histogram.sum()

        def check_possible(self, rows):
            pass

    class Sampled(EmbeddedPopulation):
        def sample(self):
            return self.table.take(np.arange(8))

    ages = [21, 22, 21, 22, 41, 42, 41, 42, 21, 21, 21, 41, 41, 41]
    labels = ["a", "b", "b", "a", "a", "b", "b", "a", "a", "a", "a", "b", "b", "b"]
    every = population_of({"age": ages}, WHOLE, labels=labels)
    found = Sampled(every.table, every.schema, SystemRandomness())
    steps = factory().decide(found, Balanced(), SystemRandomness())
    assert [(group.rows, group.forms) for group in steps[1].groups] == [(14, (Suppressed(),))]
    assert dict(steps[-1].facts)["cuts taken back"] == 1


# ---- account, numbers at the edge


def test_the_account_says_what_was_cut():
    steps = Mondrian().decide(population_of(NUMBERS, WHOLE), KAnonymity(3), SystemRandomness())
    reasons = steps[-1]
    assert isinstance(reasons, Reasons)
    assert reasons.rows == (("age", 1, 6),)
    assert dict(reasons.facts) == {
        "groups": 2,
        "smallest group": 3,
        "largest group": 3,
        "tests on the longest path": 1,
        "cuts taken back": 0,
    }


def test_positions_of_extreme_numbers():
    large = np.array([-(2**63), 0, 2**63 - 1])
    assert positions_of(large).tolist() == [0.0, 0.5, 1.0]
    assert positions_of(np.array([2**62, 2**62 + 1])).tolist() == [0.0, 1.0]
    assert positions_of(np.array([0.0, 5e-324])).tolist() == [0.0, 1.0]
    assert positions_of(np.array([-1.7e308, 0.0, 1.7e308])).tolist() == [0.0, 0.5, 1.0]
    assert positions_of(np.array([7])).tolist() == [0.0]


@BOTH
def test_whole_numbers_too_large_for_a_float_are_told_apart(factory):
    numbers = [2**62, 2**62, 2**62 + 1, 2**62 + 1]
    population = population_of({"n": numbers}, {"n": ColumnType.INTEGER}, labels=["a", "a", "b", "b"])
    assert shown(factory(), population, 2) == [(2, Interval(None, 2**62)), (2, Interval(2**62, None))]


# ---- a judge asked about all cuts of a dimension at once


ROWS = 400
REQUIRED = Together((KAnonymity(5), EntropyDiversity(1.3), TCloseness(0.35)))


def mixed(seed):
    """Numbers and categories with missing values, a hierarchy, and a class that leans on all of them."""
    draw = np.random.default_rng(seed)
    age = [
        None if gone else int(value)
        for value, gone in zip(draw.integers(0, 60, ROWS), draw.random(ROWS) < 0.1, strict=True)
    ]
    job = [
        None if gone else f"job {value}"
        for value, gone in zip(draw.integers(0, 9, ROWS), draw.random(ROWS) < 0.1, strict=True)
    ]
    town = [f"town {value}" for value in draw.integers(0, 4, ROWS)]
    score = np.array([(one or 30) / 60 for one in age]) + draw.random(ROWS)
    tree = Hierarchy("town", ("*", "north", "south", *(f"town {n}" for n in range(4))), (-1, 0, 0, 1, 1, 2, 2))
    return population_of(
        {"age": age, "job": job, "town": town},
        {"age": ColumnType.INTEGER},
        {"town": tree},
        labels=["yes" if one > 1.1 else "no" for one in score],
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", [InfoGainMondrian(), Mondrian()], ids=["infogain", "median"])
def test_answers_along_a_dimension_are_those_of_each_cut(method, seed, monkeypatch):
    compared = set()
    lazily = mondrian._Node.may_cut

    def both(self, number):
        answer = lazily(self, number)
        dimension = int(self.cuts[number, DIMENSION])
        answers = self._along(dimension)
        for each in np.flatnonzero(self.cuts[:, DIMENSION] == dimension):
            alone = self._alone(each)
            compared.add((int(self.dims.kind[dimension]), alone))
            assert answers is None or answers[each] == alone
        assert (answers is None) == (self.dims.kind[dimension] == TREE)
        assert answer == self._alone(number)
        return answer

    monkeypatch.setattr(mondrian._Node, "may_cut", both)
    with_both = method.decide(mixed(seed), REQUIRED, SystemRandomness())
    assert {kind for kind, _ in compared} == {RANGE, SET, TREE} if method.name == "infogain-mondrian" else compared
    assert {answer for _, answer in compared} == {True, False}
    monkeypatch.setattr(mondrian._Node, "may_cut", mondrian._Node._alone)
    assert method.decide(mixed(seed), REQUIRED, SystemRandomness()) == with_both


def test_evidence_that_is_too_much_at_once_is_asked_cut_by_cut(monkeypatch):
    usual = InfoGainMondrian().decide(mixed(0), REQUIRED, SystemRandomness())
    monkeypatch.setattr(mondrian, "LARGEST", 10)
    assert InfoGainMondrian().decide(mixed(0), REQUIRED, SystemRandomness()) == usual
