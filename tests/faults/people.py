"""An invented table with everything a release has to do with, and the releases of it that faults are planted in."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyreadstat
import pytest

from incrowd import Run
from incrowd.tables.publishing.serialise import write_workbook
from incrowd.vocabulary.hierarchy import Hierarchy

ROWS, BLOCK, K = 400, 220, 6
QUASI_IDENTIFIERS = ["age", "weight", "sex", "job", "born"]
JOBS = {"care": ["nurse", "Nurse", "doctor"], "kitchen": ["cook", "baker"], "other": ["NA", "it's|%"]}


def people(seed: int = 1, rows: int = ROWS) -> pl.DataFrame:
    """People with an identifier, quasi-identifiers of every kind, a class, and columns of every other role."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, rows), rng.choice(["f", "m"], rows)
    job = rng.choice([each for some in JOBS.values() for each in some], rows)
    risk = age // 12 + 3 * (sex == "f") + 2 * np.isin(job, JOBS["care"])
    return pl.DataFrame(
        {
            "note": rng.choice(["plain", " padded", "=1+2", "café", "seven words"], rows),
            "patient": [f"p{number:05d}" for number in rng.permutation(rows)],
            "age": age,
            "weight": rng.normal(70, 9, rows).round(2),
            "sex": sex,
            "job": [None if at % 11 == 0 else str(each) for at, each in enumerate(job)],
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(days)) for days in rng.integers(0, 900, rows)],
            "ward": rng.choice(["01", "02", "1", "010", "#1"], rows),
            "visits": [None if at % 7 == 0 else int(each) for at, each in enumerate(rng.integers(0, 5, rows))],
            "remark": [f"{at * 7 % 50} came late" for at in range(rows)],
            "shoes": [36 + at * at % 11 for at in range(rows)],
            "diagnosis": rng.choice(["flu", "asthma", "none", "gout"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "ill": np.where((risk % 3 == 0) ^ (rng.random(rows) < 0.05), "yes", "no"),
        }
    )


def segregated() -> pl.DataFrame:
    """People whose sex follows from their job, but of three nurses and eight cooks: the two are counted together."""
    table = people()
    usual = dict(zip([job for some in JOBS.values() for job in some], ["f", "m"] * 4, strict=False))
    left, sexes = {"nurse": 3, "cook": 8}, []
    for job in table["job"].to_list():
        other = left.get(job, 0) > 0
        left[job] = left.get(job, 0) - 1
        sexes.append("fm"[(usual.get(job, "m") == "f") == other])
    return table.with_columns(sex=pl.Series([{"f": "m", "m": "f"}[sex] for sex in sexes]))


