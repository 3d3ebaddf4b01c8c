"""The steps of a release. Each is frozen data; an engine has one applier for each.

::

    Drop(names)              these columns are not released
    Bin(cuts)                numbers are seen, from here on, only as the interval between public cuts they lie in
    Place(tree, shares)      each row comes to rest at a node of the tree; shares say how many of the rows
                             resting there go to which group (which of them is left to chance)
    Seat(sizes)              each row goes to the group that the algorithm gave it; which row is where is not kept
    Link(name)               this column has a fresh pseudonym of the person, the same in all of its rows
    Show(names, groups)      the rows of a group all show the same forms
    Recode(columns)          every value shows the form of the part it belongs to, whatever the rest of its row
    Hide(names, below)       rows whose combination of these attributes is rare show nothing of them
    Spread(names)            intervals of these attributes are written as two columns, for their two ends
    AsCounts(names, cuts)    these attributes are written as the counts of their values in each group
    Rarest(people)           no cell names what fewer people of the table have
    Reasons(...)             what the algorithm says about its decision; nothing is done

A plan shows either by groups (``Place``, ``Show``) or value by value (``Recode``, then ``Hide``). Several ``Place``
steps may follow each other: a later tree may test the group of the earlier step under the name :data:`GROUP`. Groups
of the last ``Place`` are those of ``Show``. The shares of a later ``Place`` are those of one draw of the earlier one:
where that leaves something to chance, another draw may not fit them, and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from incrowd.errors import PlanError
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.forms import check_redraw
from incrowd.vocabulary.naming import check_rarest
from incrowd.vocabulary.released_value import Form, Interval, Member, Value, is_shown

GROUP = "#group"
DROPPED = -1


@dataclass(frozen=True)
class Drop:
    """These columns are not released."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Bin:
    """Numbers are cut at public places: for each attribute its cuts, ascending; a number lies above one cut and
    at most at the next.
    """

    cuts: tuple[tuple[str, tuple[float, ...]], ...]

    def __post_init__(self) -> None:
        if any(list(cuts) != sorted(set(cuts)) for _, cuts in self.cuts):
            raise PlanError("The cuts of an attribute must ascend.")

    @staticmethod
    def intervals(cuts: Sequence[float]) -> tuple[Interval, ...]:
        """The bins between the cuts, open at both ends."""
        ends = [None, *cuts, None]
        return tuple(Interval(low, high) for low, high in pairwise(ends))


@dataclass(frozen=True)
class Share:
    """So many of the rows resting at ``node`` (of one class, if ``label`` is not None) go to ``group``.

    ``label`` is the position of the class in the tree's classes. ``group`` is ``DROPPED`` for rows left out.
    """

    node: int
    label: int | None
    group: int
    rows: int


@dataclass(frozen=True)
class Place:
    """Rows come to rest in a tree and are dealt to groups."""

    tree: Tree
    shares: tuple[Share, ...]

    def __post_init__(self) -> None:
        stratified = {share.label is not None for share in self.shares}
        if len(stratified) > 1:
            raise PlanError("A placing step names the class either in all of its shares or in none.")

    @property
    def stratified(self) -> bool:
        """Whether shares are given class by class."""
        return bool(self.shares) and self.shares[0].label is not None  # as in the first, so in all

    def cell(self, share: Share) -> int:
        """The number of the share's cell: its node, or its node and class."""
        return share.node if share.label is None else share.node * len(self.tree.classes) + share.label

    @property
    def cells(self) -> int:
        """How many cells there are, empty ones included."""
        return len(self.tree.nodes) * (len(self.tree.classes) if self.stratified else 1)


@dataclass(frozen=True)
class Seat:
    """Each row goes to the group that the algorithm gave it, row by row, by something that is not part of the plan."""

    sizes: tuple[int, ...]  # rows of each group
    # The group of each row, in the order of the table, ``DROPPED`` for rows left out; not written with the plan, and
    # not compared. A plan that was read has none: it explains the release, but cannot be applied to the table again.
    seats: Codes | None = field(default=None, compare=False, repr=False)
    left_out: int = 0  # rows that are in no group

    @property
    def known(self) -> Codes:
        """The group of each row, if it is known."""
        if self.seats is None:
            raise PlanError("This plan does not keep which row is in which group. Release the table again.")
        return self.seats


@dataclass(frozen=True)
class Link:
    """Recipients can follow a person: this column has a fresh pseudonym, the same in all rows of a person."""

    name: str


@dataclass(frozen=True)
class Group:
    """Rows that look alike: how many, and what each quasi-identifier shows."""

    rows: int
    forms: tuple[Form, ...]

    @property
    def shown(self) -> int:
        """Number of quasi-identifiers the group shows in some form."""
        return sum(is_shown(form) for form in self.forms)


