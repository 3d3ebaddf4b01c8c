"""Damaged files: a slice of ``python -m quality fuzz``, what it has turned up, and whether its judge can see."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from quality import fuzz as fuzzing
from quality.damage import BYTES, JSON, TEXT, in_entry
from quality.fuzz import Outcome, fuzz
from quality.readers import READERS, Reader, Seed
from quality.trial import Violation, damaged, judge

from incrowd.errors import FileFormatError, HeaderError, UnexpectedError
from support.examples import drawn

CORPUS = Path(__file__).with_name("fuzz_corpus")
ROOT = Path(__file__).parents[2]
CASES = drawn(100)


@pytest.fixture(autouse=True)
def _workers_find_this_package(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(name):
    outcome = fuzz(READERS[name], CASES, seed=7)
    assert outcome.violations == ()


PROGRAM = """
import pathlib, sys
from quality.readers import READERS
from quality.trial import judge

for path in map(pathlib.Path, sys.argv[1:]):
    print(path.name, flush=True)
    trouble = judge(READERS[path.name.split("-")[0]], path)
    if trouble:
        print(path.name, trouble, flush=True)
print("done")
"""


@pytest.mark.slow
def test_what_was_turned_up_stays_mended():
    """In a process of its own, which some of these files have killed."""
    files = sorted(CORPUS.iterdir())
    assert len(files) >= 10
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, files)],
        env={**os.environ, "INCROWD_DEBUG": "1", "RUST_BACKTRACE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines() == [*(file.name for file in files), "done"]


def reader(read):
    return Reader("planted", list, read, {".txt": TEXT})


def fail(error):
    def read(path):
        raise error

    return reader(read)


@pytest.mark.parametrize(
    ("planted", "trouble"),
    [
        (reader(len), "TypeError"),
        (fail(KeyError("x")), "KeyError at test_fuzz"),
        (fail(UnexpectedError("x")), "UnexpectedError"),
        (fail(type("PanicException", (BaseException,), {})("x")), "PanicException"),
        (fail(FileFormatError("the cell KANARIE-3")), "a cell in the message of FileFormatError"),
        (fail(HeaderError("7110042 is no name")), "a cell in the message"),
        (fail(FileFormatError("line 3")), None),
        (reader(lambda path: path.read_bytes()), None),
        (reader(lambda path: len(b"x" * (600 << 20))), "MB of memory"),
    ],
)
def test_the_judge_sees(tmp_path, planted, trouble):
    path = tmp_path / "x.txt"
    path.write_text("header\n1\n")
    told = judge(planted, path)
    assert told is None if trouble is None else trouble in told


def test_a_name_in_a_damaged_header_is_a_name(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("KANARIE-3,KANARIE-3\n1,2\n")
    assert judge(fail(HeaderError("Columns 1 and 2 ('KANARIE-3' and 'KANARIE-3')")), path) is None
    packed = tmp_path / "x.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert judge(fail(HeaderError("Columns 1 and 2 ('KANARIE-3' and 'KANARIE-3')")), packed) is None


def test_a_death_is_told_and_the_rest_goes_on(monkeypatch):
    asked = []

    def worker(name, folder, *numbers):
        asked.append(numbers)
        lines, status = {0: ("0\n1\n1 KeyError\n2\n", -11), 3: ("3\n", -14), 4: ("4\n5\n", 0)}.get(
            numbers[1] if numbers else -1, ("", 0)
        )
        return subprocess.CompletedProcess([], status, lines)

    monkeypatch.setattr(fuzzing, "_worker", worker)
    outcome = fuzz(READERS["csv"], 6, seed=1)
    assert asked == [(), (1, 0, 6), (1, 3, 6), (1, 4, 6)]
    assert [(one.case, one.trouble) for one in outcome.violations] == [
        (1, "KeyError"),
        (2, "killed by SIGSEGV"),
        (3, "more than 5 seconds"),
    ]


@pytest.mark.parametrize("ways", [BYTES, TEXT, JSON])
def test_every_way_damages_and_the_same_each_time(ways):
    data = json.dumps({"a": [1, 2, {"b": "c"}], "d": "text"}, indent=1).encode()
    for way in set(ways):
        results = [way(data, [data], Random(seed)) for seed in range(40)]
        assert len(set(results)) > 5, way.__name__
        assert results == [way(data, [data], Random(seed)) for seed in range(40)]


def test_a_case_is_the_same_each_time():
    seeds = [Seed(".csv", b"a,b\n1,2\n" * 9), Seed(".csv", b"x;y\n")]
    cases = [damaged(READERS["csv"], seeds, 1, case) for case in range(50)]
    assert cases == [damaged(READERS["csv"], seeds, 1, case) for case in range(50)]
    assert cases != [damaged(READERS["csv"], seeds, 2, case) for case in range(50)]


def test_the_page_keeps_what_was_not_measured_anew(tmp_path, monkeypatch):
    page = tmp_path / "quality.md"
    outcomes = {"csv": Outcome("csv", 20_000, (), 60.0), "plan": Outcome("plan", 5, (Violation("plan", 3, "x"),), 6.0)}
    monkeypatch.setattr(fuzzing, "fuzz", lambda reader, cases, seed: outcomes[reader.name])
    assert fuzzing.main(["plan", "--write", str(page)]) == 1
    assert fuzzing.main(["csv", "--write", str(page)]) == 0
    text = page.read_text()
    assert "damaged 20,005 times" in text
    assert "Violations: 1." in text
    assert text.index("| csv | 20,000 | 0 | 1.0 |") < text.index("| plan | 5 | 1 | 0.1 |")
    outcomes["plan"] = Outcome("plan", 7, (), 6.0)
    assert fuzzing.main(["plan", "--write", str(page)]) == 0
    assert "| plan | 7 | 0 | 0.1 |" in page.read_text()
    assert "Violations: 0." in page.read_text()


def sealed(said, payload):
    """The file of an entry that its owner's key vouches for."""
    from incrowd.releases.ledger.entry import FIRST, linked, payload_hash, plain

    link = linked({"kind": "release", "payload": payload_hash(payload), **said}, 0, FIRST, KEY)
    return plain(link.header) + b"\n" + link.mac.encode() + b"\n" + payload


KEY = b"k" * 32


@pytest.mark.parametrize(
    ("said", "payload"),
    [
        ({}, b"no Arrow"),
        ({"k": "5"}, b""),
        ({"files": [1]}, b""),
        ({"withdraws": "x"}, b""),
        ({"people": None}, b""),
    ],
)
def test_an_entry_that_its_owner_vouches_for_and_nobody_can_read(tmp_path, said, payload):
    path = tmp_path / "x.entry"
    path.write_bytes(sealed(said, payload))
    assert judge(READERS["ledger"], path) is None
    assert in_entry(KEY)(path.read_bytes(), [], Random(1)) != path.read_bytes()


def test_people_in_an_entry_of_other_columns(tmp_path):
    table = pa.table({"other": [1, 2]})
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    path = tmp_path / "x.entry"
    path.write_bytes(sealed({}, sink.getvalue()))
    assert judge(READERS["ledger"], path) is None
