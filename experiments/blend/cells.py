"""What is tried: a method in a form, at one k and requirement, on one split. Outcomes are kept as JSON lines."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

from incrowd.comparisons.datasets.catalog import find_dataset

UNPROTECTED, BINNED = "unprotected", "unprotected, same bins"
PLAIN, COUNTS, STRICT = "", "counts", "strict"


@dataclass(frozen=True)
class Cell:
    """One trial.

    Parameters
    ----------
    table, known
        A data set and its set of quasi-identifiers.
    method
        With parameters in brackets, if they are not the usual ones.
    form
        ``""``: as the method shows values; ``"counts"``; ``"strict"``: what the rows of a group have in common.
    k, besides
        The requirement: k, and what is asked besides (``"entropy-l=1.4"``).
    """

    table: str
    known: str
    method: str
    form: str
    k: int
    besides: str
    repetition: int
    fold: int
    deals: int = 5

    @property
    def name(self) -> str:
        """The method and its form, as pages say it."""
        return f"{self.method} as {self.form}" if self.form else self.method

    @property
    def split(self) -> tuple[str, str, int, int]:
        """What the rows to learn from and to test on depend on."""
        return self.table, self.known, self.repetition, self.fold


@dataclass(frozen=True)
class Outcome:
    """Accuracy and area under the curve by learner, figures of the release by name; or why there are none."""

    scores: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)
    status: str = ""


def read_outcomes(path: Path) -> dict[Cell, Outcome]:
    """What former runs kept; a torn last line is passed over."""
    outcomes: dict[Cell, Outcome] = {}
    if not path.exists():
        return outcomes
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            data: dict[str, Any] = json.loads(line)
            scores = {name: (pair[0], pair[1]) for name, pair in data["outcome"]["scores"].items()}
            outcomes[Cell(*data["cell"])] = Outcome(scores, data["outcome"]["facts"], data["outcome"]["status"])
        except (ValueError, KeyError, TypeError):
            continue
    return outcomes


def keep(path: Path, cell: Cell, outcome: Outcome) -> None:
    """Add one line; several processes may do so."""
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps({"cell": astuple(cell), "outcome": asdict(outcome)}) + "\n")


def waiting(cells: Iterable[Cell], outcomes: dict[Cell, Outcome]) -> list[list[Cell]]:
    """The cells without an outcome, those of a split together: what they share is made once."""
    bundles: dict[tuple[str, str, int, int], list[Cell]] = {}
    for cell in dict.fromkeys(cells):
        if cell not in outcomes:
            bundles.setdefault(cell.split, []).append(cell)
    return list(bundles.values())


ADULT, KS, SETS = "adult", (5, 20, 50, 100, 500, 1000), ("14/14", "11/14", "8/14")
SMALL = (
    "credit-approval", "pima", "glass", "ionosphere", "nursery", "tic-tac-toe", "vehicle", "waveform", "german-credit",
    "breast-cancer", "car",
)  # fmt: skip
UNSEEN = ("breast-cancer", "car")
SMALL_KS, LARGE_KS = (5, 10, 30), (50, 200)
RIVALS = (
    ("infogain-mondrian", COUNTS),
    ("kactus", PLAIN),
    ("kactus-plus", PLAIN),
    ("tdr", PLAIN),
    ("kadet", PLAIN),
    ("mondrian", PLAIN),
    ("mondrian", COUNTS),
    ("infogain-mondrian", PLAIN),
    ("blend", STRICT),
)
SECRETLY = 2
SECRETS = ("entropy-l=1.2", "entropy-l=1.4", "entropy-l=1.6", "t-equal=0.3", "t-equal=0.2")
WITH_SECRETS = (
    ("blend", COUNTS),
    ("infogain-mondrian", COUNTS),
    ("mondrian", COUNTS),
    ("kactus", PLAIN),
    ("kactus-plus", PLAIN),
    ("infogain-mondrian", PLAIN),
    ("mondrian", PLAIN),
    ("tdr", PLAIN),
    ("kadet", PLAIN),
)
PARTS = {
    "all of it": "blend",
    "nothing hidden": "blend(hide=False)",
    "no splits on the score": "blend(scores=0)",
    "attributes do not count": "blend(attributes=0)",
    "the class itself does not count": "blend(labels=0)",
    "a logistic guide": "blend(guide='logistic')",
    "a guide of naive Bayes": "blend(guide='bayes')",
}
PART_KS, SMALL_PART_KS = (5, 100, 1000), (5, 50)
SMALL_PARTS = tuple(table for table in SMALL if table not in ("glass", "nursery", *UNSEEN))
"""Without glass, which is too small for k = 50, and nursery, where a class of two rows makes boosting erratic."""


def adult_cells(repetitions: int) -> Iterator[Cell]:
    """Adult: Blend first, then its rivals, then, twice, the class as a secret; repetition by repetition."""
    for repetition in range(repetitions):
        for fold in (0, 1):
            for known in SETS:
                split = (repetition, fold)
                yield Cell(ADULT, known, UNPROTECTED, PLAIN, 1, "", *split)
                yield Cell(ADULT, known, BINNED, PLAIN, 5, "", *split)
                for method, form in (("blend", COUNTS), *RIVALS):
                    yield from (Cell(ADULT, known, method, form, k, "", *split) for k in KS)
        if repetition < SECRETLY:
            for fold in (0, 1):
                yield from secret_cells(repetition, fold)


def secret_cells(repetition: int, fold: int) -> Iterator[Cell]:
    """Adult, the class a secret: at k = 100 every requirement, at k = 1000 one."""
    for method, form in WITH_SECRETS:
        for besides in SECRETS:
            yield Cell(ADULT, "14/14", method, form, 100, besides, repetition, fold)
        yield Cell(ADULT, "14/14", method, form, 1000, "entropy-l=1.4", repetition, fold)


def small_cells(repetitions: int) -> Iterator[Cell]:
    """The small tables: Blend, kACTUS and InfoGain groups as counts; k no larger than a fifth of the rows."""
    for repetition in range(repetitions):
        for table in SMALL:
            rows = find_dataset(table).rows // 2
            for fold in (0, 1):
                split = (repetition, fold)
                yield Cell(table, "all", UNPROTECTED, PLAIN, 1, "", *split)
                yield Cell(table, "all", BINNED, PLAIN, 5, "", *split)
                for k in (k for k in (*SMALL_KS, *LARGE_KS) if 5 * k <= rows):
                    for method, form in (("blend", COUNTS), ("infogain-mondrian", COUNTS), ("kactus", PLAIN)):
                        yield Cell(table, "all", method, form, k, "", *split)
                    yield Cell(table, "all", "blend", STRICT, k, "", *split)


def part_cells(repetitions: int) -> Iterator[Cell]:
    """Blend without each of its parts, with one deal instead of five, and the standing control."""
    tables = [(ADULT, "14/14", PART_KS), *((table, "all", SMALL_PART_KS) for table in SMALL_PARTS)]
    for repetition in range(repetitions):
        for table, known, ks in tables:
            for fold in (0, 1):
                split = (repetition, fold)
                yield Cell(table, known, UNPROTECTED, PLAIN, 1, "", *split)
                for k in ks:
                    for method in PARTS.values():
                        yield Cell(table, known, method, COUNTS, k, "", *split)
                    yield Cell(table, known, "blend", COUNTS, k, "", *split, deals=1)
                    yield Cell(table, known, "blend", STRICT, k, "", *split)
                    yield Cell(table, known, "infogain-mondrian", COUNTS, k, "", *split)
