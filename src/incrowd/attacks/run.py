"""All attacks on one release, one after the other, and their findings for human eyes: one HTML page, and one chart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

from incrowd.attacks.attack import LEAK, NO_LEAK, NOT_RUN, Finding
from incrowd.attacks.catalog import Attack, find_attacks
from incrowd.attacks.opening import AttackRequest, open_scene
from incrowd.attacks.options import AttackOptions
from incrowd.attacks.scene import Scene
from incrowd.drawing.markup import Html, element, text, texts
from incrowd.drawing.page import bullets, figure, head, page, paragraph, section, standing, table
from incrowd.drawing.svg import (
    WIDTH,
    Drawing,
    LegendEntry,
    Point,
    Scale,
    axes,
    even_scale,
    fitted,
    ink,
    legend,
    path,
    picture,
    text_width,
    words,
)
from incrowd.drawing.wording import Tone, listed, short_number
from incrowd.errors import IncrowdError, ParameterError, guarded
from incrowd.rows.one_machine import check_whole
from incrowd.vocabulary.option import described

Progress = Callable[[str], None]


@dataclass(frozen=True)
class AttackReport:
    """What the attacks found, in their order.

    Examples
    --------
    >>> report = AttackReport((Finding("not run", "How it was made is not known.", attack="minimality"),))
    >>> print(report)
    minimality: not run. How it was made is not known.
    0 of 1 attacks found a leak; 1 did not run, which says nothing about the risk.
    """

    findings: tuple[Finding, ...]

    def _count(self, verdict: str) -> int:
        return sum(finding.verdict == verdict for finding in self.findings)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """What leaked."""
        return tuple(finding for finding in self.findings if finding.verdict == LEAK)

    @property
    def summary(self) -> str:
        """How many attacks found a leak, and how many did not run."""
        gone = self._count(NOT_RUN)
        leaks = f"{self._count(LEAK)} of {len(self.findings)} attacks found a leak"
        return f"{leaks}; {gone} did not run, which says nothing about the risk." if gone else f"{leaks}."

    def plot(self, *, ax: Any = None) -> Any:
        """What each attack measured with its interval, beside its control and its goal.

        Parameters
        ----------
        ax
            Axes of Matplotlib to draw on, which are given back.

        Returns
        -------
        Drawing
            Notebooks show it; ``.save("attacks.svg")`` writes it.
        """

        drawing = attacks_drawing(self.findings)
        return drawing if ax is None else drawing.on(ax)

    def _repr_html_(self) -> str:

        return report_page(self, "", whole=False)

    @property
    def seconds(self) -> float:
        """How long all took."""
        return sum(finding.seconds for finding in self.findings)

    def __getitem__(self, attack: str) -> Finding:
        return next(finding for finding in self.findings if finding.attack == attack)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), self.summary])

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "incrowd_attacks": 1,
            "leaks": self._count(LEAK),
            "no leak found": self._count(NO_LEAK),
            "not run": self._count(NOT_RUN),
            "findings": [finding.to_json() for finding in self.findings],
        }


def attack_scene(
    scene: Scene, only: Iterable[str | Attack] | None = None, progress: Progress | None = None
) -> AttackReport:
    """Run the attacks, all or those named; one that cannot run says so and does not stop the others."""
    attacks = find_attacks(only)
    tell = progress or (lambda _: None)
    findings = []
    for number, attack in enumerate(attacks, start=1):
        tell(f"{attack.name} ({number} of {len(attacks)})")
        findings.append(run_attack(attack, scene))
    return AttackReport(tuple(findings))


def run_attack(attack: Attack, scene: Scene) -> Finding:
    """One attack, timed; what keeps it from running is told."""
    begun = time.perf_counter()
    try:
        finding = attack.run(scene)
    except IncrowdError as error:
        finding = Finding(NOT_RUN, str(error), attack=attack.name)
    return replace(finding, seconds=time.perf_counter() - begun)


@described(AttackOptions)
@guarded
def attack_release(
    release: Any,
    original: Any,
    *,
    only: Iterable[str | Attack] | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[AttackOptions],
) -> AttackReport:
    """Attack a release as somebody would who knows more than its owner likes, and say how far that goes.

    Parameters
    ----------
    release, original
        Paths or frames, or what ``incrowd.release`` gave back.
    only
        Names of attacks, or attacks of your own; all of incrowd's if not given.
    progress
        Called with the name of each attack as it begins.
    {options}

    Returns
    -------
    AttackReport
        A finding for each attack: ``leak``, ``no leak found``, or ``not run`` with the reason.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 41] * 20, "ill": ["no", "yes"] * 20})
    >>> attacks = attack_release(people, people, quasi_identifiers=["age"], target="ill", only=["homogeneity"], seed=1)
    >>> attacks["homogeneity"].verdict, attacks["homogeneity"].measured
    ('leak', 1.0)
    """
    tell = progress or (lambda _: None)
    tell("reading")
    known: dict[str, Any] = {**options}
    beside = (known.get("control"), known.get("population"), *(known.get("earlier") or ()))
    check_whole(known.pop("memory", None), release, original, *beside)
    return attack_scene(open_scene(AttackRequest(release, original, **known)), only, progress)


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


TITLE = "What the attacks measured, with 99 % intervals"
AXIS = "measured, in the unit of each attack"
LOWEST, HIGHEST = -1.0, 1.5
"""Shares, AUC, correlations and lifts lie between; what does not is named and not drawn."""
_KINDS = {LEAK: "leak", NO_LEAK: "sound"}
_LEFT, _ROW, _LONGEST = 12.0, 26.0, 220.0


def attacks_drawing(findings: Sequence[Finding]) -> Drawing:
    """The chart of all findings that have figures."""
    shown = [finding for finding in findings if _fits(finding)]
    left_out = [finding.attack for finding in findings if not _fits(finding)]
    return Drawing(TITLE, _chart(shown, left_out), partial(_draw, shown))


def _fits(finding: Finding) -> bool:
    numbers = _numbers(finding)
    return (
        finding.measured is not None and finding.verdict in _KINDS and LOWEST <= min(numbers) <= max(numbers) <= HIGHEST
    )


def _numbers(finding: Finding) -> list[float]:
    numbers = [finding.measured, finding.control, finding.goal, *(finding.interval or ())]
    return [number for number in numbers if number is not None]


def _chart(shown: Sequence[Finding], left_out: Sequence[str]) -> Html:
    entries = [LegendEntry(verdict, _mark(kind, (10, 0))) for verdict, kind in _KINDS.items()]
    entries += [LegendEntry("control", _hollow((10, 0))), LegendEntry("goal", _bar((10, 0)))]
    key, top = legend(entries)
    left = _LEFT + min(_LONGEST, max((text_width(finding.attack) for finding in shown), default=0.0))
    across = even_scale([0.0, 1.0, *(n for finding in shown for n in _numbers(finding))], left, WIDTH - 20)
    bottom = top + 8 + _ROW * len(shown)
    parts = [key, *axes(across, Scale((), 0, 1, bottom, top), (AXIS, ""))]
    parts += [path([(across(tick), top), (across(tick), bottom)], "rule") for tick in across.ticks]
    for row, finding in enumerate(shown):
        y = top + 8 + _ROW * (row + 0.5)
        parts.append(words(fitted(finding.attack, _LONGEST), (left - 12, y + 4.5), "end", kind="label"))
        parts.append(_row(finding, across, y))
    note = f"Not drawn, because there is no figure or it lies beyond the axis: {listed(left_out)}." if left_out else ""
    below = [words(line, (0, bottom + 66 + 16 * at), kind="note small") for at, line in enumerate(_lines(note))]
    spoken = "; ".join(f"{finding.attack}: {_in_words(finding)}" for finding in shown)
    return picture(f"{TITLE}. {spoken}", [*parts, *below], WIDTH, bottom + 48 + (16 * len(below) + 8 if below else 0))


def _row(finding: Finding, across: Scale, y: float) -> Html:
    """One attack: its interval, what it measured, its control and its goal."""
    assert finding.measured is not None
    kind = _KINDS[finding.verdict]
    low, high = finding.interval or (finding.measured, finding.measured)
    parts = [element("title", text(f"{finding.attack}: {_in_words(finding)}"))]
    parts.append(path([(across(low), y), (across(high), y)], f"whisker {kind}"))
    parts += [] if finding.control is None else [_hollow((across(finding.control), y))]
    parts += [] if finding.goal is None else [_bar((across(finding.goal), y))]
    return element("g", *parts, _mark(kind, (across(finding.measured), y)))


def _mark(kind: str, at: Point) -> Html:
    """A circle where no leak was found, a diamond where one was: to be told apart without colours."""
    x, y = at
    if kind == "sound":
        return element("circle", cx=x, cy=y, r=5, class_=f"point {kind}")
    return element("path", d=f"M{x:.1f} {y - 6.5:.1f}l6.5 6.5l-6.5 6.5l-6.5 -6.5Z", class_=f"point {kind}")


def _hollow(at: Point) -> Html:
    return element("circle", cx=at[0], cy=at[1], r=4, class_="empty")


def _bar(at: Point) -> Html:
    return path([(at[0], at[1] - 8), (at[0], at[1] + 8)], "line plain")


def _in_words(finding: Finding) -> str:
    ends = "" if finding.interval is None else f" ({' to '.join(map(short_number, finding.interval))})"
    beside = {"control": finding.control, "goal": finding.goal}
    others = "".join(f", {name} {short_number(number)}" for name, number in beside.items() if number is not None)
    return f"{finding.verdict}, {short_number(finding.measured)}{ends} {finding.unit}{others}"


def _lines(note: str) -> list[str]:
    """The note in lines that fit."""
    lines: list[str] = []
    for word in note.split():
        if lines and text_width(f"{lines[-1]} {word}", 11) <= WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _draw(shown: Sequence[Finding], ax: Any) -> None:
    for verdict, colour, mark in ((LEAK, "bad", "D"), (NO_LEAK, "good", "o")):
        own = [(row, finding) for row, finding in enumerate(shown) if finding.verdict == verdict]
        if own:
            values = [finding.measured or 0.0 for _, finding in own]
            ends = [finding.interval or (value, value) for (_, finding), value in zip(own, values, strict=True)]
            spread = [[max(0.0, value - low) for value, (low, _) in zip(values, ends, strict=True)]]
            spread.append([max(0.0, high - value) for value, (_, high) in zip(values, ends, strict=True)])
            style = {"linestyle": "", "marker": mark, "color": ink(colour), "label": verdict}
            ax.errorbar(values, [row for row, _ in own], xerr=spread, **style)
    for name, style in (("control", {"marker": "o", "markerfacecolor": "none"}), ("goal", {"marker": "|"})):
        known = [(number, row) for row, one in enumerate(shown) if (number := getattr(one, name)) is not None]
        ax.plot([x for x, _ in known], [y for _, y in known], linestyle="", color=ink("ink"), label=name, **style)
    ax.set_yticks(range(len(shown)), [finding.attack for finding in shown])
    ax.invert_yaxis()
    ax.set_xlabel(AXIS)
    ax.legend()