@dataclass(frozen=True)
class Case:
    """A release: where it is worked on, the formats, and what is asked for."""

    engine: str = "memory"
    method: str = "mondrian"
    numeric: str | None = None
    form: str | None = None
    redraw: int | None = None
    by_class: bool = False
    joint: bool = False
    given: str = "csv"
    written: str = "csv"
    require: str | None = None
    boxes: str | None = None
    on_rare: str | None = None
    hierarchies: bool = False
    at_most: int | None = None
    apart: str | None = None
    lose: str | None = None
    rarest: int | None = None
    known: str = " ".join(QUASI_IDENTIFIERS)
    coarsen: str | None = None
    preset: str | None = None
    keyed: bool = False
    persons: str | None = None

    def __str__(self) -> str:
        """What differs from the usual release."""
        said = [str(getattr(self, each.name)) for each in fields(self) if getattr(self, each.name) != each.default]
        return " ".join(["" if self.engine != "memory" else self.engine, *said]).strip()

    def request(self, folder: Path) -> dict[str, Any]:
        """The arguments of the release, its input and its target in a folder."""
        parameters = {name: getattr(self, name) for name in ("numeric", "boxes", "on_rare") if getattr(self, name)}
        known = self.known.split()
        request: dict[str, Any] = {
            "table": put(people(), folder / f"people.{self.given if self.engine != 'spark' else 'parquet'}"),
            "to": folder / f"release.{self.written}" if self.engine != "spark" else folder / "release",
            "quasi_identifiers": known,
            "identifiers": ["patient", *(unknown := [name for name in QUASI_IDENTIFIERS if name not in known])],
            "repeats": unknown,
            "drop": ["remark"],
            "private": ["shoes"],
            "sensitive": ["diagnosis"],
            "target": "ill",
            "class_sensitive": False,
            "k": K,
            "method": self.method,
            "parameters": parameters,
            "form": self.form,
            "redraw": self.redraw,
            "counts_by_class": self.by_class,
            "joint_counts": self.joint,
            "require": self.require,
            "lose": self.lose,
            "rarest": self.rarest,
        }
        if self.joint:
            request |= {"table": put(segregated(), request["table"])}
        if self.coarsen:
            rules = dict(rule.split("=") for rule in self.coarsen.split())
            zips = pl.Series("zip", ["02139", "03601", "90210-1234", "1234", None] * (ROWS // 5))
            request |= {"table": put(people().with_columns(zips), request["table"]), "reading": {"coarsen": rules}}
            left = [name for name in QUASI_IDENTIFIERS if name not in known and name not in rules]
            request |= {"identifiers": ["patient", *left], "repeats": left}
        if self.preset:
            beside = (
                pl.Series("mail", ["a@b.org", "x"] * (ROWS // 2)),
                pl.Series("zip", ["02139", "10115"] * (ROWS // 2)),
            )
            table = people().with_columns(*beside, pl.col("age") + 10)
            request |= {"table": put(table, request["table"]), "preset": self.preset}
            request |= {"identifiers": ["patient"], "repeats": []}
        if self.keyed:
            request |= {"table": put(visits(), request["table"])} | keyed_columns(folder)
            request |= {"identifiers": ["family", *unknown], "repeats": ["family", *unknown]}
        if self.persons:
            rows = misspelled() if self.persons == "misspelled" else returning()
            request |= {"table": put(rows, request["table"]), "person": "patient", "identifiers": unknown}
            request |= LINKED.get(self.persons, {})
            if self.persons in ("two tables", "orphans"):
                request |= two_tables(folder, orphans=self.persons == "orphans")
        if self.engine == "spark":
            request["run"] = Run(engine="spark")
        if self.hierarchies:
            request["hierarchies"] = {"job": job_hierarchy()}
        if self.at_most is not None:
            request["at_most"] = {"job": self.at_most}
        if self.apart is not None:
            request["apart"] = {"job": self.apart}
        if self.require and "k-map" in self.require:
            request["population"] = people(seed=2, rows=4 * ROWS).vstack(people())
        return request


PATIENTS = 80
LINKED: dict[str, dict[str, Any]] = {
    "linked": {"keep_link": True, "method": None},
    "ordered": {"keep_link": True, "method": None, "order": "born"},
    "known rows": {"keep_link": True, "method": None, "known_rows": 2},
    "misspelled": {"person_ids": "normalised"},
}
"""What is asked beside the person: whether recipients can follow persons, and how these are spelled."""


def returning() -> pl.DataFrame:
    """The same rows, of patients who came several times; their sex and job stay as they are."""
    rng = np.random.default_rng(21)
    who = rng.integers(0, PATIENTS, ROWS)
    sex, job = rng.choice(["f", "m"], PATIENTS), rng.choice(["nurse", "cook"], PATIENTS)
    return people().with_columns(
        pl.Series("patient", [f"p{int(number) * 37 % 101:03d}" for number in who]),
        pl.Series("sex", sex[who]),
        pl.Series("job", job[who]),
    )


def misspelled() -> pl.DataFrame:
    """The same, every other row with a space of no width in its person."""
    seen = pl.col("patient").str.replace("p", "p\u200b")
    return returning().with_columns(
        pl.when(pl.int_range(pl.len()) % 2 == 0).then(seen).otherwise("patient").alias("patient")
    )


def two_tables(folder: Path, *, orphans: bool = False) -> dict[str, Any]:
    """Patients with what does not change, and beside them what happened, perhaps also to others, which is kept."""
    rows = returning()
    static, events = ["patient", "sex", "job", "ward"], ["patient", "age", "born", "diagnosis", "ill"]
    patients = rows.select(static).unique("patient", maintain_order=True)
    table = put(patients[9:] if orphans else patients, folder / "patients.csv")
    asked = {"person": None, "identifiers": [], "repeats": [], "drop": [], "private": []}
    return {
        **asked,
        "table": table,
        "with_table": put(rows.select(events), folder / "events.csv"),
        "key_column": "patient",
        "orphans": "keep" if orphans else None,
        "quasi_identifiers": ["sex", "job", "age", "born"],
        "order": "born",
        "method": None,
    }


def visits() -> pl.DataFrame:
    """People with families of two, and dates that are known of most of them."""
    numbers = range(ROWS)
    admitted = [None if at % 9 == 0 else dt.date(2019, 1, 1) + dt.timedelta(days=at * 37 % 900) for at in numbers]
    return people().with_columns(
        pl.Series("family", [f"F{at % (ROWS // 2):04d}" for at in numbers]),
        pl.Series("admitted", admitted),
        pl.Series("left", [day and day + dt.timedelta(days=at % 20) for at, day in enumerate(admitted)]),
    )


KEY = "00112233445566778899aabbccddeeff0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def keyed_columns(folder: Path) -> dict[str, Any]:
    """Pseudonyms and shifted dates as they are asked for, with a key in a folder."""
    key = folder / "key.txt"
    key.write_text(KEY)
    key.chmod(0o600)
    asked = {"pseudonyms": ["patient"], "shift_dates": ["admitted", "left"], "shift_by": "family", "shift_days": 60}
    return {**asked, "key_file": key}


def job_hierarchy() -> Hierarchy:
    """Jobs in three groups."""
    return Hierarchy.from_paths("job", [(job, group, "*") for group, jobs in JOBS.items() for job in jobs])


def put(frame: pl.DataFrame, path: Path) -> Path:
    """The table as a file."""
    match path.suffix:
        case ".csv":
            frame.write_csv(path, null_value="?")
        case ".parquet":
            frame.write_parquet(path, row_group_size=BLOCK)
        case ".xlsx":
            write_workbook(frame, path)
        case ".jsonl":
            frame.write_ndjson(path)
        case ".sav" | ".dta":
            coded = frame.with_columns(pl.col("sex").replace_strict({"f": 1, "m": 2})).to_dict(as_series=False)
            write = pyreadstat.write_sav if path.suffix == ".sav" else pyreadstat.write_dta
            write(pl.DataFrame(coded), str(path), variable_value_labels={"sex": {1: "f", 2: "m"}})
        case ".db":
            plain = frame.with_columns(pl.col("born").cast(pl.String))
            with closing(sqlite3.connect(path)) as file, file:
                file.execute(f"CREATE TABLE people ({', '.join(plain.columns)})")
                file.executemany(f"INSERT INTO people VALUES ({', '.join('?' * plain.width)})", plain.rows())
            return path.with_name(f"{path.name}?table=people")
        case ".duckdb":
            with duckdb.connect(str(path)) as database:
                database.register("given", frame.to_arrow())
                database.execute("CREATE TABLE people AS FROM given")
            return path.with_name(f"{path.name}?table=people")
        case ".arrow":
            frame.write_ipc(path, record_batch_size=BLOCK)
    return path


PIECE_BY_PIECE = "from incrowd.verification import __main__, faithfulness; faithfulness.MOST_HELD = 0; __main__.serve()"
VERIFIERS = []  # of pieces: one process for all releases


@contextmanager
def at(engine: str):
    """Make the program work in blocks of few rows, and verify them piece by piece, where that is wanted."""
    from incrowd.rows import one_machine
    from incrowd.rows.blocks import held
    from incrowd.verification import process

    with pytest.MonkeyPatch.context() as patch:
        if engine == "blocks":
            patch.setattr(one_machine, "_TEXT", 0)
            patch.setattr(one_machine, "_CELLS", 0)
            patch.setattr(held, "block_rows", lambda *_: BLOCK)
            patch.setattr(process, "_COMMAND", ("-P", "-c", PIECE_BY_PIECE))
            patch.setattr(process, "_RUNNING", VERIFIERS)
        yield
