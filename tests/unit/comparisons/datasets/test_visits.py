"""The invented visits."""

from __future__ import annotations

import polars as pl
import pytest

from incrowd.comparisons.datasets.visits import PERSON, QUASI_IDENTIFIERS, SENSITIVE, STATIC, TARGET, make_visits
from incrowd.errors import ParameterError


def test_visits_are_as_they_are_told():
    visits = make_visits(800)
    assert visits.height == 3000
    assert visits[PERSON].n_unique() == 800
    assert visits.equals(make_visits(800))
    assert not visits.equals(make_visits(800, seed=8))
    values = visits.group_by(PERSON).agg(pl.all().n_unique())
    assert all((values[name] == 1).all() for name in STATIC)
    assert all((values[name] > 1).any() for name in visits.columns if name not in (PERSON, *STATIC))
    assert {*QUASI_IDENTIFIERS, *SENSITIVE, TARGET} < set(visits.columns)
    assert {make_visits(patients).height for patients in (1, 2, 3, 4)} == {3, 7, 11, 15}


def test_rows_per_patient_are_geometric_and_dates_of_a_patient_differ():
    visits = make_visits(4000)
    rows = visits.group_by(PERSON).len()["len"]
    assert rows.mean() == 3.75
    for most in (1, 2, 4, 8):
        assert (rows <= most).mean() == pytest.approx(1 - (1 - 4 / 15) ** most, abs=0.03)
    assert visits.select(PERSON, "visit_date").is_unique().all()


def test_no_patients_are_refused():
    with pytest.raises(ParameterError, match="patients must be at least 1"):
        make_visits(0)
