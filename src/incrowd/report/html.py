"""The report as one HTML file: no network, no script, charts as inline SVG."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from incrowd.report import sections
from incrowd.report.extra_sections import attacks, earlier_releases, risk, unchanged_columns, utility
from incrowd.report.facts import Facts
from incrowd.report.markup import Html, bullets, element, join, text
from incrowd.report.sections import signing
from incrowd.report.unchanged_facts import headline_lines
from incrowd.report.wording import Standing, standing, statement

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_MARKS = {Standing.SATISFIED: "✓", Standing.FAILED: "✗", Standing.NOT_RECOUNTED: "?"}
_PAGE_STYLE = Html(
    ":root{color-scheme:light dark}body{margin:0;background:#fff}"
    "@media screen and (prefers-color-scheme:dark){body{background:#15181c}}"
    "@page{margin:16mm 15mm}"
)


def report_html(facts: Facts, whole_page: bool = True, certificate: Mapping[str, Any] | None = None) -> str:
    """The report of a release.

    Parameters
    ----------
    facts
        What happened.
    whole_page
        A page of its own, or a fragment for a notebook whose styles touch nothing else.
    certificate
        The certificate of the release: its digests then stand in the report, and whoever signs signs for these bytes.
    """
    body = _body(facts, certificate, whole_page)
    return page(f"Release report: {facts.output or facts.source}", body) if whole_page else fragment(body)


def page(title: str, body: Html, *styles: Html) -> str:
    """A whole page in the style of the reports: nothing is loaded, nothing runs.

    The outermost element of the body has the class ``incrowd-report``; ``styles`` are added to the style sheet.
    """
    head = join(
        [
            Html('<meta charset="utf-8">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", text(title)),
            element("style", _PAGE_STYLE, _style(), *styles),
        ],
        "\n",
    )
    whole = element("html", element("head", head), element("body", element("main", body)), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def fragment(body: Html) -> str:
    """A part of a notebook, in the same style, which touches nothing else there."""
    return join([element("style", _style()), body])


def _body(facts: Facts, certificate: Mapping[str, Any] | None, signed: bool) -> Html:
    return element(
        "div",
        _head(facts),
        sections.asked(facts),
        sections.done(facts),
        sections.verified(facts),
        unchanged_columns(facts),
        risk(facts),
        attacks(facts),
        earlier_releases(facts),
        utility(facts),
        sections.notices(facts),
        sections.limits(facts),
        sections.made(facts, certificate),
        *([signing(facts, certificate)] if signed else []),
        class_="incrowd-report",
    )


def _head(facts: Facts) -> Html:
    """Title, the one sentence about the guarantee, and the key figures."""
    found = standing(facts)
    about = f"{facts.source} → {facts.output}" if facts.output else facts.source
    said = statement(facts)
    return element(
        "header",
        element("h1", text("Release report")),
        element("p", text(about), class_="about"),
        element(
            "p",
            element("span", text(_MARKS[found]), class_="mark", aria_hidden="true"),
            text(f"{said[0].upper()}{said[1:]}."),
            class_=f"standing {'good' if found is Standing.SATISFIED else 'bad'}",
        ),
        bullets((text(line) for line in headline_lines(facts.unchanged)), class_="beside"),
        sections.key_figures(facts),
    )


@cache
def _style() -> Html:
    return Html(files("incrowd.report").joinpath("style.css").read_text(encoding="utf-8"))
