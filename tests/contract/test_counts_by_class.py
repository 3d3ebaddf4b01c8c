"""Counts by class, from a table to a verified release, and what its owner and its recipients are told."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import incrowd
from faults.people import at
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import ParameterError
from incrowd.plan.plan_file import read_plan
from incrowd.recipients import decode, open_release
from incrowd.report.certificate import faults, schema
from incrowd.report.html import report_html
from incrowd.vocabulary.counts_text import read_counts
from support.class_parts import classes_of_parts, planned, written

NAMES, TARGET, K = ["age", "sex", "insurance", "smoker"], "occupation", 15
PATIENTS = make_patients(700).select("patient_id", *NAMES, TARGET)
ASKED = {"quasi_identifiers": NAMES, "target": TARGET, "class_sensitive": False, "k": K, "counts_by_class": True}
RARE = {one for one, many in Counter(PATIENTS[TARGET].to_list()).items() if many < K}


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))


def released(table=PATIENTS, **asked):
    usual = {"identifiers": ["patient_id"], "method": "infogain-mondrian", "form": "counts"}
    return incrowd.release(table, **(usual | ASKED | asked))


def check_looks(table, plan):
    """At least k rows look alike; parts of groups have one class, but for those of rare ones; rows are as planned.

    Parts that happen to draw the same texts look alike, so that of looks this cannot be said.
    """
    assert table.group_by(NAMES).len()["len"].min() >= K
    mixed = [classes for classes in classes_of_parts(plan) if len(classes) > 1]
    assert len([classes for classes in mixed if not classes <= RARE]) <= 1
    assert written(table, NAMES, TARGET) == planned(plan)


@pytest.mark.each(2)
@pytest.mark.parametrize("method", ["blend", "infogain-mondrian", "mondrian", "kactus", "kactus-plus"])
def test_every_method_that_groups_rows_can(method):
    made = released(method=method)
    check_looks(made.table, made.plan)
    assert made.verdict.passed
    assert {check.name for check in made.verdict.checks} >= {f"{name} drawn" for name in NAMES}
    assert not list(faults(made.certificate, schema()))
    assert made.certificate["counts"]["by_class"] is True
    assert "They are those of one class" in report_html(made.report)
    assert Counter(made.table[TARGET].to_list()) == Counter(PATIENTS[TARGET].to_list())


@pytest.mark.each(3)
@pytest.mark.parametrize(
    "asked",
    [
        {"redraw": 0},
        {"rarest": 10},
        {"require": "entropy-l=1.2 on smoker", "quasi_identifiers": NAMES[:3], "sensitive": ["smoker"]},
        {"known_together": [(["age", "sex"], 30), (NAMES, 10)], "quasi_identifiers": None, "k": None},
        {"form": "pair"},
    ],
    ids=str,
)
def test_they_are_verified_whatever_is_asked_for_beside_them(asked):
    made = released(**asked)
    assert made.verdict.passed
    assert made.certificate["counts"]["by_class"] is True


@pytest.mark.slow
def test_the_same_is_asked_again_and_the_same_comes_out_in_memory_and_in_blocks(tmp_path):
    PATIENTS.write_csv(tmp_path / "patients.csv")
    first, again = released(tmp_path / "patients.csv"), released(tmp_path / "patients.csv")
    with at("blocks"):
        blocks = released(tmp_path / "patients.csv", to=tmp_path / "release.csv")
    assert blocks.verdict.passed
    assert Counter(first.table.select(NAMES).rows()) == Counter(again.table.select(NAMES).rows())
    check_looks(pl.read_csv(tmp_path / "release.csv", infer_schema=False), blocks.plan)


def test_persons_are_counted():
    visits = pl.concat([PATIENTS, PATIENTS[:250]]).rename({"patient_id": "whose"})
    made = released(visits, identifiers=None, person="whose", rarest=5)
    assert made.verdict.passed
    assert made.certificate["persons"]["requirement_counts"] == "persons"


def test_the_owner_is_told_how_often_the_class_follows():
    """Against the same rule over the written texts, row by row."""
    made = released(redraw=0)
    notice = next(notice for notice in made.report.notices if notice.code == "class-by-counts")
    looks = made.table.group_by(NAMES).agg(pl.len(), pl.col(TARGET).value_counts())
    cuts = made.certificate["public_cuts"]["age"]
    right = 0
    for row in PATIENTS.iter_rows(named=True):
        chances = Counter()
        for look in looks.iter_rows(named=True):
            likely = look["len"]
            for name in NAMES:
                value = row[name] if name != "age" else np.searchsorted(cuts, row[name])
                own = Counter()
                for member, rows in read_counts(look[name]):
                    own[member if name != "age" else np.searchsorted(cuts, high(member))] += rows
                known = str(value).lower() if name == "smoker" and value is not None else value
                share = SHARES[name][row[name]] if name != "age" else age_share(cuts, value)
                likely *= (own[known] + share) / (look["len"] + 1)
            for one in look[TARGET]:
                chances[one[TARGET]] += likely * one["count"] / look["len"]
        right += chances.most_common(1)[0][0] == row[TARGET]
    assert f"right for {100 * right / PATIENTS.height:.1f} % of 700 people" in notice.message.replace("\u00a0", " ")


SHARES = {name: {v: n / 700 for v, n in Counter(PATIENTS[name].to_list()).items()} for name in NAMES}


def high(member):
    return float(member.strip("([])").split(", ")[1])


def age_share(cuts, place):
    return float(np.mean(np.searchsorted(cuts, PATIENTS["age"].to_numpy()) == place))


@pytest.mark.slow
def test_the_attack_makes_the_release_again_by_class():
    made = released(method="blend")
    report = incrowd.attack_release(made, PATIENTS, only=["attribute inference"], seed=1)
    found = next(one for one in report.findings if one.attack == "attribute inference")
    assert found.details["members guessed right"] > found.details["control guessed right"]


def test_recipients_deal_values_within_a_class(tmp_path):
    made = released(to=tmp_path / "release.csv", redraw=0)
    opened = open_release(tmp_path / "release.csv")
    plain = decode(tmp_path / "release.csv", deals=1)
    own = Counter(zip(PATIENTS["insurance"].to_list(), PATIENTS[TARGET].to_list(), strict=True))
    dealt = Counter(zip(plain["insurance"].to_list(), plain[TARGET].to_list(), strict=True))
    for (value, label), many in own.items():
        if label is not None and label not in RARE and not touched(made, label):
            assert dealt[value, label] == many
    guess = opened.classifier(DecisionTreeClassifier(max_depth=4)).fit().predict(PATIENTS.select(NAMES))
    assert set(guess) <= set(PATIENTS[TARGET])


def touched(made, label):
    """Whether rows of a class look like rows of another."""
    looks = made.table.group_by(NAMES).agg(pl.col(TARGET).unique())[TARGET].to_list()
    return any(label in classes and len(classes) > 1 for classes in looks)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"class_sensitive": True}, "State that it is not sensitive"),
        ({"class_sensitive": None}, "State that it is not sensitive"),
        ({"purest": 0.9}, "something is required of the class"),
        ({"require": f"distinct-l=2 on {TARGET}"}, "something is required of the class"),
        ({"form": "strict"}, "about counts, which this release has none of"),
        ({"form": None}, "about counts, which this release has none of"),
        ({"target": None, "method": "mondrian"}, "takes a class"),
        ({"counts_by_class": "yes"}, "True or False"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(asked, words):
    with pytest.raises(ParameterError, match=words):
        released(**asked)


def test_they_are_compared_like_any_method():
    found = incrowd.compare(
        PATIENTS.drop("patient_id"),
        target=TARGET,
        methods=["infogain-mondrian(form='counts', counts_by_class=True)"],
        ks=[K],
        learners=["nb"],
        jobs=1,
    )
    assert "counts_by_class=True" in str(found)
    with pytest.raises(ParameterError, match="True or False"):
        incrowd.compare(PATIENTS, target=TARGET, methods=["blend(counts_by_class=2)"])


def test_plans_say_it_and_are_read_back(tmp_path):
    made = released(outputs=incrowd.Outputs(plan=tmp_path / "plan.json"))
    plan = read_plan(tmp_path / "plan.json")
    assert plan.by_class
    assert plan.places == made.plan.places
    assert "Counts by class" in str(incrowd.explain(tmp_path / "plan.json"))
    shown = incrowd.transform(tmp_path / "plan.json", PATIENTS.drop("patient_id", TARGET))
    assert shown["insurance"].to_list() == PATIENTS["insurance"].to_list()
