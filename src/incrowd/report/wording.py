"""Words and numbers as the summary and the report both say them."""

from __future__ import annotations

import re
from dataclasses import asdict
from enum import StrEnum

from incrowd.report.attack_facts import LEAK, NO_LEAK, NOT_RUN, AttackFacts
from incrowd.report.earlier_facts import Earlier
from incrowd.report.facts import FORMS, AttributeFacts, Facts

HIDDEN = "hidden"
ALL_FORMS = (*FORMS, HIDDEN)
_SPACES = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


class Standing(StrEnum):
    """What may be said about the requirement."""

    SATISFIED = "satisfied"
    FAILED = "failed"
    NOT_RECOUNTED = "not recounted"


def standing(facts: Facts) -> Standing:
    """Satisfied only if the requirement itself was recounted and no check failed: silence is no success."""
    if not facts.verdict.passed:
        return Standing.FAILED
    checked = {check.name for check in facts.verdict.checks}
    recounted = checked.issuperset(facts.promises or (facts.requirement,))
    return Standing.SATISFIED if recounted else Standing.NOT_RECOUNTED


def statement(facts: Facts) -> str:
    """The one sentence about the guarantee."""
    match standing(facts):
        case Standing.SATISFIED:
            return f"satisfies {facts.requirement}, recounted independently from the written {facts.written}"
        case Standing.FAILED:
            failed = sum(not check.passed for check in facts.verdict.checks)
            checks = counted(len(facts.verdict.checks), "check")
            return f"FAILED its verification: {failed} of {checks} failed; do not publish this release"
        case Standing.NOT_RECOUNTED:
            return f"NOT VERIFIED: {facts.requirement} was not recounted; do not publish this release"


def class_answer(facts: Facts) -> str:
    """The answer to the question whether the class itself is sensitive."""
    if facts.schema.target is None:
        return "There is no class."
    match facts.class_sensitive:
        case True:
            return f"Yes. Every group keeps what is required of {facts.schema.target} above."
        case False:
            return f"No. Groups may be of one class: whoever knows the group then knows {facts.schema.target}."
        case _:
            return "Not said. Groups may be of one class: whoever knows the group then knows it."


def rows_sentence(facts: Facts) -> str:
    """How many rows are released and how many left out.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rows_sentence(SimpleNamespace(rows=1200, rows_dropped=3))
    '1,197 of 1,200 rows released; 3 left out'
    """
    lost = f"{facts.rows_dropped:,} left out" if facts.rows_dropped else "none left out"
    return f"{facts.rows - facts.rows_dropped:,} of {counted(facts.rows, 'row')} released; {lost}"


def shares_of(attribute: AttributeFacts) -> dict[str, float]:
    """The share of rows in each form, hidden last; rounding errors never make a share negative."""
    return {form: attribute.shares.get(form, 0.0) for form in FORMS} | {HIDDEN: max(0.0, attribute.hidden)}


def forms_in(facts: Facts) -> tuple[str, ...]:
    """The forms that occur in the release, and always hidden."""
    return tuple(form for form in ALL_FORMS if form == HIDDEN or any(a.shares.get(form) for a in facts.attributes))


def plain(words: str) -> str:
    r"""One line of visible text: no control characters, no change of writing direction, no half characters.

    Examples
    --------
    >>> plain("zip\ncode \x1b[31m")
    'zip code \ufffd[31m'
    """
    return _UNPRINTABLE.sub("\ufffd", _SPACES.sub(" ", words))


def clipped(words: str, longest: int) -> str:
    """Plain words, cut to a length.

    Examples
    --------
    >>> clipped("marital-status", 8)
    'marital…'
    """
    words = plain(words)
    return words if len(words) <= longest else words[: longest - 1] + "…"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "group"), counted(2500, "row")
    ('1 group', '2,500 rows')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """A share in per cent; only nothing is 0 % and only all is 100 %.

    Examples
    --------
    >>> percent(0.5), percent(0.0001), percent(0.9999), percent(1.0)
    ('50.0 %', '<0.1 %', '>99.9 %', '100 %')
    """
    near = 1e-9
    if share <= near or share >= 1 - near:
        return "0 %" if share <= near else "100 %"
    if share < 0.0005 or share >= 0.9995:
        return "<0.1 %" if share < 0.5 else ">99.9 %"
    return f"{share * 100:.1f} %"


def unbroken(words: str) -> str:
    """The same, numbers and their per cent signs on one line."""
    return words.replace(" %", "\u00a0%")


def attack_summary(found: AttackFacts) -> str:
    """How many attacks found a leak, and how many did not run.

    Examples
    --------
    >>> from incrowd.report.attack_facts import AttackFact
    >>> attack_summary(AttackFacts((AttackFact("row order", NO_LEAK), AttackFact("minimality", NOT_RUN))))
    '0 of 2 attacks found a leak, 1 found none, 1 did not run.'
    """
    said = f"{found.count(LEAK)} of {counted(len(found.after), 'attack')} found a leak"
    return f"{said}, {found.count(NO_LEAK)} found none, {found.count(NOT_RUN)} did not run."


def joint_sentence(found: Earlier) -> str:
    """What this release and the earlier ones tell together.

    Examples
    --------
    >>> joint_sentence(Earlier())
    'The ledger knows no earlier release.'
    """
    if not found.releases:
        return "The ledger knows no earlier release."
    number = sum(one.shared is not None for one in found.releases)
    if not number:
        return f"None of {counted(len(found.releases), 'earlier release')} was compared."
    said = (
        f"Compared with {counted(number, 'earlier release')} by {' and by '.join(found.ways)}: "
        f"{found.shared:,} of {found.people:,} people are in {'it' if number == 1 else 'them'}."
    )
    return f"{said} {_joint(found)}" + " It was published despite that." * found.despite


def _joint(found: Earlier) -> str:
    if found.same_groups:
        return "The groups are those of an earlier release: together they tell no more than that one."
    if found.joint is None:
        return "Nothing had to be counted together."
    figures, fewest = asdict(found.joint.below), asdict(found.joint.smallest)
    below = [f"{number:,} {who}" for who, number in figures.items() if number]
    if not below:
        return f"Together, no group of shared, new or left people became smaller than {found.joint.k}."
    least = min(number for number in fewest.values() if number is not None)
    return (
        f"Together, groups became smaller than {found.joint.k} for {' and '.join(below)} people, the smallest of "
        f"{least:,}."
    )
