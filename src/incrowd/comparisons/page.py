"""A comparison as pages: HTML with charts, and Markdown.

The tables and sentences of a comparison, as plain text: the terminal, Markdown and HTML all say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incrowd.comparisons.charts import PRICES, chart_title, measure_by_k, pareto
from incrowd.comparisons.choices import KADET, UNPROTECTED
from incrowd.comparisons.comparison import Comparison
from incrowd.comparisons.persons import RESAMPLES
from incrowd.comparisons.recommend import name_of
from incrowd.comparisons.scores import ACCURACY, LEAST_SHARE, PERSON_ACCURACY, Measure
from incrowd.comparisons.summary import ENOUGH_FOLDS, Summary, SummaryCell
from incrowd.comparisons.trial import DONE
from incrowd.comparisons.workers import in_words
from incrowd.drawing.markup import Html, element, join, text, texts
from incrowd.drawing.page import bullets, figure, head, page, pairs, paragraph, section, standing, table
from incrowd.drawing.wording import Tone, counted, percent, plain, unbroken
from incrowd.report.wording import grouped


@dataclass(frozen=True)
class Score:
    """A cell of the table: a number, half its interval, and whether no other is better at this k."""

    number: str
    spread: str = ""
    best: bool = False

    def __str__(self) -> str:
        return f"{self.number} {self.spread}".strip()


@dataclass(frozen=True)
class ScoreTable:
    """What one learner reaches, by a measure: a row for each method, a column for each k."""

    measure: Measure
    learner: str
    ks: tuple[int, ...]
    rows: tuple[tuple[str, tuple[Score, ...]], ...]

    @property
    def title(self) -> str:
        """What the table shows."""
        return measured_by(self.measure, f" of {name_of(self.learner)}")


def measured_by(measure: Measure, whose: str = "") -> str:
    """A measure as a title says it."""
    better = "" if measure.sign > 0 else "; less is better"
    return f"{measure.words[0].upper()}{measure.words[1:]}{whose}{', in per cent' if measure.unit else better}"


def score_tables(summary: Summary) -> list[ScoreTable]:
    """A table for each learner."""
    return [_score_table(summary, learner) for learner in summary.learners]


def _score_table(summary: Summary, learner: str) -> ScoreTable:
    rows = [(method, tuple(_score(summary, method, k, learner) for k in summary.ks)) for method in summary.methods]
    standards = {"unprotected": summary.unprotected(learner), summary.measure.baseline_label: summary.majority}
    for name, cell in standards.items():
        if cell is not None:
            rows.append((name, (_of(cell),) * len(summary.ks)))
    return ScoreTable(summary.measure, learner, summary.ks, tuple(rows))


def _score(summary: Summary, method: str, k: int, learner: str) -> Score:
    cell = summary.find(method, k, learner)
    if cell is None or not cell.is_known:
        return Score("–")
    rivals = summary.rivals(learner, k)
    return _of(cell, best=bool(rivals) and cell.method == rivals[0].method)


def _of(cell: SummaryCell, best: bool = False) -> Score:
    half = cell.half_width
    return Score(cell.measure.number(cell.value), "" if half is None else f"±{cell.measure.number(half)}", best)


ROW_SPLIT_TITLE = "How wrong a split by rows is"
ROW_SPLIT_HEADER = ("learner", "learned from", "by persons", "by rows (wrong)", "too good by")


def row_split_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """How wrong a split by rows would be, learner by learner."""
    return [
        (
            name_of(error.by_rows.learner),
            error.by_rows.method
            if error.by_rows.method == UNPROTECTED
            else f"{error.by_rows.method}, k={error.by_rows.k}",
            str(_of(error.by_persons)),
            error.by_rows.measure.number(error.by_rows.value),
            f"{error.by_rows.measure.scale * error.too_good:+.{error.by_rows.measure.digits}f}",
        )
        for error in comparison.row_split_errors
    ]


ROW_SPLIT_WORDS = (
    "Split by rows, persons are learned from and tested on, and what a learner remembers of them looks like what it "
    "has learned. The figures by rows are wrong; they show how wrong."
)


RELEASE_HEADER = (
    "method",
    "k",
    "smallest group",
    "groups",
    "cells shown",
    "rows lost",
    "average risk",
    "rows in pure groups",
    "purity",
    "class advantage",
    "seconds",
)


ADVANTAGE = (
    "Purity: the share of the rows that have the most frequent class of their group. Class advantage: by how much the "
    "class of people of the release is guessed better from it than that of others, as a share of what could be; 0 if "
    "being in it makes no difference."
)


def releases_words(comparison: Comparison) -> str:
    """What the table of releases has to say of itself."""
    sizes = "" if comparison.persons is None else " A group is as large as it has persons."
    return f"Means over the splits. Risk and groups are counted on the released rows.{sizes} {ADVANTAGE}"


def release_rows(summary: Summary) -> list[tuple[str, ...]]:
    """What the releases are like, whatever is learned from them; means over the splits."""
    seen: dict[tuple[str, int], SummaryCell] = {}
    for cell in summary.cells:
        if cell.is_known and cell.method in (*summary.methods, "unprotected"):
            seen.setdefault((cell.method, cell.k), cell)
    return [_release_row(cell) for cell in seen.values()]


def _release_row(cell: SummaryCell) -> tuple[str, ...]:
    kept, lost = cell.mean("cells_kept"), _lost(cell)
    smallest = min((r.smallest_group for r in cell.results if r.smallest_group is not None), default=0)
    return (
        cell.method,
        f"{cell.k:,}",
        f"{smallest:,}",
        f"{cell.mean('groups') or 0:,.0f}",
        "–" if kept is None else f"{100 * kept:.0f} %",
        "–" if lost is None else f"{100 * lost:.1f} %",
        percent(cell.mean("average_risk") or 0.0),
        "–" if cell.method.startswith(KADET) else f"{100 * (cell.mean('pure_rows') or 0):.1f} %",
        "–" if (purity := cell.mean("purity")) is None else f"{100 * purity:.1f} %",
        "–" if (advantage := cell.mean("class_advantage")) is None else f"{advantage:.3f}",
        f"{cell.mean('release_seconds') or 0:.2f}",
    )


def _lost(cell: SummaryCell) -> float | None:
    released = cell.mean("released_rows")
    trained = cell.mean("train_rows")
    return None if released is None or not trained else 1 - released / trained


def troubles(summary: Summary) -> list[str]:
    """What could not be done, and why; each reason once."""
    by_status: dict[str, list[str]] = {}
    for cell in summary.cells:
        if cell.status != DONE:
            by_status.setdefault(cell.status, []).append(f"{cell.method} at k={cell.k} with {name_of(cell.learner)}")
    return [f"{_some(cases)}: {status}" for status, cases in by_status.items()]


def _some(cases: list[str]) -> str:
    return "; ".join(cases[:3]) + (f" and {len(cases) - 3} more" if len(cases) > 3 else "")


def how_measured(comparison: Comparison) -> dict[str, str]:
    """How it was measured, term by term."""
    setup = comparison.setup
    free = f"; released unchanged: {', '.join(comparison.free)}" if comparison.free else ""
    cut = {
        None: "",
        "train": "on the rows to learn from, after the release",
        "before": "on all rows, before the splits",
    }
    by_persons = comparison.persons is not None
    whose = f" of {counted(comparison.persons, 'person')}" if comparison.persons is not None else ""
    size, learned = ("persons", "persons to learn from") if by_persons else ("size", "rows to learn from")
    facts = {
        "table": f"{comparison.name}, {counted(comparison.rows, 'row')}{whose}",
        "class": comparison.target,
        "quasi-identifiers": ", ".join(comparison.quasi_identifiers) + free,
        "protocol": f"{comparison.splitting}; only {learned} are released; the same splits for all methods",
        "feeding": f"{setup.feeding} (suppressed and missing cells are missing; means and midpoints are numbers)",
        "test rows": "through the plan where a method generalizes, else as they are, numbers in the plan's public bins",
        "measure": _measure_words(comparison.measure),
        "baseline": f"{comparison.measure.baseline}, as the rows to learn from have it",
        "interval": _interval_words(comparison),
        "risk": f"mean over the released rows of one over the {size} of their group, counted on the released frame",
        "seed": str(setup.seed),
        "took": f"{in_words(comparison.seconds)}; seconds in tables are CPU seconds",
        "versions": ", ".join(f"{name} {number}" for name, number in comparison.versions.items()),
    }
    return facts | ({"numbers": f"cut by MDL {cut[setup.discretize]}"} if setup.discretize else {})


def _measure_words(measure: Measure) -> str:
    """The measure, and what is to be known of it."""
    more = {
        "balanced-accuracy": "the mean over the classes of the share of their rows that are right",
        "auc": "the chance that a row of a class is ranked above one of the others; 0.5 by chance",
        "person-accuracy": "the mean over persons of the share of their rows that are right",
        "log-loss": f"mean of -ln of the true class's probability, of which less than {LEAST_SHARE} counts as that",
    }
    return f"{measure.words}: {more[measure.name]}" if measure.name in more else "accuracy: the share of right rows"


def _interval_words(comparison: Comparison) -> str:
    folds = len({(run.repetition, run.fold) for run in comparison.runs})
    if comparison.persons is not None and comparison.measure in (ACCURACY, PERSON_ACCURACY):
        return (
            f"95 %, persons of the test drawn anew {RESAMPLES} times; repetitions test the same persons and add nothing"
        )
    if comparison.measure is not ACCURACY and folds < ENOUGH_FOLDS:
        return f"95 %, t over {folds} splits, which are few" if folds > 1 else "none: there is one split"
    if folds >= ENOUGH_FOLDS:
        return f"95 %, t over {folds} splits, corrected for shared training rows (Nadeau, Bengio 2003)"
    return "95 %, Wilson, as if each row had been tested once; there are too few splits to see how they differ"


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
        table("Releases", texts(*RELEASE_HEADER), (texts(*row) for row in release_rows(summary)), numbers=range(1, 11)),
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
    measure = comparison.measure
    charts = [figure(chart_title(measure, "k"), measure_by_k(comparison.summary, learner))]
    for against in PRICES:
        if (drawn := pareto(comparison.summary, learner, against)) is not None:
            charts.append(figure(chart_title(measure, against), drawn))
    over = comparison.over_persons
    tables = [scores, *([] if over is None else [one for one in score_tables(over) if one.learner == learner])]
    return section(name[0].upper() + name[1:], "learner", *charts, *map(_scores, tables))


def _scores(scores: ScoreTable) -> Html:
    header = texts("method", *(f"k={k:,}" for k in scores.ks))
    rows = [(text(method), *map(_score_cell, own)) for method, own in scores.rows]
    return table(scores.title, header, rows, numbers=range(1, len(header)))


def _score_cell(score: Score) -> Html:
    kind = "best" if score.best else "value"
    spread = [element("span", text(score.spread), class_="spread")] if score.spread else []
    return join([element("span", text(score.number), class_=kind), *spread], " ")


def markdown_lines(comparison: Comparison) -> Iterator[str]:
    """The recommendation, the tables, and how it was measured."""
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
        cells = (plain(cell).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(cells)} |"


def _safe(words: str) -> str:
    """Text in which names of columns cannot become markup."""
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", plain(words))
