"""Releasing again: the same method, on other rows or once more, as somebody with the program can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.compare.releasing import Made, release_rows
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.schema import Schema

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Again:
    """How a release was made, as far as it takes to make another."""

    method: str
    requirement: Requirement  # what every release keeps
    parameters: Mapping[str, Any] = field(default_factory=dict)
    people: EncodedTable | None = None  # the population, if something is required of it

    def release(self, table: EncodedTable, frame: pl.DataFrame, schema: Schema, seed: int) -> Made:
        """A release of all the given rows."""
        return release_rows(table, frame, schema, self.method, self.parameters, self.requirement, seed, self.people)
