"""Earlier releases as a section of the report: which there are, and what they tell together with this one."""

from __future__ import annotations

from incrowd.report.earlier_facts import EarlierRelease
from incrowd.report.facts import Facts
from incrowd.report.markup import Html, paragraph, table, text
from incrowd.report.sections import section
from incrowd.report.wording import joint_sentence, unbroken

NOT_TRACKED = (
    "Earlier releases were not tracked. Two releases about the same people can be combined: keep a ledger, "
    "incrowd release --ledger."
)
HEADER = ("Made", "Promises", "Compared by", "People", "In this table too")
READING = (
    "Counted person by person, as somebody could who links the rows of the releases without a mistake and knows in "
    "which tables a person is. Releases that are not in the ledger are not in it."
)


def earlier_releases(facts: Facts) -> Html:
    """What the ledger knows, and what was counted of it."""
    title, found = "Earlier releases", facts.earlier
    if found is None:
        return section(title, "earlier", paragraph(NOT_TRACKED, class_="unknown"))
    told = [paragraph(f"Not counted: {one}.", class_="bad") for one in found.not_counted]
    told += [paragraph(f"Entry {one['entry']} is about other people, as {one['by']} said.") for one in found.said]
    if not found.releases:
        return section(title, "earlier", paragraph(joint_sentence(found)), *told)
    rows = [_row(one) for one in found.releases]
    return section(
        title,
        "earlier",
        paragraph(unbroken(joint_sentence(found)), class_="bad" if found.despite else ""),
        *told,
        table("Releases in the ledger", [text(head) for head in HEADER], rows),
        paragraph(READING, class_="aside"),
    )


def _row(one: EarlierRelease) -> list[Html]:
    shared = "not known" if one.shared is None else f"{one.shared:,}"
    return [text(one.when), text(one.requirement), text(one.by), text(one.relation), text(shared)]
