"""One of everything that another package can add to incrowd. It notes which processes import it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding
from incrowd.attacks.catalog import Attack
from incrowd.attacks.scene import Scene
from incrowd.methods.judging import Judge
from incrowd.methods.method import MethodTraits, Population
from incrowd.plan.steps import Group, Place, Share, Show, Step
from incrowd.trees.tree import Node, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.released_value import Suppressed
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.diversity import PowerBound

if log := os.environ.get("CROWD_EXTRAS_LOG"):
    with Path(log).open("a", encoding="utf-8") as file:
        file.write(" ".join(sys.orig_argv[1:3]) + "\n")


@dataclass(frozen=True)
class HideAll:
    """Puts all rows into one group, and shows nothing of it."""

    name: ClassVar[str] = "hide-all"
    traits: ClassVar[MethodTraits] = MethodTraits(paper="nobody's", needs_target=False)

    def parameters(self) -> dict[str, Any]:
        return {}

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,
        preferences: Preferences = INDIFFERENT,
    ) -> tuple[Step, ...]:
        requirement.check_possible(population.rows)
        Judge.of(requirement, population)
        names, rows = population.schema.quasi_identifiers, population.rows
        everybody = Tree((Node(None, (), (0,)),), "", (None,))
        group = Group(rows, tuple(Suppressed() for _ in names))
        return Place(everybody, (Share(0, None, 0, rows),)), Show(names, (group,))


def stump(**parameters: Any) -> Any:
    """A decision tree of one split."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=1, **parameters)


def _smallest(scene: Scene) -> Finding:
    rows = int(scene.released.sizes.min())
    verdict = LEAK if rows < 2 else NO_LEAK
    return Finding(verdict, "The rows of each class were counted.", 1 / rows, interval=(0.0, 1 / rows), unit="share")


SMALLEST_CLASS = Attack("smallest class", _smallest, "Counts the rows of each class.", "a release")


def collision_diversity(value: str, on: str | None) -> PowerBound:
    """Two people of a group share their value with a chance of at most 1 / value."""
    return PowerBound({2: 1}, 1 / Fraction(value), on)


def initials(column: EncodedColumn, target: EncodedColumn | None) -> Hierarchy:
    """Words by their first letter."""
    return Hierarchy.from_paths(column.name, [[word, f"{word[0]}…", ROOT] for word in column.dictionary.to_list()])


def spaced_to_parquet(path: Path, to: Path) -> None:
    """Text with spaces between cells."""
    pl.read_csv(path, separator=" ").write_parquet(to)
