"""Invented visits of patients, and releases of them that keep their promises, to be judged or to be spoiled."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from incrowd.tables.publishing.serialise import write_table
from incrowd.verification.request import Hint, InputFile, Request
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.randomness import fresh_frame
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role

PATIENTS, K = 40, 10
QUASI = Role.QUASI_IDENTIFIER
COLUMNS = (
    Column("patient", Role.PERSON, ColumnType.TEXT),
    Column("sex", QUASI),
    Column("ward", QUASI),
    Column("day", QUASI, ColumnType.INTEGER),
    Column("ill", Role.TARGET),
)
STATIC = (Column("patient", Role.PERSON, ColumnType.TEXT), Column("sex", QUASI), Column("smokes", Role.TARGET))


def visits(patients=PATIENTS):
    """Two or three visits of every patient; the third is one that nobody may keep."""
    rng = np.random.default_rng(7)
    rows = [
        {
            "patient": f"{'ab'[number % 2]}{number}",
            "sex": "fm"[number % 2],
            "ward": "xyz"[visit],
            "day": dt.date(2024, 1, 1) + dt.timedelta(days=int(start) + visit * (10 + number % 5)),
            "ill": str(rng.choice(["flu", "gout", "none"])),
        }
        for number, start in enumerate(rng.integers(0, 300, patients))
        for visit in range(2 + (number % 4 == 0))
    ]
    return pl.DataFrame(rows)[rng.permutation(len(rows)).tolist()]


def patients(patients=PATIENTS):
    """One row for each patient."""
    rng = np.random.default_rng(8)
    numbers = rng.permutation(patients).tolist()
    return pl.DataFrame(
        {
            "patient": [f"{'ab'[number % 2]}{number}" for number in numbers],
            "sex": ["fm"[number % 2] for number in numbers],
            "smokes": rng.choice(["yes", "no"], patients).tolist(),
        }
    )


def pseudonyms(keys, seed=5):
    """A pseudonym of each different key."""
    rng = np.random.default_rng(seed)
    return {key: f"p{rng.bytes(16).hex()}" for key in sorted(set(keys))}


@dataclass
class Released:
    """A release: the input, which of its rows were released in which order, and what they show."""

    table: pl.DataFrame
    origin: np.ndarray
    shown: pl.DataFrame
    columns: tuple = COLUMNS
    said: dict = field(default_factory=dict)

    def request(self, folder, name="release.csv", pieces=1, **changes):
        """Write everything down, and what is asked."""
        source, path = folder / f"input-{name}".replace(".parquet", ".csv"), folder / name
        self.table.write_csv(source, null_value="?")
        write_table(fresh_frame(self.shown), path, FileForm.of(path))
        np.save(folder / f"{name}.npy", self.origin)
        parts = tuple(len(part) for part in np.array_split(self.origin, pieces))
        asked = Request(
            input=InputFile(source, "csv", missing=("?", "*")),
            release=path,
            form=FileForm.of(path),
            columns=self.columns,
            requirement=KAnonymity(K),
            hint=Hint(folder / f"{name}.npy", parts),
            persons=Persons("patient", **self.said),
            left_out=self.table.height - len(self.origin),
            scratch=folder,
        )
        return replace(asked, **changes)


def days_shown(table):
    """Days since the first visit, in two bins."""
    first = pl.col("day").min().over("patient")
    return pl.when(pl.col("day") == first).then(pl.lit("(-1, 0]")).otherwise(pl.lit("(0, 60]"))


def shuffled(rows, seed=11):
    return np.random.default_rng(seed).permutation(rows)


def unlinked(table=None):
    """All visits; the day is hidden, and the ward with it."""
    table = visits() if table is None else table
    order = shuffled(np.arange(table.height))
    hidden = pl.lit(None, pl.String)
    shown = table[order.tolist()].select("sex", hidden.alias("ward"), hidden.alias("day"), "ill")
    columns = tuple(replace(one, type=ColumnType.DATE) if one.name == "day" else one for one in COLUMNS)
    return Released(table, order, shown, columns)


def linked(table=None, **said):
    """The first two visits of every patient, under pseudonyms; days since the first one in bins."""
    table = visits() if table is None else table
    numbered = table.with_row_index("row").with_columns(days_shown(table).alias("day"))
    kept = shuffled(numbered.filter(pl.col("ward") != "z")["row"].to_numpy().astype(np.int64))
    names = pseudonyms(table["patient"])
    shown = numbered[kept.tolist()].select(pl.col("patient").replace_strict(names), "sex", "ward", "day", "ill")
    return Released(table, kept, shown, said={"linked": True, "order": "day", **said})


def static(table=None):
    """Every patient, under the pseudonyms of the visits."""
    table = patients() if table is None else table
    order = shuffled(np.arange(table.height), 12)
    names = pseudonyms(visits()["patient"])
    shown = table[order.tolist()].with_columns(pl.col("patient").replace_strict(names))
    return Released(table, order, shown, STATIC, {"linked": True})
