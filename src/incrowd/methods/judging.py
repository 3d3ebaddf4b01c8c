"""May these groups be released? A requirement, bound to the table it is asked of.

What a judge must know of a group is its *evidence*: its rows, and how many of them have which value of each column the
requirement is about, side by side in one row of numbers. The evidence of a union of groups is the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.method import Combinations, Population
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.requirement import Columnwise, KAnonymity, KnownTogether, Requirement, Together, subject_names

if TYPE_CHECKING:
    from incrowd.vocabulary.requirements.columns import RequirementSubject

Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
LARGEST = 1 << 22  # numbers of evidence that are made at once: 32 MB


@dataclass(frozen=True, eq=False)
class Judge:
    """A requirement and the columns it is about, as they are in the whole table.

    ``own`` is the requirement if it is somebody's own: then it is asked about each group's class histogram.
    """

    requirement: Requirement
    parts: tuple[tuple[Columnwise, int], ...]
    subjects: tuple[RequirementSubject, ...]
    own: bool = False

    @classmethod
    def of(cls, requirement: Requirement, population: Population) -> Judge:
        """Bind a requirement to a table; raises if not even all rows together keep it."""
        if isinstance(requirement, KAnonymity | KnownTogether):
            return cls(requirement, (), ())
        from incrowd.vocabulary.requirements.columns import RequirementSubject

        requirement.check_possible(population.rows)
        schema = population.schema
        on_columns = requirement.on_columns if isinstance(requirement, Together) else ()
        own = not isinstance(requirement, Together)
        names = subject_names(requirement, schema.target)
        table = population.sample()
        subjects = tuple(
            RequirementSubject.of(table[name], population.contingency(name).sum(axis=1), schema[name].hierarchy)
            for name in names
        )
        parts = tuple((part, names.index(part.on or schema.target or "")) for part in on_columns)
        made = cls(requirement, parts, subjects, own)
        made.check(population.rows)
        return made

    def check(self, rows: int) -> None:
        """Raise if not even all rows together keep the requirement, and say what would be possible."""
        if not getattr(self.requirement, "monotone", True):
            raise ParameterError(
                "This requirement may hold for two groups and not for both together. No method can keep it."
            )
        for part, subject in self.parts:
            part.check_possible(self.subjects[subject])
        whole = np.concatenate([[rows], *(subject.counts for subject in self.subjects)]).astype(np.int64)
        if self.own and not self.holds(whole[None, :])[0]:
            raise RequirementError(
                f"Even the {rows} rows of the whole table together do not satisfy {self.requirement}. "
                "Ask for less, or add rows."
            )

    @property
    def by_size(self) -> bool:
        """Whether sizes decide."""
        return not self.parts and not self.own

    @property
    def k(self) -> int:
        """No group may be smaller."""
        return self.requirement.smallest_group

    @property
    def names(self) -> tuple[str, ...]:
        """The columns it is about."""
        return tuple(subject.name for subject in self.subjects)

    @cached_property
    def starts(self) -> list[int]:
        """Where the evidence of each column begins; the last is the width of all."""
        return [1, *(1 + np.cumsum([subject.width for subject in self.subjects], dtype=np.int64)).tolist()]

    @property
    def width(self) -> int:
        """How many numbers the evidence of a group has."""
        return self.starts[-1]

    def holds(self, evidence: Counts) -> Flags:
        """Whether each group may be released: groups x evidence. An empty group may."""
        allowed: Flags = (evidence[:, 0] >= self.k) | (evidence[:, 0] == 0)
        for part, number in self.parts:
            left = np.flatnonzero(allowed)
            counts = evidence[left, self.starts[number] : self.starts[number + 1]]
            allowed[left] = part.holds_each(counts, self.subjects[number])
        if self.own:
            classes = evidence[:, self.starts[0] : self.starts[1]] if self.subjects else evidence[:, :1]
            allowed &= np.array([not each.any() or self.requirement.holds(each) for each in classes], np.bool_)
        return allowed

    def resting(self, population: Population, tree: Tree) -> Counts:
        """The evidence of the rows that come to rest at each node of a tree, over all rows."""
        counts = population.count(tree).sum(axis=1)
        blocks = [population.histograms(tree, name) for name in self.names]
        return np.concatenate([counts[:, None], *blocks], axis=1)

    def of_rows(self, table: EncodedTable) -> Counts:
        """Where each row of a table counts: rows x columns the requirement is about."""
        codes = [
            table[name].codes.astype(np.int64) + start for name, start in zip(self.names, self.starts, strict=False)
        ]
        return np.stack(codes, axis=1) if codes else np.empty((table.height, 0), np.int64)

    def tally(self, marks: Counts, parts: npt.NDArray[np.integer], count: int) -> Counts:
        """The evidence of each part, from the marks (:meth:`of_rows`) of some rows and the part of each."""
        first = np.bincount(parts, minlength=count)[:, None]
        keys = (parts.astype(np.int64)[:, None] * self.width + marks).ravel()
        evidence = np.bincount(keys, minlength=count * self.width).reshape(count, self.width)
        evidence[:, :1] = first
        return evidence

    def records(self, population: Population, names: Sequence[str]) -> Records:
        """The evidence of each combination of these attributes, in the order of ``population.combinations``."""
        records, columns, rows = [], [], []
        for subject, start in zip(self.subjects, self.starts, strict=False):
            beside = population.combinations((*names, subject.name))
            records.append(_numbered(beside))
            columns.append(beside.codes[:, -1].astype(np.int64) + start)
            rows.append(beside.sizes)
        arrays = [np.concatenate([np.empty(0, np.int64), *each]) for each in (records, columns, rows)]
        order = np.argsort(arrays[0], kind="stable")
        return Records(self, *(each[order] for each in arrays))


@dataclass(frozen=True, eq=False)
class Records:
    """The evidence of records, number by number: so many ``rows`` of a ``record`` at a ``place`` of its evidence."""

    judge: Judge
    record: Counts
    place: Counts
    rows: Counts

    @cached_property
    def _begin(self) -> Counts:
        """Where the numbers of each record begin; they are sorted by record."""
        return np.searchsorted(self.record, np.arange(int(self.record.max(initial=-1)) + 2))

    def holds(self, records: Counts, group: Counts, sizes: Counts) -> Flags:
        """Whether each group may be released; see :meth:`evidence`."""
        allowed = np.ones(len(sizes), np.bool_)
        for first, evidence in self.evidence(records, group, sizes):
            allowed[first : first + len(evidence)] = self.judge.holds(evidence)
        return allowed

    def evidence(self, records: Counts, group: Counts, sizes: Counts) -> Iterator[tuple[int, Counts]]:
        """The evidence of groups of records, in stretches that fit into memory: the first group, and the evidence.

        ``records``, ``group``: some records, and the group of each; -1 for none. ``sizes``: rows of each group.
        """
        lengths = self._begin[records + 1] - self._begin[records]
        at = np.repeat(self._begin[records] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        of, width = np.repeat(group, lengths), self.judge.width
        step = max(1, LARGEST // width)
        order = np.argsort(of, kind="stable")
        starts = np.searchsorted(of, np.arange(0, len(sizes) + step, step), sorter=order)
        for number, first in enumerate(range(0, len(sizes), step)):
            mine, last = order[starts[number] : starts[number + 1]], min(first + step, len(sizes))
            keys = (of[mine] - first) * width + self.place[at[mine]]
            evidence = np.bincount(keys, self.rows[at[mine]], (last - first) * width).astype(np.int64)
            evidence = evidence.reshape(last - first, width)
            evidence[:, 0] = sizes[first:last]
            yield first, evidence


def _numbered(beside: Combinations) -> Counts:
    """The number of each row's combination of all attributes but the last; rows are in lexical order."""
    codes = beside.codes[:, :-1]
    new = np.ones(len(codes), np.bool_)
    new[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    return np.cumsum(new) - 1