@dataclass(frozen=True)
class Show:
    """What the rows of each group show, quasi-identifier by quasi-identifier."""

    names: tuple[str, ...]
    groups: tuple[Group, ...]

    def __post_init__(self) -> None:
        if any(len(group.forms) != len(self.names) for group in self.groups):
            raise PlanError("Every group must say what it shows for every quasi-identifier.")


@dataclass(frozen=True)
class Part:
    """Values of an attribute that look alike: which they are, what their rows show, how many released rows show it.

    ``members`` is an interval of numbers (dates: days since 1970-01-01), or the values themselves. A hierarchy's
    values belong to the part also if no row of the table has them.
    """

    members: Interval | tuple[Value, ...]
    form: Form
    rows: int


@dataclass(frozen=True)
class Recoding:
    """The parts of one attribute; a value in none of them, and a missing value, show nothing."""

    name: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Recode:
    """Attributes shown value by value: the same value looks the same in every row."""

    columns: tuple[Recoding, ...]

    def __getitem__(self, name: str) -> Recoding:
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True)
class Hide:
    """Rows of rare combinations show nothing of these attributes, or are left out."""

    names: tuple[str, ...]  # the attributes; a combination is what rows show of them so far
    below: int  # combinations of fewer rows are rare
    # Further combinations to be hidden: for each of ``names`` the position of the part, or one past the last for
    # nothing
    also: tuple[tuple[int, ...], ...] = ()
    drop: bool = False  # leave the rows out
    rows: int = 0  # how many rows are concerned
    only: tuple[str, ...] = ()  # only these of ``names`` show nothing; all of them, if there are none here

    @property
    def hidden(self) -> tuple[str, ...]:
        """The attributes of which rare combinations show nothing."""
        return self.only or self.names


@dataclass(frozen=True)
class Spread:
    """The intervals of these attributes are written as two columns: ``NAME_low`` (excluded), ``NAME_high`` (included).

    An open end, and both ends of what is not shown, are missing.
    """

    names: tuple[str, ...]


@dataclass(frozen=True)
class JointCounts:
    """Two or three attributes whose values are counted together.

    ``values`` are those combinations of values and bins that may be named, in the order of the attributes; None is a
    missing one. What rows have beside them is drawn nowhere.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Member, ...], ...]

    def __post_init__(self) -> None:
        if len(self.names) not in (2, 3) or any(len(each) != len(self.names) for each in self.values):
            raise PlanError("Two or three attributes are counted together, with a value of each.")
        if not self.values:
            raise PlanError("No combination of values may be named of attributes that are counted together.")


@dataclass(frozen=True)
class AsCounts:
    """These attributes are written as the counts of their values in each group, and as ``*`` where they are hidden.

    Numbers are counted in the bins between public cuts: ``cuts`` has those of each number among the names. A number
    without cuts would tell one bin, which is nothing: it is hidden.
    """

    names: tuple[str, ...]
    cuts: tuple[tuple[str, tuple[float, ...]], ...] = ()
    # Counts are drawn anew from the rows of the group and so many more that stand for any row; 0: they are exact.
    redraw: int = 0
    # What fixes the draws; not written with the plan, and not compared. A plan that was read has none.
    key: bytes | None = field(default=None, compare=False, repr=False)
    by_class: bool = False  # groups were parted by class first, so that counts are those of one class
    joint: tuple[JointCounts, ...] = ()  # attributes whose values are counted together

    def __post_init__(self) -> None:
        Bin(self.cuts)
        check_redraw(self.redraw)
        if not {name for name, _ in self.cuts} <= set(self.names):
            raise PlanError("Only attributes that are written as counts have cuts to count between.")
        together = [name for joint in self.joint for name in joint.names]
        if len(set(together)) < len(together) or not {*together} <= {*self.names}:
            raise PlanError("An attribute that is counted with others is written as counts, and in one set of them.")
        if self.joint and not self.redraw:
            raise PlanError("Attributes are counted together in drawn counts only.")


@dataclass(frozen=True)
class Rarest:
    """A cell that names a value, a bin or a group of values that fewer people of the table have shows nothing.

    Which cells these are is known when the rows are dealt: then the forms of the plan are replaced.
    """

    people: int

    def __post_init__(self) -> None:
        check_rarest(self.people)


@dataclass(frozen=True)
class Reasons:
    """What the algorithm has to say about its decision: a table of what it did, in order, and single facts."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    facts: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise PlanError("Every row of the reasons must have as many cells as there are columns.")


Step = Drop | Bin | Place | Seat | Link | Show | Recode | Hide | Spread | AsCounts | Rarest | Reasons
