from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.comparisons.datasets.invented import IDENTIFIERS, QUASI_IDENTIFIERS, SENSITIVE, TARGET, make_patients
from incrowd.errors import ParameterError


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return make_patients()


def rate(patients: pl.DataFrame, *conditions: pl.Expr) -> float:
    """Share of readmitted patients among those who meet the conditions."""
    chosen = patients.filter(*conditions)
    assert chosen.height > 50
    return float((chosen[TARGET] == "yes").mean())  # type: ignore[arg-type]


def test_the_constants_name_different_columns(patients: pl.DataFrame) -> None:
    named = [*IDENTIFIERS, *QUASI_IDENTIFIERS, *SENSITIVE, TARGET]
    assert len(set(named)) == len(named) == 12
    assert set(named) < set(patients.columns)


def test_the_size_is_as_asked(patients: pl.DataFrame) -> None:
    assert patients.height == 20_000
    assert make_patients(1).height == 1
    with pytest.raises(ParameterError, match="at least 1"):
        make_patients(0)


def test_the_types_are_mixed(patients: pl.DataFrame) -> None:
    assert patients.schema["age"] == pl.Int64
    assert patients.schema["bmi"] == pl.Float64
    assert patients.schema["admission_date"] == pl.Date
    assert patients.schema["smoker"] == pl.Boolean
    assert patients.schema["postcode"] == pl.String


def test_the_same_seed_gives_the_same_table() -> None:
    assert make_patients(500, 3).equals(make_patients(500, 3))
    assert not make_patients(500, 3).equals(make_patients(500, 4))


def test_every_patient_has_an_identifier_of_their_own(patients: pl.DataFrame) -> None:
    assert patients["patient_id"].n_unique() == patients.height
    assert patients["patient_id"].is_sorted() is False


def test_values_are_missing_where_they_are_in_life(patients: pl.DataFrame) -> None:
    missing = {name: count / patients.height for name, count in patients.null_count().row(0, named=True).items()}
    assert 0.06 < missing["smoker"] < 0.10
    assert 0.09 < missing["bmi"] < 0.13
    assert missing["occupation"] > 0 < missing["country_of_birth"]
    assert missing["postcode"] > 0
    assert missing["age"] == missing[TARGET] == missing["patient_id"] == 0


def test_ages_form_a_pyramid_of_patients(patients: pl.DataFrame) -> None:
    age = patients["age"]
    assert age.min() == 18
    assert 95 < age.max() <= 100  # type: ignore[operator]
    shares = [age.is_between(low, high).mean() for low, high in ((18, 39), (40, 64), (65, 100))]
    assert shares[2] > shares[1] > shares[0] > 0.2  # type: ignore[operator]
    assert age.is_between(90, 100).sum() < age.is_between(80, 89).sum() / 3


@pytest.mark.slow
def test_no_column_that_is_released_unchanged_gives_a_hidden_one_away(patients: pl.DataFrame) -> None:
    made = incrowd.release(
        patients,
        quasi_identifiers=QUASI_IDENTIFIERS,
        identifiers=IDENTIFIERS,
        target=TARGET,
        class_sensitive=False,
        method="kactus-plus",
        k=10,
    )
    assert made.verdict.unchanged is not None
    assert made.verdict.unchanged.effective_k >= 10


def test_postcodes_are_text_with_leading_zeros_and_some_are_rare(patients: pl.DataFrame) -> None:
    postcodes = patients["postcode"].drop_nulls()
    assert postcodes.str.contains(r"^[0-9]{5}$").all()
    assert 0.2 < postcodes.str.starts_with("0").mean() < 0.8  # type: ignore[operator]
    counts = postcodes.value_counts()["count"]
    assert counts.min() < 10 < 1000 < counts.max()  # type: ignore[operator]


def test_some_countries_and_occupations_have_a_handful_of_people(patients: pl.DataFrame) -> None:
    assert patients["country_of_birth"].drop_nulls().value_counts()["count"].min() < 5  # type: ignore[operator]
    assert patients["occupation"].drop_nulls().value_counts()["count"].min() < 25  # type: ignore[operator]


def test_dates_cover_two_years_with_quiet_weekends(patients: pl.DataFrame) -> None:
    dates = patients["admission_date"]
    assert dates.dt.year().unique().sort().to_list() == [2023, 2024]
    assert (dates.dt.weekday() > 5).mean() < 0.25  # type: ignore[operator]


def test_most_patients_do_not_come_back(patients: pl.DataFrame) -> None:
    assert 0.65 < 1 - rate(patients) < 0.75


@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        (pl.col("age") >= 65, pl.col("age") < 65),
        (pl.col("diagnosis_group") == "heart", pl.col("diagnosis_group") == "injury"),
        (pl.col("earlier_admissions") >= 2, pl.col("earlier_admissions") == 0),
        (pl.col("smoker"), ~pl.col("smoker")),
        ((pl.col("bmi") >= 31), (pl.col("bmi") < 31)),
        (pl.col("insurance") == "none", pl.col("insurance") == "public"),
        (pl.col("insurance") == "public", pl.col("insurance") == "private"),
    ],
)
def test_readmission_depends_on(patients: pl.DataFrame, higher: pl.Expr, lower: pl.Expr) -> None:
    middle_aged = pl.col("age").is_between(45, 79)
    if "age" in higher.meta.root_names():
        middle_aged = pl.lit(True)
    assert rate(patients, middle_aged, higher) > rate(patients, middle_aged, lower) + 0.05


def test_being_alone_matters_only_in_old_age(patients: pl.DataFrame) -> None:
    alone = pl.col("marital_status").is_in(["widowed", "divorced"])

    def effect(low: int, high: int) -> float:
        ages = pl.col("age").is_between(low, high)
        return rate(patients, ages, alone) - rate(patients, ages, ~alone)

    assert effect(65, 79) > 0.15
    assert abs(effect(30, 64)) < 0.06


def test_sex_and_country_do_not_matter_by_themselves(patients: pl.DataFrame) -> None:
    old = pl.col("age").is_between(65, 79)
    foreign = pl.col("country_of_birth") != "Germany"
    assert abs(rate(patients, old, foreign) - rate(patients, old, ~foreign)) < 0.06


def test_a_tree_learns_the_class_clearly_better_than_the_majority(patients: pl.DataFrame) -> None:
    from sklearn.tree import DecisionTreeClassifier

    features = patients.drop(TARGET, *IDENTIFIERS, "admission_date", "postcode")
    matrix = features.with_columns(pl.col(pl.String).rank("dense")).to_dummies("diagnosis_group").to_numpy()
    truth = (patients[TARGET] == "yes").to_numpy()
    half = patients.height // 2
    tree = DecisionTreeClassifier(max_depth=8, min_samples_leaf=20, random_state=0)
    right = tree.fit(matrix[:half].astype(float), truth[:half]).score(matrix[half:].astype(float), truth[half:])
    majority = float(np.mean(~truth[half:]))
    assert right > majority + 0.07
    assert right < 0.95
