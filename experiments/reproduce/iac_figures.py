"""Figures 2(b), 3 and 5 of the IAC paper, what IACc reaches, and what rare rows still show: looked at on all rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

import numpy as np

from experiments.charts import Upward, lines
from experiments.reproduce.document import Block, Grid, Heading, Picture, Words, shown
from experiments.reproduce.evidence import Evidence
from experiments.reproduce.experiment import Table, Verdict
from experiments.reproduce.preparing import Bench, Prepared
from incrowd.comparisons.releasing import release_rows
from incrowd.methods.mutual_information.generalizing import Generalized, generalize
from incrowd.methods.mutual_information.iac import IACc, changes_of
from incrowd.methods.mutual_information.rare_combinations import CombinationHiding
from incrowd.plan.steps import Reasons
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity

TIMES = 3  # releases at each k, of which the fastest counts
LARGEST_DIVERGENCE = {"native-country", "race"}
LARGEST_CHANGE = {"marital-status", "workclass"}
AROUND_TWO = (0.015, 0.025)


@dataclass(frozen=True)
class Suppressed:
    """What hiding at one k changes: of each attribute D_N and I_N; rows that show nothing, and cells still shown.

    ``blank``: rows that show nothing, as printed and strict. ``cells``: shares of cells shown where rare rows are
    hidden, and where they show what a group of them has in common.
    """

    k: int
    divergence: Mapping[str, float]
    information: Mapping[str, float]
    change: Mapping[str, float]
    blank: tuple[int, int]
    cells: tuple[float, float]


@dataclass(frozen=True)
class Reached:
    """How far IACc goes with both thresholds at this share of the suggested scale."""

    delta: float
    k: int
    smallest: int | None
    hidden: float


def look_at_figures(
    prepared: Prepared, table: Table, ks: Sequence[int], methods: Mapping[str, str], deltas: Sequence[float]
) -> dict[str, object]:
    """All of it, on all rows of a table; nothing if it is not among those that are run."""
    bench = next((bench for bench in prepared.benches if bench.table == table), None)
    if bench is None:
        return {}
    subject = bench.laboratory.subject
    population = EmbeddedEngine().population(subject.table, subject.schema, SeededRandomness(1))
    generalized = generalize(population, KAnonymity(1), "interval", 0.0)
    sizes = generalized.classes(generalized.names).sizes
    return {
        "sizes": tuple((size, int(sizes[sizes <= size].sum())) for size in np.unique(sizes).tolist()),
        "rows": bench.rows,
        "suppressed": tuple(_suppressed(generalized, k) for k in ks),
        "reached": tuple(_reached(bench, delta) for delta in deltas),
        "seconds": {name: tuple((k, _seconds(bench, method, k)) for k in ks) for name, method in methods.items()},
    }


def _suppressed(generalized: Generalized, k: int) -> Suppressed:
    printed, strict, kind = (
        CombinationHiding(generalized, **how) for how in ({"strict": False}, {}, {"on_rare": "generalize"})
    )
    for hiding in (printed, strict, kind):
        hiding.settle(KAnonymity(k).sets(generalized.names))
    changes = dict(zip(generalized.names, changes_of(generalized, printed.hidden), strict=True))
    rows = generalized.counts.sum(axis=1)
    nothing = generalized.codes == generalized.nothing
    return Suppressed(
        k,
        {name: change.normalized_divergence for name, change in changes.items()},
        {name: change.after for name, change in changes.items()},
        {name: change.information for name, change in changes.items()},
        (_blank(printed.hidden | nothing, rows), _blank(strict.hidden | nothing, rows)),
        (_shown(strict.hidden | nothing, rows), _shown(kind.hidden | nothing, rows)),
    )


def _blank(hidden: np.ndarray, rows: np.ndarray) -> int:
    return int(rows[hidden.all(axis=1)].sum())


def _shown(hidden: np.ndarray, rows: np.ndarray) -> float:
    return float((rows * (~hidden).mean(axis=1)).sum() / rows.sum())


def _reached(bench: Bench, delta: float) -> Reached:
    subject = bench.laboratory.subject
    population = EmbeddedEngine().population(subject.table, subject.schema, SeededRandomness(1))
    steps = IACc(delta_d=delta, delta_c=delta).decide(population, KAnonymity(1), SeededRandomness(1))
    facts = next(dict(step.facts) for step in steps if isinstance(step, Reasons))
    return Reached(delta, facts["k"], facts["k_actual"], facts["rows hidden"] / bench.rows)


def _seconds(bench: Bench, method: str, k: int) -> float:
    """CPU seconds of a release in memory, the fastest of some."""
    subject, spent = bench.laboratory.subject, []
    for _ in range(TIMES):
        begun = process_time()
        release_rows(subject.table, subject.frame, subject.schema, method, {}, KAnonymity(k), 1)
        spent.append(process_time() - begun)
    return min(spent)


def _all(evidence: Evidence) -> tuple[Suppressed, ...]:
    measured = evidence.facts.get("suppressed", ())
    return tuple(one for one in measured if isinstance(one, Suppressed)) if isinstance(measured, tuple) else ()


def around_two_are_unique(evidence: Evidence) -> Verdict | None:
    """The share of generalized rows that nobody shares."""
    sizes, rows = evidence.facts.get("sizes"), evidence.facts.get("rows")
    if not isinstance(sizes, tuple) or not isinstance(rows, int):
        return None
    share = dict(sizes).get(1, 0) / rows
    return Verdict(AROUND_TWO[0] <= share < AROUND_TWO[1], f"{100 * share:.2f} %")


def largest_divergence(evidence: Evidence) -> Verdict | None:
    """The two attributes with the largest D_N at each k."""
    return _largest([(one.k, one.divergence) for one in _all(evidence)], LARGEST_DIVERGENCE)


def largest_change(evidence: Evidence) -> Verdict | None:
    """The two attributes whose I_N changes most at each k."""
    return _largest([(one.k, one.change) for one in _all(evidence)], LARGEST_CHANGE)


def _largest(measured: Sequence[tuple[int, Mapping[str, float]]], names: set[str]) -> Verdict | None:
    if not measured:
        return None
    pairs = {k: sorted(values, key=lambda name: -values[name])[:2] for k, values in measured}
    agreed = sum(set(pair) == names for pair in pairs.values())
    first, last = (pairs[k] for k in (min(pairs), max(pairs)))
    figures = f"at {agreed} of {len(pairs)} k; at k = {min(pairs)} {' and '.join(first)}, at k = {max(pairs)} "
    return Verdict(agreed == len(pairs), figures + " and ".join(last))


def sex_changes_little(evidence: Evidence) -> Verdict | None:
    """Whether the D_N of sex is below the median of all attributes."""
    measured = [one for one in _all(evidence) if "sex" in one.divergence]
    if not measured:
        return None
    below = sum(one.divergence["sex"] < median(one.divergence.values()) for one in measured)
    return Verdict(below == len(measured), f"below the median at {below} of {len(measured)} k")


def information_differs_less(evidence: Evidence) -> Verdict | None:
    """The largest over the median of all attributes, of D_N and of the change of I_N."""
    measured = _all(evidence)
    if not measured:
        return None
    less = sum(_spread(one.change) < _spread(one.divergence) for one in measured)
    return Verdict(less == len(measured), f"largest over median smaller at {less} of {len(measured)} k")


def _spread(values: Mapping[str, float]) -> float:
    middle = median(values.values())
    return max(values.values()) / middle if middle else math.inf


def is_faster(evidence: Evidence) -> Verdict | None:
    """CPU seconds of a release at each k, of all rows."""
    seconds = evidence.facts.get("seconds")
    if not isinstance(seconds, Mapping):
        return None
    (own, ours), (other, theirs) = seconds.items()
    faster = sum(mine < its for (_, mine), (_, its) in zip(ours, theirs, strict=True))
    mean, against = (sum(each for _, each in line) / len(line) for line in (ours, theirs))
    figures = f"at {faster} of {len(ours)} k; {mean:.2f} s ({own}) and {against:.2f} s ({other}) of CPU on average"
    return Verdict(faster == len(ours), figures)


def shows_more(evidence: Evidence) -> Verdict | None:
    """The shares of cells shown, where rare rows are hidden and where they are generalized further."""
    measured = _all(evidence)
    if not measured:
        return None
    more = sum(one.cells[1] > one.cells[0] for one in measured)
    last = measured[-1]
    figures = f"{100 * last.cells[1]:.1f} instead of {100 * last.cells[0]:.1f} % of the cells at k = {last.k}"
    return Verdict(more == len(measured), f"at {more} of {len(measured)} k; {figures}")


def figure_blocks(facts: Mapping[str, object]) -> Iterator[Block]:
    """The figures, as tables and drawings."""
    sizes, rows, reached = facts.get("sizes"), facts.get("rows"), facts.get("reached")
    suppressed, seconds = _all(Evidence((), (), facts)), facts.get("seconds")
    if not (isinstance(sizes, tuple) and isinstance(rows, int) and isinstance(reached, tuple)):
        return
    if not (suppressed and isinstance(seconds, Mapping)):
        return
    yield Heading("Figure 2(b): rows by the size of their class, generalized only")
    marks = (1, 2, 5, 10, 25, 50, 100, 200, 500, 1000)
    up_to = {mark: max((total for size, total in sizes if size <= mark), default=0) for mark in marks}
    grid = tuple(f"{100 * total / rows:.2f}" for total in up_to.values())
    yield Grid(
        "Rows in classes of at most so many rows, in per cent",
        ("", *(f"{mark:,}" for mark in marks)),
        (shown("of all rows", *grid),),
    )
    points = {"rows in classes up to this size": [(float(size), 100 * total / rows) for size, total in sizes]}
    yield _picture("2b", "Figure 2(b): rows by the size of their class", "rows of a class", "% of all rows", points)
    yield Heading("Figure 3: what suppression changes")
    yield Words(
        "As printed: every combination of fewer than k rows is hidden, and the rows that show nothing may be fewer. "
        "D_N is infinite where a value is shown by no row any more; the drawing leaves such points out."
    )
    for letter, of, what in (("a", "divergence", "D_N"), ("b", "information", "I_N")):
        by_name = {
            name: [(one.k, dict(getattr(one, of))[name]) for one in suppressed] for name in suppressed[0].divergence
        }
        header = ("attribute", *(f"k={one.k}" for one in suppressed))
        body = tuple(shown(name, *(_number(value) for _, value in line)) for name, line in by_name.items())
        yield Grid(f"Figure 3({letter}): {what}", header, body)
        drawn = {name: [(float(k), v) for k, v in line if math.isfinite(v)] for name, line in by_name.items()}
        yield _picture(
            f"3{letter}", f"Figure 3({letter}): {what} by k", "k", what, {n: p for n, p in drawn.items() if p}
        )
    yield Heading("Figure 5: seconds by k")
    yield Words(
        f"CPU seconds of a release of all {rows:,} rows in memory, the fastest of {TIMES}; both in one process."
    )
    named = {str(name): [(float(k), float(value)) for k, value in line] for name, line in seconds.items()}
    ks = tuple(f"k={k:g}" for k, _ in next(iter(named.values())))
    yield Grid("Seconds", ("", *ks), tuple(shown(n, *(f"{v:.3f}" for _, v in line)) for n, line in named.items()))
    yield _picture("5", "Figure 5: seconds by k", "k", "CPU seconds", named, "from zero")
    yield Heading("Rows that show nothing, and cells that are shown")
    yield Words(
        "All rows. As printed, rows that show nothing may be fewer than k; where they are, such a release is not "
        "k-anonymous, and its verification refuses it. Generalized further: rare rows show what a group of at least k "
        "of them has in common."
    )
    heads = ("k", "show nothing, as printed", "strict", "cells shown, %", "generalized further, %")
    lines_of = (
        (f"{s.k}", f"{s.blank[0]:,}", f"{s.blank[1]:,}", f"{100 * s.cells[0]:.1f}", f"{100 * s.cells[1]:.1f}")
        for s in suppressed
    )
    yield Grid("By k", heads, tuple(shown(*line) for line in lines_of), words=0)
    yield Heading("IACc: how far thresholds carry")
    yield Words("All rows; both thresholds at this share of the scale the paper suggests for each attribute.")
    far = (one for one in reached if isinstance(one, Reached))
    yield Grid(
        "Reached",
        ("thresholds", "k", "smallest class shown", "rows hidden, %"),
        tuple(shown(f"{r.delta:g}", f"{r.k}", f"{r.smallest}", f"{100 * r.hidden:.2f}") for r in far),
        words=0,
    )


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "infinite"


Series = Mapping[str, Sequence[tuple[float, float]]]


def _picture(name: str, title: str, across: str, up: str, series: Series, scale: Upward = "close") -> Picture:
    return Picture(f"reproduction_iac_figure_{name}", title, lines(title, across, up, series, "{:,.0f}".format, scale))
