"""What was measured, beside what was printed: cells, marks of significance, ranks, differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev

import polars as pl

from experiments.reproduce.experiment import ERROR, Part
from experiments.significance import (
    FOLDS,
    REPETITIONS,
    CriticalDifference,
    FriedmanTest,
    bonferroni_dunn,
    five_by_two_test,
    friedman_test,
)
from incrowd.comparisons.summary import accuracies
from incrowd.comparisons.trial import Result


@dataclass(frozen=True)
class Printed:
    """A printed cell, in per cent; ``flag`` is the paper's mark of a significant difference."""

    mean: float
    sd: float | None = None
    flag: str = ""


@dataclass(frozen=True)
class Value:
    """A number of a table, ours or the paper's: what judgements are made of."""

    part: str
    label: str
    inducer: str
    algorithm: str
    k: int
    mean: float
    sd: float | None = None


@dataclass(frozen=True)
class Cell:
    """One algorithm at one k with one learner: our results over the splits, and what was printed.

    ``status`` says why there are no results, if there are none. ``doubt`` says why the printed number is not to be
    trusted.
    """

    part: str
    label: str
    inducer: str
    algorithm: str
    k: int
    results: tuple[Result, ...]
    status: str = ""
    printed: Printed | None = None
    flag: str = ""
    doubt: str = ""
    measure: str = "accuracy"

    @property
    def place(self) -> tuple[str, str, str, str, int]:
        """What tells it from other cells."""
        return self.part, self.label, self.inducer, self.algorithm, self.k

    @property
    def folds(self) -> dict[tuple[int, int], float]:
        """The measure, in per cent, by repetition and fold."""
        return {
            (result.repetition, result.fold): 100 * (1 - accuracy if self.measure == ERROR else accuracy)
            for result in self.results
            for accuracy in accuracies([result])
        }

    @property
    def mean(self) -> float | None:
        """Over the splits."""
        return fmean(self.folds.values()) if self.folds else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over the splits."""
        return stdev(self.folds.values()) if len(self.folds) > 1 else None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, in points."""
        return None if self.mean is None or self.printed is None else self.mean - self.printed.mean

    def ours(self) -> Value | None:
        """Our number."""
        return None if self.mean is None else Value(*self.place, self.mean, self.sd)

    def theirs(self) -> Value | None:
        """The paper's number, unless it is not to be trusted."""
        if self.printed is None or self.doubt:
            return None
        return Value(*self.place, self.printed.mean, self.printed.sd)


