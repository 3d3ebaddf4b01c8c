"""Releases made in blocks of a few rows: they keep what releases made in memory keep, for any table and format."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.api import release
from incrowd.errors import IncrowdError
from incrowd.methods.catalog import METHODS, find_method
from incrowd.rows import one_machine
from incrowd.rows.blocks import held as holding_blocks
from incrowd.tables.options import Measuring, Run
from support.method_parameters import ways_of
from support.strategies import TARGET, cases

pytestmark = pytest.mark.slow  # whole releases, verified block by block

SOME = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
BLOCK = 7
NOTE = "note"
GIVEN = ("csv", "csv.gz", "parquet", "arrow", "folder")
WRITTEN = ("csv", "csv.gz", "parquet", "arrow")


@contextmanager
def in_blocks(rows=BLOCK):
    """Every file is large, and blocks have a few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_machine, "_TEXT", 0)
        patch.setattr(one_machine, "_CELLS", 0)
        patch.setattr(holding_blocks, "block_rows", lambda *_: rows)
        yield


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def put(frame, folder, form):
    """The table as a file of a form, or as a folder of Parquet files."""
    path = folder / f"in.{form}"
    match form:
        case "csv":
            frame.write_csv(path)
        case "csv.gz":
            import gzip

            path.write_bytes(gzip.compress(frame.write_csv().encode()))
        case "parquet":
            frame.write_parquet(path, row_group_size=5)
        case "arrow":
            frame.write_ipc(path, record_batch_size=4)
        case "folder":
            path.mkdir()
            for place, part in enumerate(frame.iter_slices(9)):
                part.write_parquet(path / f"part-{place:03d}.parquet")
    return path


def asked(case, k, name, parameters, **more):
    return {
        "quasi_identifiers": list(case.names),
        "target": TARGET,
        "sensitive": [NOTE],
        "k": k,
        "method": name,
        "parameters": parameters,
        **more,
    }


def attempt(path, to, **asked):
    """A release, or the kind of error it was refused with."""
    try:
        return release(path, to=to, **asked)
    except IncrowdError as error:
        return type(error)


def read_back(path):
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    return pl.read_ipc(path) if path.suffix == ".arrow" else pl.read_csv(path, infer_schema=False)


def check(case, frame, made, to, k):
    """k on the written file, its other columns, and what is left of the run: by another way than the verification."""
    found = read_back(to)
    shown = [column.name for column in made.plan.written if column.source in case.names]
    assert min(Counter(found.select(shown).rows()).values(), default=k) >= k
    lost = frame.height - found.height
    assert 0 <= lost <= (k - 1 if find_method(made.plan.method).loses_rows else 0)
    pairs = Counter(zip(map(str, found[NOTE]), map(str, found[TARGET]), strict=True))
    before = Counter(zip(map(str, frame[NOTE]), map(str, frame[TARGET]), strict=True))
    assert pairs <= before
    assert sum((before - pairs).values()) == lost


@pytest.mark.parametrize("name", METHODS)
@SOME
@given(st.data())
def test_a_release_in_blocks_verifies_for_any_table_and_format(name, data):
    case = data.draw(cases())
    frame = case.frame.with_columns(pl.Series(NOTE, [f"n{i % 5}" for i in range(len(case.rows))]))
    k = data.draw(st.integers(1, len(case.rows)))
    parameters, seed = data.draw(st.sampled_from(ways_of(name))), data.draw(st.integers(0, 99))
    request = asked(case, k, name, parameters, run=Run(seed=seed))
    with TemporaryDirectory() as place:
        folder = Path(place)
        path = put(frame, folder, data.draw(st.sampled_from(GIVEN)))
        to = folder / f"out.{data.draw(st.sampled_from(WRITTEN))}"
        with in_blocks():
            made = attempt(path, to, **request)
        if isinstance(made, type):
            whole = attempt(frame, folder / "whole.parquet", **request)
            assert whole is made
            assert sorted(entry.name for entry in folder.iterdir()) == [path.name]
            return
        assert made.verdict.passed
        check(case, frame, made, to, k)
        certificate = f"{to.name}.certificate.json"
        assert sorted(entry.name for entry in folder.iterdir()) == sorted([path.name, to.name, certificate])


