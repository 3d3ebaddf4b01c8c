"""``incrowd release --keep-link``, ``--known-rows`` and ``--with``, as people write them."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter

import pytest

ROWS = ["--quasi-identifiers", "sex,ward,day", "--order", "day", "-k", "3"]


@pytest.fixture
def clinic(tmp_path):
    """Two files, and one that has both."""
    chance = random.Random(8)
    people = {f"id{n * 31 % 997:03d}": chance.choice("fm") for n in range(60)}
    visits = [
        (one, chance.choice(["er", "gp"]), f"2022-{chance.randrange(1, 13):02d}-{chance.randrange(1, 29):02d}")
        for one in people
        for _ in range(chance.choice([1, 1, 2, 4]))
    ]
    joined = [(one, people[one], ward, day) for one, ward, day in visits]
    files = {
        "patients.csv": [("patient_id", "sex"), *people.items()],
        "visits.csv": [("patient_id", "ward", "day"), *visits],
        "all.csv": [("patient_id", "sex", "ward", "day"), *joined],
    }
    for name, rows in files.items():
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    return tmp_path


def rows_of(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_whole_histories(command, clinic):
    words = ("release", "all.csv", "--person", "patient_id", "--keep-link", *ROWS, "--to", "out.csv")
    status, out, err = command(*words)
    assert (status, err) == (0, "")
    assert "whole-histories" in out
    own = {}
    for row in rows_of(clinic / "out.csv"):
        own.setdefault(row["patient_id"], []).append((row["sex"], row["ward"], row["day"]))
    assert min(Counter(tuple(sorted(history)) for history in own.values()).values()) >= 3
    assert len(own) == 60


def test_known_rows_as_json(command, clinic):
    words = ("release", "all.csv", "--person", "patient_id", "--keep-link", "--known-rows", "1", *ROWS, "--json")
    status, out, _ = command(*words, "--to", "out.csv")
    assert status == 0
    assert json.loads(out)["certificate"]["method"] == {"name": "known-rows", "parameters": {"rows": 1, "count": False}}


def test_two_tables_and_a_key(command, clinic):
    words = ("release", "patients.csv", "--with", "visits.csv", "--key", "patient_id", *ROWS, "--to", "out.csv")
    status, out, err = command(*words)
    assert (status, err) == (0, "")
    assert "Release of patients.csv" in out
    assert "Release of visits.csv" in out
    assert "out.visits.csv" in out
    persons, events = rows_of(clinic / "out.csv"), rows_of(clinic / "out.visits.csv")
    assert {row["patient_id"] for row in events} <= {row["patient_id"] for row in persons}
    static = {row["patient_id"]: row["sex"] for row in persons}
    own = {one: [] for one in static}
    for row in events:
        own[row["patient_id"]].append((row["ward"], row["day"]))
    assert min(Counter((static[one], tuple(sorted(history))) for one, history in own.items()).values()) >= 3


def test_orphans(command, clinic):
    with (clinic / "visits.csv").open("a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(("nobody", "er", "2022-01-01"))
    words = ("release", "patients.csv", "--with", "visits.csv", "--key", "patient_id", *ROWS, "--to", "out.csv")
    status, out, err = command(*words)
    assert (status, out) == (2, "")
    assert "leave them out: --orphans drop" in err
    assert not (clinic / "out.csv").exists()
    assert command(*words, "--orphans", "drop")[::2] == (0, "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--keep-link",), "Whose rows are they? Name the column: --person COLUMN."),
        (
            ("--person", "patient_id", "--known-rows", "2"),
            ": --known-rows is about rows that stay linked. Add --keep-link",
        ),
        (("--person", "patient_id", "--order", "day"), ": --order is about rows that stay linked. Add --keep-link"),
        (("--person", "patient_id", "--order", "day", "--known-rows", "1"), "--known-rows and --order are about rows"),
        (("--person", "patient_id", "--keep-link", "--method", "tdr"), "Name no method"),
        (("--person", "patient_id", "--method", "known-rows"), "Add --keep-link"),
        (("--person", "patient_id", "--keep-link", "--order", "none"), "no column 'none'"),
        (("--key", "patient_id"), "--with"),
        (("--with", "visits.csv"), "--key COLUMN"),
    ],
    ids=" ".join,
)
def test_what_does_not_fit_together_is_refused(command, clinic, words, told):
    status, out, err = command(
        "release", "all.csv", "--quasi-identifiers", "sex,ward", "-k", "3", *words, "--to", "out.csv"
    )
    assert (status, out) == (2, "")
    assert told in err


def test_too_many_rows_to_count_are_refused_at_once(command, tmp_path):
    lines = [f"p{person},{row}" for person in range(3) for row in range(900)]
    (tmp_path / "long.csv").write_text("\n".join(["who,q", *lines, ""]), encoding="utf-8")
    words = ("release", "long.csv", "--person", "who", "--keep-link", "--known-rows", "4", "--quasi-identifiers", "q")
    status, out, err = command(*words, "-k", "2", "--to", "out.csv")
    assert (status, out) == (2, "")
    assert "Keep at most" in err
    assert "--known-rows 4" in err