@dataclass(frozen=True)
class Evidence:
    """What a point is judged by.

    Parameters
    ----------
    values
        Numbers, all of them ours or all the paper's.
    cells
        Our cells with all that is known of them; none where the paper is judged.
    facts
        What an experiment measured besides, by name.
    """

    values: tuple[Value, ...]
    cells: tuple[Cell, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def ours(cls, cells: Iterable[Cell], facts: Mapping[str, object]) -> Evidence:
        """Of what we measured."""
        known = tuple(cells)
        return cls(tuple(value for cell in known if (value := cell.ours())), known, facts)

    @classmethod
    def theirs(cls, cells: Iterable[Cell]) -> Evidence:
        """Of what was printed, in the same cells."""
        return cls(tuple(value for cell in cells if (value := cell.theirs())))

    def select(self, **wanted: str | int) -> list[Value]:
        """The values whose fields are these.

        Examples
        --------
        >>> values = (Value("3", "8/14", "C4.5", "TDS", 5, 83.0), Value("3", "8/14", "C4.5", "TDR", 5, 84.6))
        >>> [value.mean for value in Evidence(values).select(algorithm="TDR")]
        [84.6]
        """
        return [value for value in self.values if all(getattr(value, name) == is_ for name, is_ in wanted.items())]


Place = tuple[str, str, str, str, int]
_REFERENCE = re.compile(r"^our reference kADET-ID3 test error at k=(\d+)")


def printed_cells(part: Part, table: pl.DataFrame) -> dict[Place, Printed]:
    """What was printed, by part, label, inducer, algorithm and k.

    Examples
    --------
    >>> from experiments.papers import printed
    >>> cells = printed_cells(Part("3", "Table 3"), printed("kactus_table3"))
    >>> cells["3", "8/14", "C4.5", "TDS", 5]
    Printed(mean=83.01, sd=0.21, flag='+')
    """
    return _reference(part, table) if "item" in table.columns else _accuracies(part, table)


def _accuracies(part: Part, table: pl.DataFrame) -> dict[Place, Printed]:
    """A label is the data set where all attributes are known, else the set of quasi-identifiers."""
    printed = {}
    for row in table.iter_rows(named=True):
        label = row["case"] if row["quasi_identifiers"] == "all" else row["quasi_identifiers"]
        cell = Printed(row["mean"], row["sd"], row["flag"] or "")
        printed[part.name, label, row["inducer"], row["algorithm"], row["k"]] = cell
    return printed


def _reference(part: Part, table: pl.DataFrame) -> dict[Place, Printed]:
    """Errors of kADET with ID3 scores, derived by another implementation; not printed anywhere."""
    printed = {}
    for item, value in table.filter(pl.col("where") == "derived").select("item", "value").iter_rows():
        match = _REFERENCE.match(item)
        if match:
            printed[part.name, "8 attributes", "tree", "kADET", int(match[1])] = Printed(100 * float(value))
    return printed


DIFFERENT, HIGHER, LOWER = "*", "+", "-"


def flagged(cells: Sequence[Cell], part: Part) -> list[Cell]:
    """The cells of a part with their marks.

    ``*``: different from the control, which has one k. ``+``: the control, at the same k, is significantly higher;
    ``-``: lower. Without five repetitions of two folds there are no marks.
    """
    controls = {_key(cell, part): cell for cell in cells if cell.algorithm == part.control}
    return [
        replace(cell, flag=flag(cell, controls[_key(cell, part)], part.at_same_k))
        if part.control not in (None, cell.algorithm) and _key(cell, part) in controls
        else cell
        for cell in cells
    ]


def flag(cell: Cell, control: Cell, at_same_k: bool) -> str:
    """The mark of a cell against its control."""
    wanted = [(repetition, fold) for repetition in range(REPETITIONS) for fold in range(FOLDS)]
    ours, theirs = cell.folds, control.folds
    if any(split not in ours or split not in theirs for split in wanted):
        return ""
    gaps = [theirs[split] - ours[split] for split in wanted]
    test = five_by_two_test([gaps[place : place + FOLDS] for place in range(0, len(gaps), FOLDS)])
    if not test.is_significant:
        return ""
    return (HIGHER if test.mean_difference > 0 else LOWER) if at_same_k else DIFFERENT


def _key(cell: Cell, part: Part) -> tuple[str, str, int]:
    return cell.label, cell.inducer, cell.k if part.at_same_k else 0


@dataclass(frozen=True)
class Ranking:
    """What the tests say. The cases share their data, so they are no independent cases and the tests are optimistic."""

    algorithms: tuple[str, ...]
    friedman: FriedmanTest
    against: CriticalDifference


def ranked(values: Iterable[Value], algorithms: Sequence[str], control: str) -> Ranking | None:
    """Rank algorithms over the cases that have them all; None if there are fewer than two cases.

    Examples
    --------
    >>> from experiments.papers import printed
    >>> rows = printed("kactus_table5").iter_rows(named=True)
    >>> values = [Value("5", r["quasi_identifiers"], r["inducer"], r["algorithm"], r["k"], r["mean"]) for r in rows]
    >>> ranking = ranked(values, ["Mondrian", "kACTUS"], "kACTUS")
    >>> round(ranking.friedman.f_statistic, 1), ranking.against.finding()
    (586.3, 'kACTUS is better than Mondrian')
    """
    cases: dict[tuple[str, str, int], dict[str, float]] = {}
    for value in values:
        cases.setdefault((value.label, value.inducer, value.k), {})[value.algorithm] = value.mean
    rows = [[case[name] for name in algorithms] for case in cases.values() if all(name in case for name in algorithms)]
    if len(rows) < 2:
        return None
    friedman = friedman_test(rows)
    named = dict(zip(algorithms, friedman.mean_ranks, strict=True))
    return Ranking(tuple(algorithms), friedman, bonferroni_dunn(named, len(rows), control))


NEAR = (1.0, 2.0, 5.0)
"""Points: a difference up to the first is called none, beyond the last large."""


@dataclass(frozen=True)
class Distance:
    """Cells taken together: how many there are, their mean difference and mean absolute difference, in points.

    ``within`` counts the cells that differ by at most 1, 2 and 5 points.
    """

    name: str
    cells: int
    mean: float
    absolute: float
    within: tuple[int, ...]


def compared(cells: Iterable[Cell]) -> list[Cell]:
    """The cells with a number of ours and one that was printed and can be trusted."""
    return [cell for cell in cells if cell.difference is not None and not cell.doubt]


def distinct(cells: Iterable[Cell]) -> list[Cell]:
    """Each result once: papers print the same result in several tables."""
    first: dict[tuple[object, ...], Cell] = {}
    for cell in cells:
        first.setdefault((cell.algorithm, cell.inducer, cell.k, cell.results or cell.place), cell)
    return list(first.values())


def distance(name: str, cells: Iterable[Cell]) -> Distance | None:
    """The cells taken together; None if nothing was printed.

    Examples
    --------
    >>> from incrowd.comparisons.trial import Result
    >>> def cell(ours, theirs):
    ...     result = Result("x", 5, 0, 0, "c45", accuracy=ours)
    ...     return Cell("2", "a", "C4.5", "x", 5, (result,), printed=Printed(theirs))
    >>> gap = distance("all", [cell(0.75, 74.5), cell(0.5, 53.0)])
    >>> gap.mean, gap.absolute, gap.within
    (-1.25, 1.75, (1, 1, 2))
    """
    gaps = [cell.difference for cell in compared(cells) if cell.difference is not None]
    if not gaps:
        return None
    sizes = [abs(one) for one in gaps]
    within = tuple(sum(size <= near + 1e-9 for size in sizes) for near in NEAR)
    return Distance(name, len(gaps), sum(gaps) / len(gaps), sum(sizes) / len(gaps), within)


def distances(cells: Iterable[Cell], key: Callable[[Cell], str]) -> list[Distance]:
    """The cells taken together by something they share, in the order it occurs."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    every = (distance(name, group) for name, group in groups.items())
    return [one for one in every if one is not None]


def shade(difference: float | None) -> str:
    """The colour of a difference, as a class: its side and its size; nothing to compare with has none.

    Examples
    --------
    >>> [shade(points) for points in (None, 0.9, -1.5, 4.0, -5.1)]
    ['', 'same', 'below-1', 'above-2', 'below-3']
    """
    if difference is None:
        return ""
    size = sum(abs(difference) > near + 1e-9 for near in NEAR)
    return f"{'above' if difference > 0 else 'below'}-{size}" if size else "same"


def signed(points: float | None) -> str:
    """A difference in points with its sign; none has none.

    Examples
    --------
    >>> [signed(points) for points in (1.234, -0.001, -2.0)]
    ['+1.23', '0.00', '-2.00']
    """
    text = f"{points or 0.0:+.2f}"
    return text[1:] if float(text) == 0 else text


def is_large(difference: float | None) -> bool:
    """Whether a difference is one to explain: more than two points."""
    return difference is not None and abs(difference) > NEAR[1] + 1e-9


def furthest(cells: Iterable[Cell], number: int) -> list[Cell]:
    """The cells that differ most from what was printed."""
    return sorted(compared(cells), key=lambda cell: -abs(cell.difference or 0.0))[:number]
