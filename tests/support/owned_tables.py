"""Persons with several rows as the verification counts them: the tables ``released`` and ``owned`` in DuckDB."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from incrowd.verification.opening import connect, register
from incrowd.verification.owners import Owners
from incrowd.vocabulary.persons import Persons


def owners_of_rows(rows, **said):
    """Whose rows they are, all of them released in their order."""
    words = sorted({str(row.person) for row in rows})
    codes = np.array([words.index(str(row.person)) for row in rows], np.int64)
    return Owners(
        Persons("person", **said),
        pa.array(words, pa.large_string()),
        np.arange(len(words)),
        codes,
        origin=np.arange(len(rows)),
    )


class Counted:
    """A database with the rows of a table, their persons, and a last column with the value of each."""

    def __init__(self, rows, **said):
        self.connection = connect(threads=1)
        self.owners = owners_of_rows(rows, **said)
        self.width = len(rows[0].cells)
        cells = {f"q{place}": [row.cells[place] for row in rows] for place in range(self.width)}
        self.names = register(self.connection, pa.table({**cells, "s": [row.value for row in rows]}), "released")
        self.owners.register(self.connection, copy=True)

    @property
    def quasi(self):
        return self.names[:-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
