"""The cuts as a tree of tests that routes every row, the box of each part, and what its rows show.

A test covers every value that belongs to a part, seen or not. Rows of a group of the hierarchy that was empty when the
cut was made fit no part: they rest at the cut, where counting finds them.

A side of a box is an :class:`Interval` of numbers, the codes of the values that are possible, a group of the
attribute's hierarchy, or :class:`ShownMissing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

from incrowd.measures.information import roundest
from incrowd.methods.numeric import ends_of, interval_form
from incrowd.methods.partitioning.dimensions import BEGIN, CUT, END, SET, TREE, Cuts, Dimension
from incrowd.trees.tree import Branch, ClassValue, Gt, Le, Missing, Node, Predicate, Tree, one_of
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.released_value import (
    Category,
    Form,
    Interval,
    Mean,
    Range,
    Shown,
    ShownMissing,
    Suppressed,
    Value,
    ValueSet,
)

Side = Interval | tuple[int, ...] | int | ShownMissing
Box = tuple[Side, ...]
FormOf = Callable[[Side], Form]


def whole_box(dimensions: Sequence[Dimension]) -> Box:
    """The box that holds everything."""
    return tuple(_whole_side(dimension) for dimension in dimensions)


def _whole_side(dimension: Dimension) -> Side:
    if dimension.hierarchy is not None:
        return dimension.settled(0)
    return Interval() if dimension.column.type.is_numeric else tuple(range(len(dimension.column.dictionary)))


def form_makers(
    dimensions: Sequence[Dimension],
    numeric: str,
    boxes: str,
    k: int,
    with_missing: Sequence[bool],
    owners: Codes | None = None,
) -> tuple[FormOf, ...]:
    """For each dimension, what a side of a box shows.

    ``numeric``, ``boxes``: as in :class:`~incrowd.methods.partitioning.mondrian.Mondrian`. ``k``: the ends that stand
    for open ones, where a middle is shown, have k rows beyond them; k persons if ``owners`` has the person of each row.
    ``with_missing``: whether the attribute is missing in some row: then a box that was not cut there shows nothing of
    it.
    """
    return tuple(
        cache(_maker(dimension, numeric, boxes, _ends(dimension, numeric, k, owners), missing))
        for dimension, missing in zip(dimensions, with_missing, strict=True)
    )


def _ends(dimension: Dimension, numeric: str, k: int, owners: Codes | None) -> tuple[float, float]:
    """What stands for open ends, where a middle is shown."""
    return ends_of(dimension.column, k, owners) if numeric == "midpoint" and dimension.has_intervals else (0, 0)


def _maker(dimension: Dimension, numeric: str, boxes: str, ends: tuple[float, float], missing: bool) -> FormOf:
    whole = _whole_side(dimension)

    def form(side: Side) -> Form:
        if isinstance(side, ShownMissing):
            return side
        ranged = boxes == "extremes" and isinstance(side, Interval)
        if side == whole:
            return Range() if ranged and not missing and len(dimension.column.dictionary) else Suppressed()
        if isinstance(side, tuple):
            return _set_form(dimension, side)
        if not dimension.has_intervals:
            return _group_form(dimension, side)
        interval = dimension.intervals[side] if isinstance(side, int) else side
        if ranged:
            return Range()
        return Mean() if numeric == "mean" else interval_form(interval, numeric, ends)

    return form


def _set_form(dimension: Dimension, codes: tuple[int, ...]) -> Form:
    values = tuple(dimension.column.values[code] for code in codes)
    return Shown(values[0]) if len(values) == 1 else ValueSet(values)


def _group_form(dimension: Dimension, group: Side) -> Form:
    """The value of a leaf, or the name of a group of values."""
    hierarchy = dimension.hierarchy
    assert hierarchy is not None
    assert isinstance(group, int)
    below = hierarchy.leaves_below(group)
    if dimension.as_sets and len(below) > 1:
        members = {hierarchy.labels[hierarchy.leaves[place]] for place in below}
        return ValueSet(tuple(value for value in dimension.column.values if value in members))
    value: Value | None = dimension.leaf_values[below[0]] if len(below) == 1 else None
    return Category(hierarchy.labels[group]) if value is None else Shown(value)


@dataclass(frozen=True, eq=False)
class CutTree:
    """The tree; for each of its nodes, the node of the cuts it belongs to; and for each of those, its box."""

    tree: Tree
    owners: tuple[int, ...]
    boxes: tuple[Box, ...]


def tree_of_cuts(cuts: Cuts, dimensions: Sequence[Dimension], target: str, classes: tuple[ClassValue, ...]) -> CutTree:
    """Build the tree; a node of the cuts may become several tests, one after the other."""
    builder = _Builder(cuts, tuple(dimensions), (0,) * len(classes))
    marks: dict[int, list[tuple[int, int]]] = {}
    for node, mark, part in cuts.marks.tolist():
        marks.setdefault(node, []).append((mark, part))
    for node, (kind, attribute, *numbers) in enumerate(cuts.nodes.tolist()):
        if kind == CUT and builder.boxes[node] is not None:
            builder.cut(node, attribute, numbers, marks.get(node, []))
    boxes = tuple(() if box is None else box for box in builder.boxes)
    return CutTree(Tree(tuple(builder.nodes), target, classes), tuple(builder.owners), boxes)


@dataclass(eq=False)
class _Builder:
    """The tree so far; ``numbers`` has the number in the tree of each node of the cuts."""

    cuts: Cuts
    dimensions: tuple[Dimension, ...]
    none: tuple[int, ...]
    nodes: list[Node] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    boxes: list[Box | None] = field(default_factory=list)
    thresholds: dict[tuple[int, int, int], float] = field(default_factory=dict)
    predicates: dict[tuple[int, int], Predicate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sizes = (self.cuts.nodes[:, END] - self.cuts.nodes[:, BEGIN]).tolist()
        self.boxes = [None] * len(self.cuts.nodes)
        self.boxes[0] = whole_box(self.dimensions)
        self.numbers[0] = self.new(0)

    def new(self, owner: int) -> int:
        """A further node of the tree, a leaf so far."""
        self.nodes.append(Node(None, (), self.none))
        self.owners.append(owner)
        return len(self.nodes) - 1

    def test(self, number: int, name: str, branches: Sequence[Branch]) -> None:
        """Make a node of the tree a test."""
        self.nodes[number] = Node(name, tuple(branches), self.none)

    def cut(self, node: int, attribute: int, numbers: Sequence[int], marks: Sequence[tuple[int, int]]) -> None:
        """Enter one cut and the boxes of its parts."""
        last, after, first, count, missing, *_rows = numbers
        dimension = self.dimensions[attribute]
        children = list(range(first, first + count))
        gone = children.pop() if missing else None
        box = self.boxes[node]
        assert box is not None
        if dimension.kind == TREE:
            sides: list[Side] = [group for group, _ in marks]
        elif dimension.kind == SET:
            sides = [*self._sets(box[attribute], marks, children)]
        else:
            sides = self._halves(attribute, box[attribute], last, after)
        parts = [*zip(sides, children, strict=True), *([(ShownMissing(), gone)] if gone is not None else [])]
        for side, child in parts:
            self.boxes[child] = (*box[:attribute], side, *box[attribute + 1 :])
        if dimension.kind == TREE and dimension.has_intervals:
            self._chain(node, attribute, children, gone)
            return
        for child in children if gone is None else [*children, gone]:
            self.numbers[child] = self.new(child)
        tests = [
            Branch(self._predicate(attribute, side, number == 0), self.numbers[child])
            for number, (side, child) in enumerate(parts)
        ]
        self.test(self.numbers[node], dimension.name, tests)

    def _halves(self, attribute: int, side: Side, last: int, after: int) -> list[Side]:
        """Both sides of a threshold: the roundest number between the values it parts; or of a place in the order."""
        if isinstance(side, tuple):
            return [tuple(code for code in side if code <= last), tuple(code for code in side if code > last)]
        assert isinstance(side, Interval)
        key = (attribute, last, after)
        if key not in self.thresholds:
            dimension = self.dimensions[attribute]
            numbers = dimension.column.numbers
            self.thresholds[key] = roundest(numbers[last].item(), numbers[after].item(), dimension.whole)
        return [Interval(side.low, self.thresholds[key]), Interval(self.thresholds[key], side.high)]

    def _sets(
        self, side: Side, marks: Sequence[tuple[int, int]], children: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Both sets of values; a value that no row has belongs to the larger part."""
        assert isinstance(side, tuple)
        part_of = dict(marks)
        larger = int(self.sizes[children[1]] > self.sizes[children[0]])
        first = tuple(code for code in side if part_of.get(code, larger) == 0)
        return first, tuple(code for code in side if part_of.get(code, larger) == 1)

    def _predicate(self, attribute: int, side: Side, below: bool) -> Predicate:
        """The test of one part of a cut."""
        dimension = self.dimensions[attribute]
        match side:
            case ShownMissing():
                return Missing(dimension.name)
            case Interval(low, high):
                end = high if below else low
                assert end is not None
                return Le(dimension.name, end) if below else Gt(dimension.name, end)
            case tuple():
                return one_of(dimension.name, [dimension.column.values[code] for code in side])
            case group:
                if (attribute, group) not in self.predicates:
                    self.predicates[attribute, group] = _below(dimension, group)
                return self.predicates[attribute, group]

    def _chain(self, node: int, attribute: int, children: Sequence[int], gone: int | None) -> None:
        """Groups of numbers, ascending: thresholds one after the other; rows between the groups stay behind."""
        name, number = self.dimensions[attribute].name, self.numbers[node]
        end, ends = self._interval(node, attribute), [self._interval(child, attribute) for child in children]
        extra = [] if gone is None else [Branch(Missing(name), self._number(gone))]
        low = end.low
        for child, interval in zip(children, ends, strict=True):
            if interval.low is not None and interval.low != low:
                above = self.new(node)
                self.test(number, name, [Branch(Gt(name, interval.low), above), *extra])
                number, extra = above, []
            if interval.high is None or interval.high == end.high:
                self.numbers[child], self.owners[number] = number, child
                return
            tests = [Branch(Le(name, interval.high), self._number(child)), *extra]
            if child == children[-1]:
                self.test(number, name, tests)
                return
            above = self.new(node)
            self.test(number, name, [*tests, Branch(Gt(name, interval.high), above)])
            number, extra, low = above, [], interval.high

    def _number(self, child: int) -> int:
        self.numbers[child] = self.new(child)
        return self.numbers[child]

    def _interval(self, node: int, attribute: int) -> Interval:
        box = self.boxes[node]
        assert box is not None
        group = box[attribute]
        assert isinstance(group, int)
        return self.dimensions[attribute].intervals[group]


def _below(dimension: Dimension, group: int) -> Predicate:
    """The test for all values below a group of a hierarchy of values."""
    assert dimension.hierarchy is not None
    values = (dimension.leaf_values[leaf] for leaf in dimension.hierarchy.leaves_below(group))
    return one_of(dimension.name, [value for value in values if value is not None])
