"""``incrowd demo``: both tables, small."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest


@pytest.mark.slow
def test_the_demo_of_visits_releases_persons_and_says_how_wrong_rows_are(command):
    status, out, err = command("demo", "--visits", "--rows", "1000")
    assert status == 0, err
    told = " ".join(out.replace("│", " ").split())
    assert told.startswith("3,750 visits of 1,000 made-up patients: demo-visits/visits.csv")
    assert "recounted independently from the written file" in told
    figure = r"\d\d\.\d %"
    assert re.search(
        rf"accuracy {figure} before, {figure} after, {figure} by majority \(decision tree, [\d,]+ rows of 333 unseen "
        rf"persons\); mean over persons {figure} before, {figure} after; ±\d\.\d points by drawing persons anew; a "
        rf"split by rows, which is wrong, would say {figure} before and {figure} after",
        told,
    )
    assert re.search(r"incrowd verify demo-visits/release.csv: \d+ statements of its certificate hold", told)
    assert "not for a recipient to say: 10-anonymity" in told
    visits, release = (pl.read_csv(Path("demo-visits") / name) for name in ("visits.csv", "release.csv"))
    assert visits.height == release.height == 3750
    assert release.columns == [name for name in visits.columns if name != "patient_id"]
    certificate = json.loads(Path("demo-visits/release.csv.certificate.json").read_text(encoding="utf-8"))
    assert certificate["accuracy"]["learner"] == "C4.5 decision tree, held-out persons"
    status, _, err = command("demo", "--visits", "--rows", "1000")
    assert (status, "exist already" in err) == (2, True)


@pytest.mark.slow
def test_the_demo_of_patients_is_as_it_was(command):
    status, out, err = command("demo", "--rows", "1000", "--folder", "here", "--method", "mondrian", "-k", "5")
    assert status == 0, err
    assert out.startswith("1,000 made-up patients: here/patients.csv")
    assert "unseen rows)" in " ".join(out.split())
    assert "person" not in out
    assert sorted(path.name for path in Path("here").iterdir()) == [
        *("patients.csv", "plan.json", "release.csv", "release.csv.certificate.json", "report.html")
    ]
