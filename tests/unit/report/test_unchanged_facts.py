"""What unchanged columns undo, in the words of summary, report, refusal and certificate."""

import json
from dataclasses import asdict, replace

import pytest

from incrowd.report.certificate import certificate, faults, schema
from incrowd.report.html import report_html
from incrowd.report.terminal import summary
from incrowd.report.unchanged_facts import alone_sentence, certified_unchanged, effective_sentence, refusal
from incrowd.verification.unchanged_counts import (
    Alone,
    GiveBack,
    NotCounted,
    Remedy,
    SetCounts,
    SinglingSet,
    UnchangedCounts,
)
from incrowd.vocabulary.forms import FileForm
from support.report_examples import example

WEIGHT = SinglingSet(("fnlwgt", "hours-per-week"), 33_492)
ADULT = UnchangedCounts(
    rows=45_222,
    sets=(SetCounts(("age", "education", "sex"), 10, 1, 596),),
    people_below_k=596,
    hidden_cells=282_408,
    given_back=44_794,
    by=(GiveBack(("education-num",), "education", 24_167), GiveBack(("relationship",), "sex", 20_627)),
    alone=Alone(
        43_494,
        43_881,
        43_494,
        43_494,
        (SinglingSet(("fnlwgt",), 17_305), WEIGHT),
        WEIGHT,
        dict.fromkeys(("education-num", "relationship", "fnlwgt", "hours-per-week"), "other") | {"class": "target"},
    ),
    advice=Remedy(("education-num", "relationship"), 10),
)
SOUND = replace(ADULT, sets=(SetCounts(("age",), 10, 10, 0),), people_below_k=0, given_back=0, by=(), advice=None)
HEADLINE = (
    "effective k 1: unchanged columns give back 44,794 of 282,408 hidden cells; 596 of 45,222 people are in groups "
    "smaller than 10"
)
ALONE = "alone by unchanged columns: 43,494 (33,492 by fnlwgt and hours-per-week, without a stated role)"
REFUSAL = (
    "Not published: education-num gives back education, relationship gives back sex. Name them as quasi-identifiers or "
    "drop them: effective k is then 10. Or use despite_unchanged=True."
)


def test_the_sentences():
    assert effective_sentence(ADULT) == HEADLINE
    assert alone_sentence(ADULT) == ALONE
    assert effective_sentence(SOUND) == "effective k 10: unchanged columns give back none of 282,408 hidden cells"


def test_what_could_not_be_counted_is_never_none_alone():
    counts = replace(
        SOUND, not_counted=(NotCounted("sex", "too few rows to tell"), NotCounted("race", "too few rows to tell"))
    )
    assert effective_sentence(counts) == (
        "effective k 10, as far as it could be counted: unchanged columns give back none of 282,408 hidden cells; "
        "too few rows to tell: sex and race"
    )


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        (
            ("private", "private"),
            "fnlwgt and hours-per-week, which you called private); none without those that, as you state, nobody "
            "outside knows",
        ),
        (("sensitive", "other"), "fnlwgt (sensitive) and hours-per-week (no role stated))"),
    ],
)
def test_columns_are_named_with_what_was_said_of_them(roles, words):
    alone = replace(ADULT.alone, not_private=0, roles=dict(zip(WEIGHT.columns, roles, strict=True)))
    assert alone_sentence(replace(ADULT, alone=alone)) == f"alone by unchanged columns: 43,494 (33,492 by {words}"


def test_fewer_than_k_are_refused_unless_despite():
    assert refusal(ADULT) == REFUSAL
    assert refusal(ADULT, despite=True) is None
    assert refusal(SOUND) is None


def test_a_pair_is_named_where_no_single_column_is_to_blame():
    pair = replace(ADULT, by=(GiveBack(("a", "b"), "sex", 320),), advice=Remedy(("a",), 160))
    assert refusal(pair) == (
        "Not published: a with b gives back sex. Name a as a quasi-identifier or drop it: effective k is then 160. "
        "Or use despite_unchanged=True."
    )


def test_more_people_alone_than_allowed_are_refused():
    assert refusal(SOUND, alone_at_most=43_494) is None
    assert refusal(SOUND, despite=True, alone_at_most=100) == (
        "Not published: 43,494 people are alone by unchanged columns (33,492 by fnlwgt and hours-per-week, without "
        "a stated role), more than the 100 you allow. Name columns as quasi-identifiers, drop them, call them "
        "private if nobody outside knows them, or allow more: alone_at_most=43494."
    )
    others_know = replace(SOUND, alone=replace(SOUND.alone, not_private=100))
    assert refusal(others_know, alone_at_most=100) is None
    assert refusal(others_know, alone_at_most=99).startswith(
        "Not published: 100 people are alone by unchanged columns,"
    )


def test_summary_and_report_tell_it_beside_the_headline():
    facts = example(unchanged=ADULT)
    assert summary(facts).splitlines()[2:4] == [f"  {HEADLINE}", f"  {ALONE}"]
    page = report_html(facts)
    assert page.index(HEADLINE) < page.index(">Request</h2>") < page.index(">Unchanged columns</h2>")
    assert "singling out: 0\u00a0% by quasi-identifiers, 96.2\u00a0% by unchanged columns" in page


def test_what_was_not_counted_is_told():
    assert "effective k and people alone by unchanged columns: not counted" in summary(example())
    assert "It was not counted how much the unchanged columns undo" in report_html(example())
    assert certified_unchanged(None) == "not counted"


@pytest.mark.parametrize("counts", [None, ADULT, SOUND])
def test_the_certificate_keeps_its_schema(counts):
    facts = example(unchanged=counts)
    output = {"file": facts.output, "sha256": None, "form": asdict(FileForm("csv"))}
    columns = [{"name": c.name, "from": c.name, "role": str(c.role), "as": "value"} for c in facts.schema.columns[1:]]
    written = {"output": output, "columns": columns, "requirement": {"is": "k-anonymity", "k": 10}}
    data = certificate(facts, **written, recipe_sha256=None, input_hmac=None)
    assert list(faults(json.loads(json.dumps(data)), schema())) == []
    if counts is not None:
        entry = data["unchanged_columns"]
        assert (entry["published_despite"] is None) == counts.sound
        assert UnchangedCounts.from_json(entry) == counts
