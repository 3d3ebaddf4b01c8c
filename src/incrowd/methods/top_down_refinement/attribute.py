"""The state of one attribute: what it shows so far, what could be refined next, and what that would gain.

Everything an attribute may come to show has a number, its *id*: nodes of a taxonomy, intervals, values. An id that may
be refined is a *candidate*. An attribute knows its candidates and their gains from its own counts by class; how large
the groups of rows would be it does not know.

The gain of a refinement is the entropy of the class among the rows it touches, less what is left within its parts
(Fung, Wang, Yu 2007, section 3.3). Gains below 1e-12 bits are rounding and count as none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import bits
from incrowd.plan.steps import Part
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.released_value import Form, Interval

Counts = npt.NDArray[np.int64]
Gains = npt.NDArray[np.float64]
_NOTHING = 1e-12  # bits: a smaller gain is rounding
_ALIKE = 1e-9  # figures whose quotient is so near to one differ by rounding only
Look = Callable[[Interval], Form]
MISSING = "missing"


def split_gain(parts: Counts) -> float:
    """Gain of a split into parts, one histogram each.

    Examples
    --------
    >>> round(split_gain(np.array([[5, 11], [16, 2]])), 4)
    0.2716
    """
    whole = parts.sum(axis=0)
    return float(_cleaned((bits(whole) - bits(parts).sum()) / whole.sum()))


def disclosure_gains(values: Counts, hidden: Counts) -> Gains:
    """Gain of showing one value of those that are hidden, for each value.

    ``values``: the histogram of each value. ``hidden``: the histogram of all hidden rows, those of the values included.

    Examples
    --------
    >>> values = np.array([[0, 4], [0, 12], [20, 4]])
    >>> disclosure_gains(values, values.sum(axis=0)).round(4).tolist()
    [0.108, 0.3958, 0.61]
    """
    return _cleaned((bits(hidden) - bits(values) - bits(hidden - values)) / hidden.sum())


def cut_gains(values: Counts, beside: Counts) -> Gains:
    """Gain of cutting ordered values in two, for each place between them.

    ``values``: the histogram of each value, in order. ``beside``: the histogram of rows that form a third part: those
    where the value is missing.

    Examples
    --------
    >>> cut_gains(np.array([[2, 0], [2, 0], [0, 4]]), np.zeros(2, np.int64)).round(4).tolist()
    [0.3113, 1.0]
    """
    left = np.cumsum(values, axis=0)[:-1]
    known = values.sum(axis=0)
    whole = known + beside
    return _cleaned((bits(whole) - bits(left) - bits(known - left) - bits(beside)) / whole.sum())


def best_of(figures: Gains) -> npt.NDArray[np.bool_]:
    """The largest of several figures, and those that differ from it by rounding only.

    Examples
    --------
    >>> best_of(np.array([0.3, 0.1 + 0.2, 0.2])).tolist()
    [True, True, False]
    """
    return np.asarray(figures >= figures.max() * (1 - _ALIKE), np.bool_)


def is_mixed(histogram: Counts) -> bool:
    """Whether rows of more than one class are present: only then is a refinement of any use."""
    return int(np.count_nonzero(histogram)) > 1


def _cleaned(gains: Gains) -> Gains:
    return np.where(gains < _NOTHING, 0.0, gains)


@dataclass(frozen=True, eq=False)
class RefinedCodes:
    """A refinement that was made: the ids it led to, and for each code the position of its own among them, or -1."""

    into: tuple[int, ...]
    position: Codes


class AttributeState(ABC):
    """What one attribute shows.

    ``open``: for each id, whether it is a candidate. ``gains``: for each candidate, the information gain of refining
    it. ``next``: for each code, the id its rows would show if their candidate was refined; -1 if nobody will ask.
    ``decides``: for each id, the candidate whose refinement would show it. ``one_by_one``: whether a candidate takes
    one value out of those that are hidden, which leaves the others together. ``must_refine``: whether the first
    candidate, 0, is refined in any case, since all it shows together may not be shown.
    """

    one_by_one: bool = False
    must_refine: bool = False

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
    def refine(self, candidate: int) -> RefinedCodes:
        """Refine, and find the next candidates."""

    @abstractmethod
    def close(self, candidate: int) -> None:
        """Never offer this candidate again."""

    @abstractmethod
    def parts(self, look: Look) -> tuple[Part, ...]:
        """What is shown of which values; ``look`` says how an interval is written."""

    def _split(self, groups: dict[int, Codes]) -> RefinedCodes:
        """The split into ids, each with its codes."""
        position = np.full(len(self.next), -1, np.int32)
        for i, codes in enumerate(groups.values()):
            position[codes] = i
        return RefinedCodes(tuple(groups), position)


class PartedValues(AttributeState):
    """An attribute whose values are parted further and further: a refinement shows children in place of a candidate."""

    _children: Mapping[int, Sequence[int]]
    _shown: set[int]

    @abstractmethod
    def _below(self, number: int) -> Codes:
        """The codes of an id."""

    @abstractmethod
    def _offer(self, number: int) -> None:
        """Make an id that is shown a candidate, if refining it can be of use; else close it."""

    def refines(self, candidate: int) -> int:
        """The candidate itself."""
        return candidate

    def refine(self, candidate: int) -> RefinedCodes:
        """Show its children in its place."""
        children = self._children[candidate]
        self.open[candidate] = False
        self._shown = self._shown - {candidate} | set(children)
        for child in children:
            self._offer(child)
        return self._split({child: self._below(child) for child in children})

    def close(self, candidate: int) -> None:
        """It is shown for good."""
        self.open[candidate] = False
        self.next[self._below(candidate)] = -1

    def _open(self, candidate: int, gain: float) -> None:
        """Make an id with children a candidate."""
        self.open[candidate] = True
        self.gains[candidate] = gain
        for child in self._children[candidate]:
            self.decides[child] = candidate
            self.next[self._below(child)] = child
