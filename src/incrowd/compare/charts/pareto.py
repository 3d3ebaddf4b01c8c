"""Accuracy against risk: which releases are beaten by none that is both safer and more useful."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from incrowd.compare.charts.drawing import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    ChartBox,
    LegendEntry,
    Point,
    Scale,
    axes,
    even_scale,
    legend,
    log_scale,
    marker,
    path,
    picture,
    place_labels,
    powers,
    words,
)
from incrowd.compare.summary import Summary, SummaryCell
from incrowd.report.markup import Html, element, text

_SIZE = 6


@dataclass(frozen=True)
class ParetoPoint:
    """A method at one k: its risk (mean over rows of one over the group size) and accuracy."""

    method: str
    k: int
    risk: float
    accuracy: float

    def beats(self, other: ParetoPoint) -> bool:
        """Whether it is no worse in both, and better in one."""
        no_worse = self.risk <= other.risk and self.accuracy >= other.accuracy
        return no_worse and (self.risk, self.accuracy) != (other.risk, other.accuracy)


def releases_of(summary: Summary, learner: str) -> list[ParetoPoint]:
    """All releases whose risk was measured."""
    cells = [summary.find(method, k, learner) for method in summary.methods for k in summary.ks]
    return [found for cell in cells if cell is not None and (found := _release(cell)) is not None]


def _release(cell: SummaryCell) -> ParetoPoint | None:
    risk = cell.mean("average_risk") if cell.is_known else None
    return ParetoPoint(cell.method, cell.k, risk, cell.accuracy) if risk else None


def frontier(releases: Sequence[ParetoPoint]) -> list[ParetoPoint]:
    """The releases that no other beats, the safest first.

    Examples
    --------
    >>> found = [ParetoPoint("a", 5, 0.2, 0.8), ParetoPoint("b", 5, 0.2, 0.7), ParetoPoint("a", 20, 0.05, 0.75)]
    >>> [(one.method, one.k) for one in frontier(found)]
    [('a', 20), ('a', 5)]
    """
    best = [one for one in releases if not any(other.beats(one) for other in releases)]
    return sorted(best, key=lambda one: (one.risk, one.accuracy))


def pareto(summary: Summary, learner: str) -> Html | None:
    """Accuracy of a learner against the average risk; nothing if no risk was measured."""
    releases = releases_of(summary, learner)
    if not releases:
        return None
    standard = summary.unprotected(learner)
    entries = [LegendEntry(name, marker(summary.methods.index(name), (10, 0))) for name in _names(releases)]
    entries.append(LegendEntry("beaten by none", path([(0, 0), (20, 0)], "line frontier")))
    levels = [] if standard is None else [100 * standard.accuracy]
    if standard is not None:
        entries.insert(0, LegendEntry("unprotected", path([(0, 0), (20, 0)], "line unprotected")))
    drawn, used = legend(entries)
    top, bottom = used + 22, used + 22 + HEIGHT - BOTTOM
    up = even_scale([*levels, *(100 * one.accuracy for one in releases)], bottom, top)
    across = log_scale([one.risk for one in releases], LEFT, WIDTH - RIGHT, 0.08)
    best = frontier(releases)
    parts = [drawn, words("% right", (0, top - 14)), *axes(powers(across), up, "average risk", _percent)]
    parts += [path([(LEFT, up(level)), (WIDTH - RIGHT, up(level))], "line unprotected") for level in levels]
    parts += [path(list(_steps(best, across, up)), "line frontier")]
    parts += [_point(summary, one, across, up) for one in releases]
    lines = [*_steps(best, across, up)]
    taken = [*_along(lines), *(ChartBox(LEFT, up(level) - 2, WIDTH - RIGHT, up(level) + 2) for level in levels)]
    parts += list(_labels([*best, *(one for one in releases if one not in best)], taken, across, up))
    return picture(_said(learner, best), parts, bottom + BOTTOM)


def _names(releases: Sequence[ParetoPoint]) -> list[str]:
    return list(dict.fromkeys(one.method for one in releases))


def _steps(best: Sequence[ParetoPoint], across: Scale, up: Scale) -> Iterator[Point]:
    """From release to release, along what can be had for sure."""
    for place, one in enumerate(best):
        if place:
            yield across(one.risk), up(100 * best[place - 1].accuracy)
        yield across(one.risk), up(100 * one.accuracy)


def _point(summary: Summary, one: ParetoPoint, across: Scale, up: Scale) -> Html:
    told = f"{one.method}, k={one.k}: {100 * one.accuracy:.1f} % right, average risk {_percent(one.risk)}"
    mark = marker(summary.methods.index(one.method), (across(one.risk), up(100 * one.accuracy)))
    return element("g", element("title", text(told)), mark)


def _labels(releases: Sequence[ParetoPoint], lines: Sequence[ChartBox], across: Scale, up: Scale) -> Iterator[Html]:
    """k beside the points, in their order, as far as there is room."""
    places = [(across(one.risk), up(100 * one.accuracy)) for one in releases]
    taken = [*lines, *(ChartBox(x - _SIZE, y - _SIZE, x + _SIZE, y + _SIZE) for x, y in places)]
    labels = [(f"k={one.k}", place) for one, place in zip(releases, places, strict=True)]
    for said, at in place_labels(labels, taken, ChartBox(LEFT, up.end - 8, WIDTH, up.start)):
        yield words(said, at)


def _along(points: Sequence[Point]) -> Iterator[ChartBox]:
    """The room that upright and level lines through the points take."""
    for (x, y), (right, down) in pairwise(points):
        yield ChartBox(min(x, right) - 1, min(y, down) - 1, max(x, right) + 1, max(y, down) + 1)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _said(learner: str, best: Sequence[ParetoPoint]) -> str:
    told = "; ".join(
        f"{one.method} at k={one.k}: {100 * one.accuracy:.1f} % right at a risk of {_percent(one.risk)}" for one in best
    )
    return f"Accuracy of {learner} against average risk. Beaten by no other release: {told}"
