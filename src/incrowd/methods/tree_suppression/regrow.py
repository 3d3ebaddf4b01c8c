"""Regrowing: split finished groups further, as a second placing step, while every part keeps at least k rows.

Candidates at a node, for each attribute that is not shown exactly yet: a threshold (numeric and ordered
attributes), one part per value, or two sets of values (values ordered by their class mix). Rows with a missing
value form a part of their own. Every part must reach k. The best information gain wins; without gain, the
candidate that reveals most; both count by the weight of the attribute. Attributes that are constant in a node are
revealed at no cost.

The splits are proposed on the sample, by a Numba kernel; the rows of every part are then counted exactly, and a split
with a part that may not be released (or with rows that fit none of its parts) is taken back. With all rows in the
sample, and sizes to decide, nothing is. Where a person may have several rows, the persons of each part must reach k;
the rows of a person are neighbours in every node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Evidence, Judge, summed_up
from incrowd.methods.method import Population
from incrowd.methods.tree_suppression.regrow_kernel import CUT, EXACT, HIDDEN, LEAF, PARTLY, regrow
from incrowd.plan.steps import GROUP, Place, Share
from incrowd.trees.tree import Branch, Eq, Gt, Le, Missing, Node, Predicate, Tree, one_of
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import Form, Shown, ShownMissing, Suppressed

Path = tuple[Predicate, ...]


def regrow_groups(
    population: Population, forms: Sequence[Sequence[Form]], judge: Judge, weights: Sequence[float]
) -> tuple[Place, list[tuple[int, Path]], list[int]]:
    """Split the groups of a placed population while every part may be released; attributes count by their weights.

    Returns
    -------
    step
        The second placing step: its tree tests the group first.
    paths
        For each new group, the group it comes from and the further tests its rows pass.
    sizes
        The exact number of rows of each new group.
    """
    tree = _propose(population, forms, judge, weights)
    tree, sizes = _take_back(tree, judge.resting(population, tree), judge)
    leaves = [leaf for leaf in tree.leaves if sizes[leaf]]
    shares = tuple(Share(leaf, None, group, int(sizes[leaf])) for group, leaf in enumerate(leaves))
    paths = []
    for leaf in leaves:
        origin, *path = tree.path_to(leaf)
        assert isinstance(origin, Eq)
        paths.append((int(origin.value), tuple(path)))
    return Place(tree, shares), paths, [int(sizes[leaf]) for leaf in leaves]


def _propose(population: Population, forms: Sequence[Sequence[Form]], judge: Judge, weights: Sequence[float]) -> Tree:
    """The forest of splits found on the sample, below a root that tests the group."""
    table = population.sample()
    schema = population.schema
    assert schema.target is not None
    columns = [table[name] for name in schema.quasi_identifiers]
    groups = table[GROUP].codes
    owners = population.owners if judge.persons and population.owners is not None else np.empty(0, np.int32)
    order = np.lexsort((owners, groups)) if judge.persons else np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(len(forms) + 1))
    order = order[: starts[-1]]
    status = np.array([[_status(form) for form in group] for group in forms], np.int8)
    nodes, branches = regrow(
        _records([*columns, table[schema.target]], order),
        owners[order] if owners.size else owners,
        starts,
        status,
        np.array([column.type.has_order for column in columns]),
        np.array([column.width for column in columns]),
        np.array(weights, np.float64),
        table[schema.target].width,
        judge.k,
    )
    return _tree_of(nodes, branches, columns, len(forms), table, schema.target)


def _records(columns: Sequence[EncodedColumn], order: npt.NDArray[np.intp]) -> npt.NDArray[np.integer]:
    """The codes of the rows, each row's side by side, in 16 bits if those hold them."""
    widest = max(column.width for column in columns)
    records = np.empty((len(order), len(columns)), np.uint16 if widest <= 1 << 16 else np.int32)
    for place, column in enumerate(columns):
        records[:, place] = column.codes[order]
    return records


def _status(form: Form) -> int:
    """How much of an attribute a group shows already."""
    if isinstance(form, Suppressed):
        return HIDDEN
    return EXACT if isinstance(form, Shown | ShownMissing) else PARTLY


def _tree_of(
    nodes: npt.NDArray[np.int64],
    branches: npt.NDArray[np.int64],
    columns: Sequence[EncodedColumn],
    groups: int,
    table: EncodedTable,
    target: str,
) -> Tree:
    """The kernel's forest as one tree: node i becomes node i + 1 below a root that tests the group."""
    classes = (*table[target].dictionary.to_list(), None)
    none = (0,) * len(classes)
    values: dict[int, dict[int, list[int]]] = {}
    for node, code, child in branches.tolist():
        values.setdefault(node, {}).setdefault(child, []).append(code)
    root = Node(GROUP, tuple(Branch(Eq(GROUP, group), group + 1) for group in range(groups)), none)
    built = [root]
    for number, (kind, attribute, last, first, missing, _begin, _end) in enumerate(nodes.tolist()):
        column = columns[attribute]
        tests = _tests(column, kind, last, first, values.get(number, {}))
        if missing:
            tests.append(Branch(Missing(column.name), missing + 1))
        built.append(Node(column.name if tests else None, tuple(tests), none))
    return Tree(tuple(built), target, classes)


def _tests(column: EncodedColumn, kind: int, last: int, first: int, parts: dict[int, list[int]]) -> list[Branch]:
    if kind == LEAF:
        return []
    if kind == CUT and column.type.is_numeric:
        threshold = column.numbers[last].item()
        return [Branch(Le(column.name, threshold), first + 1), Branch(Gt(column.name, threshold), first + 2)]
    if kind == CUT:
        parts = {first: list(range(last + 1)), first + 1: list(range(last + 1, len(column.dictionary)))}
    return [
        Branch(one_of(column.name, [column.values[code] for code in codes]), child + 1)
        for child, codes in parts.items()
    ]


def _take_back(tree: Tree, evidence: Evidence, judge: Judge) -> tuple[Tree, npt.NDArray[np.int64]]:
    """Undo every split, below the root, with a part that may not be released or that leaves rows over."""
    resting, totals = evidence.rows, evidence.rolled_up(tree.parents)
    sound = judge.holds(totals) & (totals[:, 0] > 0)
    split = np.zeros(len(tree.nodes), bool)
    for number in range(1, len(tree.nodes)):
        children = [branch.child for branch in tree.nodes[number].branches]
        split[number] = bool(children) and not resting[number] and all(sound[child] for child in children)
    if bool(split.sum() == sum(not node.is_leaf for node in tree.nodes[1:])):
        return tree, resting
    return _without_splits(tree, summed_up(resting, tree.parents), split)


def _without_splits(
    tree: Tree, sizes: npt.NDArray[np.int64], split: npt.NDArray[np.bool_]
) -> tuple[Tree, npt.NDArray[np.int64]]:
    """The tree cut off below every node that is not split any more, with the rows resting at its nodes."""
    kept = [0]
    number_of = {0: 0}
    for number in kept:
        if number == 0 or split[number]:
            for branch in tree.nodes[number].branches:
                number_of[branch.child] = len(kept)
                kept.append(branch.child)
    nodes = []
    for number in kept:
        node = tree.nodes[number]
        inner = number == 0 or split[number]
        branches = tuple(Branch(b.predicate, number_of[b.child]) for b in node.branches) if inner else ()
        nodes.append(Node(node.attribute if inner else None, branches, node.counts))
    resting = np.array([0 if number == 0 or split[number] else sizes[number] for number in kept], np.int64)
    return Tree(tuple(nodes), tree.target, tree.classes), resting
