"""kADET's loop: take the best split of the whole tree, refuse it if a span would become too small, else split.

Friedman, Schuster, Wolff, "k-Anonymous Decision Tree Induction" (PKDD 2006), algorithm 1, with its misprints put right.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from incrowd.models.induction import Division, DivisionPart, Event, SpanRequirement
from incrowd.models.kernel import score, sort_rows
from incrowd.models.spans import InductionTable, SpanOrder, Territory
from incrowd.trees.tree import Eq, Gt, In, Le, Missing

TOLERANCE = 1e-12  # bits: a smaller difference is rounding
DIGITS = 12  # of a score; what differs behind them is rounding, and the first in order goes first
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SplitCandidate:
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
        self._heap: list[tuple[float, int, SplitCandidate]] = []
        self._pushed = 0

    def push(self, candidate: SplitCandidate) -> None:
        """Queue a candidate."""
        heapq.heappush(self._heap, (-round(candidate.score, DIGITS), self._pushed, candidate))
        self._pushed += 1

    def pop(self) -> SplitCandidate | None:
        """Take the best candidate out; ``None`` if none is left."""
        return heapq.heappop(self._heap)[2] if self._heap else None


def at_least_average(candidates: Sequence[SplitCandidate]) -> tuple[list[SplitCandidate], list[SplitCandidate]]:
    """The candidates of a node with at least their average gain, and the others (Quinlan 1993, 2.2).

    The gain ratio alone favours splits that tell next to nothing; among those with a fair gain it chooses well.
    """
    enough = sum(each.gain for each in candidates) / max(1, len(candidates)) - TOLERANCE
    return [one for one in candidates if one.gain >= enough], [one for one in candidates if one.gain < enough]


@dataclass(eq=False)
class GrowingNode:
    """A node: its rows as a stretch of the order of nodes, its territory, its split once it has one."""

    low: int
    high: int
    parent: int
    place: int
    counts: npt.NDArray[np.int64]
    territory: Territory
    usable: npt.NDArray[np.bool_]
    division: Division | None = None
    children: list[int] = field(default_factory=list)
    gain: Floats | None = None
    ratio: Floats | None = None
    held: list[SplitCandidate] = field(default_factory=list)
    waiting: int = 0
    path: str = ""


class Growth:
    """A tree while it grows: nodes, spans, candidates and the trace of what was tried.

    With gain ratio, the candidates of a node with less than the average gain are held back. If all others breach, the
    average is taken anew over those held back, so that a node is not given up while a split is still allowed.
    """

    def __init__(self, training: InductionTable, requirement: SpanRequirement, by_ratio: bool) -> None:
        self.training = training
        self.spans = SpanOrder(training, requirement)
        self.nodes: list[GrowingNode] = []
        self.trace: list[Event] = []
        self._by_ratio = by_ratio
        self._order = np.arange(training.rows, dtype=np.int64)
        self._queue = Candidates()
        usable = np.ones(len(training.attributes), np.bool_)
        self._consider(self._add(0, training.rows, -1, 0, self.spans.root(), usable))

    def run(self) -> Growth:
        """Try candidates until none is left."""
        while self.step():
            pass
        return self

    def step(self) -> bool:
        """Try the best candidate; false if none is left."""
        candidate = self._queue.pop()
        if candidate is not None and self.nodes[candidate.node].division is None:
            self._try(candidate)
        return candidate is not None

    def rows_of(self, node: GrowingNode) -> npt.NDArray[np.int64]:
        """The rows of a node."""
        return self._order[node.low : node.high]

    def _add(
        self, low: int, high: int, parent: int, place: int, territory: Territory, usable: npt.NDArray[np.bool_]
    ) -> int:
        labels = self.training.inputs.labels[self._order[low:high]]
        counts = np.bincount(labels, minlength=len(self.training.classes))
        self.nodes.append(
            GrowingNode(
                low=low, high=high, parent=parent, place=place, counts=counts, territory=territory, usable=usable
            )
        )
        return len(self.nodes) - 1

    def _consider(self, number: int) -> None:
        """Queue the candidates of a new node, in the order of attributes."""
        node = self.nodes[number]
        if np.count_nonzero(node.counts) < 2 or not node.usable.any():
            return
        self.spans.survey(node.territory)
        node.gain, node.ratio, cuts = self._score(node, 0, len(node.usable))
        candidates = [
            SplitCandidate(number, a, 0, gain, score, *cut)
            for a, (gain, score, cut) in enumerate(
                zip(node.gain[:, 0].tolist(), self._scores(node)[:, 0].tolist(), cuts.tolist(), strict=True)
            )
            if gain > TOLERANCE
        ]
        self._queue_fair(node, candidates)

    def _score(self, node: GrowingNode, first: int, last: int) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
        training = self.training
        bad = node.territory.bad
        return score(first, last, training.inputs, self._order, node.low, node.high, node.usable, bad, training.xlogx)

    def _scores(self, node: GrowingNode) -> Floats:
        scores = node.ratio if self._by_ratio else node.gain
        assert scores is not None
        return scores

    def _queue_fair(self, node: GrowingNode, candidates: list[SplitCandidate]) -> None:
        fair, node.held = at_least_average(candidates) if self._by_ratio else (candidates, [])
        node.waiting = len(fair)
        for candidate in fair:
            self._queue.push(candidate)

    def _try(self, candidate: SplitCandidate) -> None:
        """Split by a candidate, or refuse it and queue what takes its place, if anything does."""
        allowed = self._allowed(candidate)
        outcome = "requeue"
        if allowed is None or allowed.level != candidate.level:
            outcome = "breach"
        elif _same(allowed, candidate):
            outcome = "split"
        name = self.training.attributes[candidate.attribute].name
        path = self._path(candidate.node)
        self.trace.append(
            Event(
                node=candidate.node,
                path=path,
                attribute=name,
                level=candidate.level,
                outcome=outcome,
                score=candidate.score,
            )
        )
        if allowed is None:
            self._give_up(self.nodes[candidate.node])
        elif outcome == "split":
            self._split(allowed)
        else:
            self._queue.push(allowed)

    def _path(self, number: int) -> str:
        """The tests that lead to a node: ``root/sex=f/age<=30``."""
        node = self.nodes[number]
        if node.parent < 0:
            return "root"
        if not node.path:
            division = self.nodes[node.parent].division
            assert division is not None
            node.path = f"{self._path(node.parent)}/{_text(division.parts[node.place])}"
        return node.path

    def _allowed(self, candidate: SplitCandidate) -> SplitCandidate | None:
        """What the spans allow instead of a candidate: the same, a coarser level, another threshold, or nothing.

        The marks are read here, whoever completed them: other nodes of the same territory do so as well.
        """
        a, territory = candidate.attribute, self.nodes[candidate.node].territory
        attribute, slot = self.training.attributes[a], self.training.inputs.slot[a]
        self.spans.refresh(territory, a)
        if not attribute.threshold:
            at_level = slot + candidate.level
            allowed = not territory.bad[at_level] and self._keeps(candidate)
            territory.bad[at_level] |= not allowed
            return candidate if allowed else self._coarser(candidate)
        while True:
            marks = territory.bad[slot + candidate.low : slot + candidate.high + 1]
            if not marks.any():
                if self._keeps(candidate):
                    return candidate
                marks[:] = True
            other = self._again(candidate)
            if other is None or not _same(other, candidate):
                return other
            candidate = other  # the same to the rows of the node, not to all rows of the territory: judged by itself

    def _keeps(self, candidate: SplitCandidate) -> bool:
        """Whether the spans keep what is required beyond k after a split that no mark forbids."""
        division = self.training.attributes[candidate.attribute].division(
            candidate.level, candidate.low, candidate.high
        )
        return self.spans.keeps(self.nodes[candidate.node].territory, division)

    def _again(self, candidate: SplitCandidate) -> SplitCandidate | None:
        """The best threshold that is allowed now."""
        a, node = candidate.attribute, self.nodes[candidate.node]
        gain, ratio, cuts = self._score(node, a, a + 1)
        if gain[a, 0] <= TOLERANCE:
            return None
        score = float((ratio if self._by_ratio else gain)[a, 0])
        return replace(candidate, gain=float(gain[a, 0]), score=score, low=int(cuts[a, 0]), high=int(cuts[a, 1]))

    def _coarser(self, candidate: SplitCandidate) -> SplitCandidate | None:
        """The same attribute one level up, if that still tells something."""
        node, a, level = self.nodes[candidate.node], candidate.attribute, candidate.level + 1
        if level >= self.training.inputs.levels[a]:
            return None
        assert node.gain is not None
        gain, score = float(node.gain[a, level]), float(self._scores(node)[a, level])
        return replace(candidate, level=level, gain=gain, score=score) if gain > TOLERANCE else None

    def _give_up(self, node: GrowingNode) -> None:
        """One candidate less; after the last, those held back have their turn."""
        node.waiting -= 1
        if node.waiting == 0 and node.held:
            self._queue_fair(node, node.held)

    def _split(self, candidate: SplitCandidate) -> None:
        """Make the sons: one for each part, of a public attribute only for the parts some span has rows in."""
        a, node = candidate.attribute, self.nodes[candidate.node]
        division = self.training.attributes[a].division(candidate.level, candidate.low, candidate.high)
        column = self.training.inputs.codes[a]
        starts = sort_rows(self._order, node.low, node.high, column, division.part_of, len(division.parts)).tolist()
        territories = self.spans.split(node.territory, division)
        usable = node.usable.copy()
        usable[a] = self.training.attributes[a].threshold
        for place, territory in enumerate(territories):
            if territory is not None:
                son = self._add(starts[place], starts[place + 1], candidate.node, place, territory, usable)
                node.children.append(son)
        node.division, node.gain, node.ratio, node.held = division, None, None, []
        for son in node.children:
            self._consider(son)


def _same(one: SplitCandidate, other: SplitCandidate) -> bool:
    """Whether two candidates of one attribute are one split: for thresholds, the same place between the rows."""
    return abs(one.gain - other.gain) <= TOLERANCE and one.low <= other.high and other.low <= one.high


def _text(part: DivisionPart) -> str:
    """A test in a path."""
    match part.predicate:
        case Eq(name, value):
            return f"{name}={value}"
        case In(name, values):
            return f"{name}={part.group or '|'.join(sorted(map(str, values)))}"
        case Le(name, threshold):
            return f"{name}<={threshold}"
        case Gt(name, threshold):
            return f"{name}>{threshold}"
        case Missing(name):
            return f"{name} missing"
