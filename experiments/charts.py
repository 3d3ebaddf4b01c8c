"""Charts as SVG files that carry everything they need."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from incrowd.report.markup import Html, element, join, text

Point = tuple[float, float]
Scale = Literal["from zero", "close", "powers"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#9aa0a6", "#1f2933")
INK, GREY, RULE = "#1f2933", "#52606d", "#d9dee3"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 320, 64, 48, 76, 52
LETTER, BAR, GAP = 6.8, 22, 14


class _Ruler(NamedTuple):
    """Round numbers along the upright axis, and how far up a value lies, from 0 to 1."""

    ticks: Sequence[float]
    share: Callable[[float], float]


def line_chart(
    title: str,
    across: str,
    up: str,
    series: Mapping[str, Sequence[Point]],
    label: Callable[[float], str],
    scale: Scale = "from zero",
) -> str:
    """Lines over a logarithmic axis; ``label`` writes the places on it.

    The other axis begins at zero, lies close around the values, or shows powers of ten.

    Examples
    --------
    >>> line_chart("Cost", "rows", "seconds", {"a": [(10, 1.0), (100, 2.0)]}, str).startswith("<svg ")
    True
    """
    places = sorted({x for points in series.values() for x, _ in points})
    ruler = _RULERS[scale]([y for points in series.values() for _, y in points])
    low, span = math.log(places[0]), math.log(places[-1] / places[0]) or 1.0

    def where(point: Point) -> Point:
        x = LEFT + (WIDTH - LEFT - RIGHT) * (math.log(point[0]) - low) / span
        return x, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ruler.share(point[1])

    drawn = [_level(tick, where((places[0], tick))[1]) for tick in ruler.ticks]
    drawn += [
        _words(words, x, HEIGHT - BOTTOM + 18, "middle")
        for words, x in _apart([(label(x), where((x, ruler.ticks[0]))[0]) for x in places])
    ]
    drawn += [_line(place, [where(point) for point in points]) for place, points in enumerate(series.values())]
    drawn += [
        _words(across, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "middle"),
        _words(up, 8, TOP - 8, "start"),
        *_legend(series),
    ]
    return _document(title, drawn, HEIGHT)


def bar_chart(title: str, unit: str, bars: Mapping[str, Mapping[str, float]], limit: float | None = None) -> str:
    """A bar for each entry, made of its parts; ``limit`` is a dashed line.

    Examples
    --------
    >>> "read: 1.0 s" in bar_chart("Stages", "s", {"csv": {"read": 1.0, "write": 2.0}}, limit=2.5)
    True
    """
    names = list(dict.fromkeys(part for parts in bars.values() for part in parts))
    room = 16 + LETTER * max(map(len, bars))
    longest = max([limit or 0.0, *(sum(parts.values()) for parts in bars.values())]) or 1.0
    scale = (WIDTH - room - 72) / longest
    bottom = TOP + len(bars) * (BAR + GAP)
    drawn = list(_legend(names))
    for place, (name, parts) in enumerate(bars.items()):
        top = TOP + place * (BAR + GAP)
        drawn += [_words(name, room - 8, top + BAR / 2 + 4, "end"), *_parts(parts, names, room, top, scale, unit)]
    if limit is not None:
        x = room + scale * limit
        drawn += [
            element("path", d=f"M{x:.1f} {TOP - 8}V{bottom}", stroke=INK, stroke_dasharray="4 3"),
            _words(f"limit {limit:.1f} {unit}", x, bottom + 14, "middle"),
        ]
    return _document(title, drawn, bottom + 26)


def _parts(
    parts: Mapping[str, float], names: Sequence[str], left: float, top: float, scale: float, unit: str
) -> Iterator[Html]:
    """The parts of one bar, each with its number where it is pointed at, and the sum behind them."""
    x = left
    for name, value in parts.items():
        colour = COLOURS[names.index(name) % len(COLOURS)]
        note = element("title", text(f"{name}: {value:.1f} {unit}"))
        yield element("rect", note, x=x, y=top, width=scale * value, height=BAR, fill=colour)
        x += scale * value
    yield _words(f"{sum(parts.values()):.1f} {unit}", x + 6, top + BAR / 2 + 4, "start")


def _line(place: int, points: Sequence[Point]) -> Html:
    colour = COLOURS[place % len(COLOURS)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dots = [element("circle", cx=round(x, 1), cy=round(y, 1), r=3.5, fill=colour) for x, y in points]
    return join([element("path", d=path, fill="none", stroke=colour, stroke_width=2), *dots])


def _apart(labels: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The labels of an axis that do not touch the one after; the last one is always there.

    Examples
    --------
    >>> _apart([("1", 0), ("750", 100), ("1,000", 110), ("2,000", 190)])
    [('1', 0), ('1,000', 110), ('2,000', 190)]
    """
    kept: list[tuple[str, float]] = []
    end = math.inf
    for words, x in reversed(labels):
        half = 4 * len(words)
        if x + half <= end:
            kept.append((words, x))
            end = x - half
    return kept[::-1]


