"""What is measured: a method in a form, at one k, on one split, by one way. Outcomes are kept as JSON lines."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incrowd.methods.catalog import METHODS, MethodEntry
from incrowd.vocabulary.forms import COUNTS, PAIR, STRICT

UNPROTECTED = "unprotected"
LAB, COMPARED, OPENED, UNSHARED = "lab", "compared", "opened", "opened without hierarchies"
WAYS = (LAB, COMPARED, OPENED, UNSHARED)
"""Fed through the private plan; as `incrowd compare` feeds it; opened by its recipient, who has hierarchies or not."""
TESTED = "tested"
"""Beside the learners of rows as they are: which rows of the table were tested."""
ADULT = "adult"
SMALL = ("german-credit", "credit-approval", "pima", "car")
"""Of mixed types, one with missing values; all numbers; all categories and four classes. Chosen before anything ran."""
KS = (10, 100)
REPETITIONS = 3
COUNTED = ("bins='fine'", "counts_by_class=True")
"""Other ways to count, of every method that shows counts: numbers in fine bins, and values by class."""
CLUSTERED = "blend(groups='clusters')"
Kind = tuple[str, str, str, bool]
"""What is released, whatever the table, k and the split: method, form, how numbers are written, hierarchies.

A method may have settings in brackets.
"""
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Cell:
    """One release of the rows to learn from, or none (``UNPROTECTED``); it has the same seed in every way."""

    table: str
    method: str
    form: str
    numeric: str  # how numbers are written; empty where the method or the form leaves no choice
    hierarchies: bool
    k: int
    repetition: int
    fold: int

    @property
    def split(self) -> tuple[str, int, int]:
        """What the rows to learn from and to test on depend on."""
        return self.table, self.repetition, self.fold

    @property
    def origin(self) -> Cell:
        """The cell whose groups it tells: a pair has the groups of the counts."""
        return replace(self, form=COUNTS) if self.form == PAIR else self

    @property
    def kind(self) -> Kind:
        """What is released."""
        return self.method, self.form, self.numeric, self.hierarchies


@dataclass(frozen=True, eq=False)
class Outcome:
    """Which test rows each learner got right, and a digest of the plan; or, by learner, why it could not."""

    right: Mapping[str, Flags] = field(default_factory=dict)
    digest: str = ""
    failed: Mapping[str, str] = field(default_factory=dict)


Outcomes = dict[tuple[Cell, str], Outcome]
"""Outcomes by cell and way."""


def kinds() -> Iterator[Kind]:
    """Every method in every form, with every way to write numbers, without and with hierarchies where it takes them.

    Then every other way to count, and Blend's clusters.
    """
    for entry in METHODS.values():
        for hierarchies in (False, True) if entry.generalizes else (False,):
            for form in entry.forms:
                yield from ((entry.name, form, numeric, hierarchies) for numeric in _numeric(entry, form))
        if COUNTS in entry.forms:
            yield from ((f"{entry.name}({setting})", COUNTS, "", False) for setting in COUNTED)
    yield from ((CLUSTERED, form, "", False) for form in (COUNTS, STRICT))


def _numeric(entry: MethodEntry, form: str) -> tuple[str, ...]:
    """Counts are counted in bins, whatever the method would write."""
    return entry.numeric or ("",) if form == STRICT else ("",)


def cells(repetitions: int = REPETITIONS, tables: Iterable[str] = (*SMALL, ADULT)) -> Iterator[Cell]:
    """Split by split: the small tables in two halves; Adult, in the first repetition, in one split.

    Tables and k take turns, so that a run that is cut short has about as much of each table, k and kind.
    """
    for repetition, fold in itertools.product(range(repetitions), (0, 1)):
        split = [table for table in tables if table != ADULT or (repetition, fold) == (0, 0)]
        yield from (Cell(table, UNPROTECTED, STRICT, "", False, 1, repetition, fold) for table in split)
        places = [(table, k) for k in KS for table in split]
        for turn in range(len(places)):
            for place, kind in enumerate(kinds()):
                table, k = places[(place + turn) % len(places)]
                yield Cell(table, *kind, k, repetition, fold)


def waiting(every: Iterable[Cell], ways: Iterable[str], known: Outcomes) -> list[tuple[Cell, str]]:
    """The cells without an outcome, each by one way after the other.

    Pairs are compared by the counts that they tell; hierarchies are kept back where cells show their groups.
    """
    needed = ((_measured(cell, way), way) for cell in every for way in ways if _needs(cell, way))
    return [one for one in dict.fromkeys(needed) if one not in known]


def _measured(cell: Cell, way: str) -> Cell:
    return cell.origin if way in (LAB, COMPARED) else cell


def _needs(cell: Cell, way: str) -> bool:
    if way == UNSHARED:
        return cell.hierarchies and cell.form == STRICT
    return way == LAB or cell.method != UNPROTECTED


def read_outcomes(path: Path) -> Outcomes:
    """What former runs kept, the last line of each cell; a torn line is passed over."""
    known: Outcomes = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            kept = json.loads(line)
            right = {name: _unpacked(rows, bits) for name, (rows, bits) in kept["right"].items()}
            known[Cell(*kept["cell"]), kept["way"]] = Outcome(right, kept["digest"], kept["failed"])
        except (ValueError, KeyError, TypeError):
            continue
    return known


def keep(path: Path, cell: Cell, way: str, outcome: Outcome) -> None:
    """Add one line; several processes may do so."""
    right = {name: _packed(flags) for name, flags in outcome.right.items()}
    line = {
        "cell": astuple(cell),
        "way": way,
        "right": right,
        "digest": outcome.digest,
        "failed": dict(outcome.failed),
    }
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(line) + "\n")


def _packed(flags: Flags) -> tuple[int, str]:
    return len(flags), base64.b64encode(np.packbits(flags).tobytes()).decode()


def _unpacked(rows: int, bits: str) -> Flags:
    return np.unpackbits(np.frombuffer(base64.b64decode(bits), np.uint8), count=rows).astype(bool)
