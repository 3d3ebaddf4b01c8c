"""Thousands of columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import polars as pl

from bench.commands import copy, release
from bench.history import spread
from bench.people import TARGET
from bench.process import Cost, Costs, LeftOut, Workshop
from bench.setting import Setting, tell
from experiments.pages import Goal, Section, Table

K, METHOD, LIMIT, VALUES, MOST_POWER = 3, "kactus-plus", 600.0, 4, 1.2


class Shape(NamedTuple):
    """A made table: its columns, how many of them are quasi-identifiers, and its rows."""

    columns: int
    quasi_identifiers: int
    rows: int

    def __str__(self) -> str:
        return f"{self.columns:,} columns ({self.quasi_identifiers:,} quasi-identifiers) x {self.rows:,} rows"


SHAPES = (Shape(500, 500, 12), Shape(1_000, 1_000, 12), Shape(2_000, 2_000, 12), Shape(10_000, 1_000, 1_000))
QUICK_SHAPES = (Shape(10, 10, 12), Shape(20, 20, 12))


def measure(setting: Setting) -> Section:
    """Each once: one takes minutes."""
    shapes = QUICK_SHAPES if setting.quick else setting.affordable(SHAPES, lambda shape: shape.columns)
    costs: dict[Shape, tuple[Cost, Cost | LeftOut]] = {}
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        workshop = Workshop(Path(folder))
        for shape in shapes:
            names = _write(workshop.folder / "all.parquet", shape)
            command = release("all.parquet", METHOD, K, names)
            copied = workshop.run(copy("all.parquet"))
            costs[shape] = copied, workshop.attempt(command, LIMIT)
            tell(f"{shape}: {_seconds(costs[shape][1])}")
    same = [shape for shape in shapes if shape.rows == shapes[0].rows]
    ratios = {
        str(shape): Costs((cost,)).ratios(Costs((copied,)))
        for shape, (copied, cost) in costs.items()
        if isinstance(cost, Cost)
    }
    power = _power(same, costs)
    return Section(
        "Thousands of columns",
        (
            f"Made tables, {VALUES} texts a column drawn evenly, `{METHOD}`, k = {K}, Parquet to verified Parquet, "
            f"once each; a process was given {LIMIT:.0f} s. The copy is Polars reading the file and writing it again.",
            Table(
                ("", "copy, CPU s", "CPU s", "wall s", "peak GB", "in copies"),
                [(str(shape), *_row(*pair)) for shape, pair in costs.items()],
            ),
            Goal(
                f"every one of them is released, and {same[0].rows} rows cost at most as their columns to the power "
                f"{MOST_POWER:g}",
                f"{len(ratios)} of {len(costs)} released; " + ("no power" if power is None else f"power {power:.2f}"),
                len(ratios) == len(costs) and power is not None and power <= MOST_POWER,
                "Left out: "
                + "; ".join(f"{shape} ({cost.why})" for shape, (_, cost) in costs.items() if isinstance(cost, LeftOut))
                if len(ratios) < len(costs)
                else "",
            ),
        ),
        ratios,
    )


def _write(path: Path, shape: Shape) -> Sequence[str]:
    """Make the table; the names of its quasi-identifiers."""
    generator = np.random.default_rng(6)
    names = [f"c{place}" for place in range(shape.columns)]
    columns = {name: generator.integers(0, VALUES, shape.rows).astype(str) for name in names}
    pl.DataFrame({**columns, TARGET: ["a", "b"] * (shape.rows // 2)}).write_parquet(path)
    return names[: shape.quasi_identifiers]


def _power(shapes: Sequence[Shape], measured: dict[Shape, tuple[Cost, Cost | LeftOut]]) -> float | None:
    """How CPU grows from half of the columns to all of them."""
    costs = [cost.cpu for shape in shapes[-2:] if isinstance(cost := measured[shape][1], Cost)]
    if len(costs) < 2:
        return None
    return float(np.log(costs[1] / costs[0]) / np.log(shapes[-1].columns / shapes[-2].columns))


def _row(copied: Cost, cost: Cost | LeftOut) -> tuple[str, ...]:
    if isinstance(cost, LeftOut):
        return f"{copied.cpu:.2f}", *("–",) * 4
    ratio = spread([median(Costs((cost,)).ratios(Costs((copied,))))])
    return f"{copied.cpu:.2f}", f"{cost.cpu:.1f}", f"{cost.wall:.1f}", f"{cost.memory / 1e9:.2f}", ratio


def _seconds(cost: Cost | LeftOut) -> str:
    return f"{cost.cpu:.1f} s CPU" if isinstance(cost, Cost) else str(cost)
