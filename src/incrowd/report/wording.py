"""Sentences that the summary and the report both have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum

from incrowd.drawing.page import Tone
from incrowd.drawing.wording import counted, listed
from incrowd.errors import Notice
from incrowd.report.attack_facts import LEAK, NO_LEAK, NOT_RUN, AttackFacts
from incrowd.report.earlier_facts import Earlier
from incrowd.report.facts import FORMS, AttributeFacts, Facts

HIDDEN = "hidden"
ALL_FORMS = (*FORMS, HIDDEN)


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


def tone_of(facts: Facts) -> Tone:
    """Whether the release may be published."""
    return Tone.GOOD if standing(facts) is Standing.SATISFIED else Tone.BAD


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
            return (
                f"No. A group may have one class only; whoever knows a person's group then knows {facts.schema.target}."
            )
        case _:
            return "Not stated. A group may have one class only; whoever knows a person's group then knows it."


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


def attack_summary(attacks: AttackFacts) -> str:
    """How many attacks found a leak, and how many did not run.

    Examples
    --------
    >>> from incrowd.report.attack_facts import AttackFact
    >>> attack_summary(AttackFacts((AttackFact("row order", NO_LEAK), AttackFact("minimality", NOT_RUN))))
    '0 of 2 attacks found a leak, 1 found none, 1 did not run.'
    """
    leaks = f"{attacks.count(LEAK)} of {counted(len(attacks.after), 'attack')} found a leak"
    return f"{leaks}, {attacks.count(NO_LEAK)} found none, {attacks.count(NOT_RUN)} did not run."


def joint_sentence(ledger: Earlier) -> str:
    """What this release and the earlier ones tell together.

    Examples
    --------
    >>> joint_sentence(Earlier())
    'The ledger has no earlier release.'
    """
    if not ledger.releases:
        return "The ledger has no earlier release."
    number = sum(one.shared is not None for one in ledger.releases)
    if not number:
        return f"None of {counted(len(ledger.releases), 'earlier release')} was compared."
    people = (
        f"Compared with {counted(number, 'earlier release')} by {' and by '.join(ledger.ways)}: "
        f"{ledger.shared:,} of {ledger.people:,} people are in {'it' if number == 1 else 'them'}."
    )
    return f"{people} {_joint(ledger)}" + " It was published despite that." * ledger.despite


def _joint(ledger: Earlier) -> str:
    if ledger.same_groups:
        return "The groups are those of an earlier release: together the releases reveal no more than that one."
    if ledger.joint is None:
        return "Nothing had to be counted together."
    figures, fewest = asdict(ledger.joint.below), asdict(ledger.joint.smallest)
    below = [f"{number:,} {who}" for who, number in figures.items() if number]
    if not below:
        return f"Together, no group of shared, new or left people became smaller than {ledger.joint.k}."
    least = min(number for number in fewest.values() if number is not None)
    return (
        f"Together, groups became smaller than {ledger.joint.k} for {' and '.join(below)} people, the smallest of "
        f"{least:,}."
    )


_OF_MANY = {
    "unnamed": "{columns} are released unchanged that others may know: {names}. State their roles.",
    "dropped": "{columns} are dropped: {names}. State their roles to keep them.",
    "index-dropped": "{columns} are row indexes of another program, and dropped: {names}.",
    "identifier": "{columns} are published as they are, although they look like identifiers: {names}.",
    "not-a-predictor": "Adversaries do not reckon with {columns}, where nearly every row has its own value: {names}.",
    "all-missing": "{columns} have no value in any row: {names}.",
    "constant": "{columns} have the same value in all rows: {names}.",
    "unique-per-row": "{columns} have another value in every row: {names}. Are they identifiers, to be dropped?",
    "edge-spaces": "{columns} have values with spaces at an edge, read without them: {names}.",
    "invisible-characters": "{columns} have values with invisible characters, read without them: {names}.",
    "composed": "{columns} have accents apart from their letters, read as one character: {names}.",
    "case-variants": "{columns} have values that differ only in case and are kept apart: {names}.",
    "number-spellings": "{columns} have numbers that are written in several ways: {names}.",
    "truth-spellings": "{columns} have several ways to write yes and no, which are kept apart: {names}.",
    "decimal-comma": "{columns} have numbers with a decimal comma, read as such: {names}.",
    "nan-is-missing": "{columns} have NaN, which is missing: {names}.",
    "unused-leaves": "{columns} have hierarchies with leaves that no value of the table has: {names}.",
}
"""What notices of one kind say together, of several columns."""


def grouped(notices: Iterable[Notice]) -> list[str]:
    """Notices as sentences, one for all columns that it is about, in the order of the first of them.

    Examples
    --------
    >>> grouped([Notice("constant", "a", "all rows have the same value."), Notice("seeded", "seed", "a seed was set."),
    ...          Notice("constant", "b", "all rows have the same value.")])
    ['2 columns have the same value in all rows: a and b.', 'seed: a seed was set.']
    """
    alike: dict[tuple[str, str], list[Notice]] = {}
    for notice in dict.fromkeys(notices):
        alike.setdefault((notice.code, "" if notice.code in _OF_MANY else notice.message), []).append(notice)
    return [_together(one) for one in alike.values()]


def _together(notices: list[Notice]) -> str:
    first, names = notices[0], [notice.where for notice in notices]
    if len(notices) == 1:
        return str(first)
    if first.code not in _OF_MANY:
        return f"{', '.join(names)}: {first.message}"
    return _OF_MANY[first.code].format(columns=counted(len(names), "column"), names=listed(names))
