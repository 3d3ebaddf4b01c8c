"""Measured risk as sections: of the report of a release, and of a page of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from incrowd.report.facts import Facts
from incrowd.report.markup import Html, element, join, paragraph, table, text
from incrowd.report.risk_charts import Histogram, risk_curve, size_chart
from incrowd.report.sections import figure, section
from incrowd.report.unchanged_facts import singling_out_line
from incrowd.report.wording import unbroken

if TYPE_CHECKING:
    from incrowd.risk.assessment import Risk
    from incrowd.risk.telling import Part

CONDITION = "trust it for"
NOT_MEASURED = "Risk was not measured. That says nothing about it: measure it with incrowd risk."


def risk(facts: Facts) -> Html:
    """Who can be re-identified, linked and inferred about, in the table and in its release."""
    title = "Risk, before and after"
    if facts.risk is None:
        return section(title, "risk", paragraph(NOT_MEASURED, class_="unknown"), *_singling_out(facts))
    from incrowd.risk.telling import headline, parts_of, safe_harbor_part

    found = facts.risk
    both = [part for part in parts_of(found) if part.name != "safe-harbor"]
    parts = [_whole(part, risk_figures(found) if part.name == "at-risk" else ()) for part in both]
    last = found.after or found
    checklist = _whole(safe_harbor_part(last, several=True), ())
    said = [paragraph(unbroken(f"{headline(found)}.")), *_singling_out(facts)]
    return section(title, "risk", *said, *parts, checklist)


def _singling_out(facts: Facts) -> list[Html]:
    """Singling out both ways, where unchanged columns were counted."""
    if facts.unchanged is None:
        return []
    return [
        paragraph(unbroken(f"In the release, {singling_out_line(facts.unchanged, facts.verdict.sizes.rows_below(2))}."))
    ]


def _whole(part: Part, figures: Sequence[Html]) -> Html:
    """A part with its title as the caption of its table."""
    told = [] if part.table else [element("h3", text(part.title))]
    return join([*told, *_drawn(part, part.title), *figures])


def risk_part(part: Part, figures: Sequence[Html] = ()) -> Html:
    """A part as a section of its own."""
    return section(part.title, part.name, *_drawn(part, ""), *figures)


def _drawn(part: Part, caption: str) -> Iterator[Html]:
    if part.table:
        kind = "words" if part.table.words > 1 else "numbers told" if CONDITION in part.table.header else "numbers"
        rows = [[text(unbroken(cell)) for cell in row] for row in part.table.rows]
        yield table(caption, [text(head) for head in part.table.header], rows, class_=kind)
    yield from (paragraph(unbroken(said)) for said in part.said)
    yield from (paragraph(unbroken(aside), class_="aside") for aside in part.asides)


def risk_figures(found: Risk) -> list[Html]:
    """Rows by the size of their class, and the curve of risk, of the table and of its release."""
    tables: list[tuple[str, Histogram]] = [("before" if found.after else found.source, found.classes)]
    if found.after:
        tables.append(("after", found.after.classes))
    return [
        figure("Rows by the size of their class", size_chart(tables)),
        figure("Rows with at least this risk of being re-identified, for the prosecutor", risk_curve(tables)),
    ]
