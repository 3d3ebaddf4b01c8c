"""Mondrian and InfoGain Mondrian: cut the rows in two, again and again, as long as every part keeps k rows.

LeFevre, DeWitt, Ramakrishnan, "Mondrian Multidimensional K-Anonymity" (ICDE 2006), strict form: the widest attribute is
halved at its median; rows with the same value of an attribute stay together when it is cut. No class is needed.

LeFevre, DeWitt, Ramakrishnan, "Workload-Aware Anonymization" (KDD 2006) and "Workload-Aware Anonymization Techniques
for Large-Scale Datasets" (ACM TODS 2008): of all attributes and thresholds, the allowable cut that leaves the smallest
weighted class entropy.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.catalog import target_of
from incrowd.methods.counting import sorted_by_person
from incrowd.methods.judging import LARGEST, Evidence, Judge, summed_up
from incrowd.methods.limits import check_limits
from incrowd.methods.method import INTERVALS, Population, check_choice
from incrowd.methods.numeric import spread_steps
from incrowd.methods.partitioning.dimensions import (
    ATTRIBUTE,
    BEGIN,
    DIMENSION,
    END,
    KIND,
    LAST,
    LEAF,
    SET,
    TREE,
    CutRules,
    Cuts,
    Dimension,
    Dims,
    Placed,
    dimensions_of,
    stacked,
)
from incrowd.methods.partitioning.kernel import divide, grow, list_cuts, mark, parts_of, start
from incrowd.methods.partitioning.tree_of_cuts import CutTree, form_makers, tree_of_cuts, whole_box
from incrowd.plan.steps import Group, Place, Reasons, Share, Show, Step
from incrowd.trees.packing import class_values
from incrowd.trees.tree import ClassValue
from incrowd.vocabulary.encoded_table import Codes, EncodedTable
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KnownSet, Requirement

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
BOXES = ("splits", "extremes")


@dataclass(frozen=True)
class Mondrian:
    """Mondrian.

    Parameters
    ----------
    numeric
        How numbers are released. ``"interval"`` (default): as the label ``(30, 40]``; ``"bounds"``: as two columns,
        its two ends; ``"midpoint"``: as its middle; ``"mean"``: as the mean of the group.
    boxes
        ``"splits"`` (default): an interval ends where the table was cut, and is open where it was not.
        ``"extremes"``: it goes from the smallest to the largest number of the group, as in the paper; this gives
        away that somebody has exactly these numbers. Only with ``numeric="interval"``.
    """

    numeric: str = "interval"
    boxes: str = "splits"

    name: ClassVar[str] = "mondrian"

    def __post_init__(self) -> None:
        check_choice("numeric", self.numeric, INTERVALS)
        check_choice("boxes", self.boxes, BOXES)
        if self.boxes == "extremes" and self.numeric != "interval":
            raise ParameterError("boxes=extremes shows smallest and largest numbers. Use it with numeric=interval.")

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return dict(vars(self))

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,  # noqa: ARG002, nothing is left to chance
        preferences: Preferences = INDIFFERENT,
    ) -> tuple[Step, ...]:
        """Cut while an allowable cut is left."""
        return decide_partition(
            population, requirement, preferences, by_class=False, numeric=self.numeric, boxes=self.boxes
        )


@dataclass(frozen=True)
class InfoGainMondrian(Mondrian):
    """InfoGain Mondrian.

    Parameters
    ----------
    numeric, boxes
        As in :class:`~incrowd.methods.partitioning.mondrian.Mondrian`.
    min_gain
        A cut must gain at least so many bits of class information per row. None (default): go on while an allowable
        cut is left, also if it gains nothing; smaller groups keep more of the other attributes.
    """

    min_gain: float | None = None

    name: ClassVar[str] = "infogain-mondrian"

    def __post_init__(self) -> None:
        super().__post_init__()
        gain = self.min_gain
        is_number = isinstance(gain, int | float) and not isinstance(gain, bool)
        if gain is not None and not (is_number and math.isfinite(gain) and gain >= 0):
            raise ParameterError("min_gain must be a number of at least 0, in bits per row, or left out.")

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,  # noqa: ARG002, nothing is left to chance
        preferences: Preferences = INDIFFERENT,
    ) -> tuple[Step, ...]:
        """Cut while a wanted and allowable cut is left."""
        target_of(population.schema, self.name)
        shown = {"numeric": self.numeric, "boxes": self.boxes}
        return decide_partition(population, requirement, preferences, by_class=True, min_gain=self.min_gain, **shown)


# The steps of a partitioning: find cuts, count them exactly, show the boxes. The table is cut in one compiled loop if
# sizes decide, else asking the judge about every cut. Cuts may be found on a sample; those that fail when all rows are
# counted are taken back.
def grow_cuts(
    dimensions: Sequence[Dimension],
    labels: npt.NDArray[np.int32],
    classes: int,
    judge: Judge,
    marks_of_rows: Ints,
    *,
    by_class: bool,
    min_gain: float | None,
) -> Cuts:
    """Cut all rows while a cut is left whose every part may be released.

    First comes the cut that tells the classes apart best, or the widest dimension at its median. Where rows are not
    persons, they are sorted by person before: who is in a part is then seen in one pass.
    """
    rows: Ints | slice = slice(None)
    if judge.persons:
        owners = marks_of_rows[:, 0]
        rows = sorted_by_person(owners, int(owners.max(initial=-1)) + 1)
    marks_of_rows, labels = marks_of_rows[rows], labels[rows]
    owners = marks_of_rows[:, 0] if judge.persons else np.empty(0, np.int64)
    table = Placed(stacked(dimensions, rows, len(labels)), labels, classes, owners.copy())
    dims, roots = _side_by_side(dimensions)
    wanted = CutRules(by_class, max(1, judge.k), -1.0 if min_gain is None else float(min_gain))
    order = np.arange(len(labels))
    if judge.counts_only:
        grown = grow(table, dims, wanted, roots, order)
    else:
        grown = grow_asking(table, dims, wanted, roots, order, judge, marks_of_rows)
    nodes, marks = grown.nodes[: grown.used[0]], grown.marks[: grown.used[1]]
    marks[:, 1] -= _bases(dimensions)[nodes[marks[:, 0], ATTRIBUTE]]
    return Cuts(nodes, marks)


def _bases(dimensions: Sequence[Dimension]) -> Ints:
    """The number at which the groups of each dimension's hierarchy begin; 0 without one."""
    sizes = [0 if d.hierarchy is None else len(d.hierarchy) for d in dimensions]
    before = np.cumsum([0, *sizes])[:-1]
    return np.where([d.kind == TREE for d in dimensions], before, 0)


