"""The queue of splits that wait to be tried, the best first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

TOLERANCE = 1e-12
DIGITS = 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """A split of a node by an attribute: at a level, or after one of the cuts ``low`` to ``high``."""

    node: int
    attribute: int
    level: int
    gain: float
    score: float
    low: int = -1
    high: int = -1


class Candidates:
    """A priority queue over all nodes: by score, of equal ones the one that came first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Candidate]] = []
        self._pushed = 0

    def push(self, candidate: Candidate) -> None:
        """Queue a candidate."""
        heapq.heappush(self._heap, (-round(candidate.score, DIGITS), self._pushed, candidate))
        self._pushed += 1

    def pop(self) -> Candidate | None:
        """Take the best candidate out; ``None`` if none is left."""
        return heapq.heappop(self._heap)[2] if self._heap else None


def at_least_average(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """The candidates of a node with at least their average gain, and the others (Quinlan 1993, 2.2).

    The gain ratio alone favours splits that tell next to nothing; among those with a fair gain it chooses well.

    Examples
    --------
    >>> some = [Candidate(0, a, 0, gain, 1.0) for a, gain in enumerate([0.3, 0.1, 0.2])]
    >>> [[each.attribute for each in half] for half in at_least_average(some)]
    [[0, 2], [1]]
    """
    average = sum(each.gain for each in candidates) / max(1, len(candidates))
    enough = [each.gain >= average - TOLERANCE for each in candidates]
    halves = (True, False)
    fair, others = ([c for c, e in zip(candidates, enough, strict=True) if e is half] for half in halves)
    return fair, others
