"""Measured risk as a section of the report of a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incrowd.drawing.markup import Html, element, join, text
from incrowd.drawing.page import paragraph, section
from incrowd.drawing.wording import unbroken
from incrowd.report.facts import Facts
from incrowd.report.unchanged_facts import singling_out_line

if TYPE_CHECKING:
    from incrowd.risk.telling import TextPart

NOT_MEASURED = "Risk was not measured, so nothing is known about it. To measure it: incrowd risk."


def risk(facts: Facts) -> Html:
    """Who can be re-identified, linked and inferred about, in the table and in its release."""
    title = "Risk, before and after"
    if facts.risk is None:
        return section(title, "risk", paragraph(NOT_MEASURED, class_="unknown"), *_singling_out(facts))
    from incrowd.risk.page import risk_figures
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
