"""Released columns are built from released values: nothing else is in their memory, types or order."""

from __future__ import annotations

import datetime as dt
import io
import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import PlanError, SchemaError
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED, Drop, Group, Place, Share, Show
from incrowd.rows.memory.drafting import draft_columns, shown_values
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.trees.tree import Branch, Eq, Node, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import SeededRandomness, SystemRandomness
from incrowd.vocabulary.released_value import Interval, Level, Mean, Shown, ShownMissing, Suppressed, ValueSet
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

CANARY = "CANARY-0123456789-longer-than-an-inlined-string"
NUMBER = 0x4B414E415249454E

FORMS = {
    "values": (ColumnType.CATEGORICAL, pl.String, [Shown("a"), Suppressed(), ShownMissing()], ["a", None, None]),
    "sets": (ColumnType.CATEGORICAL, pl.String, [ValueSet(("a|b", "c%")), Shown("a")], ["a%7Cb|c%25", "a"]),
    "whole": (ColumnType.INTEGER, pl.Int64, [Shown(2**60 + 1), Suppressed()], [2**60 + 1, None]),
    "nothing": (ColumnType.INTEGER, pl.Int64, [Suppressed(), ShownMissing()], [None, None]),
    "means": (ColumnType.INTEGER, pl.Float64, [Mean(2.5), Shown(3)], [2.5, 3.0]),
    "levels": (ColumnType.REAL, pl.Float64, [Level(1, 2, 1.5), Suppressed()], [1.5, None]),
    "intervals": (ColumnType.REAL, pl.String, [Interval(0.5, None), Shown(1.25)], ["(0.5, inf)", "1.25"]),
    "dates": (ColumnType.DATE, pl.Date, [Mean(0.9), Shown(-1)], [dt.date(1970, 1, 1), dt.date(1969, 12, 31)]),
    "date spans": (ColumnType.DATE, pl.String, [Interval(0, 1), Mean(0.0)], ["(1970-01-01, 1970-01-02]", "1970-01-01"]),
}


@pytest.mark.parametrize(("kind", "dtype", "forms", "values"), FORMS.values(), ids=FORMS)
def test_forms_become_the_narrowest_column(kind, dtype, forms, values):
    made = shown_values("x", forms, kind, pl.String())
    assert made.dtype == dtype
    assert made.to_list() == values


def test_truth_stays_truth_unless_it_is_a_set():
    forms = [Shown("true"), Shown("false"), Suppressed()]
    assert shown_values("x", forms, ColumnType.BOOLEAN, pl.Boolean()).to_list() == [True, False, None]
    assert shown_values("x", forms, ColumnType.BOOLEAN, pl.String()).to_list() == ["true", "false", None]
    sets = [ValueSet(("false", "true")), Shown("true")]
    assert shown_values("x", sets, ColumnType.BOOLEAN, pl.Boolean()).to_list() == ["false|true", "true"]


