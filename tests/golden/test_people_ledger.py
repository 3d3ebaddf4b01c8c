"""Worked examples of the ledger: marks, decisions about releases in turn, and books that somebody changed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from incrowd.releases.ledger.entry import FIRST, RELEASE, ChainLink, Head, LedgerEntry, Recorded, fault, linked
from incrowd.releases.ledger.judging import CANNOT, REFUSED, Beside, judge
from incrowd.releases.ledger.marks import MISSING, CellContents, Marker, canonical, to_bytes
from incrowd.releases.ledger.overlap import MarkedTable, Overlap
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.schema import Column, Role, Schema

GOLDEN = json.loads((Path(__file__).parent / "people_ledger.json").read_text(encoding="utf-8"))
KEY = bytes.fromhex(GOLDEN["key"])
BOOKS = GOLDEN["books"]


@pytest.mark.parametrize("case", GOLDEN["marks"], ids=str)
def test_marks(case):
    columns = [
        CellContents(np.array([0]), (MISSING if cell is None else canonical(str(cell)), MISSING))
        for cell in case["cells"]
    ]
    assert to_bytes(Marker(KEY).marks(columns, case["purpose"])).hex() == case["expected"]


def table_of(release) -> MarkedTable:
    frame, roles = {}, {}
    identifiers = [person[0] for person in release["people"]]
    if None not in identifiers:
        frame["number"], roles["number"] = list(map(str, identifiers)), Role.IDENTIFIER
    for place, name in enumerate(release["columns"]):
        frame[name] = [str(person[1][place]) for person in release["people"]]
        roles[name] = Role.QUASI_IDENTIFIER if name in release["quasi_identifiers"] else Role.OTHER
    schema = Schema(tuple(Column(name, role) for name, role in roles.items()))
    source = Source(pl.DataFrame(frame), Origin("csv"))
    return MarkedTable(source, schema, Marker(KEY), release.get("same_columns", {}))


def told(overlap: Overlap) -> dict:
    known = {"entry": overlap.number, "by": overlap.by, "relation": overlap.relation}
    if overlap.shared is not None:
        known |= {"shared": overlap.shared, "now": overlap.now, "then": overlap.then}
    return known


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_decisions(case):
    entries: list[Recorded] = []
    for release, expected in zip(case["releases"], case["expected"], strict=True):
        table = table_of(release)
        classes = np.array([-1 if person[2] is None else person[2] for person in release["people"]], np.int32)
        beside = Beside(table, entries, release["request"], release.get("other_people", ()))
        found = judge(
            beside,
            classes,
            release["k"],
            presence_known=not release.get("presence_unknown", False),
            despite=release.get("despite_earlier", False),
        )
        got = {"overlaps": [told(one) for one in beside.overlaps], "decision": found.decision, "status": found.status}
        if found.joint is not None:
            got |= {"k": found.joint.k, "below_k": vars(found.joint.below), "smallest": vars(found.joint.smallest)}
        assert got == expected
        if found.decision not in (REFUSED, CANNOT):
            entry = LedgerEntry(
                RELEASE,
                request=release["request"],
                k=release["k"],
                quasi_identifiers=tuple(release["quasi_identifiers"]),
                people=len(classes),
            )
            link = linked(entry.to_json(), len(entries), FIRST, KEY)
            people = table.people_of(classes)
            entries.append(Recorded(entry, link, lambda people=people: people))


def test_a_chain_is_made():
    before, made = FIRST, []
    for number, body in enumerate(BOOKS["bodies"]):
        made.append(linked(body, number, before, KEY))
        before = made[-1].mac
    assert [{"header": dict(link.header), "mac": link.mac} for link in made] == BOOKS["entries"]
    assert Head.of(len(made), before, KEY).to_json() == BOOKS["head"]


@pytest.mark.parametrize("case", BOOKS["cases"], ids=lambda case: case["name"])
def test_what_was_done_to_a_book(case):
    links = [
        ChainLink(dict(BOOKS["entries"][number]["header"]), BOOKS["entries"][number]["mac"]) for number in case["kept"]
    ]
    if "edit" in case:
        place, name, value = case["edit"]
        links[place].header[name] = value
    head = None if case.get("no_head") else Head(**BOOKS["head"])
    key = bytes.fromhex(case["key"]) if "key" in case else KEY
    assert fault(links, head, key) == case["expected"]
