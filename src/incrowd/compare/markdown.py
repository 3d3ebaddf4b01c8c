"""A comparison as a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incrowd.compare.comparison import Comparison
from incrowd.compare.tables import (
    ScoreTable,
    how_measured,
    release_header,
    release_rows,
    score_tables,
    troubles,
)
from incrowd.report.wording import plain


def comparison_markdown(comparison: Comparison) -> str:
    """The recommendation, the tables, and how it was measured."""
    return "\n".join(_lines(comparison))


def _lines(comparison: Comparison) -> Iterator[str]:
    summary = comparison.summary
    yield f"# What classifiers learn from releases of {_safe(comparison.name)}\n"
    if comparison.recommendation.overall:
        yield f"{_safe(comparison.recommendation.overall)}\n"
    for advice in comparison.recommendation.advice:
        yield f"- {_safe(str(advice))}"
    yield "\nThese are the best of what was measured here; `index.html` has the charts. Accuracy is in per cent."
    for table in score_tables(summary):
        yield from _score_lines(table)
    yield "\n## What the releases are like\n"
    yield from _table(release_header(), release_rows(summary))
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


def _score_lines(table: ScoreTable) -> Iterator[str]:
    yield f"\n## {table.title}\n"
    rows = [
        (method, *(f"**{score.accuracy}** {score.spread}" if score.best else str(score) for score in scores))
        for method, scores in table.rows
    ]
    yield from _table(("", *(f"k={k}" for k in table.ks)), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|---|{'---:|' * (len(header) - 1)}"
    for row in rows:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"


def _cell(words: str) -> str:
    return plain(words).replace("|", "\\|")


def _safe(words: str) -> str:
    """Text in which names of columns cannot become markup."""
    said = plain(words)
    for letter in "\\`*_[]<>#":
        said = said.replace(letter, f"\\{letter}")
    return said
