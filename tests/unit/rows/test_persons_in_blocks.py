"""Persons in blocks: who is where is told as in memory, and persons are drawn, not rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import RequirementError
from incrowd.methods.judging import Judge
from incrowd.methods.method import Presence
from incrowd.plan.steps import Bin, Hide
from incrowd.rows.blocks import held
from incrowd.rows.blocks.held import LocalBlocks
from incrowd.rows.blocks.persons import drawn_persons, persons_of
from incrowd.rows.blocks.population import BlockedPopulation
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.rows.one_machine import Destination
from incrowd.tables.recipe import Recipe
from incrowd.tables.streams.stream import open_stream
from incrowd.testing.tables import BlockedEngine
from incrowd.trees.tree import Branch, Gt, Le, Node, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable, OwnedTable
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

SCHEMA = Schema(
    (
        Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
        Column("job", Role.QUASI_IDENTIFIER),
        Column("ill", Role.TARGET),
    )
)


def column(name, codes, values):
    kind = ColumnType.INTEGER if isinstance(values[0], int) else ColumnType.TEXT
    return EncodedColumn(name, kind, np.asarray(codes, np.int32), pl.Series(name, values))


def table_of(draw, rows):
    return EncodedTable.of(
        [
            column("age", draw.integers(0, 5, rows), [10, 20, 30, 40]),
            column("job", draw.integers(0, 4, rows), ["a", "b", "c"]),
            column("ill", draw.integers(0, 2, rows), ["n", "y"]),
        ]
    )


def tree_of(threshold):
    none = (0, 0, 0)
    branches = (Branch(Le("age", threshold), 1), Branch(Gt("age", threshold), 2))
    return Tree((Node("age", branches, none), Node(None, (), none), Node(None, (), none)), "ill", ("n", "y", None))


def facts(presence):
    """Who is where, as a set."""
    columns = (presence.cells, presence.persons, *presence.codes)
    return set(zip(*(each.tolist() for each in columns), strict=True))


def populations(seed, rows, persons, block_rows):
    draw = np.random.default_rng(seed)
    table, owners = table_of(draw, rows), draw.integers(0, persons, rows).astype(np.int32)
    engines = (EmbeddedEngine(), BlockedEngine(block_rows))
    return [engine.population(table, SCHEMA, SeededRandomness(1), owners) for engine in engines]


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 20), st.integers(1, 70), st.sampled_from([10, 25, 40]))
def test_blocks_tell_who_is_where_as_memory_does(seed, rows, persons, block_rows, threshold):
    whole, blocks = populations(seed, rows, persons, block_rows)
    for of in (tree_of(threshold), ("age", "job"), ("job",), ()):
        for names in ((), ("ill",), ("ill", "job")):
            assert facts(blocks.presence(of, names)) == facts(whole.presence(of, names))


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 20), st.integers(1, 70), st.integers(1, 6))
def test_whether_cells_have_k_persons_together_needs_k_of_each(seed, rows, persons, block_rows, k):
    whole, blocks = populations(seed, rows, persons, block_rows)
    every, few = whole.presence(("age", "job")), blocks.presence(("age", "job"), (), k)
    assert facts(few) <= facts(every)
    assert np.bincount(few.cells).max() <= k
    cells = np.unique(every.cells)
    draw = np.random.default_rng(seed)
    for _ in range(10):
        union = cells[draw.random(len(cells)) < 0.5]
        counts = [len(np.unique(each.persons[np.isin(each.cells, union)])) for each in (every, few)]
        assert (counts[0] >= k) == (counts[1] >= k)


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 20), st.integers(1, 70), st.integers(1, 6))
def test_the_judge_says_the_same_of_both(seed, rows, persons, block_rows, k):
    judged = []
    for population in populations(seed, rows, persons, block_rows):
        try:
            judge, tree = Judge.of(KAnonymity(k), population), tree_of(25)
        except RequirementError as impossible:
            judged.append(str(impossible))
            continue
        evidence = judge.resting(population, tree)
        judged.append(
            (
                evidence.rows.tolist(),
                judge.holds(evidence.rolled_up(tree.parents)).tolist(),
                [judge.holds(evidence.of(cells)[None, :])[0] for cells in ([0], [1], [2], [1, 2])],
            )
        )
    assert judged[0] == judged[1]


def test_a_person_is_one_in_all_blocks():
    table = EncodedTable.of([column("age", [0, 0, 0, 0], [10]), column("ill", [0, 1, 0, 1], ["n", "y"])])
    blocks = BlockedEngine(1).population(table, SCHEMA, SeededRandomness(1), np.array([7, 7, 7, 3], np.int32))
    presence = blocks.presence(("age",))
    assert sorted(presence.persons.tolist()) == [3, 7]
    assert presence.cells.tolist() == [0, 0]


def test_rare_is_what_few_persons_have_however_many_rows():
    table = EncodedTable.of([column("job", [0, 0, 0, 0, 1, 1], ["a", "b"]), column("ill", [0] * 6, ["n"])])
    blocks = BlockedEngine(2).population(table, SCHEMA, SeededRandomness(1), np.array([5, 5, 5, 5, 1, 2], np.int32))
    hidden = blocks.hide(Hide(("job",), 2)).combinations(("job",))
    assert hidden.codes.ravel().tolist() == [1, 2]
    assert hidden.sizes.tolist() == [2, 4]


def test_the_sample_of_a_small_table_is_all_of_it_with_its_persons():
    whole, blocks = populations(3, 50, 8, 7)
    assert np.array_equal(
        np.unique(whole.owners, return_inverse=True)[1], np.unique(blocks.owners, return_inverse=True)[1]
    )
    binned = blocks.bin(Bin((("age", (25.0,)),)))
    assert np.array_equal(binned.owners, blocks.owners)
    assert len(binned.sample()["age"].codes) == 50


def owned(owners, block_rows):
    owners = np.asarray(owners, np.int32)
    table = EncodedTable.of([column("ill", np.zeros(len(owners)), ["n"])])
    whole = OwnedTable(table.columns, table.height, owners)
    parts = np.split(np.arange(len(owners)), np.arange(block_rows, len(owners), block_rows))
    return LocalBlocks([len(part) for part in parts], lambda place: whole.take(parts[place]))


def drawn_of(owners, wanted, block_rows=100, key=b"secret key of eight and more"):
    blocks = owned(owners, block_rows)
    drawn = drawn_persons(blocks, wanted, key)
    return np.concatenate(list(blocks.each(lambda block, place: persons_of(block)[drawn(block, place)])))


def test_persons_are_drawn_with_all_their_rows():
    owners = np.random.default_rng(1).integers(0, 300, 2_000)
    taken = drawn_of(owners, 500)
    assert 400 <= len(taken) <= 500
    every, some = np.bincount(owners, minlength=300), np.bincount(taken, minlength=300)
    assert (some[some > 0] == every[some > 0]).all()
    other = drawn_of(owners, 500, key=b"another key, of other persons")
    assert set(other.tolist()) != set(taken.tolist())


def test_whoever_has_half_of_the_rows_is_drawn_row_by_row():
    owners = np.concatenate([np.zeros(1_000), np.arange(1, 1_001)]).astype(np.int64)
    taken = np.bincount(drawn_of(np.random.default_rng(1).permutation(owners), 400), minlength=1_001)
    assert 150 <= taken[0] <= 200
    assert 150 <= taken[1:].sum() <= 200
    assert taken[1:].max() == 1


def test_where_everybody_has_many_rows_there_is_a_sample_all_the_same():
    taken = drawn_of(np.repeat([0, 1, 2], 500), 300)
    assert 250 <= len(taken) <= 300
    assert set(taken.tolist()) == {0, 1, 2}


def test_a_sample_has_the_owners_of_its_rows():
    draw = np.random.default_rng(0)
    owners = np.repeat(np.arange(100), 4).astype(np.int32)
    table = EncodedTable.of([column("age", owners, list(range(100))), column("ill", owners % 2, ["n", "y"])])
    order = draw.permutation(400)
    engine = BlockedEngine(64, largest_sample=80)
    population = engine.population(table.take(order), SCHEMA, SeededRandomness(1), owners[order])
    assert isinstance(population, BlockedPopulation)
    ages, numbers = population.sample()["age"].codes, population.owners
    assert 40 <= len(ages) <= 80
    assert len(numbers) == len(ages)
    assert len(np.unique(np.stack([ages, numbers]), axis=1).T) == len(np.unique(ages)) == len(np.unique(numbers))
    assert numbers.max() == len(np.unique(numbers)) - 1


def test_without_persons_nobody_owns_rows():
    table = table_of(np.random.default_rng(0), 20)
    assert BlockedEngine(6).population(table, SCHEMA, SeededRandomness(1)).owners is None


def test_entries_beyond_64_bits_are_told_apart_all_the_same():
    large = np.array([2**31 - 2, 1, 2**31 - 2, 1])
    presence = Presence(large, large, (large, np.array([0, 1, 0, 2])))
    assert facts(presence.distinct()) == facts(presence)
    assert len(presence.distinct().cells) == 3


@pytest.mark.parametrize("most", [None, 2])
def test_nobody_is_nowhere(most):
    empty = np.empty(0, np.int64)
    assert len(Presence(empty, empty).distinct(most).cells) == 0


@pytest.fixture
def in_blocks(tmp_path, monkeypatch):
    """A table of 40 persons with ten rows each, some rows nobody's, held in blocks of 60 rows."""
    monkeypatch.setattr(held, "block_rows", lambda *_: 60)
    path = tmp_path / "visits.csv"
    who = ["" if line % 11 == 0 else f"p{line % 40}" for line in range(400)]
    lines = [f"{person},{line % 7},{line},{'yn'[line % 2]}" for line, person in enumerate(who)]
    path.write_text("who,age,line,ill\n" + "\n".join(lines) + "\n")
    roles = {"who": "person", "age": "quasi-identifier", "line": "private", "ill": "target"}
    recipe = Recipe(columns={name: {"role": role} for name, role in roles.items()}, missing_persons="drop")
    resources = Resources(None, scratch=tmp_path / "scratch")
    (tmp_path / "scratch").mkdir()
    to = Destination(tmp_path / "out.csv", FileForm("csv"))
    return held.InBlocks.of(open_stream(path), recipe, resources, lambda *_: None, to)


@pytest.mark.parametrize("rows", [10**6, 120])
def test_rows_as_they_were_read_are_drawn_by_person(in_blocks, rows):
    sample = in_blocks.sample(rows).frame
    assert sample["who"].null_count() == 0
    assert (sample["line"].cast(pl.Int64) % 11 != 0).all()
    counts = {person: sum(line % 11 != 0 for line in range(person, 400, 40)) for person in range(40)}
    drawn = sample["who"].value_counts().rows()
    assert all(counts[int(person[1:])] == height for person, height in drawn)
    assert len(drawn) == 40 if rows > 400 else 8 <= len(drawn) <= 13
    assert sample.height <= rows


def test_what_is_held_is_what_is_somebodys(in_blocks):
    assert in_blocks.rows == sum(line % 11 != 0 for line in range(400))
    assert in_blocks.population(SeededRandomness(1)).rows == in_blocks.rows
    assert any(notice.code == "missing-person" for notice in in_blocks.notices)
