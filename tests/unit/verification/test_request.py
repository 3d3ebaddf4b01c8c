"""A request is a document: what is read back is what was written, and what is not said is the usual."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from incrowd.verification.request import Drawn, Expected, Hint, InputFile, Original, Originals, Request
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from incrowd.vocabulary.schema import Column, ColumnType, Role

JOBS = Hierarchy.from_paths("job", [["cook", "*"], ["nurse", "*"]])
COLUMNS = (
    Column("id", Role.IDENTIFIER),
    Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
    Column("job", Role.QUASI_IDENTIFIER, hierarchy=JOBS),
    Column("pain", Role.SENSITIVE, ColumnType.ORDERED, ("no", "söme")),
    Column("ill", Role.TARGET),
)
LEAST = Request(
    InputFile(Path("/data/people.csv"), "csv"),
    Path("/data/out.csv"),
    FileForm(),
    COLUMNS,
    KAnonymity(5),
    Hint(Path("/data/origin.npy"), (7,)),
)
FULL = replace(
    LEAST,
    input=InputFile(Path("/data/people.csv"), "csv", ";", "latin-1", "gzip", ("?", "–")),
    form=FileForm("csv", "\t", "zstd", "?"),
    requirement=Together((KAnonymity(5), DistinctDiversity(2))),
    hint=Hint(Path("/data/origin.npy"), (3, 4), {"age": (Path("/data/low.npy"), Path("/data/high.npy"))}),
    groups=Path("/data/out.groups.csv"),
    typed=frozenset({"job", "age"}),
    counted=True,
    drawn=Drawn(2, Path("/data/counts.key"), {"age": ["(-inf, 30]", "(30, inf)"]}, (("age", "sex"),)),
    levels=True,
    extremes=True,
    loses_rows=True,
    left_out=3,
    seeded=True,
    file=False,
    rarest=20,
    at_most={"job": 1},
    lose="2%",
    population=InputFile(Path("/data/all.parquet"), "parquet"),
    memory=10**9,
    threads=3,
    scratch=Path("/data/scratch"),
)


@pytest.mark.parametrize("asked", [LEAST, FULL], ids=["least", "full"])
def test_what_is_read_is_what_was_written(asked):
    again = Request.from_text(asked.to_text())
    for one in fields(Request):
        mine, theirs = getattr(asked, one.name), getattr(again, one.name)
        assert theirs == mine
        assert type(theirs) is type(mine)
    assert again.to_text() == asked.to_text()


def test_what_is_not_said_is_the_usual():
    least = Request(*(getattr(LEAST, one.name) for one in fields(Request)[:6]))
    assert least.role(Role.OTHER) == ()
    assert {one.name: getattr(least, one.name) for one in fields(Request)[6:]} == {
        "groups": None,
        "typed": frozenset(),
        "counted": False,
        "drawn": None,
        "levels": False,
        "extremes": False,
        "loses_rows": False,
        "left_out": 0,
        "seeded": False,
        "file": True,
        "preset": None,
        "own_roles": frozenset(),
        "own_rules": frozenset(),
        "rarest": 0,
        "at_most": {},
        "apart": {},
        "lose": None,
        "persons": None,
        "static": None,
        "together": None,
        "orphans": "refuse",
        "persons_of": None,
        "population": None,
        "memory": None,
        "threads": 1,
        "scratch": None,
    }


def test_intervals_end_at_no_value_unless_that_was_asked_for():
    asked = Expected([], LEAST.role(Role.TARGET), [], 0)
    assert (asked.extremes, asked.may_lose) == (False, 0)


def test_the_document_is_plain():
    data = json.loads(FULL.to_text())
    assert data["typed"] == ["age", "job"]
    assert data["input"]["missing"] == ["?", "–"]
    assert data["release"] == "/data/out.csv"
    assert "söme" in FULL.to_text()  # as people write it
    here = json.loads(replace(LEAST, release=Path("out.csv")).to_text())
    assert here["release"] == str(Path.cwd() / "out.csv")


@pytest.mark.parametrize(
    ("role", "names"),
    [
        (Role.IDENTIFIER, ("id",)),
        (Role.QUASI_IDENTIFIER, ("age", "job")),
        (Role.SENSITIVE, ("pain",)),
        (Role.TARGET, ("ill",)),
        (Role.OTHER, ()),
    ],
)
def test_columns_by_their_role(role, names):
    assert LEAST.role(role) == names


def test_a_whole_table_is_one_piece():
    origin = np.array([2, 0, 1])
    whole = Original(pa.table({"a": [1, 2, 3]}), origin, 9)
    pieces = Originals.of(whole)
    assert (pieces.rows, pieces.sizes) == (9, (3,))
    assert pieces.piece(0) is whole
    assert pieces.origin is origin
    assert Originals.of(pieces) is pieces
