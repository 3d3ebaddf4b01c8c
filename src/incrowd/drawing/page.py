"""Pages and their parts: title, sections, terms, key figures, tables, figures. Nothing is loaded, nothing runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from incrowd.drawing.markup import DARK, PALETTE, SCOPE, Html, element, join, page_style, text
from incrowd.drawing.wording import Tone

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_TITLE = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>')
_LIGHT, _DARK = PALETTE["paper"]
_AROUND = Html(
    f":root{{color-scheme:light dark}}body{{margin:0;background:{_LIGHT}}}"
    f"{DARK}{{body{{background:{_DARK}}}}}@page{{margin:16mm 15mm}}\n"
)


def page(title: str, *parts: Html, whole: bool = True) -> str:
    """A page of its own, or a fragment for a notebook that touches nothing else there."""
    rules = Html(page_style())
    if not whole:
        return join([element("style", rules), element("div", *parts, class_=f"{SCOPE} view")])
    body = element("div", *parts, class_=SCOPE)
    head = join(
        [
            Html('<meta charset="utf-8">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", text(title)),
            element("style", _AROUND, rules),
        ],
        "\n",
    )
    document = element("html", element("head", head), element("body", element("main", body)), lang="en")
    return f"<!DOCTYPE html>\n{document}\n"


def head(title: str, about: str, *parts: Html) -> Html:
    """The title of a page, what it is about, and what is to be seen first."""
    return element("header", element("h1", text(title)), paragraph(about, class_="about"), *parts)


def standing(words: str, tone: Tone, mark: str = "") -> Html:
    """The one sentence that must be read, on a ground that says whether it is good."""
    mark_first = [element("span", text(mark), class_="sign", aria_hidden="true")] if mark else []
    return element("p", *mark_first, text(words), class_=f"standing {tone}")


def section(title: str, name: str, *parts: Html) -> Html:
    """A titled part of a page, which links can lead to; ``name`` is its class."""
    place = "-".join(re.findall(r"\w+", title.lower()))
    return element("section", element("h2", text(title), id=place), *parts, class_=name)


def contents(sections: Iterable[Html]) -> Html:
    """Links to the sections of a page."""
    titles = (match for each in sections if (match := _TITLE.search(each)))
    links = (element("li", element("a", Html(match[2]), href=f"#{match[1]}")) for match in titles)
    return element("nav", element("ul", *links), class_="contents", aria_label="Contents")


def folded(summary: str, *parts: Html, unfolded: bool = False) -> Html:
    """Parts that are seen where somebody unfolds them, or on paper."""
    shown = {"open": ""} if unfolded else {}
    return element("details", element("summary", text(summary)), *parts, **shown)


def paragraph(words: str, **attributes: str) -> Html:
    """A paragraph of plain text."""
    return element("p", text(words), **attributes)


def bullets(items: Iterable[Html], **attributes: str) -> Html:
    """A list, one entry for each item."""
    return element("ul", *(element("li", item) for item in items), **attributes)


def pairs(entries: Mapping[str, Html], **attributes: str) -> Html:
    """Terms and what they are."""
    rows = (element("div", element("dt", text(term)), element("dd", words)) for term, words in entries.items())
    return element("dl", *rows, **attributes)


def tiles(figures: Mapping[str, str], tones: Mapping[str, Tone] | None = None) -> Html:
    """The numbers to see first, each above its name; ``tones`` are those of names that are not neutral."""
    tone = tones or {}
    shown = {
        term: element("span", text(figure), class_=tone[term]) if term in tone else text(figure)
        for term, figure in figures.items()
    }
    return pairs(shown, class_="figures")


def table(
    caption: str,
    header: Sequence[Html],
    rows: Iterable[Sequence[Html]],
    *,
    numbers: Collection[int] = (),
    **attributes: str,
) -> Html:
    """A table with column headers, and the first cell of every row as its header."""
    kinds = [{"class_": "number"} if place in numbers else {} for place in range(len(header))]
    heads = join(element("th", cell, scope="col", **kind) for cell, kind in zip(header, kinds, strict=True))
    body = join(
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(element("td", cell, **kind) for cell, kind in zip(row[1:], kinds[1:], strict=True)),
        )
        for row in rows
    )
    parts = [element("thead", element("tr", heads)), element("tbody", body)]
    named = [element("caption", text(caption))] if caption else []
    return element("div", element("table", *named, *parts, **attributes), class_="wide")


def figure(caption: str, drawing: Html) -> Html:
    """A drawing under its caption."""
    return element("figure", element("figcaption", text(caption)), drawing)
