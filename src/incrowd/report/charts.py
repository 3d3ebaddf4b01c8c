"""The charts of reports: groups by size, forms, loss, accuracy, risk. Every chart says in words what it shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incrowd.drawing.markup import Html
from incrowd.drawing.svg import (
    LEFT,
    RIGHT,
    WIDTH,
    Bar,
    BarGroup,
    Point,
    Scale,
    bars,
    chart,
    line_entry,
    path,
    picture,
    plot,
    rect,
)
from incrowd.drawing.wording import counted, percent
from incrowd.report.facts import Accuracy, AttributeFacts
from incrowd.report.utility_facts import Utility
from incrowd.report.wording import HIDDEN, shares_of
from incrowd.verification.verdict import ClassSizes

Histogram = Sequence[tuple[int, int]]
Tables = Sequence[tuple[str, Histogram]]
"""Names of tables, and how many classes they have of each size."""

BAR_WIDTH, BAR_HEIGHT = 240, 14
MOST_BUCKETS = 14
FORM_COLOURS = {
    "value": "series-0",
    "set": "series-5",
    "mean": "series-4",
    "interval": "series-6",
    "category": "series-2",
    "counts": "series-3",
    HIDDEN: "empty",
}
_BEFORE, _AFTER, _MAJORITY, _LOSS = "series-4", "series-0", "other", "series-7"
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


def size_histogram(sizes: ClassSizes) -> Html:
    """How many groups there are of which size, in buckets that widen with the size."""
    ranges = buckets(sizes.histogram)
    most = max((bucket.classes for bucket in ranges), default=1)
    groups = [_single(bucket.label, bucket.classes, bucket.note, _AFTER) for bucket in ranges]
    return _bar_chart("Groups by their number of rows", groups, most)


def accuracy_bars(accuracy: Accuracy) -> Html:
    """Accuracy learned before, after, and by the majority, from 0 to 100 %."""
    measured = (
        ("before", accuracy.before, "trained on the table itself", _BEFORE),
        ("after", accuracy.after, "trained on the release", _AFTER),
        ("majority", accuracy.majority, "always the most frequent class", _MAJORITY),
    )
    groups = [_single(label, share, f"{percent(share)} {note}", kind) for label, share, note, kind in measured]
    return _bar_chart("Accuracy of a decision tree", groups, 1.0)


def loss_bars(utility: Utility) -> Html:
    """How much of each attribute is lost, from 0 to 100 %."""
    groups = [_single(one.name, one.loss, f"{percent(one.loss)} lost", _LOSS) for one in utility.attributes]
    return _bar_chart("Loss of each quasi-identifier", groups, 1.0)


def _single(label: str, length: float, note: str, kind: str) -> BarGroup:
    return BarGroup(label, (Bar(note, ((length, kind, ""),)),))


def _bar_chart(title: str, groups: Sequence[BarGroup], longest: float) -> Html:
    drawn, bottom, _ = bars(groups, longest or 1.0)
    words = "; ".join(f"{group.label}: {bar.note}" for group in groups for bar in group.bars)
    return picture(f"{title}. {words}", drawn, WIDTH, max(1, bottom))


def form_bar(attribute: AttributeFacts) -> Html:
    """In what share of the rows an attribute is shown in which form, as one stacked bar.

    Hidden is an empty frame, so that the bar can be read without colours.
    """
    shares = shares_of(attribute)
    words = ", ".join(f"{form} {percent(share)}" for form, share in shares.items() if share)
    parts, left = [rect(0.5, 0.5, BAR_WIDTH - 1, BAR_HEIGHT - 1, FORM_COLOURS[HIDDEN])], 0.0
    for form, share in shares.items():
        width = BAR_WIDTH * share
        if form != HIDDEN and width > 0:
            parts.append(rect(left, 0, width, BAR_HEIGHT, f"area {FORM_COLOURS[form]}"))
        left += width
    return picture(f"{attribute.name}: {words}", parts, BAR_WIDTH, BAR_HEIGHT)


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
    return Bucket(low, high, sum(c for _, c in inside), _rows(inside))


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


def _rows(histogram: Histogram) -> int:
    return sum(size * classes for size, classes in histogram)


# Charts of risk: rows by the size of their class, and how many rows have at least a given risk.
def size_chart(tables: Tables) -> Html:
    """Rows by the size of their class, one bar for each table in each range of sizes."""
    merged: dict[int, int] = {}
    for size, classes in (pair for _, histogram in tables for pair in histogram):
        merged[size] = merged.get(size, 0) + classes
    groups = [
        BarGroup(bucket.label, tuple(bar for table in tables if (bar := _rows_bar(*table, bucket)).length))
        for bucket in buckets(tuple(sorted(merged.items())))
    ]
    longest = max((bar.length for group in groups for bar in group.bars), default=0.0)
    words = "; ".join(f"classes of {group.label}: {bar.note}" for group in groups for bar in group.bars)
    drawn, bottom, _ = bars(groups, longest or 1.0)
    return picture(f"Rows by the size of their class. {words}", drawn, WIDTH, max(1, bottom))


def _rows_bar(name: str, histogram: Histogram, bucket: Bucket) -> Bar:
    rows = _rows([pair for pair in histogram if bucket.low <= pair[0] <= bucket.high])
    share = rows / max(1, _rows(histogram))
    when = f" {name}" if name in ("before", "after") else ""
    return Bar(f"{counted(rows, 'row')}{when}, {percent(share)}", ((share, _kind(name), ""),))


def risk_curve(tables: Tables) -> Html:
    """The share of rows whose risk 1 / f is at least as high as each risk, from high risks to low ones."""
    largest = max(2, *(size for _, histogram in tables for size, _ in histogram[-1:]), 2)
    across = Scale(tuple(_round_numbers((1, 2, 5), largest)), 1, largest, LEFT, WIDTH - RIGHT, math.log)
    up, parts = plot(
        [line_entry(name, _line_kind(name)) for name, _ in tables],
        across,
        lambda start, end: Scale((0, 20, 40, 60, 80, 100), 0, 100, start, end),
        ("re-identification risk of at least", "% of the rows"),
        lambda size: f"{100 / size:g} %",
        height=280,
    )
    parts += [path(list(_steps(histogram, across, up)), f"line {_line_kind(name)}") for name, histogram in tables]
    words = "; ".join(f"{name}: {_in_words(histogram)}" for name, histogram in tables)
    return chart(f"Share of rows with at least a given risk. {words}", parts, up)


def _steps(histogram: Histogram, across: Scale, up: Scale) -> Iterator[Point]:
    """From the highest risk to the lowest; the share rises where a class size is reached."""
    rows, total = 0, max(1, _rows(histogram))
    yield across(1), up(0)
    for size, classes in histogram:
        yield across(size), up(100 * rows / total)
        rows += size * classes
        yield across(size), up(100 * rows / total)
    yield across.end, up(100 * rows / total)


def _in_words(histogram: Histogram) -> str:
    total = max(1, _rows(histogram))
    shares = {k: _rows([pair for pair in histogram if pair[0] <= k]) / total for k in (1, 2, 5, 10, 20)}
    return ", ".join(f"{percent(share)} at least {percent(1 / k)}" for k, share in shares.items())


def _kind(name: str) -> str:
    return _BEFORE if name == "before" else _AFTER


def _line_kind(name: str) -> str:
    return f"{_kind(name)} before" if name == "before" else _kind(name)
