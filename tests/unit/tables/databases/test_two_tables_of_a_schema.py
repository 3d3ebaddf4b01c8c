"""Persons and their events from two tables of a real server, released as files under the same pseudonyms."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

import incrowd
from incrowd.tables.databases.tables import Address
from incrowd.tables.databases.writing import staged_table
from incrowd.tables.options import Run
from support.postgresql_server import written_back

pytestmark = pytest.mark.slow  # a server is started

PATIENTS, VISITS = (f"postgresql:///clinic?table={name}" for name in ("patients", "visits"))


def put(frame, address):
    with staged_table(Address.parse(address)) as staged:
        staged.write([frame])
        written_back(staged).read_all()


def test_both_are_read_from_the_server_and_counted_together(clinic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keys = [f"k{number * 17 % 97:02d}" for number in range(60)]
    put(pl.DataFrame({"id": keys, "sex": ["f", "m", "m"] * 20}), PATIENTS)
    rows = [(key, "er" if place % 2 else "gp") for place, key in enumerate(keys[:50]) for _ in range(1 + place % 3)]
    put(pl.DataFrame(rows, schema=["id", "ward"], orient="row"), VISITS)
    made = incrowd.release(
        PATIENTS,
        with_table=VISITS,
        key_column="id",
        quasi_identifiers=["sex", "ward"],
        k=4,
        to=tmp_path / "out.csv",
        run=Run(seed=2),
    )
    assert made.events.path == tmp_path / "out.visits.csv"
    static = dict(pl.read_csv(made.path).rows())
    own = {one: [] for one in static}
    for pseudonym, ward in pl.read_csv(made.events.path).rows():
        own[pseudonym].append(str(ward))
    assert len(static) == 60
    assert min(Counter((static[one], tuple(sorted(history))) for one, history in own.items()).values()) >= 4
