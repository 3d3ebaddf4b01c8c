"""What top-down refinement shows for each kind of attribute, how ties are broken, and what it refuses."""

import datetime
import json
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from incrowd.errors import ParameterError, RequirementError, SchemaError, ValuesError
from incrowd.methods.top_down_refinement.tdr import TDR, TDS
from incrowd.plan.steps import Part, Reasons, Recode, Spread
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.released_value import Category, Interval, Level, Midpoint, Shown, ValueSet
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

CHANCE = SystemRandomness()
JOB = Hierarchy.from_paths(
    "job", [["cook", "service", "*"], ["waiter", "service", "*"], ["nurse", "health", "*"], ["doctor", "health", "*"]]
)


class Indifferent(TDR):
    """TDR for which all refinements are equally good."""

    criteria: ClassVar = {"score": lambda gain, loss: np.ones(len(gain))}


def population(attributes, classes, *, dictionaries=None, target=True):
    """A table from ``{name: (type, values, hierarchy)}``; None is missing."""
    columns, schema = [], []
    for name, (kind, values, hierarchy) in attributes.items():
        known = (dictionaries or {}).get(name) or sorted({value for value in values if value is not None})
        codes = [len(known) if value is None else known.index(value) for value in values]
        columns.append(EncodedColumn(name, kind, np.array(codes, np.int32), pl.Series(known)))
        order = tuple(known) if kind is ColumnType.ORDERED else ()
        schema.append(Column(name, Role.QUASI_IDENTIFIER, kind, order, hierarchy=hierarchy))
    labels = sorted(set(classes))
    codes = np.array([labels.index(label) for label in classes], np.int32)
    columns.append(EncodedColumn("ill", ColumnType.CATEGORICAL, codes, pl.Series(labels)))
    schema.append(Column("ill", Role.TARGET if target else Role.OTHER))
    return EmbeddedPopulation(EncodedTable.of(columns), Schema(tuple(schema)), CHANCE)


def parts(kind, values, classes, *, hierarchy=None, k=1, method=None, dictionary=None):
    """The parts of a table with one attribute."""
    table = population({"a": (kind, values, hierarchy)}, classes, dictionaries={"a": dictionary})
    recode = (method or TDR()).decide(table, KAnonymity(k), CHANCE)[0]
    assert isinstance(recode, Recode)
    return recode["a"].parts


def named(name, hierarchy):
    return Hierarchy(name, hierarchy.labels, hierarchy.parents, hierarchy.kind)


def test_values_and_categories_of_a_hierarchy():
    """A pure group stays a category, and has the member nobody has; a mixed one is refined to its values."""
    shown = parts(ColumnType.CATEGORICAL, ["cook", "cook", "nurse", "doctor"], "xxxy", hierarchy=named("a", JOB))
    assert shown == (
        Part(("cook", "waiter"), Category("service"), 2),
        Part(("nurse",), Shown("nurse"), 1),
        Part(("doctor",), Shown("doctor"), 1),
    )


def test_a_value_nobody_has_shows_nothing_where_values_are_shown():
    shown = parts(ColumnType.CATEGORICAL, ["cook", "cook", "nurse", "nurse"], "xyxy", hierarchy=named("a", JOB))
    assert [part.members for part in shown] == [("cook",), ("nurse",)]


def test_missing_is_a_child_of_the_root_and_shows_nothing():
    table = population({"job": (ColumnType.CATEGORICAL, ["cook", None, None, "nurse"], JOB)}, "xyyx")
    refinement = TDR().begin(table, KAnonymity(1))
    (candidate,) = refinement.candidates()
    assert candidate.into == "service, health, missing"
    assert candidate.gain == 1.0
    list(refinement.run())
    recode = TDR().decide(table, KAnonymity(1), CHANCE)[0]
    assert sum(part.rows for part in recode["job"].parts) == 2
    assert TDR().begin(table, KAnonymity(2)).candidates() == []


@pytest.mark.parametrize("hierarchy", [None, Hierarchy("a", ("*", "u", "v"), (-1, 0, 0))])
@pytest.mark.parametrize("kind", [ColumnType.CATEGORICAL, ColumnType.INTEGER])
def test_a_column_without_any_value_is_never_refined(kind, hierarchy):
    table = population({"a": (kind, [None, None], hierarchy)}, "xy", dictionaries={"a": []})
    assert TDS().begin(table, KAnonymity(1)).candidates() == []