def _side_by_side(dimensions: Sequence[Dimension]) -> tuple[Any, Ints]:
    """The dimensions as the kernel takes them, and the group of each at which cutting begins."""
    positions = [np.empty(0) if d.kind == TREE else d.positions for d in dimensions]
    offsets = np.cumsum([0, *map(len, positions)])[:-1]
    first, end, begin, children, roots = list[int](), list[int](), [0], list[int](), list[int]()
    for dimension in dimensions:
        base = len(first)
        roots.append(0)
        if dimension.hierarchy is not None:
            roots[-1] = base + dimension.settled(0)
            for node in range(len(dimension.hierarchy)):
                below = dimension.hierarchy.leaves_below(node)
                first.append(below.start)
                end.append(below.stop)
                children += [base + part for part in dimension.parts(node)]
                begin.append(len(children))
    dims = Dims(
        kind=np.array([d.kind for d in dimensions], np.int64),
        width=np.array([d.width for d in dimensions], np.int64),
        counted=np.array([d.counted for d in dimensions], np.bool_),
        offset=offsets.astype(np.int64),
        position=np.concatenate(positions),
        leaves=np.array([d.width - 1 for d in dimensions], np.int64),
        first=np.array(first, np.int64),
        end=np.array(end, np.int64),
        begin=np.array(begin, np.int64),
        children=np.array(children, np.int64),
        weight=np.array([d.weight for d in dimensions], np.float64),
        must=np.array(
            [-1 if d.coarsest is None else root for d, root in zip(dimensions, roots, strict=True)], np.int64
        ),
    )
    return dims, np.array(roots, np.int64)


