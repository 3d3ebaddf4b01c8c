"""The measured accuracy of a release: by rows, or by persons where they have several rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.comparisons.datasets.visits import PERSON, TARGET, make_visits
from incrowd.releases import accuracy as measuring
from incrowd.releases.accuracy import measure_accuracy
from incrowd.report.facts import Accuracy, PersonAccuracy
from incrowd.report.terminal import _accuracy
from incrowd.report.wording import is_above_majority
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import recipe_of
from incrowd.tables.roles import settle_schema
from incrowd.vocabulary.persons import ORDER

KNOWN = ["sex", "birth_year", "ward", "days"]


def measured(table, **more):
    asked = {"quasi_identifiers": KNOWN, "target": TARGET, "person": PERSON, "k": 5, "method": "mondrian"} | more
    source, recipe = read(table), recipe_of(asked)
    schema, _ = settle_schema(source, recipe)
    return measure_accuracy(source, schema, recipe)


def test_nobody_is_learned_from_and_tested_on(monkeypatch):
    seen, release = [], measuring._Trial._released

    def watched(self, parts, split):
        codes = self.persons.codes
        seen.append((set(codes[split.train].tolist()), set(codes[split.test].tolist())))
        return release(self, parts, split)

    monkeypatch.setattr(measuring._Trial, "_released", watched)
    found = measured(make_visits(300))
    (learned, tested), (learned_by_rows, tested_by_rows) = seen
    assert not learned & tested
    assert (len(learned), len(tested)) == (found.persons.train_persons, found.persons.test_persons) == (200, 100)
    assert learned_by_rows & tested_by_rows
    assert found.train_rows + found.test_rows == 1125


def test_what_is_remembered_of_persons_is_not_accuracy():
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(300), 5)
    label = rng.integers(0, 2, 300)[person]
    words = np.where(label == 1, "yes", "no")
    rows = pl.DataFrame({PERSON: person, "code": np.char.add("c", (person * 7 % 300).astype(str)), TARGET: words})
    found = measured(rows, quasi_identifiers=["code"])
    assert found.before < 0.65
    assert found.persons.before < 0.65
    assert found.persons.before_by_rows > 0.9
    assert not is_above_majority(found)


def test_persons_are_drawn_where_rows_are_too_many(monkeypatch):
    monkeypatch.setattr(measuring, "LARGEST", 400)
    visits = make_visits(300)
    found = measured(visits)
    assert 350 < found.train_rows + found.test_rows <= 400
    whole = found.persons.train_persons + found.persons.test_persons
    assert 60 < whole < 160


@pytest.mark.parametrize("more", [{}, {"known_rows": 1}, {"order": "visit_date"}], ids=["all", "known", "in order"])
def test_releases_in_which_persons_can_be_followed_are_measured_by_persons(more, monkeypatch):
    orders, population = [], EmbeddedEngine.population

    def watched(self, table, *further):
        orders.append(ORDER in table.columns)
        return population(self, table, *further)

    monkeypatch.setattr(EmbeddedEngine, "population", watched)
    found = measured(make_visits(300), method=None, keep_link=True, drop=["visit_date"], **more)
    assert found.persons.test_persons == 100
    assert found.after > 0.5
    assert orders == [bool(more.get("order"))] * 2


def test_without_persons_rows_are_split():
    found = measured(make_visits(300).drop(PERSON), person=None)
    assert found.persons is None
    assert (found.train_rows, found.test_rows) == (750, 375)


def test_it_is_told_with_what_a_split_by_rows_would_say():
    persons = PersonAccuracy(0.7, 0.69, 0.01, 0.012, 200, 100, 0.8, 0.72)
    assert _accuracy(Accuracy(0.72, 0.71, 0.65, 750, 375, persons)) == (
        "72.0 % before, 71.0 % after, 65.0 % by majority (decision tree, 375 rows of 100 unseen persons); mean over "
        "persons 70.0 % before, 69.0 % after; ±2.4 points by drawing persons anew; a split by rows, which is wrong, "
        "would say 80.0 % before and 72.0 % after"
    )


@pytest.mark.parametrize(("error", "above"), [(0.02, True), (0.05, False)])
def test_whether_it_beats_the_majority_depends_on_the_persons(error, above):
    persons = PersonAccuracy(0.7, 0.69, error, error, 200, 100)
    assert is_above_majority(Accuracy(0.75, 0.71, 0.65, 750, 375, persons)) is above
