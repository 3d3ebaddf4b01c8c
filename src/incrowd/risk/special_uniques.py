"""Special uniques: rows that few of their columns already single out.

A set of columns is a minimal sample unique (MSU) of a row if the row is alone with its values in them, and is not alone
in any smaller set. Elliot, Manning, Ford: A computational algorithm for handling the special uniques problem,
International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 2002. The search here is exact, for sets
up to a size that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from math import comb, prod

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.risk.classes import Classes, Coded, Mask, NotMeasured, Whole, classes_of, refine

MOST_CELLS = 400_000_000
"""At most so many rows times sets of columns are looked at; sets of the largest size are left out first."""

Subset = tuple[int, ...]


@dataclass(frozen=True)
class Special:
    """The special uniques of a table."""

    largest: int  # the most columns that were tried together
    requested: int  # the most that should have been tried; if more than ``largest``, it would have taken too long
    sets: int  # how many sets of columns were tried
    minimal: tuple[int, ...]  # how many minimal sample uniques there are of each size, from 1 on
    rows: tuple[int, ...]  # how many rows have their smallest one of each size, from 1 on
    unscored: int  # unique rows that have none up to that size: only larger sets single them out
    columns: tuple[tuple[str, int, float], ...]
    highest: float
    mean: float
    dis: DisSuda | NotMeasured  # DIS-SUDA, if the sampling fraction is known
    scores: npt.NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def special(self) -> int:
        """Rows with a minimal sample unique of at most ``largest`` columns: the special ones."""
        return sum(self.rows)

    def to_json(self) -> dict[str, object]:
        """The numbers; not the scores of rows."""
        return {
            "largest_set": self.largest,
            "asked_for": self.requested,
            "sets_tried": self.sets,
            "minimal_sample_uniques": {f"{size}": count for size, count in enumerate(self.minimal, 1)},
            "rows_by_smallest": {f"{size}": count for size, count in enumerate(self.rows, 1)},
            "unique_by_larger_sets_only": self.unscored,
            "columns": {name: {"part_of": count, "share": share} for name, count, share in self.columns},
            "suda": {"highest": self.highest, "mean": self.mean},
            "dis_suda": self.dis.to_json(),
        }


@dataclass(frozen=True)
class DisSuda:
    """DIS, for the whole table, and DIS-SUDA, for its scored rows."""

    dis: float  # the probability that a unique match is right
    highest: float
    mean: float
    above: tuple[tuple[float, int], ...]  # how many rows lie above 0.1, 0.2 and 0.5

    def to_json(self) -> dict[str, object]:
        """The numbers."""
        above = {f"{threshold:g}": rows for threshold, rows in self.above}
        return {"dis": self.dis, "highest": self.highest, "mean": self.mean, "rows_above": above}


def special_uniques(
    columns: Sequence[Coded],
    names: Sequence[str],
    largest: int = 3,
    fraction: float | None = None,
    owners: Whole | None = None,
) -> Special:
    """Every minimal sample unique of up to ``largest`` columns, and the scores that follow.

    With ``owners``, the person of each row, a row is alone if nobody else has one that looks alike, and a person is as
    special as its most special row.
    """
    if isinstance(largest, bool) or not isinstance(largest, int) or largest < 1:
        raise ParameterError("The largest set of columns for special uniques must be a whole number of at least 1.")
    rows, width = len(columns[0].codes), len(columns)
    reach = reachable(rows, width, min(largest, width))
    search = _Search(columns, reach, owners)
    search.run()
    whole = classes_of(columns, owners)
    scored = search.scores > 0
    part_of = search.part_of.tolist()
    total = max(1, sum(search.minimal))
    return Special(
        largest=reach,
        requested=min(largest, width),
        sets=sum(comb(width, size) for size in range(1, reach + 1)),
        minimal=tuple(search.minimal),
        rows=tuple(np.bincount(search.smallest, minlength=reach + 1)[1:].tolist()),
        unscored=int((whole.exposed == 1).sum()) - int(scored.sum()),
        columns=tuple((name, count, count / total) for name, count in zip(names, part_of, strict=True)),
        highest=float(search.scores.max()),
        mean=float(search.scores[scored].mean()) if scored.any() else 0.0,
        dis=dis_suda(search.scores, whole, fraction),
        scores=search.scores,
    )


def reachable(rows: int, width: int, largest: int) -> int:
    """The largest size of sets up to ``largest`` for which all sets can be tried; always at least 1."""
    cells, reach = rows * width, 1
    for size in range(2, largest + 1):
        cells += rows * comb(width, size)
        if cells > MOST_CELLS:
            break
        reach = size
    return reach


def suda_weight(size: int, width: int, largest: int) -> int:
    """The score of one minimal sample unique: the product over i from its size to M of (columns - i).

    M is the largest size tried, at most one less than the columns; a set of all columns scores 1. Elliot, Manning,
    Mayes, Gurd, Bane: SUDA: A program for detecting special uniques, UNECE work session, Geneva 2005.
    """
    return prod(width - i for i in range(size, min(largest, width - 1) + 1))


def dis_suda(scores: npt.NDArray[np.float64], whole: Classes, fraction: float | None) -> DisSuda | NotMeasured:
    r"""DIS for the table, spread over its special uniques by their SUDA scores.

    With n\ :sub:`1` uniques and n\ :sub:`2` pairs in a sample of fraction p

        DIS = p n_1 / (p n_1 + 2 (1 - p) n_2)

    estimates how often a unique match is right, which is n\ :sub:`1` over the people who look like one of the uniques
    (Skinner, Elliot: A measure of disclosure risk for microdata, JRSS B 64, 2002). A row of score s gets the
    probability q with (1 - q) / q = c / s: the higher the score, the fewer others look alike. c is such that the people
    who look alike, 1 / q, are 1 / DIS on average over the scored rows.

    Other programs raise s to a power that depends on the number of columns; no paper gives it, and it is left out here.
    """
    if fraction is None:
        return NotMeasured("the size of the population is not known")
    scored = scores[scores > 0]
    if not len(scored):
        return NotMeasured("no row has a minimal sample unique")
    ones, pairs = fraction * whole.number_of(1), 2 * (1 - fraction) * whole.number_of(2)
    dis = ones / (ones + pairs)
    scale = (1 - dis) / dis / float((1 / scored).mean())
    confidences = 1 / (1 + scale / scored)
    above = tuple((threshold, int((confidences > threshold).sum())) for threshold in (0.1, 0.2, 0.5))
    return DisSuda(dis, float(confidences.max()), float(confidences.mean()), above)


class _Search:
    """Goes through all sets of columns, size by size; a row unique on a set is unique on every larger one."""

    def __init__(self, columns: Sequence[Coded], largest: int, owners: Whole | None) -> None:
        self.columns, self.largest, self.owners = columns, largest, owners
        height = len(columns[0].codes) if owners is None else int(owners.max(initial=-1)) + 1
        self.scores: npt.NDArray[np.float64] = np.zeros(height)
        self.smallest: Whole = np.zeros(height, np.int64)
        self.part_of: Whole = np.zeros(len(columns), np.int64)
        self.minimal: list[int] = []

    def run(self) -> None:
        """Fill in scores, sizes and counts."""
        classes: dict[Subset, Classes] = {}
        alone: dict[Subset, Mask] = {}
        for size in range(1, self.largest + 1):
            finer: dict[Subset, Classes] = {}
            unique: dict[Subset, Mask] = {}
            self.minimal.append(0)
            for subset in combinations(range(len(self.columns)), size):
                finer_classes = self._classes(subset, classes)
                mask = finer_classes.alone[finer_classes.labels]
                self._note(subset, mask, alone)
                if size < self.largest:  # nothing is kept of the largest sets
                    finer[subset], unique[subset] = finer_classes, mask
            classes, alone = finer, unique

    def _classes(self, subset: Subset, coarser: dict[Subset, Classes]) -> Classes:
        last = self.columns[subset[-1]]
        return refine(coarser[subset[:-1]], last) if len(subset) > 1 else classes_of([last], self.owners)

    def _note(self, subset: Subset, unique: Mask, alone: dict[Subset, Mask]) -> None:
        """Count the rows, or persons, for which the set is minimal."""
        smaller = [alone[tuple(c for c in subset if c != left)] for left in subset] if len(subset) > 1 else []
        minimal = unique & ~reduce(np.logical_or, smaller) if smaller else unique
        rows = np.flatnonzero(minimal) if self.owners is None else np.unique(self.owners[minimal])
        self.scores[rows] += suda_weight(len(subset), len(self.columns), self.largest)
        self.smallest[rows] = np.where(self.smallest[rows] == 0, len(subset), self.smallest[rows])
        self.part_of[list(subset)] += len(rows)
        self.minimal[-1] += len(rows)
