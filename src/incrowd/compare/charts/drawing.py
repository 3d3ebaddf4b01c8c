"""What the charts share: scales, axes, markers, a legend, and labels that do not touch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from incrowd.report.markup import Html, element, join, text

Point = tuple[float, float]

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, BOTTOM = 56, 20, 48
LETTER, LEGEND_LINE, MARK = 8.0, 20, 5.0
_PLUS: tuple[Point, ...] = tuple(
    (turn * x, turn * y)
    for turn in (1, -1)
    for x, y in ((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4))
)
_SHAPES: tuple[tuple[Point, ...], ...] = (
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((0, -1.25), (1.2, 0.95), (-1.2, 0.95)),
    ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    ((0, 1.25), (1.2, -0.95), (-1.2, -0.95)),
    _PLUS,
    ((-1.3, 0), (-0.6, -1.15), (0.6, -1.15), (1.3, 0), (0.6, 1.15), (-0.6, 1.15)),
    ((-1.2, -1), (1.2, 1), (1.2, -1), (-1.2, 1)),
)
SERIES = len(_SHAPES) + 1


@dataclass(frozen=True)
class Scale:
    """Where values lie along an axis, from ``start`` to ``end``, and the round numbers to show."""

    ticks: tuple[float, ...]
    low: float
    high: float
    start: float
    end: float
    bend: Callable[[float], float] = float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high = self.bend(self.low), self.bend(self.high)
        return self.start + (self.end - self.start) * (self.bend(value) - low) / (high - low)


@dataclass(frozen=True)
class LegendEntry:
    """A line of the legend: what, how it is marked."""

    label: str
    mark: Html


def even_scale(values: Iterable[float], start: float, end: float) -> Scale:
    """From a round number below all values to one above.

    Examples
    --------
    >>> even_scale([75.2, 83.1], 100, 0).ticks
    (74.0, 76.0, 78.0, 80.0, 82.0, 84.0)
    """
    found = list(values)
    low, high = min(found), max(found)
    step = _step((high - low) or 1.0)
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    ticks = tuple(round(step * place, 10) for place in range(first, last + 1))
    return Scale(ticks, ticks[0], ticks[-1], start, end)


def log_scale(values: Iterable[float], start: float, end: float, margin: float = 0.06) -> Scale:
    """Through all values, each of them a tick, with some room at both ends."""
    found = sorted(set(values))
    low, high = math.log(found[0]), math.log(found[-1])
    room = margin * (high - low) or 0.5
    return Scale(tuple(found), math.exp(low - room), math.exp(high + room), start, end, math.log)


def powers(scale: Scale) -> Scale:
    """The scale with round numbers (1, 2, 5 times powers of ten) as ticks.

    Examples
    --------
    >>> powers(log_scale([0.03, 0.6], 0, 1)).ticks
    (0.05, 0.1, 0.2, 0.5)
    """
    first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    round_numbers = [float(f"{size}e{power}") for power in range(first, last + 1) for size in (1, 2, 5)]
    ticks = tuple(number for number in round_numbers if scale.low <= number <= scale.high)
    return Scale(ticks or scale.ticks, scale.low, scale.high, scale.start, scale.end, scale.bend)


def _step(span: float) -> float:
    power = 10.0 ** math.floor(math.log10(span))
    return next(size * power for size in (0.2, 0.5, 1.0, 2.0, 5.0) if span / (size * power) <= 6)


def marker(series: int, at: Point, size: float = MARK) -> Html:
    """The mark of a series: its own shape and colour; shapes come again only after all have been used."""
    shape = series % SERIES
    if shape == 0:
        return element("circle", cx=round(at[0], 1), cy=round(at[1], 1), r=size, class_=f"mark {colour(series)}")
    corners = (f"{at[0] + size * 0.9 * x:.1f} {at[1] + size * 0.9 * y:.1f}" for x, y in _SHAPES[shape - 1])
    return element("path", d=f"M{'L'.join(corners)}Z", class_=f"mark {colour(series)}")


def colour(series: int) -> str:
    """The class that colours a series."""
    return f"series-{series % SERIES}"


def path(points: Sequence[Point], kind: str) -> Html:
    """A line through points."""
    return element("path", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), class_=kind)


def words(said: str, at: Point, anchor: str = "start", kind: str = "note") -> Html:
    """Text at a place."""
    return element("text", text(said), x=round(at[0], 1), y=round(at[1], 1), text_anchor=anchor, class_=kind)


def legend(entries: Sequence[LegendEntry]) -> tuple[Html, float]:
    """What the marks stand for, on as many lines as needed; and the height it takes."""
    parts, x, y = [], 0.0, 6.0
    for entry in entries:
        wide = 30 + LETTER * len(entry.label)
        if x and x + wide > WIDTH:
            x, y = 0.0, y + LEGEND_LINE
        parts.append(element("g", entry.mark, transform=f"translate({x:.1f} {y:.1f})"))
        parts.append(words(entry.label, (x + 26, y + 4), kind="legend"))
        x += wide + 12
    return join(parts), y + LEGEND_LINE


def sample(series: int) -> Html:
    """A marker with a bit of its line, for the legend."""
    return join([path([(0, 0), (20, 0)], f"line {colour(series)}"), marker(series, (10, 0))])


def axes(across: Scale, up: Scale, across_name: str, label: Callable[[float], str]) -> Iterator[Html]:
    """Rules and numbers; those along the bottom only as far as they do not touch."""
    left, right = across.start, across.end
    for tick in up.ticks:
        y = up(tick)
        yield path([(left, y), (right, y)], "rule")
        yield words(f"{tick:g}", (left - 8, y + 4), "end")
    for said, x in apart([(label(tick), across(tick)) for tick in across.ticks]):
        yield path([(x, up.start), (x, up.start + 4)], "rule")
        yield words(said, (x, up.start + 18), "middle")
    yield words(across_name, ((left + right) / 2, up.start + 38), "middle")


def apart(labels: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The labels of an axis that do not touch the one after; the last one is always there.

    Examples
    --------
    >>> apart([("1", 0), ("750", 100), ("1,000", 110), ("2,000", 190)])
    [('1', 0), ('1,000', 110), ('2,000', 190)]
    """
    kept: list[tuple[str, float]] = []
    end = math.inf
    for said, x in reversed(labels):
        half = (LETTER * len(said) + 8) / 2
        if x + half <= end:
            kept.append((said, x))
            end = x - half
    return kept[::-1]


@dataclass(frozen=True)
class ChartBox:
    """A rectangle that something takes up."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: ChartBox) -> bool:
        """Whether the two share a place."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def place_labels(
    labels: Sequence[tuple[str, Point]], taken: Sequence[ChartBox], room: ChartBox
) -> Iterator[tuple[str, Point]]:
    """Where each label can stand beside its point without touching anything; one that cannot is left out.

    Places are left ends of base lines.
    """
    used = list(taken)
    for said, (x, y) in labels:
        wide = LETTER * len(said)
        for left, base in ((x + 9, y + 4), (x - wide / 2, y - 11), (x - 9 - wide, y + 4), (x - wide / 2, y + 21)):
            box = ChartBox(left, base - 11, left + wide, base + 3)
            inside = box.left >= room.left and box.right <= room.right and box.top >= room.top
            if inside and box.bottom <= room.bottom and not any(box.touches(other) for other in used):
                used.append(box)
                yield said, (left, base)
                break


def picture(said: str, parts: Iterable[Html], height: float) -> Html:
    """The whole chart, with what it shows in words."""
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {WIDTH} {height:g}",
        width=WIDTH,
        height=height,
        role="img",
        aria_label=said,
    )
