"""Ours and the paper's numbers against k: solid lines are ours, broken lines the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from incrowd.lab.charts.drawing import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Entry,
    Point,
    Scale,
    axes,
    colour,
    even_scale,
    legend,
    log_scale,
    marker,
    path,
    picture,
    sample,
    words,
)
from incrowd.report.markup import Html, element, text

Numbers = Sequence[tuple[int, float]]
ASIDE = 5.0
"""How far the points of two series at the same k stand beside each other: equal numbers hide each other otherwise."""


@dataclass(frozen=True)
class Lines:
    """One algorithm, or one learner: numbers by k, ours and the paper's; either may be missing."""

    ours: Numbers
    theirs: Numbers = ()


def beside_chart(
    title: str, unit: str, series: Mapping[str, Lines], reference: str, unprotected: float | None = None
) -> Html:
    """All series over k.

    Parameters
    ----------
    title, unit
        What is drawn; what the upright axis counts.
    series
        By name, in the order of colours.
    reference
        Whose the broken lines are.
    unprotected
        What the table itself gives; a level line.
    """
    drawn, used = legend(_entries(series, reference, unprotected))
    top = used + 22
    bottom = top + HEIGHT - BOTTOM
    numbers = [number for lines in series.values() for number in (*lines.ours, *lines.theirs)]
    level = [] if unprotected is None else [unprotected]
    up = even_scale([value for _, value in numbers] + level, bottom, top)
    across = log_scale([float(k) for k, _ in numbers], LEFT, WIDTH - RIGHT)
    parts = [drawn, words(unit, (0, top - 14)), *axes(across, up, "k", lambda k: f"{k:,.0f}")]
    parts += [path([(LEFT, up(y)), (WIDTH - RIGHT, up(y))], "line unprotected") for y in level]
    for place, (name, lines) in enumerate(series.items()):
        aside = ASIDE * (place - (len(series) - 1) / 2)
        moved = replace(across, start=across.start + aside, end=across.end + aside)
        parts += _drawn(place, name, lines, moved, up, reference)
    return picture(_said(title, series, reference, unprotected), parts, bottom + BOTTOM)


def _entries(series: Mapping[str, Lines], reference: str, unprotected: float | None) -> list[Entry]:
    level, solid, broken = "line unprotected", "line plain", "line printed plain"
    entries = [Entry(name, sample(place)) for place, name in enumerate(series)]
    if any(lines.theirs for lines in series.values()):
        entries += [Entry("ours", path([(0, 0), (20, 0)], solid)), Entry(reference, path([(0, 0), (20, 0)], broken))]
    if unprotected is not None:
        entries.append(Entry("unprotected", path([(0, 0), (20, 0)], level)))
    return entries


def _drawn(place: int, name: str, lines: Lines, across: Scale, up: Scale, reference: str) -> Iterator[Html]:
    if len(lines.theirs) > 1:
        yield path([(across(k), up(value)) for k, value in lines.theirs], f"line printed {colour(place)}")
    for k, value in lines.theirs:
        said = element("title", text(f"{name}, {reference}, k={k}: {value:.2f} %"))
        yield element("g", said, marker(place, (across(k), up(value)), 2.5))
    points: list[Point] = [(across(k), up(value)) for k, value in lines.ours]
    if len(points) > 1:
        yield path(points, f"line {colour(place)}")
    for (k, value), point in zip(lines.ours, points, strict=True):
        yield element("g", element("title", text(f"{name}, k={k}: {value:.2f} %")), marker(place, point))


def _said(title: str, series: Mapping[str, Lines], reference: str, unprotected: float | None) -> str:
    told = [f"unprotected {unprotected:.1f} %"] if unprotected is not None else []
    for name, lines in series.items():
        told.append(f"{name} " + ", ".join(f"k={k}: {value:.1f} %" for k, value in lines.ours))
        if lines.theirs:
            told.append(f"{name}, {reference} " + ", ".join(f"k={k}: {value:.1f} %" for k, value in lines.theirs))
    return f"{title}. " + "; ".join(told)
