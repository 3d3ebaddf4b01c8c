"""A list of rules, each the best leaf of a pruned C4.5 tree on the rows that no earlier rule covers.

Frank and Witten, "Generating Accurate Rule Sets Without Global Optimization" (ICML 1998), known as PART.

Only as much of a tree is grown as it takes to find one good leaf (section 3; ties and limits as in Weka's PART). Of the
branches of a node the one with the least entropy is explored first, then the next, as long as each turns out to be a
leaf. If all do, the node may be pruned to a leaf itself. Of the leaves, the one with most rows is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.comparisons.learners.c45 import CLASS, class_places, tabled
from incrowd.comparisons.learners.learner import Examples, called, class_weights, weighing
from incrowd.errors import ParameterError
from incrowd.recipients.matrix import Attribute, Codes, Numbers
from incrowd.trees.c45 import SIDE_SHARE, SLACK, at_least, fraction, largest_up_to_middle, with_bound
from incrowd.trees.draw import amount, condition
from incrowd.trees.kernel import score_nodes, xlogx_table
from incrowd.trees.levels import move_weighted, share_missing
from incrowd.trees.packing import Rules, Training
from incrowd.trees.tree import Eq, Gt, Le, Predicate, Tree


@dataclass(frozen=True)
class Condition:
    """A test of the attribute at a place; a missing value satisfies the part ``share`` of it."""

    place: int
    predicate: Predicate
    share: float

    def met(self, attribute: Attribute, rows: Codes) -> Numbers:
        """To what part the rows satisfy it: 1, 0, or the share."""
        values = attribute.values[rows]
        hit: npt.NDArray[np.bool_]
        match self.predicate:
            case Le():
                hit = values <= self.predicate.threshold
            case Gt():
                hit = values > self.predicate.threshold
            case Eq() if attribute.categories is not None and self.predicate.value in attribute.categories:
                hit = values == attribute.categories.index(str(self.predicate.value))
            case _:
                hit = np.zeros(len(values), np.bool_)
        return np.where(attribute.is_missing[rows], self.share, hit.astype(np.float64))


@dataclass(frozen=True)
class Rule:
    """Conditions that must all hold, and the class histogram of the training rows that satisfied them."""

    conditions: tuple[Condition, ...]
    counts: tuple[float, ...]
    labels: tuple[str, ...]

    def weights(self, examples: Examples, rows: Codes) -> tuple[Codes, Numbers]:
        """Those of the rows that the rule covers at least in part, and to what part."""
        weights = np.ones(len(rows))
        for each in self.conditions:
            weights = weights * each.met(examples.attributes[each.place], rows)
            kept = weights > 0
            rows, weights = rows[kept], weights[kept]
        return rows, weights

    @property
    def shares(self) -> Numbers:
        """The shares of the labels."""
        counts = np.array(self.counts)
        return np.asarray(counts / counts.sum())

    def __str__(self) -> str:
        conditions = [f"{each.predicate.attribute} {condition(each.predicate)}" for each in self.conditions]
        label = self.labels[int(np.argmax(self.counts))]
        wrong = sum(self.counts) - max(self.counts)
        return f"{' and '.join(conditions) or 'else'}: {label} ({amount(sum(self.counts))}/{amount(wrong)})"


def way_to(tree: Tree, leaf: int, places: dict[str, int]) -> tuple[Condition, ...]:
    """The conditions from the root to a leaf; a missing value takes each branch with the share of its rows."""
    conditions: list[Condition] = []
    while (parent := tree.parents[leaf]) >= 0:
        branches = tree.nodes[parent].branches
        predicate = next(branch.predicate for branch in branches if branch.child == leaf)
        together = sum(tree.nodes[branch.child].size for branch in branches)
        conditions.append(Condition(places[predicate.attribute], predicate, tree.nodes[leaf].size / together))
        leaf = parent
    return tuple(reversed(conditions))


Array = npt.NDArray[Any]
SMALL = 1e-6  # Weka's idea of no difference


@dataclass(eq=False)
class PartNode:
    """A node while the tree is explored; ``split`` is the kernel's record, None for a leaf."""

    counts: Numbers
    split: Array | None = None
    codes: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    branches: Numbers = field(default_factory=lambda: np.zeros((0, 0)))  # class histograms
    rows: list[tuple[Array, Numbers]] = field(default_factory=list)  # of each branch, with weights
    active: Array = field(default_factory=lambda: np.zeros(0, np.bool_))
    sons: list[PartNode | None] = field(default_factory=list)
    last: int = -1
    chosen: int = 0
    largest: float = 0.0  # rows of the leaf that the chosen branches lead to

    @property
    def is_leaf(self) -> bool:
        """Whether it has no branches, or lost them."""
        return self.split is None

    def next_branch(self, least: float) -> int | None:
        """The branch with the least entropy that is not explored and has rows enough; the first of pure ones."""
        best, least_mixed = np.inf, None
        for place, (size, entropy) in enumerate(self._sizes_and_entropies):
            if self.sons[place] is not None or size < least - SMALL:
                continue
            if entropy <= SMALL:
                return place
            if entropy < best - SMALL:
                best, least_mixed = entropy, place
        return least_mixed

    @cached_property
    def _sizes_and_entropies(self) -> list[tuple[float, float]]:
        """Rows of each branch, and bits per row."""
        sizes = self.branches.sum(axis=1)
        parts = self.branches * np.log2(np.where(self.branches > 0, self.branches, 1.0))
        entropies = np.log2(sizes) - parts.sum(axis=1) / sizes
        return list(zip(sizes.tolist(), entropies.tolist(), strict=True))

    def close(self, least: float, confidence: float | None) -> None:
        """All is explored that will be: prune if all branches are leaves, then choose the way to the largest leaf."""
        self.rows = []
        leaves = self.split is not None and all(son is not None and son.is_leaf for son in self.sons)
        if leaves and confidence is not None:
            leaf, below = _errors(self.counts[None], confidence), _errors(self.branches, confidence)
            if leaf < below + SLACK + SMALL:
                self.split = None
        self.largest = float(self.counts.sum())
        if self.split is not None:
            sizes = [
                -np.inf if son is None or size < least - SMALL else son.largest
                for son, (size, _) in zip(self.sons, self._sizes_and_entropies, strict=True)
            ]
            self.chosen = next(place for place, size in enumerate(sizes) if size > max(sizes) - SMALL)
            self.largest = sizes[self.chosen]