def people(rows=200):
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "pay": [None if i % 17 == 0 else float(w) for i, w in enumerate(rng.normal(70, 9, rows).round(1))],
            "job": [None if i % 13 == 0 else str(j) for i, j in enumerate(rng.choice(["cook", "=1+2", "a|b%"], rows))],
            "born": (np.datetime64("1950-01-01") + rng.integers(0, 20000, rows)).astype("datetime64[D]"),
            "note": [f"n{i % 7}" for i in range(rows)],
            "ill": rng.choice(["y", "n"], rows),
        }
    )


PEOPLE = {"quasi_identifiers": ["age", "pay", "job", "born"], "target": "ill", "k": 6}


@pytest.mark.parametrize(("name", "written"), [("kactus", "csv"), ("mondrian", "parquet"), ("iack", "arrow")])
def test_the_same_seed_gives_the_same_bytes_whatever_the_file(tmp_path, name, written):
    """The release depends on rows and seed, not on the form of the input, nor on how many work at it."""
    found = set()
    for form in ("parquet", "folder"):
        path = put(people(), tmp_path, form)
        with in_blocks(70):
            release(path, **PEOPLE, method=name, run=Run(seed=3), to=tmp_path / f"{form}.{written}")
        found.add(
            (tmp_path / f"{form}.{written}").read_bytes()
            if written != "csv.gz"
            else read_back(tmp_path / f"{form}.{written}").write_csv().encode()
        )
    assert len(found) == 1


def test_another_seed_gives_another_order(tmp_path):
    path = put(people(), tmp_path, "parquet")
    with in_blocks(70):
        for seed in (3, 4):
            release(path, **PEOPLE, run=Run(seed=seed), to=tmp_path / f"{seed}.csv")
    assert (tmp_path / "3.csv").read_bytes() != (tmp_path / "4.csv").read_bytes()


def test_rows_are_not_in_the_order_of_the_input(tmp_path):
    rows = 3000
    frame = pl.DataFrame({"age": [i % 7 for i in range(rows)], "place": [f"{i:05d}" for i in range(rows)]})
    path = put(frame, tmp_path, "parquet")
    with in_blocks(1100):
        made = release(
            path, quasi_identifiers=["age"], method="mondrian", k=5, sensitive=["place"], to=tmp_path / "out.parquet"
        )
    order = made.table["place"].cast(pl.Int64).to_numpy()
    assert abs(np.corrcoef(order, np.arange(rows))[0, 1]) < 4 / np.sqrt(rows)
    assert sorted(order) == list(range(rows))


def test_progress_tells_rows_speed_and_time_left(tmp_path):
    said = []
    path = put(people(), tmp_path, "csv")
    with in_blocks(50):
        release(path, **PEOPLE, to=tmp_path / "out.csv", progress=said.append)
    assert "verifying" in said  # whole, for it is small
    for stage in ("encoding", "applying"):
        assert stage in said
        told = [line for line in said if line.startswith(f"{stage}: ")]
        assert told[-1].startswith(f"{stage}: 200 of 200 rows, ")
        assert all(" rows/s, " in line and line.endswith(" s left") for line in told)


def test_accuracy_is_measured_on_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr("incrowd.releases.accuracy.LARGEST", 120)
    path = put(people(), tmp_path, "parquet")
    with in_blocks(60):
        made = release(path, **PEOPLE, measuring=Measuring(accuracy=True), to=tmp_path / "out.parquet")
    assert 0 <= made.report.accuracy.after <= 1


def test_a_release_for_this_process_comes_back_as_a_frame(tmp_path):
    path = put(people(), tmp_path, "folder")
    before = set(os.listdir(tmp_path))
    made = release(path, **PEOPLE)
    assert made.table.height == 200
    assert set(os.listdir(tmp_path)) - before <= {"incrowd"}
