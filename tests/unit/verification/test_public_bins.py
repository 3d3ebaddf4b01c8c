"""Bins in which numbers are counted: how many people of the whole table each has."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.errors import VerificationError
from incrowd.methods import numeric
from incrowd.tables.recipe import Recipe
from incrowd.verification.comparison import MACROS as CELLS
from incrowd.verification.limits import PublicBins
from incrowd.verification.opening import create_macros
from incrowd.verification.shown import MACROS as MEMBERS

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


@pytest.mark.parametrize("form", ["counts", "pair"])
@pytest.mark.parametrize("known", [0, 9])
def test_a_number_that_fewer_than_k_people_have_is_hidden(form, known, tmp_path):
    """It is not cut, and shown nowhere, so its one bin tells nothing of these people."""
    rare = pl.Series([None if row >= known else 1.5 + row for row in range(300)], dtype=pl.Float64)
    real = Recipe(columns={"rare": {"type": "real"}})
    asked = {**ASKED, "form": form, "k": 10, "quasi_identifiers": ["age", "job", "rare"], "recipe": real}
    made = incrowd.release(people().with_columns(rare=rare), **asked, to=tmp_path / "out.csv")
    assert made.certificate["public_cuts"]["rare"] == []
    assert stated(made)["passed"]
    received = incrowd.open_release(tmp_path / "out.csv")
    assert set(received.X["rare"]) == {"*"}


def test_the_one_bin_of_a_number_is_counted_where_a_cell_shows_it():
    with duckdb.connect() as connection:
        create_macros(connection, (*CELLS, *MEMBERS))
        connection.execute("CREATE TEMP TABLE numbers_of_all_0 AS SELECT 1.0::DOUBLE AS own, 9 AS n")
        for cell, passes in (("*", True), ("(-inf, inf):9|?:3", False)):
            connection.execute(f"CREATE OR REPLACE TEMP TABLE released AS SELECT '{cell}' AS c0")
            bins = PublicBins(connection, {0: "numbers_of_all_0"}, "sum(n)")
            assert bins.check(["rare"], {"rare": ["(-inf, inf)"]}, 10).passed == passes
            assert not bins.check(["rare"], {"rare": ["(-inf, 1]", "(1, inf)"]}, 10).passed
