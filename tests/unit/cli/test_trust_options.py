"""``incrowd release`` with a ledger, risk and attacks."""

from __future__ import annotations

import json

import pytest
from test_commands import RELEASE, incrowd  # noqa: F401

from incrowd.attacks.catalog import ATTACKS


def told(out):
    return json.loads(out)["certificate"]


def test_the_same_request_twice_and_another_one(incrowd, tmp_path):  # noqa: F811
    status, out, _ = incrowd(*RELEASE, "--to", "one.csv", "--ledger", "book", "--json")
    assert (status, told(out)["earlier_releases"]["compared"]) == (0, [])
    status, out, _ = incrowd(*RELEASE, "--to", "two.csv", "--ledger", "book", "--json")
    assert status == 0
    assert told(out)["earlier_releases"]["same_groups"] is True
    other = (*RELEASE, "--method", "mondrian", "--to", "three.csv", "--ledger", "book")
    status, out, err = incrowd(*other)
    assert (status, out) == (1, "")
    assert "Together with 2 earlier releases" in err
    assert not (tmp_path / "three.csv").exists()
    status, out, _ = incrowd(*other, "--despite-earlier")
    assert status == 0
    assert "published despite" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ledger", "book", "--seed", "3"), "seed"),
        (("--despite-earlier",), "ledger"),
        (("--ledger", "no/book"), "folder"),
        (("--alone-at-most", "-1"), "whole number of people"),
        (("--alone-at-most", "few"), "must be a whole number"),
    ],
)
def test_what_does_not_go_together_is_refused(incrowd, tmp_path, words, said):  # noqa: F811
    status, out, err = incrowd(*RELEASE, "--to", "out.csv", *words)
    assert (status, out) == (2, "")
    assert said in err
    assert not (tmp_path / "out.csv").exists()


def test_risk_is_measured_where_a_report_is_written_or_asked_for(incrowd, tmp_path):  # noqa: F811
    def risk(*words):
        status, out, _ = incrowd(*RELEASE, "--identifiers", "person", "--to", "out.csv", "--replace", "--json", *words)
        assert status == 0
        return told(out)["risk"]

    assert risk() == "not measured"
    assert risk("--report", "report.html", "--no-risk") == "not measured"
    assert risk("--risk")["after"]["uniques"]["in_sample"] == 0
    assert risk("--report", "report.html")["after"]["prosecutor"]["maximum"] <= 0.2
    assert "Who could be re-identified" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_attacks_before_and_after(incrowd, tmp_path):  # noqa: F811
    status, out, _ = incrowd(
        *RELEASE, "--identifiers", "person", "--to", "out.csv", "--report", "report.html", "--attacks", "--json"
    )
    assert status == 0
    found = told(out)["attacks"]
    assert len(found["after"]) == len(found["before"]) == len(ATTACKS)
    by_name = {one["attack"]: one for one in found["after"]}
    assert by_name["row order"]["verdict"] == "no leak found"
    assert {one["attack"]: one["verdict"] for one in found["before"]}["row order"] == "leak"
    assert by_name["tree reconstruction"]["verdict"] == "not run"
    assert "What the attacks found" in (tmp_path / "report.html").read_text(encoding="utf-8")
