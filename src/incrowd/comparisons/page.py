"""A comparison as pages: HTML with charts, and Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from incrowd.comparisons.comparison import Comparison
from incrowd.comparisons.recommend import name_of
from incrowd.comparisons.scores import Measure
from incrowd.comparisons.summary import Summary, SummaryCell
from incrowd.comparisons.tables import (
    RELEASE_HEADER,
    Score,
    ScoreTable,
    how_measured,
    release_rows,
    score_tables,
    troubles,
)
from incrowd.drawing.markup import Html, element, join, text, texts
from incrowd.drawing.page import bullets, figure, head, page, pairs, paragraph, section, standing, table
from incrowd.drawing.svg import (
    LEFT,
    RIGHT,
    WIDTH,
    ChartBox,
    LegendEntry,
    Point,
    Scale,
    chart,
    colour,
    even_scale,
    level,
    line_entry,
    log_scale,
    marker,
    path,
    place_labels,
    plot,
    powers,
    series_entry,
    words,
)
from incrowd.drawing.wording import Tone, counted, plain, unbroken
from incrowd.report.wording import grouped

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


# A measure against risk: a point for each release, and a line through those that no other beats.
@dataclass(frozen=True)
class ParetoPoint:
    """A method at one k: its risk (mean over rows of one over the group size) and what a learner reaches."""

    method: str
    k: int
    risk: float
    value: float
    sign: int = 1

    def beats(self, other: ParetoPoint) -> bool:
        """Whether it is no worse in both, and better in one."""
        no_worse = self.risk <= other.risk and self.sign * (self.value - other.value) >= 0
        return no_worse and (self.risk, self.value) != (other.risk, other.value)


def releases_of(summary: Summary, learner: str) -> list[ParetoPoint]:
    """All releases whose risk was measured."""
    cells = [summary.find(method, k, learner) for method in summary.methods for k in summary.ks]
    return [point for cell in cells if cell is not None and (point := _release(cell)) is not None]


def _release(cell: SummaryCell) -> ParetoPoint | None:
    risk = cell.mean("average_risk") if cell.is_known else None
    return ParetoPoint(cell.method, cell.k, risk, cell.value, cell.measure.sign) if risk else None


def frontier(releases: Sequence[ParetoPoint]) -> list[ParetoPoint]:
    """The releases that no other beats, the safest first."""
    best = [one for one in releases if not any(other.beats(one) for other in releases)]
    return sorted(best, key=lambda one: (one.risk, one.sign * one.value))


def pareto(summary: Summary, learner: str) -> Html | None:
    """What a learner reaches against the average risk; nothing if no risk was measured."""
    releases = releases_of(summary, learner)
    if not releases:
        return None
    measure, standard = summary.measure, summary.unprotected(learner)
    levels = [] if standard is None else [measure.scale * standard.value]
    names = dict.fromkeys(one.method for one in releases)
    across = powers(log_scale([one.risk for one in releases], LEFT, WIDTH - RIGHT, 0.08))
    up, parts = plot(
        [
            *(line_entry("unprotected", "unprotected") for _ in levels),
            *(LegendEntry(name, marker(summary.methods.index(name), (10, 0))) for name in names),
            line_entry("not beaten by any other release", "frontier"),
        ],
        across,
        partial(even_scale, [*levels, *(measure.scale * one.value for one in releases)]),
        ("average re-identification risk", measure.axis),
        _percent,
    )
    best = frontier(releases)
    raised = partial(_raised, measure, up)
    steps = list(_steps(best, across, raised))
    parts += [level(up, value, "unprotected") for value in levels]
    parts += [path(steps, "line frontier"), *(_point(summary, one, across, raised) for one in releases)]
    taken = [*_along(steps), *(ChartBox(LEFT, up(value) - 2, WIDTH - RIGHT, up(value) + 2) for value in levels)]
    parts += _labels([*best, *(one for one in releases if one not in best)], taken, across, up, measure)
    return chart(_frontier_in_words(measure, learner, best), parts, up)


def _raised(measure: Measure, up: Scale, one: ParetoPoint) -> float:
    """How high a point stands."""
    return up(measure.scale * one.value)


def _steps(best: Sequence[ParetoPoint], across: Scale, raised: Callable[[ParetoPoint], float]) -> Iterator[Point]:
    """From release to release, along what can be had for sure."""
    for place, one in enumerate(best):
        if place:
            yield across(one.risk), raised(best[place - 1])
        yield across(one.risk), raised(one)


def _point(summary: Summary, one: ParetoPoint, across: Scale, raised: Callable[[ParetoPoint], float]) -> Html:
    measure = summary.measure
    reached = f"{measure.words} {measure.shown(one.value)}"
    tip = f"{one.method}, k={one.k}: {reached}, average risk {_percent(one.risk)}"
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


def _frontier_in_words(measure: Measure, learner: str, best: Sequence[ParetoPoint]) -> str:
    points = "; ".join(
        f"{one.method} at k={one.k}: {measure.shown(one.value)} at a risk of {_percent(one.risk)}" for one in best
    )
    return f"{_capital(measure.words)} of {learner} against average risk. Not beaten by any other release: {points}"


def comparison_html(comparison: Comparison, whole: bool = True) -> str:
    """The recommendation, the charts, the tables, and how it was measured: a page, or a fragment for a notebook."""
    title = f"What classifiers learn from releases of {comparison.name}"
    return page(title, head(title, _about(comparison)), *_sections(comparison), whole=whole)


def _sections(comparison: Comparison) -> Iterator[Html]:
    advice, summary = comparison.recommendation, comparison.summary
    tone = Tone.GOOD if advice.method else Tone.POOR
    overall = [standing(unbroken(advice.overall), tone)] if advice.overall else []
    yield element("section", *overall, bullets(text(unbroken(str(one))) for one in advice.advice))
    for scores in score_tables(summary):
        yield _learner(comparison, scores)
    yield section(
        "What the releases are like",
        "releases",
        paragraph("Means over the splits. Risk and groups are counted on the released rows.", class_="aside"),
        table("Releases", texts(*RELEASE_HEADER), (texts(*row) for row in release_rows(summary)), numbers=range(1, 9)),
    )
    if problems := troubles(summary):
        yield section("What could not be done", "troubles", bullets(map(text, problems)))
    terms = {term: text(words) for term, words in how_measured(comparison).items()}
    yield section("How it was measured", "measured", pairs(terms))
    if comparison.notices:
        yield section("Notices", "notices", bullets(map(text, grouped(comparison.notices))))


def _about(comparison: Comparison) -> str:
    methods, learners = len(comparison.summary.methods), len(comparison.summary.learners)
    return (
        f"{counted(comparison.rows, 'row')}, {counted(len(comparison.quasi_identifiers), 'quasi-identifier')}; "
        f"{counted(methods, 'method')} and {counted(learners, 'learner')} compared. "
        "Methods release rows; learners see only the release and are tested on rows they never saw."
    )


def _learner(comparison: Comparison, scores: ScoreTable) -> Html:
    learner, name = scores.learner, name_of(scores.learner)
    by_risk = pareto(comparison.summary, learner)
    measure = comparison.measure
    words = _capital(measure.words)
    charts = [figure(f"{words} against k, with 95 % intervals", measure_by_k(comparison.summary, learner))]
    better = "higher" if measure.sign > 0 else "lower"
    if by_risk is not None:
        charts.append(figure(f"{words} against re-identification risk: {better} and further left is better", by_risk))
    return section(name[0].upper() + name[1:], "learner", *charts, _scores(scores))


def _scores(scores: ScoreTable) -> Html:
    header = texts("method", *(f"k={k:,}" for k in scores.ks))
    rows = [(text(method), *map(_score, own)) for method, own in scores.rows]
    return table(scores.title, header, rows, numbers=range(1, len(header)))


def _score(score: Score) -> Html:
    kind = "best" if score.best else "value"
    spread = [element("span", text(score.spread), class_="spread")] if score.spread else []
    return join([element("span", text(score.number), class_=kind), *spread], " ")


def comparison_markdown(comparison: Comparison) -> str:
    """The recommendation, the tables, and how it was measured."""
    return "\n".join(_markdown_lines(comparison))


def _markdown_lines(comparison: Comparison) -> Iterator[str]:
    summary = comparison.summary
    yield f"# What classifiers learn from releases of {_safe(comparison.name)}\n"
    if comparison.recommendation.overall:
        yield f"{_safe(comparison.recommendation.overall)}\n"
    for advice in comparison.recommendation.advice:
        yield f"- {_safe(str(advice))}"
    yield "\nThese are the best of what was measured here; `index.html` has the charts."
    for scores in score_tables(summary):
        yield from _score_lines(scores)
    yield "\n## What the releases are like\n"
    yield from _markdown_table(RELEASE_HEADER, release_rows(summary))
    if problems := troubles(summary):
        yield "\n## What could not be done\n"
        yield from (f"- {_safe(problem)}" for problem in problems)
    yield "\n## How it was measured\n"
    yield from (f"- {term}: {_safe(words)}" for term, words in how_measured(comparison).items())
    if comparison.notices:
        yield "\n## Notices\n"
        yield from (f"- {_safe(words)}" for words in grouped(comparison.notices))
    yield ""


def _score_lines(scores: ScoreTable) -> Iterator[str]:
    yield f"\n## {scores.title}\n"
    rows = [
        (method, *(f"**{score.number}** {score.spread}" if score.best else str(score) for score in own))
        for method, own in scores.rows
    ]
    yield from _markdown_table(("", *(f"k={k}" for k in scores.ks)), rows)


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|---|{'---:|' * (len(header) - 1)}"
    for row in rows:
        yield f"| {' | '.join(_markdown_cell(cell) for cell in row)} |"


def _markdown_cell(words: str) -> str:
    return plain(words).replace("|", "\\|")


def _safe(words: str) -> str:
    """Text in which names of columns cannot become markup."""
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", plain(words))
