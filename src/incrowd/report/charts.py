"""Charts as inline SVG, coloured by the style sheet. Every chart says in words what it shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incrowd.report.facts import Accuracy, AttributeFacts
from incrowd.report.markup import Html, element, join, text
from incrowd.report.utility_facts import Utility
from incrowd.report.wording import HIDDEN, clipped, counted, percent, shares_of
from incrowd.verification.verdict import ClassSizes

WIDTH, LINE, THICK = 720, 26, 16
LABEL, NOTE = 120, 170
BAR_WIDTH, BAR_HEIGHT = 240, 14
MOST_BUCKETS = 14
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
        return f"{counted(self.classes, 'group')}, {counted(self.rows, 'row')}" if self.classes else "none"


@dataclass(frozen=True)
class Bar:
    """One horizontal bar: what, how long (0 to 1), and what is said beside it."""

    label: str
    length: float
    note: str
    kind: str


def size_histogram(sizes: ClassSizes) -> Html:
    """How many groups there are of which size, in buckets that widen with the size.

    Examples
    --------
    >>> chart = size_histogram(ClassSizes(44, 4, 10, ((10, 1), (11, 2), (12, 1))))
    >>> "11: 2 groups, 22 rows" in chart
    True
    """
    found = buckets(sizes.histogram)
    most = max((bucket.classes for bucket in found), default=1)
    bars = [Bar(bucket.label, bucket.classes / most, bucket.note, "size") for bucket in found]
    return _bars("Groups by their number of rows", bars)


def accuracy_bars(accuracy: Accuracy) -> Html:
    """Accuracy learned before, after, and by the majority, from 0 to 100 %."""
    measured = (
        ("before", accuracy.before, "from the table itself"),
        ("after", accuracy.after, "from the release"),
        ("majority", accuracy.majority, "the most frequent class"),
    )
    bars = [Bar(kind, share, f"{percent(share)} {note}", kind) for kind, share, note in measured]
    return _bars("Accuracy of a decision tree", bars)


def loss_bars(utility: Utility) -> Html:
    """How much of each attribute is lost, from 0 to 100 %."""
    bars = [Bar(clipped(one.name, 15), one.loss, f"{percent(one.loss)} lost", "loss") for one in utility.attributes]
    return _bars("Loss of each quasi-identifier", bars)


def form_bar(attribute: AttributeFacts) -> Html:
    """In what share of the rows an attribute is shown in which form, as one stacked bar.

    Hidden is an empty frame, so that the bar can be read without colours.
    """
    shares = shares_of(attribute)
    said = ", ".join(f"{form} {percent(share)}" for form, share in shares.items() if share)
    parts, left = [], 0.0
    for form, share in shares.items():
        width = BAR_WIDTH * share
        if form != HIDDEN and width > 0:
            parts.append(rect(left, 0, width, BAR_HEIGHT, f"form-{form}"))
        left += width
    frame = rect(0.5, 0.5, BAR_WIDTH - 1, BAR_HEIGHT - 1, "form-hidden")
    return picture(f"{attribute.name}: {said}", join([frame, *parts]), BAR_WIDTH, BAR_HEIGHT)


def buckets(histogram: Sequence[tuple[int, int]]) -> list[Bucket]:
    """Class sizes in a few buckets; every class is in exactly one.

    Few different sizes get a bucket each. Otherwise bounds are round numbers that grow with the size.

    Examples
    --------
    >>> [bucket.label for bucket in buckets(((10, 5), (13, 1), (40, 2), (120, 1)))]
    ['10–14', '15–19', '20–29', '30–49', '50–69', '70–99', '100–120']
    """
    if not histogram:
        return []
    low, high = histogram[0][0], histogram[-1][0]
    bounds = _bounds(low, high)
    return [
        _bucket(histogram, start, following - 1)
        for start, following in zip(bounds, [*bounds[1:], high + 1], strict=True)
    ]


def _bucket(histogram: Sequence[tuple[int, int]], low: int, high: int) -> Bucket:
    inside = [(size, classes) for size, classes in histogram if low <= size <= high]
    return Bucket(low, high, sum(c for _, c in inside), sum(size * c for size, c in inside))


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


def _bars(title: str, bars: Sequence[Bar]) -> Html:
    """Horizontal bars below each other, with their labels at the left and their notes at the right."""
    said = f"{title}. " + "; ".join(f"{bar.label}: {bar.note}" for bar in bars)
    body = join(_line(bar, LINE * i) for i, bar in enumerate(bars))
    axis = rect(LABEL - 1, 0, 1, LINE * len(bars), "axis")
    return picture(said, join([body, axis]), WIDTH, max(1, LINE * len(bars)))


def _line(bar: Bar, top: float) -> Html:
    middle = top + LINE / 2 + 4
    width = max(1.0, (WIDTH - LABEL - NOTE) * bar.length) if bar.length else 0.0
    label = element("text", text(bar.label), x=LABEL - 10, y=middle, class_="label")
    note = element("text", text(bar.note), x=LABEL + width + 8, y=middle, class_="note")
    return join([label, rect(LABEL, top + (LINE - THICK) / 2, width, THICK, f"bar-{bar.kind}"), note])


def rect(x: float, y: float, width: float, height: float, kind: str) -> Html:
    """A rectangle that the style sheet colours by its kind."""
    return element("rect", x=x, y=y, width=width, height=height, class_=kind)


def picture(said: str, body: Html, width: float, height: float) -> Html:
    """A chart, and what it shows in words."""
    return element(
        "svg",
        body,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=said,
    )
