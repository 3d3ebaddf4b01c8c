"""A page as one HTML file: no network, no script, drawings as inline SVG, differences coloured."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from incrowd.lab.reproduce.document import Block, Bullets, Document, Grid, Heading, Picture, Shown, Words
from incrowd.report.html import page
from incrowd.report.markup import Html, bullets, element, join, text


def as_html(document: Document) -> str:
    """The page."""
    head = element("header", element("h1", text(document.title)))
    body = element("div", head, *(_block(block) for block in document.blocks), class_="incrowd-report reproduction")
    return page(document.title, body, lab_style(), own_style())


@cache
def lab_style() -> Html:
    """What the pages of the lab look like."""
    return Html(files("incrowd.lab").joinpath("style.css").read_text(encoding="utf-8"))


@cache
def own_style() -> Html:
    """What only these pages have: colours of differences, the paper's lines."""
    return Html(files("incrowd.lab.reproduce").joinpath("style.css").read_text(encoding="utf-8"))


def _block(block: Block) -> Html:
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
            return _grid(block)


def _with_code(said: str) -> Html:
    """Words; what stands between backticks is code."""
    pieces = said.split("`")
    if len(pieces) % 2 == 0:
        return text(said)
    return join(element("code", text(one)) if place % 2 else text(one) for place, one in enumerate(pieces))


def _grid(grid: Grid) -> Html:
    heads = join(element("th", text(said), scope="col", class_=_side(place, grid)) for place, said in _numbered(grid))
    rows = join(element("tr", *(_cell(cell, place, grid) for place, cell in enumerate(row))) for row in grid.rows)
    parts = (
        element("caption", text(grid.caption)),
        element("thead", element("tr", heads)),
        element("tbody", rows),
    )
    return element("div", element("table", *parts, class_="beside"), class_="wide")


def _numbered(grid: Grid) -> Iterator[tuple[int, str]]:
    yield from enumerate(grid.header)


def _cell(cell: Shown, place: int, grid: Grid) -> Html:
    if place == 0:
        return element("th", _with_code(cell.said), scope="row", class_="words")
    return element("td", _with_code(cell.said), class_=f"{_side(place, grid)} {cell.kind}".strip())


def _side(place: int, grid: Grid) -> str:
    return "words" if place < grid.words else "number"
