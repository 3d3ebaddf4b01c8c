"""Outcomes taken together: means over splits, differences cell by cell, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from experiments.blend.cells import PLAIN, Cell, Outcome, read_outcomes

LEARNERS = {"c45": "C4.5", "nb": "naive Bayes", "logistic": "logistic regression", "boosting": "gradient boosting"}
KADET = "kadet"


@dataclass(frozen=True)
class Figures:
    """Outcomes, asked by what was tried."""

    outcomes: Mapping[Cell, Outcome]

    @classmethod
    def kept(cls, path: Path, cells: Iterable[Cell]) -> Figures:
        """The outcomes of these cells; others that are kept, of more repetitions perhaps, would not be comparable."""
        wanted = set(cells)
        return cls({cell: outcome for cell, outcome in read_outcomes(path).items() if cell in wanted})

    def of(
        self, table: str, known: str, method: str, form: str, k: int, besides: str = "", deals: int = 5
    ) -> dict[tuple[int, int], Outcome]:
        """The outcomes of a method by repetition and fold."""
        wanted = (table, known, method, form, k, besides, deals)
        return {
            (cell.repetition, cell.fold): outcome
            for cell, outcome in self.outcomes.items()
            if (cell.table, cell.known, cell.method, cell.form, cell.k, cell.besides, cell.deals) == wanted
        }

    def accuracy(self, outcomes: Mapping[tuple[int, int], Outcome], learner: str, at: int = 0) -> float | None:
        """Mean accuracy in per cent (``at=1``: mean area under the curve); kADET is its own learner."""
        known = [o.scores.get(learner) or o.scores.get(KADET) for o in outcomes.values()]
        values = [pair[at] for pair in known if pair is not None]
        numbers = [value for value in values if value is not None]
        return 100 * fmean(numbers) if numbers else None

    def fact(self, outcomes: Mapping[tuple[int, int], Outcome], name: str) -> float | None:
        """The mean of a figure of the release."""
        values = [o.facts[name] for o in outcomes.values() if name in o.facts]
        return fmean(values) if values else None

    def splits(self, cells: Iterable[Cell]) -> int:
        """Splits on which everything that was asked for is known."""
        done: dict[tuple[int, int], bool] = {}
        for cell in cells:
            at = (cell.repetition, cell.fold)
            done[at] = done.get(at, True) and cell in self.outcomes
        return sum(done.values())


def figure(value: float | None, digits: int = 1) -> str:
    """A figure, or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, an empty line before it."""
    yield ""
    yield f"| {' | '.join(header)} |"
    yield "|---|" + "---:|" * (len(header) - 1)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def compared(
    pairs: Iterable[tuple[float | None, float | None]],
) -> tuple[int, int, float | None, float | None]:
    """In how many pairs the first is at or above the second, how many there are, mean and median difference.

    Examples
    --------
    >>> compared([(85.0, 84.0), (80.0, 82.0), (None, 1.0)])
    (1, 2, -0.5, -0.5)
    """
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    apart = [a - b for a, b in known]
    if not apart:
        return 0, 0, None, None
    return sum(each >= 0 for each in apart), len(apart), fmean(apart), median(apart)


def at_or_above(pairs: Iterable[tuple[float | None, float | None]]) -> str:
    """``12 of 16 (+0.4)``: cells at or above, and the mean difference."""
    won, of, mean, _ = compared(pairs)
    return f"{won} of {of} ({mean:+.1f})" if mean is not None else "–"


Asker = Callable[[str, str, int, str], float | None]


def asker(figures: Figures, table_name: str, known: str) -> Asker:
    """A short way to ask for a mean accuracy: method, form, k, learner."""
    return lambda method, form, k, learner: figures.accuracy(figures.of(table_name, known, method, form, k), learner)


def rivals_named(rivals: Sequence[tuple[str, str]]) -> list[str]:
    """Methods and forms, as pages say them."""
    return [f"{method} as {form}" if form != PLAIN else method for method, form in rivals]
