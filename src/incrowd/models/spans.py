"""The table as the induction sees it, and spans, kept as stretches of one order of its rows.

A span is a set of training rows that an attacker who knows the public attributes cannot tell apart by the tree.
Splitting a span sorts its rows, so that its parts lie side by side in its place. The *territory* of a node is the rows
of all spans that cover it: the rows whose public attributes lead to the node, whatever their private ones. It is fixed
when the node is made; only its division into spans becomes finer. Private splits leave the territory as it is: all
sons share it.

Spans where a person may have several rows: a part of a span has so many persons, each counted once.

Rows of a span begin in the order of their persons and are sorted stably, so those of a person stay neighbours. Of all
cuts at once: as many persons are below a cut as have their lowest code there, and as many above it as have not their
highest below.

What is required of the class beyond k may hold for two parts and not for both together, or the other way round. So it
is judged when a split is about to be made, of exactly the parts it leaves; and where pruning would join parts that do
not keep it together, nothing is pruned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Judge, JudgedPart
from incrowd.methods.method import Presence
from incrowd.models.induction import Attribute, Division, SpanRequirement
from incrowd.models.kernel import Inputs, cells_of, folded, forbid, sort_spans, xlogx_table
from incrowd.trees.compiled import compiled
from incrowd.trees.packing import exact_bins, occurring_classes
from incrowd.trees.tree import ClassValue
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.requirement import KAnonymity, OnShares, Together
from incrowd.vocabulary.requirements.columns import RequirementSubject


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
    """Mark what the spans of a territory forbid, as :func:`incrowd.models.kernel.forbid` does, by persons."""
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


Ints = npt.NDArray[np.int64]
NEVER = -1
Flags = npt.NDArray[np.bool_]
Holds = Callable[[Ints], Flags]


@dataclass(frozen=True, eq=False)
class InductionTable:
    """Attributes and classes, by number, and the same as arrays for the kernel."""

    attributes: tuple[Attribute, ...]
    target: str
    classes: tuple[ClassValue, ...]
    class_private: bool
    inputs: Inputs
    ordered: bool = False
    owners: SpanOwners | None = None  # whose rows they are, if rows are not persons

    @classmethod
    def of(
        cls,
        attributes: Sequence[Attribute],
        public: Sequence[bool],
        target: EncodedColumn,
        class_private: bool,
        owners: SpanOwners | None = None,
    ) -> InductionTable:
        """Put the arrays together."""
        classes = occurring_classes(target)
        labels = exact_bins(target.counts).of_code[target.codes].astype(np.int32)
        inputs = _inputs(attributes, public, labels, len(classes))
        return cls(
            attributes=tuple(attributes),
            target=target.name,
            classes=classes,
            class_private=class_private,
            inputs=inputs,
            ordered=target.type.has_order,
            owners=owners,
        )

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.inputs.labels)

    @cached_property
    def subject(self) -> RequirementSubject:
        """The classes of all rows."""
        counts = np.bincount(self.inputs.labels, minlength=len(self.classes))
        return RequirementSubject(self.target, counts.astype(np.int64), self.ordered)

    @property
    def shared(self) -> bool:
        """Whether a span can cover several leaves, so that a split elsewhere may shrink it."""
        return not bool(self.inputs.public.all())

    @cached_property
    def xlogx(self) -> npt.NDArray[np.float64]:
        """``x log2 x`` of small whole numbers."""
        return xlogx_table(self.rows)


def _inputs(
    attributes: Sequence[Attribute], public: Sequence[bool], labels: npt.NDArray[np.int32], classes: int
) -> Inputs:
    width = np.array([attribute.width for attribute in attributes], np.int64)
    threshold = np.array([attribute.threshold for attribute in attributes], np.bool_)
    levels = np.array([len(attribute.levels) for attribute in attributes], np.int64)
    parts = np.zeros((len(attributes), max(1, levels.max(initial=1))), np.int64)
    for a, attribute in enumerate(attributes):
        parts[a, : levels[a]] = [len(division.parts) for division in attribute.levels]
    groups = [division.part_of for attribute in attributes for division in attribute.levels]
    slots = np.where(threshold, width, levels)
    codes = [attribute.codes.astype(np.int32) for attribute in attributes]
    return Inputs(
        codes=np.stack(codes) if codes else np.empty((0, len(labels)), np.int32),
        labels=labels,
        classes=classes,
        width=width,
        threshold=threshold,
        public=np.array(public, np.bool_),
        levels=levels,
        parts=parts,
        groups=np.concatenate([*groups, np.empty(0, np.int32)]).astype(np.int32),
        group_at=np.cumsum(width * levels) - width * levels,
        slot=np.append(np.cumsum(slots) - slots, slots.sum()),
    )


@dataclass(eq=False)
class Territory:
    """Stretches of rows, and what their spans forbid.

    ``bad`` marks levels and cuts whose split would breach; a mark never goes away, since spans only become smaller.
    ``seen`` is for each attribute the version of the spans that the marks are complete for.
    """

    lows: Ints
    highs: Ints
    bad: npt.NDArray[np.bool_]
    seen: Ints


class SpanOrder:
    """All spans of a growing tree."""

    def __init__(self, training: InductionTable, requirement: SpanRequirement) -> None:
        inputs = training.inputs
        self.inputs: Inputs = inputs
        self.requirement = requirement
        self._classes = training.subject
        self.version = 0
        self._shared = training.shared
        self._owners = owners = training.owners
        self.order = np.arange(training.rows, dtype=np.int64)
        if owners is not None:  # the rows of a person are neighbours in every span
            self.order = np.argsort(owners.persons, kind="stable")
        self._end = np.zeros(training.rows, np.int64)
        starts = np.zeros(1, np.int64)
        if not training.class_private:
            self.order = self.order[np.argsort(inputs.labels[self.order], kind="stable")]
            starts = np.flatnonzero(np.diff(inputs.labels[self.order], prepend=-1))
        self._end[starts] = [*starts[1:], training.rows]
        self.count = len(starts)

    def root(self) -> Territory:
        """The territory of the root: all rows."""
        return self._territory(np.zeros(1, np.int64), np.array([len(self.order)]))

    def _territory(self, lows: Ints, highs: Ints) -> Territory:
        bad = np.zeros(int(self.inputs.slot[-1]), np.bool_)
        return Territory(lows, highs, bad, np.full(len(self.inputs.width), NEVER))

    def of(self, territory: Territory) -> Iterator[tuple[int, int]]:
        """The spans of a territory, as stretches of the order."""
        for low, high in zip(territory.lows.tolist(), territory.highs.tolist(), strict=True):
            while low < high:
                end = int(self._end[low])
                yield low, end
                low = end

    def survey(self, territory: Territory) -> None:
        """Mark what a new territory forbids."""
        if territory.seen[0] == NEVER:
            self._forbid(territory, 0, len(territory.seen))

    def refresh(self, territory: Territory, attribute: int) -> None:
        """Complete the marks of an attribute, if spans may have changed since they were made."""
        current = territory.seen[attribute] == self.version
        if self._shared and self.inputs.public[attribute] and not current:
            self._forbid(territory, attribute, attribute + 1)

    def _forbid(self, territory: Territory, first: int, last: int) -> None:
        rows = self.inputs, self.order, self._end, territory.lows, territory.highs
        territory.seen[first:last] = self.version
        if self._owners is not None:
            persons = self.inputs, self._owners.persons, *rows[1:]
            forbid_by_persons(first, last, *persons, self.requirement.k, territory.bad)
            return
        forbid(first, last, *rows, self.requirement.k, territory.bad)
        if self.requirement.on_class:
            forbid_asking(
                first, last, *rows, lambda parts: self.requirement.holds_each(parts, self._classes), territory.bad
            )

    def keeps(self, territory: Territory, division: Division) -> bool:
        """Whether every part of a span keeps what is required beyond k, if that was not marked beforehand."""
        if self._owners is None or not self.requirement.on_class or not self.inputs.public[division.attribute]:
            return True
        stretches = np.array(list(self.of(territory)))
        lengths = stretches[:, 1] - stretches[:, 0]
        rows = self.order[np.concatenate([np.arange(low, high) for low, high in stretches.tolist()])]
        parts = len(division.parts)
        part = np.repeat(np.arange(len(lengths)) * parts, lengths)
        part += division.part_of[self.inputs.codes[division.attribute][rows]]
        return bool(self._owners.holds(rows, part, len(lengths) * parts).all())

    def split(self, territory: Territory, division: Division) -> list[Territory | None]:
        """Split the spans of a territory; the territory of each part, ``None`` for parts without rows.

        Splitting by a private attribute changes no span: then every part has the territory itself.
        """
        parts = len(division.parts)
        if not self.inputs.public[division.attribute]:
            return [territory] * parts
        column = self.inputs.codes[division.attribute]
        lows, highs = territory.lows, territory.highs
        spans, before = sort_spans(self.order, self._end, lows, highs, column, division.part_of, parts)
        self.count += len(spans) - before
        self.version += 1
        spans = spans[np.argsort(spans[:, 0], kind="stable")]
        starts = np.searchsorted(spans[:, 0], np.arange(parts + 1))
        return [
            self._territory(spans[lo:hi, 1].copy(), spans[lo:hi, 2].copy()) if lo < hi else None
            for lo, hi in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        ]


def forbid_asking(
    first: int, last: int, inputs: Inputs, order: Ints, end: Ints, lows: Ints, highs: Ints, holds: Holds, bad: Flags
) -> None:
    """Mark what the spans of a territory forbid, as :func:`incrowd.models.kernel.forbid` does.

    ``holds`` says of class histograms whether populations with them may be spans.
    """
    for a in range(first, last):
        if not inputs.public[a]:
            continue
        width = inputs.width[a] if inputs.threshold[a] else inputs.levels[a]
        marks = bad[inputs.slot[a] : inputs.slot[a] + width]
        for low, high in zip(lows.tolist(), highs.tolist(), strict=True):
            while low < high and not marks.all():
                codes, counts = cells_of(a, inputs, order, low, end[low])
                (_mark_cuts if inputs.threshold[a] else _mark_levels)(a, inputs, codes, counts, holds, marks)
                low = int(end[low])


def _mark_cuts(a: int, inputs: Inputs, codes: Ints, counts: Ints, holds: Holds, marks: Flags) -> None:  # noqa: ARG001
    """Mark the cuts that leave a side that may not be a span."""
    left = np.cumsum(counts, axis=0)[:-1]
    fails = ~(holds(left) & holds(counts.sum(axis=0) - left))
    for i in np.flatnonzero(fails).tolist():
        marks[codes[i] : codes[i + 1]] = True


def _mark_levels(a: int, inputs: Inputs, codes: Ints, counts: Ints, holds: Holds, marks: Flags) -> None:
    """Mark the levels with a part that may not be a span."""
    for level in np.flatnonzero(~marks).tolist():
        marks[level] = not holds(folded(a, level, inputs, codes, counts)).all()
