"""Count released cells that are coarser than the level of a hierarchy that the user allows at most.

A cell is compared with the way of its row's own value up the hierarchy: it may show the value, or one of the first
groups on that way. A cell that shows nothing is coarser, unless the row has no value to show.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

_ENDS = re.compile(r"([(\[])(.+), (.+)[)\]]")


@dataclass(frozen=True)
class CoarsestLevel:
    """The coarsest level, 0 for the leaves, that cells of a column may show of its hierarchy.

    A cell is one text, or two with the ends of an interval, the low one excluded.
    """

    name: str
    hierarchy: Hierarchy
    level: int

    @property
    def promise(self) -> str:
        """What is checked."""
        return f"{self.name} at most at level {self.level}"

    @property
    def fault(self) -> str:
        """What a cell is that does not keep it."""
        return "coarser"

    def is_fine(self, own: Any, cell: Sequence[str | None]) -> bool:
        """Whether the cell of a row with this value is no coarser."""
        if self.level >= self.hierarchy.height - 1:
            return True
        way = self._allowed(own)
        if self.hierarchy.kind is Leaves.VALUES:
            [text] = cell
            labels = [self.hierarchy.labels[node] for node in way]
            return text is not None and (same_value(text, own) or any(text in (label, f"'{label}") for label in labels))
        value, group = _number(str(own)), self.hierarchy.interval(way[-1]) if way else None
        low, high, closed = _ends(cell)
        if group is None or value is None or low is None or high is None:
            return False
        if low == high == value:
            return True
        least, most = (_or(group.low, "-inf"), _or(group.high, "inf"))
        return low < high and (low > least or (low == least and not closed)) and high <= most

    def _allowed(self, own: Any) -> list[int]:
        """The nodes on the way of a value up the hierarchy, its leaf first, that cells may show."""
        leaf = self.hierarchy.leaf_of(own if isinstance(own, str | int | float | datetime.date) else str(own))
        if leaf is None:
            return []
        way = [int(self.hierarchy.leaves[leaf])]
        while way[-1] > 0:
            way.append(self.hierarchy.parents[way[-1]])
        steps = self.level - (self.hierarchy.height - len(way))  # the leaf of a branch that ends early is repeated
        return way[: max(0, steps) + 1]


def same_value(text: str, own: Any) -> bool:
    """Whether a text is the own value: the text itself, or the same number."""
    written = ("true" if own else "false") if isinstance(own, bool) else str(own)
    if text in (written, f"'{written}"):
        return True
    number = _number(text)
    return number is not None and not isinstance(own, str) and number == _number(str(own))


def _ends(cell: Sequence[str | None]) -> tuple[float | None, float | None, bool]:
    """The two ends that a cell shows, and whether the low one belongs to it; both are the number if it shows one."""
    if len(cell) == 2:
        if cell[0] is None and cell[1] is None:
            return None, None, False
        low, high = (_number(cell[0] or "-inf"), _number(cell[1] or "inf"))
        return low, high, False
    text = cell[0] or ""
    if (ends := _ENDS.fullmatch(text)) is None:
        return _number(text), _number(text), True
    return _number(ends[2]), _number(ends[3]), ends[1] == "["


def _number(text: str) -> float | None:
    """A number, or the day of a date, counted from 1970-01-01."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return float((datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days)
    except ValueError:
        return None


def _or(end: float | None, otherwise: str) -> float:
    return float(otherwise) if end is None else float(end)
