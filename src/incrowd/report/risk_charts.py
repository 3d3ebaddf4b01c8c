"""Charts of risk: rows by the size of their class, and how many rows have at least a given risk."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from incrowd.report.charts import LABEL, NOTE, WIDTH, buckets, picture, rect
from incrowd.report.markup import Html, element, join, text
from incrowd.report.wording import counted, percent

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
