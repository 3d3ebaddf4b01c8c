"""kADET on random tables: spans, breaches and pruning against the definition, the loop against plain lists."""

import json
from collections import Counter
from dataclasses import dataclass

import numpy as np
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.models.growing import Growth
from incrowd.models.induction import Categories, SpanRequirement
from incrowd.models.kadet import KAdet, publish, reached_nodes
from incrowd.models.published_tree import PublishedTree
from incrowd.models.spans import InductionTable
from incrowd.trees.tree import Branch, Node, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.kernels import compiled_kernels, plain_kernels
from support.oracle_kadet import Id3, brute_spans, keeps, rest

QUIET = list(HealthCheck)
THOUSAND = settings(max_examples=1000, deadline=None, suppress_health_check=QUIET)
SOME = settings(max_examples=250, deadline=None, suppress_health_check=QUIET)
KINDS = (ColumnType.CATEGORICAL, ColumnType.CATEGORICAL, ColumnType.ORDERED, ColumnType.INTEGER, ColumnType.REAL)


@dataclass(frozen=True)
class Asked:
    """A table, and what is asked of it."""

    rows: list[dict]
    table: EncodedTable
    schema: Schema
    domains: dict
    method: KAdet

    @property
    def labels(self):
        return [row["class"] for row in self.rows]

    def brute(self, tree):
        method = self.method
        return brute_spans(tree, self.rows, method.private, "class", self.domains, method.class_private)

    def holds(self, members):
        method = self.method
        return keeps([self.labels[row] for row in members], method.k, method.l, method.max_confidence)


def dictionary(kind, size):
    if kind is ColumnType.INTEGER:
        return pl.Series([4 * i - 3 for i in range(size)], dtype=pl.Int64)
    if kind is ColumnType.REAL:
        return pl.Series([0.3 * i**2 - 1 for i in range(size)], dtype=pl.Float64)
    return pl.Series([f"v{i}" for i in range(size)], dtype=pl.String)


def hierarchy_of(name, values, rng):
    paths = []
    for value in [*values, "unseen"]:
        small = int(rng.integers(0, 4))
        way = [f"small {small}", f"large {small // 2}", "*"]
        paths.append([value, *way[int(rng.choice([0, 0, 0, 2])) :]])
    return Hierarchy.from_paths(name, paths)


def attribute_of(name, score, missing, height, rng):
    """A column with rare values, its place in the schema, and its domain."""
    kind = KINDS[rng.integers(0, 3 if score == "gain" else 5)]
    by_value = not kind.has_order or score == "gain"
    values = dictionary(kind, int(rng.integers(1, 6 if by_value else 12)))
    share = rng.dirichlet(np.full(len(values), 0.7 if by_value else 3.0))
    codes = rng.choice(len(values), height, p=share)
    gone = []
    if missing and by_value and rng.random() < 0.5:
        codes[rng.random(height) < 0.3] = len(values)
        gone = [None] if (codes == len(values)).any() else []
    order = (*values.to_list(), "later") if kind is ColumnType.ORDERED else ()
    hierarchy = hierarchy_of(name, values.to_list(), rng) if by_value and rng.random() < 0.7 else None
    leaves = [hierarchy.labels[leaf] for leaf in hierarchy.leaves] if hierarchy else None
    domain = None if kind.is_numeric else [*(leaves or order or values.to_list()), *gone]
    column = EncodedColumn(name, kind, codes.astype(np.int32), values)
    return column, Column(name, Role.QUASI_IDENTIFIER, kind, order, hierarchy=hierarchy), domain


