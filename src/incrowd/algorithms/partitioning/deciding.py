"""The steps of a partitioning: find cuts, count them exactly, show the boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.algorithms.judging import Judge
from incrowd.algorithms.numeric_forms import NUMERIC, spread_steps
from incrowd.algorithms.partitioning.boxes import form_makers
from incrowd.algorithms.partitioning.dimensions import Dimension, dimensions_of
from incrowd.algorithms.partitioning.growing import Cuts, Rule, grow_cuts
from incrowd.algorithms.partitioning.shapes import ATTRIBUTE
from incrowd.algorithms.partitioning.taking_back import coming_to, resting_at, take_back
from incrowd.algorithms.partitioning.tree_of_cuts import CutTree, tree_of_cuts
from incrowd.algorithms.population import Population
from incrowd.errors import ParameterError
from incrowd.plan.steps import Group, Place, Reasons, Share, Show, Step
from incrowd.trees.classes import class_values
from incrowd.trees.tree import ClassValue
from incrowd.vocabulary.encoded_table import Codes, EncodedTable
from incrowd.vocabulary.requirement import Requirement

BOXES = ("splits", "extremes")


@dataclass(frozen=True)
class Showing:
    """How boxes are shown; see :class:`~incrowd.algorithms.partitioning.mondrian.Mondrian`.

    Examples
    --------
    >>> Showing("mean", "extremes")
    Traceback (most recent call last):
    ...
    incrowd.errors.ParameterError: boxes='extremes' shows smallest and largest numbers. Use it with numeric='interval'.
    """

    numeric: str
    boxes: str

    def __post_init__(self) -> None:
        for name, value, choices in (("numeric", self.numeric, NUMERIC), ("boxes", self.boxes, BOXES)):
            if value not in choices:
                raise ParameterError(f"{name} must be one of {', '.join(choices)}.")
        if self.boxes == "extremes" and self.numeric != "interval":
            raise ParameterError("boxes='extremes' shows smallest and largest numbers. Use it with numeric='interval'.")


@dataclass(frozen=True, eq=False)
class Partition:
    """The dimensions, the kept cuts, their tree, the exact rows at each node, and how many cuts were found."""

    dimensions: tuple[Dimension, ...]
    cuts: Cuts
    made: CutTree
    rows: list[int]
    found: int


def decide_partition(
    population: Population, requirement: Requirement, rule: Rule, showing: Showing
) -> tuple[Step, ...]:
    """Cut the rows while every part satisfies the requirement; no row is lost."""
    requirement.check_possible(population.rows)
    judge = Judge.of(requirement, population)
    partition = find_partition(population, judge, rule)
    names = population.schema.quasi_identifiers
    tree, owners = partition.made.tree, partition.made.owners
    forms = form_makers(
        partition.dimensions,
        showing.numeric,
        showing.boxes,
        requirement.smallest_group,
        [bool(population.contingency(name)[-1].sum()) for name in names],
    )
    shares: list[Share] = []
    groups: list[Group] = []
    for leaf in tree.leaves:
        rows = partition.rows[owners[leaf]]
        box = partition.made.boxes[owners[leaf]]
        shares.append(Share(leaf, None, len(groups), rows))
        groups.append(Group(rows, tuple(form(side) for form, side in zip(forms, box, strict=True))))
    return (
        Place(tree, tuple(shares)),
        Show(names, tuple(groups)),
        *spread_steps(showing.numeric, [d.column for d in partition.dimensions if d.has_intervals]),
        _reasons(partition),
    )


def find_partition(population: Population, judge: Judge, rule: Rule) -> Partition:
    """Cuts found on the sample, counted on all rows; cuts whose parts fail are taken back."""
    table = population.sample()
    schema = population.schema
    dimensions = dimensions_of(table, schema, rule.by_class)
    target = schema.target if rule.by_class else None
    labels, classes = _classes(table, target)
    cuts = grow_cuts(dimensions, labels, len(classes), judge, judge.of_rows(table), rule)
    made = tree_of_cuts(cuts, dimensions, target or "", classes)
    own = resting_at(cuts, made.owners, judge.resting(population, made.tree))
    totals = coming_to(cuts, own)
    kept = take_back(cuts, own, totals, judge)
    if kept is not cuts:
        made = tree_of_cuts(kept, dimensions, target or "", classes)
    return Partition(dimensions, kept, made, totals[:, 0].tolist(), int(cuts.is_cut.sum()))


def _classes(table: EncodedTable, target: str | None) -> tuple[Codes, tuple[ClassValue, ...]]:
    """The class of each row, and the classes; without a target there is one."""
    if target is None:
        return np.zeros(table.height, np.int32), (None,)
    return table[target].codes, class_values(table[target])


def _reasons(partition: Partition) -> Reasons:
    """How often each attribute was cut, for how many rows, and how far it went."""
    tree, owners = partition.made.tree, partition.made.owners
    cut = sorted({owners[number] for number, node in enumerate(tree.nodes) if not node.is_leaf})
    attributes = partition.cuts.nodes[cut, ATTRIBUTE].tolist()
    times, rows = Counter(attributes), Counter[int]()
    for node, attribute in zip(cut, attributes, strict=True):
        rows[attribute] += partition.rows[node]
    named = [(dimension.name, times[number], rows[number]) for number, dimension in enumerate(partition.dimensions)]
    sizes = [partition.rows[owners[leaf]] for leaf in tree.leaves]
    facts = (
        ("groups", len(sizes)),
        ("smallest group", min(sizes)),
        ("largest group", max(sizes)),
        ("tests on the longest path", tree.depth),
        ("cuts taken back", partition.found - len(cut)),
    )
    return Reasons("Cuts", ("attribute", "cuts", "rows that were cut"), _by_cuts(named), facts)


def _by_cuts(named: Sequence[tuple[str, int, int]]) -> tuple[tuple[str, int, int], ...]:
    """Attributes, the most often cut first."""
    return tuple(sorted(named, key=lambda row: -row[1]))
