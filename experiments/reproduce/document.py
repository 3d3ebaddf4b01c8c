"""A page as data: the same blocks become Markdown, with drawings as files beside it, and one HTML file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from incrowd.report.html import page
from incrowd.report.markup import Html, bullets, element, join, text
from incrowd.report.wording import plain


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


def escaped(said: str) -> str:
    """Text in which nothing but code between backticks is markup."""
    pieces = plain(said).split("`")
    if len(pieces) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", "'".join(pieces))
    return "`".join(piece if place % 2 else _SPECIAL.sub(r"\\\1", piece) for place, piece in enumerate(pieces))


def _block_lines(block: Block, plots: str) -> Iterator[str]:
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
            yield from _grid_lines(block)


def _grid_lines(grid: Grid) -> Iterator[str]:
    yield f"{escaped(grid.caption)}:"
    yield ""
    yield f"| {' | '.join(map(escaped, grid.header))} |"
    yield f"|{'---|' * grid.words}{'---:|' * (len(grid.header) - grid.words)}"
    for row in grid.rows:
        yield f"| {' | '.join(map(_cell_text, row))} |"


def _cell_text(cell: Shown) -> str:
    said = escaped(cell.said)
    return f"**{said}**" if cell.strong and said else said


def as_html(document: Document) -> str:
    """The page."""
    head = element("header", element("h1", text(document.title)))
    body = element(
        "div", head, *(_block_html(block) for block in document.blocks), class_="incrowd-report reproduction"
    )
    return page(document.title, body, lab_style(), own_style())


@cache
def lab_style() -> Html:
    """What the pages of a comparison look like."""
    return Html(files("incrowd.compare").joinpath("style.css").read_text(encoding="utf-8"))


@cache
def own_style() -> Html:
    """What only these pages have: colours of differences, the paper's lines."""
    return Html(files("experiments.reproduce").joinpath("style.css").read_text(encoding="utf-8"))


def _block_html(block: Block) -> Html:
    match block:
        case Heading():
            return element(f"h{block.level}", text(block.said))
        case Words():
            return element("p", _with_code(block.said))
        case Bullets():
            return bullets(_with_code(item) for item in block.items)
        case Picture():
            return element("figure", element("figcaption", text(block.said)), block.svg)
        case Grid():
            return _grid_html(block)


def _with_code(said: str) -> Html:
    """Words; what stands between backticks is code."""
    pieces = said.split("`")
    if len(pieces) % 2 == 0:
        return text(said)
    return join(element("code", text(one)) if place % 2 else text(one) for place, one in enumerate(pieces))


def _grid_html(grid: Grid) -> Html:
    heads = join(element("th", text(said), scope="col", class_=_side(place, grid)) for place, said in _numbered(grid))
    rows = join(element("tr", *(_cell_html(cell, place, grid) for place, cell in enumerate(row))) for row in grid.rows)
    parts = (
        element("caption", text(grid.caption)),
        element("thead", element("tr", heads)),
        element("tbody", rows),
    )
    return element("div", element("table", *parts, class_="beside"), class_="wide")


def _numbered(grid: Grid) -> Iterator[tuple[int, str]]:
    yield from enumerate(grid.header)


def _cell_html(cell: Shown, place: int, grid: Grid) -> Html:
    if place == 0:
        return element("th", _with_code(cell.said), scope="row", class_="words")
    return element("td", _with_code(cell.said), class_=f"{_side(place, grid)} {cell.kind}".strip())


def _side(place: int, grid: Grid) -> str:
    return "words" if place < grid.words else "number"


_SIZE = re.compile(r' width="([\d.]+)" height="([\d.]+)"')
_RULE = re.compile(r"\.incrowd-report svg [^{}]*\{[^{}]*\}")
_COLOURS = re.compile(r"--[a-z0-9-]+: ?#[0-9a-f]+;")
MARGIN = 12


def standalone(drawing: Html) -> str:
    """The drawing with its styles and its own ground."""
    size = _SIZE.search(drawing)
    assert size is not None
    width, height = float(size[1]) + 2 * MARGIN, float(size[2]) + 2 * MARGIN
    placed = Html(drawing.replace("<svg ", f'<svg x="{MARGIN}" y="{MARGIN}" ', 1))
    whole = element(
        "svg",
        element("style", _style()),
        element("rect", width="100%", height="100%", class_="ground"),
        placed,
        xmlns="http://www.w3.org/2000/svg",
        class_="incrowd-report",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )
    return f"{whole}\n"


@cache
def _style() -> Html:
    """Only what drawings need of the style sheets: colours, light and dark, and the rules about them."""
    report = files("incrowd.report").joinpath("style.css").read_text(encoding="utf-8")
    sheets = [report, lab_style(), own_style()]
    rules = [rule for sheet in sheets for rule in _RULE.findall(sheet)]
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", "".join(rules))) | {"--paper"}
    light, dark = (_colours(sheets, used, is_dark) for is_dark in (False, True))
    ground = ".incrowd-report .ground{fill:var(--paper)}.incrowd-report text{font-family:system-ui,sans-serif}"
    root = f".incrowd-report{{{light}}}"
    return Html(f"{root}@media(prefers-color-scheme:dark){{.incrowd-report{{{dark}}}}}{ground}{''.join(rules)}")


def _colours(sheets: list[str], used: set[str], is_dark: bool) -> str:
    """The declarations of colours before the dark block of each sheet, or in it."""
    found = []
    for sheet in sheets:
        before, _, after = sheet.partition("prefers-color-scheme: dark")
        found += _COLOURS.findall(after if is_dark else before)
    return "".join(one.replace(" ", "") for one in found if one.partition(":")[0] in used)
