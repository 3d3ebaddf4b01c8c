"""The worked examples of the IAC paper, as printed where they are right and as computed where they are not."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from incrowd.measures import information as measures
from incrowd.measures.information import entropy
from incrowd.methods.mutual_information.generalizing import best_level, level_score
from incrowd.methods.mutual_information.iac import IACc, IACk
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

DATA = json.loads(Path(__file__).with_name("iac.json").read_text())
GOLDEN = DATA["iac"]
ONE, TWO = GOLDEN["example1"], GOLDEN["example2"]


def intervals(name, *paths):
    return Hierarchy.from_paths(name, [[*path, "*"] for path in paths], Leaves.NUMBERS)


def released(frame, method, k, **hierarchies):
    """The plan's facts, its levels, and what rows show, with the class, sorted."""
    columns = [
        Column(
            name,
            Role.TARGET if name == "Class" else Role.QUASI_IDENTIFIER,
            ColumnType.INTEGER if frame[name].dtype == pl.Int64 else ColumnType.CATEGORICAL,
            hierarchy=hierarchies.get(name),
        )
        for name in frame.columns
    ]
    schema, chance = Schema(tuple(columns)), SeededRandomness(1)
    table, _ = encode(read(frame), schema, frame.columns)
    engine = EmbeddedEngine()
    population = engine.population(table, schema, chance)
    steps = method.decide(population, KAnonymity(k), chance)
    plan = ReleasePlan(method.name, (), KAnonymity(k), schema, frame.height, steps)
    draft = engine.draft(engine.settle(plan, population), population, frame, chance)
    shown = sorted(draft.frame.rows(), key=str)
    reasons = plan.reasons[0]
    return dict(reasons.facts), {row[0]: dict(zip(reasons.columns, row, strict=True)) for row in reasons.rows}, shown


@pytest.mark.parametrize("level", ["1", "2", "3", "4"])
def test_example_1_measures(level):
    expected = ONE["levels"][level]
    counts = expected["contingency"]
    assert round(measures.class_entropy(counts), 4) == ONE["H_C_correct"]
    assert round(measures.conditional_entropy(counts), 4) == expected["H_C_given_A"]
    assert round(measures.mutual_information(counts), 4) == expected["I_correct"]
    assert round(measures.normalized_information(counts), 4) == expected["IN_correct"]


@pytest.mark.parametrize("level", ["1", "2", "3", "4"])
def test_example_1_is_printed_with_the_entropy_of_another_histogram(level):
    """All printed figures follow from 0.97, the entropy of 3:2, where the data has 5:3."""
    expected = ONE["levels"][level]
    class_entropy, left, information, normalized = expected["printed"]
    assert class_entropy == ONE["H_C_printed"] == round(entropy([3, 2]), 2)
    assert information == round(class_entropy - left, 2)
    assert normalized == round(measures.ratio(information, measures.value_entropy(expected["contingency"])), 2)


@pytest.fixture
def eight():
    """Table 3(a) with the second attribute of Table 4."""
    rows = TWO["generalized"]
    return pl.DataFrame({"A1": range(1, 9), "A2": [row[1] for row in rows], "Class": [row[2] for row in rows]})


@pytest.fixture
def figure_1():
    return intervals("A1", ("(0, 2]", "(0, 4]"), ("(2, 4]", "(0, 4]"), ("(4, 6]", "(4, 8]"), ("(6, 8]", "(4, 8]"))


def test_example_1_chooses_level_2_of_4(eight, figure_1):
    _, attributes, _ = released(eight, IACk(), 1, A1=figure_1)
    assert (attributes["A1"]["level"], attributes["A1"]["of"]) == (ONE["best_level"], 4)
    assert round(attributes["A1"]["I_N"], 4) == ONE["levels"]["2"]["IN_correct"]
    scores = [level["IN_correct"] for level in ONE["levels"].values()]
    assert math.isclose(attributes["A1"]["margin"], sorted(scores)[-1] - sorted(scores)[-2], abs_tol=1e-4)


@pytest.mark.parametrize("k", [2, 3])
def test_example_2_table_4b(eight, figure_1, k):
    facts, attributes, shown = released(eight, IACk(strict=False), k, A1=figure_1)
    names = {"[1,4]": "(0, 4]", "[5,8]": "(4, 8]", "*": None}
    expected = [(names[a1], None if a2 == "*" else a2, label) for a1, a2, label in TWO["suppressed_k2"]]
    assert shown == sorted(expected, key=str)
    assert round(facts["alpha"], 6) == TWO["alpha"]
    assert round(facts["beta"], 6) == TWO["beta"]
    assert round(attributes["A1"]["D_N"], 4) == TWO["D"]
    assert round(attributes["A1"]["D_N"], 2) == TWO["printed"]["D"] == TWO["printed"]["DN"]
    assert round(attributes["A1"]["I_N change"], 6) == TWO["dIN_correct"]
    assert (facts["k_actual"], facts["rows hidden"]) == (3, 1)


