"""``incrowd model`` and ``incrowd verify --against``."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import polars as pl
import pytest

from incrowd.errors import VerificationError
from incrowd.models.pipeline import publish_model
from incrowd.verification.verdict import Check, ClassSizes, Verdict


@pytest.fixture
def incrowd(command, tmp_path):
    rng = np.random.default_rng(2)
    age, car = rng.integers(18, 80, 400), rng.choice(["Yes", "No"], 400)
    ill = np.where((age > 50) ^ (rng.random(400) < 0.2), "y", "n")
    ill = np.where((car == "Yes") & (rng.random(400) < 0.5), "y", ill)
    sex = rng.choice(["f", "m"], 400)
    people = pl.DataFrame({"age": age, "sex": sex, "car": car, "job": ["smith"] * 390 + [None] * 10, "ill": ill})
    people.write_csv(tmp_path / "people.csv")

    return command


MODEL = ("model", "people.csv", "--target", "ill", "--public", "age,sex", "--private", "car", "-k", "30")


def test_a_model_and_everything_beside_it(incrowd, tmp_path):
    status, out, err = incrowd(*MODEL, "--to", "tree.json", "--plot", "tree.svg", "--pmml", "tree.pmml")
    assert (status, err) == (0, "")
    assert "satisfies 30-anonymity of spans, recounted independently from the written" in out
    assert [line.split() for line in out.splitlines()[-4:]] == [
        ["model", "tree.json"],
        ["certificate", "tree.json.certificate.json"],
        ["drawing", "tree.svg"],
        ["PMML", "tree.pmml"],
    ]
    names = ["tree.json", "tree.json.certificate.json", "tree.svg", "tree.pmml"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "people.csv", "config"])
    data = json.loads((tmp_path / "tree.json").read_text())
    assert data["requirement"] == {"is": "k-anonymity of spans", "k": 30, "l": None, "max_confidence": None}
    assert [(each["name"], each["public"]) for each in data["attributes"]] == [
        ("age", True),
        ("sex", True),
        ("car", False),
    ]
    for name in ("tree.svg", "tree.pmml"):
        ElementTree.parse(tmp_path / name)


def test_the_certificate_tells_what_was_recounted_and_not_how_many_rows(incrowd, tmp_path):
    status, out, err = incrowd(*MODEL, "--to", "tree.json", "--json", "--max-confidence", "0.9")
    answer = json.loads(out)
    assert (status, err) == (0, "")
    issued = answer["certificate"]
    assert issued == json.loads((tmp_path / "tree.json.certificate.json").read_text())
    assert issued["statement"].startswith("The model satisfies 30-anonymity of spans, recounted")
    assert issued["verification"]["passed"] is True
    assert issued["verification"]["smallest_span"] >= 30
    assert [check["name"] for check in issued["verification"]["checks"]][:2] == [
        "30-anonymity of spans",
        "confidence of at most 0.9",
    ]
    assert "rows" not in json.dumps({**issued, "verification": None})
    assert "400" not in json.dumps({name: part for name, part in issued.items() if "256" not in name})
    assert issued["attacks"] == "not run"
    assert list(answer["seconds"]) == ["reading", "encoding", "inducing", "verifying"]


def test_verify_recounts_the_file_and_tells_by_its_status(incrowd, tmp_path):
    incrowd(*MODEL, "--to", "tree.json")
    status, out, _ = incrowd("verify", "tree.json", "--against", "people.csv")
    assert status == 0
    assert "passed  spans as published" in out
    status, out, _ = incrowd("verify", "tree.json", "--against", "people.csv", "--json")
    assert json.loads(out)["passed"] is True
    half = pl.read_csv(tmp_path / "people.csv").head(100)
    half.write_csv(tmp_path / "half.csv")
    status, out, _ = incrowd("verify", "tree.json", "--against", "half.csv")
    assert status == 1
    assert "FAILED  spans as published" in out
    half.drop("age").write_csv(tmp_path / "other.csv")
    status, _, err = incrowd("verify", "tree.json", "--against", "other.csv")
    assert status == 2
    assert "There is no column 'age'" in err


def test_verify_needs_to_know_what_it_is_given(incrowd):
    incrowd(*MODEL, "--to", "tree.json")
    status, _, err = incrowd("verify", "tree.json")
    assert status == 2
    assert "--against" in err
    assert incrowd("verify", "tree.json", "--against", "people.csv", "-k", "5")[0] == 2
    assert incrowd("verify", "people.csv", "--against", "people.csv")[0] == 2
    assert incrowd("verify", "none.json", "--against", "people.csv")[0] == 2


def test_id3_with_hierarchies_and_a_public_class(incrowd, tmp_path):
    folder = tmp_path / "groups"
    folder.mkdir()
    (folder / "sex.txt").write_text("sex: f, m\n", encoding="utf-8")
    (folder / "unused.txt").write_text("unused: a, b\n", encoding="utf-8")
    asked = ("model", "people.csv", "--target", "ill", "--public", "sex", "--private", "car", "--score", "id3")
    status, _, err = incrowd(*asked, "--public-class", "--hierarchies", folder, "--to", "tree.json", "-k", "20")
    assert (status, err) == (0, "")
    assert json.loads((tmp_path / "tree.json").read_text())["class_private"] is False
    status, _, err = incrowd(*asked[:-2], "--score", "id3", "--public", "age", "--to", "other.json")
    assert status == 2
    assert "categories only" in err


def test_missing_values_are_refused_unless_filled(incrowd):
    asked = ("model", "people.csv", "--target", "ill", "--public", "age,job", "--to", "tree.json")
    status, _, err = incrowd(*asked)
    assert status == 2
    assert "Values are missing in 'job' (10 rows)" in err
    assert incrowd(*asked, "--fill", "mode")[0] == 0
    assert incrowd(*asked, "--fill", "value", "--replace")[0] == 0


def test_what_is_impossible_is_refused_and_leaves_nothing(incrowd, tmp_path):
    for more in (
        ("-k", "401"),
        ("--max-confidence", "0.1"),
        ("--l", "2.1"),
        ("--to", "tree.txt"),
        ("--to", "people.csv"),
        ("--private", "age"),
        ("--private", "height"),
        ("--public", ""),
        ("--plot", "tree.json"),
        ("--public-class", "--l", "1.5"),
    ):
        status, out, err = incrowd(*MODEL, "--to", "tree.json", *more)
        assert (status, out) == (2, ""), more
        assert err.startswith("incrowd: ")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_what_the_checker_does_not_prove_is_not_published(incrowd, tmp_path, monkeypatch):
    failed = Verdict(ClassSizes(6, 2, 1, ((1, 1), (5, 1))), (Check("30-anonymity of spans", False, "1 rows"),))
    monkeypatch.setattr("incrowd.models.pipeline.verify_spans", lambda *_: failed)
    status, _, err = incrowd(*MODEL, "--to", "tree.json", "--plot", "tree.svg")
    assert status == 1
    assert "failed its verification and was not published" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]
    with pytest.raises(VerificationError):
        publish_model(pl.read_csv("people.csv"), target="ill", public=["age"], k=30)


def test_notes_are_told(incrowd, tmp_path):
    folder = tmp_path / "groups"
    folder.mkdir()
    (folder / "age.txt").write_text("age: (-inf, 40], (40, inf)\n", encoding="utf-8")
    status, out, _ = incrowd(*MODEL[:-1], "1", "--hierarchies", folder, "--to", "tree.json")
    assert status == 0
    assert "notice  age: its hierarchy is not used: it is split by thresholds." in out
    assert "notice  k: k=1 promises nothing" in out


def test_what_exists_is_replaced_only_where_that_is_allowed(incrowd, tmp_path):
    (tmp_path / "tree.json").write_text("old")
    (tmp_path / "tree.svg").write_text("old")
    status, _, err = incrowd(*MODEL, "--to", "tree.json", "--plot", "tree.svg")
    assert (status, err) == (2, "incrowd: tree.json and tree.svg exist already. Name other files, or use --replace.\n")
    assert (tmp_path / "tree.json").read_text() == "old"
    assert incrowd(*MODEL, "--to", "tree.json", "--plot", "tree.svg", "--replace")[0] == 0
    assert (tmp_path / "tree.json").read_text() != "old"


def test_a_tree_of_one_leaf_is_named_as_such(incrowd, tmp_path):
    pl.DataFrame({"sex": ["f", "m"] * 50, "ill": ["y", "y", "n", "n"] * 25}).write_csv(tmp_path / "people.csv")
    status, out, _ = incrowd("model", "people.csv", "--target", "ill", "--public", "sex", "-k", "30", "--to", "t.json")
    assert status == 0
    assert "the tree has one leaf" in out
    assert "one leaf" not in incrowd("model", "people.csv", "--help")[1]
