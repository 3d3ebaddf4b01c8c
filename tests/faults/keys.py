"""Faults of pseudonyms and shifted dates: they are not what the key makes, or the key gets out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import polars as pl

from faults.people import KEY
from faults.planting import BOTH, MEMORY, plant

KEYED = "incrowd.tables.reading.keyed"
CERTIFICATE = "incrowd.report.certificate:certificate"


@plant(f"{KEYED}:pseudonym", BOTH, keyed=True)
def a_pseudonym_has_no_key(original, key, value):
    """Pseudonyms are a hash that anybody can try identifiers with."""
    return f"p_{hashlib.sha256(value.encode()).hexdigest()[:32]}"


@plant(f"{KEYED}:pseudonym", (MEMORY,), keyed=True, given="parquet", written="parquet")
def the_key_of_pseudonyms_is_another(original, key, value):
    """Pseudonyms are made with a key that everybody knows."""
    return original(bytes(32), value)


@plant(f"{KEYED}:pseudonym", BOTH, keyed=True)
def two_persons_have_one_pseudonym(original, key, value):
    """One person has the pseudonym of another."""
    return original(key, "p00017" if value == "p00023" else value)


@plant(f"{KEYED}:KeyedCells._pseudonyms", BOTH, keyed=True)
def pseudonyms_are_swapped(original, self, cells):
    """Two persons have each other's pseudonym."""
    made = original(self, cells)
    return pl.concat([made.slice(1, 1), made.slice(0, 1), made.slice(2)])


@plant(f"{KEYED}:KeyedCells._pseudonyms", BOTH, keyed=True)
def an_identifier_is_left(original, self, cells):
    """One identifier is released as it is."""
    return pl.concat([cells.slice(0, 1), original(self, cells).slice(1)])


@plant(f"{KEYED}:KeyedCells._pseudonyms", (MEMORY,), keyed=True)
def identifiers_are_not_replaced(original, self, cells):
    """No identifier is replaced."""
    return cells


@plant(f"{KEYED}:KeyedCells._shifted", BOTH, keyed=True)
def one_date_is_shifted_by_a_day_more(original, self, cells, days):
    """One row is shifted by another number of days than the key says."""
    return original(self, cells, pl.concat([days.slice(0, 1), days.slice(1, 1) + 1, days.slice(2)]))


@plant(f"{KEYED}:KeyedCells._shifted", BOTH, keyed=True, given="parquet", written="parquet")
def a_date_stays(original, self, cells, days):
    """One date is released as it is."""
    return pl.concat([original(self, cells, days).slice(0, 1), cells.slice(1, 1), original(self, cells, days).slice(2)])


@plant(f"{KEYED}:KeyedCells._shifts", (MEMORY,), keyed=True)
def rows_of_a_person_are_shifted_apart(original, self, cells):
    """The second row of a person is shifted by other days than the first."""
    days = original(self, cells)
    second = pl.select(~cells.is_first_distinct()).to_series()
    return pl.select(pl.when(second).then(days + 1).otherwise(days)).to_series()


@plant(f"{KEYED}:shift", (MEMORY,), keyed=True, given="parquet")
def everybody_is_shifted_alike(original, key, value, days):
    """All dates are shifted by the same days."""
    return days


@plant(f"{KEYED}:shift", (MEMORY,), keyed=True)
def dates_are_shifted_further_than_stated(original, key, value, days):
    """Dates are shifted by more days than was asked for."""
    return original(key, value, 2 * days)


@plant(f"{KEYED}:keyed", (MEMORY,), keyed=True)
def a_column_of_dates_is_forgotten(original, source, keying):
    """The last column of dates is not shifted."""
    return original(source, replace(keying, shifted=keying.shifted[:-1]))


@plant(f"{KEYED}:keyed", (MEMORY,), keyed=True)
def nothing_is_made_with_the_key(original, source, keying):
    """Pseudonyms and shifts are asked for, and forgotten."""
    return source


def stated(change):
    """The certificate with a change."""

    def faulty(original, *arguments, **named):
        data = json.loads(json.dumps(original(*arguments, **named)))
        change(data)
        return data

    return faulty


@plant(CERTIFICATE, (MEMORY,), keyed=True)
def the_key_is_in_the_certificate(original, *arguments, **named):
    """The certificate names the key as the one who is responsible."""
    return stated(lambda data: data.update(responsible=f"key {KEY.upper()}"))(original, *arguments, **named)


@plant(CERTIFICATE, (MEMORY,), keyed=True)
def the_certificate_states_a_larger_shift(original, *arguments, **named):
    """The certificate states that dates are shifted further than they are."""
    return stated(lambda data: data["shifted_dates"].update(days=182))(original, *arguments, **named)


@plant(CERTIFICATE, (MEMORY,), keyed=True)
def the_certificate_does_not_state_pseudonyms(original, *arguments, **named):
    """The certificate is silent about pseudonyms."""
    return stated(lambda data: data.pop("pseudonyms"))(original, *arguments, **named)


@plant(CERTIFICATE, (MEMORY,), keyed=True)
def the_certificate_calls_pseudonyms_a_protection(original, *arguments, **named):
    """The certificate states that pseudonyms protect."""
    return stated(lambda data: data["pseudonyms"].update(protection="strong"))(original, *arguments, **named)
