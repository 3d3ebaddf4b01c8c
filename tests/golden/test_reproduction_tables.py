"""The experiments cover what was printed, and what the specification computed from it comes out again."""

from __future__ import annotations

import pytest

from experiments.papers import printed
from experiments.reproduce.command import EXPERIMENTS
from experiments.reproduce.evidence import Cell, Evidence, Value, printed_cells, ranked
from experiments.reproduce.iac import IAC
from experiments.reproduce.kactus import KACTUS, ours_is_better, rivals_collapse
from experiments.reproduce.kadet import KADET
from experiments.reproduce.preparing import named_columns
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.datasets.catalog import find_dataset
from incrowd.comparisons.learners.catalog import find_learner

CELLS = {"2": 240, "3": 234, "4": 234, "5": 144}


def places(experiment, part):
    return [
        (part.name, case.label, experiment.inducer(learner), case.algorithm, k)
        for case in experiment.cases
        if case.part == part.name
        for learner in case.learners
        for k in case.ks
    ]


def values(part):
    found = printed_cells(part, printed(part.printed))
    return [Value(*place, cell.mean, cell.sd) for place, cell in found.items()]


@pytest.mark.parametrize("part", KACTUS.parts, ids=lambda part: part.name)
def test_every_printed_cell_is_run_and_every_run_cell_was_printed(part):
    asked = places(KACTUS, part)
    assert len(asked) == len(set(asked)) == CELLS[part.name]
    assert set(asked) == printed_cells(part, printed(part.printed)).keys()


def test_doubtful_cells_were_printed_and_say_what_the_specification_does():
    for place in KACTUS.doubts:
        assert place in printed_cells(KACTUS.part(place[0]), printed(f"kactus_table{place[0]}"))
    naive = printed_cells(KACTUS.part("3"), printed("kactus_table3"))["3", "8/14", "Naive Bayes", "kACTUS", 1000]
    assert (naive.mean, naive.sd) == (85.45, 0.15)


@pytest.mark.parametrize(
    ("part", "algorithms", "cases", "ranks", "statistic", "difference", "worse"),
    [
        ("3", ("TDR", "TDS", "kACTUS"), 72, (2.347, 2.444, 1.208), 63.6, 0.374, {"TDR", "TDS"}),
        (
            "3",
            ("TDR", "TDS", "kADET", "kACTUS"),
            18,
            (2.917, 2.944, 2.861, 1.278),
            11.3,
            1.030,
            {"TDR", "TDS", "kADET"},
        ),
        ("4", ("TDR", "TDS", "kACTUS"), 72, (2.229, 2.729, 1.042), 214.5, 0.374, {"TDR", "TDS"}),
        (
            "4",
            ("TDR", "TDS", "kADET", "kACTUS"),
            18,
            (2.472, 3.361, 3.111, 1.056),
            30.3,
            1.030,
            {"TDR", "TDS", "kADET"},
        ),
        ("5", ("Mondrian", "kACTUS"), 72, (1.972, 1.028), 586.3, 0.231, {"Mondrian"}),
    ],
)
def test_ranks_of_the_printed_tables_are_those_of_the_specification(
    part, algorithms, cases, ranks, statistic, difference, worse
):
    assert algorithms in KACTUS.part(part).rankings
    found = ranked(values(KACTUS.part(part)), algorithms, "kACTUS")
    assert found.friedman.cases == cases
    assert found.friedman.mean_ranks == pytest.approx(ranks, abs=5e-4)
    assert found.friedman.f_statistic == pytest.approx(statistic, abs=0.05)
    assert found.against.difference == pytest.approx(difference, abs=5e-4)
    assert set(found.against.worse_than("kACTUS")) == worse


def test_the_printed_numbers_are_judged_as_the_claims_say():
    everything = Evidence(tuple(value for part in KACTUS.parts for value in values(part)))
    found = ours_is_better(everything)
    assert found.met
    assert "TDS (Table 3) +3.55, TDR (Table 3) +3.35, kADET (Table 3) +2.38" in found.figures
    assert "Mondrian (Table 5) +7.84" in found.figures
    collapsed = rivals_collapse(everything)
    assert not collapsed.met
    assert "TDS 4 of 8, mean 77.79" in collapsed.figures, "TDS is printed with 80.38 at k = 1,000"


def test_the_reference_of_kadet_is_known_at_six_k_and_not_called_printed():
    part = KADET.part("id3")
    found = printed_cells(part, printed(part.printed))
    assert {place[-1]: round(cell.mean, 2) for place, cell in found.items()} == {
        100: 18.07,
        250: 18.07,
        500: 18.07,
        750: 18.66,
        1000: 17.92,
        2000: 19.34,
    }
    assert found.keys() <= set(places(KADET, part))
    assert KADET.reference == "our reference"
    assert any("NOT printed" in note for note in KADET.notes)


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.name)
def test_every_experiment_names_what_exists(experiment):
    names = {part.name for part in experiment.parts}
    for case in experiment.cases:
        assert case.part in names
        assert set(case.quick_ks) <= set(case.ks)
        assert isinstance(case.choice, Choice)
        dataset = find_dataset(case.table.dataset)
        known = set(named_columns(dataset, case.table.quasi_identifiers))
        assert known <= set(named_columns(dataset, case.table.attributes)) <= set(dataset.inputs)
        assert set().union(*case.table.together) in (set(), known)
        assert {experiment.inducer(learner) for learner in case.learners} <= set(experiment.inducers.values())
    for learner in experiment.inducers:
        assert find_learner(learner).name == learner
    assert set(experiment.weka.values()) <= set(experiment.inducers)


def test_iac_runs_the_k_that_the_paper_names():
    assert {122, 147} <= set(IAC.cases[1].ks)
    assert IAC.protocol.folds == 10
    assert IAC.protocol.stratified  # type: ignore[attr-defined]
    assert Cell("8", "8 QI", "J48", "IACk", 122, ()).mean is None
