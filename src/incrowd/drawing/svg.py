"""Drawings as SVG, coloured by the style sheet: shapes, words that fit, scales, axes, legends, bars, files.

Notebooks show a drawing, files keep it, and axes of Matplotlib take it in their own coordinates. Widths of text are
those of DejaVu Sans, the widest of the fonts that systems use for pages: what fits there fits.
"""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incrowd.drawing.markup import PALETTE, SCOPE, SERIES, Html, drawing_style, element, join, text
from incrowd.drawing.page import figure, page
from incrowd.drawing.wording import plain
from incrowd.errors import OutputError

Point = tuple[float, float]

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, BOTTOM = 56, 20, 48
SIZE, SMALL = 13, 11
"""Font sizes, as in the style sheet."""
_BY_WIDTH = {
    0.29: "'ijlIJ",
    0.35: " ,./:;\\|f\u00a0",
    0.42: "-()[]t!r",
    0.53: '"*_`–sz?',
    0.6: "cLFkvxyP",
    0.71: "KAVBRXZC",
    0.79: "UHNDG&OQ",
    0.86: "w#+<=>^~→M",
    1.0: "m%W@…",
}
_LETTERS = {letter: width for width, letters in _BY_WIDTH.items() for letter in letters}
_LETTER, _STRONG = 0.64, 1.12  # digits and most small letters; how much wider bold letters are


def text_width(words: str, size: float = SIZE, strong: bool = False) -> float:
    """How wide words are at most."""
    wide = sum(_LETTERS.get(letter) or _other_letter(letter) for letter in words)
    return size * wide * (_STRONG if strong else 1)


def _other_letter(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(letter) in "WF" or ord(letter) > 0x2FFF else _LETTER


def fitted(words: str, width: float, size: float = SIZE, strong: bool = False) -> str:
    """As much of the words as there is room for."""
    words = plain(words)
    if text_width(words, size, strong) <= width:
        return words
    while words and text_width(f"{words}…", size, strong) > width:
        words = words[:-1]
    return f"{words}…"


# Shapes.
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


def colour(series: int) -> str:
    """The class that colours a series."""
    return f"series-{series % SERIES}"


def rect(x: float, y: float, width: float, height: float, kind: str, tip: str = "", **attributes: float) -> Html:
    """A rectangle; ``tip`` is shown where it is pointed at."""
    return element("rect", *_tip(tip), x=x, y=y, width=width, height=height, class_=kind, **attributes)


def path(points: Sequence[Point], kind: str) -> Html:
    """A line through points."""
    return element("path", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), class_=kind)


def words(content: str, at: Point, anchor: str = "start", kind: str = "note", tip: str = "") -> Html:
    """Text at a place."""
    anchored = {} if anchor == "start" else {"text_anchor": anchor}
    return element("text", *_tip(tip), text(content), x=at[0], y=at[1], class_=kind, **anchored)