def take_back(cuts: Cuts, evidence: Evidence, judge: Judge) -> Cuts:
    """Undo every cut with a part that fails the requirement, and every cut with rows that fit none of its parts.

    With all rows in the sample nothing is undone.
    """
    totals = evidence.rolled_up(cuts.parents)
    fails = ~judge.holds(totals) | (totals[:, 0] == 0)
    undone = cuts.is_cut & (evidence.rows > 0)
    undone[cuts.parents[1:][fails[1:]]] = True
    if not undone.any():
        return cuts
    nodes = cuts.nodes.copy()
    nodes[undone, KIND] = LEAF
    return replace(cuts, nodes=nodes)


@dataclass(frozen=True, eq=False)
class Partition:
    """The dimensions, the kept cuts, their tree, the exact rows at each node, and how many cuts there were at first."""

    dimensions: tuple[Dimension, ...]
    cuts: Cuts
    made: CutTree
    rows: list[int]
    cuts_at_first: int


def decide_partition(
    population: Population,
    requirement: Requirement,
    preferences: Preferences,
    *,
    by_class: bool,
    min_gain: float | None = None,
    numeric: str,
    boxes: str,
) -> tuple[Step, ...]:
    """Cut the rows while every part satisfies the requirement; no row is lost."""
    judge = Judge.of(requirement, population)
    names = population.schema.quasi_identifiers
    check_limits(population, judge, [KnownSet(names, judge.k)], preferences)
    partition = find_partition(population, judge, preferences, by_class=by_class, min_gain=min_gain)
    tree, owners = partition.made.tree, partition.made.owners
    _check_limited(partition, population)
    forms = form_makers(
        partition.dimensions,
        numeric,
        boxes,
        requirement.smallest_group,
        [bool(population.contingency(name)[-1].sum()) for name in names],
        population.owners if judge.persons else None,
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
        *spread_steps(numeric, [d.column for d in partition.dimensions if d.has_intervals]),
        _reasons(partition),
    )


def _check_limited(partition: Partition, population: Population) -> None:
    """Raise if a group that may not be made coarser is so rare that no row of it was in the sample.

    A group whose rows have no value at all shows nothing, whatever the limit: nothing is coarser than missing.
    """
    made, whole = partition.made, whole_box(partition.dimensions)
    uncut = []
    for place, dimension in enumerate(partition.dimensions):
        if dimension.coarsest is None:
            continue
        leaves = [leaf for leaf in made.tree.leaves if made.boxes[made.owners[leaf]][place] == whole[place]]
        if leaves and population.histograms(made.tree, dimension.name)[leaves, :-1].any():
            uncut.append(repr(dimension.name))
    if uncut:
        raise RequirementError(
            f"The limits of {', '.join(uncut)} cannot be kept: a group is so rare that no row of it is in the sample "
            "by which this large table is cut. Choose tdr, which counts all rows."
        )


def find_partition(
    population: Population, judge: Judge, preferences: Preferences, *, by_class: bool, min_gain: float | None
) -> Partition:
    """Cuts found on the sample, counted on all rows; cuts whose parts fail are taken back."""
    table = population.sample()
    schema = population.schema
    dimensions = dimensions_of(table, schema, by_class, preferences)
    target = schema.target if by_class else None
    labels, classes = class_codes(table, target)
    marks = judge.of_rows(table, population.owners)
    cuts = grow_cuts(dimensions, labels, len(classes), judge, marks, by_class=by_class, min_gain=min_gain)
    tree = tree_of_cuts(cuts, dimensions, target or "", classes)
    evidence = judge.resting(population, tree.tree, tree.owners)
    kept = take_back(cuts, evidence, judge)
    if kept is not cuts:
        tree = tree_of_cuts(kept, dimensions, target or "", classes)
    rows = summed_up(evidence.rows, cuts.parents)
    return Partition(dimensions, kept, tree, rows.tolist(), int(cuts.is_cut.sum()))


