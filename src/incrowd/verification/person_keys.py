"""Persons where nobody sees all of them: each is known by a salted digest of its spelling, the same everywhere.

Rows are spread over many machines, and what a piece of a release is compared with is shown to be the input by a sum
(see below), its persons among the cells. So persons can be counted where the pieces are.

Whether two piles of rows are the same, told without putting them side by side.

Where rows are spread over many machines, what a piece of the release is compared with comes from the program that made
it. So that it cannot be anything but the input, both are summed up: every row gives a number, by its cells as they are
meant and a salt that is new each time, and the sum over all rows does not depend on their order. Equal sums mean equal
rows, but for a chance of one in 2**64.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from incrowd.verification.coded import CodedCells
from incrowd.verification.column_rules import coarsened_rows
from incrowd.verification.input_table import ColumnOrigin, understood
from incrowd.verification.meaning import CellMeaning
from incrowd.verification.opening import column, connect, register
from incrowd.verification.owners import Owners, normalised_words
from incrowd.vocabulary.persons import Persons


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

    sources: Sequence[ColumnOrigin]
    meanings: dict[str, CellMeaning]
    salt: int
    owner: str | None = None  # rows without a value in this column are left out
    coarsen: Mapping[str, str] = field(default_factory=dict)  # the rules by which columns are coarser
    missing: tuple[str, ...] = ()  # words that mean a missing value

    def __call__(self, batches: Iterable[Any]) -> Fingerprint:
        """The fingerprint of all batches."""
        return sum((fingerprint(meant, self.salt) for meant in self.understood(batches)), Fingerprint())

    def understood(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The rows as they are meant: PyArrow tables."""
        import pyarrow as pa

        for raw in _together(batches):
            coarse = coarsened_rows(raw, [one.column.name for one in self.sources], self.coarsen, self.missing)
            meant = understood(coarse, self.sources, self.meanings)
            if self.owner is not None:
                coded = _coded(meant.column(self.owner))
                meant = meant.filter(pa.array(coded.codes < len(coded.words)))
            yield meant


_BYTES_AT_ONCE = 32 << 20  # the database that understands them costs as much to start as some 50,000 rows


def _together(batches: Iterable[Any]) -> Iterator[Any]:
    """PyArrow batches, of which another reader may give many small ones, as tables of so many bytes or more."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.nbytes for one in waiting) >= _BYTES_AT_ONCE:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


NOBODY = b""
"""The key of all rows without a person, where they count as rows of one."""


@dataclass(frozen=True)
class PersonKeys:
    """Makes keys of persons, with a salt that is new each time."""

    persons: Persons
    salt: bytes

    def of(self, cells: Any) -> Any:
        """The key of each cell's person, a PyArrow array; null if it has none."""
        import pyarrow as pa

        coded = _coded(cells)
        exact, plain = self.spellings(coded.words)
        nobody = NOBODY if self.persons.missing == "together" else None
        keys = pa.array([*(plain if self.persons.ids == "normalised" else exact), nobody], pa.binary())
        return keys.take(pa.array(coded.codes))

    def spellings(self, words: Any) -> tuple[list[bytes], list[bytes]]:
        """The keys of texts as they are, and of what is left without what people write differently."""
        exact = [self._key(word) for word in words.to_pylist()]
        return exact, [self._key(word) for word in normalised_words(words).to_pylist()]

    def _key(self, word: str) -> bytes:
        return hashlib.blake2b(word.encode(), digest_size=16, key=self.salt).digest()


@dataclass(frozen=True, eq=False)
class PersonReader:
    """Reads the person column of the input as another reader gives it: PyArrow batches of that column."""

    keys: PersonKeys
    source: ColumnOrigin
    meaning: CellMeaning

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """For each different person of a batch its two keys; and null for each row that has none."""
        import pyarrow as pa

        for raw in _together(batches):
            coded = _coded(understood(raw, [self.source], {self.source.name: self.meaning}).column(0))
            exact, plain = self.keys.spellings(coded.words)
            nobody: list[bytes | None] = [None] * int((coded.codes == len(coded.words)).sum())
            yield pa.record_batch(
                {"exact": pa.array([*exact, *nobody], pa.binary()), "plain": pa.array([*plain, *nobody], pa.binary())}
            )


def owners_by_keys(keys: Any, persons: Persons) -> Owners:
    """Whose rows they are, of released rows in their order, by the keys of their persons."""
    import pyarrow as pa

    coded = keys.combine_chunks().dictionary_encode() if isinstance(keys, pa.ChunkedArray) else keys.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
    words = coded.dictionary
    return Owners(persons, words, np.arange(len(words)), codes, origin=np.arange(len(codes)))


def _coded(cells: Any) -> CodedCells:
    """The different texts of a column, and which of them each cell has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = getattr(cells.type, "value_type", cells.type)
    if pa.types.is_floating(kind):
        cells = pc.if_else(pc.is_nan(cells), None, cells)
    return CodedCells.of(cells.cast(pa.large_string()))
