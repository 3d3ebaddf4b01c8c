"""A page as data: the same blocks become Markdown, with drawings as files beside it, and one HTML file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from incrowd.drawing.markup import Html, element, join, text, texts
from incrowd.drawing.page import bullets, figure, page, table
from incrowd.drawing.wording import plain


@dataclass(frozen=True)
class Heading:
    """A heading of a section, or of a part of one (level 3)."""

    words: str
    level: int = 2


@dataclass(frozen=True)
class Words:
    """A paragraph. Text between backticks is code."""

    words: str


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """A cell of a table: its text, the class that colours it, and whether it stands out where there are no colours."""

    words: str
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
    words: str
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
    return tuple(Shown(each) for each in texts)


_SPECIAL = re.compile(r"([\\*_<>\[\]|#])")


def as_markdown(document: Document, plots: str = "plots") -> str:
    """The page; ``plots`` is the folder of the drawings, seen from the page.

    Examples
    --------
    >>> print(as_markdown(Document("A page", (Words("`k` is 5 < 6."),))))
    # A page
    <BLANKLINE>
    `k` is 5 \\< 6.
    <BLANKLINE>
    """
    parts = [f"# {escaped(document.title)}", *("\n".join(_block_lines(block, plots)) for block in document.blocks)]
    return "\n\n".join(parts) + "\n"


def escaped(words: str) -> str:
    """Text in which nothing but code between backticks is markup."""
    pieces = plain(words).split("`")
    if len(pieces) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", "'".join(pieces))
    return "`".join(piece if place % 2 else _SPECIAL.sub(r"\\\1", piece) for place, piece in enumerate(pieces))


def _block_lines(block: Block, plots: str) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {escaped(block.words)}"
        case Words():
            yield escaped(block.words)
        case Bullets():
            yield from (f"- {escaped(item)}" for item in block.items)
        case Picture():
            yield f"![{escaped(block.words)}]({plots}/{block.name}.svg)"
        case Grid():
            yield from _grid_lines(block)


def _grid_lines(grid: Grid) -> Iterator[str]:
    yield f"{escaped(grid.caption)}:"
    yield ""
    yield f"| {' | '.join(map(escaped, grid.header))} |"
    yield f"|{'---|' * grid.words}{'---:|' * (len(grid.header) - grid.words)}"
    for row in grid.rows:
        yield f"| {' | '.join(map(_cell_text, row))} |"


def _cell_text(cell: Shown) -> str:
    words = escaped(cell.words)
    return f"**{words}**" if cell.strong and words else words


def as_html(document: Document) -> str:
    """The page."""
    head = element("header", element("h1", text(document.title)))
    return page(document.title, head, *(_block_html(block) for block in document.blocks))


def _block_html(block: Block) -> Html:
    match block:
        case Heading():
            return element(f"h{block.level}", text(block.words))
        case Words():
            return element("p", _with_code(block.words))
        case Bullets():
            return bullets(_with_code(item) for item in block.items)
        case Picture():
            return figure(block.words, block.svg)
        case Grid():
            return _grid_html(block)


def _with_code(words: str) -> Html:
    """Words; what stands between backticks is code."""
    pieces = words.split("`")
    if len(pieces) % 2 == 0:
        return text(words)
    return join(element("code", text(one)) if place % 2 else text(one) for place, one in enumerate(pieces))


def _grid_html(grid: Grid) -> Html:
    rows = ([_cell_html(cell) for cell in row] for row in grid.rows)
    return table(grid.caption, texts(*grid.header), rows, numbers=range(grid.words, len(grid.header)), class_="small")


def _cell_html(cell: Shown) -> Html:
    words = _with_code(cell.words)
    return element("span", words, class_=cell.kind) if cell.kind else words