def _level(tick: float, y: float) -> Html:
    rule = element("path", d=f"M{LEFT} {y:.1f}H{WIDTH - RIGHT}", stroke=RULE)
    return join([rule, _words(f"{tick:g}", LEFT - 8, y + 4, "end")])


def _legend(names: Iterable[str]) -> Iterator[Html]:
    """What each colour stands for, on a second line where the first is full."""
    x, y = 8.0, 30
    for place, name in enumerate(names):
        wide = 15 + LETTER * len(name)
        if x + wide > WIDTH:
            x, y = 8.0, y + 14
        yield element("rect", x=x, y=y, width=10, height=10, fill=COLOURS[place % len(COLOURS)])
        yield _words(name, x + 15, y + 9, "start")
        x += wide + 18


def _words(words: str, x: float, y: float, anchor: str) -> Html:
    return element("text", text(words), x=round(x, 1), y=round(y, 1), text_anchor=anchor, fill=GREY)


def _ticks(largest: float) -> list[float]:
    """Round numbers from zero to at least the largest value.

    Examples
    --------
    >>> _ticks(7.3)
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    largest = largest or 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(size * power for size in (0.2, 0.5, 1.0, 2.0, 5.0) if largest / (size * power) <= 5)
    return [round(step * place, 10) for place in range(math.ceil(largest / step - 1e-9) + 1)]


def _from_zero(values: Sequence[float]) -> _Ruler:
    ticks = _ticks(max(values))
    return _Ruler(ticks, lambda y: y / ticks[-1])


def _close(values: Sequence[float]) -> _Ruler:
    """From a round number below all values to one above.

    Examples
    --------
    >>> _close([75.2, 83.1]).ticks
    [74.0, 76.0, 78.0, 80.0, 82.0, 84.0]
    """
    low, high = min(values), max(values)
    step = _ticks(high - low)[1]
    first, last = math.floor(low / step), max(math.ceil(high / step), math.floor(low / step) + 1)
    ticks = [round(step * place, 10) for place in range(first, last + 1)]
    return _Ruler(ticks, lambda y: (y - ticks[0]) / (ticks[-1] - ticks[0]))


def _powers(values: Sequence[float]) -> _Ruler:
    """Powers of ten around positive values.

    Examples
    --------
    >>> _powers([0.02, 30]).ticks
    [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    first = math.floor(math.log10(min(values)))
    last = max(math.ceil(math.log10(max(values))), first + 1)
    ticks = [float(f"1e{place}") for place in range(first, last + 1)]
    return _Ruler(ticks, lambda y: (math.log10(y) - first) / (last - first))


_RULERS: Mapping[Scale, Callable[[Sequence[float]], _Ruler]] = {
    "from zero": _from_zero,
    "close": _close,
    "powers": _powers,
}


def _document(title: str, drawn: Sequence[Html], height: float) -> str:
    named = element("text", text(title), x=8, y=18, font_size=14, font_weight=600, fill=INK)
    ground = element("rect", width="100%", height="100%", fill="#fff")
    body = element("g", named, *drawn, font_family="system-ui,sans-serif", font_size=12)
    picture = element(
        "svg",
        element("title", text(title)),
        ground,
        body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height:g}",
        width=WIDTH,
        height=height,
        role="img",
        aria_label=title,
    )
    return f"{picture}\n"
