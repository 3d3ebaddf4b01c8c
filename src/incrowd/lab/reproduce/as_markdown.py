"""A page in Markdown, with its drawings as files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incrowd.lab.reproduce.document import Block, Bullets, Document, Grid, Heading, Picture, Shown, Words
from incrowd.report.wording import plain

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
    parts = [f"# {escaped(document.title)}", *("\n".join(_lines(block, plots)) for block in document.blocks)]
    return "\n\n".join(parts) + "\n"


def escaped(said: str) -> str:
    """Text in which nothing but code between backticks is markup."""
    pieces = plain(said).split("`")
    if len(pieces) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", "'".join(pieces))
    return "`".join(piece if place % 2 else _SPECIAL.sub(r"\\\1", piece) for place, piece in enumerate(pieces))


def _lines(block: Block, plots: str) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {escaped(block.said)}"
        case Words():
            yield escaped(block.said)
        case Bullets():
            yield from (f"- {escaped(item)}" for item in block.items)
        case Picture():
            yield f"![{escaped(block.said)}]({plots}/{block.name}.svg)"
        case Grid():
            yield from _grid(block)


def _grid(grid: Grid) -> Iterator[str]:
    yield f"{escaped(grid.caption)}:"
    yield ""
    yield f"| {' | '.join(map(escaped, grid.header))} |"
    yield f"|{'---|' * grid.words}{'---:|' * (len(grid.header) - grid.words)}"
    for row in grid.rows:
        yield f"| {' | '.join(map(_cell, row))} |"


def _cell(cell: Shown) -> str:
    said = escaped(cell.said)
    return f"**{said}**" if cell.strong and said else said
