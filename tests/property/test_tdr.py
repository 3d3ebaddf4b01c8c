"""Top-down refinement against an oracle that recounts everything, step by step, on random tables and requirements."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.methods.top_down_refinement.tdr import TDR, TDS
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.released_value import Category, Interval, Shown, ValueSet
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.oracle_tdr import Line, Oracle, Tree, Veil
from support.strategies import KINDS, TARGET, Case, cases

SOME = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
CHANCE = SystemRandomness()
TABLES = 1000


def grouping(random, leaves):
    """A random tree above these leaves, neighbours together: labels and parents."""
    labels, parents = ["*"], [-1]

    def grow(parent, below, depth):
        cuts = sorted(random.sample(range(1, len(below)), random.randint(0, len(below) - 1))) if depth else []
        pieces = [below[i:j] for i, j in pairwise([0, *cuts, len(below)])] if depth else [[leaf] for leaf in below]
        for piece in pieces:
            labels.append(piece[0] if len(piece) == 1 else f"group {len(labels)}")
            parents.append(parent)
            if len(piece) > 1:
                grow(len(labels) - 1, piece, depth - 1)

    grow(0, list(leaves), random.randint(0, 2))
    return tuple(labels), tuple(parents)


def hierarchy(random, column):
    """None, or a hierarchy of the column's values, or of intervals around its numbers; with leaves nobody has."""
    values = column.dictionary.to_list()
    choice = random.choice(["none", "none", "values", "numbers"])
    if choice == "none":
        return None
    if choice == "numbers" and column.type.is_numeric:
        cuts = random.sample([-100.5, 50.5, *(value + 0.05 for value in values)], random.randint(1, len(values) + 2))
        ends = ["-inf", *map(repr, sorted(cuts)), "inf"]
        leaves = [f"({a}, {b}" + (")" if b == "inf" else "]") for a, b in pairwise(ends)]
        return Hierarchy(column.name, *grouping(random, leaves), Leaves.NUMBERS)  # type: ignore[call-arg]
    leaves = [*map(str, values), "777"]
    random.shuffle(leaves)
    return Hierarchy(column.name, *grouping(random, leaves))


def requirement(random, names, rows):
    """One k for all, or sets of attributes each with its own."""

    def k():
        return random.randint(1, min(rows, random.choice([2, 4, 8, 40])))

    if random.random() < 0.4:
        return KAnonymity(k())
    sets = [random.sample(names, random.randint(1, len(names))) for _ in range(random.randint(1, 3))]
    rest = [name for name in names if not any(name in one for one in sets)]
    return KnownTogether(tuple(KnownSet(tuple(one), k()) for one in [*sets, rest] if one))


def request(random, case, persons=None):
    """The case with hierarchies, a requirement that so many persons may keep, and a method."""
    given = {name: hierarchy(random, case.table[name]) for name in case.names}
    columns = tuple(replace(column, hierarchy=given.get(column.name)) for column in case.schema.columns)
    method = random.choice([TDR, TDR, TDS])(
        loss_average=random.choice(["related", "all"]), criterion=random.choice(["score", "score", "gain"])
    )
    return replace(case, schema=Schema(columns)), requirement(random, case.names, persons or len(case.rows)), method


def large_case(random):
    """A table on which there is something to refine: more rows, and a class that follows the attributes."""
    rng = np.random.default_rng(random.randrange(2**32))
    height, width = random.randint(10, 100), random.randint(2, 4)
    columns, schema, signal = [], [], np.zeros(height)
    for i in range(width):
        kind, size = random.choice([ColumnType.CATEGORICAL, *KINDS]), random.randint(1, 6)
        codes = np.minimum(rng.geometric(0.35, height) - 1, size - 1) if i % 2 else rng.integers(0, size, height)
        signal += codes / size
        missing = rng.random(height) < random.choice([0, 0, 0.15])
        codes = np.where(missing, size, codes).astype(np.int32)
        values = pl.Series([f"v{j}" for j in range(size)] if not kind.is_numeric else [3 * j - 4 for j in range(size)])
        values = values.cast(pl.Float64) / 4 if kind is ColumnType.REAL else values
        columns.append(EncodedColumn(f"a{i}", kind, codes, values))
        order = tuple(values.to_list()) if kind is ColumnType.ORDERED else ()
        schema.append(Column(f"a{i}", Role.QUASI_IDENTIFIER, kind, order))
    labels = (signal + rng.normal(0, 0.4, height) > np.median(signal)).astype(np.int32) + (rng.random(height) < 0.05)
    columns.append(EncodedColumn(TARGET, ColumnType.CATEGORICAL, labels.astype(np.int32), pl.Series(["x", "y", "z"])))
    values = {column.name: [*column.dictionary.to_list(), None] for column in columns}
    rows = [{c.name: values[c.name][c.codes[row]] for c in columns} for row in range(height)]
    return Case(rows, EncodedTable.of(columns), Schema((*schema, Column(TARGET, Role.TARGET))))


