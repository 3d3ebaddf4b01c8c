"""Bins in which numbers are counted: how many people of the whole table each has."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.errors import VerificationError
from incrowd.methods import numeric

ASKED = {
    "quasi_identifiers": ["age", "job"],
    "target": "ill",
    "class_sensitive": False,
    "form": "counts",
    "bins": "fine",
}


def people(persons=None):
    rng = np.random.default_rng(3)
    age = np.sort(rng.integers(20, 80, 300))
    columns = {"age": age, "job": rng.choice(["cook", "nurse"], 300), "ill": np.where(age > 50, "y", "n")}
    return pl.DataFrame({**columns, **({} if persons is None else {"who": persons})})


def stated(made):
    (check,) = (one for one in made.certificate["verification"]["checks"] if one["name"].startswith("bins of"))
    return check


@pytest.mark.parametrize("redraw", [0, 2])
def test_every_bin_is_counted(redraw):
    frame = people()
    made = incrowd.release(frame, **ASKED, k=10, redraw=redraw)
    cuts = made.certificate["public_cuts"]["age"]
    sizes = np.bincount(np.searchsorted(cuts, frame["age"].to_numpy()))
    found = f"{len(sizes)} bins, the smallest of {sizes.min()} people"
    assert stated(made) == {"name": "bins of 10 people or more", "passed": True, "found": found}


@pytest.mark.parametrize("form", ["counts", "pair"])
def test_a_bin_below_k_is_refused_and_one_of_k_is_not(form, monkeypatch, tmp_path):
    """The tenth and the eleventh row differ, so a bin can have ten rows and no more."""
    frame = people().with_columns(age=pl.Series(np.arange(300)))
    for rows, passes in ((9, False), (10, True)):
        monkeypatch.setattr(numeric, "fine_cuts", lambda *_, rows=rows: (float(rows - 1), 150.0))
        asked = {**ASKED, "form": form, "k": 10, "to": tmp_path / f"{rows}.csv"}
        if passes:
            assert stated(incrowd.release(frame, **asked))["found"] == "3 bins, the smallest of 10 people"
            continue
        with pytest.raises(VerificationError, match="3 bins, the smallest of 9 people"):
            incrowd.release(frame, **asked)


def test_a_bin_has_persons_not_rows(monkeypatch):
    """The first bin has the rows of two persons, however many rows they have."""
    whose = [0, 1] * 20 + [*range(2, 262)]
    frame = people(whose).with_columns(age=pl.Series(np.arange(300)))
    made = incrowd.release(frame, **ASKED, k=5, person="who")
    assert int(stated(made)["found"].split()[-2]) >= 5
    monkeypatch.setattr(numeric, "fine_cuts", lambda *_: (39.0,))
    with pytest.raises(VerificationError, match="2 bins, the smallest of 2 people"):
        incrowd.release(frame, **ASKED, k=5, person="who")
