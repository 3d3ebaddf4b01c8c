"""Persons with several rows, as a certificate states them and a report tells of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from incrowd.drawing.wording import counted, percent
from incrowd.errors import option_name
from incrowd.verification.verdict import PersonCounts, Verdict
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.requirement import KnownSet

if TYPE_CHECKING:
    from incrowd.report.facts import Facts

UNLINKED, HISTORIES, KNOWN = "none", "whole histories", "known rows"
"""What recipients can follow of a person: nothing, everything, or everything while an attacker knows some rows."""
ALIKE = {UNLINKED: "classes", HISTORIES: "histories", KNOWN: "sets of known rows"}
"""What persons are counted of, for each kind of link."""
JOINT = "table of persons beside it"
"""The check of events whose histories were counted together with the table of persons that is released beside them."""
_FEWEST = {
    UNLINKED: "persons in the smallest group",
    HISTORIES: "persons with the rarest history",
    KNOWN: "persons who have the rarest known rows",
}


def kind_of_link(persons: Persons) -> str:
    """What recipients can follow of a person, in one word."""
    if not persons.linked:
        return UNLINKED
    return HISTORIES if persons.known_rows is None else KNOWN


def counted_in(persons: Persons | None) -> str:
    """What a promise counts, as the end of its name; nothing where rows are persons.

    Examples
    --------
    >>> counted_in(Persons("patient")), counted_in(Persons("patient", linked=True, known_rows=2)), counted_in(None)
    (', counted in persons', ', counted in persons who share any 2 known rows', '')
    """
    if persons is None:
        return ""
    if not persons.linked:
        return ", counted in persons"
    if persons.known_rows is None:
        return ", counted in persons with the same history"
    beside = " and the number of rows" if persons.count_known else ""
    return f", counted in persons who share any {_known(persons)}{beside}"


def certified_counts(persons: Persons, verdict: Verdict) -> dict[str, Any] | None:
    """The unit of protection and what was counted of it, as a certificate states it; None if nothing was counted."""
    counts = verdict.sizes.persons
    if counts is None or verdict.input_rows is None:
        return None
    link: dict[str, Any] = {"kind": kind_of_link(persons)}
    link |= {"known_rows": persons.known_rows, "count_known": persons.count_known} if persons.known_rows else {}
    link |= {"order": persons.order} if persons.order else {}
    link |= {"joint": True} if any(check.name == JOINT for check in verdict.checks) else {}
    return {
        "column": persons.column,
        "ids": persons.ids,
        "missing": persons.missing,
        "requirement_counts": "persons",
        "input": counts.persons + counts.lost,
        "released": counts.persons,
        "lost": counts.lost,
        "rows_lost": verdict.input_rows - verdict.sizes.rows,
        "rows_without_person": counts.without,
        "alike": ALIKE[kind_of_link(persons)],
        "smallest": counts.smallest,
        "histogram": [list(bar) for bar in counts.histogram],
        "largest_share": round(counts.largest_share, 6),
        "link": link,
    }


def certified_persons(entry: Mapping[str, Any]) -> Persons:
    """Whose rows they are and what recipients may follow, as a certificate states it."""
    link = entry["link"]
    rows, known, order = link.get("known_rows"), link.get("count_known", False), link.get("order")
    return Persons(entry["column"], entry["ids"], entry["missing"], link["kind"] != UNLINKED, rows, known, order)


def meaning_of(persons: Persons, k: int, one: KnownSet | None = None) -> str:
    """What it means that k persons look alike; of the columns of a set, if one is known together."""
    what = "all quasi-identifiers" if one is None else ", ".join(one.names)
    if not persons.linked:
        return f"Whoever knows {what} of one row of a person finds rows of at least {k:,} different persons."
    if persons.known_rows is None:
        return (
            f"Whoever knows {what} of all rows of a person, and so how many there are, finds at least {k:,} persons "
            "with the same history."
        )
    beside = ", and how many rows the person has," if persons.count_known else ""
    return (
        f"Whoever knows {what} of up to {counted(persons.known_rows, 'row')} of a person{beside} finds at least {k:,} "
        "persons who have them all."
    )


def persons_sentence(counts: PersonCounts) -> str:
    """How many persons are released and how many lost.

    Examples
    --------
    >>> persons_sentence(PersonCounts(7990, 10, 12, ((12, 1),), 0.25))
    '7,990 of 8,000 persons released; 10 lost'
    >>> persons_sentence(PersonCounts(490, 28, 12, ((12, 1),), 0.25, strangers=23))
    '490 of 518 persons released; 28 lost, 23 of them as the table of persons does not have them'
    """
    lost = f"{counts.lost:,} lost" if counts.lost else "none lost"
    if counts.strangers:
        lost += f", {counts.strangers:,} of them as the table of persons does not have them"
    without = f"; {counted(counts.without, 'row')} without a person left out" if counts.without else ""
    return f"{counts.persons:,} of {counted(counts.persons + counts.lost, 'person')} released; {lost}{without}"


def share_sentence(counts: PersonCounts) -> str:
    """How many rows of a group one person has at most."""
    return f"has at most {percent(counts.largest_share)} of the rows of a group"


def smallest_sentence(facts: Facts, counts: PersonCounts) -> str:
    """The groups in rows and in persons."""
    sizes, persons = facts.verdict.sizes, facts.persons
    rows = f"{facts.groups:,}; smallest {counted(sizes.smallest, 'row')}, largest {counted(sizes.largest, 'row')}"
    kind = UNLINKED if persons is None else kind_of_link(persons)
    if kind == UNLINKED:
        return f"{rows}; each has rows of {counted(counts.smallest, 'person')} or more"
    if kind == HISTORIES:
        return f"{rows}; each history belongs to {counted(counts.smallest, 'person')} or more"
    assert persons is not None
    return f"{rows}; {counted(counts.smallest, 'person')} or more share any {_known(persons)}"


def _known(persons: Persons) -> str:
    rows = persons.known_rows or 1
    return f"{rows} known rows" if rows > 1 else "known row"


def person_figures(facts: Facts) -> dict[str, str]:
    """The numbers of persons to see first, by what they are of; none if every row is a person."""
    if (counts := facts.verdict.sizes.persons) is None or facts.persons is None:
        return {}
    return {
        "persons released": f"{counts.persons:,}",
        "persons lost": f"{counts.lost:,}",
        _FEWEST[kind_of_link(facts.persons)]: f"{counts.smallest:,}",
        "largest share of one person in a group": percent(counts.largest_share),
    }


def unit_sentence(persons: Persons) -> str:
    """The unit of protection, and what recipients can follow of it."""
    words = f"{persons.column}: rows with the same value are one person's, and persons are counted."
    if not persons.linked:
        return f"{words} It is not released."
    order = f" Rows are in order by {persons.order}." if persons.order else ""
    return (
        f"{words} It is released as a fresh pseudonym of each person, by which recipients can follow the person.{order}"
    )


def person_limits(facts: Facts) -> Iterator[str]:
    """What is not promised to persons who have several rows."""
    persons, counts = facts.persons, facts.verdict.sizes.persons
    if persons is None or counts is None:
        return
    yield (
        f"{facts.requirement} is counted in persons: rows with the same {persons.column} are one person's. "
        "Requirements beyond k count a person once for each of its values (alpha, beta, delta-disclosure, t), or once "
        "in all, under the one of its values that most persons of the group have (diversity)."
    )
    match kind_of_link(persons):
        case "none":
            linked = option_name("keep_link", "--keep-link")
            yield (
                "Whoever knows several rows of a person can look up the group of each, and keep what all of these "
                "groups have: a value that does not change is in every one of them. Unchanged columns may tell which "
                f"rows are of one person. The release does not prevent that; one with {linked} counts whole histories."
            )
        case "whole histories":
            yield _followed("Unchanged columns are no part of a history.")
        case _:
            rows = counted(persons.known_rows or 1, "row")
            yield _followed(
                f"Whoever knows more than {rows} of a person, or that the person does not have some row"
                f"{'' if persons.count_known else ', or how many rows the person has'}, may find fewer persons."
            )
    yield (
        f"Numbers of rows are not hidden within groups: one person has up to {percent(counts.largest_share)} of the "
        "rows of a group. Whoever knows that somebody has most rows of a group reads that person's values there."
    )


def _followed(limit: str) -> str:
    return (
        f"Recipients can follow every person by a pseudonym: all that is released of a person belongs together. {limit}"
    )
