"""Costs by name and by size, as tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bench.process import Cost, LeftOut
from experiments.charts import Upward, line_chart
from experiments.pages import Picture, Table

Matrix = Mapping[str, Mapping[int, Cost | LeftOut]]
Value = Callable[[Cost], float]
SHORTEST = 1e-3  # on a logarithmic scale


def by_size(corner: str, matrix: Matrix, value: Value, shape: str = "{:.1f}") -> Table:
    """A line for each name, a column for each size."""
    sizes = list(dict.fromkeys(size for costs in matrix.values() for size in costs))
    rows = [(name, *(_cell(costs.get(size), value, shape) for size in sizes)) for name, costs in matrix.items()]
    return Table((corner, *(f"{size:,}" for size in sizes)), rows)


def _cell(cost: Cost | LeftOut | None, value: Value, shape: str) -> str:
    return "" if cost is None else shape.format(value(cost)) if isinstance(cost, Cost) else "–"


def drawn_by_size(
    name: str, title: str, axes: tuple[str, str], matrix: Matrix, value: Value, scale: Upward = "powers"
) -> Picture:
    """A line for each name over the sizes."""
    lines = {
        each.replace("`", ""): points
        for each, costs in matrix.items()
        if (
            points := [
                (float(size), max(value(cost), SHORTEST)) for size, cost in costs.items() if isinstance(cost, Cost)
            ]
        )
    }
    return Picture(name, title, line_chart(title, *axes, lines, "{:,.0f}".format, scale=scale))


def left_out(matrix: Matrix, of: str) -> list[str]:
    """What has no figure, and why."""
    known = [
        f"{name} with {size:,} {of} ({cost.why})"
        for name, costs in matrix.items()
        for size, cost in costs.items()
        if isinstance(cost, LeftOut)
    ]
    return [f"Left out (–): {'; '.join(known)}."] if known else []
