"""Earlier releases as a section of the report: which there are, and what they tell together with this one."""

from __future__ import annotations

from incrowd.report.earlier_facts import EarlierRelease
from incrowd.report.facts import Facts
from incrowd.report.markup import Html, paragraph, table, text
from incrowd.report.sections import section
from incrowd.report.wording import counted, joint_sentence, unbroken

NOT_TRACKED = (
    "Earlier releases were not tracked. Two releases about the same people can be combined: keep a ledger, "
    "incrowd release --ledger."
)
HEADER = ("Made", "Promises", "Groups", "Smallest group with this release")
READING = (
    "Counted row by row of the table, as somebody could who links the rows of the releases without a mistake. Releases "
    "that are not in the ledger, and releases of other tables about the same people, are not in it."
)


def earlier_releases(facts: Facts) -> Html:
    """What the ledger knows, and what was counted of it."""
    title = "Earlier releases"
    if facts.earlier is None:
        return section(title, "earlier", paragraph(NOT_TRACKED, class_="unknown"))
    found = facts.earlier
    gone = f"{counted(found.not_recounted, 'file')} of the ledger cannot be read: not recounted."
    told = [paragraph(gone, class_="bad")] if found.not_recounted else []
    if not found.releases:
        return section(title, "earlier", paragraph(joint_sentence(found)), *told)
    rows = [_row(one) for one in found.releases]
    return section(
        title,
        "earlier",
        paragraph(unbroken(joint_sentence(found)), class_="bad" if found.despite else ""),
        *told,
        table("Releases of the same table", [text(head) for head in HEADER], rows),
        paragraph(READING, class_="aside"),
    )


def _row(one: EarlierRelease) -> list[Html]:
    groups = "the same as here" if one.same_groups else "others than here"
    return [text(one.when), text(one.requirement), text(groups), text(counted(one.smallest, "row"))]