def class_codes(table: EncodedTable, target: str | None) -> tuple[Codes, tuple[ClassValue, ...]]:
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
        ("cuts taken back", partition.cuts_at_first - len(cut)),
    )
    most_cut_first = tuple(sorted(named, key=lambda row: -row[1]))
    return Reasons("Cuts", ("attribute", "cuts", "rows that were cut"), most_cut_first, facts)


# All cuts of a dimension put its places in one order, and differ in where the first part ends. So the evidence of each
# place is counted once for a node, and that of the parts of all these cuts are sums along the order, judged together.
def grow_asking(table: Any, dims: Any, rule: Any, roots: Ints, order: Ints, judge: Judge, marks: Ints) -> Any:
    """The loop of the kernel, with the judge asked about the parts of each cut, in order of preference."""
    grown, room = start(table, dims, roots)
    waiting = [0]
    while waiting:
        node = waiting.pop()
        rows = order[grown.nodes[node, BEGIN] : grown.nodes[node, END]]
        at = grown.at[node]
        cuts = list_cuts(table, dims, rule, rows, at, room)
        choice = _Node(table, dims, rows, at, room, judge, marks[rows], cuts)
        for number in np.lexsort(cuts.T[LAST::-1]):
            if choice.may_cut(number):
                first = int(grown.used[0])
                grown = divide(table, dims, grown, order, room, node, cuts[number])
                waiting += range(first, int(grown.used[0]))
                break
    return grown


@dataclass(frozen=True, eq=False)
class _Node:
    """The rows of a node, what the judge must know of each, and the cuts that are possible."""

    table: Any
    dims: Any
    rows: Ints
    at: Ints
    room: Any
    judge: Judge
    marks: Ints
    cuts: Ints
    _answers: dict[int, Flags | None] = field(default_factory=dict)

    def may_cut(self, number: int) -> bool:
        """Whether all parts of a cut may be released."""
        dimension = int(self.cuts[number, DIMENSION])
        if dimension not in self._answers:
            self._answers[dimension] = self._along(dimension)
        answers = self._answers[dimension]
        return self._alone(number) if answers is None else bool(answers[number])

    def _alone(self, number: int) -> bool:
        parts, count = parts_of(self.table, self.dims, self.rows, self.at, self.room, self.cuts[number])
        return bool(self.judge.holds(self.judge.tally(self.marks, parts, count)).all())

    def _along(self, dimension: int) -> Flags | None:
        """The answers to all cuts of a dimension; None where evidence does not add up, or is too much at once."""
        kind, judge = self.dims.kind[dimension], self.judge
        if kind == TREE or judge.persons or judge.own:
            return None
        present, places = np.unique(self.table.places[self.rows, dimension], return_inverse=True)
        if len(present) * judge.width > LARGEST:
            return None
        each = judge.tally(self.marks, places, len(present))
        missing = present[-1] == self.dims.width[dimension] - 1
        gone, each, present = each[len(each) - missing :], each[: len(each) - missing], present[: len(each) - missing]
        mine = np.flatnonzero(self.cuts[:, DIMENSION] == dimension)
        last = self.cuts[mine, LAST]
        if kind == SET:
            _, _, ordered = mark(self.table, self.dims, self.rows, self.at[dimension], self.room, self.cuts[mine[0]])
            each, ends = each[np.searchsorted(present, ordered[:, 0])], last
        else:
            ends = np.searchsorted(present, last)
        sums = np.cumsum(each, axis=0)
        answers = np.zeros(len(self.cuts), np.bool_)
        answers[mine] = judge.holds(sums[ends]) & judge.holds(sums[-1] - sums[ends]) & judge.holds(gone).all()
        return answers
