"""Count released cells that are coarser than the user allows: next to a level of a hierarchy, or to sets of values.

Values that stay apart: the cell of a row whose value is in one of the sets shows the value, a set of values of that set
alone, or a group of the hierarchy with no other leaf. A row whose value is in none of them may show anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.verification.coarsest import CoarsestLevel, same_value
from incrowd.verification.opening import column, register
from incrowd.verification.request import Expected, Original, Originals, Request
from incrowd.verification.verdict import Check
from incrowd.vocabulary.hierarchy import Hierarchy

Columns = Mapping[str, Sequence[str]]
Cells = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class ApartValues:
    """Sets of values of a column, as the user listed them, or ``*``: each value by itself."""

    name: str
    sets: Sequence[Sequence[str]] | str
    hierarchy: Hierarchy | None = None

    @property
    def promise(self) -> str:
        """What is checked."""
        return f"{self.name} apart"

    @property
    def fault(self) -> str:
        """What a cell is that does not keep it."""
        return "open to values of another set"

    def is_fine(self, own: Any, cell: Sequence[str | None]) -> bool:
        """Whether the cell of a row with this value stands for no value outside its set."""
        [text] = cell
        members = self._members(own)
        if not members:
            return True
        if text is None:
            return False
        if same_value(text, own):
            return True
        tree = self.hierarchy
        for written in (text, text.removeprefix("'")):
            if tree is not None and written in tree.labels:
                below = tree.leaves_below(tree.labels.index(written))
                return all(tree.labels[tree.leaves[place]] in members for place in below)
            if "|" in written and all(value in members for value in written.split("|")):
                return True
        return False

    def _members(self, own: Any) -> Sequence[str]:
        """The set that a value is in; empty if it is in none."""
        written = ("true" if own else "false") if isinstance(own, bool) else str(own)
        if isinstance(self.sets, str):
            return (written,)
        return next((members for members in self.sets if written in members), ())


def limit_checks(
    connection: Any, request: Request, shown_in: Columns, expected: Expected, original: Original | Originals
) -> Iterator[Check]:
    """No cell is coarser than the user allows; ``shown_in`` has the released columns that show each of the table's."""
    trees = {one.name: one.hierarchy for one in request.columns}
    limits: list[CoarsestLevel | ApartValues] = []
    for name, level in request.at_most.items():
        if (tree := trees.get(name)) is None:
            yield Check(f"{name} at most at level {level}", False, "this was not counted")
        else:
            limits.append(CoarsestLevel(name, tree, level))
    limits += [ApartValues(name, sets, trees.get(name)) for name, sets in request.apart.items()]
    for limit in limits:
        if request.counted or request.groups is not None:
            yield Check(limit.promise, False, "this was not counted")
            continue
        places = [column(list(expected.columns).index(one)) for one in shown_in[limit.name]]
        cells = _cells(connection, places, expected, Originals.of(original))
        wrong = sum(rows for (own, *cell), rows in cells.items() if not limit.is_fine(own, cell))
        yield Check(limit.promise, wrong == 0, f"{wrong:,} cells are {limit.fault}" if wrong else "every cell")


def _cells(connection: Any, places: Sequence[str], expected: Expected, original: Originals) -> Cells:
    """How many rows with a value have which, and show what of it."""
    cells: Cells = Counter()
    shown, start = ", ".join(f"r.{place}::VARCHAR" for place in places), 0
    for number, size in enumerate(original.sizes):
        register(connection, original.piece(number).table.select(expected.columns), "own")
        rows = connection.execute(
            f"SELECT o.{places[0]}, {shown}, count(*) FROM (FROM released LIMIT {size} OFFSET {start}) AS r "
            f"POSITIONAL JOIN own AS o WHERE o.{places[0]} IS NOT NULL GROUP BY ALL"
        ).fetchall()
        for *cell, count in rows:
            cells[tuple(cell)] += count
        start += size
    return cells
