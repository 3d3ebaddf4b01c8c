"""A generated person-level table to try things on, and what invented people have in common in any table."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import ParameterError

Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Words = npt.NDArray[np.str_]


def choose(weights: Mapping[str, float], rows: int, chance: np.random.Generator) -> Words:
    """Words, drawn in proportion to their weights."""
    return np.asarray(np.array(list(weights))[places(list(weights.values()), rows, chance)])


def places(weights: npt.ArrayLike, rows: int, chance: np.random.Generator) -> Whole:
    """Places in a list of weights, drawn in proportion to them."""
    steps = np.cumsum(weights)
    return np.asarray(np.searchsorted(steps, chance.random(rows) * steps[-1], side="right"), np.int64)


def identifiers(rows: int, chance: np.random.Generator) -> Words:
    """A different text for every patient, in no order that tells anything."""
    numbers = chance.permutation(rows) + 10 ** max(6, len(str(rows)))
    return np.char.add("P", numbers.astype(str))


def postcodes(rows: int, chance: np.random.Generator, areas: int) -> Words:
    """Five digits, four in ten with a leading zero; a few areas hold most people, many hold a handful."""
    area = np.arange(areas)
    names = np.char.zfill(np.where(area % 5 < 2, 1000 + 37 * area, 10_000 + 331 * area).astype(str), 5)
    return np.asarray(names[places(1.0 / (1 + area) ** 1.15, rows, chance)])


def with_gaps(column: pl.Series, share: float, chance: np.random.Generator) -> pl.Series:
    """The column with a share of its values missing."""
    known = pl.Series(chance.random(len(column)) >= share)
    return pl.select(pl.when(known).then(column).alias(column.name)).to_series()


IDENTIFIERS = ("patient_id",)
"""The columns that name a person."""
QUASI_IDENTIFIERS = (
    "age",
    "sex",
    "postcode",
    "admission_date",
    "occupation",
    "marital_status",
    "country_of_birth",
    "smoker",
    "insurance",
)
"""The columns a neighbour, a colleague or an insurer may know."""
SENSITIVE = ("diagnosis_group",)
"""The column nobody else should learn."""
TARGET = "readmitted"
"""The class: whether the patient came back within 90 days."""

_AGE_GROUPS = ((18, 40, 27.0), (40, 65, 32.0), (65, 85, 34.0), (85, 101, 7.0))
_COUNTRIES = {
    "Germany": 780.0,
    "Turkey": 55.0,
    "Poland": 38.0,
    "Italy": 21.0,
    "Romania": 20.0,
    "Syria": 18.0,
    "Ukraine": 16.0,
    "Greece": 10.0,
    "Croatia": 9.0,
    "Vietnam": 6.0,
    "Portugal": 4.0,
    "Nigeria": 3.0,
    "Brazil": 2.0,
    "Chile": 0.6,
    "Iceland": 0.4,
    "Mongolia": 0.3,
    "Bhutan": 0.15,
}
_JOBS = {  # what people do or did; of a job that tells the age, the age could be read off where it is hidden
    "office": 24.0,
    "trade": 17.0,
    "care": 13.0,
    "teaching": 9.0,
    "transport": 9.0,
    "hospitality": 7.0,
    "construction": 7.0,
    "farming": 3.0,
    "police": 1.5,
    "fishing": 0.2,
    "diving": 0.05,
    "unemployed": 9.1,
}
_DIAGNOSES = ("injury", "infection", "digestive", "heart", "lung", "cancer", "kidney", "mental")
_DIAGNOSES_BY_AGE = {
    18: (20.0, 10.0, 18.0, 8.0, 8.0, 8.0, 11.0, 17.0),
    45: (13.0, 8.0, 19.0, 20.0, 12.0, 14.0, 5.0, 9.0),
    65: (12.0, 9.0, 13.0, 29.0, 14.0, 14.0, 5.0, 4.0),
}
_WARDS = {
    "injury": "surgery",
    "infection": "medicine",
    "digestive": "surgery",
    "heart": "cardiology",
    "lung": "medicine",
    "cancer": "oncology",
    "kidney": "medicine",
    "mental": "psychiatry",
}
_RISK = {"heart": 1.2, "lung": 0.7, "cancer": 1.3, "mental": 0.4, "infection": -0.5, "kidney": -1.0}
_FIRST_DAY = datetime.date(2023, 1, 1)
_DAYS = 731
_MISSING = {"smoker": 0.08, "bmi": 0.11, "occupation": 0.04, "country_of_birth": 0.02, "postcode": 0.005}
_POSTCODES = 240


def make_patients(rows: int = 20_000, seed: int = 7) -> pl.DataFrame:
    """Make a table of patients; the same rows and seed give the same table.

    Parameters
    ----------
    rows
        Number of patients.
    seed
        Where chance starts. The people are invented, so a seed gives nothing away here.

    Examples
    --------
    >>> patients = make_patients(100)
    >>> patients.height, patients["postcode"].dtype, TARGET in patients.columns
    (100, String, True)
    """
    if rows < 1:
        raise ParameterError("rows must be at least 1. Give for instance rows=20_000.")
    chance = np.random.default_rng(seed)
    people = _people(rows, chance)
    illness = _illness(people, chance)
    readmitted = chance.random(rows) < 1 / (1 + np.exp(-_risk(people, illness)))
    frame = pl.DataFrame(
        {
            "patient_id": identifiers(rows, chance),
            "age": people.age,
            "sex": people.sex,
            "postcode": postcodes(rows, chance, _POSTCODES),
            "admission_date": _dates(rows, chance),
            "occupation": choose(_JOBS, rows, chance),
            "marital_status": people.marital_status,
            "country_of_birth": choose(_COUNTRIES, rows, chance),
            "smoker": people.smoker,
            "bmi": np.round(people.bmi, 1),
            "systolic_pressure": _pressures(people, chance),
            "earlier_admissions": illness.earlier,
            "insurance": people.insurance,
            "ward": _wards(illness.diagnosis, chance),
            "diagnosis_group": np.array(_DIAGNOSES)[illness.diagnosis],
            TARGET: np.where(readmitted, "yes", "no"),
        }
    )
    return frame.with_columns(with_gaps(frame[name], share, chance) for name, share in _MISSING.items())


@dataclass(frozen=True, eq=False)
class _People:
    """What is true of each patient, recorded or not."""

    age: Whole
    sex: Words
    marital_status: Words
    smoker: npt.NDArray[np.bool_]
    bmi: Numbers
    insurance: Words


@dataclass(frozen=True, eq=False)
class _Illness:
    """Why they came (a place in ``_DIAGNOSES``), and how often before."""

    diagnosis: Whole
    earlier: Whole


def _people(rows: int, chance: np.random.Generator) -> _People:
    age = _ages(rows, chance)
    sex = np.where(chance.random(rows) < 0.5 + 0.002 * (age - 45), "female", "male")
    smoker = chance.random(rows) < np.where(age < 70, 0.31, 0.14)
    middle = 25.2 + 0.05 * np.minimum(age - 18, 45)
    bmi = middle * np.exp(chance.normal(0.0, 0.17, rows))
    insurance = choose({"public": 84.0, "private": 14.5, "none": 1.5}, rows, chance)
    return _People(age, sex, _marital_statuses(age, chance), smoker, bmi, insurance)


def _ages(rows: int, chance: np.random.Generator) -> Whole:
    """Ages of a hospital's adult patients: many old people, a thin end beyond 95."""
    weights = np.zeros(101)
    for first, end, weight in _AGE_GROUPS:
        weights[first:end] = weight / (end - first)
    weights[86:] *= np.exp(-0.25 * np.arange(15))
    return places(weights, rows, chance)