def test_example_2_on_the_seven_rows_that_are_left():
    counts = [[0, 3], [3, 1]]
    assert round(measures.class_entropy(counts), 4) == TWO["HC_after"]
    assert round(measures.conditional_entropy(counts), 4) == TWO["HCA_after"]
    assert round(measures.normalized_information(counts), 6) == TWO["IN_after"]
    assert round(measures.normalized_information(counts), 2) == TWO["printed"]["IN_after"]
    assert round(TWO["printed"]["IN_before"] - TWO["printed"]["IN_after"], 2) == TWO["printed"]["dIN"]


def test_example_2_is_not_2_anonymous_and_strict_makes_it_so(eight, figure_1):
    facts, _, shown = released(eight, IACk(strict=True), 2, A1=figure_1)
    assert facts["rows hidden"] == 4
    assert [row[:2] for row in shown] == [("(4, 8]", "F")] * 4 + [(None, None)] * 4
    assert facts["beta"] == "infinite"


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("case", GOLDEN["iacc_cases"], ids=str)
def test_iacc_cases(eight, figure_1, case, strict):
    method = IACc(delta_d=case["delta_D"], delta_c=case["delta_C"], scale="absolute", strict=strict)
    facts, _, _ = released(eight, method, 1, A1=figure_1)
    assert facts["k"] == case["k"]
    assert facts["e_min"] == case["k"] - 1
    assert facts["rows hidden"] == case["rows_suppressed"]
    assert facts["k_actual"] == (3 if case["rows_suppressed"] else 1)
    assert facts["thresholds exceeded at the k asked for"] is False


@pytest.mark.parametrize("case", GOLDEN["tie_cases"], ids=str)
def test_ties_go_to_the_more_specific_level(case):
    assert best_level(case["IN"]) == case["best"]


@pytest.fixture
def patients():
    rows = [row[1:] for row in GOLDEN["table1"]["rows"] for _ in range(row[0])]
    return pl.DataFrame(rows, schema=["Gender", "Age", "Pressure", "Class"], orient="row").drop("Pressure")


def test_table_1(patients):
    golden = GOLDEN["table1"]
    values = {
        label: [age for age, at in golden["age_levels"][1].items() if at == label] for label in ("30-40", "60-70")
    }
    ages = Hierarchy.from_paths("Age", [[age, label, "*"] for label, below in values.items() for age in below])
    facts, attributes, shown = released(patients, IACk(strict=False), 10, Age=ages)
    assert (attributes["Age"]["level"], attributes["Age"]["of"]) == (golden["age_best_level"], 3)
    assert round(attributes["Age"]["I_N"], 4) == golden["age_IN"][1]
    assert math.isclose(attributes["Age"]["margin"], golden["age_IN"][1] - golden["age_IN"][2], abs_tol=1e-4)
    groups = {}
    for gender, age, _ in shown:
        key = f"{gender or '*'}|{age or '*'}"
        groups[key] = groups.get(key, 0) + 1
    assert groups == golden["iack_groups"]
    assert (facts["rows hidden"], facts["k_actual"]) == (2, 10)


def test_table_1_strict(patients):
    """Two rows that show nothing are too few for k=10: one of the two groups joins them, or they are left out."""
    ages = intervals("Age", ("(25, 50]",), ("(50, 75]",))
    facts, _, shown = released(patients, IACk(), 10, Age=ages)
    assert (facts["rows hidden"], facts["rows left out"]) == (12, 0)
    assert sum(row[:2] == (None, None) for row in shown) == 12
    facts, _, shown = released(patients, IACk(on_small="drop"), 10, Age=ages)
    assert (facts["rows hidden"], facts["rows left out"], len(shown)) == (0, 2, 20)


@pytest.mark.parametrize("name", list(GOLDEN["adult_clean"]["levels"]))
def test_adult_levels(name):
    expected = GOLDEN["adult_clean"]["levels"][name]
    levels = DATA["contingency"]["clean45222"][name]
    scores = [0.0, *(level_score(np.array(levels[str(number)])) for number in range(2, len(levels) + 2))]
    assert [round(score, 4) for score in scores] == expected["IN"]
    assert best_level(scores) == expected["best_level_this_taxonomy"]
    assert (best_level(scores) == expected["paper_level"]) is expected["agrees"]


def test_a_handful_of_rows_can_win_unless_entropy_is_asked_for():
    """14 rows without pay against all others, on the 30,162 training rows."""
    levels = [np.array(counts) for counts in DATA["contingency"]["train30162"]["workclass"].values()]
    assert [round(level_score(counts), 4) for counts in levels][1::2] == [0.033, 0.0121]
    assert best_level([level_score(counts) for counts in levels]) == 2
    assert best_level([level_score(counts, min_entropy=0.05) for counts in levels]) == 4