def make_case(rows=40):
    """Half of the rows hide a canary in every column; those rows are dropped or show nothing."""
    secret = np.arange(rows) % 4 == 0
    table = pl.DataFrame(
        {
            "id": [f"{CANARY}-id-{i}" for i in range(rows)],
            "job": [CANARY if s else "nurse" for s in secret],
            "pay": [NUMBER if s else 7 for s in secret],
            "ill": ["x" if i % 2 else "y" for i in range(rows)],
            "note": [f"{CANARY}-note" if s else "ok" for s in secret],
        },
        schema_overrides={"job": pl.Categorical},
    ).with_columns(pl.col("job").cast(pl.String))
    schema = Schema(
        (
            Column("id", Role.IDENTIFIER),
            Column("job", Role.QUASI_IDENTIFIER),
            Column("pay", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
            Column("ill", Role.TARGET),
            Column("note"),
        )
    )
    job = EncodedColumn("job", ColumnType.CATEGORICAL, (~secret).astype(np.int32), pl.Series([CANARY, "nurse"]))
    pay = EncodedColumn("pay", ColumnType.INTEGER, secret.astype(np.int32), pl.Series([7, NUMBER]))
    ill = EncodedColumn("ill", ColumnType.CATEGORICAL, np.arange(rows, dtype=np.int32) % 2, pl.Series(["y", "x"]))
    return table, schema, EncodedTable.of([job, pay, ill]), secret


def make_plan(schema, rows):
    nodes = (
        Node("job", (Branch(Eq("job", "nurse"), 1), Branch(Eq("job", CANARY), 2)), (0, 0)),
        Node(None, (), (0, 0)),
        Node(None, (), (0, 0)),
    )
    quarter = rows // 4
    shares = (Share(1, None, 0, 3 * quarter), Share(2, None, DROPPED, quarter))
    groups = (Group(3 * quarter, (Shown("nurse"), Suppressed())),)
    steps = (Drop(("id",)), Place(Tree(nodes, "ill", ("y", "x")), shares), Show(("job", "pay"), groups))
    return ReleasePlan("m", (), KAnonymity(2), schema, rows, steps)


def everything(frame):
    """All bytes that could leave with a frame: Arrow buffers behind nulls, dictionaries, pickles."""
    sink = io.BytesIO()
    arrow = frame.to_arrow()
    with pa.ipc.new_file(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    plain = io.BytesIO()
    frame.write_ipc(plain, compression="uncompressed")
    buffers = b"".join(
        bytes(buffer)
        for column in arrow.columns
        for chunk in column.chunks
        for buffer in chunk.buffers()
        if buffer is not None
    )
    return sink.getvalue() + plain.getvalue() + buffers + pickle.dumps(frame)


def holds(data, *needles):
    return [needle for needle in needles if needle in data]


SECRETS = (CANARY.encode(), NUMBER.to_bytes(8, "little"))


def test_the_search_finds_what_is_there():
    table, *_ = make_case()
    assert holds(everything(table), *SECRETS) == list(SECRETS)
    masked = table.with_columns(pl.when(pl.col("job") != CANARY).then(pl.col("job")).alias("job"))
    assert holds(everything(masked.select("job", "pay")), *SECRETS) != []


def test_a_draft_holds_released_values_only():
    table, schema, encoded, secret = make_case()
    engine, chance = EmbeddedEngine(), SystemRandomness()
    plan = make_plan(schema, len(secret))
    population = engine.population(encoded, schema, chance)
    draft = engine.draft(engine.settle(plan, population), population, table, chance)
    assert draft.frame.columns == ["job", "pay", "ill", "note"]
    assert draft.frame.height == int((~secret).sum())
    assert set(draft.frame["job"]) == {"nurse"}
    assert draft.frame["pay"].null_count() == draft.frame.height
    assert holds(everything(draft.frame), *SECRETS) == []
    assert not secret[draft.origin].any()
    assert draft.frame["note"].to_list() == [table["note"][int(i)] for i in draft.origin]


def test_rows_come_in_random_order():
    table, schema, encoded, secret = make_case(400)
    plan = make_plan(schema, len(secret))
    orders = []
    for seed in (1, 1, 2):
        population = EmbeddedEngine().population(encoded, schema, SeededRandomness(seed))
        orders.append(EmbeddedEngine().draft(plan, population, table, SeededRandomness(seed)).origin.tolist())
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) != orders[0]


def test_columns_the_source_lacks_are_left_out():
    table, schema, *_ = make_case(8)
    plan = make_plan(schema, 8)
    made = draft_columns(
        plan, dict.fromkeys(plan.names, np.zeros(3, int)), table.drop("note", "ill"), np.array([1, 2, 3])
    )
    assert made.columns == ["job", "pay"]
    assert made.height == 3


def test_unknown_steps_are_refused():
    table, schema, encoded, _ = make_case(8)
    population = EmbeddedEngine().population(encoded, schema, SeededRandomness(1))
    plan = ReleasePlan("m", (), KAnonymity(2), schema, 8, ("explode",))
    with pytest.raises(PlanError, match="knows the step str"):
        EmbeddedEngine().draft(plan, population, table, SeededRandomness(1))


def test_a_tree_of_other_classes_is_refused():
    _, schema, encoded, _ = make_case(8)
    population = EmbeddedEngine().population(encoded, schema, SeededRandomness(1))
    with pytest.raises(SchemaError, match="have a class in 'ill' that the tree does not know"):
        population.count(Tree((Node(None, (), (0,)),), "ill", ("z",)))


def test_populations_count_and_place_once():
    _, schema, encoded, _ = make_case(8)
    population = EmbeddedEngine().population(encoded, schema, SystemRandomness())
    plan = make_plan(schema, 8)
    place = plan.places[0]
    assert population.count(place.tree).tolist() == [[0, 0], [2, 4], [2, 0]]
    assert population.place(place) is population.place(place)
    placed = population.place(place)
    assert placed.sample()["#group"].counts.tolist() == [6, 2]
    assert placed.rows == population.rows == 8
    assert "#group" not in population.sample().columns
