"""Counts of unchanged columns as values: what they say of themselves, and as JSON."""

import json
from dataclasses import replace

import pytest

from incrowd.verification.unchanged_counts import (
    Alone,
    GiveBack,
    NotCounted,
    Remedy,
    SetCounts,
    SinglingSet,
    UnchangedCounts,
)

COUNTS = UnchangedCounts(
    rows=90,
    sets=(SetCounts(("age", "sex"), 10, 12, 0), SetCounts(("sex",), 30, 31, 7)),
    people_below_k=7,
    hidden_cells=150,
    given_back=60,
    by=(GiveBack(("code",), "sex", 40), GiveBack(("a", "b"), "age", 20)),
    alone=Alone(
        without_class=5,
        with_class=6,
        not_private=3,
        not_called_private=2,
        best=(SinglingSet(("code",), 3), SinglingSet(("a", "code"), 4, exact=False)),
        telling=SinglingSet(("code",), 3),
        roles={"code": "other", "a": "private", "b": "target"},
    ),
    not_counted=(NotCounted("age", "too few rows to tell"),),
    advice=Remedy(("code", "a"), 30),
)


@pytest.mark.parametrize(
    "counts",
    [
        COUNTS,
        replace(COUNTS, advice=None, not_counted=(), by=()),
        replace(COUNTS, alone=replace(COUNTS.alone, telling=None, best=())),
    ],
)
def test_counts_are_read_back_as_they_were_written(counts):
    data = json.loads(json.dumps(counts.to_json()))
    assert data == counts.to_json()
    assert UnchangedCounts.from_json(data) == counts
    assert data == counts.to_json(), "reading changes nothing"


def test_all_sets_of_a_size_were_compared_unless_something_else_is_said():
    assert SinglingSet(("code",), 3).exact


def test_what_is_written():
    data = COUNTS.to_json()
    assert data["effective_k"] == 12
    assert data["sets"][1] == {"columns": ["sex"], "k": 30, "effective_k": 31, "people_below_k": 7}
    assert data["by"][1] == {"columns": ["a", "b"], "quasi_identifier": "age", "cells": 20}
    assert data["alone"]["best"][1] == {"columns": ["a", "code"], "people": 4, "exact": False}
    assert data["alone"]["best"][0]["exact"] is True
    assert data["advice"] == {"columns": ["code", "a"], "effective_k": 30}


@pytest.mark.parametrize(
    ("left", "effective_k", "sound"),
    [((12, 31), 12, True), ((10, 30), 10, True), ((9, 30), 9, False), ((10, 29), 10, False), ((40, 30), 30, True)],
)
def test_k_is_kept_if_every_set_keeps_its_own(left, effective_k, sound):
    sets = tuple(replace(one, effective_k=k) for one, k in zip(COUNTS.sets, left, strict=True))
    counts = replace(COUNTS, sets=sets)
    assert (counts.effective_k, counts.sound) == (effective_k, sound)