def _illness(people: _People, chance: np.random.Generator) -> _Illness:
    rows = len(people.age)
    diagnosis = np.zeros(rows, np.int64)
    starts = list(_DIAGNOSES_BY_AGE)
    for first, end in zip(starts, [*starts[1:], 200], strict=True):
        here = (people.age >= first) & (people.age < end)
        diagnosis[here] = places(_DIAGNOSES_BY_AGE[first], int(here.sum()), chance)
    often = np.isin(diagnosis, [_DIAGNOSES.index(name) for name in ("heart", "lung", "cancer", "mental")])
    expected = 0.25 + 0.012 * people.age + 0.7 * often
    return _Illness(diagnosis, chance.poisson(expected * chance.gamma(1.2, 1 / 1.2, rows)))


def _risk(people: _People, illness: _Illness) -> Numbers:
    """The log-odds of coming back."""
    diagnosis = np.array([_RISK.get(name, 0.0) for name in _DIAGNOSES])[illness.diagnosis]
    chest = np.isin(illness.diagnosis, [_DIAGNOSES.index("heart"), _DIAGNOSES.index("lung")])
    old, alone = people.age >= 65, np.isin(people.marital_status, ["widowed", "divorced"])
    score = -2.35 + diagnosis + 0.3 * np.minimum(illness.earlier, 4)
    score += 0.6 * old + 0.6 * (people.age >= 80)
    score += 0.7 * people.smoker + 0.9 * (people.smoker & chest)
    score += 1.2 * (old & alone) + 0.8 * ((people.bmi >= 31) & (people.age >= 45))
    score += 0.6 * ((illness.earlier >= 2) & old)
    score += np.where(people.insurance == "private", -1.0, 0.0) + np.where(people.insurance == "none", 1.6, 0.0)
    return np.asarray(1.5 * score)


def _wards(diagnosis: Whole, chance: np.random.Generator) -> Words:
    """Where they lie: in the ward of their diagnosis, or where there was a bed."""
    usual = np.array([_WARDS[name] for name in _DIAGNOSES])[diagnosis]
    anywhere = choose(dict.fromkeys(_WARDS.values(), 1.0), len(diagnosis), chance)
    return np.where(chance.random(len(diagnosis)) < 0.3, anywhere, usual)


def _dates(rows: int, chance: np.random.Generator) -> npt.NDArray[np.datetime64]:
    """Two years of admissions: more in winter, fewer at weekends."""
    days = np.arange(_DAYS)
    weekend = np.array([(_FIRST_DAY.weekday() + day) % 7 >= 5 for day in range(_DAYS)])
    weights = (1 + 0.2 * np.cos(2 * np.pi * days / 365.25)) * np.where(weekend, 0.6, 1.0)
    return np.asarray(np.datetime64(_FIRST_DAY, "D") + places(weights, rows, chance))


def _marital_statuses(age: Whole, chance: np.random.Generator) -> Words:
    draw = chance.random(len(age))
    widowed = np.clip((age - 55) / 80, 0.005, 0.5)
    married = np.clip((age - 20) / 35, 0.0, 0.62)
    status = np.where(draw < widowed + married, "married", "single")
    status = np.where(draw < widowed, "widowed", status)
    return np.where((draw > 0.88) & (age >= 28), "divorced", status)


def _pressures(people: _People, chance: np.random.Generator) -> Whole:
    middle = 112 + 0.3 * people.age + 0.5 * (people.bmi - 25)
    measured = np.round(middle + chance.normal(0, 13, len(middle)))
    return np.asarray(np.clip(measured, 60, 240), np.int64)


__all__ = ["IDENTIFIERS", "QUASI_IDENTIFIERS", "SENSITIVE", "TARGET", "make_patients"]
