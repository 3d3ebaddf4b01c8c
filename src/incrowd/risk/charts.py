"""The charts of risk: rows, or persons, by the size of their class, and how many have at least a given risk.

Measured risk as a page of its own, or as a fragment for a notebook.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from incrowd.drawing.markup import Html
from incrowd.drawing.page import figure, head, page, paragraph, section
from incrowd.drawing.svg import (
    LEFT,
    RIGHT,
    WIDTH,
    Bar,
    BarGroup,
    Drawing,
    Point,
    Scale,
    bars,
    chart,
    ink,
    line_entry,
    path,
    picture,
    plot,
)
from incrowd.drawing.wording import counted, percent, sentence
from incrowd.errors import ParameterError
from incrowd.risk.assessment import Risk
from incrowd.risk.telling import drawn_part, headline, parts_of


def risk_html(measured: Risk, whole_page: bool = True) -> str:
    """The measured risk of a table, and of its release beside it.

    Parameters
    ----------
    measured
        What was measured.
    whole_page
        A page of its own, or a fragment for a notebook.
    """
    columns = paragraph(f"Quasi-identifiers: {', '.join(measured.quasi_identifiers)}.", class_="aside")
    figures = risk_figures(measured)
    parts = [
        section(part.title, part.name, *drawn_part(part), *(figures if part.name == "at-risk" else ()))
        for part in parts_of(measured)
    ]
    title = f"Re-identification risk: {measured.source}"
    return page(title, head("Re-identification risk", sentence(headline(measured)), columns), *parts, whole=whole_page)


def risk_figures(measured: Risk) -> list[Html]:
    """Rows, or persons, by the size of their class, and the curve of risk, of the table and of its release."""
    tables, known, unit = tables_of(measured), _TITLES[measured.unit], measured.unit
    return [figure(known["sizes"], size_chart(tables, unit)), figure(known["curve"], risk_curve(tables, unit))]


Histogram = Sequence[tuple[int, int]]
Tables = Sequence[tuple[str, Histogram]]
"""Names of tables, and how many rows, or persons, are in classes of each size."""

MOST_BUCKETS = 14
BEFORE, AFTER = "series-4", "series-0"
_STEPS = ((1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))


@dataclass(frozen=True)
class Bucket:
    """Classes of ``low`` to ``high`` rows."""

    low: int
    high: int
    classes: int
    rows: int

    @property
    def label(self) -> str:
        """The sizes in the bucket."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"

    @property
    def note(self) -> str:
        """What is in the bucket."""
        return f"{counted(self.classes, 'group')}, {counted(self.rows, 'row')}"


def buckets(histogram: Histogram) -> list[Bucket]:
    """Class sizes in a few buckets; every class is in exactly one, and none is empty.

    Few different sizes get a bucket each. Otherwise bounds are round numbers that grow with the size.

    Examples
    --------
    >>> [bucket.label for bucket in buckets(((10, 5), (13, 1), (40, 2), (120, 1)))]
    ['10–14', '30–49', '100–120']
    """
    if not histogram:
        return []
    low, high = histogram[0][0], histogram[-1][0]
    bounds = _bounds(low, high)
    every = [
        _bucket(histogram, start, following - 1)
        for start, following in zip(bounds, [*bounds[1:], high + 1], strict=True)
    ]
    return [bucket for bucket in every if bucket.classes]


def _bucket(histogram: Histogram, low: int, high: int) -> Bucket:
    inside = [(size, classes) for size, classes in histogram if low <= size <= high]
    return Bucket(low, high, sum(c for _, c in inside), sum(size * classes for size, classes in inside))


def _bounds(low: int, high: int) -> list[int]:
    """Where buckets begin, from ``low`` on: the finest of the known steps that keeps them few."""
    if high - low < MOST_BUCKETS:
        return list(range(low, high + 1))
    for steps in _STEPS:
        bounds = [low, *(bound for bound in _round_numbers(steps, high) if bound > low)]
        if len(bounds) <= MOST_BUCKETS:
            break
    return bounds


def _round_numbers(steps: Sequence[float], high: int) -> Iterator[int]:
    """Whole numbers up to ``high`` of the form step times a power of ten, ascending."""
    for power in range(len(str(high))):
        for step in steps:
            number = step * 10**power
            if number <= high and number == math.floor(number):
                yield int(number)


def _units(histogram: Histogram) -> int:
    return sum(units for _, units in histogram)


def size_chart(tables: Tables, unit: str = "row") -> Html:
    """Rows, or persons, by the size of their class, one bar for each table in each range of sizes.

    Examples
    --------
    >>> "classes of 1: 1 row before, 33.3 %" in size_chart([("before", ((1, 1), (2, 2)))])
    True
    """
    groups = [
        BarGroup(bucket.label, tuple(bar for table in tables if (bar := _unit_bar(*table, bucket, unit)).length))
        for bucket in _ranges(tables)
    ]
    longest = max((bar.length for group in groups for bar in group.bars), default=0.0)
    words = "; ".join(f"classes of {group.label}: {bar.note}" for group in groups for bar in group.bars)
    drawn, bottom, _ = bars(groups, longest or 1.0)
    return picture(f"{_TITLES[unit]['sizes']}. {words}", drawn, WIDTH, max(1, bottom))


def _ranges(tables: Tables) -> list[Bucket]:
    """Ranges of sizes that fit all tables."""
    merged: dict[int, int] = {}
    for size, units in (pair for _, histogram in tables for pair in histogram):
        merged[size] = merged.get(size, 0) + units
    return buckets(tuple(sorted(merged.items())))


