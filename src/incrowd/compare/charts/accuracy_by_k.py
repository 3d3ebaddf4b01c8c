"""Accuracy against k: a line for each method, beside what the table itself and mere guessing are worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incrowd.compare.charts.drawing import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    LegendEntry,
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
from incrowd.compare.summary import Summary, SummaryCell
from incrowd.report.markup import Html, element, text

ASIDE, ALL_ASIDE = 8.0, 56.0
"""How far the points of two methods, and of all, at the same k stand beside each other, at most."""


def accuracy_by_k(summary: Summary, learner: str) -> Html:
    """Mean accuracy of a learner for each method and k, with intervals; in per cent."""
    lines = {method: _cells(summary, method, learner) for method in summary.methods}
    lines = {method: cells for method, cells in lines.items() if cells}
    levels = [
        (label, cell, kind)
        for label, cell, kind in (
            ("unprotected", summary.unprotected(learner), "unprotected"),
            ("most frequent class", summary.majority, "majority"),
        )
        if cell is not None
    ]
    entries = [LegendEntry(label, path([(0, 0), (20, 0)], f"line {kind}")) for label, _, kind in levels]
    entries += [LegendEntry(method, sample(summary.methods.index(method))) for method in lines]
    drawn, used = legend(entries)
    top = used + 22
    everything = [cell for cells in lines.values() for cell in cells] + [cell for _, cell, _ in levels]
    ends = [100 * end for cell in everything for end in (cell.interval.low, cell.interval.high, cell.accuracy)]
    bottom = top + HEIGHT - BOTTOM
    up = even_scale(ends, bottom, top)
    across = log_scale([float(k) for k in summary.ks], LEFT, WIDTH - RIGHT)
    parts = [drawn, words("% right", (0, top - 14)), *axes(across, up, "k", lambda k: f"{k:,.0f}")]
    parts += [path([(LEFT, y), (WIDTH - RIGHT, y)], f"line {kind}") for y, kind in _levels(levels, up)]
    step = min(ASIDE, ALL_ASIDE / max(1, len(lines)))
    for place, (method, cells) in enumerate(lines.items()):
        aside = step * (place - (len(lines) - 1) / 2)
        parts += _line(summary.methods.index(method), cells, across, up, aside)
    return picture(_said(learner, lines, levels), parts, bottom + BOTTOM)


def _cells(summary: Summary, method: str, learner: str) -> list[SummaryCell]:
    found = [summary.find(method, k, learner) for k in summary.ks]
    return [cell for cell in found if cell is not None and cell.is_known]


def _levels(levels: Sequence[tuple[str, SummaryCell, str]], up: Scale) -> Iterator[tuple[float, str]]:
    for _, cell, kind in levels:
        yield up(100 * cell.accuracy), kind


def _line(series: int, cells: Sequence[SummaryCell], across: Scale, up: Scale, aside: float) -> Iterator[Html]:
    points: list[Point] = [(across(cell.k) + aside, up(100 * cell.accuracy)) for cell in cells]
    yield path(points, f"line {colour(series)}")
    for cell, point in zip(cells, points, strict=True):
        low, high = up(100 * cell.interval.low), up(100 * cell.interval.high)
        bar = path([(point[0], low), (point[0], high)], f"bar {colour(series)}")
        yield element("g", element("title", text(_told(cell))), bar, marker(series, point))


def _told(cell: SummaryCell) -> str:
    found = cell.interval
    return f"{cell.method}, k={cell.k}: {100 * cell.accuracy:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _said(learner: str, lines: dict[str, list[SummaryCell]], levels: Sequence[tuple[str, SummaryCell, str]]) -> str:
    fixed = [f"{label} {100 * cell.accuracy:.1f} %" for label, cell, _ in levels]
    of_methods = [
        f"{method} " + ", ".join(f"k={cell.k}: {100 * cell.accuracy:.1f} %" for cell in cells)
        for method, cells in lines.items()
    ]
    return f"Accuracy of {learner} by k. " + "; ".join([*fixed, *of_methods])
