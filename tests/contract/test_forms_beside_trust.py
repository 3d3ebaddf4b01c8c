"""Releases of counts, of a pair of tables, and by Blend, next to the ledger, risk and attacks."""

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.errors import ParameterError
from incrowd.methods.catalog import METHODS

ROLES = {"quasi_identifiers": ["age", "job", "town"], "target": "ill", "class_sensitive": False}
GROUPED = [name for name, entry in METHODS.items() if not entry.by_value]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(8)
    age = rng.integers(18, 90, 900)
    return pl.DataFrame(
        {
            "age": age,
            "job": pl.Series(rng.choice(["nurse", "cook", "clerk", ""], 900)).replace("", None),
            "town": rng.choice(["north", "south"], 900),
            "ill": np.where(rng.random(900) < age / 120, "yes", "no"),
        }
    )


@pytest.mark.each(3)
@pytest.mark.parametrize("method", GROUPED)
def test_counts_asked_for_twice_are_those_of_the_same_groups(people, method, tmp_path):
    asked = {**ROLES, "k": 10, "method": method, "form": "counts", "ledger": tmp_path / "book"}
    first, second = incrowd.release(people, **asked), incrowd.release(people, **asked)
    assert second.certificate["earlier_releases"]["same_groups"] is True
    columns = sorted(first.table.columns)
    assert first.table.select(columns).sort(columns).equals(second.table.select(columns).sort(columns))


@pytest.mark.each(3)
@pytest.mark.parametrize("method", GROUPED)
def test_a_report_of_counts_has_risk_and_attacks(people, method, tmp_path):
    asked = {**ROLES, "k": 10, "method": method, "form": "counts"}
    made = incrowd.release(
        people,
        **asked,
        to=tmp_path / "r.csv",
        outputs=incrowd.Outputs(report=tmp_path / "r.html"),
        measuring=incrowd.Measuring(attacks=["homogeneity", "row-order"]),
    )
    assert made.report.risk.after.prosecutor.maximum <= 0.1
    assert made.report.attacks is not None
    assert "not measured" not in " ".join(str(notice) for notice in made.report.notices)


MEASURED = [{"measuring": incrowd.Measuring(risk=True)}, {"measuring": incrowd.Measuring(attacks=True)}]


@pytest.mark.parametrize("beside", [{"ledger": "book"}, *MEASURED])
def test_a_pair_of_tables_is_refused_where_rows_must_show_what_is_released(people, beside, tmp_path):
    if "ledger" in beside:
        beside = {"ledger": tmp_path / "book"}
    with pytest.raises(ParameterError, match="Choose form counts"):
        incrowd.release(people, **ROLES, k=10, method="mondrian", form="pair", **beside)


def test_a_pair_with_a_report_is_released_without_risk(people, tmp_path):
    made = incrowd.release(
        people,
        **ROLES,
        k=10,
        method="mondrian",
        form="pair",
        to=tmp_path / "r.csv",
        outputs=incrowd.Outputs(report=tmp_path / "r.html"),
    )
    assert made.report.risk is None