@dataclass(frozen=True, eq=False)
class PartialC45:
    """Finds one leaf on the same packed rows again and again, each time with other weights."""

    training: Training
    min_branch: int
    confidence: float | None

    def grow(self, weights: Numbers) -> tuple[tuple[Condition, ...], Numbers]:
        """The conditions on the way to the best leaf, and its class histogram."""
        rows = np.flatnonzero(weights > 0)
        records = self.training.rows.reshape(-1, self.training.columns.stride)[rows]
        counts = np.bincount(records[:, 0], weights[rows], self.training.columns.classes).astype(np.float64)
        active = np.ones((1, len(self.training.columns.width)), np.bool_)
        root = self._opened(records.ravel(), weights[rows], counts, active)
        self._explore(root)
        return self._way(root)

    @cached_property
    def _table(self) -> Numbers:
        return xlogx_table(len(self.training.rows) // self.training.columns.stride)

    def _explore(self, root: PartNode) -> None:
        open_nodes = [root]
        while open_nodes:
            node = open_nodes[-1]
            last = node.sons[node.last] if node.last >= 0 else None
            wanted = not node.is_leaf and (last is None or last.is_leaf)
            place = node.next_branch(self.min_branch) if wanted else None
            if place is not None:
                son = self._opened(*node.rows[place], node.branches[place], node.active.copy())
                node.sons[place], node.last = son, place
                open_nodes.append(son)
                continue
            if wanted:  # what is left has too few rows to be explored
                unexplored = zip(node.sons, node.branches, strict=True)
                node.sons = [son or PartNode(each, largest=float(each.sum())) for son, each in unexplored]
            node.close(self.min_branch, self.confidence)
            open_nodes.pop()

    def _opened(self, rows: Array, weights: Numbers, counts: Numbers, active: Array) -> PartNode:
        """A node with its branches, none of them explored; a leaf if it cannot be split."""
        columns = self.training.columns
        total = counts.sum()
        if total < 2 * self.min_branch - SMALL or counts.max() >= total - SMALL or not len(columns.width):
            return PartNode(counts)
        rules = Rules(float(self.min_branch), SIDE_SHARE, True, True, False)
        starts = np.array([0, len(weights)], np.int64)
        level = counts[None]
        split, codes, branches = score_nodes(rows, weights, starts, level, active, columns, rules, self._table)
        if split[0, 0] < 0:
            return PartNode(counts)
        branches = share_missing(level, split, branches)
        every = np.ones(len(codes), np.bool_)
        moved, shares, ends = move_weighted(rows, weights, starts, split, codes, branches, every, columns)
        width = columns.stride
        parts = [(moved[lo * width : hi * width], shares[lo:hi]) for lo, hi in pairwise(ends)]
        return PartNode(counts, split[0], codes, branches, parts, active, [None] * len(codes))

    def _way(self, root: PartNode) -> tuple[tuple[Condition, ...], Numbers]:
        """The chosen branches from the root down."""
        conditions, node = [], root
        while node.split is not None:
            predicate = self._predicate(node.split, int(node.codes[node.chosen]))
            share = node.branches[node.chosen].sum() / node.branches.sum()
            conditions.append(Condition(int(node.split[0]), predicate, float(share)))
            son = node.sons[node.chosen]
            assert son is not None
            node = son
        return tuple(conditions), node.counts

    def _predicate(self, split: Array, code: int) -> Predicate:
        """The condition of a branch, in the values of its attribute."""
        column, bins = self.training.attributes[split[0]], self.training.bins[split[0]]
        if not column.type.is_numeric:
            return Eq(column.name, column.dictionary[int(bins.first[code])])
        below, above = column.numbers[bins.last[split[1]]], column.numbers[bins.first[split[2]]]
        occurring = column.numbers[column.counts[:-1] > 0]
        threshold = largest_up_to_middle(occurring, below, above)
        return Gt(column.name, threshold) if code else Le(column.name, threshold)


def _errors(counts: Numbers, confidence: float) -> float:
    """Estimated errors of leaves together."""
    sizes = counts.sum(axis=1)
    return float(with_bound(sizes, sizes - counts.max(axis=1), confidence).sum())


NOTHING = 1e-3  # what is left of a row by the rules may be forgotten below this part

Round = tuple[Rule, ...]


@dataclass(frozen=True, eq=False)
class RuleListModel:
    """Rounds of rules. The first rule that covers a row decides; the rules of a round exclude each other.

    A row that a rule covers in part (a tested value is missing) goes on with the rest of its weight.
    """

    rounds: tuple[Round, ...]
    labels: int

    def scores(self, examples: Examples) -> Numbers:
        """The class shares of the rules that cover a row, by weight."""
        scores = np.zeros((examples.height, self.labels))
        left = np.ones(examples.height)
        for rules in self.rounds:
            there = np.flatnonzero(left)
            for rule in rules:
                rows, parts = rule.weights(examples, there)
                scores[rows] += (left[rows] * parts)[:, None] * rule.shares
            left = left_by(rules, examples, left)
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class RuleList:
    """PART-like rules from C4.5 trees.

    As in PART, a row whose tested value is missing is covered in part (by the share of known rows that take the
    branch), and what is left of it goes on to the next rules; below a thousandth it is forgotten, where Weka's PART
    carries it on. A row that no rule covers has the shares of all training rows. Rows may have any weights.
    """

    confidence: float | None = 0.25
    min_branch: int = 2
    bins: int | None = 1024
    # PART takes the largest leaf of a "partial" tree; "whole" trees give far fewer rules (Adult: 56, not 773).
    trees: Literal["whole", "partial"] = "whole"
    rules_per_round: int | None = 1  # leaves of a whole tree that become rules; None: until half the rows are covered

    def __post_init__(self) -> None:
        fraction("confidence", self.confidence)
        at_least("min_branch", self.min_branch, 1)
        at_least("bins", self.bins, 2)
        if self.trees not in ("whole", "partial"):
            raise ParameterError("trees must be whole or partial.")
        if self.trees == "partial" and self.rules_per_round != 1:
            raise ParameterError("A partial tree has one rule: leave rules_per_round at 1, or use trees='whole'.")
        if self.rules_per_round is not None:
            at_least("rules_per_round", self.rules_per_round, 1)

    @property
    def name(self) -> str:
        """What the catalog calls it."""
        if self.trees == "whole":
            return called("rules", self)
        return called("part", replace(self, trees="whole"))

    def fit(self, examples: Examples, seed: int) -> RuleListModel:  # noqa: ARG002
        """Learn rules until a tree has but one leaf; there is no chance in it."""
        default = Rule((), tuple(class_weights(examples).tolist()), examples.labels)
        examples = weighing(examples)
        weights = np.ones(examples.height) if examples.weights is None else examples.weights
        find = self._finder(examples)
        left = np.ones(examples.height)  # the part of each row that no rule covers
        rounds: list[Round] = []
        while left.any():
            rounds.append(find(weights * left))
            left = left_by(rounds[-1], examples, left)
        if rounds[-1][-1].conditions:
            rounds.append((default,))
        return RuleListModel(tuple(rounds), len(examples.labels))

    def _finder(self, examples: Examples) -> Callable[[Numbers], Round]:
        """What makes the rules of a round from the weights of the rows."""
        from incrowd.comparisons.learners.c45 import WeightedC45
        from incrowd.trees.packing import pack

        places = {attribute.name: place for place, attribute in enumerate(examples.attributes)}
        training = pack(tabled(examples), list(places), CLASS, self.bins)
        classes = class_places(training.classes, examples.labels)

        def rule(conditions: tuple[Condition, ...], counts: Sequence[float] | Numbers) -> Rule:
            of_labels = np.zeros(len(examples.labels))
            of_labels[classes] = counts
            return Rule(conditions, tuple(of_labels.tolist()), examples.labels)

        if self.trees == "partial":
            partial = PartialC45(training, self.min_branch, self.confidence)
            return lambda weights: (rule(*partial.grow(weights)),)
        whole = WeightedC45(training, self.min_branch, self.confidence)

        def best_leaves(weights: Numbers) -> Round:
            tree = whole.grow(weights)
            return tuple(rule(way_to(tree, leaf, places), tree.nodes[leaf].counts) for leaf in self._chosen(tree))

        return best_leaves

    def _chosen(self, tree: Tree) -> list[int]:
        """The leaves that become rules, largest first."""
        leaves = sorted(tree.leaves, key=lambda leaf: -tree.nodes[leaf].size)
        if self.rules_per_round is not None:
            return leaves[: self.rules_per_round]
        sizes = np.cumsum([tree.nodes[leaf].size for leaf in leaves])
        return leaves[: int(np.searchsorted(sizes, sizes[-1] / 2)) + 1]


def left_by(rules: Round, examples: Examples, left: Numbers) -> Numbers:
    """What a round of rules leaves of the rows."""
    there = np.flatnonzero(left)
    covered = np.zeros(examples.height)
    for rule in rules:
        rows, parts = rule.weights(examples, there)
        covered[rows] += parts
    remaining = left * np.maximum(1 - covered, 0.0)
    return np.where(remaining < NOTHING, 0.0, remaining)
