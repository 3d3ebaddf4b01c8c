"""The worked examples of Fung, Wang, Yu (2005, 2007): every figure, and every refinement in its order."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from incrowd.methods.top_down_refinement.attribute import bits
from incrowd.methods.top_down_refinement.tdr import TDR, TDS
from incrowd.plan.steps import Reasons, Recode
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.released_value import Category, Interval, Shown
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

GOLDEN = json.loads((Path(__file__).parent / "tdr.json").read_text(encoding="utf-8"))
FIRST, SECOND = GOLDEN["table34"], GOLDEN["table40"]
SETS = KnownTogether(tuple(KnownSet(tuple(names), k) for names, k in FIRST["requirement"]))


def taxonomy_of(name, described):
    """The paper's tree; its root is the hierarchy's ``*``."""
    labels, parents = ["*"], [-1]

    def add(label, parent):
        for child in described["children"].get(label, ()):
            labels.append(child)
            parents.append(parent)
            add(child, len(labels) - 1)

    add(described["root"], 0)
    return Hierarchy(name, tuple(labels), tuple(parents))


def column_of(name, column_type, values):
    dictionary = sorted(set(values))
    codes = np.array([dictionary.index(value) for value in values], np.int32)
    return EncodedColumn(name, column_type, codes, pl.Series(dictionary))


def population(table, attributes, without=()):
    """The table row by row; attributes named in ``without`` have no taxonomy."""
    rows = [(*values, label) for *values, classes in table["records"] for label, n in classes.items() for _ in range(n)]
    columns, schema = [], []
    for i, name in enumerate(GOLDEN["columns"]):
        numeric = attributes[name]["type"] == "cont"
        kind = ColumnType.INTEGER if numeric else ColumnType.CATEGORICAL
        hierarchy = None if numeric or name in without else taxonomy_of(name, attributes[name])
        columns.append(column_of(name, kind, [row[i] for row in rows]))
        schema.append(Column(name, Role.QUASI_IDENTIFIER, kind, hierarchy=hierarchy))
    columns.append(column_of("class", ColumnType.CATEGORICAL, [row[-1] for row in rows]))
    schema.append(Column("class", Role.TARGET))
    return EmbeddedPopulation(EncodedTable.of(columns), Schema(tuple(schema)), SystemRandomness())


def first_table():
    return population(FIRST, GOLDEN["attributes34"])


def second_table(without=()):
    return population(SECOND, GOLDEN["attributes40"], without)


def paper_range(low, high, cuts):
    """The paper's [a, b) as we write it: x, where the right side begins, is the cut below it in ours."""
    ends = {1: "-inf", 99: "inf", **cuts}
    return f"({ends[low]}, {ends[high]}" + (")" if ends[high] == "inf" else "]")


def trace_of(refinement):
    """Attribute, refined, for each step, in the paper's words."""
    words = {"Education": "ANY_Edu", "Sex": "ANY_Sex"}
    return [
        (step.candidate.attribute, step.candidate.refined.replace("*", words.get(step.candidate.attribute, "*")))
        for step in refinement.run()
    ]


def in_our_words(trace, cuts):
    """The golden trace with intervals as we write them."""
    return [
        (name, paper_range(*map(int, refined.strip("()").split(", ")), cuts) if name == "Work_Hrs" else refined)  # type: ignore[call-arg]
        for name, refined in trace
    ]


def check_candidates(refinement, expected, digits):
    found = {candidate.attribute: candidate for candidate in refinement.candidates()}
    assert list(found) == [candidate["attr"] for candidate in expected]
    for candidate in expected:
        ours = found[candidate["attr"]]
        assert ours.gain == pytest.approx(candidate["gain"], abs=5e-5)
        assert ours.loss == candidate["loss"]
        assert ours.score == pytest.approx(candidate["score"], abs=0.6 * 10**-digits)


@pytest.mark.parametrize("name", FIRST["entropies"])
def test_the_entropies(name):
    counts = np.array(FIRST["entropies"][name]["counts"])
    assert bits(counts) / counts.sum() == pytest.approx(FIRST["entropies"][name]["I"], abs=5e-5)


def test_the_tables_have_the_papers_classes():
    for table, rows in ((first_table(), FIRST), (second_table(), SECOND)):
        labels = table.table["class"]
        assert dict(zip(labels.dictionary, labels.counts.tolist(), strict=False)) == rows["class_counts"]


def test_the_first_candidates_of_the_first_table():
    refinement = TDR().begin(first_table(), SETS)
    check_candidates(refinement, FIRST["initial_candidates"], 5)
    hours = refinement.candidates()[2]
    assert (hours.refined, hours.into) == ("(-inf, inf)", "(-inf, 36], (36, inf)")


def test_the_first_table_with_two_sets():
    table = first_table()
    refinement = TDR().begin(table, SETS)
    assert trace_of(refinement) == in_our_words(FIRST["derived_trace"], {37: "36"})
    recode = TDR().decide(table, SETS, SystemRandomness())[0]
    assert isinstance(recode, Recode)
    education = {
        part.form.label if isinstance(part.form, Category) else part.form.value for part in recode["Education"].parts
    }
    assert sorted(education) == FIRST["derived_cut"]["Education"]
    assert recode["Sex"].parts == ()
    assert [part.members for part in recode["Work_Hrs"].parts] == [Interval(None, 36), Interval(36, None)]
    assert [part.rows for part in recode["Work_Hrs"].parts] == [12, 22]


def test_the_first_table_with_one_set():
    refinement = TDR().begin(first_table(), KAnonymity(4))
    golden = FIRST["single_qid_k4"]
    assert trace_of(refinement) == in_our_words(golden["derived_trace"], {37: "36", 44: "43"})
    assert refinement.anonymity == (golden["final_A"],)


