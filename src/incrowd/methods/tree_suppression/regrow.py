"""Regrowing: split finished groups further, as a second placing step, while every part keeps at least k rows.

Candidates at a node, for each attribute that is not shown exactly yet: a threshold (numeric and ordered
attributes), one part per value, or two sets of values (values ordered by their class mix). Rows with a missing
value form a part of their own. Every part must reach k. The best information gain wins; without gain, the
candidate that reveals most; both count by the weight of the attribute. Attributes that are constant in a node are
revealed at no cost.

The splits are proposed on the sample, by a Numba kernel; the rows of every part are then counted exactly, and a split
with a part that may not be released (or with rows that fit none of its parts) is taken back. With all rows in the
sample, and sizes to decide, nothing is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Judge
from incrowd.methods.method import Population
from incrowd.plan.steps import GROUP, Place, Share
from incrowd.trees.compiled import compiled
from incrowd.trees.tree import Branch, Eq, Gt, Le, Missing, Node, Predicate, Tree, one_of
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import Form, Shown, ShownMissing, Suppressed

HIDDEN, PARTLY, EXACT = 0, 1, 2
LEAF, CUT, VALUES = 0, 1, 2
KIND, ATTRIBUTE, LAST, FIRST, MISSING, BEGIN, END = range(7)
_NO_GAIN = 1e-9  # bits: a smaller difference is rounding

Ints = npt.NDArray[np.int64]


@compiled
def _plogp(x: float) -> float:
    return x * np.log2(x) if x > 0.0 else 0.0


@compiled
def _tally(
    codes: Any, labels: Any, rows: Any, attribute: int, width: int, classes: int, hist: Any, present: Any
) -> int:
    """Class counts of the codes present among the rows; returns how many codes are present, ascending."""
    if rows.size * 4 < width:
        keys = np.empty(rows.size, np.int64)
        for i in range(rows.size):
            keys[i] = codes[rows[i], attribute]
        keys.sort()
        count = 0
        for i in range(keys.size):
            if i == 0 or keys[i] != keys[i - 1]:
                present[count] = keys[i]
                count += 1
                hist[keys[i], :] = 0
        for i in range(rows.size):
            hist[codes[rows[i], attribute], labels[rows[i]]] += 1
        return count
    hist[:width, :] = 0
    for i in range(rows.size):
        hist[codes[rows[i], attribute], labels[rows[i]]] += 1
    count = 0
    for code in range(width):
        for c in range(classes):
            if hist[code, c] > 0:
                present[count] = code
                count += 1
                break
    return count


@compiled
def _bits(counts: Any) -> float:
    """n * H(class) of a histogram."""
    total, inner = 0.0, 0.0
    for c in range(counts.size):
        total += counts[c]
        inner += _plogp(counts[c])
    return _plogp(total) - inner


@compiled
def _best_cut(hist: Any, order: Any, count: int, known: Any, classes: int, k: int) -> tuple[float, int]:
    """Best place to cut the ordered codes in two parts of at least k rows: left information + right, place."""
    left, right = np.zeros(classes, np.int64), known.copy()
    best, place = np.inf, -1
    left_rows, right_rows = 0, known.sum()
    for i in range(count - 1):
        for c in range(classes):
            moved = hist[order[i], c]
            left[c] += moved
            right[c] -= moved
            left_rows += moved
            right_rows -= moved
        if left_rows >= k and right_rows >= k:
            bits = _bits(left) + _bits(right)
            if bits < best - _NO_GAIN:
                best, place = bits, i
    return best, place


@compiled
def _order_by_class(hist: Any, present: Any, count: int, known: Any, classes: int) -> Any:
    """The present codes ordered by their share of the node's second largest class (for two classes: by P)."""
    major, pivot = 0, 0
    for c in range(1, classes):
        if known[c] > known[major]:
            major = c
    for c in range(classes):
        if c != major and (pivot == major or known[c] > known[pivot]):
            pivot = c
    keys = np.empty(count, np.int64)
    for i in range(count):
        keys[i] = (hist[present[i], pivot] << 30) // hist[present[i]].sum() << 32 | i
    keys.sort()
    ordered = np.empty(count, np.int64)
    for i in range(count):
        ordered[i] = present[keys[i] & 0xFFFFFFFF]
    return ordered


