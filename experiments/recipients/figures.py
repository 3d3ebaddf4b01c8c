"""Outcomes as figures: accuracy by each way, and the difference of two ways on the same releases and the same rows."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from experiments.recipients.cells import COMPARED, LAB, OPENED, TESTED, UNPROTECTED, Cell, Kind, Outcomes
from incrowd.vocabulary.forms import STRICT

MARGIN = 0.3
"""Points of accuracy that opening a release may cost."""
SURE = 1.96  # standard errors on each side, for an interval of 95 %
NAMES = {"tree": "tree", "logistic": "logistic", "boosting": "boosting", "knn": "nearest neighbours"}
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """Opened against the lab, in points of accuracy, with its standard error."""

    mean: float
    error: float

    @property
    def verdict(self) -> str:
        """``within`` the margin or better; below it, but not surely (``noise``); ``worse``."""
        if self.mean >= -MARGIN:
            return "within"
        return "noise" if self.mean + SURE * self.error >= -MARGIN else "worse"

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ± {self.error:.1f}"


@dataclass(frozen=True)
class Figure:
    """One learner on the releases of one kind, table and k: accuracies in %, over all splits that both ways have."""

    table: str
    kind: Kind
    k: int
    learner: str
    unprotected: float
    lab: float
    opened: float
    difference: Difference
    earlier: bool = False  # read from the figures of a former run


def read_figures(path: Path) -> Iterator[Figure]:
    """The figures of a former run, as :func:`write_figures` left them."""
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                kind = (row["method"], row["form"], row["numeric"], row["hierarchies"] == "yes")
                yield Figure(
                    row["table"],
                    kind,
                    int(row["k"]),
                    row["learner"],
                    float(row["unprotected"]),
                    float(row["comparisons"]),
                    float(row["opened"]),
                    Difference(float(row["difference"]), float(row["standard_error"])),
                    earlier=True,
                )


def write_figures(path: Path, every: Iterable[Figure]) -> None:
    """All figures as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        words = ("table", "method", "form", "numeric", "hierarchies", "k", "learner")
        writer.writerow([*words, "unprotected", "comparisons", "opened", "difference", "standard_error", "earlier"])
        for figure in sorted(every, key=lambda one: (one.table, one.kind, one.k)):
            method, form, numeric, hierarchies = figure.kind
            numbers = (figure.unprotected, figure.lab, figure.opened, figure.difference.mean, figure.difference.error)
            cells = (figure.table, method, form, numeric, _yes(hierarchies), figure.k, figure.learner)
            writer.writerow([*cells, *(f"{number:.2f}" for number in numbers), _yes(figure.earlier)])


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def differences(known: Outcomes, learner: str) -> Iterator[tuple[Cell, Difference]]:
    """Opened against what `incrowd compare` feeds, release by release: the same learner, draws and test rows."""
    for (cell, way), opened in known.items():
        compared = known.get((cell.origin, COMPARED))
        if way == OPENED and compared is not None and {learner} <= opened.right.keys() & compared.right.keys():
            each = 100 * (opened.right[learner].astype(np.float64) - compared.right[learner])
            yield cell, Difference(float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each))))


@dataclass(frozen=True, eq=False)
class Figures:
    """All outcomes, to be asked for figures of a way to open releases."""

    known: Outcomes
    way: str = OPENED

    @cached_property
    def pairs(self) -> dict[tuple[str, Kind, int], list[Cell]]:
        """The cells that both ways have, by table, kind and k."""
        both: dict[tuple[str, Kind, int], list[Cell]] = {}
        for cell, way in self.known:
            if way == self.way and (cell.origin, LAB) in self.known and (self._plain(cell), LAB) in self.known:
                both.setdefault((cell.table, cell.kind, cell.k), []).append(cell)
        return both

    def all(self, learners: Iterable[str]) -> Iterator[Figure]:
        """Every figure for which both ways have outcomes."""
        for (table, kind, k), cells in self.pairs.items():
            for learner in learners:
                both = [cell for cell in cells if self._both(cell, learner)]
                if both:
                    yield self._figure(table, kind, k, learner, both)

    def together(self, cells: Iterable[Cell], learner: str) -> Difference | None:
        """The mean difference over tables; its error over test rows, or over releases, whichever is larger."""
        tables: dict[str, list[Cell]] = {}
        for cell in cells:
            if self._both(cell, learner):
                tables.setdefault(cell.table, []).append(cell)
        if not tables:
            return None
        each = [self._difference(here, learner) for here in tables.values()]
        over_rows = math.sqrt(sum(one.error**2 for one in each)) / len(each)
        splits = [self._difference([cell], learner).mean for here in tables.values() for cell in here]
        over_splits = float(np.std(splits, ddof=1)) / math.sqrt(len(splits)) if len(splits) > 1 else 0.0
        return Difference(float(np.mean([one.mean for one in each])), max(over_rows, over_splits))

    def failures(self) -> dict[tuple[Cell, str], str]:
        """Why there is no figure, where the lab has one, by cell and learner."""
        reasons: dict[tuple[Cell, str], str] = {}
        for (cell, way), outcome in self.known.items():
            lab = self.known.get((cell.origin, LAB))
            if way == self.way and lab is not None:
                reasons |= {(cell, learner): why for learner, why in outcome.failed.items() if learner in lab.right}
        return reasons

    def same_release(self) -> tuple[int, int]:
        """In how many cells both ways decided on the same release, and how many there are."""
        cells = [cell for cells in self.pairs.values() for cell in cells if cell.form == cell.origin.form]
        same = sum(self.known[cell, self.way].digest == self.known[cell, LAB].digest for cell in cells)
        return same, len(cells)

    def _plain(self, cell: Cell) -> Cell:
        return Cell(cell.table, UNPROTECTED, STRICT, "", False, 1, cell.repetition, cell.fold)

    def _both(self, cell: Cell, learner: str) -> bool:
        return learner in self.known[cell, self.way].right and learner in self.known[cell.origin, LAB].right

    def _figure(self, table: str, kind: Kind, k: int, learner: str, cells: list[Cell]) -> Figure:
        ways = ((self._plain, LAB), (lambda cell: cell.origin, LAB), (lambda cell: cell, self.way))
        unprotected, lab, opened = (
            100 * float(np.mean(np.concatenate([self.known[of(cell), way].right[learner] for cell in cells])))
            for of, way in ways
        )
        return Figure(table, kind, k, learner, unprotected, lab, opened, self._difference(cells, learner))

    def _difference(self, cells: list[Cell], learner: str) -> Difference:
        """The mean over tested rows; a row that is tested more than once counts once, by its mean."""
        rows: Mapping[Cell, npt.NDArray[np.intp]] = {
            cell: np.flatnonzero(self.known[self._plain(cell), LAB].right[TESTED]) for cell in cells
        }
        size = 1 + max(int(tested[-1]) for tested in rows.values())
        total, times = np.zeros(size), np.zeros(size)
        for cell, tested in rows.items():
            opened, lab = self.known[cell, self.way].right[learner], self.known[cell.origin, LAB].right[learner]
            total[tested] += opened.astype(np.float64) - lab
            times[tested] += 1
        each: Numbers = 100 * total[times > 0] / times[times > 0]
        return Difference(float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each))))


def share_of(count: int, total: int) -> str:
    """A share in per cent."""
    return f"{100 * count / max(total, 1):.1f} %"
