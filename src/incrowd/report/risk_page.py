"""Measured risk: as a section of the report of a release, as a page of its own, or as a fragment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incrowd.drawing.markup import Html, element, join, text
from incrowd.drawing.page import figure, head, page, paragraph, section
from incrowd.drawing.wording import sentence, unbroken
from incrowd.report.charts import Histogram, risk_curve, size_chart
from incrowd.report.facts import Facts
from incrowd.report.unchanged_facts import singling_out_line

if TYPE_CHECKING:
    from incrowd.risk.assessment import Risk
    from incrowd.risk.telling import TextPart

NOT_MEASURED = "Risk was not measured, so nothing is known about it. To measure it: incrowd risk."


def risk_html(measured: Risk, whole_page: bool = True) -> str:
    """The measured risk of a table, and of its release beside it; a page of its own, or a fragment."""
    from incrowd.risk.telling import drawn_part, headline, parts_of

    columns = paragraph(f"Quasi-identifiers: {', '.join(measured.quasi_identifiers)}.", class_="aside")
    figures = risk_figures(measured)
    parts = [
        section(part.title, part.name, *drawn_part(part), *(figures if part.name == "at-risk" else ()))
        for part in parts_of(measured)
    ]
    title = f"Re-identification risk: {measured.source}"
    return page(title, head("Re-identification risk", sentence(headline(measured)), columns), *parts, whole=whole_page)


def risk(facts: Facts) -> Html:
    """Who can be re-identified, linked and inferred about, in the table and in its release."""
    title = "Risk, before and after"
    if facts.risk is None:
        return section(title, "risk", paragraph(NOT_MEASURED, class_="unknown"), *_singling_out(facts))
    from incrowd.risk.telling import headline, parts_of, safe_harbor_part

    measured = facts.risk
    both = [part for part in parts_of(measured) if part.name != "safe-harbor"]
    parts = [_whole(part, risk_figures(measured) if part.name == "at-risk" else ()) for part in both]
    last = measured.after or measured
    checklist = _whole(safe_harbor_part(last, several=True), ())
    opening = [paragraph(unbroken(f"{headline(measured)}.")), *_singling_out(facts)]
    return section(title, "risk", *opening, *parts, checklist)


def _singling_out(facts: Facts) -> list[Html]:
    """Singling out both ways, where unchanged columns were counted."""
    if facts.unchanged is None:
        return []
    return [
        paragraph(unbroken(f"In the release, {singling_out_line(facts.unchanged, facts.verdict.sizes.rows_below(2))}."))
    ]


def _whole(part: TextPart, figures: Sequence[Html]) -> Html:
    """A part with its title as the caption of its table."""
    from incrowd.risk.telling import drawn_part

    title = [] if part.table else [element("h3", text(part.title))]
    return join([*title, *drawn_part(part, part.title), *figures])


def risk_figures(measured: Risk) -> list[Html]:
    """Rows by the size of their class, and the curve of risk, of the table and of its release."""
    tables: list[tuple[str, Histogram]] = [("before" if measured.after else measured.source, measured.classes)]
    if measured.after:
        tables.append(("after", measured.after.classes))
    return [
        figure("Rows by the size of their class", size_chart(tables)),
        figure("Share of rows with at least this re-identification risk (prosecutor)", risk_curve(tables)),
    ]
