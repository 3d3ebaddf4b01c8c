"""The search: refine what is best, as long as something can be refined.

A refinement is judged by what it tells about the class, and by what it costs in group size. It is *valid* if every set
keeps what is required, and *of use* if the rows it touches are of more than one class. Groups only fall apart, so what
is not valid never becomes so, and is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Records
from incrowd.methods.method import Combinations
from incrowd.methods.top_down_refinement.attribute import AttributeState, best_of
from incrowd.methods.top_down_refinement.partitions import Partitions
from incrowd.vocabulary.requirement import KnownSet

Figures = npt.NDArray[np.float64]
Score = Callable[[Figures, Figures], Figures]
AVERAGES = ("related", "all")


def tdr_score(gain: Figures, loss: Figures) -> Figures:
    """Gain per loss, one added to the loss (Fung, Wang, Yu 2007, Score).

    Examples
    --------
    >>> tdr_score(np.array([0.6100, 0.4934]), np.array([36.0, 26.0])).round(4).tolist()
    [0.0165, 0.0183]
    """
    return gain / (loss + 1)


def tds_score(gain: Figures, loss: Figures) -> Figures:
    """Gain per loss; where nothing is lost, the gain (Fung, Wang, Yu 2005, Score).

    Examples
    --------
    >>> tds_score(np.array([0.5, 0.5]), np.array([10.0, 0.0])).tolist()
    [0.05, 0.5]
    """
    return gain / np.where(loss > 0, loss, 1.0)


def gain_alone(gain: Figures, loss: Figures) -> Figures:  # noqa: ARG001, that is the point
    """The gain, whatever is lost: what the papers compare their score with."""
    return gain


def anonymity_loss(
    anonymity: npt.NDArray[np.int64], smallest: npt.NDArray[np.int64], shared: npt.NDArray[np.int64]
) -> Figures:
    """By how much the smallest groups would shrink, on average over sets of attributes (AnonyLoss).

    Parameters
    ----------
    anonymity
        The smallest group of each set, now.
    smallest
        For each set and candidate the smallest part it would leave.
    shared
        The number of sets each candidate's loss is averaged over.

    Examples
    --------
    >>> anonymity_loss(np.array([34, 34]), np.array([[16], [99]]), np.array([1])).tolist()
    [18.0]
    """
    fallen = anonymity[:, None] - np.minimum(anonymity[:, None], smallest)
    return np.asarray(fallen.sum(axis=0) / shared, np.float64)


@dataclass(frozen=True)
class RefinementCandidate:
    """A refinement that is valid and of use: of which attribute, of what into what, and its figures."""

    attribute: str
    place: int
    refined: str
    into: str
    gain: float
    loss: float
    score: float


@dataclass(frozen=True)
class Refined:
    """A refinement that was made, the smallest group of each set after it, and how many records were read for it."""

    candidate: RefinementCandidate
    anonymity: tuple[int, ...]
    reads: int


class Refinement:
    """A table on its way from showing nothing to showing as much as the requirement allows.

    Parameters
    ----------
    held
        The combinations of the attributes' values that occur.
    attributes
        The state of each attribute; they are refined in place.
    sets
        The attributes that are known together, each set with its k.
    score
        The figure that the best candidate has the most of.
    average
        ``"related"``: losses are averaged over the sets that contain the attribute; ``"all"``: over all sets.
    evidence
        What else must be known of the rows to judge a group; None if sizes decide.
    """

    def __init__(
        self,
        held: Combinations,
        attributes: Sequence[AttributeState],
        sets: Sequence[KnownSet],
        score: Score,
        average: str = "related",
        evidence: Records | None = None,
    ) -> None:
        inside = np.array([[attribute.name in known.names for attribute in attributes] for known in sets])
        self.attributes = attributes
        self.partitions = Partitions(held, attributes, inside, evidence)
        self._k = np.array([known.k for known in sets])
        self._score = score
        self._shared = inside.sum(axis=0) if average == "related" else np.full(len(attributes), len(sets))
        self._first = self.partitions.first
        self._close_invalid()

    @property
    def anonymity(self) -> tuple[int, ...]:
        """The smallest group of each set."""
        return tuple(self.partitions.anonymity.tolist())

    def run(self) -> Iterator[Refined]:
        """Refine the best candidate until there is none."""
        while (best := self._best()) is not None:
            yield self._apply(*best)

    def candidates(self) -> list[RefinementCandidate]:
        """All candidates, by attribute and value."""
        numbers, *figures = self._figures()
        candidates = [self._candidate(*each) for each in zip(numbers.tolist(), *figures, strict=True)]
        names = [attribute.name for attribute in self.attributes]
        return sorted(candidates, key=lambda candidate: (names.index(candidate.attribute), candidate.place))

    def _figures(self) -> tuple[npt.NDArray[np.int64], Figures, Figures, Figures]:
        """The numbers of all candidates, their gains, losses and scores."""
        own = [np.flatnonzero(attribute.open) for attribute in self.attributes]
        numbers = np.concatenate([ids + first for ids, first in zip(own, self._first[:-1], strict=True)])
        gains = np.concatenate([state.gains[ids] for ids, state in zip(own, self.attributes, strict=True)])
        shared = np.repeat(self._shared, [len(ids) for ids in own])
        losses = anonymity_loss(self.partitions.anonymity, self.partitions.smallest[:, numbers], shared)
        return numbers, gains, losses, self._score(gains, losses)

    def _best(self) -> tuple[int, float, float, float] | None:
        """The candidate with the best score; of equals, the largest gain, then the first attribute, then value."""
        numbers, gains, losses, scores = self._figures()
        if not len(numbers):
            return None
        tied = np.flatnonzero(best_of(scores))
        tied = tied[best_of(gains[tied])]
        best = min(tied.tolist(), key=lambda i: self._order(int(numbers[i])))
        return int(numbers[best]), float(gains[best]), float(losses[best]), float(scores[best])

    def _apply(self, number: int, gain: float, loss: float, score: float) -> Refined:
        """Refine a candidate and bring the others up to date."""
        candidate = self._candidate(number, gain, loss, score)
        attribute, own = self._place(number)
        state = self.attributes[attribute]
        shown = state.refines(own)
        split = state.refine(own)
        self.partitions.refresh(attribute)
        self.partitions.split(attribute, shown, split.into, split.position)
        self._close_invalid()
        return Refined(candidate, self.anonymity, self.partitions.reads)

    def _close_invalid(self) -> None:
        """Forget the candidates that would leave a group that may not be released."""
        for attribute, state in enumerate(self.attributes):
            opened = np.flatnonzero(state.open)
            numbers = opened + self._first[attribute]
            small = (self.partitions.smallest[:, numbers] < self._k[:, None]).any(axis=0)
            invalid = opened[small | self.partitions.broken[numbers]].tolist()
            for own in invalid:
                state.close(own)
            if invalid:
                self.partitions.refresh(attribute)

    def _candidate(self, number: int, gain: float, loss: float, score: float) -> RefinementCandidate:
        attribute, own = self._place(number)
        state = self.attributes[attribute]
        return RefinementCandidate(
            state.name, state.place(own), *state.words(own), float(gain), float(loss), float(score)
        )

    def _order(self, number: int) -> tuple[int, int]:
        attribute, own = self._place(number)
        return attribute, self.attributes[attribute].place(own)

    def _place(self, number: int) -> tuple[int, int]:
        """The attribute of a candidate, and its id there."""
        attribute = int(np.searchsorted(self._first, number, side="right")) - 1
        return attribute, number - int(self._first[attribute])
