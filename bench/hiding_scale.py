"""Many cells of Adult in one run; one cell of a table with a million rows and twenty attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np

from bench.census import census, lengthen, widen
from bench.people import encode
from bench.setting import Setting, tell
from incrowd.adversaries.published import PublishedTable
from incrowd.algorithms.cell_hiding.chance import FairChance
from incrowd.algorithms.cell_hiding.hide import Cell, hide_cells
from incrowd.algorithms.cell_hiding.methods import METHODS, GroupHider, Options, method_named
from incrowd.algorithms.cell_hiding.secret import secret_at
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.schema import Column, Schema

MANY_BY, ONE_BY = ("dropp", "hid3+dropp", "generic"), ("decp", "incp", "dropp", "hid3", "hid3+dropp", "generic")
ATTRIBUTE = "occupation"


@dataclass(frozen=True)
class Many:
    """Many cells in one run."""

    method: str
    cells: int
    seconds: float
    calls: int
    kept: float
    exposed: int
    side_effects: int


@dataclass(frozen=True)
class One:
    """One cell of a large table whose counts are made: what it took; ``scans`` are columns that were read again."""

    method: str
    milliseconds: float
    rows: int
    scans: int
    changed: int


def many_cells(setting: Setting, count: int) -> tuple[list[Many], int, int]:
    """Random cells of all columns with more than two values; and the shape of the table."""
    frame, _ = census(setting)
    table = EncodedTable.of(encode(frame))
    schema = Schema(tuple(Column(name) for name in table.columns))
    cells = _cells(table, count)
    found = []
    for method in MANY_BY:
        calls: list[int] = []
        begun = perf_counter()
        hiding = hide_cells(
            table, schema, cells, method, randomness=SeededRandomness(1), progress=lambda done, _, to=calls: to.append(done)
        )
        seconds = perf_counter() - begun
        exposed = sum(outcome.exposed and outcome.status.success for outcome in hiding.outcomes)
        kept = 100 * float(hiding.success_rate)
        found.append(Many(method, count, seconds, len(calls), kept, exposed, len(hiding.side_effects)))
        tell(f"{count} cells by {method}: {seconds:.1f} s")
    return found, table.height, len(table.columns)


def _cells(table: EncodedTable, count: int) -> list[Cell]:
    generator = np.random.default_rng(5)
    names = [name for name, column in table.columns.items() if len(column.dictionary) > 2]
    rows = generator.permutation(table.height)[:count].tolist()
    return [Cell(row, names[int(generator.integers(len(names)))]) for row in rows]


def one_cell(setting: Setting, rows: int, attributes: int) -> tuple[list[One], float]:
    """One cell by each method on the same table, and the seconds it took to count the table beforehand."""
    frame = widen(lengthen(census(setting)[0], rows), attributes - 1)
    table = EncodedTable.of(encode(frame))
    schema = Schema(tuple(Column(name) for name in table.columns))
    published = PublishedTable(table, schema)
    begun = perf_counter()
    warm, *others = _of_others(table)
    for method in ONE_BY:
        _hide(published, method, warm)
    counted = perf_counter() - begun
    return [_hide(published, method, cell) for method, cell in zip(ONE_BY, others, strict=False)], counted


def _of_others(table: EncodedTable) -> Sequence[Cell]:
    """Cells that hold some other value than the most common one."""
    column = table[ATTRIBUTE]
    rows = np.flatnonzero(column.codes != np.argmax(column.counts))
    return [Cell(int(row), ATTRIBUTE) for row in rows[: 1 + len(ONE_BY)]]


def _hide(published: PublishedTable, method: str, cell: Cell) -> One:
    hider = method_named(method, METHODS["hid3+dropp"].targets).make(Options())
    assert not isinstance(hider, GroupHider)
    mark, rows, scans = published.mark(), published.work.rows, published.work.scans
    begun = process_time()
    hider.hide(secret_at(published, cell.row, cell.attribute, FairChance(SeededRandomness(1))))
    spent = 1000 * (process_time() - begun)
    changed = len(published.touched(mark))
    published.back(mark)
    return One(method, spent, published.work.rows - rows, published.work.scans - scans, changed)