@st.composite
def asked(draw, score=None, missing=False):
    """Few rows, attributes of all kinds, public and private, with and without hierarchies."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    score = score or draw(st.sampled_from(["gain_ratio", "gain"]))
    height = int(rng.integers(4, 40))
    made = [attribute_of(f"a{i}", score, missing, height, rng) for i in range(rng.integers(1, 5))]
    columns, schema = [each[0] for each in made], [each[1] for each in made]
    domains = {column.name: domain for column, _, domain in made}
    signal = sum(column.codes // (1 + i) for i, column in enumerate(columns)) % rng.integers(2, 4)
    noise = rng.random(height) < rng.choice([0.0, 0.2, 0.6])
    labels = np.where(noise, rng.integers(0, 2, height), signal).astype(np.int32)
    columns.append(EncodedColumn("class", ColumnType.CATEGORICAL, labels, pl.Series(["x", "y", "z"])))
    schema.append(Column("class", Role.TARGET))
    values = {c.name: [*c.dictionary.to_list(), None] for c in columns}
    rows = [{c.name: values[c.name][c.codes[r]] for c in columns} for r in range(height)]
    class_private = draw(st.sampled_from([True, True, False]))
    method = KAdet(
        int(rng.integers(1, 6)),
        tuple(name for name in domains if rng.random() < 0.4),
        class_private,
        score,
        draw(st.sampled_from([None, None, 1.2, 1.6])) if class_private else None,
        draw(st.sampled_from([None, None, 0.8, 1.0])) if class_private else None,
        prune=draw(st.booleans()),
        fill="value" if missing else None,
        bins=draw(st.sampled_from([None, 3])),
    )
    return Asked(rows, EncodedTable.of(columns), Schema(tuple(schema)), domains, method)


def grow(case, steps):
    """The tree after so many candidates."""
    method, names = case.method, list(case.domains)
    attributes = [method._attribute(i, case.table[name], case.schema) for i, name in enumerate(names)]
    public = [name not in method.private for name in names]
    training = InductionTable.of(attributes, public, case.table["class"], method.class_private)
    need = method.requirement
    growth = Growth(training, need, method.score == "gain_ratio")
    for _ in range(steps):
        growth.step()
    return growth


@THOUSAND
@given(asked())
def test_tracked_spans_are_the_spans_of_the_definition(case):
    found = case.method.induce(case.table, case.schema)
    whole = [range(len(case.rows))]
    if not case.method.class_private:
        whole = [[r for r, label in enumerate(case.labels) if label == value] for value in set(case.labels)]
    assert (found.model is None) == (not all(map(case.holds, whole)))
    if found.model is None:
        assert found.reason
        return
    brute = case.brute(found.model.tree)
    tracked = {tuple(span.rows.tolist()): span.leaves for span in found.spans}
    assert tracked == {tuple(rows): frozenset(leaf for leaf, _ in bins) for bins, rows in brute.items()}
    assert all(map(case.holds, brute.values()))
    assert found.model.spans == len(brute)
    assert found.model.smallest_span == min(map(len, brute.values()))


@SOME
@given(asked(missing=True))
def test_missing_as_a_value_is_a_value_of_the_domain(case):
    found = case.method.induce(case.table, case.schema)
    if found.model is not None:
        brute = case.brute(found.model.tree)
        assert sorted(span.rows.tolist() for span in found.spans) == sorted(brute.values())
        assert all(map(case.holds, brute.values()))


def with_split(tree, leaf, name, parts):
    """The tree with one more split."""
    first = len(tree.nodes)
    nodes = [*tree.nodes, *[Node(None, (), tree.nodes[0].counts)] * len(parts)]
    branches = tuple(Branch(part.predicate, first + i) for i, part in enumerate(parts))
    nodes[leaf] = Node(name, branches, tree.nodes[0].counts)
    return Tree(tuple(nodes), tree.target, tree.classes)


def possible(attribute):
    """The marks of an attribute, each with the split it is about."""
    if isinstance(attribute, Categories):
        return [(level, attribute.division(level, -1, -1)) for level in range(len(attribute.levels))]
    return [(cut, attribute.division(0, cut, cut)) for cut in range(attribute.width - 1)]


@THOUSAND
@given(asked(), st.integers(0, 12), st.integers(0, 2**16))
def test_a_breach_is_a_split_that_breaks_the_requirement(case, steps, chosen):
    if case.method.induce(case.table, case.schema).model is None:
        return
    growth = grow(case, steps)
    split = np.array([node.division is not None for node in growth.nodes])
    model, _ = publish(growth, split, case.method.requirement, case.table, {})
    number = np.flatnonzero(~split)[chosen % (~split).sum()]
    leaf = reached_nodes(growth.nodes, split).index(number)
    territory = growth.nodes[number].territory
    growth.spans.survey(territory)
    for a, attribute in enumerate(growth.training.attributes):
        growth.spans.refresh(territory, a)
        for slot, division in possible(attribute):
            tree = with_split(model.tree, leaf, attribute.name, division.parts)
            broken = not all(map(case.holds, case.brute(tree).values()))
            assert bool(territory.bad[growth.training.inputs.slot[a] + slot]) == broken


@THOUSAND
@given(asked())
def test_pruning_never_shrinks_a_span(case):
    method = case.method
    grown, pruned = (
        KAdet(**(method.parameters() | {"prune": prune})).induce(case.table, case.schema) for prune in (False, True)
    )
    if grown.model is None:
        return
    larger = [set(span.rows.tolist()) for span in pruned.spans]
    assert all(any(set(span.rows.tolist()) <= each for each in larger) for span in grown.spans)
    assert len(pruned.model.tree.nodes) <= len(grown.model.tree.nodes)


@SOME
@given(asked())
def test_what_is_published_is_true_and_safe(case):
    with compiled_kernels():
        model = case.method.induce(case.table, case.schema).model
    with plain_kernels():
        assert case.method.induce(case.table, case.schema).model == model
    if model is None:
        return
    leaves = [rest(model.tree, row) for row in case.rows]
    assert model.leaf_of(case.table).tolist() == leaves
    for leaf in model.tree.leaves:
        there = Counter(case.rows[row]["class"] for row in range(len(leaves)) if leaves[row] == leaf)
        counts = tuple(there[value] for value in model.classes)
        if there:
            assert counts[model.labels[leaf]] == max(counts)
        else:
            assert model.labels[leaf] == model.labels[model.tree.parents[leaf]]
        if model.safe_counts[leaf] is not None:
            assert model.safe_counts[leaf] == counts
            sizes = [sum(counts)] if case.method.class_private else [count for count in counts if count]
            assert min(sizes) >= case.method.k
    assert [model.classes[label] for label in model.predict(case.table)] == [
        model.classes[model.labels[leaf]] for leaf in leaves
    ]
    text = json.dumps(model.to_json())
    assert PublishedTree.from_json(json.loads(text)) == model
    assert text.count('"counts"') == sum(counts is not None for counts in model.safe_counts)


@SOME
@given(asked())
def test_a_public_value_is_named_only_if_k_rows_have_it_or_it_was_declared(case):
    model = case.method.induce(case.table, case.schema).model
    if model is None:
        return
    for attribute in model.attributes:
        column = case.schema[attribute.name]
        if attribute.public and attribute.domain is not None and column.hierarchy is None and not column.order:
            counts = Counter(row[attribute.name] for row in case.rows)
            named = set(attribute.domain)
            for node in model.tree.nodes:
                if node.attribute == attribute.name:
                    named |= {branch.predicate.value for branch in node.branches}
            assert all(counts[value] >= case.method.k for value in named)


def levels_of(case):
    """For each attribute its levels, from value to group; a private attribute has one."""
    found = {}
    for name, domain in case.domains.items():
        hierarchy = case.schema[name].hierarchy
        if hierarchy is None or name in case.method.private:
            found[name] = [{value: value for value in domain}]
            continue
        found[name] = []
        for level in range(hierarchy.height, 0, -1):
            nodes = hierarchy.at_level(level).tolist()
            alone = {node: value for node, value in zip(nodes, domain, strict=True) if nodes.count(node) == 1}
            groups = [alone.get(node, hierarchy.labels[node]) for node in nodes]
            found[name].append(dict(zip(domain, groups, strict=True)))
    return found


@SOME
@given(asked(score="gain"))
def test_the_loop_tries_what_plain_lists_try(case):
    method = case.method
    found = method.induce(case.table, case.schema)
    if found.model is None:
        return
    asked_for = method.k, method.l, method.max_confidence
    oracle = Id3(case.rows, case.labels, levels_of(case), method.private, method.class_private, *asked_for)
    told = [(event.path, event.attribute, event.level, event.outcome) for event in found.trace]
    assert told == oracle.trace
    if not method.prune:
        people = sorted(sorted(people) for people, _ in oracle.spans)
        assert sorted(span.rows.tolist() for span in found.spans) == people


@SOME
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=4).filter(any),
    st.integers(1, 20),
    st.sampled_from([None, 1.0, 1.5, 2.0, 2.5]),
    st.sampled_from([None, 0.5, 0.75, 0.9, 1.0]),
)
def test_the_requirement_of_spans_is_the_definition(counts, k, diversity, confidence):
    need = SpanRequirement(k, diversity, confidence)
    labels = [label for label, count in enumerate(counts) for _ in range(count)]
    histogram = np.array(counts)
    assert need.holds(histogram) == keeps(labels, k, diversity, confidence)
