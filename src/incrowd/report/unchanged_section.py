"""Unchanged columns as a section of the report: what they give back, and who is alone by them."""

from __future__ import annotations

from incrowd.report.facts import Facts
from incrowd.report.markup import Html, paragraph, table, text
from incrowd.report.sections import section
from incrowd.report.unchanged_facts import alone_sentence, effective_sentence, listed
from incrowd.report.wording import percent, unbroken
from incrowd.verification.unchanged_counts import UnchangedCounts

TITLE = "Unchanged columns"
NOT_COUNTED = "What unchanged columns undo was not counted. That says nothing about it."
READING = (
    "A cell is given back if an unchanged column, or two of them, leave one value of those it hides, or values of half "
    "of the people. Whoever knows how the columns depend on each other can do that: from a codebook, a similar table, "
    "or rows that show the value. Effective k counts people who are equal in all that is shown and given back. "
    "Requirements beyond k are not recounted on these finer groups."
)


def unchanged_columns(facts: Facts) -> Html:
    """Effective k, what gives back which quasi-identifier, and sets of columns that single people out."""
    counts = facts.unchanged
    if counts is None:
        return section(TITLE, "unchanged", paragraph(NOT_COUNTED, class_="unknown"))
    parts = [
        paragraph(unbroken(_sentence(effective_sentence(counts))), class_="" if counts.sound else "bad"),
        *([_given_back(counts)] if counts.by else []),
        paragraph(unbroken(_sentence(alone_sentence(counts)))),
        *([_sets(counts)] if counts.alone.without_class else []),
        paragraph(READING, class_="aside"),
    ]
    return section(TITLE, "unchanged", *parts)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _given_back(counts: UnchangedCounts) -> Html:
    header = [text(word) for word in ("Unchanged", "Gives back", "Cells")]
    rows = [[text(" with ".join(one.columns)), text(one.quasi_identifier), text(f"{one.cells:,}")] for one in counts.by]
    return table("What is given back", header, rows, class_="numbers")


def _sets(counts: UnchangedCounts) -> Html:
    alone = counts.alone
    totals = {
        "all but the class": alone.without_class,
        "all, with the class": alone.with_class,
        "those not called private or sensitive": alone.not_called_private,
    }
    sets = {
        listed(one.columns) + ("" if one.exact else " (not all sets were compared)"): one.people for one in alone.best
    }
    rows = [
        [text(words), text(f"{people:,}"), text(unbroken(percent(people / counts.rows)))]
        for words, people in (totals | sets).items()
    ]
    return table("People who are alone", [text(word) for word in ("By", "People", "Share")], rows, class_="numbers")
