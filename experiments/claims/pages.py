"""Result pages read back: their tables, goals and lists, as the programs that measured wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_COMMAND = re.compile(r"ritten by `(python -m [^`]+)`")
_GOAL = re.compile(r"^\*\*(Met|Missed)\*\*: (.+?) Measured: (.+)$")
_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class PageTable:
    """A table of a page: the last heading and the last words before it, its columns, and its rows."""

    heading: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[dict[str, str], ...]


@dataclass(frozen=True)
class ResultPage:
    """A page of results."""

    name: str
    text: str

    @classmethod
    def read(cls, folder: Path, name: str) -> ResultPage:
        """The page of that name."""
        return cls(name, (folder / f"{name}.md").read_text(encoding="utf-8"))

    @property
    def command(self) -> str:
        """What wrote the page first."""
        match = _COMMAND.search(self.text)
        assert match is not None
        return match[1]

    @cached_property
    def tables(self) -> tuple[PageTable, ...]:
        """All tables, in their order.

        Examples
        --------
        >>> page = ResultPage("a", "# A\\n\\n## B\\n\\nC:\\n\\n| x | y |\\n|---|---:|\\n| 1 | **2** |\\n")
        >>> page.tables
        (PageTable(heading='B', caption='C:', header=('x', 'y'), rows=({'x': '1', 'y': '2'},)),)
        """
        return tuple(self._tables())

    def _tables(self) -> Iterator[PageTable]:
        heading = caption = ""
        header: tuple[str, ...] = ()
        rows: list[dict[str, str]] = []
        for line in [*self.text.splitlines(), ""]:
            if line.startswith("|"):
                cells = tuple(_plain(cell) for cell in _CELL.split(line.strip())[1:-1])
                if not header:
                    header = cells
                elif not set("".join(cells)) <= set("-:"):
                    rows.append(dict(zip(header, cells, strict=True)))
                continue
            if header:
                yield PageTable(heading, caption, header, tuple(rows))
                header, rows = (), []
            if line.startswith("#"):
                heading = _plain(line.lstrip("#"))
            caption = line.strip() or caption

    @cached_property
    def goals(self) -> tuple[tuple[str, str, str], ...]:
        """The goals: what was wanted, what was measured, and whether that is met or missed."""
        matches = (_GOAL.match(line) for line in self.text.splitlines())
        return tuple((_plain(goal[2]), _plain(goal[3]), goal[1].lower()) for goal in matches if goal)

    @property
    def points(self) -> tuple[dict[str, str], ...]:
        """The rows of the table that judges what a paper shows; none on pages that have goals."""
        return next((table.rows for table in self.tables if table.header[0] == "point"), ())


def _plain(cell: str) -> str:
    """A cell without marks: what is bold or escaped there is not here."""
    return re.sub(r"\\(.)", r"\1", cell.strip().replace("**", ""))
