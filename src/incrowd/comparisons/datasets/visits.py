"""A generated table of visits to try things on: a person has several rows."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.comparisons.datasets.invented import Numbers, Whole, Words, choose, identifiers, places, postcodes
from incrowd.errors import ParameterError

PERSON = "patient_id"
"""Whose visit it was."""
STATIC = ("sex", "birth_year", "postcode", "insurance", "blood_group")
"""The columns that do not change from visit to visit."""
QUASI_IDENTIFIERS = (*STATIC, "visit_date", "ward", "days")
"""The columns a neighbour, a colleague or an insurer may know."""
SENSITIVE = ("diagnosis_group",)
"""The column nobody else should learn."""
TARGET = "readmitted"
"""The class: whether the patient came back within 30 days of this visit."""

_ROWS_FOR_FOUR = 15  # visits of four patients, on average: 3.75 each
_AREAS = 120
_FIRST_DAY = datetime.date(2023, 1, 1)
_YEAR = 2023
_DAYS = 731
_INSURANCES = {"public": 84.0, "private": 14.5, "none": 1.5}
_BLOOD_GROUPS = {"A+": 37.0, "O+": 35.0, "B+": 9.0, "AB+": 4.0, "A-": 6.0, "O-": 6.0, "B-": 2.0, "AB-": 1.0}
_DIAGNOSES = ("heart", "lung", "cancer", "kidney", "digestive", "injury", "mental")
_WARDS = ("cardiology", "medicine", "oncology", "medicine", "surgery", "surgery", "psychiatry")
_RISK = np.array([0.9, 0.5, 1.1, 0.2, -0.6, -1.4, 0.0])
_YOUNG = (5.0, 8.0, 5.0, 6.0, 22.0, 34.0, 20.0)
_OLD = (30.0, 16.0, 17.0, 10.0, 13.0, 9.0, 5.0)
_FRAILTY = 4.0
"""Standard deviation of what makes a person come back at every visit, and is in no column. Who is in both parts of a
split is known again by what does not change; then this is learned, too, and a split by rows looks too good."""


def make_visits(patients: int = 8_000, seed: int = 7) -> pl.DataFrame:
    """Make a table of visits, 3.75 for each patient; the same number of patients and seed give the same table.

    Parameters
    ----------
    patients
        Number of patients.
    seed
        Where chance starts. The people are invented, so a seed gives nothing away here.

    Examples
    --------
    >>> visits = make_visits(100)
    >>> visits.height, visits["patient_id"].n_unique(), TARGET in visits.columns
    (375, 100, True)
    """
    if patients < 1:
        raise ParameterError("patients must be at least 1. Give for instance patients=8_000.")
    chance = np.random.default_rng(seed)
    people = _people(patients, chance)
    rows_of = _numbers_of_visits(patients, chance)
    who = np.repeat(np.arange(patients), rows_of)
    visit = _visits(people, who, chance)
    frame = pl.DataFrame(
        {
            PERSON: identifiers(patients, chance)[who],
            "sex": people.sex[who],
            "birth_year": _YEAR - people.age[who],
            "postcode": people.postcode[who],
            "insurance": people.insurance[who],
            "blood_group": people.blood_group[who],
            "visit_date": _dates(rows_of, chance),
            "ward": visit.ward,
            "days": visit.days,
            "systolic_pressure": visit.pressure,
            "diagnosis_group": np.array(_DIAGNOSES)[visit.diagnosis],
            TARGET: np.where(chance.random(len(who)) < 1 / (1 + np.exp(-visit.risk)), "yes", "no"),
        }
    )
    return frame[chance.permutation(frame.height)]


@dataclass(frozen=True, eq=False)
class _People:
    """What is true of each patient at every visit."""

    age: Whole
    sex: Words
    postcode: Words
    insurance: Words
    blood_group: Words
    main_diagnosis: Whole
    pressure: Numbers
    frailty: Numbers


@dataclass(frozen=True, eq=False)
class _Visits:
    """What is true of each visit."""

    diagnosis: Whole
    ward: Words
    days: Whole
    pressure: Whole
    risk: Numbers  # the log-odds of coming back


def _people(patients: int, chance: np.random.Generator) -> _People:
    age = np.clip(np.round(chance.normal(58, 19, patients)), 18, 99).astype(np.int64)
    return _People(
        age=age,
        sex=np.where(chance.random(patients) < 0.52, "female", "male"),
        postcode=postcodes(patients, chance, _AREAS),
        insurance=choose(_INSURANCES, patients, chance),
        blood_group=choose(_BLOOD_GROUPS, patients, chance),
        main_diagnosis=_diagnoses(age, chance),
        pressure=110 + 0.35 * age + chance.normal(0, 9, patients),
        frailty=chance.normal(0, _FRAILTY, patients),
    )


def _diagnoses(age: Whole, chance: np.random.Generator) -> Whole:
    young, old = (places(weights, len(age), chance) for weights in (_YOUNG, _OLD))
    return np.where(age < 50, young, old)


def _numbers_of_visits(patients: int, chance: np.random.Generator) -> Whole:
    """Geometric numbers, at least 1, which add up to 3.75 for each patient, rounded down."""
    wanted = patients * _ROWS_FOR_FOUR // 4
    numbers = chance.geometric(4 / _ROWS_FOR_FOUR, patients)
    while missing := wanted - int(numbers.sum()):
        able = np.flatnonzero(numbers > 1) if missing < 0 else np.arange(patients)
        chosen = chance.permutation(able)[: abs(missing)]
        numbers[chosen] += np.sign(missing)
    return np.asarray(numbers, np.int64)


def _visits(people: _People, who: Whole, chance: np.random.Generator) -> _Visits:
    """Most visits are about a patient's main diagnosis; the ward is that of the diagnosis, or where there was a bed."""
    rows, age = len(who), people.age[who]
    diagnosis = np.where(chance.random(rows) < 0.65, people.main_diagnosis[who], _diagnoses(age, chance))
    anywhere = choose(dict.fromkeys(_WARDS, 1.0), rows, chance)
    ward = np.where(chance.random(rows) < 0.2, anywhere, np.array(_WARDS)[diagnosis])
    days = 1 + chance.poisson(np.exp(0.7 + 0.012 * (age - 50) + 0.35 * _RISK[diagnosis]))
    pressure = np.clip(np.round(people.pressure[who] + chance.normal(0, 12, rows)), 60, 240)
    risk = -3.4 + 2.6 * _RISK[diagnosis] + 0.07 * (age - 58) + 0.56 * (days - 3) + 1.8 * (pressure > 150)
    risk += np.where(people.insurance[who] == "none", 2.0, 0.0) + people.frailty[who]
    return _Visits(diagnosis, ward, days, pressure.astype(np.int64), risk)


def _dates(rows_of: Whole, chance: np.random.Generator) -> npt.NDArray[np.datetime64]:
    """Two years of visits, at different days of a patient."""
    day = np.concatenate([np.sort(chance.choice(_DAYS, rows, replace=False)) for rows in rows_of])
    return np.asarray(np.datetime64(_FIRST_DAY, "D") + day)


__all__ = ["PERSON", "QUASI_IDENTIFIERS", "SENSITIVE", "STATIC", "TARGET", "make_visits"]
