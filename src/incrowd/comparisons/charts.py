"""The charts of a comparison: a measure against k, and against what releases tell an attacker.

As SVG, or on axes of Matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from incrowd.comparisons.choices import learner_names
from incrowd.comparisons.recommend import name_of
from incrowd.comparisons.scores import Measure
from incrowd.comparisons.summary import Summary, SummaryCell
from incrowd.drawing.markup import Html, element, text
from incrowd.drawing.svg import (
    LEFT,
    RIGHT,
    WIDTH,
    ChartBox,
    Drawing,
    LegendEntry,
    Point,
    Scale,
    chart,
    colour,
    even_scale,
    ink,
    level,
    line_entry,
    log_scale,
    marker,
    path,
    place_labels,
    plot,
    powers,
    series_entry,
    series_style,
    words,
)
from incrowd.errors import ParameterError

ASIDE, ALL_ASIDE = 8.0, 56.0
"""How far the points of two methods, and of all, at the same k stand beside each other, at most."""
_MARK = 6  # half the room of a mark


# A measure against k: a line for each method, beside what the table itself and the baseline are worth.
def measure_by_k(summary: Summary, learner: str) -> Html:
    """What a learner reaches by the measure, for each method and k, with intervals."""
    lines = {method: cells for method in summary.methods if (cells := _cells(summary, method, learner))}
    measure = summary.measure
    standards = {"unprotected": summary.unprotected(learner), measure.baseline_label: summary.majority}
    levels = {label: cell for label, cell in standards.items() if cell is not None}
    kinds = {"unprotected": "unprotected", measure.baseline_label: "majority"}
    everything = [*(cell for cells in lines.values() for cell in cells), *levels.values()]
    ends = [measure.scale * end for cell in everything for end in _ends(cell)]
    across = log_scale([float(k) for k in summary.ks], LEFT, WIDTH - RIGHT)
    up, parts = plot(
        [
            *(line_entry(label, kinds[label]) for label in levels),
            *(series_entry(method, summary.methods.index(method)) for method in lines),
        ],
        across,
        partial(even_scale, ends),
        ("k", measure.axis),
        "{:,.0f}".format,
    )
    parts += [level(up, measure.scale * cell.value, kinds[label]) for label, cell in levels.items()]
    step = min(ASIDE, ALL_ASIDE / max(1, len(lines)))
    for place, (method, cells) in enumerate(lines.items()):
        aside = step * (place - (len(lines) - 1) / 2)
        parts += _line(summary.methods.index(method), cells, across, up, aside)
    return chart(_measure_in_words(measure, learner, lines, levels), parts, up)


def _ends(cell: SummaryCell) -> tuple[float, ...]:
    """The value and the ends of its interval."""
    interval = cell.interval
    return (cell.value,) if interval is None else (interval.low, interval.high, cell.value)


def _cells(summary: Summary, method: str, learner: str) -> list[SummaryCell]:
    cells = [summary.find(method, k, learner) for k in summary.ks]
    return [cell for cell in cells if cell is not None and cell.is_known]


def _line(series: int, cells: Sequence[SummaryCell], across: Scale, up: Scale, aside: float) -> Iterator[Html]:
    scale = cells[0].measure.scale
    points: list[Point] = [(across(cell.k) + aside, up(scale * cell.value)) for cell in cells]
    yield path(points, f"line {colour(series)}")
    for cell, point in zip(cells, points, strict=True):
        ends = [(point[0], up(scale * end)) for end in _ends(cell)[:2]]
        whisker = path(ends, f"whisker {colour(series)}") if len(ends) > 1 else Html("")
        yield element("g", element("title", text(_cell_in_words(cell))), whisker, marker(series, point))


def _cell_in_words(cell: SummaryCell) -> str:
    ends = [cell.measure.number(end) for end in _ends(cell)[:-1]]
    around = f" ({' to '.join(ends)})" if ends else ""
    return f"{cell.method}, k={cell.k}: {cell.measure.shown(cell.value)}{around}"


def _measure_in_words(
    measure: Measure, learner: str, lines: dict[str, list[SummaryCell]], levels: dict[str, SummaryCell]
) -> str:
    fixed = [f"{label} {measure.shown(cell.value)}" for label, cell in levels.items()]
    of_methods = [
        f"{method} " + ", ".join(f"k={cell.k}: {measure.shown(cell.value)}" for cell in cells)
        for method, cells in lines.items()
    ]
    return f"{_capital(measure.words)} of {learner} by k. " + "; ".join([*fixed, *of_methods])


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


# A measure against its price: a point for each release, and a line through those that no other beats.
@dataclass(frozen=True)
class Price:
    """What a release tells an attacker: a column of the results, and how it is called."""

    column: str
    title: str
    axis: str
    words: str
    logarithmic: bool = False

    def scale(self, numbers: Sequence[float]) -> Scale:
        """The scale along the bottom."""
        if self.logarithmic:
            return powers(log_scale(numbers, LEFT, WIDTH - RIGHT, 0.08))
        return even_scale(numbers, LEFT, WIDTH - RIGHT)


PRICES = {
    "risk": Price("average_risk", "re-identification risk", "average re-identification risk", "average risk", True),
    "purity": Price("purity", "purity of groups", "rows with the most frequent class of their group", "purity"),
    "inference": Price(
        "class_advantage", "measured inference of the class", "class advantage: members minus strangers", "advantage"
    ),
}


@dataclass(frozen=True)
class ParetoPoint:
    """A method at one k: its price, by default the mean over rows of one over the group size, and what is reached."""

    method: str
    k: int
    risk: float
    value: float
    sign: int = 1

    def beats(self, other: ParetoPoint) -> bool:
        """Whether it is no worse in both, and better in one."""
        no_worse = self.risk <= other.risk and self.sign * (self.value - other.value) >= 0
        return no_worse and (self.risk, self.value) != (other.risk, other.value)


def releases_of(summary: Summary, learner: str, against: str = "risk") -> list[ParetoPoint]:
    """All releases whose price was measured."""
    cells = [summary.find(method, k, learner) for method in summary.methods for k in summary.ks]
    return [point for cell in cells if cell is not None and (point := _release(cell, PRICES[against])) is not None]


def _release(cell: SummaryCell, price: Price) -> ParetoPoint | None:
    risk = cell.mean(price.column) if cell.is_known else None
    if risk is None or (price.logarithmic and not risk):
        return None
    return ParetoPoint(cell.method, cell.k, risk, cell.value, cell.measure.sign)


def frontier(releases: Sequence[ParetoPoint]) -> list[ParetoPoint]:
    """The releases that no other beats, the safest first."""
    best = [one for one in releases if not any(other.beats(one) for other in releases)]
    return sorted(best, key=lambda one: (one.risk, one.sign * one.value))


def pareto(summary: Summary, learner: str, against: str = "risk") -> Html | None:
    """What a learner reaches against a price; nothing if it was not measured."""
    releases, price = releases_of(summary, learner, against), PRICES[against]
    if not releases:
        return None
    measure, standard = summary.measure, summary.unprotected(learner)
    levels = [] if standard is None else [measure.scale * standard.value]
    names = dict.fromkeys(one.method for one in releases)
    across = price.scale([one.risk for one in releases])
    up, parts = plot(
        [
            *(line_entry("unprotected", "unprotected") for _ in levels),
            *(LegendEntry(name, marker(summary.methods.index(name), (10, 0))) for name in names),
            line_entry("not beaten by any other release", "frontier"),
        ],
        across,
        partial(even_scale, [*levels, *(measure.scale * one.value for one in releases)]),
        (price.axis, measure.axis),
        _percent,
    )
    best = frontier(releases)
    raised = partial(_raised, measure, up)
    steps = list(_steps(best, across, raised))
    parts += [level(up, value, "unprotected") for value in levels]
    parts += [path(steps, "line frontier"), *(_point(summary, one, across, raised, price) for one in releases)]
    taken = [*_along(steps), *(ChartBox(LEFT, up(value) - 2, WIDTH - RIGHT, up(value) + 2) for value in levels)]
    parts += _labels([*best, *(one for one in releases if one not in best)], taken, across, up, measure)
    return chart(_frontier_in_words(measure, learner, best, price), parts, up)


def _raised(measure: Measure, up: Scale, one: ParetoPoint) -> float:
    """How high a point stands."""
    return up(measure.scale * one.value)


def _steps(best: Sequence[ParetoPoint], across: Scale, raised: Callable[[ParetoPoint], float]) -> Iterator[Point]:
    """From release to release, along what can be had for sure."""
    for place, one in enumerate(best):
        if place:
            yield across(one.risk), raised(best[place - 1])
        yield across(one.risk), raised(one)


def _point(
    summary: Summary, one: ParetoPoint, across: Scale, raised: Callable[[ParetoPoint], float], price: Price
) -> Html:
    measure = summary.measure
    reached = f"{measure.words} {measure.shown(one.value)}"
    tip = f"{one.method}, k={one.k}: {reached}, {price.words} {_percent(one.risk)}"
    return marker(summary.methods.index(one.method), (across(one.risk), raised(one)), tip=tip)


def _labels(
    releases: Sequence[ParetoPoint], lines: Sequence[ChartBox], across: Scale, up: Scale, measure: Measure
) -> Iterator[Html]:
    """k beside the points, in their order, as far as there is room; points at one place share a label."""
    ks: dict[Point, list[int]] = {}
    for one in releases:
        ks.setdefault((round(across(one.risk), 1), round(_raised(measure, up, one), 1)), []).append(one.k)
    taken = [*lines, *(ChartBox(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in ks)]
    labels = [("k=" + ", ".join(map(str, sorted(set(own)))), place) for place, own in ks.items()]
    for label, at in place_labels(labels, taken, ChartBox(LEFT, up.end - 8, WIDTH, up.start)):
        yield words(label, at)


def _along(points: Sequence[Point]) -> Iterator[ChartBox]:
    """The room that upright and level lines through the points take."""
    for (x, y), (right, down) in pairwise(points):
        yield ChartBox(min(x, right) - 1, min(y, down) - 1, max(x, right) + 1, max(y, down) + 1)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _frontier_in_words(measure: Measure, learner: str, best: Sequence[ParetoPoint], price: Price) -> str:
    points = "; ".join(
        f"{one.method} at k={one.k}: {measure.shown(one.value)} with {price.words} {_percent(one.risk)}" for one in best
    )
    return f"{_capital(measure.words)} of {learner} against {price.words}. Not beaten by any other release: {points}"


# The charts as drawings, with how they are drawn on axes of Matplotlib.
AGAINST = ("k", *PRICES)


def comparison_drawing(summary: Summary, learner: Any, against: str) -> Drawing:
    """A chart of one learner, named or passed as for the comparison; of the first, if none is."""
    if not summary.learners:
        raise ParameterError("Nothing was learned from a table, so there is nothing to draw.")
    chosen = summary.learners[0] if learner is None else learner
    if chosen not in summary.learners:
        chosen = learner_names([learner])[0]
    if chosen not in summary.learners:
        raise ParameterError(f"{chosen!r} was not compared. Learners: {', '.join(summary.learners)}.")
    if against not in AGAINST:
        raise ParameterError(f"against must be one of {', '.join(AGAINST)}.")
    title = f"{chart_title(summary.measure, against)}: {name_of(chosen)}"
    if against == "k":
        return Drawing(title, measure_by_k(summary, chosen), partial(_draw_by_k, summary, chosen))
    drawn = pareto(summary, chosen, against)
    if drawn is None:
        raise ParameterError(f"No {against} was measured, so there is nothing to draw against it.")
    return Drawing(title, drawn, partial(_draw_by_price, summary, chosen, against))


def chart_title(measure: Measure, against: str) -> str:
    """What a chart shows."""
    if against == "k":
        return f"{_capital(measure.words)} against k, with 95 % intervals"
    better = "higher" if measure.sign > 0 else "lower"
    return f"{_capital(measure.words)} against {PRICES[against].title}: {better} and further left is better"


def _draw_by_k(summary: Summary, learner: str, axes: Any) -> None:
    measure = summary.measure
    for method in summary.methods:
        cells = _cells(summary, method, learner)
        if not cells:
            continue
        values = [measure.scale * cell.value for cell in cells]
        ends = [[measure.scale * end for end in (_ends(cell) * 2)[:2]] for cell in cells]
        spread = [[max(0.0, value - low) for value, (low, _) in zip(values, ends, strict=True)]]
        spread.append([max(0.0, high - value) for value, (_, high) in zip(values, ends, strict=True)])
        style = series_style(summary.methods.index(method))
        axes.errorbar([cell.k for cell in cells], values, yerr=spread, label=method, capsize=2, **style)
    _draw_levels(summary, learner, axes, baseline=True)
    axes.set_xscale("log")
    axes.set_xticks(list(summary.ks), [f"{k:,}" for k in summary.ks])
    axes.set_xlabel("k")
    axes.set_ylabel(measure.axis)
    axes.legend()


def _draw_by_price(summary: Summary, learner: str, against: str, axes: Any) -> None:
    releases, scale, price = releases_of(summary, learner, against), summary.measure.scale, PRICES[against]
    for method in dict.fromkeys(one.method for one in releases):
        own = [one for one in releases if one.method == method]
        places = [one.risk for one in own], [scale * one.value for one in own]
        axes.plot(*places, linestyle="", label=method, **series_style(summary.methods.index(method)))
    for one in releases:
        axes.annotate(f"k={one.k}", (one.risk, scale * one.value), xytext=(6, 3), textcoords="offset points")
    best = frontier(releases)
    line = {"color": ink("soft"), "where": "post", "label": "not beaten by any other release"}
    axes.step([one.risk for one in best], [scale * one.value for one in best], **line)
    _draw_levels(summary, learner, axes, baseline=False)
    if price.logarithmic:
        axes.set_xscale("log")
    axes.set_xlabel(price.axis)
    axes.set_ylabel(summary.measure.axis)
    axes.legend()


def _draw_levels(summary: Summary, learner: str, axes: Any, *, baseline: bool) -> None:
    measure, own, majority = summary.measure, summary.unprotected(learner), summary.majority
    if own is not None:
        axes.axhline(measure.scale * own.value, label="unprotected", color=ink("ink"), linestyle="--")
    if baseline and majority is not None:
        axes.axhline(measure.scale * majority.value, label=measure.baseline_label, color=ink("soft"), linestyle=":")