def test_numbers_and_dates_as_values_of_a_hierarchy():
    grades = Hierarchy("a", ("*", "good", "1", "2.0", "bad", "3", "4", "never"), (-1, 0, 1, 1, 0, 4, 4, 4))
    shown = parts(ColumnType.INTEGER, [1, 2, 3, 3], "xyzz", hierarchy=grades)
    assert shown == (Part((1,), Shown(1), 1), Part((2,), Shown(2), 1), Part((3, 4), Category("bad"), 2))
    assert all(type(value) is int for part in shown for value in part.members)
    shown = parts(ColumnType.REAL, [1.0, 2.0, 3.0, 3.0], "xyzz", hierarchy=grades)
    assert shown[2].members == (3.0, 4.0)
    assert all(type(value) is float for part in shown for value in part.members)
    days = Hierarchy("a", ("*", "then", "1970-01-02", "1970-01-03", "1970-01-05"), (-1, 0, 1, 1, 0))
    dates = [datetime.date(1970, 1, day) for day in (2, 2, 5)]
    assert parts(ColumnType.DATE, dates, "xxy", hierarchy=days) == (
        Part((1, 2), Category("then"), 2),
        Part((4,), Shown(4), 1),
    )


AGES = Hierarchy("a", ("*", "young", "(-inf, 10]", "(10, 20]", "(20, inf)"), (-1, 0, 1, 1, 0), Leaves.NUMBERS)


@pytest.mark.parametrize(
    ("numeric", "forms"),
    [
        ("interval", [Interval(None, 20), Interval(20, None)]),
        ("bounds", [Interval(None, 20), Interval(20, None)]),
        ("midpoint", [Midpoint(None, 20, 15.0), Midpoint(20, None, 20.0)]),
        ("mean", [Level(None, 20), Level(20, None)]),
    ],
)
def test_intervals_of_a_hierarchy(numeric, forms):
    shown = parts(ColumnType.INTEGER, [5, 15, 25, 25], "xxyy", hierarchy=AGES, method=TDR(numeric=numeric))
    assert [part.members for part in shown] == [Interval(None, 20), Interval(20, None)]
    assert [part.form for part in shown] == forms
    assert [part.rows for part in shown] == [2, 2]


def test_a_group_without_ends_is_no_part():
    everything = Hierarchy("a", ("*", "all", "(-inf, 10]", "(10, inf)"), (-1, 0, 1, 1), Leaves.NUMBERS)
    assert parts(ColumnType.INTEGER, [5, 15, 15], "xxy", hierarchy=everything, k=2) == ()
    assert len(parts(ColumnType.INTEGER, [5, 15, 15], "xxy", hierarchy=everything, k=1)) == 2


def test_numbers_are_cut_where_the_class_changes_at_round_places():
    shown = parts(ColumnType.INTEGER, [17, 23, 38, 41, None], "xxyyx")
    assert shown == (Part(Interval(None, 30), Interval(None, 30), 2), Part(Interval(30, None), Interval(30, None), 2))


def test_dates_are_cut_as_days():
    dates = [datetime.date(1970, 1, day) for day in (2, 3, 20, 21)]
    shown = parts(ColumnType.DATE, dates, "xxyy")
    assert [part.members for part in shown] == [Interval(None, 10), Interval(10, None)]


def test_ordered_categories_are_ranges_of_values():
    shown = parts(ColumnType.ORDERED, ["a", "b", "d", "d"], "xxyz", dictionary=["a", "b", "c", "d"])
    assert shown == (Part(("a", "b", "c"), ValueSet(("a", "b", "c")), 2), Part(("d",), Shown("d"), 2))


def test_of_equally_good_cuts_the_first_is_taken():
    refinement = TDR().begin(population({"a": (ColumnType.INTEGER, [1, 2, 3, 4], None)}, "xyyx"), KAnonymity(1))
    assert refinement.candidates()[0].into == "(-inf, 1], (1, inf)"


def test_hidden_values_are_disclosed_one_by_one_and_the_missing_never():
    shown = parts(ColumnType.CATEGORICAL, ["u", "u", "v", "v", "w", None, None], "xxyyzzy", k=2)
    assert [(part.form, part.rows) for part in shown] == [(Shown("u"), 2), (Shown("v"), 2)]


def test_specialization_shows_all_values_or_none():
    values = ["u", "u", "v", "v", "w"]
    assert parts(ColumnType.CATEGORICAL, values, "xxyyz", k=2, method=TDS()) == ()
    assert len(parts(ColumnType.CATEGORICAL, values, "xxyyz", k=1, method=TDS())) == 3
    assert parts(ColumnType.CATEGORICAL, ["*", "v"], "xy", method=TDS())[0].form == Shown("*")


def test_only_intervals_are_written_as_bounds():
    values = Hierarchy("grade", ("*", "1", "2"), (-1, 0, 0))
    table = population(
        {
            "age": (ColumnType.INTEGER, [1, 2, 3, 4], None),
            "grade": (ColumnType.INTEGER, [1, 2, 1, 2], values),
            "sex": (ColumnType.CATEGORICAL, ["f", "m", "f", "m"], None),
        },
        "xxyy",
    )
    steps = TDR(numeric="bounds").decide(table, KAnonymity(1), CHANCE)
    assert [step for step in steps if isinstance(step, Spread)] == [Spread(("age",))]
    assert not any(isinstance(step, Spread) for step in TDR().decide(table, KAnonymity(1), CHANCE))


