"""What a hider did and why, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

Figure = Fraction | int | float


@dataclass(frozen=True)
class Chose:
    """The attribute (or, for INCP, the value) it went on with, and the figures of all that were possible.

    ``candidates`` are those it chose from; ``figures`` are counts and ratios by their name and the attribute; ``level``
    is the level of generalization, if any.
    """

    chosen: str
    candidates: tuple[str, ...]
    figures: Mapping[str, Mapping[str, Figure]]
    level: int = 0


@dataclass(frozen=True)
class Showed:
    """A cell that was changed: what it shows now (a node of its taxonomy), and by how much that lowers the score."""

    row: int
    attribute: str
    node: int
    factor: Fraction | None = None


@dataclass(frozen=True)
class Walked:
    """A step in a decision tree: a node that was entered, its children compared, or a leaf reached.

    Nodes are named by the branches that lead to them: pairs of an attribute and a node of its taxonomy.
    """

    action: str
    place: tuple[tuple[str, int], ...]
    label: int | None = None
    most_common: tuple[tuple[str, int], ...] | None = None
    match: tuple[tuple[str, int], ...] | None = None


Step = Chose | Showed | Walked


class Status(StrEnum):
    """How the hiding of a cell ended."""

    NOT_PREDICTED = "not predicted"  # nothing else had to change
    COIN = "coin"  # two values only, and the coin said: leave it at that
    HIDDEN = "hidden"  # other cells were changed, and the adversary fails
    DELETED = "deleted"  # it could not be hidden: the whole row is blank

    @property
    def success(self) -> bool:
        """Whether the row was kept."""
        return self is not Status.DELETED
