"""What a summary, a report and a plan tell where persons have several rows."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from incrowd.api import release
from incrowd.errors import Notice
from incrowd.plan.explain import explain
from incrowd.report.facts import Facts, promises_of
from incrowd.report.html import report_html
from incrowd.report.person_facts import certified_counts, certified_persons, counted_in, person_limits
from incrowd.report.terminal import summary
from incrowd.report.wording import grouped, statement
from incrowd.verification.verdict import PersonCounts, Verdict
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from support.report_examples import example

COUNTS = PersonCounts(790, 10, 12, ((12, 30), (20, 30)), 0.218182, 3)
UNLINKED = Persons("patient_id")
LINKED = Persons("patient_id", linked=True, order="day")
KNOWN = Persons("patient_id", linked=True, known_rows=2)


def facts(persons: Persons = UNLINKED, counts: PersonCounts = COUNTS) -> Facts:
    one = example()
    verdict = replace(one.verdict, sizes=replace(one.verdict.sizes, persons=counts))
    return replace(one, persons=persons, verdict=verdict, meanings=promises_of(KAnonymity(10), persons))


def test_the_summary_counts_persons():
    text = summary(facts())
    assert "10-anonymity, counted in persons, recounted" in text
    assert "persons     790 of 800 persons released; 10 lost; 3 rows without a person left out" in text
    assert "one person  has at most 21.8 % of the rows of a group" in text
    assert "each has rows of 12 persons or more" in text


@pytest.mark.parametrize(
    ("persons", "words", "groups"),
    [
        (LINKED, "counted in persons with the same history", "each history belongs to 12 persons or more"),
        (KNOWN, "counted in persons who share any 2 known rows", "12 persons or more share any 2 known rows"),
        (replace(KNOWN, known_rows=1), "who share any known row,", "12 persons or more share any known row"),
        (replace(KNOWN, count_known=True), "any 2 known rows and the number of rows", "share any 2 known rows"),
    ],
)
def test_linked_releases_say_what_is_alike(persons, words, groups):
    told = facts(persons)
    assert words in statement(told)
    assert groups in summary(told)


def test_without_persons_nothing_is_told_of_them():
    assert "person " not in summary(example()).replace("one person", "")
    page = report_html(example())
    assert "persons released" not in page
    assert "counted in rows, which are people only if each person has one row" in page
    assert list(person_limits(example())) == []
    assert counted_in(None) == ""


@pytest.mark.parametrize(
    ("persons", "meaning", "limit"),
    [
        (UNLINKED, "rows of at least 10 different persons", "several rows of a person can look up"),
        (LINKED, "all rows of a person, and so how many there are, finds", "no part of a history"),
        (KNOWN, "of up to 2 rows of a person finds at least 10 persons", "or how many rows the person has"),
    ],
)
def test_the_report_says_what_is_promised_and_what_is_not(persons, meaning, limit):
    page = report_html(facts(persons))
    for words in (meaning, limit, "persons lost", "Numbers of rows are not hidden within groups", "up to 21.8"):
        assert words in page, words
    assert "counted in rows" not in page
    assert ("as a fresh pseudonym of each person" in page) == persons.linked
    assert ("It is not released." in page) == (not persons.linked)


def test_sets_known_together_speak_of_persons():
    asked = KnownTogether((KnownSet(("age", "sex"), 5),))
    [(_, words)] = promises_of(asked, UNLINKED)
    assert words == "Whoever knows age, sex of one row of a person finds rows of at least 5 different persons."


@pytest.mark.parametrize(
    "persons", [UNLINKED, LINKED, KNOWN, replace(KNOWN, count_known=True), Persons("p", "exact", "together")]
)
def test_what_is_certified_is_read_back(persons):
    one = example()
    verdict = Verdict(replace(one.verdict.sizes, persons=COUNTS), input_rows=one.rows)
    entry = certified_counts(persons, verdict)
    assert entry is not None
    assert certified_persons(entry) == persons
    assert (entry["input"], entry["released"], entry["lost"], entry["rows_without_person"]) == (800, 790, 10, 3)
    assert entry["rows_lost"] == one.rows - one.verdict.sizes.rows
    assert certified_counts(persons, one.verdict) is None


def test_a_plan_says_whose_rows_they_are():
    rows = pl.DataFrame(
        {"who": [i // 3 for i in range(120)], "age": [i % 40 for i in range(120)], "ill": ["y", "n"] * 60}
    )
    made = release(
        rows, person="who", quasi_identifiers=["age"], target="ill", k=5, class_sensitive=False, method="mondrian"
    )
    assert "5-anonymity counts persons, not rows: rows with the same who are one person's." in str(explain(made.plan))
    assert "Whoever knows several rows" in str(explain(made.plan))
    linked = release(
        rows, person="who", keep_link=True, quasi_identifiers=["age"], target="ill", k=5, class_sensitive=False
    )
    assert "whole histories look alike" in str(explain(linked.plan))
    asked = {"person": "who", "keep_link": True, "quasi_identifiers": ["age"], "target": "ill", "k": 5}
    known = str(explain(release(rows, known_rows=2, class_sensitive=False, **asked).plan))
    assert "whoever knows up to 2 rows of a person finds enough persons who have them all" in known
    assert "histories" not in known
    counted = release(rows, known_rows=1, count_known=True, class_sensitive=False, **asked)
    assert "up to 1 row of a person and how many there are finds" in str(explain(counted.plan))


def test_columns_that_hardly_change_are_told_together():
    notices = [Notice("nearly-static", name, "changes.") for name in ("sex", "blood")]
    assert grouped(notices) == [
        "2 columns change in few of the persons with several rows, and count as changing: sex and blood."
    ]
