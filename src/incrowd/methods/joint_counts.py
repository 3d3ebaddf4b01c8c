"""Which attributes are counted together: disjoint sets of two or three that tell much of each other.

Counts of single attributes say nothing of which value of the one goes with which of the other within a group. The pair
with the most information of each other, given group and class and beyond what chance gives so few rows
(:func:`~incrowd.measures.information.interaction`), is counted together first; then the next pair, or a third
attribute beside two. Only combinations that enough people of the table have are ever named, so attributes are counted
together only where that is nearly everybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.measures.information import interaction
from incrowd.methods.method import Population
from incrowd.methods.person_records import distinct_persons
from incrowd.plan.steps import GROUP, AsCounts, Bin, JointCounts, Reasons, Show, Step
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.released_value import Counts, Member, render

Names = tuple[str, ...]
Ints = npt.NDArray[np.int64]
CLEAR = 3  # so many times the noise of independent attributes: one pair in a thousand would be chosen by chance
LEAST = 0.01  # bits a row: less is worth no texts that are longer and no more that is told of rows
RARE = 0.05  # the share of rows, at most, whose combination may not be named: they are drawn as others of their group
LARGEST = 3


def counted_together(steps: tuple[Step, ...], after: Population, before: Population, people: int) -> tuple[Step, ...]:
    """The steps with the attributes chosen that are counted together; ``after`` has the rows in their groups."""
    show = next((step for step in steps if isinstance(step, Show)), None)
    counted = next((step for step in steps if isinstance(step, AsCounts)), None)
    if show is None or counted is None:
        raise ParameterError("joint_counts is about counts, which this release has none of. Choose form counts.")
    names = [n for at, n in enumerate(show.names) if all(isinstance(one.forms[at], Counts) for one in show.groups)]
    joint, reasons = JointChoice.of(after, before, Bin(counted.cuts), people).chosen(names)
    return *(replace(one, joint=joint) if one is counted else one for one in steps), reasons


@dataclass(frozen=True, eq=False)
class JointChoice:
    """What attributes are chosen by.

    ``after`` has the rows in their groups, as a heuristic may see them; ``table`` all rows, numbers as the bins in
    which they are counted; a combination may be named if ``people`` have it.
    """

    after: EncodedTable
    table: Population
    cuts: Bin
    people: int
    target: str | None
    _known: dict[Names, JointCounts | None] = field(default_factory=dict)

    @classmethod
    def of(cls, after: Population, before: Population, cuts: Bin, people: int) -> JointChoice:
        """By rows in their groups, ``after``, and all rows as they came, ``before``."""
        return cls(after.sample(), before.bin(cuts), cuts, people, before.schema.target)

    def chosen(self, names: Sequence[str]) -> tuple[tuple[JointCounts, ...], Reasons]:
        """The attributes that are counted together, of these, and why."""
        free, sets = list(names), list[Names]()
        bits_of: dict[Names, float] = {}
        lines = []
        while candidates := list(self._candidates(free, sets, bits_of)):
            best, bits = max(candidates, key=lambda one: one[1])
            sets = [*(one for one in sets if not {*one} <= {*best}), best]
            free = [name for name in free if name not in best]
            lines.append((", ".join(best), round(bits, 3)))
        joint = tuple(counts for one in sets if (counts := self._named(one)) is not None)
        return joint, Reasons("Attributes counted together", ("attributes", "bits a row"), tuple(lines))

    def _candidates(
        self, free: Sequence[str], sets: Sequence[Names], bits_of: dict[Names, float]
    ) -> Iterator[tuple[Names, float]]:
        """Sets that could come next, with the bits that they add for each row."""
        steps: list[tuple[Names, Names, str]] = [((a, b), (a,), b) for a, b in combinations(free, 2)]
        for one in (one for one in sets if len(one) < LARGEST):
            steps += [(tuple(sorted((*one, name), key=self._order)), one, name) for name in free]
        for names, first, second in steps:
            if names not in bits_of:
                bits_of[names] = self._bits(first, second) if self._named(names) else 0.0
            if bits_of[names] >= LEAST:
                yield names, bits_of[names]

    def _order(self, name: str) -> int:
        return self.table.schema.names.index(name)

    def _bits(self, first: Names, second: str) -> float:
        """What the attributes tell of each other; 0 if that may be chance."""
        cells = self.after[GROUP].codes.astype(np.int64)
        if self.target is not None:
            label = self.after[self.target]
            cells = cells * label.width + label.codes
        some = self.after[GROUP].codes != self.after[GROUP].missing_code
        a = np.zeros(len(cells), np.int64)
        for name in first:
            a = a * self.after[name].width + self.after[name].codes
        adjusted = interaction(cells[some], a[some], self.after[second].codes[some].astype(np.int64))
        return adjusted.bits / max(1, int(some.sum())) if adjusted.bits > CLEAR * adjusted.noise else 0.0

    def _named(self, names: Names) -> JointCounts | None:
        """The combinations that enough people have; None where these are not nearly all rows."""
        if names not in self._known:
            seen = self.table.combinations(names)
            people = seen.sizes
            if self.table.owners is not None:
                there = self.table.presence(names)
                people = distinct_persons(there.cells, there.persons, len(seen.codes))
            often = people >= self.people
            enough = seen.sizes[~often].sum() <= RARE * seen.sizes.sum() and often.sum() > 1
            self._known[names] = self._counts(names, seen.codes[often]) if enough else None
        return self._known[names]

    def _counts(self, names: Names, codes: npt.NDArray[Any]) -> JointCounts:
        table = self.table.sample()
        members = [self._members(table, name) for name in names]
        values = (tuple(one[code] for one, code in zip(members, row, strict=True)) for row in codes.tolist())
        return JointCounts(names, tuple(values))

    def _members(self, table: EncodedTable, name: str) -> list[Member]:
        """What each code of an attribute is called in counts, the missing one last."""
        kind, values = self.table.schema[name].type, table[name].dictionary.to_list()
        cuts = dict(self.cuts.cuts)
        if name in cuts:
            bins = {render(one, kind): one for one in Bin.intervals(cuts[name])}
            values = [bins[value] for value in values]
        return [*values, None]
