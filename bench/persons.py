"""What persons with several rows cost: the same table, each row a person, or each person several rows."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from bench.commands import CAP, release
from bench.people import ATTRIBUTES, decode, encode, expand, write_people
from bench.process import Cost, Workshop
from bench.renamed import people_with_hierarchies
from bench.setting import Setting, tell
from experiments.pages import Goal, Section, Table

METHODS, KS = ("kactus-plus", "infogain-mondrian"), (150, 10)
QUICK_KS = KS[:1]
COPIES, QUICK_COPIES, OF_A_ROW, MANY, QUICK_MANY = 30, 14, 7, 10_000_000, 3_000
FEW = 200_000
MOST_TIMES, MOST_GIGABYTES = 1.5, 4.0
PERSON = "person"


def measure(setting: Setting) -> Section:
    """Each method with and without persons, in turn; then many rows in blocks."""
    frame, source = people_with_hierarchies(setting)
    columns = encode(frame.drop_nulls())
    ks, copies = (QUICK_KS, QUICK_COPIES) if setting.quick else (KS, COPIES)
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        workshop = Workshop(Path(folder))
        table = decode(expand(columns, copies))
        visits = with_persons(table, len(columns[0].codes))
        visits.head(FEW).write_csv(workshop.folder / "few.csv")
        for method in () if setting.quick else METHODS:  # compile
            _both(workshop, "few.csv", method, KS[0])
        visits.write_csv(workshop.folder / "visits.csv")
        costs = {(method, k): _both(workshop, "visits.csv", method, k) for method in METHODS for k in ks}
        rows = QUICK_MANY if setting.quick else MANY
        tell(f"making {rows:,} rows")
        write_people(workshop.folder / "people.parquet", columns, rows)
        whole = with_persons(pl.read_parquet(workshop.folder / "people.parquet"), len(columns[0].codes))
        whole.write_parquet(workshop.folder / "many.parquet")
        commands = {method: _command("many.parquet", method, KS[0], persons=True, capped=True) for method in METHODS}
        many = {method: workshop.run(command) for method, command in commands.items()}
    times = {case: with_.cpu / without.cpu for case, (without, with_) in costs.items()}
    worst = max(times.values())
    most = max(cost.memory for cost in many.values()) / 1e9
    persons = whole[PERSON].n_unique()
    return Section(
        "Persons with several rows",
        (
            f"{source}, expanded to {table.height:,} rows; variations of a row are {OF_A_ROW} persons. CSV to verified "
            "CSV, one process each; without persons the column is dropped.",
            Table(
                ("method", "k", "CPU without persons, s", "with persons, s", "times"),
                tuple(
                    (method, str(k), f"{costs[method, k][0].cpu:.1f}", f"{costs[method, k][1].cpu:.1f}", f"{ratio:.2f}")
                    for (method, k), ratio in times.items()
                ),
            ),
            f"{rows:,} rows of {persons:,} persons, Parquet, k = {KS[0]}, `--memory {CAP}`: "
            + "; ".join(f"{name} {cost.cpu:.0f} s of CPU, {cost.memory / 1e9:.2f} GB" for name, cost in many.items())
            + ".",
            Goal(f"at most {MOST_TIMES:g} times the CPU", f"{worst:.2f}", worst <= MOST_TIMES),
            Goal(f"{rows:,} rows under {MOST_GIGABYTES:g} GB", f"{most:.2f} GB", most < MOST_GIGABYTES),
        ),
    )


def with_persons(table: pl.DataFrame, base: int) -> pl.DataFrame:
    """The table with a person for each row: the variations of a row are so many persons, numbered at random."""
    row = np.arange(table.height)
    copies = -(-table.height // base)
    numbers = (row % base) * OF_A_ROW + row // base * OF_A_ROW // copies
    order = np.random.default_rng(3).permutation(int(numbers.max()) + 1)
    names = pl.Series(PERSON, order[numbers]).cast(pl.String).str.zfill(8)
    return table.with_columns(pl.select(pl.lit("p") + names).to_series().alias(PERSON))


def _both(workshop: Workshop, file: str, method: str, k: int) -> tuple[Cost, Cost]:
    """Without persons, and with them."""
    without, with_ = (workshop.run(_command(file, method, k, persons=persons)) for persons in (False, True))
    tell(f"{method}, k = {k}: {without.cpu:.1f} s, {with_.cpu:.1f} s")
    return without, with_


def _command(file: str, method: str, k: int, *, persons: bool, capped: bool = False) -> list[str]:
    return [*release(file, method, k, ATTRIBUTES, capped=capped), "--person" if persons else "--drop", PERSON]
