"""Counts by class: groups are parted into blocks of one class, so that counts say what each class has.

A cell is what a group has of a class. Cells that may be released by themselves are; others are joined, within their
class, with those whose rows are most like theirs, until they may (Ward's criterion, over the released values and bins).
Classes with too few rows for a block are joined with each other in the same way, and if they are too few even together,
with the smallest blocks. How many rows have what decides; of persons, where there are persons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.methods.judging import Evidence, Judge, PersonEvidence, RowEvidence
from incrowd.methods.method import Combinations, Population
from incrowd.plan.steps import DROPPED, GROUP, Group, Place, Reasons, Share, Show
from incrowd.trees.packing import class_values
from incrowd.trees.tree import Branch, Eq, Node, Tree
from incrowd.vocabulary.released_value import Form, Suppressed
from incrowd.vocabulary.requirement import Requirement, subject_names

Block = list[int]
Numbers = npt.NDArray[np.float64]
MOST = 2_000  # cells of a class that are compared with each other: the work grows with their square


def check_class_told(counted: bool, requirement: Requirement, target: str | None) -> None:
    """Raise unless counts by class can be had: there are counts, and a class that nothing is required of."""
    if not counted:
        raise ParameterError("counts_by_class is about counts, which this release has none of. Choose form counts.")
    if target is None:
        raise ParameterError("counts_by_class takes a class. Name the target.")
    if target in subject_names(requirement, target):
        raise ParameterError(
            "Counts by class tell the class of most people whose values are known, and something is required of the "
            "class. Leave counts_by_class or the requirement out."
        )


def parted_by_class(show: Show, after: Population, judge: Judge) -> tuple[Place, Show, Reasons]:
    """The step that parts groups into blocks, what these show, and what was done.

    ``after`` has the rows in their groups, numbers seen as the bins that are released.
    """
    target = str(after.schema.target)
    tree = _tree(len(show.groups), target, class_values(after.sample()[target]))
    cells = ClassCells.of(after, judge, target, show.names)
    blocks = list(cells.blocks())
    left_out = after.count(tree)[0].tolist()
    shares = [Share(0, label, DROPPED, rows) for label, rows in enumerate(left_out) if rows]
    groups = []
    for number, block in enumerate(blocks):
        codes, sizes = cells.seen.codes[block], cells.seen.sizes[block]
        rows = zip(codes.tolist(), sizes.tolist(), strict=True)
        shares += [Share(group + 1, label, number, many) for (group, label), many in rows]
        groups.append(Group(int(sizes.sum()), _forms([show.groups[group].forms for group in codes[:, 0].tolist()])))
    shares.sort(key=lambda share: (share.node, share.label or 0))
    return Place(tree, tuple(shares)), Show(show.names, tuple(groups)), _reasons(cells, blocks)


def _forms(looks: Sequence[Sequence[Form]]) -> tuple[Form, ...]:
    """What a block shows of several groups: what one of them hides, it hides."""
    return tuple(
        next((form for form in each if isinstance(form, Suppressed)), each[0]) for each in zip(*looks, strict=True)
    )


def _tree(groups: int, target: str, classes: tuple[Any, ...]) -> Tree:
    """A tree that tests the group alone."""
    none = (0,) * len(classes)
    branches = tuple(Branch(Eq(GROUP, group), group + 1) for group in range(groups))
    return Tree((Node(GROUP, branches, none), *(Node(None, (), none) for _ in branches)), target, classes)


def _reasons(cells: ClassCells, blocks: Sequence[Block]) -> Reasons:
    pure = [block for block in blocks if len(set(cells.seen.codes[block, 1].tolist())) == 1]
    rows = sum(int(cells.seen.sizes[block].sum()) for block in pure)
    facts = (
        ("groups before they were parted", int(cells.seen.codes[:, 0].max(initial=-1)) + 1),
        ("groups of one class", len(pure)),
        ("groups of several classes", len(blocks) - len(pure)),
        ("rows in groups of one class", rows),
    )
    return Reasons("Counts by class", facts=facts)


@dataclass(frozen=True, eq=False)
class ClassCells:
    """What groups have of classes.

    ``seen`` has the group and the class of each cell; ``features`` for each attribute the cells, the places and the
    rows of its numbers, which are scaled so that all attributes count alike.
    """

    seen: Combinations
    evidence: Evidence
    judge: Judge
    features: tuple[CellHistogram, ...]

    @classmethod
    def of(cls, after: Population, judge: Judge, target: str, names: Sequence[str]) -> ClassCells:
        """Counted over all rows that are in a group."""
        seen = after.combinations((GROUP, target))
        evidence = _evidence(after, judge, (GROUP, target), seen)
        features = (CellHistogram.of(after, seen, target, name) for name in names)
        return cls(seen, evidence, judge, tuple(features))

    def blocks(self) -> Iterator[Block]:
        """Which cells are released together."""
        blocks: list[Block] = []
        rare: Block = []
        labels = self.seen.codes[:, 1]
        for label in np.unique(labels):
            own = np.flatnonzero(labels == label)
            for some in np.array_split(own, -(-len(own) // MOST)):
                done, left = self._joined(some)
                blocks += done
                rare += left
        done, left = self._joined(np.array(sorted(rare), np.int64))
        blocks = sorted(blocks + done, key=lambda block: -int(self.seen.sizes[block].sum()))
        while left and blocks and not self._may(left):
            left += blocks.pop()
        yield from blocks
        if left:
            yield left

    def _may(self, block: Block) -> bool:
        if int(self.seen.sizes[block].sum()) < self.judge.k:
            return False
        return bool(self.judge.holds(self.evidence.of(block)[None, :])[0])

    def _joined(self, cells: npt.NDArray[np.integer]) -> tuple[list[Block], Block]:
        """Blocks of these cells that may be released, and the cells that may not, not even all together."""
        blocks: list[Block] = [[int(cell)] for cell in cells]
        may = np.array([self._may(block) for block in blocks], np.bool_)
        rows = self.seen.sizes[cells].astype(np.float64)
        sums = np.hstack([np.zeros((len(cells), 1)), *(one.sums(cells) for one in self.features)])
        while len(small := np.flatnonzero(~may & (rows > 0))) and np.count_nonzero(rows) > 1:
            least = small[np.argmin(rows[small])]
            others = np.flatnonzero(rows)
            others = others[others != least]
            apart = sums[others] / rows[others, None] - sums[least] / rows[least]
            loss = (apart**2).sum(axis=1) * rows[others] * rows[least] / (rows[others] + rows[least])
            nearest = others[np.argmin(np.round(loss, 9))]  # ties are ties, in whatever order numbers were added up
            blocks[nearest] += blocks[least]
            sums[nearest] += sums[least]
            rows[nearest] += rows[least]
            may[nearest] = self._may(blocks[nearest])
            rows[least], blocks[least] = 0, []
        done = [block for block, good in zip(blocks, may, strict=True) if block and good]
        return done, [cell for block, good in zip(blocks, may, strict=True) if not good for cell in block]


@dataclass(frozen=True, eq=False)
class CellHistogram:
    """One attribute of cells: how many rows of which cell have which of its values."""

    cell: npt.NDArray[np.int64]
    code: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    width: int
    ordered: bool

    @classmethod
    def of(cls, after: Population, seen: Combinations, target: str, name: str) -> CellHistogram:
        """Counted over all rows that are in a group."""
        beside = after.combinations((GROUP, target, name))
        width = int(seen.codes[:, 1].max(initial=0)) + 1
        keys, of = (each.codes[:, 0].astype(np.int64) * width + each.codes[:, 1] for each in (seen, beside))
        column = after.sample()[name]
        return cls(
            np.searchsorted(keys, of),
            beside.codes[:, 2].astype(np.int64),
            beside.sizes,
            column.width,
            column.type.has_order,
        )

    @cached_property
    def _scale(self) -> float:
        """One over the spread of all rows; 0 if they agree."""
        whole = np.bincount(self.code, self.rows, self.width)
        shares = (np.cumsum(whole) if self.ordered else whole) / max(1, whole.sum())
        spread = float((shares * (1 - shares)).sum())
        return spread**-0.5 if spread > 0 else 0.0

    def sums(self, cells: npt.NDArray[np.integer]) -> Numbers:
        """For each of the cells, which ascend, how many rows have each value; at most it, where values are ordered."""
        at = np.searchsorted(cells, self.cell)
        there = at < len(cells)
        there[there] = cells[at[there]] == self.cell[there]
        keys = at[there] * self.width + self.code[there]
        sums = np.bincount(keys, self.rows[there], len(cells) * self.width).reshape(len(cells), self.width)
        return np.asarray(self._scale * (np.cumsum(sums, axis=1) if self.ordered else sums), np.float64)


def _evidence(after: Population, judge: Judge, names: Sequence[str], seen: Combinations) -> Evidence:
    """What the judge must know of each cell."""
    if judge.persons:
        most = judge.k if judge.counts_only else None
        return PersonEvidence(seen.sizes, judge, after.presence(names, judge.names, most))
    if not judge.names:
        return RowEvidence(seen.sizes, seen.sizes[:, None])
    cells = np.arange(len(seen.sizes))
    parts = [part for _, part in judge.records(after, names).evidence(cells, cells, seen.sizes)]
    return RowEvidence(seen.sizes, np.concatenate(parts))
