"""The state of one attribute: what it shows so far, and what could be refined next.

Everything an attribute may come to show has a number, its *id*: nodes of a taxonomy, intervals, values. An id that may
be refined is a *candidate*. An attribute knows its candidates and their gains from its own counts by class; how large
the groups of rows would be it does not know.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.plan.steps import Part
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.released_value import Form, Interval

Look = Callable[[Interval], Form]
MISSING = "missing"


@dataclass(frozen=True, eq=False)
class Split:
    """A refinement that was made: the ids it led to, and for each code the position of its own among them, or -1."""

    into: tuple[int, ...]
    position: Codes


class Attribute(ABC):
    """What one attribute shows.

    Attributes
    ----------
    open
        For each id, whether it is a candidate.
    gains
        For each candidate, the information gain of refining it.
    next
        For each code, the id its rows would show if their candidate was refined; -1 if nobody will ask.
    decides
        For each id, the candidate whose refinement would show it.
    one_by_one
        Whether a candidate takes one value out of those that are hidden, which leaves the others together.
    """

    one_by_one: bool = False

    def __init__(self, name: str, codes: int, ids: int) -> None:
        self.name = name
        self.open: npt.NDArray[np.bool_] = np.zeros(ids, np.bool_)
        self.gains: npt.NDArray[np.float64] = np.zeros(ids)
        self.next: npt.NDArray[np.int64] = np.full(codes, -1, np.int64)
        self.decides: npt.NDArray[np.int64] = np.arange(ids)

    @abstractmethod
    def refines(self, candidate: int) -> int:
        """The id that is shown until the candidate is refined."""

    @abstractmethod
    def place(self, candidate: int) -> int:
        """Where the candidate stands in the order of the attribute's values."""

    @abstractmethod
    def words(self, candidate: int) -> tuple[str, str]:
        """What is refined and what it becomes, in words."""

    @abstractmethod
    def refine(self, candidate: int) -> Split:
        """Refine, and find the next candidates."""

    @abstractmethod
    def close(self, candidate: int) -> None:
        """Never offer this candidate again."""

    @abstractmethod
    def parts(self, look: Look) -> tuple[Part, ...]:
        """What is shown of which values; ``look`` says how an interval is written."""

    def _split(self, groups: dict[int, Codes]) -> Split:
        """The split into ids, each with its codes."""
        position = np.full(len(self.next), -1, np.int32)
        for i, codes in enumerate(groups.values()):
            position[codes] = i
        return Split(tuple(groups), position)
