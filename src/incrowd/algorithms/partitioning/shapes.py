"""The tables that the kernel works on.

A cut is a row of six numbers: ``FIRST`` to ``LAST`` are its preference, ``NEXT`` is the first place after it. A node
is a row of nine: whether it is cut (``KIND``), its dimension, the places on both sides of the cut, its first child and
how many parts it has, whether the last part is that of the missing, and where its rows begin and end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

FIRST, WIDTH, DIMENSION, THEN, LAST, NEXT = range(6)
LEAF, CUT = 0, 1
KIND, ATTRIBUTE, FROM, TO, CHILD, PARTS, MISSING, BEGIN, END = range(9)


class Rows(NamedTuple):
    """Places of all rows (rows x dimensions), their classes, and how many classes there are."""

    places: Any
    labels: Any
    classes: int


class Dims(NamedTuple):
    """The dimensions side by side; groups of all hierarchies are numbered through, each a range of leaves."""

    kind: Any
    width: Any
    counted: Any
    offset: Any  # of the dimension's positions
    position: Any
    leaves: Any  # of the dimension's hierarchy
    first: Any
    end: Any
    begin: Any  # of the group's children
    children: Any


class Rule(NamedTuple):
    """Which cuts are wanted: by class or at the median, rows of a part, bits a cut must gain."""

    by_class: bool
    smallest: int
    min_gain: float


class Room(NamedTuple):
    """Scratch space: class counts of each place, the places present, the part of each place."""

    hist: Any
    present: Any
    part: Any


class Grown(NamedTuple):
    """The cuts so far: nodes, the group of each node in each hierarchy, what goes to which part, how much is used."""

    nodes: Any
    at: Any
    marks: Any
    used: Any
