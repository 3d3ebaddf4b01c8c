"""Where our figures of an item are: on which page, in which table, or in which test."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from experiments.claims.pages import PageTable, ResultPage
from incrowd.errors import InputError

ROOT = Path(__file__).parents[2]
Pages = Mapping[str, ResultPage]
T = TypeVar("T")
COMPARED, REPRODUCED, TESTED = "compared", "as printed", "tested"


@dataclass(frozen=True)
class Finding:
    """Our figures, the verdict, the command that shows them again; the claim and print where a page has both."""

    ours: str
    verdict: str
    command: str
    claim: str = ""
    printed: str = ""


@dataclass(frozen=True)
class PointOf:
    """A point that the page judges, by how it starts."""

    page: str
    start: str

    def look(self, pages: Pages) -> Finding:
        """The point."""
        page = pages[self.page]
        row = _only([row for row in page.points if row["point"].startswith(self.start)], self)
        return Finding(row["our figures"], row["ours"], page.command, row["point"], row["paper"])


@dataclass(frozen=True)
class GoalOf:
    """A goal of the page, by how it starts."""

    page: str
    start: str

    def look(self, pages: Pages) -> Finding:
        """The goal."""
        page = pages[self.page]
        _, measured, verdict = _only([goal for goal in page.goals if goal[0].startswith(self.start)], self)
        return Finding(measured, verdict, page.command)


@dataclass(frozen=True)
class RowsOf:
    """The rows of a table of which a column has this value; shown are some columns, or all others.

    The table is the first that has the words in its heading, its caption or its columns.
    """

    page: str
    table: str
    column: str
    value: str
    shown: tuple[str, ...] = ()

    def look(self, pages: Pages) -> Finding:
        """The rows, one after the other."""
        page = pages[self.page]
        table = _table(page, self.table, self)
        rows = [row for row in table.rows if row.get(self.column) == self.value]
        if not rows:
            raise _missing(self)
        shown = self.shown or tuple(name for name in table.header if name != self.column)
        lines = (", ".join(f"{name}: {row[name]}" for name in shown) for row in rows)
        return Finding("; ".join(lines), COMPARED, page.command)


@dataclass(frozen=True)
class Beside:
    """Columns of ours beside printed columns, over all rows of the tables that have them."""

    page: str
    table: str
    pairs: tuple[tuple[str, str], ...]
    unit: str

    def look(self, pages: Pages) -> Finding:
        """How far they are apart."""
        page = pages[self.page]
        gaps = [
            abs(_number(row[ours]) - _number(row[theirs]))
            for table in page.tables
            if self.table in table.caption + "".join(table.header) + table.heading
            for ours, theirs in self.pairs
            if ours in table.header and theirs in table.header
            for row in table.rows
            if _is_number(row[ours]) and _is_number(row[theirs])
        ]
        if not gaps:
            raise _missing(self)
        distance = f"{len(gaps)} figures, {fmean(gaps):.2f} {self.unit} apart on average, at most {max(gaps):.2f}"
        return Finding(distance, COMPARED, page.command)


@dataclass(frozen=True)
class Figures:
    """What a pattern with one group finds on the page: all, one after the other, or the first alone."""

    page: str
    pattern: str
    first: bool = False

    def look(self, pages: Pages) -> Finding:
        """All that it finds; each once."""
        page = pages[self.page]
        figures = list(dict.fromkeys(match[1] for match in re.finditer(self.pattern, page.text, re.MULTILINE)))
        if not figures:
            raise _missing(self)
        return Finding("; ".join(figures[:1] if self.first else figures), COMPARED, page.command)


@dataclass(frozen=True)
class HeldByTest:
    """A test: of what was printed, unless the verdict says otherwise. It fails where ours differs."""

    file: str
    name: str
    verdict: str = REPRODUCED

    def look(self, _pages: Pages) -> Finding:
        """The test, if there is such a one."""
        source = (ROOT / "tests" / self.file).read_text(encoding="utf-8")
        if f"\ndef {self.name}(" not in source:
            raise _missing(self)
        words = self.name.removeprefix("test_").replace("_", " ")
        return Finding(f"test of: {words}", self.verdict, f"pytest tests/{self.file} -k {self.name}")


Where = PointOf | GoalOf | RowsOf | Beside | Figures | HeldByTest


def _table(page: ResultPage, words: str, where: Where) -> PageTable:
    for table in page.tables:
        if words in table.heading or words in table.caption or words in table.header:
            return table
    raise _missing(where)


def _only(places: Sequence[T], where: Where) -> T:
    if len(places) != 1:
        raise _missing(where)
    return places[0]


def _missing(where: Where) -> InputError:
    return InputError(f"The results do not have what the list of contents looks for: {where}. Mend the list.")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[\d.,]+", text) is not None


def _number(text: str) -> float:
    return float(text.replace(",", ""))
