"""A method as somebody might add it: one file, entered once. ``pytest -p one_more_method`` enters it in the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.methods.catalog import METHODS, entry_of
from incrowd.methods.judging import Judge
from incrowd.methods.method import MethodTraits, Population
from incrowd.plan.steps import Group, Place, Share, Show, Step
from incrowd.trees.tree import Branch, Eq, Node, Tree
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.released_value import Form, Shown, Suppressed
from incrowd.vocabulary.requirement import Requirement


@dataclass(frozen=True)
class OneAttribute:
    """Shows the one category that parts the rows into most groups, and hides everything else."""

    name: ClassVar[str] = "one-attribute"
    traits: ClassVar[MethodTraits] = MethodTraits(paper="an example", needs_target=False)

    def parameters(self) -> dict[str, Any]:
        return {}

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,
        preferences: Preferences = INDIFFERENT,
    ) -> tuple[Step, ...]:
        judge, table = Judge.of(requirement, population), population.sample()
        names = population.schema.quasi_identifiers
        trees = [self._parted(population, judge, name) for name in names if not table[name].type.is_numeric]
        tree = max([_tree("", ()), *trees], key=lambda each: len(each.nodes))
        rows = population.count(tree).sum(axis=1).tolist()
        values = [None, *(branch.predicate.value for branch in tree.nodes[0].branches)]
        some = [node for node in range(len(rows)) if rows[node]]
        shares = tuple(Share(node, None, group, rows[node]) for group, node in enumerate(some))
        groups = tuple(Group(rows[n], tuple(_form(tree, name, values[n]) for name in names)) for n in some)
        return Place(tree, shares), Show(names, groups)

    def _parted(self, population: Population, judge: Judge, name: str) -> Tree:
        """A branch for each value that may be shown; what is left over may be released, too."""
        values = population.sample()[name].dictionary.to_list()
        while values:
            resting = judge.resting(population, _tree(name, values))
            evidence = np.stack([resting.of([node]) for node in range(len(values) + 1)])
            may = judge.holds(evidence) & (evidence[:, 0] > 0)
            kept = [value for value, shown in zip(values, may[1:], strict=True) if shown]
            if kept == values and (may[0] or not evidence[0, 0]):
                break
            values = kept if kept != values else values[:-1]
        return _tree(name, values)


def _tree(name: str, values: Sequence[str]) -> Tree:
    branches = tuple(Branch(Eq(name, value), place) for place, value in enumerate(values, start=1))
    leaves = [Node(None, (), (0,))] * len(values)
    return Tree((Node(name if values else None, branches, (0,)), *leaves), "", (None,))


def _form(tree: Tree, name: str, value: str | None) -> Form:
    return Shown(value) if name == tree.nodes[0].attribute and value is not None else Suppressed()


METHODS[OneAttribute.name] = entry_of(OneAttribute)
