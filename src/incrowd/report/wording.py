"""Sentences that the summary and the report both have."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum

from incrowd.drawing.wording import Tone, counted, listed, percent
from incrowd.errors import Notice, named_option
from incrowd.report.facts import FORMS, Accuracy, AttributeFacts, Facts, PersonAccuracy
from incrowd.report.person_facts import counted_in
from incrowd.vocabulary.schema import Role

HIDDEN = "hidden"
ALL_FORMS = (*FORMS, HIDDEN)


ALMOST_NOTHING = 0.05
"""Below this share of shown cells a release is a list of classes rather than a table."""
FEW_GROUPS, MANY = 20, 6
"""So few groups tell little of anything; so many quasi-identifiers are seldom known together."""
FEWEST = 5
"""No smaller k is proposed."""
SERVING = ("kactus-plus", "blend")
"""Methods that keep most for classifiers; beyond them there is none to propose."""


class Standing(StrEnum):
    """What may be said about the requirement, and whether a release that keeps it serves anybody."""

    SATISFIED = "satisfied"
    LITTLE_USE = "satisfied, of little use"
    FAILED = "failed"
    NOT_RECOUNTED = "not recounted"


def standing(facts: Facts) -> Standing:
    """Satisfied only if the requirement itself was recounted and no check failed: silence is no success."""
    if not facts.verdict.passed:
        return Standing.FAILED
    checked = {check.name for check in facts.verdict.checks}
    recounted = checked.issuperset(facts.promises or (facts.requirement,))
    if not recounted:
        return Standing.NOT_RECOUNTED
    return Standing.LITTLE_USE if any(_shortcomings(facts)) else Standing.SATISFIED


def tone_of(facts: Facts) -> Tone:
    """Good, poor for a release that keeps its promise and serves nobody, bad if it may not be published."""
    return {Standing.SATISFIED: Tone.GOOD, Standing.LITTLE_USE: Tone.POOR}.get(standing(facts), Tone.BAD)


def statement(facts: Facts) -> str:
    """The one sentence about the guarantee."""
    match standing(facts):
        case Standing.SATISFIED | Standing.LITTLE_USE:
            promise = f"{facts.requirement}{counted_in(facts.persons)}"
            return f"satisfies {promise}, recounted independently from the written {facts.written}"
        case Standing.FAILED:
            failed = sum(not check.passed for check in facts.verdict.checks)
            checks = counted(len(facts.verdict.checks), "check")
            return f"FAILED its verification: {failed} of {checks} failed; do not publish this release"
        case Standing.NOT_RECOUNTED:
            return f"NOT VERIFIED: {facts.requirement} was not recounted; do not publish this release"


def little_use(facts: Facts) -> tuple[str, ...]:
    """Why a release that keeps its promise is of little use, and what to try; nothing if it serves."""
    shortcomings = list(_shortcomings(facts))
    if not shortcomings:
        return ()
    helps = _has_signal(facts) or any(_hidden_too_much(facts))
    reasons, changes = list(_reasons(facts)), list(_changes(facts)) if helps else []
    lines = [f"of little use: {'; '.join(shortcomings)}"]
    lines += [f"why: {'; '.join(reasons)}"] if reasons else []
    lines += [f"try the same with {', or with '.join(changes)}"] if changes else []
    return (*lines, *(_comparison(facts) if helps else ()))


def _shortcomings(facts: Facts) -> Iterator[str]:
    yield from _hidden_too_much(facts)
    if (accuracy := facts.accuracy) is not None and not is_above_majority(accuracy):
        figures = f"{percent(accuracy.after)}, {percent(accuracy.majority)} by majority"
        yield f"a decision tree learns hardly more from it than the most frequent class ({figures})"


def _hidden_too_much(facts: Facts) -> Iterator[str]:
    if facts.attributes and facts.cells_shown < ALMOST_NOTHING:
        yield f"it shows almost nothing, {percent(facts.cells_shown)} of the quasi-identifier cells"
    if facts.schema.target is not None and facts.groups == 1 and facts.rows > 1:
        yield f"all rows look alike, so nothing tells the classes of {facts.schema.target} apart"


def _has_signal(facts: Facts) -> bool:
    """Whether a decision tree learns something from the table itself, as far as that is known."""
    return facts.accuracy is None or is_above_majority(replace(facts.accuracy, after=facts.accuracy.before))


def by_persons_and_rows(persons: PersonAccuracy) -> str:
    """The means over persons, how sure the accuracies are, and what a split by rows would say."""
    return (
        f"mean over persons {percent(persons.before)} before, {percent(persons.after)} after; ±{_points(persons)} "
        f"points by drawing persons anew; a split by rows, which is wrong, would say "
        f"{percent(persons.before_by_rows)} before and {percent(persons.after_by_rows)} after"
    )


def _points(persons: PersonAccuracy) -> str:
    """Half the 95 % interval of the less sure of the two accuracies."""
    return f"{196 * max(persons.before_error, persons.after_error):.1f}"


def is_above_majority(accuracy: Accuracy) -> bool:
    """Whether a learner beats the most frequent class by more than chance: two standard errors, of rows or persons.

    Examples
    --------
    >>> is_above_majority(Accuracy(0.9, 0.8, 0.7, 100, 100)), is_above_majority(Accuracy(0.9, 0.71, 0.7, 100, 100))
    (True, False)
    """
    error = math.sqrt(accuracy.majority * (1 - accuracy.majority) / max(1, accuracy.test_rows))
    if accuracy.persons is not None:
        error = accuracy.persons.after_error
    return accuracy.after > accuracy.majority + 2 * error


def _reasons(facts: Facts) -> Iterator[str]:
    """No signal to begin with, a class not to be told, empty columns, a k too large, or too many quasi-identifiers."""
    if not _has_signal(facts):
        yield "the table itself tells a decision tree hardly more"
    elif facts.class_sensitive and facts.accuracy is not None and not is_above_majority(facts.accuracy):
        yield f"{facts.schema.target} is sensitive, so no group may tell much of it"
    if facts.empty:
        yield f"{listed(facts.empty)} {'is' if len(facts.empty) == 1 else 'are'} empty"
    counts = facts.verdict.sizes.persons
    units, unit = (facts.rows, "row") if counts is None else (counts.persons + counts.lost, "person")
    room, number = units // max(1, facts.k), len(facts.attributes)
    if room < FEW_GROUPS:
        yield f"k = {facts.k:,} is large: it leaves {counted(units, unit)} room for {counted(room, 'group')}"
    if number >= MANY and 2**number > room:
        yield (
            f"{number} quasi-identifiers are many: with two values each they make {2**number:,} combinations, and "
            f"there is room for {counted(room, 'group')}"
        )


def _changes(facts: Facts) -> Iterator[str]:
    """Options that may help, in the words of where the user is."""
    hidden = [one.name for one in facts.attributes if one.hidden > 1 - ALMOST_NOTHING]
    if useless := list(facts.empty) or (hidden if len(hidden) < len(facts.attributes) else []):
        yield f"{named_option(drop=useless)} in place of naming {'it' if len(useless) == 1 else 'them'} as known"
    if facts.k > FEWEST:
        yield named_option(k=max(FEWEST, facts.k // 2))
    if facts.method not in SERVING and not _is_linked(facts):
        yield named_option(method=SERVING[0])


def _is_linked(facts: Facts) -> bool:
    """Whether recipients can follow persons, for which there is one method."""
    return facts.persons is not None and facts.persons.linked


def _names(names: Iterable[str]) -> str:
    """Names as one option has them: between commas, in quotes where they have one."""
    return ",".join(f'"{name}"' if "," in name else name for name in names)


def _comparison(facts: Facts) -> Iterator[str]:
    """The command that says which method keeps most, where there are several."""
    if facts.schema.target is None or _is_linked(facts):
        return
    settings = {"--target": facts.schema.target, "-q": _names(one.name for one in facts.attributes), "-k": facts.k}
    if left_out := [column.name for column in facts.schema.columns if column.role is Role.DROP]:
        settings["--drop"] = _names(left_out)
    if (persons := facts.persons) is not None:
        settings["--person"] = persons.column
        settings |= {"--person-ids": persons.ids} if persons.ids else {}
        settings |= {"--missing-persons": persons.missing} if persons.missing != "refuse" else {}
    words = [word for flag, value in settings.items() for word in (flag, str(value))]
    yield f"which method keeps most: {shlex.join(['incrowd', 'compare', facts.source, *words])}"


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
    """How many rows are released and how many left out."""
    lost = f"{facts.rows_dropped:,} left out" if facts.rows_dropped else "none left out"
    return f"{facts.rows - facts.rows_dropped:,} of {counted(facts.rows, 'row')} released; {lost}"


def shares_of(attribute: AttributeFacts) -> dict[str, float]:
    """The share of rows in each form, hidden last; rounding errors never make a share negative."""
    return {form: attribute.shares.get(form, 0.0) for form in FORMS} | {HIDDEN: max(0.0, attribute.hidden)}


def forms_in(facts: Facts) -> tuple[str, ...]:
    """The forms that occur in the release, and always hidden."""
    return tuple(form for form in ALL_FORMS if form == HIDDEN or any(a.shares.get(form) for a in facts.attributes))


_OF_MANY = {
    "unnamed": "{columns} are released unchanged that others may know: {names}. State their roles.",
    "dropped": "{columns} are dropped: {names}. State their roles to keep them.",
    "index-dropped": "{columns} are row indexes of another program, and dropped: {names}.",
    "identifier": "{columns} are published as they are, although they look like identifiers: {names}.",
    "left-out-elsewhere": "{columns} are published as they are, although your recipe leaves them out: {names}.",
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
    "nearly-static": "{columns} change in few of the persons with several rows, and count as changing: {names}.",
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
