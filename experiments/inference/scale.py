"""Many cells of Adult in one run; one cell of a table with a million rows and twenty attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np

from incrowd.hiding.bayes_hiders import GroupHider
from incrowd.hiding.methods import METHODS, Options, method_named
from incrowd.hiding.planner import Cell, plan_hiding
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import FairChance, secret_at
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.schema import Column, Schema

MANY_BY, ONE_BY = ("dropp", "generic"), ("decp", "incp", "dropp", "hid3", "hid3+dropp", "generic")
ATTRIBUTE, REDRAWN = "occupation", 0.2


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


def many_cells(table: EncodedTable, count: int, tell: Callable[[str], None] = print) -> list[Many]:
    """Random cells of all columns with more than two values."""
    cells = _cells(table, count)
    return [_many(table, _schema(table), cells, method, tell) for method in MANY_BY]


def _schema(table: EncodedTable) -> Schema:
    return Schema(tuple(Column(name) for name in table.columns))


def _many(table: EncodedTable, schema: Schema, cells: Sequence[Cell], method: str, tell: Callable[[str], None]) -> Many:
    calls: list[int] = []
    begun = process_time()
    hiding = plan_hiding(
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


def one_cell(table: EncodedTable, tell: Callable[[str], None] = print) -> list[One]:
    """One cell by each method, each on a table nobody has counted yet, and then again."""
    column = table[ATTRIBUTE]
    row = int(np.flatnonzero(column.codes != np.argmax(column.counts))[0])
    return [_twice(PublishedTable(table, _schema(table)), method, Cell(row, ATTRIBUTE), tell) for method in ONE_BY]


def enlarged(table: EncodedTable, rows: int, columns: int) -> EncodedTable:
    """That many rows drawn at random, and that many columns: those there are, then variations of them.

    In a variation, and in every drawn row, a fifth of the cells is redrawn from its column, so that values keep their
    shares and most of what ties them together.
    """
    generator = np.random.default_rng(3)
    drawn = generator.integers(0, table.height, rows)
    encoded = []
    for place in range(columns):
        turn, which = divmod(place, len(table.columns))
        column = list(table.columns.values())[which]
        others = generator.integers(0, table.height, rows)
        codes = column.codes[np.where(generator.random(rows) < REDRAWN, others, drawn)]
        name = f"{column.name} {turn + 1}" if turn else column.name
        encoded.append(EncodedColumn(name, column.type, codes, column.dictionary))
    return EncodedTable.of(encoded)


def _twice(published: PublishedTable, method: str, cell: Cell, tell: Callable[[str], None]) -> One:
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
