"""Many cells of Adult in one run; one cell of a table with a million rows and twenty attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time

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

MANY_BY, ONE_BY = ("dropp", "generic"), ("decp", "incp", "dropp", "hid3", "hid3+dropp", "generic")
ATTRIBUTE = "occupation"


@dataclass(frozen=True)
class Many:
    """Many cells in one run, in CPU seconds."""

    method: str
    cells: int
    seconds: float
    calls: int
    kept: float
    exposed: int
    side_effects: int


@dataclass(frozen=True)
class One:
    """One cell of a large table: what it took the first time and once counts and indexes are made.

    ``scans`` are whole columns that were read, ``rows`` single rows.
    """

    method: str
    first_milliseconds: float
    first_scans: int
    milliseconds: float
    scans: int
    rows: int
    changed: int


def many_cells(setting: Setting, count: int) -> tuple[list[Many], int, int]:
    """Random cells of all columns with more than two values; and the shape of the table."""
    frame, _ = census(setting)
    table = EncodedTable.of(encode(frame))
    schema = Schema(tuple(Column(name) for name in table.columns))
    cells = _cells(table, count)
    found = [_many(table, schema, cells, method) for method in MANY_BY]
    return found, table.height, len(table.columns)


def _many(table: EncodedTable, schema: Schema, cells: Sequence[Cell], method: str) -> Many:
    calls: list[int] = []
    begun = process_time()
    hiding = hide_cells(
        table, schema, cells, method, randomness=SeededRandomness(1), progress=lambda done, _: calls.append(done)
    )
    seconds = process_time() - begun
    exposed = sum(outcome.exposed and outcome.status.success for outcome in hiding.outcomes)
    tell(f"{len(cells)} cells by {method}: {seconds:.1f} s CPU")
    kept = 100 * float(hiding.success_rate)
    return Many(method, len(cells), seconds, len(calls), kept, exposed, len(hiding.side_effects))


def _cells(table: EncodedTable, count: int) -> list[Cell]:
    generator = np.random.default_rng(5)
    names = [name for name, column in table.columns.items() if len(column.dictionary) > 2]
    rows = generator.permutation(table.height)[:count].tolist()
    return [Cell(row, names[int(generator.integers(len(names)))]) for row in rows]


def one_cell(setting: Setting, rows: int, attributes: int) -> list[One]:
    """One cell by each method, each on a table nobody has counted yet, and then again."""
    frame = widen(lengthen(census(setting)[0], rows), attributes - 1)
    table = EncodedTable.of(encode(frame))
    schema = Schema(tuple(Column(name) for name in table.columns))
    column = table[ATTRIBUTE]
    row = int(np.flatnonzero(column.codes != np.argmax(column.counts))[0])
    return [_twice(PublishedTable(table, schema), method, Cell(row, ATTRIBUTE)) for method in ONE_BY]


def _twice(published: PublishedTable, method: str, cell: Cell) -> One:
    """The second time, draws are the same, and so are the changes."""
    first, _ = _hide(published, method, cell)
    scans, rows = published.work.scans, published.work.rows
    again, changed = _hide(published, method, cell)
    tell(f"one cell of {published.height:,} rows by {method}: {first:.0f} ms, then {again:.1f} ms")
    return One(method, first, scans, again, published.work.scans - scans, published.work.rows - rows, changed)


def _hide(published: PublishedTable, method: str, cell: Cell) -> tuple[float, int]:
    """Hide a cell and take it back: CPU milliseconds, and cells changed."""
    hider = method_named(method, METHODS["hid3+dropp"].targets).make(Options())
    assert not isinstance(hider, GroupHider)
    mark, begun = published.mark(), process_time()
    hider.hide(secret_at(published, cell.row, cell.attribute, FairChance(SeededRandomness(1))))
    spent, changed = 1000 * (process_time() - begun), len(published.touched(mark))
    published.back(mark)
    return spent, changed
