"""One rule of a rule list: conditions on the way to a leaf, and the classes found there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.compare.examples import Attribute, Codes, Examples, Numbers
from incrowd.trees.draw import amount, condition
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
