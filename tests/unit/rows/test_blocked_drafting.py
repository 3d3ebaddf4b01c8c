"""A release drafted block by block, next to the draft of the same plan and population in one piece."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.methods.catalog import METHODS, make_method
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.rows.blocks.drafting import ORIGIN, Drafting
from incrowd.testing.tables import BlockedEngine
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity
from support.method_parameters import ways_of
from support.strategies import TARGET, cases

SOME = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
BLOCK = 7


def sources(case, more=()):
    """What is read again of each block: the columns that are released as they are."""
    frame = case.frame.select(TARGET).with_columns(more)
    return frame.iter_slices(BLOCK)


def rows_of(table):
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.each(4)
@pytest.mark.parametrize("name", METHODS)
@SOME
@given(st.data())
def test_blocks_show_what_the_whole_shows(name, data):
    case = data.draw(cases())
    k = data.draw(st.integers(1, len(case.rows)))
    method = make_method(name, data.draw(st.sampled_from(ways_of(name))))
    engine, chance = BlockedEngine(BLOCK), SeededRandomness(data.draw(st.integers(0, 99)))
    population = engine.population(case.table, case.schema, chance)
    steps = (Drop(()), *method.decide(population, KAnonymity(k), chance))
    parameters = tuple(method.parameters().items())
    plan = engine.settle(ReleasePlan(name, parameters, KAnonymity(k), case.schema, len(case.rows), steps), population)
    whole = engine.draft(plan, population, case.frame, chance)
    with TemporaryDirectory() as folder:
        own = []

        class Watched(Drafting):
            """Keeps what the input held in the rows that are drafted."""

            def marked(self, after, block, place):
                rows = super().marked(after, block, place)
                return rows.hstack(self.own(block, rows[ORIGIN].to_numpy()))

            def drafted(self, rows):
                own.extend(rows_of(self.originals(rows)))
                return super().drafted(rows)

        drafting = Watched(plan, population, case.table.columns, chance)
        pieces = list(drafting.frames(sources(case), Path(folder), rows=data.draw(st.integers(1, 50))))
        assert not list(Path(folder).iterdir())
    origin = np.concatenate([piece.origin for piece in pieces]).tolist()
    assert Counter(origin) == Counter(whole.origin.tolist())
    assert {tuple(piece.table.column_names) for piece in pieces} == {tuple(whole.frame.columns)}
    expected = dict(zip(whole.origin.tolist(), whole.frame.rows(), strict=True))
    shown = [row for piece in pieces for row in rows_of(piece.table)]
    assert dict(zip(origin, shown, strict=True)) == expected
    names = [column.source for column in plan.written]
    assert own == [tuple(case.rows[row][source] for source in names) for row in origin]
    for column, (low, high) in whole.claims.items():
        for end, values in enumerate((low, high)):
            known = dict(zip(whole.origin.tolist(), values.tolist(), strict=True))
            claimed = np.concatenate([piece.claims[column][end] for piece in pieces])
            np.testing.assert_array_equal(claimed, [known[row] for row in origin])
    assert all(piece.claims.keys() == whole.claims.keys() for piece in pieces)


def test_columns_may_be_named_like_those_on_their_way(tmp_path):
    """A table whose columns are called #origin and #form is a table like any other."""
    from incrowd.api import release

    frame = pl.DataFrame(
        {"#origin": ["a", "b"] * 20, "#form #own": [i % 3 for i in range(40)], "#own #origin": ["x", "y"] * 20}
    )
    folder = tmp_path / "in"
    folder.mkdir()
    frame.write_parquet(folder / "a.parquet")
    made = release(folder, quasi_identifiers=["#origin"], target="#own #origin", k=5, to=tmp_path / "out.parquet")
    assert made.verdict.passed
    assert Counter(made.table["#form #own"]) == Counter(frame["#form #own"])
