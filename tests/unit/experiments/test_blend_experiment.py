"""Blend on trial: dealing, cells that are kept, pages made of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.blend.cells import Cell, Outcome, adult_cells, keep, part_cells, read_outcomes, small_cells, waiting
from experiments.blend.pages import adult_page, adult_plots, papers_best, parts_page, small_page
from experiments.blend.trying import Bench, deal, feed_counts, purity
from incrowd.comparisons.subject import understand_table

CELL = Cell("adult", "14/14", "blend", "counts", 100, "", 0, 0)


@pytest.fixture(scope="module")
def bench():
    from incrowd.comparisons.datasets.invented import make_patients

    table = make_patients(600).select("age", "sex", "occupation", "smoker", "readmitted")
    subject = understand_table(table, target="readmitted", quasi_identifiers=["age", "sex", "occupation"])
    return Bench(subject, 0, 0, ("nb",))


def cell(method, form="counts", k=10, besides="", deals=5):
    return Cell("patients", "all", method, form, k, besides, 0, 0, deals)


def test_dealing_keeps_the_values_of_every_group():
    generator = np.random.default_rng(1)
    codes, groups = generator.integers(0, 4, 200), generator.integers(0, 9, 200)
    dealt = deal(codes, groups, generator)
    assert Counter(zip(groups.tolist(), dealt.tolist(), strict=True)) == Counter(
        zip(groups.tolist(), codes.tolist(), strict=True)
    )
    assert not np.array_equal(dealt, codes)


def test_rows_of_one_are_fed_as_they_are(bench):
    alone = np.arange(bench.parts.train.height, dtype=np.int32)
    names = ["age", "sex", "occupation"]
    train, test = feed_counts(bench.parts, bench._bins(5), names, alone, deals=2)
    plain, _ = feed_counts(bench.parts, bench._bins(5), (), alone, deals=1)
    assert train.height == 2 * plain.height
    assert train.weights.sum() == pytest.approx(plain.height)
    assert test.height == bench.parts.test.height
    for dealt, own in zip(train.attributes, plain.attributes, strict=True):
        assert np.array_equal(dealt.values[: plain.height], own.values)


def test_hidden_attributes_are_not_fed(bench):
    groups = np.zeros(bench.parts.train.height, np.int32)
    train, _ = feed_counts(bench.parts, bench._bins(5), ["age", "sex", "occupation"], groups, ["sex"])
    assert [attribute.name for attribute in train.attributes] == ["age", "occupation", "smoker"]


def test_purity_of_mixed_groups():
    assert purity(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])) == (0.0, 0.5)


@pytest.mark.each(4)
@pytest.mark.parametrize(
    "tried",
    [
        cell("unprotected", ""),
        cell("unprotected, same bins", ""),
        cell("blend"),
        cell("blend(hide=False)", deals=1),
        cell("blend", besides="entropy-l=1.2"),
        cell("blend", "strict"),
        cell("infogain-mondrian"),
        cell("kactus", ""),
        cell("kadet", ""),
    ],
    ids=lambda tried: f"{tried.name} {tried.besides}",
)
def test_a_cell_has_an_outcome(bench, tried):
    found = bench.run(tried)
    assert not found.status
    assert all(0.4 < right <= 1 for right, _ in found.scores.values())
    if tried.form == "counts":
        assert found.facts["smallest"] >= 10


def test_what_is_impossible_is_said(bench):
    assert "RequirementError" in bench.run(cell("blend", k=1000)).status


def test_cells_are_kept_and_not_tried_again(tmp_path):
    kept = tmp_path / "kept.jsonl"
    other = Cell("adult", "8/14", "blend", "counts", 100, "", 0, 1)
    outcome = Outcome({"nb": (0.8, 0.9), "c45": (0.7, None)}, {"pure": 0.1})
    keep(kept, CELL, outcome)
    with kept.open("a") as file:
        file.write('{"cell": ["adu')
    assert read_outcomes(kept) == {CELL: outcome}
    assert waiting([CELL, other, other], read_outcomes(kept)) == [[other]]
    assert read_outcomes(tmp_path / "none.jsonl") == {}


def test_all_cells_of_an_experiment_are_different():
    for cells in (list(adult_cells(1)), list(small_cells(1)), list(part_cells(1))):
        assert len(set(cells)) == len(cells)
        assert {each.fold for each in cells} == {0, 1}


def test_pages_tell_means_and_what_is_not_known(tmp_path):
    kept = tmp_path / "kept.jsonl"
    for fold, right in ((0, 0.86), (1, 0.88)):
        keep(kept, Cell("adult", "14/14", "blend", "counts", 1000, "", 0, fold), Outcome({"c45": (right, 0.9)}))
        keep(kept, Cell("adult", "14/14", "unprotected", "", 1, "", 0, fold), Outcome({"c45": (0.88, 0.9)}))
        keep(kept, Cell("pima", "all", "blend", "counts", 5, "", 0, fold), Outcome({"nb": (0.7, 0.9)}))
        keep(kept, Cell("pima", "all", "kactus", "", 5, "", 0, fold), Outcome({"nb": (0.6, 0.9)}))
    keep(kept, Cell("adult", "14/14", "blend", "counts", 1000, "", 1, 0), Outcome({"c45": (0.1, 0.1)}))  # not asked for
    adult = adult_page(kept, 1)
    assert "C4.5 at k = 1000, 14/14: -1.0 against unprotected." in adult
    assert "1 of 1 (+6.6) cells" in adult
    (picture,) = adult_plots(kept, 1)
    assert str(picture) in adult
    assert picture.svg.startswith("<svg ")
    assert "1 of 1 (+10.0)" in small_page(kept, 1)
    assert "87.0 / – / – / –" in parts_page(kept, 1)


def test_the_papers_best_is_the_best_of_its_tables():
    assert papers_best("14/14", "c45", 1000) == 80.38
    assert papers_best("14/14", "boosting", 5) is None


def test_what_cannot_be_tried_is_refused(tmp_path):
    done = CliRunner().invoke(
        app, ["blend", "iris", "--page", str(tmp_path / "page.md"), "--keep", str(tmp_path / "kept.jsonl")]
    )
    assert done.exit_code != 0
    assert "adult, small or parts" in str(done.exception)
    assert not (tmp_path / "page.md").exists()
