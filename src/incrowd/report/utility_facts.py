"""What is left of the table in its release, as data; counted from the plan and the verified file.

A released cell stands for one or several values of its attribute. All measures count *distinct values of the table*,
the missing one included, also for numbers: the classical width of an interval over that of the attribute would give
away the smallest and the largest number to whoever knows the intervals, and figures of this file are published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.plan.release_plan import ReleasePlan
from incrowd.verification.verdict import ClassSizes
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.released_value import (
    Category,
    Counts,
    Form,
    Interval,
    Level,
    Midpoint,
    Range,
    Shown,
    ShownMissing,
    ValueSet,
    is_shown,
)

Cells = Sequence[tuple[int, int]]
"""Pairs of how many values a cell stands for, and in how many rows."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of an attribute that occur in the table."""

    column: EncodedColumn
    hierarchy: Hierarchy | None = None

    @cached_property
    def size(self) -> int:
        """How many values there are; missing is one of them, if some row has it."""
        return int((self.column.counts > 0).sum())

    def covered(self, form: Form) -> int:
        """How many of the values a cell of this form may stand for.

        A mean bounds no value of its group, so it may stand for all of them, like a cell that shows nothing.
        """
        match form:
            case Shown() | ShownMissing():
                return 1
            case ValueSet(values):
                return len(values)
            case Interval(low, high) | Level(low, high) | Midpoint(low, high):
                return self._between(low, high, "right")
            case Range(low, high):
                return self._between(low, high, "left")
            case Category(label):
                return self._in_group(label)
            case Counts(members) if members is not None:
                return sum(self._between(m.low, m.high, "right") if isinstance(m, Interval) else 1 for m in form.rows)
            case _:
                return self.size

    @cached_property
    def _numbers(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        return self.column.numbers[self.column.counts[:-1] > 0]

    def _between(self, low: float | None, high: float | None, side: str) -> int:
        """Numbers up to ``high`` and above ``low``, or from ``low`` on."""
        first = 0 if low is None else int(np.searchsorted(self._numbers, low, "left" if side == "left" else "right"))
        last = len(self._numbers) if high is None else int(np.searchsorted(self._numbers, high, "right"))
        return last - first

    @cached_property
    def _groups(self) -> dict[str, int]:
        """For each label of the hierarchy the number of values below it."""
        assert self.hierarchy is not None
        places = self.hierarchy.find(self.column)[:-1][self.column.counts[:-1] > 0]
        below: dict[str, set[int]] = {}
        for node, label in enumerate(self.hierarchy.labels):
            leaves = self.hierarchy.leaves_below(node)
            members = np.flatnonzero((places >= leaves.start) & (places < leaves.stop))
            below.setdefault(label, set()).update(members.tolist())
        return {label: len(values) for label, values in below.items()}

    def _in_group(self, label: str) -> int:
        """Values below the nodes of that name; a name that no hierarchy knows may stand for all."""
        return self._groups.get(label, self.size) if self.hierarchy is not None else self.size


def certainty_penalty(cells: Cells, size: int) -> float:
    r"""The normalised certainty penalty of an attribute: 0 nothing is lost, 1 everything.

    Xu, Wang, Pei, Wang, Shi, Fu, "Utility-Based Anonymization Using Local Recoding" (KDD 2006): a cell that stands for
    u of the A values of its attribute costs u / A, and nothing if u = 1; the mean over all cells. The penalty of a
    release is the mean over its attributes. For numbers the paper takes widths of intervals; here values are counted.
    ``size`` is A; a row that is left out stands for all values.

    Examples
    --------
    >>> certainty_penalty([(1, 6), (2, 3), (4, 1)], size=4)
    0.25
    """
    rows = sum(count for _, count in cells)
    lost = sum(covered * count for covered, count in cells if covered > 1)
    return lost / (rows * size) if rows and size else 0.0


def loss_metric(cells: Cells, size: int) -> float:
    r"""The loss metric of an attribute: 0 nothing is lost, 1 everything.

    Iyengar, "Transforming Data to Satisfy Privacy Constraints" (KDD 2002): a cell that stands for u of the A values
    of its attribute costs (u - 1) / (A - 1); the mean over all cells. For numbers, as above, values are counted.

    Examples
    --------
    >>> loss_metric([(1, 6), (2, 3), (4, 1)], size=4)
    0.2
    """
    rows = sum(count for _, count in cells)
    lost = sum((covered - 1) * count for covered, count in cells)
    return lost / (rows * (size - 1)) if rows and size > 1 else 0.0


def discernibility(histogram: Iterable[tuple[int, int]], left_out: int = 0) -> int:
    r"""Each row is charged the rows it cannot be told from: the sum of the squared sizes of the groups.

    Bayardo, Agrawal, "Data Privacy through Optimal k-Anonymization" (ICDE 2005): :math:`\sum_E |E|^2`, and for every
    row that is left out the number of all rows of the table. The smaller, the more is told apart; the least is the
    number of rows. The histogram has pairs of group size and number of groups of that size.

    Examples
    --------
    >>> discernibility([(2, 3), (5, 1)]), discernibility([(2, 3), (5, 1)], left_out=1)
    (37, 49)
    """
    groups = list(histogram)
    rows = sum(size * count for size, count in groups) + left_out
    return sum(size * size * count for size, count in groups) + left_out * rows


def average_group(histogram: Iterable[tuple[int, int]], k: int) -> float:
    """How many times larger than needed groups are on average; 1 is the best there is.

    LeFevre, DeWitt, Ramakrishnan, "Mondrian Multidimensional K-Anonymity" (ICDE 2006), their C_AVG: rows over groups
    over k.

    Examples
    --------
    >>> average_group([(10, 3), (30, 1)], k=10)
    1.5
    """
    groups = list(histogram)
    rows, classes = sum(size * count for size, count in groups), sum(count for _, count in groups)
    return rows / classes / k if classes else 0.0


@dataclass(frozen=True)
class AttributeLoss:
    """What is lost of one quasi-identifier: its cells that show nothing, loss metric, normalised certainty penalty."""

    name: str
    hidden: int
    loss: float
    penalty: float


@dataclass(frozen=True)
class Utility:
    """What is left of a table: of each quasi-identifier, of all its ``cells``, and of the groups as recounted."""

    attributes: tuple[AttributeLoss, ...]
    cells: int
    discernibility: int
    average_group: float

    @property
    def hidden(self) -> int:
        """Cells that show nothing, those of rows that are left out included."""
        return sum(one.hidden for one in self.attributes)

    @property
    def penalty(self) -> float:
        """The normalised certainty penalty of the release: the mean over its attributes."""
        return sum(one.penalty for one in self.attributes) / len(self.attributes) if self.attributes else 0.0

    @property
    def loss(self) -> float:
        """The loss metric of the release: the mean over its attributes."""
        return sum(one.loss for one in self.attributes) / len(self.attributes) if self.attributes else 0.0

    def to_json(self) -> dict[str, Any]:
        """The figures, rounded."""
        return {
            "normalised_certainty_penalty": round(self.penalty, 4),
            "loss_metric": round(self.loss, 4),
            "discernibility": self.discernibility,
            "average_group": round(self.average_group, 4),
            "attributes": {
                one.name: {
                    "hidden_cells": one.hidden,
                    "loss_metric": round(one.loss, 4),
                    "normalised_certainty_penalty": round(one.penalty, 4),
                }
                for one in self.attributes
            },
        }


def utility_of(plan: ReleasePlan, columns: Mapping[str, EncodedColumn], sizes: ClassSizes) -> Utility:
    """The losses of a plan for a table, and the figures of the groups that were recounted."""
    return Utility(
        attributes=tuple(_loss(plan, columns, name) for name in plan.names),
        cells=plan.rows * len(plan.names),
        discernibility=discernibility(sizes.histogram, plan.rows_dropped),
        average_group=average_group(sizes.histogram, plan.requirement.smallest_group),
    )


def _loss(plan: ReleasePlan, columns: Mapping[str, EncodedColumn], name: str) -> AttributeLoss:
    domain = Domain(columns[name], plan.schema[name].hierarchy)
    shown: Counter[Any] = Counter()
    for form, rows in zip(plan.forms(name), plan.rows_showing(name), strict=True):
        shown[form] += rows
    cells = [(domain.covered(form), rows) for form, rows in shown.items()]
    cells.append((domain.size, plan.rows_dropped))
    hidden = plan.rows_dropped + sum(rows for form, rows in shown.items() if not is_shown(form))
    return AttributeLoss(name, hidden, loss_metric(cells, domain.size), certainty_penalty(cells, domain.size))