@st.composite
def requests(draw):
    """Small tables with everything that can be odd about them, or large ones."""
    random = Random(draw(st.integers(0, 2**32 - 1)))
    return request(random, draw(st.one_of(cases(), st.builds(lambda: large_case(random)))))


def whose(random, rows):
    """The person of each row, some with many rows, numbered without gaps."""
    number = random.randint(1, rows)
    drawn = [min(random.randrange(number), random.randrange(number)) for _ in range(rows)]
    return np.unique(drawn, return_inverse=True)[1].astype(np.int32)


@st.composite
def requests_of_persons(draw):
    """Tables of persons with several rows, and whose row each is."""
    random = Random(draw(st.integers(0, 2**32 - 1)))
    case = draw(st.one_of(cases(), st.builds(lambda: large_case(random))))
    owners = whose(random, len(case.rows))
    return *request(random, case, int(owners.max()) + 1), owners


def population_of(case, owners=None):
    return EmbeddedPopulation(case.table, case.schema, CHANCE, owners=owners)


def kind_of(case, name, method):
    """How the oracle sees an attribute."""
    hierarchy, column = case.schema[name].hierarchy, case.table[name]
    values = column.dictionary.to_list()
    if hierarchy is not None:
        children = {node: list(hierarchy.children(node)) for node in range(len(hierarchy)) if hierarchy.children(node)}
        leaves = hierarchy.leaves.tolist()
        return Tree(children, lambda value: leaves[hierarchy.leaf_of(value)], lambda node: hierarchy.labels[node])
    if column.type.has_order:
        return Line(values.index)
    if isinstance(method, TDS):
        return Tree({0: [1 + i for i in range(len(values))]}, lambda value: 1 + values.index(value), lambda _: "*")
    return Veil(values.index)


def score_of(method):
    if method.criterion == "gain":
        return lambda gain, loss: gain
    if isinstance(method, TDS):
        return lambda gain, loss: gain / loss if loss else gain
    return lambda gain, loss: gain / (loss + 1)


def oracle_of(case, requirement, method, owners=None):
    sets = [(one.names, one.k) for one in requirement.sets(case.names)]
    kinds = {name: kind_of(case, name, method) for name in case.names}
    return Oracle(case.rows, case.names, TARGET, kinds, sets, score_of(method), method.loss_average, owners)


def key_of(case, method, candidate):
    """The oracle's name of one of our refinements."""
    name = candidate.attribute
    if case.schema[name].hierarchy is not None:
        return candidate.refined
    if case.table[name].type.has_order:
        return candidate.place
    return "*" if isinstance(method, TDS) else candidate.into.split(",")[0]


