"""What accuracy costs: every method and k, with and without ``--purest 0.9``, against purity and measured inference.

Protocol, written before any result was seen: 6,000 rows of Adult drawn at random, eight quasi-identifiers, the methods
that ``incrowd compare`` takes by default, k = 10, 30, 100, two halves, one repetition, C4.5 and logistic regression;
once as they are and once with ``purest=0.9``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from experiments.pages import Picture, Section, Table, machine, write_page
from incrowd.comparisons.charts import chart_title, pareto
from incrowd.comparisons.comparison import Comparison
from incrowd.comparisons.protocol import FiveByTwo
from incrowd.comparisons.recommend import name_of
from incrowd.comparisons.run import compare
from incrowd.comparisons.summary import Summary, SummaryCell
from incrowd.drawing.svg import standalone

KS, LEARNERS, ROWS, BOUND = (10, 30, 100), ("c45", "logistic"), 6000, 0.9
HEADER = ("method", "k", "accuracy", "purity", "advantage", "accuracy, bounded", "purity", "advantage", "costs")


def write_frontier(page: Path, data: Path | None, rows: int, tell: Callable[[str], None]) -> None:
    """Measure and write the page, with its charts in the folder ``plots`` beside it."""
    made = {}
    for bound in (None, BOUND):
        tell(f"purest {bound}")
        made[bound] = _compared(data, rows, bound)
    free = made[None].summary
    about = [
        f"Written by `python -m experiments frontier`: {made[None].rows:,} rows of Adult, eight quasi-identifiers, two "
        "halves, one repetition; the protocol was written before. Purity is the share of the rows that have the most "
        "frequent class of their group; the class advantage is by how much an attack on the release guesses the class "
        "of 2,000 of its people better than that of 2,000 others, as a share of what could be; with so "
        "few people its standard error is about 0.05, so that only large differences say something. "
        "*Bounded* is the same with `--purest 0.9`: no group in which a class has more than 90 %.",
        machine(),
    ]
    sections = [_section(learner, free, made[BOUND].summary) for learner in free.learners]
    write_page(page, "What accuracy costs", about, sections)


def _compared(data: Path | None, rows: int, bound: float | None) -> Comparison:
    protocol, known = FiveByTwo(1, stratified=True), ["8/14"]
    wishes: Mapping[str, float] = {} if bound is None else {"purest": bound}
    return compare(
        "adult",
        quasi_identifiers=known,
        ks=KS,
        learners=LEARNERS,
        protocol=protocol,
        rows=rows,
        data=data,
        jobs=1,
        **wishes,  # type: ignore[arg-type]
    )


def _section(learner: str, free: Summary, bounded: Summary) -> Section:
    own = free.unprotected(learner)
    before = "" if own is None else f"From the table itself: {100 * own.value:.1f} %."
    pictures = [_picture(free, learner, against) for against in ("purity", "inference")]
    return Section(name_of(learner), [before, *pictures, Table(HEADER, list(_rows(learner, free, bounded)))])


def _picture(summary: Summary, learner: str, against: str) -> Picture:
    drawn, title = pareto(summary, learner, against), chart_title(summary.measure, against)
    assert drawn is not None
    return Picture(f"frontier_{learner}_{against}", f"{title}: {name_of(learner)}", standalone(drawn, title))


def _rows(learner: str, free: Summary, bounded: Summary) -> Sequence[tuple[str, ...]]:
    rows = []
    for method in free.methods:
        for k in free.ks:
            one, other = free.find(method, k, learner), bounded.find(method, k, learner)
            costs = _accuracy(one, other)
            rows.append((method, str(k), *_figures(one), *_figures(other), costs))
    return rows


def _accuracy(one: SummaryCell | None, other: SummaryCell | None) -> str:
    known = one is not None and other is not None and one.is_known and other.is_known
    return f"{100 * (one.value - other.value):+.1f}" if known and one and other else "–"


def _figures(cell: SummaryCell | None) -> tuple[str, str, str]:
    if cell is None or not cell.is_known:
        return "–", "–", "–"
    purity, advantage = cell.mean("purity"), cell.mean("class_advantage")
    return (
        f"{100 * cell.value:.1f}",
        "–" if purity is None else f"{100 * purity:.1f}",
        "–" if advantage is None else f"{advantage:.3f}",
    )
