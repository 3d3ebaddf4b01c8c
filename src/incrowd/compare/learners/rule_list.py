"""A list of rules, each the best leaf of a pruned C4.5 tree on the rows that no earlier rule covers.

Frank and Witten, "Generating Accurate Rule Sets Without Global Optimization" (ICML 1998), known as PART.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from incrowd.compare.examples import Examples, Numbers
from incrowd.compare.learners.c45 import CLASS, class_places, tabled
from incrowd.compare.learners.learner import called, class_weights, weighing
from incrowd.compare.learners.rule import Condition, Rule, way_to
from incrowd.errors import ParameterError
from incrowd.trees.growing import at_least, fraction
from incrowd.trees.tree import Tree

NOTHING = 1e-3  # what is left of a row by the rules may be forgotten below this part

Round = tuple[Rule, ...]


@dataclass(frozen=True, eq=False)
class RuleListModel:
    """Rounds of rules. The first rule that covers a row decides; the rules of a round exclude each other.

    A row that a rule covers in part (a tested value is missing) goes on with the rest of its weight.
    """

    rounds: tuple[Round, ...]
    labels: int

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in their order."""
        return tuple(rule for rules in self.rounds for rule in rules)

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

    Parameters
    ----------
    confidence, min_branch, bins
        How the trees are grown and pruned, as in :class:`incrowd.trees.c45.C45`.
    trees
        ``"whole"``: trees are grown in full and pruned, and their largest leaf is taken: the plan that PART
        abbreviates. ``"partial"``: PART itself, with the partial trees that the paper introduces to save time. Here
        whole trees are the quicker ones, since they give far fewer rules (Adult: 56 instead of 773).
    rules_per_round
        How many leaves of one whole tree become rules before the next tree is grown, those with most rows first.
        ``None`` takes as many as cover half of the rows that are left: a few rounds, however many rules.

    Notes
    -----
    As in PART, a row whose tested value is missing is covered in part (by the share of known rows that take the
    branch), and what is left of it goes on to the next rules; below a thousandth it is forgotten, where Weka's PART
    carries it on. A row that no rule covers has the shares of all training rows. Rows may have any weights.

    Examples
    --------
    >>> from incrowd.compare.examples import Attribute
    >>> ages = Attribute("age", np.array([20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]))
    >>> rows = Examples((ages,), np.array([0, 0, 0, 1, 1, 1, 1]), ("no", "yes"))
    >>> for rule in RuleList().fit(rows, 0).rules:
    ...     print(rule)
    age > 40.0: yes (4/0)
    else: no (3/0)
    """

    confidence: float | None = 0.25
    min_branch: int = 2
    bins: int | None = 1024
    trees: Literal["whole", "partial"] = "whole"
    rules_per_round: int | None = 1

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
        from incrowd.compare.learners.partial_tree import PartialC45
        from incrowd.compare.learners.weighted_tree import WeightedC45
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
