"""The whole measurement: files, frames, releases, what is said and what is never said."""

from __future__ import annotations

import json

import polars as pl
import pytest

import incrowd
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import HeaderError, ParameterError, SchemaError
from incrowd.risk import classes
from incrowd.risk.assessment import Risk
from incrowd.risk.assessment import measure_risk as risk
from incrowd.risk.classes import NotMeasured, Special
from incrowd.risk.telling import parts_of
from incrowd.risk.uniques import Estimates

KNOWN = ("age", "sex", "marital_status", "insurance")


@pytest.fixture(scope="module")
def patients():
    return make_patients(600)


def test_a_table_by_itself(patients):
    found = risk(patients, quasi_identifiers=KNOWN, sensitive=["diagnosis_group"])
    assert isinstance(found, Risk)
    assert isinstance(found.special, Special)
    assert found.rows == 600
    assert sum(size * count for size, count in found.classes) == 600
    assert isinstance(found.journalist, NotMeasured)
    assert isinstance(found.uniques.estimated, NotMeasured)
    assert isinstance(found.special.dis, NotMeasured)
    assert found.marketer.average == found.prosecutor.average
    assert "at most" in found.marketer.basis


def test_with_the_size_of_the_population(patients):
    found = risk(patients, quasi_identifiers=KNOWN, population=6000)
    assert isinstance(found.uniques.estimated, Estimates)
    assert found.journalist.average < found.prosecutor.average
    assert found.marketer.average == found.journalist.average
    assert isinstance(found.inference, NotMeasured)


def test_with_the_population_itself(patients):
    found = risk(patients.head(200), quasi_identifiers=KNOWN, population_table=patients)
    assert found.population == 600
    uniques = patients.group_by(KNOWN).len().filter(pl.col("len") == 1).height
    assert found.uniques.counted[0] == uniques
    assert found.journalist.basis == "counted in the population table"
    assert found.marketer.average <= found.journalist.average <= found.prosecutor.average
    assert not found.notices


def test_before_and_after(patients):
    made = incrowd.release(patients, identifiers=["patient_id"], quasi_identifiers=KNOWN, target="readmitted", k=10)
    found = risk(patients, quasi_identifiers=KNOWN, sensitive=["diagnosis_group"], after=made.table, population=6000)
    assert found.after.prosecutor.maximum <= 1 / 10
    assert found.after.uniques.in_sample == 0
    assert found.after.prosecutor.average < found.prosecutor.average
    assert found.after.classes[0][0] == made.verdict.sizes.smallest
    assert found.after.inference[0].excess.estimate < found.inference[0].excess.estimate
    assert "before" in str(found)
    assert "after" in str(found)


def test_a_population_table_does_not_fit_generalised_cells(patients):
    shown = patients.with_columns(pl.lit("(0, 100]").alias("age"))
    found = risk(patients, quasi_identifiers=KNOWN, after=shown, population_table=patients)
    assert found.journalist.maximum == found.prosecutor.maximum
    assert isinstance(found.after.journalist, NotMeasured)
    assert found.after.uniques.counted is None


def test_bounds_in_two_columns_are_one_quasi_identifier(patients):
    shown = patients.rename({"age": "age_low"}).with_columns(pl.col("age_low").alias("age_high"))
    found = risk(patients, quasi_identifiers=["age", "sex"], after=shown)
    assert found.after.quasi_identifiers == ("age_low", "age_high", "sex")
    assert found.after.classes == found.classes
    with pytest.raises(HeaderError, match="The release"):
        risk(patients, quasi_identifiers=["age", "sex"], after=shown.drop("age_high"))


def test_missing_and_suppressed_cells_are_one_value(tmp_path):
    file = tmp_path / "shown.csv"
    file.write_text("age,sex\n,f\n*,f\n30,f\n30,f\n,m\n")
    assert risk(file, quasi_identifiers=["age", "sex"]).classes == ((1, 1), (2, 2))


def test_a_file_and_its_frame_are_the_same(patients, tmp_path):
    patients.write_csv(tmp_path / "p.csv")
    by_file = risk(tmp_path / "p.csv", quasi_identifiers=KNOWN, sensitive=["ward"]).to_json()
    by_frame = risk(patients, quasi_identifiers=KNOWN, sensitive=["ward"]).to_json()
    different = [key for key in by_file if by_file[key] != by_frame[key]]
    assert different == ["table"]


def test_no_value_of_the_table_is_told():
    """Every cell is a canary; names and numbers are all that may come out."""
    rows = 40
    frame = pl.DataFrame(
        {
            "age": [f"canary{i}" for i in range(rows)],
            "mail": [f"canary{i}@example.org" for i in range(rows)],
            "zip": [f"canary{i % 3}" for i in range(rows)],
            "ill": [f"canary{i % 4}" for i in range(rows)],
        }
    )
    found = risk(frame, quasi_identifiers=["age", "zip"], sensitive=["ill"], population=400, after=frame)
    for told in (str(found), json.dumps(found.to_json()), repr(found), str(parts_of(found))):
        assert "canary" not in told


def test_the_result_is_plain_data(patients):
    found = risk(patients, quasi_identifiers=KNOWN, sensitive=["ward"], population=6000, after=patients).to_json()
    assert json.loads(json.dumps(found)) == found
    assert found["after"]["classes"] == found["classes"]
    assert set(found["wp216"]) == {"singling_out", "linkability", "inference"}
    assert len(found["safe_harbor"]) == 18


def test_names_that_would_change_the_terminal_are_made_visible():
    found = risk(pl.DataFrame({"a\x1b[31m": [1, 2], "b": [1, 1]}), quasi_identifiers=["a\x1b[31m", "b"])
    assert "\x1b" not in str(found)


def test_one_row_and_one_column():
    found = risk(pl.DataFrame({"age": [30]}), quasi_identifiers=["age"], population=1)
    assert found.prosecutor.maximum == 1.0
    assert isinstance(found.linkability, NotMeasured)
    assert str(found)


@pytest.mark.parametrize(
    ("asked", "error", "match"),
    [
        ({"quasi_identifiers": []}, ParameterError, "at least one"),
        ({"quasi_identifiers": ["nothing"]}, HeaderError, "no column 'nothing'"),
        ({"quasi_identifiers": ["age", "age"]}, SchemaError, "named twice"),
        ({"quasi_identifiers": ["age"], "sensitive": ["age"]}, SchemaError, "both quasi-identifier and sensitive"),
        ({"quasi_identifiers": ["age"], "sensitive": ["nothing"]}, HeaderError, "no column"),
        ({"quasi_identifiers": ["age"], "population": 10}, ParameterError, "at least the 600 rows"),
        ({"quasi_identifiers": ["age"], "thresholds": [2]}, ParameterError, "between 0 and 1"),
        (
            {"quasi_identifiers": ["age"], "population": 900, "population_table": make_patients(5)},
            ParameterError,
            "both",
        ),
        ({"quasi_identifiers": ["age"], "largest_special": 0}, ParameterError, "at least 1"),
    ],
)
def test_what_cannot_be_asked(patients, asked, error, match):
    with pytest.raises(error, match=match):
        risk(patients, **asked)


def test_what_was_left_out_is_told(patients, monkeypatch):
    monkeypatch.setattr(classes, "MOST_CELLS", 600 * 4)
    assert "Left out: sets of 2 to 3 columns" in str(risk(patients, quasi_identifiers=KNOWN))
