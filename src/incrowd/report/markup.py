"""HTML and SVG as typed text: what is not :data:`Html` must pass :func:`text`, which escapes it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import NewType

from incrowd.report.wording import plain

Html = NewType("Html", str)
"""Text that is markup already. The type checker refuses a plain string where markup is expected."""


def text(words: str) -> Html:
    """Words as visible text, whatever they hold.

    Examples
    --------
    >>> text("<script>")
    '&lt;script&gt;'
    """
    return Html(html.escape(plain(words)))


def join(parts: Iterable[Html], between: str = "") -> Html:
    """Markup one after the other."""
    return Html(between.join(parts))


def element(tag: str, *children: Html, **attributes: str | float) -> Html:
    """An element. ``class_`` stands for ``class``, ``aria_label`` for ``aria-label``; values are escaped.

    Examples
    --------
    >>> element("p", text("a < b"), class_="note")
    '<p class="note">a &lt; b</p>'
    """
    said = "".join(f' {_attribute(name)}="{_value(value)}"' for name, value in attributes.items())
    return Html(f"<{tag}{said}>{''.join(children)}</{tag}>")


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return text(value) if isinstance(value, str) else f"{value:g}"


def paragraph(words: str, **attributes: str) -> Html:
    """A paragraph of plain text."""
    return element("p", text(words), **attributes)


def bullets(items: Iterable[Html], **attributes: str) -> Html:
    """A list, one entry for each item."""
    return element("ul", *(element("li", item) for item in items), **attributes)


def table(caption: str, header: Sequence[Html], rows: Iterable[Sequence[Html]], **attributes: str) -> Html:
    """A table with a caption, column headers, and the first cell of every row as its header."""
    heads = join(element("th", cell, scope="col") for cell in header)
    body = join(
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:])) for row in rows
    )
    parts = (
        element("caption", text(caption)),
        element("thead", element("tr", heads)),
        element("tbody", body),
    )
    return element("div", element("table", *parts, **attributes), class_="wide")
