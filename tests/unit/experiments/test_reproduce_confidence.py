"""Limits of an attacker's confidence: how they are made into l, and how trees under them are judged."""

from __future__ import annotations

import math

import pytest

from experiments.reproduce.confidence import (
    LIMITS,
    Limited,
    bits_of,
    c45_stretches,
    costs_little,
    figure_blocks,
    gives_l,
    id3_learns_nothing,
    l_of,
    look_at_limits,
    root_stays_whole,
    stays_below,
)
from experiments.reproduce.document import Document, as_markdown
from experiments.reproduce.evidence import Evidence
from experiments.reproduce.experiment import Case, Experiment, Part, Table
from experiments.reproduce.preparing import Options, prepare
from experiments.reproduce.trees import Spans
from incrowd.comparisons.datasets.catalog import DATASETS
from incrowd.comparisons.protocol import FiveByTwo
from support.tic_tac_toe import as_csv, endgames

GUESSING = 0.25


def trees(**errors):
    """Trees by limit in per cent, each with its error; spans and surest share follow from whether it guesses."""
    return tuple(
        Limited(int(limit[1:]) / 100, 1.5, error, GUESSING, 1 if error >= GUESSING else 9, int(limit[1:]) / 100)
        for limit, error in errors.items()
    )


def evidence(**facts):
    return Evidence((), (), {f"limits {part}": found for part, found in facts.items()})


@pytest.mark.parametrize("limit", LIMITS)
def test_two_classes_with_this_share_have_just_the_entropy_that_l_asks_for(limit: float) -> None:
    assert math.log2(l_of(limit)) == pytest.approx(bits_of(limit), abs=1e-5)
    assert l_of(limit) >= 1


def test_a_high_limit_costs_little_or_not() -> None:
    cheap, dear = trees(_85=0.25, _90=0.158, _99=0.155, _100=0.15), trees(_85=0.25, _90=0.158, _99=0.17, _100=0.15)
    found = costs_little("c45")(evidence(c45=cheap))
    assert found.met
    assert found.figures.endswith("within a point down to 90 %")
    assert not costs_little("c45")(evidence(c45=dear)).met
    assert costs_little("id3")(evidence(c45=cheap)) is None


def test_id3_learns_nothing_at_85_and_c45_stretches() -> None:
    late, early = trees(_80=0.25, _85=0.25, _86=0.2), trees(_80=0.25, _85=0.24, _86=0.2)
    assert id3_learns_nothing(evidence(id3=late)).met
    assert not id3_learns_nothing(evidence(id3=early)).met
    assert c45_stretches(evidence(id3=late, c45=early)).met
    assert not c45_stretches(evidence(id3=early, c45=late)).met
    assert not c45_stretches(evidence(id3=late, c45=trees(_80=0.25))).met
    assert root_stays_whole(evidence(id3=late)).met
    assert not root_stays_whole(evidence(id3=early)).met
    assert [judge(Evidence(())) for judge in (id3_learns_nothing, c45_stretches, root_stays_whole, stays_below)] == [
        None
    ] * 4


def test_a_span_that_is_surer_than_the_limit_is_seen() -> None:
    good = trees(_85=0.2)
    assert stays_below(evidence(id3=good)).met
    assert not stays_below(evidence(id3=good, c45=(Limited(0.85, 1.5, 0.2, GUESSING, 9, 0.86),))).met
    assert gives_l(Evidence(())).met


def test_figures_are_tables_and_drawings_of_what_was_measured() -> None:
    facts = {"limits c45": trees(_85=0.25, _100=0.15), "spans c45": (Spans(5, "x", 9, 0.02), Spans(75, "x", 9, 0.0))}
    page = as_markdown(Document("Page", tuple(figure_blocks(facts))))
    assert "| C4.5 | 2.0 | 0.0 |" in page
    assert "| 85 % | 1.5000 | 25.00 | 1 | 85.0 |" in page
    assert "| none | 1.5000 | 15.00 | 9 | 100.0 |" in page
    assert "Figure 7" not in page
    assert list(figure_blocks({})) == []


@pytest.mark.slow
def test_trees_are_grown_under_limits(tmp_path) -> None:
    (tmp_path / "tic_tac_toe.csv").write_text(as_csv(DATASETS["tic-tac-toe"].columns, endgames()), encoding="utf-8")
    case = Case("c45", "TTT", "kADET", "kadet", Table("tic-tac-toe"), (5,), (5,), ("c45",))
    small = Experiment("small", "Small", "Nobody", (Part("c45", "Trees"),), (case,), FiveByTwo(1), FiveByTwo(1), {}, ())
    bench = prepare(small, Options(quick=True), tmp_path).bench(case.table)
    found = {tree.limit: tree for tree in look_at_limits(bench.laboratory, case)}
    assert set(found) == set(LIMITS)
    assert all(tree.surest <= limit + 1e-6 for limit, tree in found.items())
    assert found[1.0].surest == 1.0
    assert found[1.0].spans > found[0.76].spans
    assert found[1.0].error < found[1.0].guessing == pytest.approx(0.35, abs=0.03)