def _unit_bar(name: str, histogram: Histogram, bucket: Bucket, unit: str) -> Bar:
    units = _units([pair for pair in histogram if bucket.low <= pair[0] <= bucket.high])
    share = units / max(1, _units(histogram))
    when = f" {name}" if name in ("before", "after") else ""
    return Bar(f"{counted(units, unit)}{when}, {percent(share)}", ((share, _kind(name), ""),))


def risk_curve(tables: Tables, unit: str = "row") -> Html:
    """The share of rows, or persons, whose risk 1 / f is at least as high as each risk, from high risks to low ones.

    Examples
    --------
    >>> "before: 33.3 % at least 100 %" in risk_curve([("before", ((1, 1), (2, 2)))])
    True
    """
    largest = max(2, *(size for _, histogram in tables for size, _ in histogram[-1:]), 2)
    across = Scale(tuple(_round_numbers((1, 2, 5), largest)), 1, largest, LEFT, WIDTH - RIGHT, math.log)
    up, parts = plot(
        [line_entry(name, _line_kind(name)) for name, _ in tables],
        across,
        lambda start, end: Scale((0, 20, 40, 60, 80, 100), 0, 100, start, end),
        ("re-identification risk of at least", f"% of the {unit}s"),
        lambda size: f"{100 / size:g} %",
        height=280,
    )
    parts += [path(list(_steps(histogram, across, up)), f"line {_line_kind(name)}") for name, histogram in tables]
    words = "; ".join(f"{name}: {_in_words(histogram)}" for name, histogram in tables)
    return chart(f"Share of {unit}s with at least a given risk. {words}", parts, up)


def _steps(histogram: Histogram, across: Scale, up: Scale) -> Iterator[Point]:
    """From the highest risk to the lowest; the share rises where a class size is reached."""
    reached, total = 0, max(1, _units(histogram))
    yield across(1), up(0)
    for size, units in histogram:
        yield across(size), up(100 * reached / total)
        reached += units
        yield across(size), up(100 * reached / total)
    yield across.end, up(100 * reached / total)


def _in_words(histogram: Histogram) -> str:
    total = max(1, _units(histogram))
    shares = {k: _units([pair for pair in histogram if pair[0] <= k]) / total for k in (1, 2, 5, 10, 20)}
    return ", ".join(f"{percent(share)} at least {percent(1 / k)}" for k, share in shares.items())


def _kind(name: str) -> str:
    return BEFORE if name == "before" else AFTER


def _line_kind(name: str) -> str:
    return f"{_kind(name)} before" if name == "before" else _kind(name)


# The charts as drawings, with how they are drawn on axes of Matplotlib.
_TITLES = {
    "row": {
        "curve": "Share of rows with at least this re-identification risk (prosecutor)",
        "sizes": "Rows by the size of their class",
    },
    "person": {
        "curve": "Share of persons with at least this re-identification risk (prosecutor)",
        "sizes": "Persons by the size, in persons, of the smallest class that has a row of theirs",
    },
}


def risk_drawing(measured: Risk, kind: str) -> Drawing:
    """The ``curve`` of risk, or the ``sizes`` of the classes, of a table and of its release."""
    known, unit = _TITLES[measured.unit], measured.unit
    if kind not in known:
        raise ParameterError(f"kind must be one of {', '.join(known)}.")
    tables = tables_of(measured)
    if kind == "curve":
        return Drawing(known[kind], risk_curve(tables, unit), partial(_draw_curve, tables, unit))
    return Drawing(known[kind], size_chart(tables, unit), partial(_draw_sizes, tables, unit))


def tables_of(measured: Risk) -> Tables:
    """The table, and its release if that was measured, too."""
    if measured.after is None:
        return [(measured.source, measured.exposed)]
    return [("before", measured.exposed), ("after", measured.after.exposed)]


def _draw_curve(tables: Tables, unit: str, axes: Any) -> None:
    for name, histogram in tables:
        total, reached, sizes, shares = max(1, _units(histogram)), 0, [1], [0.0]
        for size, units in histogram:
            reached += units
            sizes.append(size)
            shares.append(100 * reached / total)
        line = "--" if name == "before" else "-"
        axes.step(sizes, shares, where="post", label=name, color=ink(_kind(name)), linestyle=line)
    largest = max(2, *(size for _, histogram in tables for size, _ in histogram[-1:]), 2)
    ticks = list(_round_numbers((1, 2, 5), largest))
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{100 / size:g} %" for size in ticks])
    axes.set_xlabel("re-identification risk of at least")
    axes.set_ylabel(f"% of the {unit}s")
    axes.legend()


def _draw_sizes(tables: Tables, unit: str, axes: Any) -> None:
    ranges = _ranges(tables)
    thick = 0.8 / len(tables)
    for place, (name, histogram) in enumerate(tables):
        shares = [100 * _unit_bar(name, histogram, bucket, unit).length for bucket in ranges]
        aside = thick * (place - (len(tables) - 1) / 2)
        where = [row + aside for row in range(len(ranges))]
        axes.barh(where, shares, height=thick, label=name, color=ink(_kind(name)))
    axes.set_yticks(range(len(ranges)), [bucket.label for bucket in ranges])
    axes.invert_yaxis()
    axes.set_xlabel(f"% of the {unit}s")
    axes.set_ylabel(f"{unit}s of the class")
    axes.legend()
