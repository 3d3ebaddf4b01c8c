"""The findings of all attacks as one HTML page, in the style of the reports: no network, no script."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from incrowd.attacks.attack import LEAK, NO_LEAK, NOT_RUN, Finding
from incrowd.attacks.catalog import find_attacks
from incrowd.attacks.run import AttackReport
from incrowd.drawing.markup import Html, element, text, texts
from incrowd.drawing.page import bullets, figure, head, page, paragraph, section, standing, table
from incrowd.drawing.wording import Tone, short_number
from incrowd.errors import ParameterError

MARKS = {LEAK: "✗", NO_LEAK: "✓", NOT_RUN: "?"}
HEADER = ("Attack", "Verdict", "Measured", "99 % interval", "Control", "Goal", "Unit")
CAUTION = (
    "That an attack found no leak does not show that there is none: another attack, or an attacker who knows more, may "
    "find one. An attack that did not run shows nothing. This page reveals how well attacks succeed: keep it with the "
    "table."
)


def report_page(report: AttackReport, name: str, whole: bool = True) -> str:
    """The page of a report about the release of that name, or a fragment for a notebook."""
    shown = table("All attacks", texts(*HEADER), _rows(report), numbers=range(2, 6), class_="found")
    return page(
        f"Attacks on {name}",
        head("Attacks on the release", name, standing(report.summary, Tone.BAD if report.leaks else Tone.GOOD)),
        section("Findings", "attacks", shown, *_figure(report)),
        section("Findings in words", "words", *_words(report)),
        section("How to read this", "limits", paragraph(CAUTION)),
        whole=whole,
    )


def _figure(report: AttackReport) -> list[Html]:
    drawing = report.plot()
    return [figure(drawing.title, drawing.picture)] if any(one.measured is not None for one in report.findings) else []


def _rows(report: AttackReport) -> Iterator[list[Html]]:
    for finding in report.findings:
        standing = {LEAK: "bad", NO_LEAK: "good", NOT_RUN: "nil"}[finding.verdict]
        verdict = element("span", text(f"{MARKS[finding.verdict]} {finding.verdict}"), class_=standing)
        yield [text(finding.attack), verdict, *texts(*numbers_of(finding))]


def numbers_of(finding: Finding) -> tuple[str, str, str, str, str]:
    """Measured, interval, control, goal and unit of a finding, as words; empty where there is none."""
    numbers = ["" if one is None else short_number(one) for one in (finding.measured, finding.control, finding.goal)]
    ends = "" if finding.interval is None else " to ".join(map(short_number, finding.interval))
    return numbers[0], ends, numbers[1], numbers[2], finding.unit


def _words(report: AttackReport) -> Iterator[Html]:
    for finding in report.findings:
        yield element("h3", text(f"{finding.attack}: {finding.verdict}"))
        with suppress(ParameterError):  # an attack that was passed as an object is in no list
            yield paragraph(find_attacks([finding.attack])[0].asks, class_="aside")
        yield paragraph(finding.words)
        if finding.details:
            yield bullets(text(f"{name}: {value:.4g}") for name, value in finding.details.items())
