"""Groups of a table that is parted at random: each part has groups of its own, and all of them are the release's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Judge
from incrowd.vocabulary.encoded_table import Codes

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BlendGroups:
    """The group of every row, how many there are, and how often each attribute, and last the score, was split."""

    groups: Codes
    count: int
    uses: Ints


@dataclass(frozen=True, eq=False)
class GroupedParts:
    """The groups of all rows, while they are made part by part, and the evidence of each.

    A part that cannot keep the requirement by itself, such as one with few rows of a rare class, is a group that fails:
    it is joined with groups of other parts until they keep it together, as all rows do.
    """

    judge: Judge
    groups: Codes
    evidence: list[Ints]
    uses: list[Ints]

    @classmethod
    def of(cls, rows: int, judge: Judge) -> GroupedParts:
        """Nobody has a group yet."""
        return cls(judge, np.zeros(rows, np.int32), [], [])

    def add(self, place: npt.NDArray[np.intp], groups: BlendGroups, evidence: Ints) -> None:
        """The groups of the rows at these places."""
        self.groups[place] = groups.groups + sum(map(len, self.evidence))
        self.evidence.append(evidence)
        self.uses.append(groups.uses)

    def together(self) -> BlendGroups:
        """All groups; those that fail joined with the largest of the others, one after the other."""
        evidence = np.concatenate(self.evidence)
        uses = np.asarray(sum(self.uses), np.int64)
        fails = np.flatnonzero(~self.judge.holds(evidence))
        if len(self.evidence) == 1 or not len(fails):
            return BlendGroups(self.groups, len(evidence), uses)
        others = np.setdiff1d(np.argsort(-evidence[:, 0], kind="stable"), fails, assume_unique=True)
        joined = len(fails)
        while joined < len(evidence) and not self.judge.holds(self._union(evidence, fails, others, joined))[0]:
            joined += 1
        number = np.ones(len(evidence), np.int32)
        number[np.concatenate([fails, others])[:joined]] = 0
        kept = np.flatnonzero(number)
        number[kept] = np.arange(1, len(kept) + 1, dtype=np.int32)
        return BlendGroups(number[self.groups], len(kept) + 1, uses)

    @staticmethod
    def _union(evidence: Ints, fails: Ints, others: Ints, joined: int) -> Ints:
        """The evidence of the first so many groups together; nobody is in two of them, for a person is in one part."""
        return np.asarray(evidence[np.concatenate([fails, others])[:joined]].sum(axis=0, keepdims=True))
