"""How the cost of every method grows with the rows and with the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from bench.alone import Figures, measure_alone
from bench.census import ATTRIBUTES, METHODS, K, census, lengthen, widen
from bench.process import LeftOut
from bench.setting import Setting, tell
from experiments.charts import line_chart
from experiments.pages import Picture, Section, Table

LIMIT, FEW = 120.0, 500
ROWS, WIDTHS = (45_222, 200_000, 1_000_000, 5_000_000), (2, 4, 8, 16, 40)
QUICK_METHODS, QUICK_ROWS, QUICK_WIDTHS = ("tdr",), (1_000, 2_000), (2, 10)
SHORTEST = 1e-3  # seconds, on a logarithmic scale


@dataclass(frozen=True)
class Series:
    """The figures of one method by rows, or by quasi-identifiers."""

    method: str
    figures: Mapping[int, Figures | LeftOut]

    def points(self, cost: Callable[[Figures], float]) -> list[tuple[float, float]]:
        """What was measured."""
        return [
            (float(size), max(cost(each), SHORTEST)) for size, each in self.figures.items() if isinstance(each, Figures)
        ]


def measure(setting: Setting) -> Section:
    """Each method on each table, in a process of its own."""
    frame, source = census(setting)
    methods, rows, widths = (QUICK_METHODS, QUICK_ROWS, QUICK_WIDTHS) if setting.quick else (METHODS, ROWS, WIDTHS)
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        longer = measure_all(methods, rows, lambda size: lengthen(frame, size), Path(folder))
        wider = measure_all(methods, widths, lambda size: widen(frame, size), Path(folder))
    return Section(
        "How the methods grow",
        (
            f"{source}, k = {K}, from a CSV file to a verified CSV file, CPU seconds. Every figure is one release in a "
            "process of its own, which released a few rows before: libraries and kernels are loaded. The power is "
            "the slope of the straight line through the logarithms, 1 for a cost in proportion; the last column is "
            "the power of the last step alone, where fixed costs weigh least.",
            f"**More rows**, {len(ATTRIBUTES)} quasi-identifiers. Rows are drawn from the table, and a fifth of their "
            "cells is redrawn from the whole column, so that more rows also bring more combinations.",
            *_told("rows", longer),
            _more_rows(longer),
            *_left_out("rows", longer),
            f"**More quasi-identifiers**, {frame.height:,} rows: up to {len(ATTRIBUTES)} as they are, then variations "
            "of the same with a fifth of the cells redrawn.",
            *_told("quasi-identifiers", wider),
            _more_columns(wider),
            *_left_out("quasi-identifiers", wider),
        ),
    )


def measure_all(
    methods: Sequence[str], sizes: Sequence[int], table: Callable[[int], pl.DataFrame], folder: Path
) -> list[Series]:
    """Every method on the table of each size; one that was left out is not tried on a larger one."""
    figures: dict[str, dict[int, Figures | LeftOut]] = {method: {} for method in methods}
    few, file = folder / "few.csv", folder / "people.csv"
    for size in sizes:
        made = table(size)
        made.head(FEW).write_csv(few)
        made.write_csv(file)
        del made
        for method, known in figures.items():
            before = next(reversed(known.values()), None)
            stopped = isinstance(before, LeftOut)
            known[size] = LeftOut("not tried") if stopped else measure_alone(method, K, few, file, LIMIT)
            tell(f"{size:,}, {method}: {known[size]}")
    return [Series(method, known) for method, known in figures.items()]


def power(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope of the least-squares line through the logarithms; none for fewer than two points.

    Examples
    --------
    >>> round(power([(1, 2.0), (10, 200.0), (100, 20000.0)]), 6)
    2.0
    """
    if len(points) < 2:
        return None
    across, up = np.log(np.array(points)).T
    return float(np.polyfit(across, up, 1)[0])


def _told(of: str, series: Sequence[Series]) -> list[Table | Picture]:
    """A table and a picture of deciding, and of the whole release."""
    parts: list[Table | Picture] = []
    for words, name in (("Deciding", "deciding"), ("The whole release", "whole")):
        cost: Callable[[Figures], float] = attrgetter(name)
        title = f"{words} by {of}, CPU seconds, both axes logarithmic"
        lines = {each.method: points for each in series if (points := each.points(cost))}
        drawn = line_chart(title, of, "CPU s", lines, "{:,.0f}".format, scale="powers")
        parts += [_table(f"{words.lower()}, CPU s by {of}", series, cost)]
        parts += [Picture(f"growth_{name}_by_{of.replace('-', '_')}", title, drawn)]
    return parts


def _table(corner: str, series: Sequence[Series], cost: Callable[[Figures], float]) -> Table:
    sizes = list(series[0].figures)
    rows = []
    for each in series:
        cells = [f"{cost(one):.2f}" if isinstance(one, Figures) else "left out" for one in each.figures.values()]
        points = each.points(cost)
        slopes = ["" if slope is None else f"{slope:.2f}" for slope in (power(points), power(points[-2:]))]
        rows.append((f"`{each.method}`", *cells, *slopes))
    return Table((corner, *(f"{size:,}" for size in sizes), "power", "last step"), rows)


def _powers(series: Sequence[Series], cost: Callable[[Figures], float]) -> str:
    """The smallest and the largest power, and whose they are."""
    slopes = ((power(each.points(cost)), each.method) for each in series)
    known = sorted((slope, method) for slope, method in slopes if slope is not None)
    if not known:
        return "an unknown power"
    (least, flat), (most, steep) = known[0], known[-1]
    return f"a power between {least:.2f} (`{flat}`) and {most:.2f} (`{steep}`)"


def _more_rows(series: Sequence[Series]) -> str:
    return (
        f"Deciding grows with the rows to {_powers(series, attrgetter('deciding'))}, the whole release to "
        f"{_powers(series, attrgetter('whole'))}, the number of groups to {_powers(series, attrgetter('groups'))}. "
        "What the methods do lets one expect this much, and no run here took it apart: `tdr` and `tds` work on the "
        "distinct combinations, `iack` and `iacc` on those left after generalizing, and there are fewer of them per "
        "row in a larger table; `mondrian`, `infogain-mondrian` and the trees cut down towards groups of k, n log n "
        "where cuts are even. Fixed costs pull powers below 1 on small tables."
    )


def _more_columns(series: Sequence[Series]) -> str:
    return (
        f"With the quasi-identifiers, deciding grows to {_powers(series, attrgetter('deciding'))}, the whole release "
        f"to {_powers(series, attrgetter('whole'))}. Reading, writing and recounting have that many more cells. As to "
        "deciding, again expected and not taken apart: a cut looks at every attribute, and more attributes make more "
        "cuts possible, so that the methods that cut into small groups should be the steepest."
    )


def _left_out(of: str, series: Sequence[Series]) -> list[str]:
    """What has no figure, and why."""
    known = [
        f"`{each.method}` with {size:,} {of} ({one.why})"
        for each in series
        for size, one in each.figures.items()
        if isinstance(one, LeftOut)
    ]
    limit = f"A process was given {LIMIT:.0f} s."
    return [f"Left out: {'; '.join(known)}. {limit}"] if known else [f"{limit} Nothing was left out."]
