"""Spans, kept as stretches of one order of the rows.

A span is a set of training rows that an attacker who knows the public attributes cannot tell apart by the tree.
Splitting a span sorts its rows, so that its parts lie side by side in its place. The *territory* of a node is the rows
of all spans that cover it: the rows whose public attributes lead to the node, whatever their private ones. It is fixed
when the node is made; only its division into spans becomes finer. Private splits leave the territory as it is: all
sons share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.anonymous_induction.asking import forbid_asking
from incrowd.algorithms.anonymous_induction.attributes import Division
from incrowd.algorithms.anonymous_induction.kernel import Inputs, forbid, sort_spans
from incrowd.algorithms.anonymous_induction.span_requirements import SpanRequirement
from incrowd.algorithms.anonymous_induction.training import Training

Ints = npt.NDArray[np.int64]
NEVER = -1


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


class Spans:
    """All spans of a growing tree."""

    def __init__(self, training: Training, requirement: SpanRequirement) -> None:
        inputs = training.inputs
        self.inputs: Inputs = inputs
        self.requirement = requirement
        self._classes = training.subject
        self.version = 0
        self._shared = training.shared
        self.order = np.arange(training.rows, dtype=np.int64)
        self._end = np.zeros(training.rows, np.int64)
        starts = np.zeros(1, np.int64)
        if not training.class_private:
            self.order = np.argsort(inputs.labels, kind="stable")
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
        forbid(first, last, *rows, self.requirement.k, territory.bad)
        if self.requirement.on_class:
            forbid_asking(
                first, last, *rows, lambda parts: self.requirement.holds_each(parts, self._classes), territory.bad
            )
        territory.seen[first:last] = self.version

    def split(self, territory: Territory, division: Division) -> list[Territory | None]:
        """Split the spans of a territory; the territory of each part, ``None`` for parts without rows.

        Splitting by a private attribute changes no span: then every part has the territory itself.
        """
        parts = len(division.parts)
        if not self.inputs.public[division.attribute]:
            return [territory] * parts
        column = self.inputs.codes[division.attribute]
        lows, highs = territory.lows, territory.highs
        found, before = sort_spans(self.order, self._end, lows, highs, column, division.part_of, parts)
        self.count += len(found) - before
        self.version += 1
        found = found[np.argsort(found[:, 0], kind="stable")]
        starts = np.searchsorted(found[:, 0], np.arange(parts + 1))
        return [
            self._territory(found[lo:hi, 1].copy(), found[lo:hi, 2].copy()) if lo < hi else None
            for lo, hi in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        ]
