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


# Charts of risk: rows by the size of their class, and how many rows have at least a given risk.
Histogram = Sequence[tuple[int, int]]
Tables = Sequence[tuple[str, Histogram]]
"""Names of tables, and how many classes they have of each size."""

BAR, GAP = 20, 6
LEFT, RIGHT, TOP, BOTTOM = 56, 660, 44, 250
TIMES = ("before", "after")
_SHARES = (0, 20, 40, 60, 80, 100)


def size_chart(tables: Tables) -> Html:
    """Rows by the size of their class, one bar for each table in each range of sizes.

    Examples
    --------
    >>> "classes of 1: 1 row before, 33.3 %" in size_chart([("before", ((1, 1), (2, 1)))])
    True
    """
    merged: dict[int, int] = {}
    for size, classes in (pair for _, histogram in tables for pair in histogram):
        merged[size] = merged.get(size, 0) + classes
    parts, said, top = [], [], 0.0
    for bucket in buckets(tuple(sorted(merged.items()))):
        parts.append(_words(bucket.label, LABEL - 10, top + BAR * len(tables) / 2 + 4, "label"))
        for place, (name, histogram) in enumerate(tables):
            rows = sum(size * classes for size, classes in histogram if bucket.low <= size <= bucket.high)
            bar, told = _bar(name, rows, rows / max(1, _rows(histogram)), top + BAR * place + 2)
            parts.append(bar)
            said.append(f"classes of {bucket.label}: {told}")
        top += BAR * len(tables) + GAP
    parts.append(rect(LABEL - 1, 0, 1, top, "axis"))
    return picture("Rows by the size of their class. " + "; ".join(said), join(parts), WIDTH, max(top, 1.0))


def _bar(name: str, rows: int, share: float, y: float) -> tuple[Html, str]:
    """A bar with what is said beside it."""
    width = (WIDTH - LABEL - NOTE) * share
    told = f"{counted(rows, 'row')}{f' {name}' if name in TIMES else ''}, {percent(share)}"
    bar = rect(LABEL, y, max(width, 1.0 if rows else 0.0), 16, f"bar-{_kind(name)}")
    return join([bar, _words(told, LABEL + width + 8, y + 12)]), told


def risk_curve(tables: Tables) -> Html:
    """The share of rows whose risk 1 / f is at least as high as each risk, from high risks to low ones.

    Examples
    --------
    >>> "before: 33.3 % at least 100 %" in risk_curve([("before", ((1, 1), (2, 1)))])
    True
    """
    largest = max(2, *(size for _, histogram in tables for size, _ in histogram[-1:]), 2)
    parts = [*_key(tables), *_rules(largest)]
    for name, histogram in tables:
        points = "L".join(f"{x:.1f} {y:.1f}" for x, y in _steps(histogram, largest))
        parts.append(element("path", d=f"M{points}", class_=f"line line-{_kind(name)}"))
    said = "; ".join(f"{name}: {_told(histogram)}" for name, histogram in tables)
    words = f"Share of rows with at least a given risk. {said}"
    return picture(words, join(parts), WIDTH, BOTTOM + 48)


def _across(size: float, largest: int) -> float:
    """Where the risk 1 / size lies: certain at the left, small risks to the right."""
    return LEFT + (RIGHT - LEFT) * math.log(size) / math.log(largest)


def _up(share: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * share


def _key(tables: Tables) -> Iterator[Html]:
    x = float(LEFT)
    for name, _ in tables:
        yield element("path", d=f"M{x:.1f} 8L{x + 20:.1f} 8", class_=f"line line-{_kind(name)}")
        yield _words(name, x + 26, 12)
        x += 60 + 8 * len(name)


def _rules(largest: int) -> Iterator[Html]:
    """The two axes: shares of the rows at the left, risks along the bottom."""
    yield _words("share of the rows", 0, TOP - 14)
    for share in _SHARES:
        y = _up(share / 100)
        yield element("path", d=f"M{LEFT} {y:.1f}L{RIGHT} {y:.1f}", class_="rule")
        yield _words(f"{share} %", LEFT - 8, y + 4, "label")
    last = -math.inf
    for size in _round_sizes(largest):
        x, said = _across(size, largest), f"{100 / size:g} %"
        if x - last >= 48:
            yield element("path", d=f"M{x:.1f} {BOTTOM}L{x:.1f} {BOTTOM + 4}", class_="rule")
            yield _words(said, x, BOTTOM + 18, "middle")
            last = x
    yield _words("risk of being re-identified, at least", (LEFT + RIGHT) / 2, BOTTOM + 40, "middle")


def _round_sizes(largest: int) -> Iterator[int]:
    for power in range(len(str(largest))):
        yield from (step * 10**power for step in (1, 2, 5) if step * 10**power <= largest)


def _steps(histogram: Histogram, largest: int) -> Iterator[tuple[float, float]]:
    """From the highest risk to the lowest; the share rises where a class size is reached."""
    rows, total = 0, max(1, _rows(histogram))
    yield _across(1, largest), _up(0.0)
    for size, classes in histogram:
        yield _across(size, largest), _up(rows / total)
        rows += size * classes
        yield _across(size, largest), _up(rows / total)
    yield _across(largest, largest), _up(rows / total)


def _told(histogram: Histogram) -> str:
    total = max(1, _rows(histogram))
    shares = {k: _rows([pair for pair in histogram if pair[0] <= k]) / total for k in (1, 2, 5, 10, 20)}
    return ", ".join(f"{percent(share)} at least {percent(1 / k)}" for k, share in shares.items())


def _rows(histogram: Histogram) -> int:
    return sum(size * classes for size, classes in histogram)


def _kind(name: str) -> str:
    return name if name in TIMES else "size"


def _words(said: str, x: float, y: float, kind: str = "note") -> Html:
    return element("text", text(said), x=round(x, 1), y=round(y, 1), class_=kind)
