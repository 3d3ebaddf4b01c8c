"""Spans where a person may have several rows: a part of a span has so many persons, each counted once.

Rows of a span begin in the order of their persons and are sorted stably, so those of a person stay neighbours. Of all
cuts at once: as many persons are below a cut as have their lowest code there, and as many above it as have not their
highest below.

What is required of the class beyond k may hold for two parts and not for both together, or the other way round. So it
is judged when a split is about to be made, of exactly the parts it leaves; and where pruning would join parts that do
not keep it together, nothing is pruned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Judge, JudgedPart
from incrowd.methods.method import Presence
from incrowd.models.induction.induction import SpanRequirement
from incrowd.trees.compiled import compiled
from incrowd.vocabulary.requirement import KAnonymity, OnShares, Together
from incrowd.vocabulary.requirements.columns import RequirementSubject

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SpanOwners:
    """The person and the class of each row, and who says which rows may be a span."""

    judge: Judge
    persons: Ints
    labels: npt.NDArray[np.int32]

    @classmethod
    def of(
        cls,
        requirement: SpanRequirement,
        persons: npt.NDArray[np.integer],
        labels: npt.NDArray[np.int32],
        *,
        classes: int,
        ordered: bool,
    ) -> SpanOwners:
        """Bind a requirement to the classes of all rows; raises if not even all rows together can keep a part of it."""
        together = Together((KAnonymity(requirement.k), *requirement.on_class))
        names, widths = ("class",), (classes,)
        whose = persons.astype(np.int64)
        judge = Judge(together, (), names, widths, persons=True)
        whole = judge.counted(Presence(np.zeros(len(whose), np.int64), whose, (labels,)), 1)[0]
        parts = []
        for part in requirement.on_class:
            start = judge.starts[0] + (classes if part.by_main else 0)
            size = int(whole[0]) if isinstance(part, OnShares) else None
            subject = RequirementSubject("", whole[start : start + classes], ordered, size=size)
            part.check_possible(subject)
            parts.append(JudgedPart(part, subject, start))
        return cls(Judge(together, tuple(parts), names, widths, persons=True), whose, labels)

    def evidence(self, rows: Ints, part: Ints, count: int) -> Ints:
        """What must be known of parts of some rows to judge them; the first number is their persons."""
        return self.judge.counted(Presence(part, self.persons[rows], (self.labels[rows],)), count)

    def size(self, rows: Ints) -> int:
        """How many persons have these rows."""
        return len(np.unique(self.persons[rows]))

    def holds(self, rows: Ints, part: Ints, count: int) -> Flags:
        """Whether each part of some rows may be a span; an empty one may."""
        return self.judge.holds(self.evidence(rows, part, count))

    def of_classes(self, rows: Ints) -> Ints:
        """How many persons have a row of each class among these rows."""
        classes = self.judge.widths[0]
        return self.evidence(rows, np.zeros(len(rows), np.int64), 1)[0, 1 : 1 + classes]


@compiled
def forbid_by_persons(
    first: int,
    last: int,
    inputs: Any,
    persons: Any,
    order: Any,
    end: Any,
    lows: Any,
    highs: Any,
    k: int,
    bad: Any,
) -> None:
    """Mark what the spans of a territory forbid, as :func:`incrowd.models.induction.kernel.forbid` does, by persons."""
    for a in range(first, last):
        if not inputs.public[a]:
            continue
        room = max(inputs.width[a], inputs.parts[a].max())
        one, other = np.zeros(room, np.int64), np.zeros(room, np.int64)
        done = False
        for i in range(len(lows)):
            lo = lows[i]
            while lo < highs[i] and not done:
                if inputs.threshold[a]:
                    _forbid_cuts(a, inputs, persons, order, lo, end[lo], k, bad, one, other)
                else:
                    done = _forbid_levels(a, inputs, persons, order, lo, end[lo], k, bad, one, other)
                lo = end[lo]


@compiled
def _forbid_cuts(
    a: int, inputs: Any, persons: Any, order: Any, lo: int, hi: int, k: int, bad: Any, lowest: Any, highest: Any
) -> None:
    """Mark the cuts that leave a span with a side that is not empty and has fewer than k persons."""
    column, slot = inputs.codes[a], inputs.slot[a]
    bottom, top, right, place = inputs.width[a], -1, 0, lo
    while place < hi:
        person = persons[order[place]]
        low, high = inputs.width[a], -1
        while place < hi and persons[order[place]] == person:
            code = column[order[place]]
            low, high = min(low, code), max(high, code)
            place += 1
        lowest[low] += 1
        highest[high] += 1
        bottom, top = min(bottom, low), max(top, high)
        right += 1
    left = 0
    for code in range(bottom, top + 1):
        left += lowest[code]
        right -= highest[code]
        if code < top and (left < k or right < k):
            bad[slot + code] = True
        lowest[code], highest[code] = 0, 0


@compiled
def _forbid_levels(
    a: int, inputs: Any, persons: Any, order: Any, lo: int, hi: int, k: int, bad: Any, sizes: Any, met: Any
) -> bool:
    """Mark the levels at which a span has a part that is not empty and has fewer than k persons; whether all are."""
    column, slot, marked = inputs.codes[a], inputs.slot[a], 0
    for level in range(inputs.levels[a]):
        if not bad[slot + level]:
            groups = inputs.group_at[a] + level * inputs.width[a]
            sizes[:] = 0
            met[:] = -1
            for place in range(lo, hi):
                row = order[place]
                part = inputs.groups[groups + column[row]]
                if met[part] != persons[row]:
                    met[part] = persons[row]
                    sizes[part] += 1
            for part in range(inputs.parts[a, level]):
                if 0 < sizes[part] < k:
                    bad[slot + level] = True
                    break
        marked += bad[slot + level]
    return bool(marked == inputs.levels[a])
