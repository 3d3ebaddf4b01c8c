"""Trees against a plain, slow reference written a second way, on many small tables."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from math import log2

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.comparisons.learners.c45 import class_shares
from incrowd.trees.c45 import C45, ID3, estimated_errors, splits_to_keep
from incrowd.trees.packing import exact_bins, quantile_bins
from incrowd.trees.routing import route
from incrowd.trees.sklearn_tree import recount
from incrowd.trees.tree import Eq, Gt, In, Le, Missing, Predicate, Tree, check_tree, tree_from_json, tree_to_json
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType
from support.oracle_gain import gain_ratio, information_gain

GRADES = ("low", "mid", "high", "top")
KINDS = {
    "city": ColumnType.CATEGORICAL,
    "age": ColumnType.INTEGER,
    "grade": ColumnType.ORDERED,
    "dose": ColumnType.REAL,
    "sex": ColumnType.CATEGORICAL,
}
ATTRIBUTES = tuple(KINDS)
Row = dict[str, str | int | float | None]

values = {
    "city": st.sampled_from(["A", "B", "C", None]),
    "age": st.one_of(st.integers(0, 6), st.none()),
    "grade": st.sampled_from([*GRADES, None]),
    "dose": st.one_of(st.sampled_from([-1.5, 0.0, 0.1, 0.25, 7.0]), st.none()),
    "sex": st.sampled_from(["f", "m"]),
    "ill": st.sampled_from(["no", "yes", "yes", None]),
}
rows_of = st.lists(st.fixed_dictionaries(values), min_size=1, max_size=30)
policies = st.sampled_from(["stop", "branch", "weight"])


def encode(rows: list[Row]) -> EncodedTable:
    columns = []
    for name in (*ATTRIBUTES, "ill"):
        kind = KINDS.get(name, ColumnType.CATEGORICAL)
        present = {row[name] for row in rows} - {None}
        order = [grade for grade in GRADES if grade in present] if name == "grade" else sorted(present)
        dtype = {"age": pl.Int64, "dose": pl.Float64}.get(name, pl.String)
        place = {value: code for code, value in enumerate(order)} | {None: len(order)}
        codes = np.array([place[row[name]] for row in rows], np.int32)
        columns.append(EncodedColumn(name, kind, codes, pl.Series(name, order, dtype)))
    return EncodedTable.of(columns)


# --- the reference: rows as dictionaries, recursion, formulas from incrowd.measures -------------------------


class Reference:
    """Grows a tree as nested tuples: (counts, attribute, {predicate: subtree})."""

    def __init__(self, rows: list[Row], grower: C45 | ID3) -> None:
        self.rows, self.grower = rows, grower
        self.c45 = isinstance(grower, C45)
        self.classes = [c for c in ("no", "yes", None) if any(row["ill"] == c for row in rows)]
        self.seen = {name: sorted({r[name] for r in rows} - {None}, key=self.rank) for name in ATTRIBUTES}
        wide = {n for n in ATTRIBUTES if n in ("city", "sex") and len(self.seen[n]) >= 0.3 * len(rows)}
        self.averaged = set(ATTRIBUTES) - wide

    def rank(self, value):
        return GRADES.index(value) if value in GRADES else value

    def tree(self):
        return self.grow([(row, 1.0) for row in self.rows], 0)

    def histogram(self, entries):
        return [sum(w for row, w in entries if row["ill"] == label) for label in self.classes]

    def grow(self, entries, depth):
        counts = self.histogram(entries)
        grower = self.grower
        leaf = (counts, None, {})
        if sum(counts) < max(2 * grower.min_branch, grower.min_node) or max(counts) >= sum(counts):
            return leaf
        if grower.max_depth is not None and depth >= grower.max_depth:
            return leaf
        found = {name: self.best_test(entries, name) for name in ATTRIBUTES}
        name = self.choose({name: test for name, test in found.items() if test and test[0] > 1e-9})
        if name is None:
            return leaf
        branches = self.divide(entries, name, found[name][2])
        return (counts, name, {p: self.grow(part, depth + 1) for p, part in branches.items()})

    def choose(self, tests):
        if self.c45:
            gains = [test[0] for name, test in tests.items() if name in self.averaged]
            if not gains:
                return None
            average = sum(gains) / len(gains)
            tests = {name: test for name, test in tests.items() if test[0] >= average - 1e-3}
        best, chosen = 1e-9, None
        for name, (gain, ratio, _) in tests.items():
            score = ratio if self.c45 else gain
            if score > best + 1e-9:
                best, chosen = score, name
        return chosen

    def best_test(self, entries, name):
        """(gain, ratio, predicates) of the best test of an attribute."""
        gone = [entry for entry in entries if entry[0][name] is None]
        known = [entry for entry in entries if entry[0][name] is not None]
        missing = sum(w for _, w in gone)
        extra = {Missing(name): gone} if gone and self.grower.missing == "branch" else {}
        if extra:
            missing = 0.0
        if name in ("city", "sex"):
            return self.value_test(known, name, extra, missing)
        return self.threshold_test(known, name, extra, missing)

    def value_test(self, known, name, extra, missing):
        here = sorted({row[name] for row, _ in known})
        parts = {Eq(name, v): [e for e in known if e[0][name] == v] for v in here} | extra
        large = [p for p in parts.values() if sum(w for _, w in p) >= self.grower.min_branch - 1e-9]
        if len(large) < 2:
            return None
        bags = [self.histogram(part) for part in parts.values()]
        return information_gain(bags, missing), gain_ratio(bags, missing), tuple(parts)

    def threshold_test(self, known, name, extra, missing):
        here = sorted({row[name] for row, _ in known}, key=self.rank)
        total = sum(w for _, w in known)
        side = self.grower.min_branch
        if self.c45:
            side = max(side, min(0.1 * total / len(self.classes), 25))
        best, candidates = None, 0
        for low, high in pairwise(here):
            left = [e for e in known if self.rank(e[0][name]) <= self.rank(low)]
            right = [e for e in known if self.rank(e[0][name]) > self.rank(low)]
            if min(sum(w for _, w in left), sum(w for _, w in right)) < side - 1e-9:
                continue
            candidates += 1
            bags = [self.histogram(part) for part in (left, right, *extra.values())]
            gain, ratio = information_gain(bags, missing), gain_ratio(bags, missing)
            if best is None or gain > best[0] + 1e-9:
                best = (gain, ratio, (*self.predicates(name, low, high), *extra))
        if best is None:
            return None
        charge = log2(candidates) / (total + missing + sum(w for p in extra.values() for _, w in p))
        if not (self.c45 and self.grower.mdl):
            charge = 0.0
        return best[0] - charge, best[1] * (best[0] - charge) / best[0] if best[0] else 0.0, best[2]

    def predicates(self, name, low, high):
        if name == "grade":
            cut = self.seen[name].index(low) + 1
            return In(name, frozenset(self.seen[name][:cut])), In(name, frozenset(self.seen[name][cut:]))
        threshold = max(value for value in self.seen[name] if value <= (low + high) / 2)
        return Le(name, threshold), Gt(name, threshold)

    def divide(self, entries, name, predicates):
        parts = {p: [e for e in entries if satisfies(e[0], p)] for p in predicates}
        if self.grower.missing == "weight":
            known = {p: sum(w for _, w in part) for p, part in parts.items()}
            total = sum(known.values())
            for p in predicates:
                for row, w in entries:
                    if row[name] is None and w * known[p] / total > 1e-6:
                        parts[p].append((row, w * known[p] / total))
        return parts


def satisfies(row: Row, predicate: Predicate) -> bool:
    value = row[predicate.attribute]
    match predicate:
        case Missing():
            return value is None
        case Eq():
            return value == predicate.value
        case In():
            return value in predicate.values
        case Le():
            return value is not None and value <= predicate.threshold
        case Gt():
            return value is not None and value > predicate.threshold


def assert_same(tree: Tree, number: int, expected) -> None:
    counts, attribute, branches = expected
    node = tree.nodes[number]
    assert list(node.counts) == pytest.approx(counts, abs=1e-6)
    assert node.attribute == attribute
    assert {branch.predicate for branch in node.branches} == set(branches)
    for branch in node.branches:
        assert_same(tree, branch.child, branches[branch.predicate])


growers = st.one_of(
    st.builds(
        C45,
        min_branch=st.integers(1, 3),
        confidence=st.none(),
        missing=policies,
        mdl=st.booleans(),
        max_depth=st.one_of(st.none(), st.integers(0, 3)),
        min_node=st.integers(1, 8),
        bins=st.sampled_from([None, 1024]),
    ),
    st.builds(ID3, min_branch=st.integers(1, 3), missing=policies, max_depth=st.one_of(st.none(), st.integers(0, 3))),
)


@settings(max_examples=400, deadline=None)
@given(rows=rows_of, grower=growers)
def test_kernel_grows_the_tree_of_the_reference(rows, grower):
    tree = grower.grow(encode(rows), ATTRIBUTES, "ill")
    check_tree(tree, ATTRIBUTES)
    assert_same(tree, 0, Reference(rows, grower).tree())


# --- invariants --------------------------------------------------------------------------------------------

small_growers = st.builds(
    C45,
    min_branch=st.just(1),
    confidence=st.none(),
    mdl=st.just(False),
    missing=st.sampled_from(["stop", "branch"]),
)


@settings(max_examples=150, deadline=None)
@given(rows=rows_of, others=rows_of, grower=small_growers, bins=st.sampled_from([2, 3, 1024]))
def test_every_row_rests_where_its_values_lead(rows, others, grower, bins):
    tree = replace(grower, bins=bins).grow(encode(rows), ATTRIBUTES, "ill")
    assert recount(tree, encode(rows)) == tree
    for some in (rows, others):
        for row, rest in zip(some, route(tree, encode(some)).tolist(), strict=True):
            assert all(satisfies(row, predicate) for predicate in tree.path_to(rest))
            assert not any(satisfies(row, branch.predicate) for branch in tree.nodes[rest].branches)


@settings(max_examples=100, deadline=None)
@given(rows=rows_of, grower=growers)
def test_tree_survives_json(rows, grower):
    tree = grower.grow(encode(rows), ATTRIBUTES, "ill")
    assert tree_from_json(json.loads(json.dumps(tree_to_json(tree)))) == tree


def pessimistic(tree: Tree, confidence: float) -> float:
    return sum(
        estimated_errors(node, [tree.nodes[branch.child] for branch in node.branches], confidence)
        for node in tree.nodes
    )


@settings(max_examples=150, deadline=None)
@given(rows=rows_of, policy=policies, confidence=st.sampled_from([0.05, 0.25, 0.5]))
def test_pruning_does_not_promise_more_errors(rows, policy, confidence):
    table = encode(rows)
    grown = C45(min_branch=1, confidence=None, missing=policy, mdl=False).grow(table, ATTRIBUTES, "ill")
    pruned = C45(min_branch=1, confidence=confidence, missing=policy, mdl=False).grow(table, ATTRIBUTES, "ill")
    removed = sum(not n.is_leaf for n in grown.nodes) - sum(not n.is_leaf for n in pruned.nodes)
    assert pessimistic(pruned, confidence) <= pessimistic(grown, confidence) + 0.1 * removed + 1e-9
    counts = np.array([node.counts for node in pruned.nodes], float)
    kept = splits_to_keep(counts, np.array(pruned.parents), confidence)
    assert kept.tolist() == [not node.is_leaf for node in pruned.nodes]
    assert pruned.nodes[0].counts == grown.nodes[0].counts


@settings(max_examples=150, deadline=None)
@given(rows=rows_of, policy=policies)
def test_raising_redistributes_the_rows(rows, policy):
    table = encode(rows)
    tree = C45(min_branch=1, raising=True, missing=policy, mdl=False).grow(table, ATTRIBUTES, "ill")
    check_tree(tree, ATTRIBUTES)
    assert sum(tree.nodes[0].counts) == pytest.approx(len(rows))
    if policy != "weight":
        assert recount(tree, table) == tree


@settings(max_examples=100, deadline=None)
@given(rows=rows_of, others=rows_of)
def test_fractional_prediction_follows_all_branches(rows, others):
    tree = C45(min_branch=1, confidence=None, missing="weight", mdl=False).grow(encode(rows), ATTRIBUTES, "ill")

    def expected(row, number):
        node = tree.nodes[number]
        sizes = {b.child: tree.nodes[b.child].size for b in node.branches}
        if node.branches and row[node.attribute] is None:
            parts = [(size / sum(sizes.values()), expected(row, child)) for child, size in sizes.items()]
            return sum(share * part for share, part in parts if share > 1e-6)
        for branch in node.branches:
            if satisfies(row, branch.predicate):
                return expected(row, branch.child)
        return np.array(node.counts) / node.size

    shares = class_shares(tree, encode(others))
    for row, share in zip(others, shares, strict=True):
        assert share == pytest.approx(expected(row, 0), abs=1e-5)
        assert share.sum() == pytest.approx(1)


@given(counts=st.lists(st.integers(0, 60), min_size=1, max_size=40), bins=st.integers(2, 12))
def test_bins_are_ranges_of_codes(counts, bins):
    array = np.array(counts, np.int64)
    made = quantile_bins(array, bins)
    assert made.width - 1 <= bins
    assert (np.diff(made.of_code[:-1]) >= 0).all()
    assert made.of_code[-1] == made.width - 1
    present = np.flatnonzero(array[:-1])
    for number in range(made.width - 1):
        members = present[made.of_code[present] == number]
        assert (made.first[number], made.last[number]) == (members[0], members[-1])
    if len(present) <= bins:
        assert made.of_code.tolist() == exact_bins(array).of_code.tolist()