def marker(series: int, at: Point, size: float = 5.0, tip: str = "") -> Html:
    """The mark of a series: its own shape and colour; after all were used, colours come with other shapes."""
    shape, kind = (series + series // SERIES) % SERIES, f"point {colour(series)}"
    if shape == 0:
        return element("circle", *_tip(tip), cx=at[0], cy=at[1], r=size, class_=kind)
    corners = (f"{at[0] + size * 0.9 * x:.1f} {at[1] + size * 0.9 * y:.1f}" for x, y in _SHAPES[shape - 1])
    return element("path", *_tip(tip), d=f"M{'L'.join(corners)}Z", class_=kind)


def _tip(words: str) -> list[Html]:
    return [element("title", text(words))] if words else []


# Scales and axes.
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


def even_scale(values: Iterable[float], start: float, end: float) -> Scale:
    """From a round number below all values to one above."""
    numbers = list(values)
    low, high = min(numbers), max(numbers)
    differ = high - low > 1e-9 * max(1.0, abs(high))  # by more than rounding
    step = _step(high - low if differ else 1.0)
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    ticks = tuple(round(step * place, 10) for place in range(first, last + 1))
    return Scale(ticks, ticks[0], ticks[-1], start, end)


def _step(span: float) -> float:
    power = 10.0 ** math.floor(math.log10(span))
    return next(size * power for size in (0.2, 0.5, 1.0, 2.0, 5.0) if span / (size * power) <= 6)


def log_scale(values: Iterable[float], start: float, end: float, margin: float = 0.06) -> Scale:
    """Through all values, each of them a tick, with some room at both ends."""
    numbers = sorted(set(values))
    low, high = math.log(numbers[0]), math.log(numbers[-1])
    room = margin * (high - low) or 0.5
    return Scale(tuple(numbers), math.exp(low - room), math.exp(high + room), start, end, math.log)


def powers(scale: Scale) -> Scale:
    """The scale with round numbers as ticks: 1, 2, 5 times powers of ten, these alone if many, even steps if few."""
    first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    sizes = (1, 2, 5) if last - first <= 4 else (1,)
    numbers = [float(f"{size}e{power}") for power in range(first, last + 1) for size in sizes]
    ticks = tuple(number for number in numbers if scale.low <= number <= scale.high)
    if len(ticks) < 2:
        even = even_scale([scale.low, scale.high], scale.start, scale.end).ticks
        ticks = tuple(number for number in even if scale.low <= number <= scale.high)
    return Scale(ticks or scale.ticks, scale.low, scale.high, scale.start, scale.end, scale.bend)


def axes(across: Scale, up: Scale, names: tuple[str, str], label: Callable[[float], str] = "{:g}".format) -> list[Html]:
    """Rules, numbers and names of both axes; numbers along the bottom only as far as they do not touch."""
    left, right = across.start, across.end
    drawn = [words(names[1], (0, up.end - 14)), words(names[0], ((left + right) / 2, up.start + 38), "middle")]
    for tick in up.ticks:
        drawn += [
            path([(left, up(tick)), (right, up(tick))], "rule"),
            words(f"{tick:g}", (left - 8, up(tick) + 4), "end"),
        ]
    for number, x in apart([(label(tick), across(tick)) for tick in across.ticks]):
        drawn += [path([(x, up.start), (x, up.start + 4)], "rule"), words(number, (x, up.start + 18), "middle")]
    return drawn


def apart(labels: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The labels of an axis that do not touch the one after; the last one is always there."""
    kept: list[tuple[str, float]] = []
    end = math.inf
    for label, x in reversed(labels):
        half = (text_width(label) + 8) / 2
        if x + half <= end:
            kept.append((label, x))
            end = x - half
    return kept[::-1]


# Legends and labels.
@dataclass(frozen=True)
class LegendEntry:
    """A line of the legend: what, how it is marked."""

    label: str
    mark: Html


def line_entry(label: str, kind: str) -> LegendEntry:
    """What a line of this kind stands for."""
    return LegendEntry(label, path([(0, 0), (20, 0)], f"line {kind}"))


def series_entry(label: str, series: int) -> LegendEntry:
    """What a line with the marks of a series stands for."""
    return LegendEntry(label, join([line_entry(label, colour(series)).mark, marker(series, (10, 0))]))


def area_entry(label: str, kind: str) -> LegendEntry:
    """What an area of this kind stands for."""
    return LegendEntry(label, rect(8, -5, 11, 11, f"area {kind}", rx=2))


def legend(entries: Sequence[LegendEntry], width: float = WIDTH) -> tuple[Html, float]:
    """What the marks stand for, on as many lines as needed; and the height it takes."""
    parts, x, y, line = [], 0.0, 8.0, 20
    for entry in entries:
        wide = 26 + text_width(entry.label)
        if x and x + wide > width:
            x, y = 0.0, y + line
        parts.append(element("g", entry.mark, transform=f"translate({x:.1f} {y:.1f})"))
        parts.append(words(fitted(entry.label, width - 26), (x + 26, y + 4), kind="legend"))
        x += wide + 16
    return join(parts), y + line


def plot(
    entries: Sequence[LegendEntry],
    across: Scale,
    up: Callable[[float, float], Scale],
    names: tuple[str, str],
    label: Callable[[float], str] = "{:g}".format,
    height: float = HEIGHT,
) -> tuple[Scale, list[Html]]:
    """A legend with axes below it: the scale upward, made from where it starts and ends, and what is drawn."""
    drawn, used = legend(entries)
    upward = up(used + 22 + height - BOTTOM, used + 22)
    return upward, [drawn, *axes(across, upward, names, label)]


def level(up: Scale, value: float, kind: str) -> Html:
    """A line over the whole width."""
    return path([(LEFT, up(value)), (WIDTH - RIGHT, up(value))], f"line {kind}")


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
    for label, (x, y) in labels:
        wide = text_width(label)
        for left, base in ((x + 9, y + 4), (x - wide / 2, y - 11), (x - 9 - wide, y + 4), (x - wide / 2, y + 21)):
            box = ChartBox(left, base - 11, left + wide, base + 3)
            inside = box.left >= room.left and box.right <= room.right and box.top >= room.top
            if inside and box.bottom <= room.bottom and not any(box.touches(other) for other in used):
                used.append(box)
                yield label, (left, base)
                break


# Bars.
@dataclass(frozen=True)
class Bar:
    """A bar of one or several parts, each with its length, its class and what is shown where it is pointed at."""

    note: str
    parts: tuple[tuple[float, str, str], ...]

    @property
    def length(self) -> float:
        """Of all parts."""
        return sum(part[0] for part in self.parts)


@dataclass(frozen=True)
class BarGroup:
    """Bars below each other that have one label."""

    label: str
    bars: tuple[Bar, ...] = field(default=())


_THICK, _LINE, _BETWEEN, _LONGEST_LABEL = 16, 20, 6, 200


def bars(
    groups: Sequence[BarGroup], longest: float, top: float = 0.0
) -> tuple[list[Html], float, Callable[[float], float]]:
    """Bars with their labels at the left and their notes at the right."""
    left = 10 + min(_LONGEST_LABEL, max((text_width(group.label) for group in groups), default=0.0))
    rooms = (
        (WIDTH - left - 8 - text_width(bar.note)) * longest / bar.length
        for group in groups
        for bar in group.bars
        if bar.length
    )
    room = min([*rooms, WIDTH - left - 8])
    drawn, y = [], top
    for group in groups:
        middle = y + _LINE * len(group.bars) / 2 + 4.5
        drawn.append(words(fitted(group.label, left - 10), (left - 10, middle), "end", kind="label"))
        for bar in group.bars:
            x = left
            for length, kind, tip in bar.parts:
                wide = max(1.0, room * length / longest) if length else 0.0
                drawn.append(rect(x, y + (_LINE - _THICK) / 2, wide, _THICK, f"area {kind}", tip))
                x += wide
            drawn.append(words(bar.note, (x + 8, y + _LINE / 2 + 4.5)))
            y += _LINE
        y += _BETWEEN
    drawn.append(rect(left - 1, top, 1, max(0.0, y - top), "axis"))
    return drawn, y, lambda length: left + room * length / longest


# Whole drawings.
_START = re.compile(r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)" width="[\d.]+" height="[\d.]+"')
_MARGIN = 12


def picture(label: str, parts: Iterable[Html], width: float, height: float) -> Html:
    """A drawing for a page, and what it shows in words."""
    wide, high = math.ceil(width), math.ceil(height)
    return element("svg", *parts, viewBox=f"0 0 {wide} {high}", width=wide, height=high, role="img", aria_label=label)


def chart(label: str, parts: Iterable[Html], up: Scale) -> Html:
    """A drawing of a :func:`plot`, down to the name of its axis."""
    return picture(label, parts, WIDTH, up.start + BOTTOM)


def standalone(drawing: Html, title: str = "") -> str:
    """A drawing as a file that carries everything it needs: its colours, light and dark, its ground and its title."""
    size = _START.match(drawing)
    assert size is not None, "not a picture"
    width, height = (float(side) + 2 * _MARGIN for side in size.groups())
    top = -_MARGIN - (24 if title else 0)
    height += -_MARGIN - top
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{SCOPE}" width="{width:g}" height="{height:g}"'
        f' viewBox="-{_MARGIN} {top} {width:g} {height:g}"'
    )
    rest, body = drawing[size.end() :].split(">", 1)
    named = words(fitted(title, width - 2 * _MARGIN, strong=True), (0, -12), kind="strong") if title else ""
    drawn = f"{rect(-_MARGIN, top, width, height, 'ground')}{named}{body}"
    return f"{start}{rest}>{element('style', Html(drawing_style(drawn)))}{drawn}\n"


MARKERS = ("o", "s", "^", "D", "v", "P", "h", "X")
"""The marks of the series, in the words of Matplotlib; as :func:`incrowd.drawing.svg.marker` draws them."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A chart or a tree, as SVG with its colours, light and dark.

    ``draw`` puts the same on axes of Matplotlib: it uses methods of the axes only, so that nothing is imported here.

    Examples
    --------
    >>> from incrowd.drawing.svg import picture
    >>> Drawing("Nothing", picture("nothing", [], 10, 10), lambda axes: None).svg[:5]
    '<svg '
    """

    title: str
    picture: Html
    draw: Callable[[Any], None]

    @property
    def svg(self) -> str:
        """A document of its own, with everything it needs."""
        return standalone(self.picture, self.title)

    def save(self, path: str | Path) -> None:
        """Write it, by the ending of the path, as SVG or as an HTML page; the file is complete or not there."""
        path = Path(path)
        if path.suffix.lower() not in (".svg", ".html"):
            raise OutputError(f"{path.name}: a drawing is written as .svg or .html. For others, draw on axes: ax=.")
        html = path.suffix.lower() == ".html"
        text = page(self.title, figure(self.title, self.picture)) if html else self.svg
        hidden = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            hidden.write_text(text, encoding="utf-8")
            hidden.replace(path)
        except OSError as error:
            raise OutputError(f"{path.name} cannot be written: {error.strerror}.") from None
        finally:
            hidden.unlink(missing_ok=True)

    def on(self, axes: Any) -> Any:
        """Draw on axes of Matplotlib, and give them back."""
        axes.set_title(self.title)
        self.draw(axes)
        return axes

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return page(self.title, figure(self.title, self.picture), whole=False)

    def __repr__(self) -> str:
        return f"Drawing of {self.title!r}"


def ink(name: str) -> str:
    """A colour of the palette on light paper, as axes of Matplotlib take it."""
    return PALETTE[name][0]


def series_style(series: int) -> dict[str, Any]:
    """Colour and mark of a series, as on our own drawings."""
    return {"color": ink(f"series-{series % SERIES}"), "marker": MARKERS[(series + series // SERIES) % SERIES]}