@pytest.mark.each(7)
@pytest.mark.parametrize("block", range(10))
def test_every_step_is_the_oracles(block):
    """A thousand tables on which there is something to do."""
    for seed in range(block * TABLES // 10, (block + 1) * TABLES // 10):
        random = Random(seed)
        check_steps(*request(random, large_case(random)))


@SOME
@given(requests())
def test_every_step_is_the_oracles_on_odd_tables(request):
    check_steps(*request)


@pytest.mark.each(7)
@pytest.mark.parametrize("block", range(4))
def test_every_step_is_the_oracles_for_persons(block):
    """Persons are counted: in the smallest group, hence in what is lost and in what is valid."""
    for seed in range(block * TABLES // 10, (block + 1) * TABLES // 10):
        random = Random(seed)
        case = large_case(random)
        owners = whose(random, len(case.rows))
        check_steps(*request(random, case, int(owners.max()) + 1), owners)  # type: ignore[call-arg]


@SOME
@given(requests_of_persons())
def test_every_step_is_the_oracles_for_persons_on_odd_tables(request):
    check_steps(*request)


@SOME
@given(requests(), st.randoms(use_true_random=False))
def test_persons_with_one_row_each_change_nothing(request, random):
    case, requirement, method = request
    owners = np.array(random.sample(range(len(case.rows)), len(case.rows)), np.int32)
    ours = method.decide(population_of(case, owners), requirement, CHANCE)
    assert ours == method.decide(population_of(case), requirement, CHANCE)


def check_steps(case, requirement, method, owners=None):
    """The same refinement with the same figures, records read once and only if touched; and the same end."""
    refinement = method.begin(population_of(case, owners), requirement)
    oracle = oracle_of(case, requirement, method, owners)
    before = refinement.anonymity
    assert before == (len(set(oracle.owners)),) * len(before)
    run = refinement.run()
    for theirs, touched in oracle.steps():
        step = next(run)
        ours = step.candidate
        assert (ours.attribute, key_of(case, method, ours)) == (theirs.move.attribute, theirs.move.key)
        assert [ours.gain, ours.loss, ours.score] == pytest.approx([theirs.gain, theirs.loss, theirs.score], rel=1e-9)
        assert step.anonymity == theirs.anonymity
        assert step.reads == touched
        assert all(after <= then for after, then in zip(step.anonymity, before, strict=True))
        before = step.anonymity
    assert next(run, None) is None
    assert refinement.candidates() == []
    masked = [oracle.masks(name, oracle.blocks[name]) for name in case.names]
    there = set(zip(zip(*masked, strict=True), oracle.owners, strict=True))
    assert sorted(refinement.partitions.sizes()) == sorted(Counter(look for look, _ in there).values())
    check_parts(case, method, requirement, oracle, owners)


def check_parts(case, method, requirement, oracle, owners):
    """The plan says of each value what the oracle's blocks say, and it is true."""
    recode, *_ = method.decide(population_of(case, owners), requirement, CHANCE)
    for name in case.names:
        shown = [part_of(recode[name].parts, row[name]) for row in case.rows]
        blocks = oracle.masks(name, oracle.blocks[name])
        for value, part, block in zip([row[name] for row in case.rows], shown, blocks, strict=True):
            alike = {other for other, b in zip(shown, blocks, strict=True) if b == block}
            assert alike == {part}
            if part is None:
                assert is_hidden(oracle, name, value, case)
                continue
            assert part.rows == blocks.count(block) == shown.count(part)
            assert is_true(part, value)


def part_of(parts, value):
    found = [part for part in parts if value is not None and is_member(part.members, value)]
    assert len(found) <= 1
    return found[0] if found else None


def is_member(members, value):
    if isinstance(members, Interval):
        return (members.low is None or value > members.low) and (members.high is None or value <= members.high)
    return value in members


def is_true(part, value):
    match part.form:
        case Shown(shown):
            return shown == value and type(shown) is type(value)
        case ValueSet(values):
            return value in values and len(values) > 1
        case Interval():
            return part.form == part.members
        case Category(label):
            return label.startswith("group") and len(part.members) > 1
    return False


def is_hidden(oracle, name, value, case):
    """Nothing is shown: the value is missing, or not refined yet, or its interval has no ends."""
    kind, first = oracle.kinds[name], len(oracle.blocks[name]) == 1
    if value is None or first:
        return True
    hierarchy = case.schema[name].hierarchy
    if isinstance(kind, Veil):
        return value in kind.hidden
    return hierarchy is not None and hierarchy.kind is Leaves.NUMBERS and len(hierarchy.children(0)) == 1


@SOME
@given(requests(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(request, random):
    case, requirement, method = request
    rows = list(range(len(case.rows)))
    random.shuffle(rows)
    shuffled = replace(case, table=case.table.take(np.array(rows)))
    assert method.decide(population_of(case), requirement, CHANCE) == method.decide(
        population_of(shuffled), requirement, CHANCE
    )


@SOME
@given(requests())
def test_values_nobody_has_are_members_of_the_groups_above_them(request):
    case, requirement, method = request
    recode, *_ = method.decide(population_of(case), requirement, CHANCE)
    for name in case.names:
        hierarchy = case.schema[name].hierarchy
        if hierarchy is not None and hierarchy.kind is Leaves.VALUES:
            numeric = case.table[name].type.is_numeric
            groups = [part for part in recode[name].parts if isinstance(part.form, Category)]
            for part in groups:
                below = hierarchy.leaves_below(hierarchy.labels.index(part.form.label))
                labels = [hierarchy.labels[hierarchy.leaves[place]] for place in below]
                assert list(part.members) == [float(label) if numeric else label for label in labels]


@SOME
@given(requests())
def test_with_k_1_all_that_is_of_use_is_shown(request):
    """Rows of several classes that look alike in an attribute have the same value there, or the same leaf interval."""
    case, _, method = request
    recode, *_ = method.decide(population_of(case), KAnonymity(1), CHANCE)
    for name in case.names:
        hierarchy = case.schema[name].hierarchy
        alike = {}
        for row in case.rows:
            leaf = row[name]
            if leaf is not None and hierarchy is not None:
                leaf = hierarchy.leaf_of(leaf)
            alike.setdefault(part_of(recode[name].parts, row[name]), []).append((leaf, row[TARGET]))
        for rows in alike.values():
            leaves, labels = ({one for one in column if one is not None} for column in zip(*rows, strict=True))
            assert len(labels) < 2 or len(leaves) < 2
