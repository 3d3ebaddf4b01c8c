"""Measured risk as a page of its own, or as a fragment for a notebook."""

from __future__ import annotations

from incrowd.drawing.markup import Html
from incrowd.drawing.page import figure, head, page, paragraph, section
from incrowd.drawing.wording import sentence
from incrowd.risk.assessment import Risk
from incrowd.risk.charts import risk_curve, size_chart, tables_of, titles
from incrowd.risk.telling import drawn_part, headline, parts_of


def risk_html(measured: Risk, whole_page: bool = True) -> str:
    """The measured risk of a table, and of its release beside it.

    Parameters
    ----------
    measured
        What was measured.
    whole_page
        A page of its own, or a fragment for a notebook.
    """
    columns = paragraph(f"Quasi-identifiers: {', '.join(measured.quasi_identifiers)}.", class_="aside")
    figures = risk_figures(measured)
    parts = [
        section(part.title, part.name, *drawn_part(part), *(figures if part.name == "at-risk" else ()))
        for part in parts_of(measured)
    ]
    title = f"Re-identification risk: {measured.source}"
    return page(title, head("Re-identification risk", sentence(headline(measured)), columns), *parts, whole=whole_page)


def risk_figures(measured: Risk) -> list[Html]:
    """Rows, or persons, by the size of their class, and the curve of risk, of the table and of its release."""
    tables, known, unit = tables_of(measured), titles(measured), measured.unit
    return [figure(known["sizes"], size_chart(tables, unit)), figure(known["curve"], risk_curve(tables, unit))]
