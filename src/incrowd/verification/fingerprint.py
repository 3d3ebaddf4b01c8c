"""Whether two piles of rows are the same, told without putting them side by side.

Where rows are spread over many machines, what a piece of the release is compared with comes from the program that made
it. So that it cannot be anything but the input, both are summed up: every row gives a number, by its cells as they are
meant and a salt that is new each time, and the sum over all rows does not depend on their order. Equal sums mean equal
rows, but for a chance of one in 2**64.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.verification.input_table import ReleasedColumn, understood
from incrowd.verification.meaning import CellMeaning
from incrowd.verification.opening import column, connect, register


@dataclass(frozen=True)
class Fingerprint:
    """How many rows there are, and the sum of their numbers.

    Examples
    --------
    >>> Fingerprint(2, 5) + Fingerprint(1, 7)
    Fingerprint(rows=3, total=12)
    """

    rows: int = 0
    total: int = 0

    def __add__(self, other: Fingerprint) -> Fingerprint:
        return Fingerprint(self.rows + other.rows, self.total + other.total)


def fingerprint(table: Any, salt: int) -> Fingerprint:
    """The fingerprint of a PyArrow table of cells as they are meant."""
    with connect(threads=1) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        register(connection, table, "piled")
        described = connection.execute("DESCRIBE piled").fetchall()
        cells = ", ".join(_plain(column(place), row[1]) for place, row in enumerate(described))
        rows, total = connection.execute(
            f"SELECT count(*), coalesce(sum(hash({salt}, {cells})::HUGEINT), 0) FROM piled"
        ).fetchall()[0]
    return Fingerprint(int(rows), int(total))


def _plain(cell: str, kind: str) -> str:
    if kind in ("FLOAT", "DOUBLE"):
        return f"(CASE WHEN isnan({cell}) THEN NULL ELSE {cell} + 0.0 END)::DOUBLE::VARCHAR"
    return f"{cell}::VARCHAR"


@dataclass(frozen=True, eq=False)
class InputReader:
    """Sums up rows of the input as another reader gives them: PyArrow batches of the columns behind ``sources``."""

    sources: Sequence[ReleasedColumn]
    meanings: dict[str, CellMeaning]
    salt: int

    def __call__(self, batches: Iterable[Any]) -> Fingerprint:
        """The fingerprint of all batches."""
        import pyarrow as pa

        total = Fingerprint()
        for batch in batches:
            raw = pa.Table.from_batches([batch])
            total += fingerprint(understood(raw, self.sources, self.meanings), self.salt)
        return total
