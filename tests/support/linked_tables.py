"""Small tables of persons with several rows, released in memory without files, as the oracle sees them."""

from itertools import combinations_with_replacement

import numpy as np
import polars as pl

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Link
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.persons import ORDER
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.oracle_persons import Row

TYPES = {int: ColumnType.INTEGER, str: ColumnType.CATEGORICAL}


def release_linked(rows, method, requirement, *, names, person=0, value=None, order=None, hierarchies=None, seed=1):
    """The released rows as the oracle's :class:`Row`, the input row of each, and the plan.

    ``rows`` are tuples whose first cell is the person; ``names`` are the columns; ``value`` is the place of a sensitive
    column, ``order`` of the one that puts rows in order, which is no quasi-identifier.
    """
    requirement = KAnonymity(requirement) if isinstance(requirement, int) else requirement
    frame = pl.DataFrame([list(row) for row in rows], schema=list(names), orient="row", strict=False)
    roles = {names[person]: Role.PERSON}
    roles |= {names[place]: role for place, role in ((value, Role.TARGET), (order, Role.DROP)) if place is not None}
    columns = []
    for place, name in enumerate(names):
        cells = [row[place] for row in rows if row[place] is not None]
        kind = TYPES[type(cells[0])] if cells else ColumnType.CATEGORICAL
        role = roles.get(name, Role.QUASI_IDENTIFIER)
        columns.append(Column(name, role, kind, hierarchy=(hierarchies or {}).get(name)))
    schema = Schema(tuple(columns))
    table, _ = encode(read(frame), schema, schema.encoded)
    if order is not None:
        ranks, _ = encode(read(frame), schema, (names[order],))
        ranked = ranks[names[order]]
        codes = type(ranked)(ORDER, ranked.type, ranked.codes, ranked.dictionary)
        table = EncodedTable.of([*table.columns.values(), codes])
    owners = np.unique(frame[names[person]].to_list(), return_inverse=True)[1].astype(np.int32)
    engine, chance = EmbeddedEngine(), SeededRandomness(seed)
    population = engine.population(table, schema, chance, owners)
    steps = (Link(names[person]), *method.decide(population, requirement, chance))
    plan = ReleasePlan(method.name, (), requirement, schema, len(rows), steps)
    plan = engine.settle(plan, population)
    draft = engine.draft(plan, population, frame, chance)
    known = draft.frame.select(schema.quasi_identifiers).rows()
    released = [
        Row(rows[origin][person], cells, None if value is None else rows[origin][value])
        for origin, cells in zip(draft.origin.tolist(), known, strict=True)
    ]
    return released, draft, plan


def every_table(most=6, persons=3):
    """Every table of up to ``most`` rows of so many persons, one column of x, y and nothing, once up to their names."""
    histories = [
        history for length in range(1, most + 1) for history in combinations_with_replacement(("x", "y", None), length)
    ]
    place = {history: at for at, history in enumerate(histories)}
    other = {"x": "y", "y": "x", None: None}
    renamed = [place[tuple(sorted((other[value] for value in one), key=("x", "y", None).index))] for one in histories]
    for chosen in combinations_with_replacement(range(len(histories)), persons):
        rows = [(f"p{person}", value) for person, at in enumerate(chosen) for value in histories[at]]
        if len(rows) <= most and chosen <= tuple(sorted(renamed[at] for at in chosen)):
            yield rows
