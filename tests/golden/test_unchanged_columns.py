"""Worked examples of effective k and of people alone by unchanged columns."""

import json
from pathlib import Path

import pytest

from incrowd.verification.unchanged import count_unchanged
from incrowd.verification.unchanged_counts import UnchangedCounts
from support.unchanged_tables import coded, outcome

CASES = json.loads(Path(__file__).with_name("unchanged_columns.json").read_text(encoding="utf-8"))["cases"]


def allowed(cell, values):
    match cell:
        case None:
            return None
        case {"set": members}:
            return set(members)
        case {"interval": [low, high]}:
            return {value for value in values if value is not None and low < value <= high}
        case _:
            return {cell}


def table_of(case):
    rows = [(own, cells, unchanged) for times, own, cells, unchanged in case["rows"] for _ in range(times)]
    names = case["quasi_identifiers"]
    quasi = {name: [own[at] for own, _, _ in rows] for at, name in enumerate(names)}
    shown = {name: [cells[at] for _, cells, _ in rows] for at, name in enumerate(names)}
    return {
        "quasi": quasi,
        "cells": {name: [json.dumps(cell) for cell in cells] for name, cells in shown.items()},
        "allows": {
            name: {json.dumps(cell): allowed(cell, set(quasi[name])) for cell in cells} for name, cells in shown.items()
        },
        "unchanged": {name: [own[at] for _, _, own in rows] for at, name in enumerate(case["unchanged"])},
        "roles": case["unchanged"],
        "k": case["k"],
    }


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_worked_examples(case):
    counts = count_unchanged(*coded(table_of(case)))
    wanted = {name: value for name, value in case["expected"].items() if name != "nominal_k"}
    counted = outcome(counts)
    counted["alone"].pop("not_private")  # the worked examples do not state it
    assert {name: counted[name] for name in wanted} == wanted
    assert UnchangedCounts.from_json(json.loads(json.dumps(counts.to_json()))) == counts


def test_there_are_26_examples():
    assert len(CASES) == 26
