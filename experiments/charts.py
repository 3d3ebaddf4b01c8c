"""Charts as SVG files that carry everything they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

from incrowd.drawing.markup import Html
from incrowd.drawing.svg import (
    LEFT,
    RIGHT,
    WIDTH,
    Bar,
    BarGroup,
    Point,
    Scale,
    area_entry,
    bars,
    chart,
    colour,
    even_scale,
    legend,
    log_scale,
    marker,
    path,
    picture,
    plot,
    powers,
    series_entry,
    standalone,
    words,
)

Upward = Literal["from zero", "close", "powers"]


def line_chart(
    title: str,
    across: str,
    up: str,
    series: Mapping[str, Sequence[Point]],
    label: Callable[[float], str],
    scale: Upward = "from zero",
) -> str:
    """Lines over a logarithmic axis, see :func:`lines`, as a file of its own.

    Examples
    --------
    >>> line_chart("Cost", "rows", "seconds", {"a": [(10, 1.0), (100, 2.0)]}, str).startswith("<svg ")
    True
    """
    return standalone(lines(title, across, up, series, label, scale), title)


def lines(
    title: str,
    across: str,
    up: str,
    series: Mapping[str, Sequence[Point]],
    label: Callable[[float], str],
    scale: Upward = "from zero",
) -> Html:
    """Lines over a logarithmic axis; ``label`` writes the places on it.

    The other axis begins at zero, lies close around the values, or shows powers of ten.
    """
    entries = [series_entry(name, place) for place, name in enumerate(series)]
    rightward = log_scale([x for points in series.values() for x, _ in points], LEFT, WIDTH - RIGHT)
    values = [y for points in series.values() for _, y in points]
    upward, parts = plot(entries, rightward, partial(_UPWARD[scale], values), (across, up), label)
    for place, points in enumerate(series.values()):
        places = [(rightward(x), upward(y)) for x, y in points]
        parts += [path(places, f"line {colour(place)}"), *(marker(place, at, 4) for at in places)]
    return chart(title, parts, upward)


def bar_chart(title: str, unit: str, groups: Mapping[str, Mapping[str, float]], limit: float | None = None) -> str:
    """A bar for each entry, made of its parts; ``limit`` is a dashed line.

    Examples
    --------
    >>> "read: 1.0 s" in bar_chart("Stages", "s", {"csv": {"read": 1.0, "write": 2.0}}, limit=2.5)
    True
    """
    names = list(dict.fromkeys(part for parts in groups.values() for part in parts))
    drawn, top = legend([area_entry(name, colour(place)) for place, name in enumerate(names)])
    rows = [BarGroup(label, (_bar(parts, names, unit),)) for label, parts in groups.items()]
    longest = max([limit or 0.0, *(row.bars[0].length for row in rows)]) or 1.0
    drawn_bars, bottom, place = bars(rows, longest, top)
    parts = [drawn, *drawn_bars]
    if limit is not None:
        x, bottom = place(limit), bottom + 18
        parts += [
            path([(x, top - 4), (x, bottom - 16)], "line unprotected"),
            words(f"limit {limit:.1f} {unit}", (x, bottom - 2), "middle"),
        ]
    return standalone(picture(title, parts, WIDTH, bottom + 2), title)


def _bar(parts: Mapping[str, float], names: Sequence[str], unit: str) -> Bar:
    """One bar: its sum beside it, its parts where they are pointed at."""
    pieces = ((value, colour(names.index(name)), f"{name}: {value:.1f} {unit}") for name, value in parts.items())
    return Bar(f"{sum(parts.values()):.1f} {unit}", tuple(pieces))


def _from_zero(values: Sequence[float], start: float, end: float) -> Scale:
    return even_scale([0.0, *values], start, end)


def _powers(values: Sequence[float], start: float, end: float) -> Scale:
    return powers(log_scale(values, start, end))


_UPWARD: Mapping[Upward, Callable[[Sequence[float], float, float], Scale]] = {
    "from zero": _from_zero,
    "close": even_scale,
    "powers": _powers,
}
