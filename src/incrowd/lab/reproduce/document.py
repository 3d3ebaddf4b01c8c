"""A page as data: the same blocks become Markdown and HTML."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.report.markup import Html


@dataclass(frozen=True)
class Heading:
    """A heading of a section, or of a part of one (level 3)."""

    said: str
    level: int = 2


@dataclass(frozen=True)
class Words:
    """A paragraph. Text between backticks is code."""

    said: str


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """A cell of a table: its text, the class that colours it, and whether it stands out where there are no colours."""

    said: str
    kind: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Grid:
    """A table; the first ``words`` columns are words, the others numbers."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Shown, ...], ...]
    words: int = 1


@dataclass(frozen=True)
class Picture:
    """A drawing: the name of its file, what it shows, and the SVG element."""

    name: str
    said: str
    svg: Html


Block = Heading | Words | Bullets | Grid | Picture


@dataclass(frozen=True)
class Document:
    """A whole page."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All drawings."""
        return tuple(block for block in self.blocks if isinstance(block, Picture))


def shown(*texts: str) -> tuple[Shown, ...]:
    """Plain cells."""
    return tuple(Shown(said) for said in texts)
