"""What is tried: a method in a form, at one k and requirement, on one split. Outcomes are kept as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

UNPROTECTED, BINNED = "unprotected", "unprotected, same bins"
PLAIN, COUNTS, STRICT = "", "counts", "strict"


@dataclass(frozen=True)
class Cell:
    """One trial.

    Parameters
    ----------
    table, known
        A data set of the lab and its set of quasi-identifiers.
    method
        With parameters in brackets, if they are not the usual ones.
    form
        ``""``: as the method shows values; ``"counts"``; ``"strict"``: what the rows of a group have in common.
    k, asked
        The requirement: k, and what is asked besides (``"entropy-l=1.4"``).
    """

    table: str
    known: str
    method: str
    form: str
    k: int
    asked: str
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
    found: dict[Cell, Outcome] = {}
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            data: dict[str, Any] = json.loads(line)
            scores = {name: (pair[0], pair[1]) for name, pair in data["outcome"]["scores"].items()}
            found[Cell(*data["cell"])] = Outcome(scores, data["outcome"]["facts"], data["outcome"]["status"])
        except (ValueError, KeyError, TypeError):
            continue
    return found


def keep(path: Path, cell: Cell, outcome: Outcome) -> None:
    """Add one line; several processes may do so."""
    import fcntl

    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps({"cell": astuple(cell), "outcome": asdict(outcome)}) + "\n")


def waiting(cells: Iterable[Cell], found: dict[Cell, Outcome]) -> list[list[Cell]]:
    """The cells without an outcome, those of a split together: what they share is made once."""
    bundles: dict[tuple[str, str, int, int], list[Cell]] = {}
    for cell in dict.fromkeys(cells):
        if cell not in found:
            bundles.setdefault(cell.split, []).append(cell)
    return list(bundles.values())