def test_partitions_after_hours_and_sex():
    table = first_table()
    refinement = TDR().begin(table, KAnonymity(4))
    partitions = refinement.partitions
    for number in (2, 1):
        state = refinement.attributes[number]
        split = state.refine(0)
        partitions.refresh(number)
        partitions.split(number, 0, split.into, split.position)
        assert partitions.reads == 9  # records: what looks alike is read once
    assert sorted(partitions.sizes()) == sorted(FIRST["tips_after_hours_then_sex"].values())
    assert partitions.anonymity.tolist() == [4]


def test_the_first_candidates_of_the_second_table():
    check_candidates(TDR().begin(second_table(), KAnonymity(4)), SECOND["initial_candidates"], 4)


@pytest.mark.parametrize("criterion", ["score", "gain"])
def test_the_second_table(criterion):
    refinement = TDR(criterion=criterion).begin(second_table(), KAnonymity(4))
    assert [name for name, _ in trace_of(refinement)] == SECOND["trace"][criterion]
    assert refinement.anonymity == (SECOND["final_A"][criterion],)


def test_the_score_separates_the_classes_and_the_gain_hides_four_rows():
    table = second_table()
    by_score, by_gain = (
        TDR(criterion=c).decide(table, KAnonymity(4), SystemRandomness())[0] for c in ("score", "gain")
    )
    assert table.recode(by_score).combinations(["Education", "Sex", "Work_Hrs"]).counts[:, :2].min(axis=1).max() == 0
    assert table.recode(by_gain).combinations(["Education"]).counts[:, :2].tolist().count([4, 20]) == 1


def test_the_anonymity_falls_as_the_paper_says():
    refinement = TDR().begin(second_table(), KAnonymity(4))
    assert [step.anonymity for step in refinement.run()] == [(14,), (6,)]


def test_education_is_invalid_once_sex_is_shown():
    refinement = TDR().begin(second_table(), KAnonymity(4))
    run = refinement.run()
    assert next(run).candidate.attribute == "Sex"
    assert [candidate.attribute for candidate in refinement.candidates()] == ["Work_Hrs"]


def test_the_second_table_with_values_disclosed_one_by_one():
    golden = SECOND["suppression_variant"]
    refinement = TDR().begin(second_table(["Education"]), KAnonymity(4))
    found = {c.into.split(",")[0]: c for c in refinement.candidates() if c.attribute == "Education"}
    assert {value: c.loss for value, c in found.items()} == {
        value: figures["loss"] for value, figures in golden["initial_candidates"].items()
    }
    for value, figures in golden["initial_candidates"].items():
        assert found[value].gain == pytest.approx(figures["gain"], abs=5e-5)
    run = [(step.candidate.attribute, step.candidate.into.split(", h")[0]) for step in refinement.run()]
    assert run == [("Education", "10th"), ("Work_Hrs", "(-inf, 30], (30, inf)")]
    assert refinement.anonymity == (golden["final_A"],)


def test_the_second_table_by_specialization_is_what_refinement_does_with_its_own_score():
    refinement = TDS().begin(second_table(["Education"]), KAnonymity(4))
    for candidate in refinement.candidates():
        assert candidate.score == pytest.approx(candidate.gain / candidate.loss)
    taxonomy = TDS().begin(second_table(), KAnonymity(4))
    assert [(c.attribute, c.gain, c.loss) for c in refinement.candidates()] == [
        (c.attribute, c.gain, c.loss) for c in taxonomy.candidates()
    ]


def test_the_decision_explains_itself():
    steps = TDR().decide(second_table(["Education"]), KAnonymity(4), SystemRandomness())
    recode, reasons = steps
    assert isinstance(reasons, Reasons)
    assert reasons.columns == ("attribute", "refined", "into", "gain", "loss", "score", "smallest group")
    assert reasons.rows == (
        ("Education", "hidden values", "10th, hidden values", 0.61, 24.0, 0.0244, 16),
        ("Work_Hrs", "(-inf, inf)", "(-inf, 30], (30, inf)", 0.3958, 12.0, 0.03045, 4),
    )
    assert reasons.facts == (("refinements", 2), ("smallest group", 4))
    assert [part.form for part in recode["Education"].parts] == [Shown("10th")]


def test_a_subset_with_a_smaller_k_is_redundant():
    """⟨{Sex}, 4⟩ changes nothing beside ⟨{Education, Sex}, 4⟩; ⟨{Sex}, 17⟩ does."""
    pair = KnownSet(("Education", "Sex"), 4)
    hours = KnownSet(("Work_Hrs",), 4)
    alone = TDR().decide(first_table(), KnownTogether((pair, hours)), SystemRandomness())
    with_subset = KnownTogether((pair, hours, KnownSet(("Sex",), 4)))
    assert with_subset.known == (pair, hours)
    assert TDR().decide(first_table(), with_subset, SystemRandomness()) == alone
    assert len(alone[0]["Sex"].parts) == 2
    stricter = KnownTogether((pair, hours, KnownSet(("Sex",), 17)))
    assert len(stricter.known) == 3
    assert TDR().decide(first_table(), stricter, SystemRandomness())[0]["Sex"].parts == ()


@pytest.mark.parametrize(("average", "losses"), [("related", [18, 18, 22]), ("all", [9, 18, 11])])
def test_the_loss_is_averaged_over_related_or_all_sets(average, losses):
    found = TDR(loss_average=average).begin(first_table(), SETS).candidates()
    assert [candidate.loss for candidate in found] == losses