def test_ties_go_to_the_larger_gain_then_to_the_first_attribute():
    table = population(
        {
            "dull": (ColumnType.INTEGER, [1, 2, 1, 2], None),
            "first": (ColumnType.INTEGER, [1, 1, 2, 2], None),
            "second": (ColumnType.INTEGER, [1, 1, 2, 2], None),
        },
        "xxyy",
    )
    refinement = Indifferent().begin(table, KAnonymity(1))
    assert [step.candidate.attribute for step in refinement.run()] == ["first", "second", "dull"]


def test_ties_go_to_the_first_value():
    table = population(
        {"a": (ColumnType.CATEGORICAL, ["w", "v", "u", "u"], None)}, "xyxy", dictionaries={"a": ["w", "v", "u"]}
    )
    refinement = Indifferent().begin(table, KAnonymity(1))
    assert next(refinement.run()).candidate.into == "w, hidden values"


def test_reasons_have_a_column_for_each_set_and_are_plain_data():
    table = population(
        {"a": (ColumnType.INTEGER, [1, 1, 2, 2], None), "b": (ColumnType.CATEGORICAL, ["u", "u", "v", "v"], None)},
        "xxyy",
    )
    sets = KnownTogether((KnownSet(("a",), 2), KnownSet(("b",), 3)))
    reasons = TDR().decide(table, sets, CHANCE)[-1]
    assert isinstance(reasons, Reasons)
    assert reasons.columns[-2:] == ("smallest group of a", "smallest group of b")
    assert reasons.rows == (("a", "(-inf, inf)", "(-inf, 1], (1, inf)", 1.0, 2.0, 0.3333, 2, 4),)
    assert json.loads(json.dumps(reasons.rows)) == [list(row) for row in reasons.rows]
    assert reasons.facts == (("refinements", 1), ("smallest group of a", 2), ("smallest group of b", 4))


def test_each_refinement_reads_the_records_it_touches_and_no_others():
    rng = np.random.default_rng(3)
    ages, zips = rng.integers(0, 50, 3000), rng.integers(0, 50, 3000)
    classes = np.where(ages + rng.normal(0, 10, 3000) > 25, "x", "y")
    table = population(
        {"age": (ColumnType.INTEGER, ages.tolist(), None), "zip": (ColumnType.INTEGER, zips.tolist(), None)},
        classes.tolist(),
    )
    refinement = TDR().begin(table, KAnonymity(20))
    steps = list(refinement.run())
    assert len(steps) > 10
    assert refinement.partitions.sizes().min() >= 20
    for step in steps:
        values = ages if step.candidate.attribute == "age" else zips
        low, high = (float(end) for end in step.candidate.refined.strip("(])").split(", "))
        touched = (values > low) & (values <= high)
        assert step.reads == len(set(zip(ages[touched], zips[touched], strict=True)))


def test_the_table_is_left_as_it_was():
    table = population({"a": (ColumnType.INTEGER, [4, 3, 2, 1], None)}, "xyxy")
    before = table.table["a"].codes.copy()
    assert TDR().decide(table, KAnonymity(1), CHANCE) == TDR().decide(table, KAnonymity(1), CHANCE)
    assert np.array_equal(table.table["a"].codes, before)


def test_what_is_refused():
    table = population({"a": (ColumnType.INTEGER, [1, 2], None)}, "xy", target=False)
    with pytest.raises(SchemaError, match="target"):
        TDR().decide(table, KAnonymity(1), CHANCE)
    table = population({"a": (ColumnType.INTEGER, [1, 2], None)}, "xy")
    with pytest.raises(RequirementError, match="k=3 is impossible"):
        TDR().decide(table, KAnonymity(3), CHANCE)
    with pytest.raises(RequirementError, match="every quasi-identifier"):
        TDR().decide(table, KnownTogether((KnownSet(("b",), 1),)), CHANCE)
    table = population({"job": (ColumnType.CATEGORICAL, ["cook", "clerk"], JOB)}, "xy")
    with pytest.raises(ValuesError, match="gap"):
        TDS().decide(table, KAnonymity(1), CHANCE)


@pytest.mark.parametrize("parameter", ["numeric", "loss_average", "criterion"])
@pytest.mark.parametrize("method", [TDR, TDS])
def test_parameters_are_checked_at_birth(method, parameter):
    with pytest.raises(ParameterError, match=parameter):
        method(**{parameter: "nonsense"})
    assert parameter in method().parameters()