@compiled
def _score(
    hist: Any, present: Any, count: int, classes: int, k: int, missing: int, ordered: bool, status: int
) -> tuple[float, int, int, int, Any]:
    """The best split on one tallied attribute: (gain, reveal, kind, place, codes in order); reveal < 0: none.

    ``place`` is the last code of the first part, or ``count`` for one part per value.
    """
    nothing = (0.0, -1, LEAF, -1, present[:0])
    missing_rows = 0
    if count > 0 and present[count - 1] == missing:
        count -= 1
        missing_rows += hist[missing].sum()
    if count == 0 or 0 < missing_rows < k:
        return nothing
    sequence = present[:count].copy()
    if count == 1 and missing_rows == 0:
        return (np.inf, 4, VALUES, 1, sequence) if status == HIDDEN else nothing
    known = np.zeros(classes, np.int64)
    smallest, separate = -1, 0.0
    for i in range(count):
        known += hist[sequence[i]]
        rows = hist[sequence[i]].sum()
        if smallest < 0 or rows < smallest:
            smallest = rows
        separate += _bits(hist[sequence[i]])
    if not ordered and smallest >= k:
        after, place, kind, reveal = separate, count, VALUES, 3
    else:
        if not ordered:
            sequence = _order_by_class(hist, sequence, count, known, classes)
        after, place = _best_cut(hist, sequence, count, known, classes, k)
        kind = CUT if ordered else VALUES
        reveal = (2 if ordered else 1) if status == HIDDEN else 0
    if place < 0:
        return nothing
    rest = 0.0
    if missing_rows > 0:
        rest = _bits(hist[missing])
        known += hist[missing]
    gain = _bits(known) - after - rest
    if gain < _NO_GAIN:
        return (0.0, reveal, kind, place, sequence) if reveal > 0 else nothing
    return gain, reveal, kind, place, sequence


@compiled
def _choose(
    codes: Any,
    labels: Any,
    rows: Any,
    shown: Any,
    ordered: Any,
    widths: Any,
    weights: Any,
    classes: int,
    k: int,
    hist: Any,
    present: Any,
) -> tuple[int, int, int, Any]:
    """The split of a node: (attribute, kind, place, codes in order); attribute < 0: none."""
    best_gain, best_reveal, best_attribute, best_kind, best_place = -1.0, -1.0, -1, LEAF, -1
    best_sequence = present[:0]
    for a in range(widths.size):
        if shown[a] == EXACT or (shown[a] == PARTLY and rows.size < 2 * k):
            continue
        count = _tally(codes, labels, rows, a, widths[a], classes, hist, present)
        gain, reveal, kind, place, sequence = _score(
            hist, present, count, classes, k, widths[a] - 1, ordered[a], shown[a]
        )
        gain, revealed = gain * weights[a], reveal * weights[a]
        if reveal >= 0 and (gain > best_gain or (gain == best_gain and revealed > best_reveal)):
            best_gain, best_reveal, best_attribute, best_kind = gain, revealed, a, kind
            best_place, best_sequence = place, sequence
        if best_gain == np.inf:
            break
    return best_attribute, best_kind, best_place, best_sequence


@compiled
def _scatter(codes: Any, rows: Any, a: int, part: Any, parts: int) -> Any:
    """Sort the rows by part, in place and stably; returns where each part begins and ends."""
    offsets = np.zeros(parts + 1, np.int64)
    before = rows.copy()
    for i in range(rows.size):
        offsets[part[codes[rows[i], a]] + 1] += 1
    cursor = np.zeros(parts, np.int64)
    for p in range(parts):
        offsets[p + 1] += offsets[p]
        cursor[p] = offsets[p]
    for i in range(before.size):
        p = part[codes[before[i], a]]
        rows[cursor[p]] = before[i]
        cursor[p] += 1
    return offsets


