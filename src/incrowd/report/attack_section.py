"""The attacks as a section of the report: what each found, what it was set against, and what did not run."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.report.attack_facts import LEAK, NO_LEAK, NOT_RUN, AttackFact, AttackFacts
from incrowd.report.facts import Facts
from incrowd.report.markup import Html, bullets, element, join, paragraph, table, text
from incrowd.report.sections import section
from incrowd.report.wording import attack_summary

MARKS = {LEAK: "✗ leak", NO_LEAK: "✓ no leak found", NOT_RUN: "? not run"}
CLASSES = {LEAK: "bad", NO_LEAK: "good", NOT_RUN: "unknown"}
HEADER = ("Attack", "Verdict", "Before", "After", "99 % interval", "Control", "Goal", "Unit")
NONE_RUN = "No attack was run. That says nothing about what an attack would find: try them with incrowd attack."
READING = (
    "Before: the same attack on the table itself, as if it were released as it is. Control: how far the attacker comes "
    "without the release. Goal: what the measure shall keep to; the verdict allows for chance, so a measure may lie a "
    "little beyond it. An attack that found nothing is an attack that found nothing; what did not run says nothing."
)


def attacks(facts: Facts) -> Html:
    """What attacks on the release found, beside the same on the table."""
    title = "Attacks, before and after"
    if facts.attacks is None:
        return section(title, "attacks", paragraph(NONE_RUN, class_="unknown"))
    found = facts.attacks
    rows = [_row(one, found) for one in found.after]
    shown = table("What the attacks found", [text(head) for head in HEADER], rows, class_="found")
    return section(
        title,
        "attacks",
        paragraph(attack_summary(found), class_="bad" if found.count(LEAK) else ""),
        shown,
        paragraph(READING, class_="aside"),
        *_words("Leaks", found, LEAK),
        *_words("Not run", found, NOT_RUN),
        *_words("No leak found", found, NO_LEAK),
    )


def _row(one: AttackFact, found: AttackFacts) -> list[Html]:
    earlier = found.first(one.attack)
    before = _number(earlier.measured) if earlier and earlier.verdict != NOT_RUN else NOT_RUN
    ends = "" if one.interval is None else f"{_number(one.interval[0])} to {_number(one.interval[1])}"
    verdict = element("span", text(MARKS[one.verdict]), class_=CLASSES[one.verdict])
    if one.verdict == NOT_RUN:
        return [text(one.attack), verdict, text(before), text(NOT_RUN), *[text("")] * 4]
    figures = (before, _number(one.measured), ends, _number(one.control), _number(one.goal), one.unit)
    return [text(one.attack), verdict, *map(text, figures)]


def _number(number: float | None) -> str:
    if number is None:
        return "–"
    tiny = 0 < abs(number) < 0.0005
    return ("<" if number > 0 else ">-") + "0.001" if tiny else f"{number:.3g}"


def _words(title: str, found: AttackFacts, verdict: str) -> Iterator[Html]:
    """What the attacks that ended so say, in words."""
    chosen = [one for one in found.after if one.verdict == verdict]
    if chosen:
        yield element("h3", text(title))
        yield bullets(_told(one) for one in chosen)


def _told(one: AttackFact) -> Html:
    asks = [element("span", text(f" {one.asks}"), class_="aside")] if one.asks else []
    return join([element("strong", text(f"{one.attack}: ")), text(one.words), *asks])
