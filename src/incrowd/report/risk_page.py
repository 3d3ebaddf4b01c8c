"""Measured risk as one HTML page, or as a fragment: no network, no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.report.extra_sections import risk_figures, risk_part
from incrowd.report.html import fragment, page
from incrowd.report.markup import element, paragraph, text

if TYPE_CHECKING:
    from incrowd.risk.assessment import Risk


def risk_html(found: Risk, whole_page: bool = True) -> str:
    """The measured risk of a table, and of its release beside it.

    Parameters
    ----------
    found
        What was measured.
    whole_page
        A page of its own, or a fragment for a notebook or a report.
    """
    from incrowd.risk.telling import headline, parts_of

    head = element(
        "header",
        element("h1", text("Measured risk")),
        paragraph(headline(found), class_="about"),
        paragraph(f"Quasi-identifiers: {', '.join(found.quasi_identifiers)}.", class_="aside"),
    )
    figures = risk_figures(found)
    parts = [risk_part(part, figures if part.name == "at-risk" else ()) for part in parts_of(found)]
    body = element("div", head, *parts, class_="incrowd-report")
    return page(f"Measured risk: {found.source}", body) if whole_page else fragment(body)
