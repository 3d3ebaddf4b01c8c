"""A comparison as pages: HTML with charts, and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from incrowd.compare.charts.accuracy_by_k import accuracy_by_k
from incrowd.compare.charts.pareto import pareto
from incrowd.compare.comparison import Comparison
from incrowd.compare.recommend import name_of
from incrowd.compare.tables import (
    Score,
    ScoreTable,
    how_measured,
    release_header,
    release_rows,
    score_tables,
    troubles,
)
from incrowd.report.html import page
from incrowd.report.markup import Html, bullets, element, join, paragraph, table, text
from incrowd.report.wording import counted, plain


def comparison_html(comparison: Comparison) -> str:
    """The recommendation, the charts, the tables, and how it was measured."""
    title = f"What classifiers learn from releases of {comparison.name}"
    return page(title, element("div", *_sections(comparison, title), class_="incrowd-report"), _style())


def _sections(comparison: Comparison, title: str) -> Iterator[Html]:
    yield element("header", element("h1", text(title)), paragraph(_about(comparison), class_="about"))
    yield _advice(comparison)
    for scores in score_tables(comparison.summary):
        yield _learner(comparison, scores)
    yield element(
        "section",
        element("h2", text("What the releases are like")),
        paragraph("Means over the splits. Risk and groups are counted on the released rows.", class_="aside"),
        table("Releases", list(map(text, release_header())), _texts(release_rows(comparison.summary)), class_="scores"),
    )
    found = troubles(comparison.summary)
    if found:
        yield _list("What could not be done", found)
    yield _measured(comparison)
    if comparison.notices:
        yield _list("Notices", [str(notice) for notice in comparison.notices])


def _about(comparison: Comparison) -> str:
    methods, learners = len(comparison.summary.methods), len(comparison.summary.learners)
    return (
        f"{counted(comparison.rows, 'row')}, {counted(len(comparison.quasi_identifiers), 'quasi-identifier')}; "
        f"{counted(methods, 'method')} and {counted(learners, 'learner')} compared. "
        "Methods release rows; learners see only the release and are tested on rows they never saw."
    )


def _advice(comparison: Comparison) -> Html:
    advice = comparison.recommendation
    overall = [paragraph(advice.overall, class_="standing good")] if advice.overall else []
    return element("section", *overall, bullets(text(str(one)) for one in advice.advice))


def _learner(comparison: Comparison, scores: ScoreTable) -> Html:
    learner, name = scores.learner, name_of(scores.learner)
    by_risk = pareto(comparison.summary, learner)
    charts = [_figure("Accuracy against k, with 95 % intervals", accuracy_by_k(comparison.summary, learner))]
    if by_risk is not None:
        charts.append(_figure("Accuracy against risk: higher and further left is better", by_risk))
    return element("section", element("h2", text(name[0].upper() + name[1:])), *charts, _scores(scores))


def _figure(caption: str, chart: Html) -> Html:
    return element("figure", element("figcaption", text(caption)), chart)


def _scores(scores: ScoreTable) -> Html:
    header = [text(""), *(text(f"k={k:,}") for k in scores.ks)]
    rows = [(text(method), *(_score(score) for score in found)) for method, found in scores.rows]
    return table(scores.title, header, rows, class_="scores")


def _score(score: Score) -> Html:
    kind = "best" if score.best else "value"
    spread = [element("span", text(score.spread), class_="spread")] if score.spread else []
    return join([element("span", text(score.accuracy), class_=kind), *spread], " ")


def _measured(comparison: Comparison) -> Html:
    pairs = (
        element("div", element("dt", text(term)), element("dd", text(said)))
        for term, said in how_measured(comparison).items()
    )
    return element("section", element("h2", text("How it was measured")), element("dl", *pairs))


def _list(title: str, entries: list[str]) -> Html:
    return element("section", element("h2", text(title)), bullets(map(text, entries)))


def _texts(rows: list[tuple[str, ...]]) -> list[list[Html]]:
    return [[text(cell) for cell in row] for row in rows]


@cache
def _style() -> Html:
    return Html(files("incrowd.compare").joinpath("style.css").read_text(encoding="utf-8"))


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
    yield "\nThese are the best of what was measured here; `index.html` has the charts. Accuracy is in per cent."
    for scores in score_tables(summary):
        yield from _score_lines(scores)
    yield "\n## What the releases are like\n"
    yield from _markdown_table(release_header(), release_rows(summary))
    found = troubles(summary)
    if found:
        yield "\n## What could not be done\n"
        yield from (f"- {_safe(trouble)}" for trouble in found)
    yield "\n## How it was measured\n"
    yield from (f"- {term}: {_safe(said)}" for term, said in how_measured(comparison).items())
    if comparison.notices:
        yield "\n## Notices\n"
        yield from (f"- {_safe(str(notice))}" for notice in comparison.notices)
    yield ""


def _score_lines(scores: ScoreTable) -> Iterator[str]:
    yield f"\n## {scores.title}\n"
    rows = [
        (method, *(f"**{score.accuracy}** {score.spread}" if score.best else str(score) for score in own))
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
    said = plain(words)
    for letter in "\\`*_[]<>#":
        said = said.replace(letter, f"\\{letter}")
    return said