@compiled
def _with_room(array: Any, needed: int) -> Any:
    """The array, or a copy with at least the needed rows."""
    if needed <= array.shape[0]:
        return array
    larger = np.zeros((max(needed, 2 * array.shape[0]), array.shape[1]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@compiled
def regrow(
    codes: Any,
    labels: Any,
    order: Any,
    starts: Any,
    status: Any,
    ordered: Any,
    widths: Any,
    weights: Any,
    classes: int,
    k: int,
) -> Any:
    """Grow every group; returns a forest whose first nodes are the groups.

    ``order`` holds the rows sorted by group and is permuted in place; ``starts`` has one entry more than there
    are groups; ``status`` is groups x attributes. The last code of an attribute is the missing one.

    Returns
    -------
    nodes
        One row per node: kind, attribute, last code of the first part, first child, child of the missing
        (or 0), begin and end of its rows in ``order``. A CUT node has two children, one after the other.
    branches
        (node, code, child) for every value of a VALUES node.
    """
    groups = starts.size - 1
    nodes = np.zeros((2 * groups + 16, 7), np.int64)
    shown = np.zeros((2 * groups + 16, widths.size), np.int8)
    branches = np.zeros((64, 3), np.int64)
    for g in range(groups):
        nodes[g, BEGIN], nodes[g, END] = starts[g], starts[g + 1]
        shown[g] = status[g]
    widest = widths.max()
    hist = np.zeros((widest, classes), np.int64)
    present = np.zeros(widest, np.int64)
    part = np.zeros(widest, np.int64)
    node, count, listed = 0, groups, 0
    while node < count:
        rows = order[nodes[node, BEGIN] : nodes[node, END]]
        a, kind, place, sequence = _choose(
            codes, labels, rows, shown[node], ordered, widths, weights, classes, k, hist, present
        )
        if a >= 0:
            separate = place == sequence.size
            children = sequence.size if separate else 2
            members = np.zeros(children, np.int64)
            for i in range(sequence.size):
                p = i if separate else int(i > place)
                part[sequence[i]] = p
                members[p] += 1
            part[widths[a] - 1] = children
            offsets = _scatter(codes, rows, a, part, children + 1)
            missing = offsets[children + 1] > offsets[children]
            parts = children + int(missing)
            nodes = _with_room(nodes, count + parts)
            shown = _with_room(shown, count + parts)
            nodes[node, KIND], nodes[node, ATTRIBUTE], nodes[node, FIRST] = kind, a, count
            nodes[node, LAST] = sequence[place] if kind == CUT else -1
            nodes[node, MISSING] = count + children if missing else 0
            for p in range(parts):
                nodes[count + p, BEGIN] = nodes[node, BEGIN] + offsets[p]
                nodes[count + p, END] = nodes[node, BEGIN] + offsets[p + 1]
                shown[count + p] = shown[node]
                exact = p >= children or (kind == VALUES and members[p] == 1)
                shown[count + p, a] = EXACT if exact else PARTLY
            if kind == VALUES:
                branches = _with_room(branches, listed + sequence.size)
                for i in range(sequence.size):
                    branches[listed, 0], branches[listed, 1] = node, sequence[i]
                    branches[listed, 2] = count + part[sequence[i]]
                    listed += 1
            count += parts
        node += 1
    return nodes[:count], branches[:listed]


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
    tree = _propose(population, forms, judge.k, weights)
    tree, sizes = _take_back(tree, judge.resting(population, tree), judge)
    leaves = [leaf for leaf in tree.leaves if sizes[leaf]]
    shares = tuple(Share(leaf, None, group, int(sizes[leaf])) for group, leaf in enumerate(leaves))
    paths = []
    for leaf in leaves:
        origin, *path = tree.path_to(leaf)
        assert isinstance(origin, Eq)
        paths.append((int(origin.value), tuple(path)))
    return Place(tree, shares), paths, [int(sizes[leaf]) for leaf in leaves]


def _propose(population: Population, forms: Sequence[Sequence[Form]], k: int, weights: Sequence[float]) -> Tree:
    """The forest of splits found on the sample, below a root that tests the group."""
    table = population.sample()
    schema = population.schema
    assert schema.target is not None
    columns = [table[name] for name in schema.quasi_identifiers]
    groups = table[GROUP].codes
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(len(forms) + 1))
    status = np.array([[_status(form) for form in group] for group in forms], np.int8)
    nodes, branches = regrow(
        np.stack([column.codes for column in columns], axis=1),
        table[schema.target].codes,
        order,
        starts,
        status,
        np.array([column.type.has_order for column in columns]),
        np.array([column.width for column in columns]),
        np.array(weights, np.float64),
        table[schema.target].width,
        k,
    )
    return _tree_of(nodes, branches, columns, len(forms), table, schema.target)


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


def _take_back(tree: Tree, resting: npt.NDArray[np.int64], judge: Judge) -> tuple[Tree, npt.NDArray[np.int64]]:
    """Undo every split, below the root, with a part that may not be released or that leaves rows over."""
    totals = resting.copy()
    for number in reversed(range(1, len(tree.nodes))):
        for branch in tree.nodes[number].branches:
            totals[number] += totals[branch.child]
    sound = judge.holds(totals) & (totals[:, 0] > 0)
    split = np.zeros(len(tree.nodes), bool)
    for number in range(1, len(tree.nodes)):
        children = [branch.child for branch in tree.nodes[number].branches]
        split[number] = bool(children) and not resting[number, 0] and all(sound[child] for child in children)
    if bool(split.sum() == sum(not node.is_leaf for node in tree.nodes[1:])):
        return tree, resting[:, 0]
    return _without_splits(tree, totals[:, 0], split)


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
