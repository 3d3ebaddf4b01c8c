"""Naive Bayes once more, by SQL over what the written file shows: which confidential cells does it still guess?

The cells that differ from the source were found in the written file; all others are what they were. So the values are
those of the source, with the cells that differ left out. Written from the definition; it shares nothing with the
adversaries of the program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from incrowd.verification.opening import text

Place = tuple[int, str]
Guesses = dict[Place, bool]


@dataclass(frozen=True, eq=False)
class Inference:
    """What is told about the naive Bayes adversary.

    Parameters
    ----------
    values
        The source as whole numbers, a PyArrow table or a Parquet file: equal values have equal numbers, missing ones
        none.
    predictors
        The columns the adversary reckons with.
    right
        For each confidential cell, whether the adversary is said to guess it.
    blanks_count
        Whether a blank cell counts among the rows of its class.
    """

    values: Any
    predictors: Sequence[str]
    right: Mapping[Place, bool]
    blanks_count: bool = True


def recounted_guesses(connection: Any, inference: Inference, differing: Collection[Place]) -> Guesses:
    """For each confidential cell, whether naive Bayes guesses it from what is shown."""
    names = _open_values(connection, inference.values)
    guesses: Guesses = {}
    rows_of: dict[str, list[int]] = defaultdict(list)
    for row, name in inference.right:
        rows_of[name].append(row)
    own = {name: _own(connection, names.index(name), rows) for name, rows in rows_of.items()}
    _blank(connection, names, differing)
    for name, rows in rows_of.items():
        others = [other for other in inference.predictors if other != name]
        shown = {row: _row(connection, names, others, row) for row in rows}
        model = _Counts(connection, names, name, inference.blanks_count)
        for other in others:
            model.count(other, {cells[other] for cells in shown.values() if other in cells})
        for row in rows:
            guesses[row, name] = model.guess(shown[row]) == own[name][row]
    return guesses


def _open_values(connection: Any, values: Any) -> list[str]:
    """The table ``shown``, for now with all values of the source, and their distinct ones; the names of its columns."""
    if isinstance(values, Path):
        import pyarrow.parquet as pq

        names = list(pq.read_schema(values).names)
        source = f"read_parquet({text(str(values))}, file_row_number = true)"
        columns = ", ".join([*(f"v{i}" for i in range(len(names))), "place"])
        select = f"SELECT * FROM {source} AS t({columns})"
    else:
        names = list(values.column_names)
        connection.register("every_value", values.rename_columns([f"v{i}" for i in range(len(names))]))
        select = "SELECT *, row_number() OVER () - 1 AS place FROM every_value"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE shown AS {select}")
    for position in range(len(names)):
        query = f"SELECT DISTINCT v{position} FROM shown WHERE v{position} IS NOT NULL"
        connection.execute(f"CREATE OR REPLACE TEMP TABLE domain_v{position} AS {query}")
    return names


def _own(connection: Any, position: int, rows: Sequence[int]) -> dict[int, int]:
    """The values that rows have in the source."""
    query = f"SELECT place, v{position} FROM shown WHERE list_contains($rows, place)"
    return dict(connection.execute(query, {"rows": list(rows)}).fetchall())


def _blank(connection: Any, names: Sequence[str], differing: Collection[Place]) -> None:
    """Take the cells that differ out of the table ``shown``."""
    for position, name in enumerate(names):
        rows = [row for row, differs in differing if differs == name]
        if rows:
            connection.execute(f"UPDATE shown SET v{position} = NULL WHERE list_contains($rows, place)", {"rows": rows})


def _row(connection: Any, names: list[str], others: Sequence[str], row: int) -> dict[str, int]:
    """What a row shows of the predictors; blank cells are left out."""
    if not others:
        return {}
    shown = ", ".join(f"v{names.index(other)}" for other in others)
    [cells] = connection.execute(f"SELECT {shown} FROM shown WHERE place = $row", {"row": row}).fetchall()
    return {other: cell for other, cell in zip(others, cells, strict=True) if cell is not None}


class _Counts:
    """How often each value of a column is shown, alone and beside what predictors show."""

    def __init__(self, connection: Any, names: list[str], name: str, blanks_count: bool) -> None:
        self._connection, self._names, self._at = connection, names, f"v{names.index(name)}"
        self._blanks_count = blanks_count
        self._sizes: dict[int, int] = dict(
            connection.execute(
                f"SELECT e.{self._at}, count(s.{self._at}) FROM domain_{self._at} e "
                f"LEFT JOIN shown s USING ({self._at}) GROUP BY 1"
            ).fetchall()
        )
        self._beside: dict[tuple[str, int, int], int] = {}
        self._known: dict[tuple[str, int], int] = {}

    def count(self, other: str, cells: Collection[int]) -> None:
        """Count the values beside each of the cells of a predictor, and beside any."""
        beside = f"v{self._names.index(other)}"
        query = f"SELECT {self._at}, {beside}, count(*) FROM shown WHERE list_contains($cells, {beside}) GROUP BY 1, 2"
        for value, cell, rows in self._connection.execute(query, {"cells": list(cells)}).fetchall():
            self._beside[other, value, cell] = rows
        query = f"SELECT {self._at}, count({beside}) FROM shown GROUP BY 1"
        for value, rows in self._connection.execute(query).fetchall():
            self._known[other, value] = rows

    def guess(self, row: Mapping[str, int]) -> int | None:
        """The value with the largest product of its frequency and its likelihoods; None if two share it."""
        scores = {value: self._score(value, row) for value in self._sizes}
        best = max(scores.values(), default=None)
        top = [value for value, score in scores.items() if score == best]
        return top.pop() if len(top) == 1 else None

    def _score(self, value: int, row: Mapping[str, int]) -> Fraction:
        score = Fraction(self._sizes[value])
        for other, cell in row.items():
            whole = self._sizes[value] if self._blanks_count else self._known.get((other, value))
            score *= Fraction(self._beside.get((other, value, cell), 0), whole) if whole else 0
        return score
