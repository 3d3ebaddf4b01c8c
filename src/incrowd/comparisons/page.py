"""A comparison as pages: HTML with charts, and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from incrowd.comparisons.charts import chart_title, measure_by_k, pareto
from incrowd.comparisons.comparison import Comparison
from incrowd.comparisons.recommend import name_of
from incrowd.comparisons.tables import (
    RELEASE_HEADER,
    ROW_SPLIT_HEADER,
    ROW_SPLIT_TITLE,
    ROW_SPLIT_WORDS,
    Score,
    ScoreTable,
    how_measured,
    measured_by,
    release_rows,
    releases_words,
    row_split_rows,
    score_tables,
    troubles,
)
from incrowd.drawing.markup import Html, element, join, text, texts
from incrowd.drawing.page import bullets, figure, head, page, pairs, paragraph, section, standing, table
from incrowd.drawing.wording import Tone, counted, plain, unbroken
from incrowd.report.wording import grouped


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
    if wrong := row_split_rows(comparison):
        rows = (texts(*row) for row in wrong)
        shown = table(measured_by(comparison.measure), texts(*ROW_SPLIT_HEADER), rows, numbers=range(2, 5))
        yield section(ROW_SPLIT_TITLE, "by-rows", paragraph(ROW_SPLIT_WORDS, class_="aside"), shown)
    yield section(
        "What the releases are like",
        "releases",
        paragraph(releases_words(comparison), class_="aside"),
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
    persons = "" if comparison.persons is None else f" of {counted(comparison.persons, 'person')}"
    never = "rows" if comparison.persons is None else "persons"
    return (
        f"{counted(comparison.rows, 'row')}{persons}, "
        f"{counted(len(comparison.quasi_identifiers), 'quasi-identifier')}; "
        f"{counted(methods, 'method')} and {counted(learners, 'learner')} compared. "
        f"Methods release rows; learners see only the release and are tested on {never} they never saw."
    )


def _learner(comparison: Comparison, scores: ScoreTable) -> Html:
    learner, name = scores.learner, name_of(scores.learner)
    by_risk = pareto(comparison.summary, learner)
    measure = comparison.measure
    charts = [figure(chart_title(measure, "k"), measure_by_k(comparison.summary, learner))]
    if by_risk is not None:
        charts.append(figure(chart_title(measure, "risk"), by_risk))
    over = comparison.over_persons
    tables = [scores, *([] if over is None else [one for one in score_tables(over) if one.learner == learner])]
    return section(name[0].upper() + name[1:], "learner", *charts, *map(_scores, tables))


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
    for each in (summary, comparison.over_persons):
        for scores in score_tables(each) if each is not None else ():
            yield from _score_lines(scores)
    if wrong := row_split_rows(comparison):
        yield f"\n## {ROW_SPLIT_TITLE}\n\n{measured_by(comparison.measure)}. {ROW_SPLIT_WORDS}\n"
        yield from _markdown_table(ROW_SPLIT_HEADER, wrong)
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
