"""The rows of the table by what they show, and how large groups would be after each refinement.

This is the TIPS of the paper (leaf partitions and their links) with its QITS (counts per set of attributes) in one.
Only :meth:`Partitions.split` reads records, and only those that show what is refined.

Why minima are enough. A refinement changes the groups that show the refined id, and every leaf of such a group shows
it; so all rows of a new group have just been read, and what it would be split into is known. Groups only ever fall
apart. So the smallest group a candidate would leave never grows: it is the smaller of what it was and of what the new
groups would leave.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Records
from incrowd.methods.method import Combinations
from incrowd.methods.top_down_refinement.attribute import AttributeState
from incrowd.vocabulary.encoded_table import Codes

_NONE = np.iinfo(np.int64).max


class Partitions:
    """Leaf partitions of records, and the groups they form in each set of attributes known together.

    Parameters
    ----------
    held
        The combinations of values that occur: a record for each, that stands for so many rows.
    attributes
        The state of each attribute.
    sets
        For each set whether each attribute belongs to it: sets x attributes.
    evidence
        What else must be known of the records' rows to judge a group; None if sizes decide.

    Attributes
    ----------
    anonymity
        The smallest group of each set.
    smallest
        For each set and candidate, the smallest part the candidate would leave of the groups it touches.
    broken
        Whether a candidate would leave a part that may not be released for another reason than its size.
    reads
        Records read by the last split.
    """

    def __init__(
        self,
        held: Combinations,
        attributes: Sequence[AttributeState],
        sets: npt.NDArray[np.bool_],
        evidence: Records | None = None,
    ) -> None:
        from incrowd.methods.top_down_refinement import partitions_kernel as kernel

        height, width = held.codes.shape
        self._kernel = kernel
        self._attributes = attributes
        self._sets = sets
        self.first = np.cumsum([0, *(len(attribute.open) for attribute in attributes)])
        self._evidence = evidence
        codes, rows = np.array(held.codes, order="C"), held.sizes
        if evidence is not None:  # records are moved about: each takes its number along
            codes = np.concatenate([codes, np.arange(height, dtype=np.int32)[:, None]], axis=1)
        self._records = kernel.LeafRecords(codes, rows, np.empty_like(codes), np.empty_like(rows))
        self._leaves = kernel.LeafTable(
            np.empty(height, np.int64),
            np.empty(height, np.int64),
            np.empty((height, width), np.int32),
            np.empty((len(sets), height), np.int64),
        )
        self._number = 1
        self._leaves.begin[0], self._leaves.end[0] = 0, height
        self._leaves.following[0], self._leaves.group[:, 0] = -1, 0
        self._heads = np.zeros(self.first[-1], np.int64)
        self._offsets = np.cumsum([0, *(len(attribute.next) for attribute in attributes)])
        self._upcoming = np.empty(self._offsets[-1], np.int64)
        self._meaning = kernel.CodeMeaning(
            np.repeat(np.arange(width), np.diff(self.first)),
            np.arange(self.first[-1]),
            np.repeat([attribute.one_by_one for attribute in attributes], np.diff(self.first)),
        )
        self._scratch = np.zeros(self.first[-1], np.int64)
        self.anonymity = np.full(len(sets), _NONE)
        self.smallest = np.full((len(sets), self.first[-1]), _NONE)
        self.broken = np.zeros(self.first[-1], np.bool_)
        for attribute in range(width):
            self.refresh(attribute)
        self._count(np.zeros(1, np.int64), np.zeros(1, np.int64), 1, np.ones(len(sets), np.bool_))

    def refresh(self, attribute: int) -> None:
        """Take over which ids the codes of an attribute would show next."""
        state = self._attributes[attribute]
        first = self.first[attribute]
        upcoming = self._upcoming[self._offsets[attribute] : self._offsets[attribute + 1]]
        upcoming[:] = np.where(state.next < 0, -1, state.next + first)
        self._meaning.decides[first : self.first[attribute + 1]] = state.decides + first

    def split(self, attribute: int, shown: int, into: Sequence[int], position: Codes) -> None:
        """Split the leaves that show an id of an attribute.

        Parameters
        ----------
        shown
            The id.
        into
            The ids that follow it.
        position
            For each code the position of its id among these.
        """
        first = self.first[attribute]
        changed, part_of, heads, self._number = self._kernel.split(
            self._records,
            self._leaves,
            self._number,
            attribute,
            int(self._heads[first + shown]),
            position,
            len(into),
        )
        self._heads[first + np.array(into)] = heads
        self._count(changed, part_of, len(into), self._sets[:, attribute])

    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows of each leaf partition."""
        leaves = zip(self._leaves.begin[: self._number], self._leaves.end[: self._number], strict=True)
        return np.array([self._records.weights[begin:end].sum() for begin, end in leaves])

    def _count(
        self,
        changed: npt.NDArray[np.int64],
        part_of: npt.NDArray[np.int64],
        parts: int,
        sets: npt.NDArray[np.bool_],
    ) -> None:
        """Read the changed leaves, and lower the minima of the sets that are concerned."""
        concerned = np.logical_or.reduce(self._sets[sets], axis=0)
        watched = [i for i, state in enumerate(self._attributes) if concerned[i] and state.open.any()]
        counted = self._kernel.tally(
            self._records,
            self._leaves,
            changed,
            part_of,
            np.array(watched, np.int64),
            self._offsets,
            self._upcoming,
            self._scratch,
        )
        self.reads = int((self._leaves.end[changed] - self._leaves.begin[changed]).sum())
        for known in np.flatnonzero(sets).tolist():
            least = self._kernel.lower(
                self._leaves,
                known,
                self._sets[known],
                counted,
                parts,
                self._meaning,
                self._scratch,
                self.smallest[known],
            )
            self.anonymity[known] = min(int(self.anonymity[known]), least)
            if self._evidence is not None:
                self._judge(self._evidence, changed, known, [a for a in watched if self._sets[known, a]])

    def _judge(self, evidence: Records, changed: npt.NDArray[np.int64], known: int, watched: Sequence[int]) -> None:
        """Mark the candidates that would leave, of a group just formed, a part that may not be released."""
        begin, end = self._leaves.begin[changed], self._leaves.end[changed]
        at = np.repeat(begin - np.cumsum(end - begin) + end - begin, end - begin) + np.arange((end - begin).sum())
        _, group = np.unique(np.repeat(self._leaves.group[known][changed], end - begin), return_inverse=True)
        records, rows = self._records.codes[at, -1].astype(np.int64), self._records.weights[at]
        ids = int(self.first[-1])
        for attribute in watched:
            upcoming = self._upcoming[self._offsets[attribute] : self._offsets[attribute + 1]]
            shown = upcoming[self._records.codes[at, attribute]]
            concerned = shown >= 0
            pairs, part = np.unique(group[concerned] * ids + shown[concerned], return_inverse=True)
            sizes = np.bincount(part, rows[concerned], len(pairs)).astype(np.int64)
            candidate = self._meaning.decides[pairs % ids]
            alone = self._attributes[attribute].one_by_one
            groups = _whole(evidence, records, group, rows) if alone and len(pairs) else None
            for first, parts in evidence.evidence(records[concerned], part, sizes):
                here = slice(first, first + len(parts))
                fails = ~evidence.judge.holds(parts)
                if groups is not None:
                    fails |= ~evidence.judge.holds(groups[pairs[here] // ids] - parts)
                self.broken[candidate[here][fails]] = True


def _whole(
    evidence: Records, records: npt.NDArray[np.int64], group: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The evidence of each group."""
    sizes = np.bincount(group, rows).astype(np.int64)
    return np.concatenate([part for _, part in evidence.evidence(records, group, sizes)])
