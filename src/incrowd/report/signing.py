"""The last page of the report: a decision, who takes it, and when, written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from incrowd.report.attack_facts import LEAK, NOT_RUN
from incrowd.report.facts import Facts
from incrowd.report.markup import Html, bullets, element, join, paragraph, text
from incrowd.report.sections import pairs, section
from incrowd.report.wording import Standing, counted, standing, statement

DECISIONS = ("Hand on as it is", "Hand on, under conditions", "Do not hand on")
LINES = ("Conditions, recipients", "Name and function", "Place and date", "Signature")


def signing(facts: Facts, certificate: Mapping[str, Any] | None = None) -> Html:
    """What is decided about which file, what is open, and lines to fill in."""
    digest = ((certificate or {}).get("output") or {}).get("sha256")
    about = {
        "Release": text(facts.output or "handed back in memory"),
        "SHA-256": element("code", text(digest), class_="digest") if digest else text("not in this report"),
        "Made": text(f"{facts.when:%Y-%m-%d %H:%M %Z}".strip()),
        "Responsible": text(facts.responsible or "not said"),
        "Verification": text(statement(facts)),
    }
    boxes = [join([element("span", class_="box"), text(decision)]) for decision in DECISIONS]
    open_points = list(unknown(facts))
    return section(
        "Decision",
        "signing",
        pairs(about),
        *([paragraph("To be weighed by whoever signs:"), bullets(map(text, open_points))] if open_points else []),
        element("div", *(element("p", box) for box in boxes), class_="decisions"),
        element("div", *(_line(words) for words in LINES), class_="lines"),
    )


def _line(words: str) -> Html:
    return element("p", element("span", class_="rule-line"), element("span", text(words), class_="under"))


def unknown(facts: Facts) -> Iterator[str]:
    """What speaks against the release, and what nobody looked at: a signature covers it, so it is named."""
    if standing(facts) is not Standing.SATISFIED:
        yield "The release has not passed its verification."
    if facts.schema.target is not None and facts.class_sensitive is None:
        yield "Nobody said whether the class itself is sensitive."
    if facts.risk is None:
        yield "Risk was not measured."
    if facts.attacks is None:
        yield "No attack was run."
    else:
        if leaks := facts.attacks.count(LEAK):
            yield f"{counted(leaks, 'attack')} found a leak."
        if gone := facts.attacks.count(NOT_RUN):
            yield f"{counted(gone, 'attack')} did not run, which says nothing about the risk."
    if facts.earlier is None:
        yield "Earlier releases about the same people were not tracked."
    else:
        if facts.earlier.despite:
            yield "Together with earlier releases it tells more than was promised."
        if facts.earlier.not_counted:
            yield "Not every release in the ledger could be counted."
        if facts.earlier.said:
            yield f"That {counted(len(facts.earlier.said), 'earlier release')} had other people was said, not counted."
    if facts.accuracy is None:
        yield "Accuracy was not measured."
    if facts.notices:
        yield f"There {'is' if len(facts.notices) == 1 else 'are'} {counted(len(facts.notices), 'notice')} above."
