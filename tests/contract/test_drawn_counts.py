"""Drawn counts, from a frame to a verified release: fixed by their key, whatever is asked for beside them."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

import incrowd
from faults.people import at
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import OutputError, ParameterError
from incrowd.releases.certified.checking import check_release
from incrowd.report.certificate import faults, schema
from incrowd.report.html import report_html
from incrowd.vocabulary.counts_text import read_counts

NAMES = ["age", "sex", "occupation", "insurance"]
ASKED = {"quasi_identifiers": NAMES, "target": "readmitted", "class_sensitive": False, "k": 20, "form": "counts"}
PATIENTS = make_patients(600).select("patient_id", *NAMES, "readmitted")


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))


def released(table=PATIENTS, **asked):
    return incrowd.release(table, **({"identifiers": ["patient_id"], "method": "infogain-mondrian"} | ASKED | asked))


def looks(made):
    """The texts of each group, with their rows."""
    return Counter(made.table.select(NAMES).rows())


def totals(made, name):
    """How many rows have each value, by the counts of all groups."""
    total = Counter()
    for look, rows in looks(made).items():
        members = read_counts(look[NAMES.index(name)])
        assert sum(many for _, many in members) == rows
        total.update(dict(members))
    return total


def test_the_same_is_asked_again_and_the_same_comes_out():
    first, again = released(), released()
    assert looks(first) == looks(again)
    assert first.certificate["counts"]["are"] == "drawn"
    assert first.certificate["counts"]["redraw"] == 2
    assert first.certificate["counts"]["key"] == again.certificate["counts"]["key"]
    assert {check.name for check in first.verdict.checks} >= {f"{name} drawn" for name in NAMES}
    own = {name: set(PATIENTS[name].to_list()) for name in ("sex", "occupation", "insurance")}
    assert all(set(totals(first, name)) <= values for name, values in own.items())


@pytest.mark.each(3)
@pytest.mark.parametrize("method", ["blend", "kactus", "kactus-plus", "mondrian"])
def test_methods_that_choose_by_chance_choose_alike_under_one_key(method):
    """Other groups would be other draws: many of them add up to exact counts."""
    first, again = released(method=method), released(method=method)
    assert looks(first) == looks(again)
    assert not first.table.equals(again.table)  # rows are shuffled by the system


def test_exact_counts_are_asked_for_and_say_what_they_tell():
    made = released(redraw=0)
    assert made.certificate["counts"] == {"are": "exact", "bins": "class"}
    assert totals(made, "occupation") == Counter(PATIENTS["occupation"].to_list())
    assert "exact-counts" in {notice.code for notice in made.report.notices}
    assert "Counts are exact" in report_html(made.report)
    assert "Counts are drawn by a key" in report_html(released().report)
    with pytest.raises(ParameterError, match="redraw is about counts"):
        released(form="strict", redraw=0)
    with pytest.raises(ParameterError, match="bins is about counts"):
        released(form="strict", bins="fine")
    with pytest.raises(ParameterError, match="bins must be one of"):
        released(bins="small")


@pytest.mark.each(3)
@pytest.mark.parametrize(
    "asked",
    [
        {"method": "blend", "rarest": 10},
        {"method": "kactus-plus"},
        {"method": "kactus"},
        {"method": "mondrian", "redraw": 7},
        {"require": "entropy-l=1.4"},
        {"purest": 0.8, "class_sensitive": True},
        {"form": "pair"},
        {"known_together": [(["age", "sex"], 30), (NAMES, 10)], "quasi_identifiers": None, "k": None},
    ],
    ids=str,
)
def test_they_are_verified_whatever_is_asked_for_beside_them(asked):
    made = released(**asked)
    assert made.verdict.passed
    assert made.certificate["counts"]["are"] == "drawn"


def test_persons_and_blocks_are_drawn_as_well(tmp_path):
    visits = pl.concat([PATIENTS, PATIENTS[:200]]).with_columns(whose=pl.col("patient_id")).drop("patient_id")
    made = released(visits, identifiers=None, person="whose", require="entropy-l=1.2")
    assert made.verdict.passed
    assert made.certificate["persons"]["requirement_counts"] == "persons"
    PATIENTS.write_csv(tmp_path / "patients.csv")
    with at("blocks"):
        made = released(tmp_path / "patients.csv", to=tmp_path / "release.csv")
    assert made.verdict.passed
    assert made.certificate["counts"]["are"] == "drawn"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lambda home: home.write_text(""), "folder .* for the key counts.key cannot be made"),
        (lambda home: (home / "incrowd/counts.key").mkdir(parents=True), "counts.key in .*incrowd cannot be read"),
        (
            lambda home: (home / "incrowd").mkdir(parents=True) or (home / "incrowd/counts.key").write_bytes(b"x"),
            "damaged",
        ),
    ],
    ids=["no folder", "no file", "damaged"],
)
def test_a_key_that_cannot_be_had_is_told_with_its_place(fault, words, tmp_path, monkeypatch):
    fault(tmp_path / "home")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    with pytest.raises(OutputError, match=words):
        released()


def test_recipients_are_told_that_draws_are_not_recounted(tmp_path):
    released(to=tmp_path / "drawn.csv")
    released(to=tmp_path / "exact.csv", redraw=0)
    drawn, exact = (
        {one.name: one.words for one in check_release(tmp_path / name).statements if one.standing == "not recounted"}
        for name in ("drawn.csv", "exact.csv")
    )
    assert drawn["counts are drawn from the table"].endswith("and the key")
    assert "counts are drawn from the table" not in exact


@pytest.mark.each(3)
@pytest.mark.parametrize(
    "stated",
    [
        {"are": "drawn"},
        {"are": "exact", "redraw": 2},
        {"are": "exact", "bins": "small"},
        {"are": "drawn", "redraw": 2, "algorithm": "by hand", "key": "0" * 16, "bins": "fine"},
        {"are": "drawn", "redraw": 2, "algorithm": "HMAC-SHA-256, SHAKE-256", "key": "mine", "bins": "fine"},
    ],
    ids=str,
)
def test_a_certificate_says_how_counts_were_drawn(stated):
    certificate = released().certificate
    assert not list(faults(certificate, schema()))
    assert list(faults(certificate | {"counts": stated}, schema()))


def test_a_ledger_has_a_key_of_its_own_and_draws_the_same_again(tmp_path):
    book = tmp_path / "book"
    first, again = (released(ledger=book) for _ in range(2))
    assert looks(first) == looks(again)
    other = released(ledger=tmp_path / "another")
    assert first.certificate["counts"]["key"] == again.certificate["counts"]["key"]
    assert first.certificate["counts"]["key"] not in (
        other.certificate["counts"]["key"],
        released().certificate["counts"]["key"],
    )


def test_a_row_less_is_not_read_off():
    """The totals of exact counts differ by the record; those of drawn ones by chance."""
    whole, less = PATIENTS, PATIENTS[1:]
    record = {name: Counter([PATIENTS[name][0]]) for name in ("sex", "occupation", "insurance")}
    exact = [released(table, redraw=0) for table in (whole, less)]
    assert all(totals(exact[0], name) - totals(exact[1], name) == own for name, own in record.items())
    drawn = [released(table) for table in (whole, less)]
    assert any(totals(drawn[0], name) - totals(drawn[1], name) != own for name, own in record.items())
